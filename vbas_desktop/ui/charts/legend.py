"""The legend of charts: a strip above one plot, or above several that share it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pyqtgraph as pg
from PySide6.QtCore import QLineF, QPointF, QRectF, Qt
from PySide6.QtGui import (
    QColor,
    QFont,
    QFontMetricsF,
    QPainter,
    QPaintEvent,
    QPen,
    QPixmap,
    QResizeEvent,
)
from PySide6.QtWidgets import QWidget

from ..core.theme import ColourScheme
from ..presentation.chart_data import SeriesStyle

SYMBOLS = ("o", "s", "t1", "d", "star", "t", "p", "+", "t2", "x", "t3")
"""Shapes of marks, by the numbers of `SeriesStyle`."""

DASHES = (None, (6.0, 3.0), (2.0, 2.5), (8.0, 3.0, 2.0, 3.0))
"""Dashes of lines in pixels, by the numbers of `SeriesStyle`; None: a solid line."""

_SYMBOL_PX = 9.0
_SAMPLE_PX = 24.0
_GAP_PX = 16.0


@dataclass(frozen=True)
class LegendEntry:
    """Text, colour, symbol (none if empty), and pen of the line through the symbol; unfilled symbols are outlines."""

    text: str
    colour: QColor
    symbol: str = ""
    line: QPen | None = None
    is_filled: bool = True

    @property
    def sample_width(self) -> float:
        """Return the width of line and symbol."""
        return _SAMPLE_PX if self.line is not None else _SYMBOL_PX + 2


class LegendStrip(QWidget):
    """A strip of entries, in as many lines as they need."""

    def __init__(self, colours: ColourScheme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.colours = colours
        self.entries: tuple[LegendEntry, ...] = ()
        self.hide()

    def show_entries(self, entries: Sequence[LegendEntry], colours: ColourScheme) -> None:
        """Show other entries in these colours."""
        self.entries = tuple(entries)
        self.colours = colours
        self.setVisible(bool(self.entries))
        self.setAccessibleName("Legend: " + "; ".join(entry.text for entry in self.entries))
        self._fit_height()
        self.update()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Take as many lines as another width needs."""
        self._fit_height()

    def _fit_height(self) -> None:
        n_lines = place_entries(self.entries, self.font(), self.width())[1]
        self.setFixedHeight(round(n_lines * line_height(self.font())) + 6)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint the entries."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, True)
        painter.fillRect(self.rect(), QColor(self.colours.base))
        paint_entries(painter, QRectF(self.rect()), self.entries, self.colours, self.font())
        painter.end()


def symbol_of(style: SeriesStyle) -> str:
    """Return the symbol of a style, by its name in pyqtgraph."""
    return SYMBOLS[style.symbol % len(SYMBOLS)]


def line_height(font: QFont) -> float:
    """Return the height of a line of a legend."""
    return QFontMetricsF(font).height() + 4


def place_entries(
    entries: Sequence[LegendEntry], font: QFont, width: float
) -> tuple[list[QPointF], int]:
    """Return where the entries of a legend begin, and the number of lines."""
    metrics = QFontMetricsF(font)
    left = 12.0
    x = left
    line = 0
    positions = []
    for entry in entries:
        needed = metrics.horizontalAdvance(entry.text) + entry.sample_width + _GAP_PX
        if x > left and x + needed > width:
            x = left
            line += 1
        positions.append(QPointF(x, line * line_height(font)))
        x += needed
    return positions, line + 1


def paint_entries(
    painter: QPainter, area: QRectF, entries: Sequence[LegendEntry], colours: ColourScheme, font: QFont
) -> None:
    """Paint the entries of a legend."""
    metrics = QFontMetricsF(font)
    painter.setFont(font)
    for entry, position in zip(entries, place_entries(entries, font, area.width())[0], strict=True):
        corner = area.topLeft() + position
        width = entry.sample_width
        middle = corner + QPointF(width / 2, 4 + metrics.height() / 2)
        if entry.line is not None:
            painter.setPen(entry.line)
            painter.drawLine(
                QLineF(middle.x() - width / 2, middle.y(), middle.x() + width / 2, middle.y())
            )
        if entry.symbol:
            paint_symbol(painter, middle, entry.symbol, entry.colour, entry.is_filled)
        painter.setPen(QColor(colours.text))
        painter.drawText(QPointF(corner.x() + width + 5, corner.y() + 4 + metrics.ascent()), entry.text)


def paint_symbol(
    painter: QPainter, middle: QPointF, symbol: str, colour: QColor, is_filled: bool = True
) -> None:
    """Paint the symbol of a series as it is in the charts."""
    painter.save()
    painter.translate(middle)
    painter.scale(_SYMBOL_PX, _SYMBOL_PX)
    pen = QPen(colour, 1.5)
    pen.setCosmetic(True)
    painter.setPen(pen)
    painter.setBrush(colour if is_filled else Qt.BrushStyle.NoBrush)
    painter.drawPath(pg.graphicsItems.ScatterPlotItem.Symbols[symbol])
    painter.restore()


def render_symbol(symbol: str, colour: QColor, size: int = 16) -> QPixmap:
    """Render the symbol of a series for the cells of tables, at twice the resolution."""
    pixmap = QPixmap(2 * size, 2 * size)
    pixmap.setDevicePixelRatio(2)
    pixmap.fill(Qt.GlobalColor.transparent)
    painter = QPainter(pixmap)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing, True)
    paint_symbol(painter, QPointF(size / 2, size / 2), symbol, colour)
    painter.end()
    return pixmap
