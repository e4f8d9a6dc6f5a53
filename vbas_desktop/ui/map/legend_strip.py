"""A legend beside the map instead of on it: its rows one after the other, in as many lines as they need."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from vbas_desktop.ui.theme import GRID, Colours

from .furniture import SWATCH, Legend, LegendRow, paint_mark


class LegendStrip(QWidget):
    """Paints what `show_legend` gives it."""

    def __init__(self, colours: Colours, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._colours = colours
        self._legend = Legend("", ())
        policy = QSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)
        self.setAccessibleName("Legend")

    def show_legend(self, legend: Legend, colours: Colours) -> None:
        """Show another legend."""
        self._legend, self._colours = legend, colours
        self.setAccessibleDescription("; ".join([legend.title, *(row.text for row in legend.rows)]))
        self.updateGeometry()
        self.update()

    def places(self, width: int) -> list[tuple[QPointF, LegendRow | None]]:
        """Where the title (None) and the rows begin, so that all are within the width if each of them fits."""
        x, y, placed = float(GRID), GRID / 2, []
        rows: list[LegendRow | None] = [None] if self._legend.title else []
        for row in [*rows, *self._legend.rows]:
            needed = self._width(row)
            if x > GRID and x + needed > width - GRID:
                x, y = float(GRID), y + self._line
            placed.append((QPointF(x, y), row))
            x += needed + 2 * GRID
        return placed

    @property
    def _line(self) -> float:
        return max(QFontMetricsF(self.font()).height(), SWATCH) + 3

    @property
    def _bold(self) -> QFont:
        font = QFont(self.font())
        font.setBold(True)
        return font

    def _width(self, row: LegendRow | None) -> float:
        if row is None:
            return QFontMetricsF(self._bold).horizontalAdvance(self._legend.title)
        return SWATCH + GRID + QFontMetricsF(self.font()).horizontalAdvance(row.text)

    def heightForWidth(self, width: int) -> int:
        """As many lines as the rows take."""
        placed = self.places(width)
        return round(placed[-1][0].y() + self._line + GRID / 2) if placed else 0

    def sizeHint(self) -> QSize:
        """Narrow: the layout gives it the width of the map."""
        return QSize(200, self.heightForWidth(max(200, self.width())))

    def paintEvent(self, event: QPaintEvent) -> None:
        """Marks and words."""
        painter = QPainter(self)
        ascent = QFontMetricsF(self.font()).ascent()
        for place, row in self.places(self.width()):
            painter.setFont(self._bold if row is None else self.font())
            words, text = place, self._legend.title if row is None else row.text
            if row is not None:
                top = place.y() + (self._line - 3 - SWATCH) / 2
                paint_mark(painter, row, self._colours, QRectF(place.x(), top, SWATCH, SWATCH))
                words = place + QPointF(SWATCH + GRID, 0)
            painter.setPen(QColor(self._colours.text))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawText(words + QPointF(0, ascent), text)
        painter.end()
