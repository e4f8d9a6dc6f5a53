"""Solutions as a table of plain text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from vbas_desktop.approaches.base import Measure
from vbas_desktop.approaches.registry import approaches
from vbas_desktop.domain.solution import Solution

_VECTOR = {
    "precision": "precision",
    "jaccard": "kept together (Jaccard)",
    "davies_bouldin": "Davies–Bouldin",
    "mean_distance": "distance moved",
}
"""What is shown of the representability vector."""


def solutions_table(solutions: Sequence[Solution], chosen: Solution | None, distance_unit: str) -> str:
    """One column per solution; numbers grouped and right-aligned, distances in km if the coordinates are in metres."""
    names = list(solutions[0].measures)
    marks = [
        (">" if chosen is not None and solution.id == chosen.id else "") + ("*" if solution.pareto else "")
        for solution in solutions
    ]
    lines = [
        ["solution", *(f"{mark}{solution.id}" for mark, solution in zip(marks, solutions, strict=True))],
        ["sites", *(f"{solution.site_count:,}" for solution in solutions)],
        ["aggregated regions", *(f"{solution.aggregated_regions:,}" for solution in solutions)],
    ]
    for name in names:
        metres = is_distance(name) and distance_unit == "m"
        heading = _heading(name, distance_unit)
        lines.append([heading, *(number(solution.measures[name], metres) for solution in solutions)])
    vectors: list[Mapping[str, Any]] = [{**solution.representability} for solution in solutions]
    for name, heading in _VECTOR.items():
        if any(name in vector for vector in vectors):
            unit = f" ({vectors[0].get('distance_unit')})" if name == "mean_distance" else ""
            lines.append([heading + unit, *(number(vector.get(name)) for vector in vectors)])
    if all(solution.requirement is not None for solution in solutions):
        met = ["yes" if solution.is_suitable else "no" for solution in solutions]
        lines.append(["meets the requirement", *met])
    return aligned(lines)


def aligned(rows: Sequence[Sequence[str]]) -> str:
    """Rows as lines: the first column to the left, the others to the right."""
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return "\n".join(
        "  ".join(
            [row[0].ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True))]
        )
        for row in rows
    )


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
    title = kind.card.title.lower() if kind is not None else name
    if is_distance(name):
        return f"{title} ({'km' if distance_unit == 'm' else distance_unit})"
    return title
