"""The table of a search (one row per node, as CSV, plain data and text), and its picture: regions against detail."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from vbas_desktop import __version__
from vbas_desktop.algorithms.site_counts import max_suppressed
from vbas_desktop.model.text import format_count, format_csv, format_within_limit, inflect

from .search import FOUND, NOT_NEEDED, OUT_OF_REACH, LatticeSearchResult, NodeResult

FORMAT_VERSION = 1


def number_rows(searched: LatticeSearchResult) -> list[tuple[int, NodeResult]]:
    """Number the rows from 1 in the order of the search."""
    return list(enumerate(searched.rows, 1))


def describe_levels(searched: LatticeSearchResult, row: NodeResult) -> list[str]:
    """Describe the level of each attribute: "age 22" on level 0, "age 22 → 6" on a coarser one."""
    words = []
    for hierarchy, level in zip(searched.finest.lattice.hierarchies, row.node, strict=True):
        most = hierarchy.count_groups(0)
        left = hierarchy.count_groups(level)
        words.append(
            f"{hierarchy.column} {most:,}" if level == 0 else f"{hierarchy.column} {most:,} → {left:,}"
        )
    return words


def list_node_rows(searched: LatticeSearchResult) -> list[dict[str, Any]]:
    """List every node by column; what was not computed is None."""
    records = searched.finest.problem.records
    rows = []
    for number, row in number_rows(searched):
        hierarchies = zip(searched.finest.lattice.hierarchies, row.node, strict=True)
        levels: dict[str, Any] = {}
        for hierarchy, level in hierarchies:
            levels[f"{hierarchy.column}_level"] = level
            levels[f"{hierarchy.column}_categories"] = hierarchy.count_groups(level)
        rows.append(
            {
                "node": number,
                **levels,
                "status": row.status,
                "detail_percent": 100 * row.detail,
                "equivalence_classes": row.equivalence_classes,
                "classes_present": row.classes_present,
                "sites": row.sites,
                "aggregated_regions": row.regions,
                **({"released_places": row.n_released_areas} if searched.in_tiers else {}),
                "suppressed_records": row.suppressed,
                "suppressed_percent": None
                if row.suppressed is None
                else 100 * row.suppressed / max(1, records),
                "place_information_loss": row.place_loss,
                "trials": row.trials,
                **({"unmet_size_targets": row.unmet} if searched.limits.any_limit else {}),
                "front": row.node in searched.front,
                "recommended": row is searched.recommended,
            }
        )
    return rows


def format_search_csv(searched: LatticeSearchResult) -> str:
    """Format the table as CSV with exact values; formulas of spreadsheets are escaped."""
    rows = list_node_rows(searched)
    return format_csv(list(rows[0]), ([_yes_or_no(value) for value in row.values()] for row in rows))


def build_search_document(searched: LatticeSearchResult) -> dict[str, Any]:
    """Build the document of a search as plain data, with the hierarchies of its levels."""
    problem = searched.finest.problem
    return {
        "format_version": FORMAT_VERSION,
        "program_version": __version__,
        "k": problem.k,
        "allowed_loss_percent": searched.allowed_loss_percent,
        "records": problem.records,
        "regions": len(problem.regions),
        "quasi_identifiers": list(problem.quasi_identifiers),
        "limits": searched.limits.chosen_limits(),
        "hierarchies": {
            hierarchy.column: [
                dict(zip(hierarchy.categories.values, groups, strict=True))
                for groups in hierarchy.levels
            ]
            for hierarchy in searched.finest.lattice.hierarchies
        },
        "recommended_node": next(
            (n for n, row in number_rows(searched) if row is searched.recommended), None
        ),
        "nodes": list_node_rows(searched),
    }


def describe_search(searched: LatticeSearchResult) -> list[str]:
    """Summarise the search in a few sentences."""
    rows = [row for row in searched.rows if row.status == FOUND]
    problem = searched.finest.problem
    percent = f"{searched.allowed_loss_percent:g} %"
    lines = [
        f"{format_count(problem.records, 'record')} · {format_count(len(problem.regions), 'region')} · k = "
        f"{problem.k} · "
        f"at most {percent} suppressed · {format_count(len(searched.rows), 'combination')} of levels"
    ]
    if searched.limits.any_limit:
        lines.append(f"Limits: {searched.limits.limits_in_words()}.")
    if not rows:
        return [
            *lines,
            f"None is within {percent}: use coarser hierarchies, fewer attributes or a smaller k, or allow more.",
        ]
    n_by_status = {
        status: sum(row.status == status for row in searched.rows)
        for status in (OUT_OF_REACH, NOT_NEEDED)
    }
    if n_by_status[OUT_OF_REACH]:
        lose = inflect(n_by_status[OUT_OF_REACH], "loses", "lose")
        lines.append(
            f"{n_by_status[OUT_OF_REACH]:,} {lose} more than {percent} even with one region in all."
        )
    if n_by_status[NOT_NEEDED]:
        lines.append(
            f"{n_by_status[NOT_NEEDED]:,} coarser than one that keeps every initial region were not needed."
        )
    best = searched.recommended
    assert best is not None
    number = next(number for number, row in number_rows(searched) if row is best)
    lines.append(
        f"Recommended: node {number}, {', '.join(describe_levels(searched, best))}: {describe_node(searched, best)}."
    )
    emptied = searched.emptied_columns(best)
    if emptied:
        names = ", ".join(name[:80] for name in emptied)
        lines.append(
            f"It leaves only one category of {names}: nothing that keeps more is within {percent}."
        )
    return lines


def describe_node(searched: LatticeSearchResult, row: NodeResult) -> str:
    """Describe what a node keeps and loses."""
    n_areas = row.released_places
    what = "place" if searched.in_tiers else "region"
    assert n_areas is not None
    assert row.suppressed is not None
    assert row.place_loss is not None
    suppressed = format_suppressed_percent(searched, row.suppressed)
    unmet = f", {format_count(row.unmet, 'size target')} not met" if row.unmet else ""
    return (
        f"{format_count(n_areas, what)}{unmet}, {suppressed} % suppressed, keeps {100 * row.detail:.1f} % of "
        f"the attributes and {100 * (1 - row.place_loss):.1f} % of the place"
    )


def format_suppressed_percent(searched: LatticeSearchResult, suppressed: int) -> str:
    """Format suppressed records as a percentage, whose rounding never contradicts the allowed loss."""
    records = searched.finest.problem.records
    limit = searched.allowed_loss_percent
    percent = 100 * suppressed / max(1, records)
    is_within = suppressed <= max_suppressed(records, limit)
    return format_within_limit(percent, f"{percent:,.2f}", limit, is_within)


def format_front_rows(searched: LatticeSearchResult) -> list[list[str]]:
    """Format the front and the recommended node as rows of cells under a header, finest attributes first."""
    columns = [hierarchy.column for hierarchy in searched.finest.lattice.hierarchies]
    what = "places" if searched.in_tiers else "regions"
    rows = [["node", *columns, what, "suppressed %", "attributes kept %", "place kept %"]]
    listed = (row for row in list_node_rows(searched) if row["front"] or row["recommended"])
    for row in sorted(listed, key=lambda row: (-row["detail_percent"], row["node"])):
        cells = [
            f"{'>' if row['recommended'] else ''}{row['node']}",
            *(f"{row[f'{column}_categories']:,}" for column in columns),
            f"{row['released_places' if searched.in_tiers else 'aggregated_regions']:,}",
            format_suppressed_percent(searched, row["suppressed_records"]),
            f"{row['detail_percent']:.1f}",
            f"{100 * (1 - row['place_information_loss']):.1f}",
        ]
        rows.append(cells)
    return rows


def describe_marks(searched: LatticeSearchResult) -> str:
    """Explain the marks of the listed nodes."""
    best = searched.recommended
    if best is None or best.node in searched.front:
        return "> recommended; no other combination beats any of these"
    return "> recommended; only combinations that leave one category of an attribute dominate it, and none the others"


def _yes_or_no(value: Any) -> Any:
    return ("yes" if value else "no") if isinstance(value, bool) else value


@dataclass(frozen=True)
class ChartPoint:
    """One node."""

    number: int
    detail: float
    regions: int
    front: bool
    recommended: bool


@dataclass(frozen=True)
class ChartLine:
    """The nodes that differ in the level of one attribute alone, from the least detail to the most."""

    title: str
    points: tuple[ChartPoint, ...]


def build_chart_lines(searched: LatticeSearchResult) -> list[ChartLine]:
    """Build a line for each combination of the levels of all attributes but the one with most levels."""
    lattice = searched.finest.lattice
    along = max(range(len(lattice.hierarchies)), key=lambda place: len(lattice.allowed[place]))
    groups: dict[tuple[int, ...], list[ChartPoint]] = {}
    for number, row in number_rows(searched):
        n_areas = row.released_places
        if row.status == FOUND and n_areas is not None:
            rest = (*row.node[:along], *row.node[along + 1 :])
            is_front = row.node in searched.front
            is_best = row is searched.recommended
            groups.setdefault(rest, []).append(
                ChartPoint(number, row.detail, n_areas, is_front, is_best)
            )
    others = [hierarchy for index, hierarchy in enumerate(lattice.hierarchies) if index != along]
    lines = []
    for rest, points in sorted(groups.items()):
        words = [
            f"{hierarchy.column} {hierarchy.count_groups(level):,}"
            for hierarchy, level in zip(others, rest, strict=True)
        ]
        title = ", ".join(words) or lattice.hierarchies[along].column
        lines.append(ChartLine(title, tuple(sorted(points, key=lambda point: point.detail))))
    return lines
