"""Solutions as a table of plain text."""

from __future__ import annotations

from collections.abc import Sequence

from vbas_desktop.engine.figures import (
    Output,
    SolutionFigure,
    Value,
    format_to_four_decimals,
    list_figures,
)
from vbas_desktop.model.regions import CoordinateSystem
from vbas_desktop.model.solution import Solution

MARKS = (
    "> chosen for the release   ! recommended: the best within the allowed loss   * Pareto-optimal   "
    "^ knee: where less loss of records begins to cost much more of the place"
)


def format_solutions(
    solutions: Sequence[Solution], chosen: Solution | None, system: CoordinateSystem
) -> str:
    """Format a table with one column per solution, numbers grouped and right-aligned.

    Of solutions with the same partition the first is listed, or the one that is chosen.
    """
    solutions = [
        solution
        for solution in solutions
        if solution.same_as is None or (chosen is not None and solution.id == chosen.id)
    ]
    lines = [["solution", *(f"{marks(solution, chosen)}{solution.id}" for solution in solutions)]]
    for figure in list_figures(solutions, Output.TERMINAL):
        cells = [_format(figure, figure.read(solution), system) for solution in solutions]
        lines.append([figure.line_heading(system), *cells])
        if figure.name == "suppressed_percent":
            lines += _tier_lines(solutions)
    if all(solution.requirement is not None for solution in solutions):
        verdicts = ["yes" if solution.is_suitable else "no" for solution in solutions]
        lines.append(["meets the requirement", *verdicts])
    return align_columns(lines)


def _format(figure: SolutionFigure, value: Value, system: CoordinateSystem) -> str:
    if figure.unit == "%":
        return figure.format(value, system)
    if figure.unit == "distance" and system.unit == "m" and value is not None:
        return f"{value / 1000:,.3f}"
    return format_to_four_decimals(figure.convert(value, system))


def marks(solution: Solution, chosen: Solution | None) -> str:
    """Return the signs before the number of a solution; `MARKS` explains them."""
    signs = {
        ">": chosen is not None and solution.id == chosen.id,
        "*": solution.pareto,
        "!": solution.recommended,
        "^": solution.knee,
    }
    return "".join(sign for sign, is_true in signs.items() if is_true)


def _tier_lines(solutions: Sequence[Solution]) -> list[list[str]]:
    """Build a row for each tier: its released records, with the number of its places."""
    most = max(len(solution.released_by_tier) for solution in solutions)
    return [
        [
            f"records in tier {tier} (places)",
            *(
                f"{solution.released_by_tier[tier]:,} ({solution.tiers.n_areas[tier]:,})"
                if solution.tiers is not None and tier < len(solution.tiers)
                else "–"
                for solution in solutions
            ),
        ]
        for tier in range(most)
    ]


def align_columns(rows: Sequence[Sequence[str]]) -> str:
    """Format rows as lines: the first column aligned to the left, the others to the right."""
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return "\n".join(
        "  ".join(
            [
                row[0].ljust(widths[0]),
                *(cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True)),
            ]
        )
        for row in rows
    )
