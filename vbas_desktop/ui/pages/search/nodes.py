"""The nodes of a search: as a table, and as a picture of the number of regions against detail."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from operator import attrgetter

from vbas_desktop.engine.lattice.hierarchies import CodedHierarchy
from vbas_desktop.engine.lattice.search import LatticeSearchResult, NodeResult
from vbas_desktop.engine.lattice.table import ChartLine, build_chart_lines, format_suppressed_percent

from ...charts.legend import LegendEntry
from ...charts.trade_off import TradeOffChart
from ...presentation.chart_data import ChartAxis, SeriesStyle, SolutionRow
from ...presentation.results_table import RECOMMENDED, STAR
from ...presentation.tables import UNKNOWN, TableColumn
from ...state.searching import node_in_words

_NAMED = 8
"""So many lines have their names above the picture; of more, pointing at a mark tells the name."""

_DETAIL = ChartAxis("detail", "Information of the attributes that is kept", "%", lower_is_better=False)
_REGIONS = ChartAxis("regions", "Regions", lower_is_better=False)

_MARKS = (
    f"{STAR} Pareto-optimal: no other combination keeps more of both. Recommended: keeps the largest product of both, "
    "and more than one category of every attribute if that is possible"
)
_STATUS = "Found; out of reach: one region in all loses too much; coarser than needed: no need to search"


def make_node_columns(searched: LatticeSearchResult) -> list[TableColumn[NodeResult]]:
    """Make the columns of a search's nodes: marks, categories that remain of each attribute, measures, status."""
    numbers = {result.node: number for number, result in enumerate(searched.rows, 1)}
    hierarchies = searched.finest.lattice.hierarchies
    regions = ("Regions", "Aggregated regions: the finest place within the allowed loss")
    places = ("Places", "Places of all tiers that occur in the release")
    columns = [
        TableColumn(
            "marks",
            STAR,
            partial(_rank, searched),
            _MARKS,
            text_of=lambda result: STAR if result.node in searched.front else "",
            badge=lambda result: RECOMMENDED if result is searched.recommended else "",
            accessible=partial(_describe_rank, searched),
        ),
        _number_column("number", "#", "Number of the node", lambda result: numbers[result.node]),
        *(_make_attribute_column(position, hierarchy) for position, hierarchy in enumerate(hierarchies)),
        _number_column(
            "places", *(places if searched.in_tiers else regions), attrgetter("released_places")
        ),
        _make_suppressed_column(searched),
        _percent_column(
            "detail",
            "Attributes\nkept, %",
            "Share of the attributes' information that is kept",
            attrgetter("detail"),
        ),
        _percent_column(
            "place",
            "Place\nkept, %",
            "Share of the information on place that is kept",
            lambda result: None if result.place_loss is None else 1 - result.place_loss,
        ),
        _number_column(
            "classes",
            "Classes",
            "Possible combinations of the groups",
            attrgetter("equivalence_classes"),
        ),
        TableColumn("status", "Result", attrgetter("status"), _STATUS, str),
    ]
    row_tip = partial(_describe_node, searched)
    is_bold = partial(_is_recommended, searched)
    return [replace(column, row_tip=row_tip, is_bold=is_bold) for column in columns]


def _number_column(
    name: str, title: str, tip: str, value: Callable[[NodeResult], int | None]
) -> TableColumn[NodeResult]:
    return TableColumn(name, title, value, tip, side="right")


def _percent_column(
    name: str, title: str, tip: str, share: Callable[[NodeResult], float | None]
) -> TableColumn[NodeResult]:
    return TableColumn(name, title, share, tip, lambda value: f"{100 * value:,.2f}", side="right")


def _make_suppressed_column(searched: LatticeSearchResult) -> TableColumn[NodeResult]:
    """Make the column of suppressed records."""
    records = searched.finest.problem.records

    def get_share(result: NodeResult) -> float | None:
        return None if result.suppressed is None else result.suppressed / max(1, records)

    def write(result: NodeResult) -> str:
        if result.suppressed is None:
            return UNKNOWN
        return format_suppressed_percent(searched, result.suppressed)

    tip = "Share of all records that are not released"
    return TableColumn("suppressed", "Suppressed\n%", get_share, tip, text_of=write, side="right")


def _make_attribute_column(position: int, hierarchy: CodedHierarchy) -> TableColumn[NodeResult]:
    def count_categories(result: NodeResult) -> int:
        return hierarchy.count_groups(result.node[position])

    title = hierarchy.column
    return _number_column(
        f"attribute_{title}", title, f"Categories of {title} that remain", count_categories
    )


def _rank(searched: LatticeSearchResult, result: NodeResult) -> int:
    return 0 if result is searched.recommended else 1 if result.node in searched.front else 2


def _describe_rank(searched: LatticeSearchResult, result: NodeResult) -> str:
    words = (
        ("Pareto-optimal", result.node in searched.front),
        ("recommended", result is searched.recommended),
    )
    return ", ".join(word for word, is_true in words if is_true)


def _is_recommended(searched: LatticeSearchResult, result: NodeResult) -> bool:
    return result is searched.recommended


def _describe_node(searched: LatticeSearchResult, result: NodeResult) -> str:
    return node_in_words(searched, result.node)


class SearchChart(TradeOffChart):
    """Draws regions against detail, with a line for the nodes that differ in one attribute. A click chooses a node."""

    nothing = (
        "“Search” tries every combination of attribute levels and finds the finest regions for each within the "
        "allowed loss. They are listed here and drawn: detail of the attributes against number of regions."
    )

    lines: tuple[ChartLine, ...] = ()

    def show_search(self, searched: LatticeSearchResult | None) -> None:
        """Draw the nodes that are found so far."""
        self.lines = () if searched is None else tuple(build_chart_lines(searched))
        rows = [
            SolutionRow(
                point.number,
                line.title,
                point.regions,
                {"detail": 100 * point.detail, "regions": point.regions},
                point.front,
                RECOMMENDED if point.recommended else "",
                SeriesStyle(number, number, 0),
            )
            for number, line in enumerate(self.lines)
            for point in line.points
        ]
        self.show_rows(rows, [_DETAIL, _REGIONS])

    def tip(self, row: SolutionRow) -> str:
        """Describe a node."""
        return f"Node #{row.number:,}: {row.approach}\n{row.sites:,} regions"

    def legend_entries(self) -> list[LegendEntry]:
        """Leave the lines out if they are too many to be told apart."""
        entries = super().legend_entries()
        return entries if len(self.lines) <= _NAMED else entries[len(self.styles) :]

    def draw_rows(self) -> None:
        """Draw a line for the nodes that differ in one attribute, the front and all marks."""
        for line in self.lines:
            details = [100 * point.detail for point in line.points]
            regions = [float(point.regions) for point in line.points]
            self.draw_line(details, regions, self.approach_pen(line.title, 1.2))
        super().draw_rows()
