"""Solutions as a table of plain text."""

from __future__ import annotations

from collections.abc import Sequence

from vbas_desktop.approaches.base import Measure
from vbas_desktop.approaches.registry import approaches
from vbas_desktop.domain.solution import Solution


def solutions_table(solutions: Sequence[Solution], chosen: Solution | None, distance_unit: str) -> str:
    """One line per solution; numbers grouped and right-aligned, distances in km if the coordinates are in metres."""
    names = list(solutions[0].measures) if solutions else []
    header = ["", "id", "sites", "regions", *(_heading(name, distance_unit) for name in names)]
    rows = [
        [
            (">" if chosen is not None and solution.id == chosen.id else " ") + ("*" if solution.pareto else " "),
            str(solution.id),
            f"{solution.site_count:,}",
            f"{solution.aggregated_regions:,}",
            *(number(solution.measures[name], is_distance(name) and distance_unit == "m") for name in names),
        ]
        for solution in solutions
    ]
    return aligned([header, *rows])


def aligned(rows: Sequence[Sequence[str]]) -> str:
    """Rows as lines with right-aligned columns."""
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return "\n".join("  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True)) for row in rows)


def number(value: float | int | None, metres: bool = False) -> str:
    """A number as people read it; a dash where it is undefined."""
    if value is None:
        return "–"
    if metres:
        return f"{value / 1000:,.3f}"
    if isinstance(value, int):
        return f"{value:,}"
    return f"{value:,.0f}" if abs(value) >= 10_000 else f"{value:,.4f}"


def is_distance(name: str) -> bool:
    """Whether a measure is a distance in the unit of the coordinates."""
    kind = approaches("rating").get(name)
    return kind is not None and issubclass(kind, Measure) and kind.unit == "distance"


def _heading(name: str, distance_unit: str) -> str:
    kind = approaches("rating").get(name)
    title = kind.card.title if kind is not None else name
    if is_distance(name):
        return f"{title} ({'km' if distance_unit == 'm' else distance_unit})"
    return title
