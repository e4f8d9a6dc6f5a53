"""Find the smallest positive distance between two classes of a file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vbas_desktop.model.records import finite_number

from .classes import Label
from .distance_tables import Distance

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]

MOST_PAIRS = 2_000_000_000
"""Pairs of classes, times columns, up to which every pair is compared."""

_BLOCK = 2_000_000
_ROUNDING = 1e-12


@dataclass(frozen=True, eq=False)
class _Column:
    """The values of one quasi-identifier, class by class: numbers, or codes with the distances of their values.

    ``table`` is None for numbers, and for categories that are compared by matching.
    """

    values: Floats
    numeric: bool
    weight: float
    table: Floats | None = None

    def between(self, one: Indices, other: Indices) -> Floats:
        """Compute the weighted distances of pairs of classes, broadcast."""
        if self.table is not None:
            codes = self.values.astype(np.intp)
            return self.weight * self.table[codes[one], codes[other]]
        difference = np.abs(self.values[one] - self.values[other])
        return self.weight * (difference if self.numeric else (difference > 0).astype(np.float64))

    @property
    def smallest_step(self) -> float:
        """The smallest positive distance of two values; infinite if all are alike."""
        used = np.unique(self.values)
        if self.table is not None:
            codes = used.astype(np.intp)
            steps = self.table[np.ix_(codes, codes)].ravel()
        else:
            steps = np.diff(used) if self.numeric else np.minimum(np.diff(used), 1.0)
        return self.weight * float(steps[steps > 0].min(initial=np.inf))


def smallest_distance(labels: Sequence[Label], weights: Floats, distance: Distance) -> float | None:
    """Find the smallest positive distance between two classes; None if there is none, or too many pairs to compare.

    First, classes that differ in one column only are compared: no pair is nearer than the smallest step of a column, so
    if that is reached, it is the answer. Otherwise all pairs are compared. O(n log n), or O(n²) for n classes.
    """
    columns = [_column([label[q] for label in labels], float(weights[q]), distance, q) for q in range(len(weights))]
    least = min(column.smallest_step for column in columns)
    if not np.isfinite(least):
        return None
    found = _among_neighbours(columns)
    if found <= least * (1.0 + _ROUNDING):
        return found
    if len(labels) ** 2 * len(columns) > MOST_PAIRS:
        return None
    found = min(found, _among_all(columns, len(labels)))
    return found if np.isfinite(found) else None


def _column(values: Sequence[str], weight: float, distance: Distance, q: int) -> _Column:
    if q in distance.tables:
        table = distance.tables[q]
        places = np.array([table.places[value] for value in values], np.float64)
        return _Column(places, False, weight, table.distances)
    width = distance.ranges[q]
    if width is not None:
        numbers = np.array([finite_number(value) for value in values], np.float64)
        return _Column(numbers / (width or 1.0), True, weight)
    _, codes = np.unique(np.array(values), return_inverse=True)
    return _Column(codes.astype(np.float64), False, weight)


def _among_neighbours(columns: Sequence[_Column]) -> float:
    """Find the smallest positive distance of classes that follow each other when sorted, by each column last."""
    found = np.inf
    for last in columns:
        keys = [last.values, *(column.values for column in columns if column is not last)]
        order = np.lexsort(keys)
        found = min(found, _smallest_positive(columns, order[:-1], order[1:]))
    return float(found)


def _among_all(columns: Sequence[_Column], number: int) -> float:
    """Find the smallest positive distance of all pairs, some rows at a time."""
    found = np.inf
    every = np.arange(number)
    step = max(1, _BLOCK // number)
    for start in range(0, number, step):
        rows = every[start : start + step, None]
        found = min(found, _smallest_positive(columns, rows, every[None, start:]))
    return float(found)


def _smallest_positive(columns: Sequence[_Column], one: Indices, other: Indices) -> float:
    total = sum(column.between(one, other) for column in columns)
    distances = np.asarray(total)
    return float(distances[distances > 0].min(initial=np.inf))
