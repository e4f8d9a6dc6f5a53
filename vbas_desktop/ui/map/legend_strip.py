"""The legend below the map, where it covers nothing: its rows one after the other, in as many lines as they need."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QWidget

from vbas_desktop.ui.theme import GRID, Colours

from .furniture import SWATCH, Legend, LegendRow, paint_mark


def strip_places(legend: Legend, font: QFont, width: float) -> list[tuple[QPointF, LegendRow | None]]:
    """Where the title (None) and the rows begin, so that all are within the width if each of them fits."""
    x, y, placed = float(GRID), GRID / 2, []
    rows: list[LegendRow | None] = [None] if legend.title else []
    for row in [*rows, *legend.rows]:
        needed = _width(legend, font, row)
        if x > GRID and x + needed > width - GRID:
            x, y = float(GRID), y + _line(font)
        placed.append((QPointF(x, y), row))
        x += needed + 2 * GRID
    return placed


def strip_height(legend: Legend, font: QFont, width: float) -> int:
    """As many lines as the rows take."""
    placed = strip_places(legend, font, width)
    return round(placed[-1][0].y() + _line(font) + GRID / 2) if placed else 0


def paint_strip(painter: QPainter, legend: Legend, colours: Colours, font: QFont, area: QRectF) -> None:
    """Marks and words, from the upper left corner of an area on."""
    ascent = QFontMetricsF(font).ascent()
    for place, row in strip_places(legend, font, area.width()):
        corner = area.topLeft() + place
        painter.setFont(_bold(font) if row is None else font)
        words, text = corner, legend.title if row is None else row.text
        if row is not None:
            top = corner.y() + (_line(font) - 3 - SWATCH) / 2
            paint_mark(painter, row, colours, QRectF(corner.x(), top, SWATCH, SWATCH))
            words = corner + QPointF(SWATCH + GRID, 0)
        painter.setPen(QColor(colours.text))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawText(words + QPointF(0, ascent), text)


def _line(font: QFont) -> float:
    return max(QFontMetricsF(font).height(), SWATCH) + 3


def _bold(font: QFont) -> QFont:
    bold = QFont(font)
    bold.setBold(True)
    return bold


def _width(legend: Legend, font: QFont, row: LegendRow | None) -> float:
    if row is None:
        return QFontMetricsF(_bold(font)).horizontalAdvance(legend.title)
    return SWATCH + GRID + QFontMetricsF(font).horizontalAdvance(row.text)


class LegendStrip(QWidget):
    """Paints what `show_legend` gives it."""

    def __init__(self, colours: Colours, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._colours = colours
        self._legend = Legend("", ())
        self.setAccessibleName("Legend")

    def show_legend(self, legend: Legend, colours: Colours) -> None:
        """Show another legend."""
        self._legend, self._colours = legend, colours
        self.setAccessibleDescription("; ".join([legend.title, *(row.text for row in legend.rows)]))
        self._fit()
        self.update()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Another width takes other lines."""
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        """Layouts that do not ask for the height at a width would cut lines off."""
        self.setFixedHeight(self.heightForWidth(self.width()))

    def places(self, width: int) -> list[tuple[QPointF, LegendRow | None]]:
        """Where the title (None) and the rows begin."""
        return strip_places(self._legend, self.font(), width)

    def heightForWidth(self, width: int) -> int:
        """As many lines as the rows take."""
        return strip_height(self._legend, self.font(), width)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Marks and words."""
        painter = QPainter(self)
        paint_strip(painter, self._legend, self._colours, self.font(), QRectF(self.rect()))
        painter.end()
