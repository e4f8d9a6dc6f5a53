"""The nodes of a search: as a table, and as a picture of the number of regions against detail."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from PySide6.QtCore import QObject, QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QPainter, QPen

from vbas_desktop.search.lattice import Node
from vbas_desktop.search.run import Found, Searched
from vbas_desktop.search.table import PictureLine, lines_of
from vbas_desktop.session.finding import node_in_words
from vbas_desktop.ui.charts.chart import RADIUS, Chart, placed
from vbas_desktop.ui.charts.rows import ChartRow, Measure, padded
from vbas_desktop.ui.panel.results_columns import RECOMMENDED, STAR
from vbas_desktop.ui.widgets.tables import Heading, TableModel

_NAMED = 8
"""So many lines have their names above the picture; of more, pointing at a mark tells the name."""

_REGIONS = Measure("regions", "Regions")

SORT_ROLE = int(Qt.ItemDataRole.UserRole)
NUMBER_ROLE = SORT_ROLE + 1

_REGIONS_HEAD = Heading("Regions", "Aggregated regions: the finest place within the allowed loss", "right")
_PLACES = Heading("Places", "Places of all tiers that occur in the release", "right")
_FIGURES = (
    Heading("Suppressed\n%", "Share of all records that are not released", "right"),
    Heading("Attributes\nkept, %", "Share of the attributes' information that is kept", "right"),
    Heading("Place\nkept, %", "Share of the information on place that is kept", "right"),
    Heading("Classes", "Possible combinations of the groups", "right"),
    Heading("Result", "Found; out of reach: one region in all loses too much; coarser than needed: no need to search"),
)
_MARKS = (
    f"{STAR} no other combination beats it   {RECOMMENDED} recommended: keeps the largest product of both, and "
    "more than one category of every attribute if that is possible"
)

_FIRST = (Heading(STAR, _MARKS, "centre"), Heading("№", "Number of the node", "right"))


class NodesModel(TableModel):
    """One row per node, with the categories that remain of each attribute."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.searched: Searched | None = None
        self._grey: QColor | None = None

    def show_search(self, searched: Searched | None) -> None:
        """Show what is found so far."""
        with self.anew():
            self.searched = searched
            self.rows = () if searched is None else searched.rows
            names = [] if searched is None else [ladder.column for ladder in searched.finest.lattice.ladders]
            columns = (Heading(name, f"Categories of {name} that remain", "right") for name in names)
            place = _PLACES if searched is not None and searched.in_tiers else _REGIONS_HEAD
            self.heads = (*_FIRST, *columns, place, *_FIGURES)

    def show_grey(self, colour: QColor | None) -> None:
        """Write the nodes in grey, as those of other settings are; None: as usual."""
        if colour != self._grey:
            self._grey = colour
            last = self.index(self.rowCount() - 1, self.columnCount() - 1)
            self.dataChanged.emit(self.index(0, 0), last, [Qt.ItemDataRole.ForegroundRole])

    def row_of(self, number: int) -> Found:
        """The node with a number."""
        found: Found = self.rows[number - 1]
        return found

    @property
    def _front(self) -> frozenset[Node]:
        return frozenset() if self.searched is None else self.searched.front

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
            found.released_places,
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
            best = f"{STAR} {RECOMMENDED}" if self.rows[row].node in self._front else RECOMMENDED
            return ("", STAR, best)[2 - value]
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
        if role == Qt.ItemDataRole.ForegroundRole:
            return self._grey
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
        "“Find it” tries every combination of attribute levels and finds the finest regions for each within the "
        "allowed loss. They are listed here and drawn: detail of the attributes against number of regions."
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
        across = padded([100 * point.detail for point in points])
        up = 0.0, max(point.regions for point in points) * 1.08
        painter.setPen(QColor(self.colours.muted))
        painter.drawText(QPointF(area.left() + 12, area.top() + metrics.height()), "Regions")
        self.draw_value_axis(painter, plot, *up)
        self.draw_x_axis(painter, plot, across, "Information of the attributes that is kept", "{:g} %".format)
        place = placed(plot, across, up)
        for line in self.lines:
            colour = self.approach_colour(line.title)
            spots = [place(100 * point.detail, point.regions) for point in line.points]
            painter.setPen(QPen(colour, 1.2))
            for one, other in pairwise(spots):
                painter.drawLine(one, other)
            for spot, point in zip(spots, line.points, strict=True):
                self.draw_mark(painter, spot, point.number, colour, point.front, RADIUS if point.front else RADIUS / 2)
        for point in points:
            if point.recommended:
                spot = place(100 * point.detail, point.regions)
                painter.setPen(QColor(self.colours.text))
                painter.drawText(QPointF(spot.x() + 2 * RADIUS, spot.y() - RADIUS), RECOMMENDED)
