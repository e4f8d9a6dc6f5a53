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

from vbas_desktop.algorithms.compiled import compiled
from vbas_desktop.domain.progress import Progress
from vbas_desktop.domain.records import ColumnFacts
from vbas_desktop.files.records.table import RecordTable
from vbas_desktop.settings.release import ReleaseOptions
from vbas_desktop.sources.table import SourceTable

from .plan import Plan
from .records.composition import Decision, region_and_category_codes
from .records.source_writer import ReleaseQuery

SAMPLE_ROWS = 1 << 18
CHUNK_ROWS = 1 << 18
DENSE_CELLS = 1 << 24
PAIR_ROWS = 1 << 18
"""About so many records have the pairs of values that are counted to find rare ones."""

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


@compiled
def chosen_pairs(
    first: NDArray[np.int32],
    second: NDArray[np.int32],
    kept: NDArray[np.bool_],
    width: int,
    missing: Ints,
    bits: np.uint64,
) -> tuple[Ints, int]:
    """The pairs of values whose hash begins with so many zeros, each as often as it occurs; how many pairs there are.

    ``missing`` are the codes that mean no value; −1: there is none.
    """
    out = np.empty(first.size, np.int64)
    chosen, there = 0, 0
    for row in range(first.size):
        a, b = np.int64(first[row]), np.int64(second[row])
        if not kept[row] or a == missing[0] or b == missing[1]:
            continue
        there += 1
        key = a * width + b
        mixed = np.uint64(key) * np.uint64(0x9E3779B97F4A7C15)
        mixed = (mixed ^ (mixed >> np.uint64(32))) * np.uint64(0xD6E8FEB86659FD93)
        if bits == 0 or mixed >> (np.uint64(64) - bits) == 0:
            out[chosen] = key
            chosen += 1
    return out[:chosen].copy(), there


def rehearse() -> None:
    """Choose among no pairs."""
    codes = np.zeros(0, np.int32)
    chosen_pairs(codes, codes, np.zeros(0, np.bool_), 1, np.zeros(2, np.int64), np.uint64(0))


def empty_code(facts: ColumnFacts) -> int:
    """The code of records that have no value; −1 if there is none."""
    if not facts.missing or facts.categories is None:
        return -1
    return facts.categories.values.index("")


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
        return self._decision.places(region, codes)[0] >= 0, region, codes

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

    def rare_pairs(self, one: ColumnFacts, other: ColumnFacts, k: int) -> float:
        """The share of the released records with both values whose pair of values fewer than k of them have.

        Of large files the pairs are chosen by a hash, and each chosen pair is counted in all records.
        """
        first, second = self.table.codes(one.name), self.table.codes(other.name)
        bits = max(0, int(self.table.rows // PAIR_ROWS).bit_length())
        missing = np.array([empty_code(one), empty_code(other)], np.int64)
        found, filled = [], 0
        for chunk in self._chunks():
            # As numbers of one size, so that there is one loop for codes of all sizes.
            codes = first[chunk].astype(np.int32), second[chunk].astype(np.int32)
            keys, there = chosen_pairs(*codes, self._kept[chunk], other.distinct, missing, np.uint64(bits))
            filled += there
            found.append(keys)
        if not filled:
            return 0.0
        counts = np.unique(np.concatenate(found), return_counts=True)[1]
        rare = int(counts[counts < k].sum()) << bits
        return rare / filled if rare >= k else 0.0

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

    def at(self, chosen: Ints) -> Sample:
        """Some of them."""
        return Sample(self.rows[chosen], self.region[chosen], self.codes[:, chosen], self.classes[chosen])


class SourceReleased(ReleasedRecords):
    """What is told of place and class is judged by a random sample, how often values occur by all released records."""

    def __init__(
        self, plan: Plan, table: SourceTable, options: ReleaseOptions, columns: list[str], progress: Progress
    ) -> None:
        problem = plan.problem
        names = dict.fromkeys((problem.region_column, *problem.quasi_identifiers, *columns))
        sampled = [name for name in names if table.facts(name).categorical]
        super().__init__(plan, table.sample(sampled, SAMPLE_ROWS, progress), progress)
        self._whole, self.rows = table, table.rows
        self._query = ReleaseQuery(plan, table, options, {})
        self._uploaded = False

    def rare_pairs(self, one: ColumnFacts, other: ColumnFacts, k: int) -> float:
        """As of a file if the sample is all records; otherwise none is told."""
        return super().rare_pairs(one, other, k) if self.table.rows == self.rows else 0.0

    def frequencies(self, name: str) -> Ints:
        """How many released records have each value of a column; one query."""
        if not self._uploaded:
            self._query.upload(self._progress)
            self._uploaded = True
        found = self._query.frequencies(name, self._progress)
        categories = self._whole.facts(name).categories
        assert categories is not None
        return np.array([found.get(value, 0) for value in categories.values], np.int64)
