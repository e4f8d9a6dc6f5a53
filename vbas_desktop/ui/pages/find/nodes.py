"""The nodes of a search: as a table, and as a picture of the number of regions against detail."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from PySide6.QtCore import QObject, QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QPainter, QPen

from vbas_desktop.search.run import Found, Searched
from vbas_desktop.search.table import PictureLine, lines_of
from vbas_desktop.session.finding import node_in_words
from vbas_desktop.ui.charts.chart import Chart
from vbas_desktop.ui.charts.rows import ChartRow, Measure, nice_ticks, padded
from vbas_desktop.ui.panel.results_columns import RECOMMENDED, STAR
from vbas_desktop.ui.widgets.tables import Heading, TableModel

_RADIUS = 4.5
_NAMED = 8
"""So many lines have their names above the picture; of more, pointing at a mark tells the name."""

_REGIONS = Measure("regions", "Regions")

SORT_ROLE = int(Qt.ItemDataRole.UserRole)
NUMBER_ROLE = SORT_ROLE + 1

_FIGURES = (
    Heading("Regions", "Aggregated regions: the finest place within the allowed loss", "right"),
    Heading("Suppressed\n%", "Share of all records that are not released", "right"),
    Heading("Attributes\nkept, %", "Share of the attributes' information that is kept", "right"),
    Heading("Place\nkept, %", "Share of the information on place that is kept", "right"),
    Heading("Classes", "Possible combinations of the groups", "right"),
    Heading("Result", "Found; out of reach: one region in all loses too much; coarser than needed: no need to search"),
)
_MARKS = f"{STAR} no other combination beats it   {RECOMMENDED} recommended: keeps the largest product of both"

_FIRST = (Heading(STAR, _MARKS, "centre"), Heading("№", "Number of the node", "right"))


class NodesModel(TableModel):
    """One row per node, with the categories that remain of each attribute."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.searched: Searched | None = None

    def show_search(self, searched: Searched | None) -> None:
        """Show what is found so far."""
        with self.anew():
            self.searched = searched
            self.rows = () if searched is None else searched.rows
            names = [] if searched is None else [ladder.column for ladder in searched.finest.lattice.ladders]
            columns = (Heading(name, f"Categories of {name} that remain", "right") for name in names)
            self.heads = (*_FIRST, *columns, *_FIGURES)

    def row_of(self, number: int) -> Found:
        """The node with a number."""
        found: Found = self.rows[number - 1]
        return found

    def _values(self, row: int) -> list[Any]:
        searched = self.searched
        assert searched is not None
        found = searched.rows[row]
        ladders = zip(searched.finest.lattice.ladders, found.node, strict=True)
        rank = 0 if found is searched.recommended else 1 if found.node in searched.front else 2
        records = max(1, searched.finest.problem.records)
        return [
            rank,
            row + 1,
            *(ladder.rungs[level].number for ladder, level in ladders),
            found.regions,
            None if found.suppressed is None else 100 * found.suppressed / records,
            100 * found.detail,
            None if found.place_loss is None else 100 * (1 - found.place_loss),
            found.equivalence_classes,
            found.status,
        ]

    def text(self, row: int, column: int) -> str:
        """What a cell shows."""
        value = self._values(row)[column]
        if column == 0:
            return ("", STAR, f"{STAR} {RECOMMENDED}")[2 - value]
        if value is None:
            return "–"
        return f"{value:,.2f}" if isinstance(value, float) else f"{value:,}" if isinstance(value, int) else str(value)

    def more(self, row: int, column: int, role: int) -> Any:
        """Values to sort by, the number, a tip, and the recommended node in bold."""
        assert self.searched is not None
        if role == SORT_ROLE:
            value = self._values(row)[column]
            return float("inf") if value is None else value
        if role == NUMBER_ROLE:
            return row + 1
        if role == Qt.ItemDataRole.ToolTipRole:
            return node_in_words(self.searched, self.searched.rows[row].node)
        if role == Qt.ItemDataRole.FontRole and self.searched.rows[row] is self.searched.recommended:
            font = QFont()
            font.setBold(True)
            return font
        return None


