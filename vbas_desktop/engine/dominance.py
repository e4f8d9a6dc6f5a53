"""Where solutions stand among those of the same scenario: dominated or not, recommended, at the knee, found before."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from vbas_desktop.algorithms.pareto import knee, non_dominated
from vbas_desktop.algorithms.site_numbers import allowed_records
from vbas_desktop.model.solution import FINEST, LEAST_LOSS, Solution

PLACE = "place_information_loss"
PENALTY = "certainty_penalty"
SECONDS = "seconds"
"""The one measure that the engine takes itself: the wall time of the stages, loading apart."""


@dataclass(frozen=True)
class Standing:
    """What is true of one solution among others; ``same_as`` is the place of an earlier one with the same partition."""

    pareto: bool
    recommended: bool = False
    knee: bool = False
    same_as: int | None = None


def standings(solutions: Sequence[Solution], measures: Sequence[str], allowed_percent: float) -> list[Standing]:
    """The standing of each of these solutions, which must solve the same problem.

    *Dominated*: another one is at least as good in every one of ``measures`` and better in one. *Recommended*: of
    those that lose no more than ``allowed_percent`` of the records, the one that keeps most of the information on
    place, or if the aim of all of them is the least loss, the one with the least certainty penalty. *Knee*: of those
    that no other one beats in loss of records and loss of place, the one farthest from the line between the two
    extremes. Of equal partitions the first can be recommended or the knee.
    """
    first: dict[bytes, int] = {}
    same = [first.setdefault(solution.partition, index) for index, solution in enumerate(solutions)]
    distinct = [index for index, kept in enumerate(same) if kept == index]
    flags = non_dominated([[value_of(solution, name) for name in measures] for solution in solutions])
    best = _recommended(solutions, distinct, allowed_percent)
    prices = [(solutions[index].suppressed_share, _place(solutions[index])) for index in distinct]
    bend = knee(prices)
    return [
        Standing(
            bool(flags[index]),
            index == best,
            bend is not None and index == distinct[bend],
            None if same[index] == index else same[index],
        )
        for index in range(len(solutions))
    ]


def marked(solutions: Sequence[Solution], measures: Sequence[str], allowed_percent: float) -> list[Solution]:
    """The same solutions with their marks set."""
    found = standings(solutions, measures, allowed_percent)
    return [
        solution.marked(
            each.pareto, each.recommended, each.knee, None if each.same_as is None else solutions[each.same_as].id
        )
        for solution, each in zip(solutions, found, strict=True)
    ]


def value_of(solution: Solution, measure: str) -> float | int | None:
    """One measure of a solution; its time is kept apart from the others."""
    if measure == SECONDS and measure not in solution.measures:
        return solution.seconds
    return solution.measures.get(measure)


def within(solution: Solution, allowed_percent: float) -> bool:
    """Whether a solution loses no more than the allowed share of the records."""
    lost = solution.suppressed_records
    return lost <= allowed_records(lost + solution.released_records, allowed_percent)


def best_within(solutions: Sequence[Solution], allowed_percent: float) -> Solution | None:
    """Choose among these solutions as `standings` recommends; None if all lose more than is allowed."""
    best = _recommended(solutions, range(len(solutions)), allowed_percent)
    return None if best is None else solutions[best]


def _recommended(solutions: Sequence[Solution], among: Sequence[int], allowed_percent: float) -> int | None:
    fitting = [index for index in among if within(solutions[index], allowed_percent)]

    aims_at_least_loss = all(_aim(solutions[index]) == LEAST_LOSS for index in fitting)

    def order(index: int) -> tuple[float, float, int, int]:
        solution = solutions[index]
        penalty = _penalty(solution) if aims_at_least_loss else 0.0
        return penalty, _place(solution), -solution.aggregated_regions, solution.suppressed_records

    return min(fitting, key=order, default=None)


def _aim(solution: Solution) -> str:
    """Name what the number of sites was to be best at."""
    return str(solution.parameters.get("site_number", {}).get("aim", FINEST))


def _penalty(solution: Solution) -> float:
    """Get the certainty penalty; where that was not rated, how far the number of sites is from the best one."""
    rated = solution.measures.get(PENALTY)
    return float(abs(solution.site_count - solution.approximated_sites)) if rated is None else float(rated)


def _place(solution: Solution) -> float:
    """The loss of place information; solutions kept by versions that did not rate it come last."""
    rated = solution.measures.get(PLACE)
    return math.inf if rated is None else float(rated)
