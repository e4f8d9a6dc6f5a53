"""Judge the sensitive values of classes: which classes meet the criteria, and how near the others come.

Everything works on the cells (region, combination, sensitive value) that are not empty. In counts by region,
combination and value the cells of a class follow each other in the same order as the classes in the counts by region
and combination, so that class e of these has the cells from ``starts[e]`` on.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from vbas_desktop.model.counts import ClassCounts
from vbas_desktop.model.criteria import (
    CLOSENESS,
    COMPARED_WITH_ALL,
    DISTINCT,
    ENTROPY,
    ORDERED,
    RECURSIVE,
    SHARE,
    Criterion,
)
from vbas_desktop.model.progress import NO_PROGRESS, Progress
from vbas_desktop.model.sensitive import SensitiveCounts

CLOSE = 1e-9
"""Figures that differ by no more than this share of the limit are equal: sums of fractions are not exact."""

_CLASSES_PER_BLOCK = 400_000
"""Classes between two looks at whether the user wants to stop."""

_MATRIX_CELLS = 1 << 20
"""Cells of the matrix classes × values that ordered closeness is computed from at a time."""

Shares = NDArray[np.float64]
"""The share of each value in some records."""


def shares_of(totals: NDArray[np.int64]) -> Shares:
    """Compute the share of each value from its number of records."""
    return np.asarray(totals / max(1, int(totals.sum())))


@dataclass(frozen=True, eq=False)
class ValueCounts:
    """The sensitive values of groups of records.

    harmful: whether learning each value does harm; for ordered closeness values must be in their order.
    starts: where the cells of each group begin, and where the last ones end.
    codes: sensitive value of each cell.
    sizes: number of records of each cell.
    """

    harmful: NDArray[np.bool_]
    starts: NDArray[np.int64]
    codes: NDArray[np.integer]
    sizes: NDArray[np.int64]

    def __len__(self) -> int:
        return int(self.starts.size) - 1

    @cached_property
    def lengths(self) -> NDArray[np.int64]:
        """Number of different values of each class."""
        return np.diff(self.starts)

    @cached_property
    def class_sizes(self) -> NDArray[np.int64]:
        """Number of records of each class."""
        return self._sum(self.sizes)

    @cached_property
    def _harmful(self) -> NDArray[np.bool_]:
        return np.asarray(self.harmful[self.codes])

    @cached_property
    def _most_harmful(self) -> NDArray[np.int64]:
        """Number of records of the most frequent harmful value of each class; 0 if it has none."""
        if not len(self):
            return np.zeros(0, np.int64)
        return np.asarray(np.maximum.reduceat(np.where(self._harmful, self.sizes, 0), self.starts[:-1]))

    def _sum(self, values: NDArray[np.number]) -> NDArray:  # type: ignore[type-arg]
        """Add up values of the cells by class."""
        return np.add.reduceat(values, self.starts[:-1]) if len(self) else np.zeros(0, values.dtype)

    def compute_figures(self, kind: int, limit: float, shares: Shares) -> NDArray[np.float64]:
        """Compute the figure of each class that a kind of criterion compares with its limit.

        ``shares`` are those of the values among all released records. A class without a harmful value gets a figure
        that passes: 0, or infinity where more is better.
        """
        if kind == SHARE:
            return np.asarray(100.0 * self._most_harmful / self.class_sizes)
        if kind == DISTINCT:
            figures = self.lengths.astype(np.float64)
        elif kind == ENTROPY:
            share = self.sizes / np.repeat(self.class_sizes, self.lengths)
            figures = np.exp(-self._sum(self.sizes * np.log(share)) / self.class_sizes)
        elif kind == CLOSENESS:
            share = self.sizes / np.repeat(self.class_sizes, self.lengths)
            more = np.where(self._harmful, share - shares[self.codes], 0.0)
            figures = self._sum(np.maximum(0.0, more))
        elif kind == ORDERED:
            figures = self._compute_ordered_distances(shares)
        else:
            figures = self._compute_recursive(int(limit))
        return np.where(self._most_harmful > 0, figures, np.inf if kind in (DISTINCT, ENTROPY) else 0.0)

    def _compute_ordered_distances(self, shares: Shares) -> NDArray[np.float64]:
        """Compute the earth mover's distance of values in their order; neighbours that occur are one step apart."""
        present = int(np.count_nonzero(shares > 0.0))
        distances = np.zeros(len(self))
        if present < 2:
            return distances
        step = max(1, _MATRIX_CELLS // shares.size)
        for first in range(0, len(self), step):
            end = min(first + step, len(self))
            cells = slice(self.starts[first], self.starts[end])
            own = np.zeros((end - first, shares.size))
            row = np.repeat(np.arange(end - first), self.lengths[first:end])
            own[row, self.codes[cells]] = self.sizes[cells]
            # Beyond a value that does not occur nothing has to be carried further.
            occurs = (shares > 0.0) | (own > 0)
            own /= self.class_sizes[first:end, np.newaxis]
            carried = np.abs(np.cumsum(own - shares, axis=1))
            distances[first:end] = carried.sum(axis=1, where=occurs)
        return distances / (present - 1)

    def _compute_recursive(self, limit: int) -> NDArray[np.float64]:
        """Compute how many times as frequent as the rest the commonest harmful value is, once others are ruled out.

        With all values by frequency, r₁ ≥ r₂ ≥ …, and r_y that of the commonest harmful one: the rest is
        r_l + r_(l+1) + … if y < l; else it is r_(l−1) + r_l + … without r_y. An observer can rule out l − 2 values
        besides, benign ones too.
        """
        of_class = np.repeat(np.arange(len(self)), self.lengths)
        top = self._most_harmful
        descending = self.sizes[np.lexsort((-self.sizes, of_class))]
        position = np.arange(self.sizes.size) - np.repeat(self.starts[:-1], self.lengths) + 1
        ahead = ~self._harmful & (self.sizes > np.repeat(top, self.lengths))
        rank = self._sum(ahead.astype(np.int64)) + 1
        begin = np.where(rank < limit, limit, limit - 1)
        counted = position >= np.repeat(begin, self.lengths)
        counted &= position != np.repeat(rank, self.lengths)
        rest = self._sum(np.where(counted, descending, 0))
        return np.where(rest > 0, top / np.maximum(rest, 1), np.inf)

    def meet_criteria(
        self, criteria: Sequence[Criterion], shares: Shares, progress: Progress = NO_PROGRESS
    ) -> NDArray[np.bool_]:
        """Find the groups that meet all criteria; ``shares`` are those of the values in all records."""
        good = np.ones(len(self), np.bool_)
        for first in range(0, len(self), _CLASSES_PER_BLOCK):
            progress.update("Looking at sensitive values")
            end = min(first + _CLASSES_PER_BLOCK, len(self))
            block = self._select_range(first, end)
            for criterion in criteria:
                figures = block.compute_figures(criterion.number, criterion.limit, shares)
                good[first:end] &= _passes(criterion, figures)
        return good

    def _select_range(self, first: int, end: int) -> ValueCounts:
        """Select the groups ``first`` … ``end`` − 1."""
        low = self.starts[first]
        high = self.starts[end]
        starts = self.starts[first : end + 1] - low
        return ValueCounts(self.harmful, starts, self.codes[low:high], self.sizes[low:high])


@dataclass(frozen=True, eq=False)
class ClassValues(ValueCounts):
    """The sensitive values of the classes of some areas.

    cells: the counts that these come from; the last of their quasi-identifiers is the sensitive column.
    """

    column: SensitiveCounts
    cells: ClassCounts

    @cached_property
    def areas(self) -> NDArray[np.int64]:
        """Area of each class: its row of the counts."""
        return (
            np.searchsorted(self.cells.table.indptr, self.starts[:-1], side="right").astype(np.int64) - 1
        )

    @cached_property
    def combinations(self) -> NDArray[np.int64]:
        """Number of each class among all combinations of quasi-identifiers."""
        first = self.cells.combinations[self.cells.table.indices[self.starts[:-1]]]
        return np.asarray(first // max(1, self.cells.n_categories[-1]))

    def select(self, is_kept: NDArray[np.bool_]) -> ClassCounts:
        """Select the cells of the classes that are kept."""
        return self.cells.select_classes(np.repeat(is_kept, self.lengths))

    def total_values(self, is_kept: NDArray[np.bool_]) -> NDArray[np.int64]:
        """Count the records of each value in the classes that are kept."""
        sizes = np.where(np.repeat(is_kept, self.lengths), self.sizes, 0)
        # The weights are floating-point numbers, but exact: nobody has 2**53 records.
        return np.bincount(self.codes, sizes, self.column.harmful.size).astype(np.int64)


def _passes(criterion: Criterion, figures: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Find the classes whose figures meet a criterion."""
    if criterion.number in (DISTINCT, ENTROPY):
        return figures >= criterion.limit * (1.0 - CLOSE)
    if criterion.number == RECURSIVE:
        return figures < criterion.factor * (1.0 - CLOSE)
    return figures <= criterion.limit + CLOSE * max(1.0, criterion.limit)


def list_class_values(column: SensitiveCounts, cells: ClassCounts) -> ClassValues:
    """List the sensitive values of each class from counts by area, combination and value of the column. O(cells)."""
    n_values = max(1, cells.n_categories[-1])
    combination = (cells.combinations // n_values)[cells.table.indices]
    indptr = cells.table.indptr
    is_first = np.ones(combination.size, np.bool_)
    is_first[1:] = combination[1:] != combination[:-1]
    is_first[indptr[:-1][np.diff(indptr) > 0]] = True
    starts = np.append(np.flatnonzero(is_first), combination.size)
    codes = (cells.combinations % n_values).astype(np.int32)[cells.table.indices]
    return ClassValues(column.harmful, starts, codes, cells.sizes, column, cells)


def compares_with_all(column: SensitiveCounts) -> bool:
    """Tell whether a criterion of the column depends on what else is released."""
    return any(criterion.number in COMPARED_WITH_ALL for criterion in column.chosen.criteria)


def select_combinations(column: SensitiveCounts, counts: ClassCounts) -> SensitiveCounts:
    """Select the cells of the combinations that the counts have."""
    cells = column.cells
    is_present = np.isin(cells.combinations // max(1, cells.n_categories[-1]), counts.combinations)
    return column.with_cells(cells.select_combinations(is_present))
