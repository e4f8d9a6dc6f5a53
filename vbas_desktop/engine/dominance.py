"""Ranks of solutions of the same scenario: Pareto set, recommended solution, knee, equal partitions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vbas_desktop.algorithms.site_counts import max_suppressed
from vbas_desktop.model.solution import FINEST, LEAST_LOSS, Solution

from .figures import get_measure

PLACE = "place_information_loss"
PENALTY = "certainty_penalty"


@dataclass(frozen=True)
class SolutionRank:
    """Rank of one solution among others; ``same_as`` is the index of an earlier one with the same partition."""

    pareto: bool
    recommended: bool = False
    knee: bool = False
    same_as: int | None = None


def rank_solutions(
    solutions: Sequence[Solution], measures: Sequence[str], allowed_percent: float
) -> list[SolutionRank]:
    """Rank solutions of the same problem against each other.

    *Dominated*: another one is at least as good in every one of ``measures`` and better in one. *Recommended*: of
    those that lose no more than ``allowed_percent`` of the records, the one that keeps most of the information on
    place, or if the aim of all of them is the least loss, the one with the least certainty penalty. *Knee*: of those
    that no other one beats in loss of records and loss of place, the one farthest from the line between the two
    extremes. Of equal partitions the first can be recommended or the knee.
    """
    first: dict[bytes, int] = {}
    same = [first.setdefault(solution.partition, index) for index, solution in enumerate(solutions)]
    distinct = [index for index, first_index in enumerate(same) if first_index == index]
    flags = find_non_dominated(
        [[get_measure(solution, name) for name in measures] for solution in solutions]
    )
    best = _choose_best(solutions, distinct, allowed_percent)
    prices = [(solutions[index].suppressed_share, _place(solutions[index])) for index in distinct]
    bend = find_knee(prices)
    return [
        SolutionRank(
            bool(flags[index]),
            index == best,
            bend is not None and index == distinct[bend],
            None if same[index] == index else same[index],
        )
        for index in range(len(solutions))
    ]


def mark_solutions(
    solutions: Sequence[Solution], measures: Sequence[str], allowed_percent: float
) -> list[Solution]:
    """Return the solutions with their ranks."""
    ranks = rank_solutions(solutions, measures, allowed_percent)
    return [
        solution.with_marks(
            rank.pareto,
            rank.recommended,
            rank.knee,
            None if rank.same_as is None else solutions[rank.same_as].id,
        )
        for solution, rank in zip(solutions, ranks, strict=True)
    ]


def is_within_loss(solution: Solution, allowed_percent: float) -> bool:
    """Test whether a solution loses no more than the allowed share of the records."""
    suppressed = solution.suppressed_records
    return suppressed <= max_suppressed(suppressed + solution.released_records, allowed_percent)


def choose_solution(solutions: Sequence[Solution], allowed_percent: float) -> Solution | None:
    """Choose among these solutions as `rank_solutions` recommends; None if all lose more than is allowed."""
    best = _choose_best(solutions, range(len(solutions)), allowed_percent)
    return None if best is None else solutions[best]


def _choose_best(
    solutions: Sequence[Solution], among: Sequence[int], allowed_percent: float
) -> int | None:
    fitting = [index for index in among if is_within_loss(solutions[index], allowed_percent)]

    aims_at_least_loss = all(_aim(solutions[index]) == LEAST_LOSS for index in fitting)

    def order(index: int) -> tuple[float, float, int, int]:
        solution = solutions[index]
        penalty = _penalty(solution) if aims_at_least_loss else 0.0
        return penalty, _place(solution), -solution.aggregated_regions, solution.suppressed_records

    return min(fitting, key=order, default=None)


def _aim(solution: Solution) -> str:
    """Return what the number of sites was to be best at."""
    return str(solution.parameters.get("site_number", {}).get("aim", FINEST))


def _penalty(solution: Solution) -> float:
    """Get the certainty penalty; where that was not rated, how far the number of sites is from the best one."""
    rated = solution.measures.get(PENALTY)
    return (
        float(abs(solution.site_count - solution.approximated_sites)) if rated is None else float(rated)
    )


def _place(solution: Solution) -> float:
    """Return the loss of place information; infinite where it was not rated."""
    rated = solution.measures.get(PLACE)
    return math.inf if rated is None else float(rated)


_BENT = 1e-9
"""What is farther below the chord than rounding can bring it."""


def find_non_dominated(values: Sequence[Sequence[float | int | None]]) -> NDArray[np.bool_]:
    """Flag the rows that no other row dominates; lower is better.

    A row is dominated if another is at least as good in every column and better in one, so equal rows do not dominate
    each other. An undefined value (None) counts as worse than every number and equal to None: a solution must not win
    by having nothing to rate. O(N · size of the front) after sorting: a row can only be dominated by one that comes
    before it in lexicographic order, and then also by one of the front found so far.
    """
    if not len(values):
        return np.zeros(0, np.bool_)
    # Not float: exact integers beyond 2^53 (discernibility) must not become equal.
    ranks = np.column_stack(
        [_ranks(column) for column in zip(*values, strict=True)] or [np.zeros(len(values), int)]
    )
    distinct, inverse = np.unique(ranks, axis=0, return_inverse=True)
    is_on_front = np.zeros(len(distinct), np.bool_)
    front = np.empty_like(distinct)
    size = 0
    for index, row in enumerate(distinct):
        if not (front[:size] <= row).all(axis=1).any():
            is_on_front[index] = True
            front[size] = row
            size += 1
    return np.asarray(is_on_front[inverse.ravel()])


def find_knee(points: Sequence[tuple[float, float]]) -> int | None:
    """Find the point at which the front of two prices bends most; None if it bends nowhere.

    Both prices are scaled to 0 … 1 over the front. The knee is the point of the front farthest below the chord between
    its two ends, the first of several.
    """
    finite = [index for index, point in enumerate(points) if all(map(math.isfinite, point))]
    flags = find_non_dominated([points[index] for index in finite])
    front = [index for index, is_on_front in zip(finite, flags, strict=True) if is_on_front]
    if len(front) < 3:
        return None
    low = [min(points[index][axis] for index in front) for axis in (0, 1)]
    span = [max(points[index][axis] for index in front) - low[axis] for axis in (0, 1)]
    if min(span) <= 0:
        return None
    # The ends of the scaled front are (0, 1) and (1, 0): below the chord means x + y < 1.
    below = [
        1 - sum((points[index][axis] - low[axis]) / span[axis] for axis in (0, 1)) for index in front
    ]
    best = max(range(len(front)), key=below.__getitem__)
    return front[best] if below[best] > _BENT else None


def _ranks(column: Sequence[float | int | None]) -> NDArray[np.int64]:
    """Rank each value among the distinct ones, None last."""
    order = sorted({value for value in column if value is not None})
    rank_of: dict[float | int | None, int] = {value: rank for rank, value in enumerate(order)}
    return np.array([rank_of.get(value, len(order)) for value in column], np.int64)
