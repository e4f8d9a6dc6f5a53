"""Counts of records by region and class: what everything after loading works on."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from .records import as_readonly

MAX_COMBINATIONS = 1 << 63
"""Combinations are numbered with signed 64-bit integers."""


def make_table(
    sizes: NDArray[np.int64],
    columns: NDArray[np.integer],
    ends: NDArray[np.integer],
    shape: tuple[int, int],
) -> csr_array:
    """Make a CSR matrix from its three arrays with indices of 32 bits where these suffice.

    scipy gives both index arrays the wider of their types, which would nearly double the memory of a table.
    """
    index = np.int32 if max(sizes.size, *shape) <= np.iinfo(np.int32).max else np.int64
    return csr_array(
        (sizes, columns.astype(index, copy=False), ends.astype(index, copy=False)), shape=shape
    )


@dataclass(frozen=True, eq=False)
class ClassCounts:
    """Number of records by region and combination of categories; a class is a combination within a region.

    n_categories: number of categories of each quasi-identifier.
    combinations: row-major number of each column of the table among all combinations, ascending.
    table: CSR matrix, regions × combinations that occur, int64, indices sorted, without stored zeros. Its arrays are
        read-only.
    """

    n_categories: tuple[int, ...]
    combinations: NDArray[np.int64]
    table: csr_array

    def __post_init__(self) -> None:
        for array in (self.combinations, self.table.data, self.table.indices, self.table.indptr):
            as_readonly(array)

    @classmethod
    def from_matrix(
        cls, n_categories: Sequence[int], combinations: NDArray[np.int64], matrix: NDArray[np.int64]
    ) -> ClassCounts:
        """Make counts from a full matrix, regions × combinations."""
        table = csr_array(np.asarray(matrix, np.int64))
        return cls(tuple(int(number) for number in n_categories), combinations, table)

    @property
    def n_regions(self) -> int:
        """Number of regions, those without records included."""
        return int(self.table.shape[0])

    @property
    def n_combinations(self) -> int:
        """Number of combinations that occur in the records."""
        return int(self.combinations.size)

    @property
    def max_combinations(self) -> int:
        """Return the number of possible combinations, MaxCombs (a Python integer: it may be huge)."""
        return math.prod(self.n_categories)

    @property
    def sizes(self) -> NDArray[np.int64]:
        """Number of records of each class, region by region."""
        return np.asarray(self.table.data)

    @property
    def nbytes(self) -> int:
        """Return the memory of the table in bytes."""
        return int(self.table.data.nbytes + self.table.indices.nbytes + self.table.indptr.nbytes)

    @cached_property
    def region_totals(self) -> NDArray[np.int64]:
        """Number of records of each region."""
        return as_readonly(np.asarray(self.table.sum(axis=1), np.int64))

    @cached_property
    def combination_totals(self) -> NDArray[np.int64]:
        """Number of records of each combination in all regions together."""
        return as_readonly(np.asarray(self.table.sum(axis=0), np.int64))

    @property
    def records(self) -> int:
        """Number of records counted."""
        return int(self.region_totals.sum())

    def equals(self, other: ClassCounts) -> bool:
        """Tell whether the other counts are the same, region by region and combination by combination."""
        arrays = (self.table.indptr, self.table.indices, self.table.data, self.combinations)
        other_arrays = (other.table.indptr, other.table.indices, other.table.data, other.combinations)
        is_equal = all(map(np.array_equal, arrays, other_arrays))
        return is_equal and self.n_categories == other.n_categories

    def list_class_regions(self) -> NDArray[np.int64]:
        """List the region of each class, in the order of `sizes`."""
        return np.repeat(np.arange(self.n_regions, dtype=np.int64), np.diff(self.table.indptr))

    def decode_column(self, quasi_identifier: int) -> NDArray[np.int64]:
        """Find the category of one quasi-identifier (by its position) in each combination."""
        rest = self.combinations
        for number in reversed(self.n_categories[quasi_identifier + 1 :]):
            rest = rest // number
        return np.asarray(rest % self.n_categories[quasi_identifier])

    def decode_combination(self, column: int) -> tuple[int, ...]:
        """Find the category of each quasi-identifier in one combination (by its column in the table)."""
        codes = []
        rest = int(self.combinations[column])
        for number in reversed(self.n_categories):
            rest, code = divmod(rest, number)
            codes.append(code)
        return tuple(reversed(codes))

    def select_regions(self, regions: NDArray[np.integer]) -> ClassCounts:
        """Select some regions, in this order; the combinations stay."""
        return replace(self, table=self.table[regions])

    def select_combinations(self, is_selected: NDArray[np.bool_]) -> ClassCounts:
        """Select some combinations; nothing is copied if these are all."""
        if is_selected.all():
            return self
        columns = np.flatnonzero(is_selected)
        return replace(self, combinations=self.combinations[columns], table=self.table[:, columns])

    def select_classes(self, is_selected: NDArray[np.bool_]) -> ClassCounts:
        """Select some classes, by flags in the order of `sizes`; regions and combinations stay."""
        if is_selected.all():
            return self
        table = self.table
        ends = np.concatenate(([0], np.cumsum(is_selected)))[table.indptr]
        return replace(
            self,
            table=make_table(table.data[is_selected], table.indices[is_selected], ends, table.shape),
        )

    def drop_below(self, k: int) -> ClassCounts:
        """Drop every class of fewer than k records; regions and combinations stay."""
        return self.select_classes(self.sizes >= k)
