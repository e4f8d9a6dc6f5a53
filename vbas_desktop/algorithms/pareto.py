"""Which of several rated solutions no other one beats."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray


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


def _ranks(column: Sequence[float | int | None]) -> NDArray[np.int64]:
    """The position of each value among the distinct ones, None last."""
    order = sorted({value for value in column if value is not None})
    place: dict[float | int | None, int] = {value: rank for rank, value in enumerate(order)}
    return np.array([place.get(value, len(order)) for value in column], np.int64)
