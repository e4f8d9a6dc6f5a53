"""Which of several rated solutions no other one beats."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

_BENT = 1e-9
"""What is farther below the chord than rounding can bring it."""


def non_dominated(values: Sequence[Sequence[float | int | None]]) -> NDArray[np.bool_]:
    """Flags of the rows that no other row dominates; lower is better.

    A row is dominated if another is at least as good in every column and better in one, so equal rows do not dominate
    each other. An undefined value (None) counts as worse than every number and equal to None: a solution must not win
    by having nothing to rate. O(N · size of the front) after sorting: a row can only be dominated by one that comes
    before it in lexicographic order, and then also by one of the front found so far.
    """
    if not len(values):
        return np.zeros(0, np.bool_)
    # Not float: exact integers beyond 2^53 (discernibility) must not become equal.
    ranks = np.column_stack([_ranks(column) for column in zip(*values, strict=True)] or [np.zeros(len(values), int)])
    distinct, inverse = np.unique(ranks, axis=0, return_inverse=True)
    kept = np.zeros(len(distinct), np.bool_)
    front = np.empty_like(distinct)
    size = 0
    for index, row in enumerate(distinct):
        if not (front[:size] <= row).all(axis=1).any():
            kept[index] = True
            front[size] = row
            size += 1
    return np.asarray(kept[inverse.ravel()])


def knee(points: Sequence[tuple[float, float]]) -> int | None:
    """The index of the point at which the front of two prices bends most; None if it bends nowhere.

    Both prices are scaled to 0 … 1 over the front. The knee is the point of the front farthest below the chord between
    its two ends, the first of several.
    """
    known = [index for index, point in enumerate(points) if all(map(math.isfinite, point))]
    flags = non_dominated([points[index] for index in known])
    front = [index for index, kept in zip(known, flags, strict=True) if kept]
    if len(front) < 3:
        return None
    low = [min(points[index][axis] for index in front) for axis in (0, 1)]
    span = [max(points[index][axis] for index in front) - low[axis] for axis in (0, 1)]
    if min(span) <= 0:
        return None
    # The ends of the scaled front are (0, 1) and (1, 0): below the chord means x + y < 1.
    below = [1 - sum((points[index][axis] - low[axis]) / span[axis] for axis in (0, 1)) for index in front]
    best = max(range(len(front)), key=below.__getitem__)
    return front[best] if below[best] > _BENT else None


def _ranks(column: Sequence[float | int | None]) -> NDArray[np.int64]:
    """The position of each value among the distinct ones, None last."""
    order = sorted({value for value in column if value is not None})
    place: dict[float | int | None, int] = {value: rank for rank, value in enumerate(order)}
    return np.array([place.get(value, len(order)) for value in column], np.int64)
