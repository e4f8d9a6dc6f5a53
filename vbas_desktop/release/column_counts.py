"""What the tests of released columns count: values by initial region and by class, among the released records.

Everything is made from the codes in memory; the record file is not read again. How often values occur is counted in all
records, what they tell of place and class in a sample of `SAMPLE_ROWS` that depends on nothing but the number of rows.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from vbas_desktop.domain.progress import Progress
from vbas_desktop.files.records.table import RecordTable

from .plan import Plan
from .records.composition import Decision, region_and_category_codes
from .records.rows import decide

SAMPLE_ROWS = 1 << 18
CHUNK_ROWS = 1 << 18
DENSE_CELLS = 1 << 24

Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Pairs:
    """How many records have each pair of two things, of the pairs that occur."""

    first: Ints
    second: Ints
    counts: Ints


def pair_counts(first: Ints, second: Ints, numbers: tuple[int, int]) -> Pairs:
    """Count pairs of numbers below ``numbers``."""
    keys = first * numbers[1] + second
    if numbers[0] * numbers[1] <= max(DENSE_CELLS, 4 * keys.size):
        cells = np.bincount(keys, minlength=1)
        found = np.flatnonzero(cells)
        counts = cells[found]
    else:
        found, counts = np.unique(keys, return_counts=True)
    return Pairs(found // numbers[1], found % numbers[1], counts.astype(np.int64))


class ReleasedRecords:
    """The released records of a plan by the codes of the loaded table."""

    def __init__(self, plan: Plan, table: RecordTable, progress: Progress) -> None:
        self.plan, self.table, self._progress = plan, table, progress
        self.rows = table.rows
        self._decision = Decision.of(plan)
        self._region_of, self.categories_of = region_and_category_codes(plan.problem, table)

    def _chosen(self, rows: slice | Ints) -> tuple[NDArray[np.bool_], NDArray[np.int32], NDArray[np.int32]]:
        """Which of these rows are released, their initial regions and the categories of their quasi-identifiers."""
        problem = self.plan.problem
        region = self._region_of[self.table.codes(problem.region_column)[rows]]
        codes = np.empty((len(self.categories_of), region.size), np.int32)
        for q, (name, table) in enumerate(zip(problem.quasi_identifiers, self.categories_of, strict=True)):
            codes[q] = table[self.table.codes(name)[rows]]
        area, size = np.empty(region.size, np.int32), np.empty(region.size, np.int64)
        decide(region, codes, *self._decision.arrays(), area, size)
        return area >= 0, region, codes

    @cached_property
    def _kept(self) -> NDArray[np.bool_]:
        kept = np.empty(self.table.rows, np.bool_)
        for chunk in self._chunks():
            kept[chunk] = self._chosen(chunk)[0]
        return kept

    def _chunks(self) -> Iterator[slice]:
        for start in range(0, self.table.rows, CHUNK_ROWS):
            self._progress.update("Testing the released columns", 0.0)
            yield slice(start, min(self.table.rows, start + CHUNK_ROWS))

    def frequencies(self, name: str) -> Ints:
        """How many released records have each value of a column."""
        codes, values = self.table.codes(name), self.table.facts(name).distinct
        counts = np.zeros(values, np.int64)
        for chunk in self._chunks():
            counts += np.bincount(codes[chunk][self._kept[chunk]], minlength=values)
        return counts

    @cached_property
    def sample(self) -> Sample:
        """Released records among `SAMPLE_ROWS` rows that are spread over the whole file, or all of them."""
        total = self.table.rows
        rows: slice | Ints = slice(None)
        if total > SAMPLE_ROWS:
            # One row at random from each of as many stretches.
            borders = np.arange(SAMPLE_ROWS + 1, dtype=np.int64) * total // SAMPLE_ROWS
            rows = np.random.default_rng(0).integers(borders[:-1], borders[1:])
        kept, region, codes = self._chosen(rows)
        places = np.flatnonzero(kept) if isinstance(rows, slice) else rows[kept]
        strides = self._decision.strides
        classes = np.unique(strides @ codes[:, kept].astype(np.int64), return_inverse=True)
        return Sample(places, region[kept].astype(np.int64), codes[:, kept].astype(np.int64), classes[1].ravel())


@dataclass(frozen=True, eq=False)
class Sample:
    """Rows of the table that are released, with their initial regions, categories and (dense) classes."""

    rows: Ints
    region: Ints
    codes: Ints
    classes: Ints
