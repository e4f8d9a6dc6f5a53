"""Solutions as a table of plain text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from vbas_desktop.approaches.base import Measure
from vbas_desktop.approaches.registry import approaches
from vbas_desktop.model.solution import Solution

_VECTOR = {
    "precision": "detail kept",
    "jaccard": "kept together (Jaccard)",
    "davies_bouldin": "Davies–Bouldin",
    "mean_distance": "distance moved",
}
"""What is shown of the representability vector."""

MARKS = (
    "> chosen for the release   ! recommended: the best within the allowed loss   * unbeaten   "
    "^ knee: where less loss of records begins to cost much more of the place"
)


def solutions_table(solutions: Sequence[Solution], chosen: Solution | None, distance_unit: str) -> str:
    """One column per solution; numbers grouped and right-aligned, distances in km if the coordinates are in metres.

    Of solutions with the same partition the first is listed, or the one that is chosen.
    """
    solutions = [each for each in solutions if each.same_as is None or (chosen is not None and each.id == chosen.id)]
    names = list(solutions[0].measures)
    lines = [
        ["solution", *(f"{marks(solution, chosen)}{solution.id}" for solution in solutions)],
        ["sites", *(f"{solution.site_count:,}" for solution in solutions)],
        ["aggregated regions", *(f"{solution.aggregated_regions:,}" for solution in solutions)],
        ["suppressed (%)", *(f"{100 * solution.suppressed_share:,.2f}" for solution in solutions)],
    ]
    lines += _tier_lines(solutions)
    for name in names:
        metres = _unit(name) == "distance" and distance_unit == "m"
        heading, factor = _heading(name, distance_unit), 100 if _unit(name) == "share" else 1
        values = (solution.measures[name] for solution in solutions)
        lines.append([heading, *(number(None if value is None else factor * value, metres) for value in values)])
    vectors: list[Mapping[str, Any]] = [{**solution.representability} for solution in solutions]
    for name, heading in _VECTOR.items():
        if any(name in vector for vector in vectors):
            unit = f" ({vectors[0].get('distance_unit')})" if name == "mean_distance" else ""
            lines.append([heading + unit, *(number(vector.get(name)) for vector in vectors)])
    if all(solution.requirement is not None for solution in solutions):
        met = ["yes" if solution.is_suitable else "no" for solution in solutions]
        lines.append(["meets the requirement", *met])
    return aligned(lines)


def marks(solution: Solution, chosen: Solution | None) -> str:
    """The signs before the number of a solution; `MARKS` says what they mean."""
    signs = {
        ">": chosen is not None and solution.id == chosen.id,
        "*": solution.pareto,
        "!": solution.recommended,
        "^": solution.knee,
    }
    return "".join(sign for sign, is_true in signs.items() if is_true)


def _tier_lines(solutions: Sequence[Solution]) -> list[list[str]]:
    """How many records are released in each tier, with its number of places."""
    most = max(len(solution.released_by_tier) for solution in solutions)
    return [
        [
            f"records in tier {tier} (places)",
            *(
                f"{solution.released_by_tier[tier]:,} ({solution.tiers.places[tier]:,})"
                if solution.tiers is not None and tier < len(solution.tiers)
                else "–"
                for solution in solutions
            ),
        ]
        for tier in range(most)
    ]


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


def _unit(name: str) -> str:
    kind = approaches("rating").get(name)
    return kind.unit if kind is not None and issubclass(kind, Measure) else ""


def _heading(name: str, distance_unit: str) -> str:
    kind = approaches("rating").get(name)
    title = kind.card.title.lower() if kind is not None else name
    units = {"distance": "km" if distance_unit == "m" else distance_unit, "share": "%"}
    return f"{title} ({units[_unit(name)]})" if _unit(name) in units else title