class FrontChart(Chart):
    """Large filled marks are on the front; a click chooses a node."""

    nothing = (
        "“Find it” tries every combination of levels of the attributes above and finds the finest regions for each "
        "within the allowed loss. They are listed here and drawn: detail of the attributes against number of regions."
    )

    lines: tuple[PictureLine, ...] = ()

    def show_search(self, searched: Searched | None) -> None:
        """Draw what is found so far."""
        self.lines = () if searched is None else tuple(lines_of(searched))
        rows = [
            ChartRow(point.number, line.title, point.regions, {"regions": point.regions}, point.front)
            for line in self.lines
            for point in line.points
        ]
        self.show_rows(rows, [_REGIONS])

    def tip(self, row: ChartRow) -> str:
        """What is told of a node."""
        return f"Node {row.number:,}: {row.approach}\n{row.sites:,} regions"

    def draw(self, painter: QPainter, area: QRectF) -> None:
        """Axes, lines and marks."""
        metrics = QFontMetricsF(self.font())
        if len(self.lines) <= _NAMED:
            area = area.adjusted(0, self.draw_legend(painter, area.adjusted(12, 6, -12, 0)), 0, 0)
        plot = area.adjusted(metrics.horizontalAdvance("000,000") + 12, metrics.height() + 14, -16, 0)
        plot.setBottom(area.bottom() - 2 * metrics.height() - 10)
        points = [point for line in self.lines for point in line.points]
        x_low, x_high = padded([100 * point.detail for point in points])
        y_low, y_high = 0.0, max(point.regions for point in points) * 1.08
        painter.setPen(QColor(self.colours.muted))
        painter.drawText(QPointF(area.left() + 12, area.top() + metrics.height()), "Regions")
        self.draw_value_axis(painter, plot, y_low, y_high)
        self._draw_x_axis(painter, plot, x_low, x_high)

        def place(detail: float, regions: int) -> QPointF:
            across = plot.left() + (100 * detail - x_low) / (x_high - x_low) * plot.width()
            return QPointF(across, plot.bottom() - (regions - y_low) / (y_high - y_low) * plot.height())

        for line in self.lines:
            colour = self.approach_colour(line.title)
            spots = [place(point.detail, point.regions) for point in line.points]
            painter.setPen(QPen(colour, 1.2))
            for one, other in pairwise(spots):
                painter.drawLine(one, other)
            for spot, point in zip(spots, line.points, strict=True):
                self._draw_mark(painter, spot, colour, point.number, point.front)
        for point in points:
            if point.recommended:
                spot = place(point.detail, point.regions)
                painter.setPen(QColor(self.colours.text))
                painter.drawText(QPointF(spot.x() + 2 * _RADIUS, spot.y() - _RADIUS), RECOMMENDED)

    def _draw_mark(self, painter: QPainter, spot: QPointF, colour: QColor, number: int, front: bool) -> None:
        radius = _RADIUS if front else _RADIUS / 2
        if number == self.selected:
            painter.setPen(QPen(QColor(self.colours.accent), 2.5))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawEllipse(spot, _RADIUS + 3.5, _RADIUS + 3.5)
        painter.setPen(QPen(colour, 1.5))
        painter.setBrush(colour if front else QColor(self.colours.base))
        painter.drawEllipse(spot, radius, radius)
        self._spots.append((QRectF(spot.x() - 6, spot.y() - 6, 12, 12), number))

    def _draw_x_axis(self, painter: QPainter, plot: QRectF, low: float, high: float) -> None:
        metrics = QFontMetricsF(self.font())
        for tick in nice_ticks(low, high, max(2, int(plot.width() / 90))):
            x = plot.left() + (tick - low) / (high - low) * plot.width()
            painter.setPen(QPen(QColor(self.colours.line), 1))
            painter.drawLine(QPointF(x, plot.top()), QPointF(x, plot.bottom()))
            painter.setPen(QColor(self.colours.muted))
            text = QRectF(x - 45, plot.bottom() + 3, 90, metrics.height())
            painter.drawText(text, Qt.AlignmentFlag.AlignHCenter, f"{tick:g} %")
        foot = QRectF(plot.left(), plot.bottom() + 3 + metrics.height(), plot.width(), metrics.height())
        painter.drawText(foot, Qt.AlignmentFlag.AlignHCenter, "Information of the attributes that is kept")
