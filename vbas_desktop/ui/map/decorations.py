"""What stands on or beside the map, in pixels on screen and on paper: the legend, also as a strip below, and the scale
bar.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QBrush, QColor, QFont, QFontMetricsF, QPainter, QPaintEvent, QPen, QResizeEvent
from PySide6.QtWidgets import QWidget

from vbas_desktop.model.regions import CoordinateSystem
from vbas_desktop.model.text import escape_controls, format_count

from ..core.theme import GRID, ColourScheme
from ..presentation.region_measures import Classes, RegionMeasure, spread
from .layers import Layer, MapPicture
from .paths import dashed, translucent

_KM_PER_DEGREE = 111.195
_PADDING = 8.0
_MARGIN = 12
"""Between what stands on the map and its edge."""
_NAMED_OBSTACLES = 3
"""How many obstacles the legend names; the pointer names all of them."""
SWATCH = 12.0


@dataclass(frozen=True)
class LegendRow:
    """An entry: a mark (``fill``, ``pieces``, ``empty``, ``moved``, ``dot``, ``rim``, ``line``, ``dash``, ``ring``,
    ``cross``) and its words.
    """

    mark: str
    colour: str
    text: str


@dataclass(frozen=True)
class Legend:
    """Title and rows."""

    title: str
    rows: tuple[LegendRow, ...]

    @property
    def text(self) -> str:
        """The legend in words."""
        return "; ".join([self.title, *(row.text for row in self.rows)])


def legend_of(picture: MapPicture, figure: RegionMeasure | None, changed: str = "") -> Legend:
    """List the marks on a picture with their meaning and numbers."""
    geometry = picture.geometry
    colours = picture.colours
    rows: list[LegendRow] = []
    if geometry is not None and Layer.AGGREGATED in picture.layers:
        if picture.classes is not None and figure is not None:
            rows += class_rows(picture.classes, figure, colours)
        scattered = int((geometry.pieces > 1).sum())
        unrecorded = int(geometry.without_records.sum())
        if scattered:
            rows.append(LegendRow("pieces", colours.text, f"in several pieces ({scattered:,})"))
        if unrecorded:
            rows.append(LegendRow("empty", colours.muted, f"without records ({unrecorded:,})"))
    if geometry is not None and geometry.sites is not None and Layer.SITES in picture.layers:
        idle = int((~geometry.site_attracts).sum())
        rows.append(LegendRow("ring", colours.site, f"site ({len(geometry.sites) - idle:,})"))
        if idle:
            rows.append(LegendRow("cross", colours.warning, f"unused site ({idle:,})"))
    if geometry is not None and geometry.cell_lines is not None and Layer.CELLS in picture.layers:
        rows.append(LegendRow("dash", colours.accent, "Voronoi cells of the sites"))
    if Layer.POINTS in picture.layers:
        records = picture.base.records
        empty = 0 if records is None else int((records == 0).sum())
        rows.append(
            LegendRow("dot", colours.muted, f"initial region ({len(picture.base.points) - empty:,})")
        )
        if empty:
            rows.append(LegendRow("dot", colours.warning, f"initial region without records ({empty:,})"))
    obstacles = picture.base.regions.obstacles
    if obstacles is not None and Layer.OBSTACLES in picture.layers:
        names = [name for name in dict.fromkeys(obstacles.names) if name]
        list_of_names = f": {', '.join(names)}" if 0 < len(names) <= _NAMED_OBSTACLES else ""
        rows.append(LegendRow("fill", colours.water, f"obstacle ({len(obstacles):,}){list_of_names}"))
    if picture.overlay is not None:
        rows += [
            LegendRow("line", picture.overlay.colour(layer), escape_controls(layer.title))
            for layer in picture.overlay.layers
        ]
        rows += [
            LegendRow("line", colours.text, f"border of {escape_controls(outline)}")
            for outline in picture.overlay.outlines
        ]
    if geometry is not None and geometry.detoured is not None and Layer.DETOURED in picture.layers:
        number = int(geometry.detoured.sum())
        share = float(geometry.detoured.mean())
        rows.append(
            LegendRow(
                "rim", colours.mark, f"changed because of an obstacle ({number:,}, {100 * share:.1f} %)"
            )
        )
    if geometry is not None and geometry.moved is not None and Layer.MOVED in picture.layers:
        number = int(geometry.moved.sum())
        share = float(geometry.moved.mean())
        mark = "dot" if picture.base.polygon_rings is None else "moved"
        rows.append(
            LegendRow(mark, colours.mark, f"moved by the refinement ({number:,}, {100 * share:.1f} %)")
        )
    if picture.changed is not None:
        rows.append(LegendRow("dot", colours.mark, f"{changed} ({int(picture.changed.sum()):,})"))
    if figure is not None and picture.classes is not None:
        return Legend(figure.title, tuple(rows))
    return Legend(
        "" if geometry is None else format_count(len(geometry.shapes), "aggregated region"), tuple(rows)
    )


def class_rows(classes: Classes, figure: RegionMeasure, colours: ColourScheme) -> list[LegendRow]:
    """List the classes of a figure from much to little, each with its bounds and the number of its regions."""
    steps = spread(len(classes.counts), len(colours.sequence))
    rows = []
    for low, high, count, step in zip(classes.low, classes.high, classes.counts, steps, strict=True):
        bounds = (
            figure.format(high)
            if low == high
            else f"{figure.format(low, unit=False)} – {figure.format(high)}"
        )
        rows.append(LegendRow("fill", colours.sequence[step], f"{bounds}  ({count:,})"))
    if classes.without_value:
        rows.insert(0, LegendRow("empty", colours.muted, f"no value  ({classes.without_value:,})"))
    return rows[::-1]


def north_box(font: QFont, area: QRectF) -> QRectF:
    """Return the box of the north arrow, at the upper right of an area."""
    width = 3.5 * _PADDING
    height = 34 + QFontMetricsF(font).height()
    return QRectF(area.right() - _MARGIN - width, area.top() + _MARGIN, width, height)


def paint_north(painter: QPainter, colours: ColourScheme, font: QFont, area: QRectF) -> None:
    """Paint the north arrow of an area."""
    metrics = QFontMetricsF(font)
    box = north_box(font, area)
    _paint_plate(painter, box, colours)
    middle = box.center().x()
    top = box.top() + _PADDING / 2
    painter.setPen(QPen(QColor(colours.text), 1))
    painter.setBrush(QColor(colours.text))
    painter.drawPolygon(
        [
            QPointF(middle, top),
            QPointF(middle + 7, top + 24),
            QPointF(middle, top + 18),
            QPointF(middle - 7, top + 24),
        ]
    )
    painter.setFont(font)
    text = QRectF(box.left(), top + 25, box.width(), metrics.height())
    painter.drawText(text, Qt.AlignmentFlag.AlignCenter, "N")


def _paint_plate(painter: QPainter, box: QRectF, colours: ColourScheme) -> None:
    painter.setRenderHint(QPainter.RenderHint.Antialiasing, True)
    painter.setPen(QPen(QColor(colours.line), 1))
    painter.setBrush(translucent(colours.raised, 0.92))
    painter.drawRoundedRect(box, 4, 4)


def paint_mark(painter: QPainter, row: LegendRow, colours: ColourScheme, box: QRectF) -> None:
    """Paint the mark of one line."""
    painter.setRenderHint(QPainter.RenderHint.Antialiasing, True)
    middle = box.center()
    colour = QColor(row.colour)
    if row.mark in ("fill", "pieces", "empty", "moved"):
        painter.setPen(QPen(QColor(colours.region_border), 1))
        patterns = {
            "pieces": Qt.BrushStyle.Dense6Pattern,
            "empty": Qt.BrushStyle.BDiagPattern,
            "moved": Qt.BrushStyle.FDiagPattern,
        }
        painter.setBrush(QBrush(colour, patterns.get(row.mark, Qt.BrushStyle.SolidPattern)))
        painter.drawRect(box)
    elif row.mark == "dot":
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(colour)
        painter.drawRect(QRectF(middle.x() - 2, middle.y() - 2, 4, 4))
    elif row.mark == "rim":
        painter.setPen(QPen(colour, 2))
        painter.setBrush(QColor(colours.base))
        painter.drawRect(QRectF(middle.x() - 3, middle.y() - 3, 6, 6))
    elif row.mark == "line":
        painter.setPen(QPen(colour, 2))
        painter.drawLine(QPointF(box.left(), middle.y()), QPointF(box.right(), middle.y()))
    elif row.mark == "dash":
        painter.setPen(dashed(colour))
        painter.drawLine(QPointF(box.left(), middle.y()), QPointF(box.right(), middle.y()))
    elif row.mark == "ring":
        painter.setPen(QPen(colour, 1))
        painter.setBrush(QColor(colours.canvas))
        painter.drawEllipse(middle, 3.5, 3.5)
    else:
        painter.setPen(QPen(colour, 2))
        for sign in (1, -1):
            painter.drawLine(middle + QPointF(-4, -4 * sign), middle + QPointF(4, 4 * sign))


def scale_of(
    system: CoordinateSystem, units_per_pixel: float, longest_px: float = 120
) -> tuple[float, str]:
    """Length in pixels and words of the longest round distance that fits: 1, 2 or 5 times a power of ten."""
    if units_per_pixel <= 0 or not math.isfinite(units_per_pixel):
        return 0.0, ""
    longest = units_per_pixel * longest_px
    power = 10.0 ** math.floor(math.log10(longest))
    length = max(step * power for step in (1, 2, 5) if step * power <= longest * (1 + 1e-9))
    return length / units_per_pixel, _words(system.unit, length)


def _words(unit: str, length: float) -> str:
    if unit == "m":
        return f"{length / 1000:,.10g} km" if length >= 1000 else f"{length:,.10g} m"
    if unit == "degree":
        km = length * _KM_PER_DEGREE
        return f"{length:,.10g}° ({km:,.0f} km)" if km >= 10 else f"{length:,.10g}° ({km:,.2g} km)"
    return f"{length:,.10g} units" if length != 1 else "1 unit"


def scale_box(length_px: float, words: str, font: QFont, area: QRectF) -> QRectF:
    """Return the box of the scale bar, at the lower right of an area."""
    metrics = QFontMetricsF(font)
    width = max(length_px, metrics.horizontalAdvance(words)) + 2 * _PADDING
    height = metrics.height() + 8 + 2 * _PADDING - 4
    return QRectF(area.right() - _MARGIN - width, area.bottom() - _MARGIN - height, width, height)


def paint_scale(
    painter: QPainter, length_px: float, words: str, colours: ColourScheme, font: QFont, area: QRectF
) -> None:
    """Paint the scale bar of an area."""
    if not words:
        return
    box = scale_box(length_px, words, font, area)
    _paint_plate(painter, box, colours)
    painter.setFont(font)
    painter.setPen(QPen(QColor(colours.text), 1.5))
    left = box.center().x() - length_px / 2
    base = box.bottom() - _PADDING
    painter.drawPolyline(
        [
            QPointF(left, base - 5),
            QPointF(left, base),
            QPointF(left + length_px, base),
            QPointF(left + length_px, base - 5),
        ]
    )
    text = QRectF(box.left(), box.top() + 4, box.width(), QFontMetricsF(font).height())
    painter.drawText(text, Qt.AlignmentFlag.AlignCenter, words)


def strip_places(legend: Legend, font: QFont, width: float) -> list[tuple[QPointF, LegendRow | None]]:
    """Return where the title (None) and each row begin, so that all stay within the width if each of them fits."""
    x = float(GRID)
    y = GRID / 2
    placed = []
    rows: list[LegendRow | None] = [None] if legend.title else []
    for row in [*rows, *legend.rows]:
        needed = _width(legend, font, row)
        if x > GRID and x + needed > width - GRID:
            x = float(GRID)
            y = y + _line(font)
        placed.append((QPointF(x, y), row))
        x += needed + 2 * GRID
    return placed


def strip_height(legend: Legend, font: QFont, width: float) -> int:
    """Return the height of the lines that the rows take."""
    placed = strip_places(legend, font, width)
    return round(placed[-1][0].y() + _line(font) + GRID / 2) if placed else 0


def paint_strip(
    painter: QPainter, legend: Legend, colours: ColourScheme, font: QFont, area: QRectF
) -> None:
    """Marks and words, from the upper left corner of an area on."""
    ascent = QFontMetricsF(font).ascent()
    for offset, row in strip_places(legend, font, area.width()):
        corner = area.topLeft() + offset
        painter.setFont(_bold(font) if row is None else font)
        words = corner
        text = legend.title if row is None else row.text
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

    def __init__(self, colours: ColourScheme) -> None:
        super().__init__()
        self._colours = colours
        self._legend = Legend("", ())
        self.setAccessibleName("Legend")

    def show_legend(self, legend: Legend, colours: ColourScheme) -> None:
        """Show another legend."""
        self._legend = legend
        self._colours = colours
        self.setAccessibleDescription(legend.text)
        self._fit()
        self.update()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Adapt the height to the lines that the rows take at the new width."""
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        """Fix the height: layouts that do not ask for the height at a width would cut lines off."""
        self.setFixedHeight(self.heightForWidth(self.width()))

    def places(self, width: int) -> list[tuple[QPointF, LegendRow | None]]:
        """Return where the title (None) and the rows begin."""
        return strip_places(self._legend, self.font(), width)

    def heightForWidth(self, width: int) -> int:
        """Return the height of the lines that the rows take."""
        return strip_height(self._legend, self.font(), width)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint marks and words."""
        painter = QPainter(self)
        paint_strip(painter, self._legend, self._colours, self.font(), QRectF(self.rect()))
        painter.end()
