"""The released records of a plan, as the tests of columns need them.

Everything is made from the codes in memory; the record file is not read again. How often values occur is counted in all
records, what they tell of place and class in a sample that depends on nothing but the number of rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from vbas_desktop.audit.agreement import Ints
from vbas_desktop.audit.released_records import (
    SAMPLE_ROWS,
    ExaminedColumn,
    Sample,
    rare_combination_share,
    released_cells,
    sampled_rows,
    text_hashes,
    whole_cells,
)
from vbas_desktop.model.progress import Progress
from vbas_desktop.model.records import ColumnFacts
from vbas_desktop.model.tiers import NOT_RELEASED

from .database_records import DatabaseRecords
from .notation import CountableRecords
from .records import ReleasedRecords, find_released_records
from .value_numbers import number_values

CHUNK_ROWS = 1 << 18


def empty_code(facts: ColumnFacts) -> int:
    """Return the code of records that have no value; −1 if there is none."""
    if not facts.missing or facts.categories is None:
        return -1
    return facts.categories.values.index("")


class TableRecords:
    """The released records of a plan by the codes of the loaded table."""

    def __init__(self, records: ReleasedRecords, progress: Progress) -> None:
        plan = records.plan
        self.plan = plan
        self.table = records.table
        self._records = records
        self._progress = progress
        self.rows = records.table.rows
        self.k = plan.problem.k
        self.quasi_identifiers = plan.problem.quasi_identifiers
        tiers = plan.solution.tiers
        memberships = [plan.membership] if tiers is None else tiers.memberships(plan.membership)
        self.memberships = tuple(membership.astype(np.int64) for membership in memberships)
        self._hashes: dict[str, NDArray[np.uint64]] = {}

    def column(self, facts: ColumnFacts) -> ExaminedColumn:
        """Describe a column of the table."""
        filled = max(0, self.rows - facts.missing - self.plan.records_suppressed)
        # A column that is filled at all is tested, however many of its records are suppressed.
        filled = max(filled, min(1, self.rows - facts.missing))
        values = facts.distinct
        return ExaminedColumn(
            facts.name, values, empty_code(facts), filled, facts.missing, values, facts.categorical
        )

    @cached_property
    def _tiers(self) -> NDArray[np.int8]:
        """The tier in which each row is released; −1: it is not."""
        tier_of = np.append(self.plan.tier_of, np.uint8(NOT_RELEASED)).astype(np.int8)
        return tier_of[self._records.classes]

    def _chunks(self) -> Iterator[slice]:
        for start in range(0, self.table.rows, CHUNK_ROWS):
            self._progress.update("Testing the released columns", 0.0)
            yield slice(start, min(self.table.rows, start + CHUNK_ROWS))

    def values_at(self, column: ExaminedColumn, rows: Ints) -> Ints:
        """Return the codes of a column in these rows."""
        return self.table.codes_at(column.name, rows).astype(np.int64)

    def frequencies(self, column: ExaminedColumn) -> Ints:
        """Count the released records with each code of a column."""
        return self._records.count_values(column.name)

    def rare_combinations(self, columns: Sequence[ExaminedColumn], blanks: bool) -> float:
        """Return the share of the released records whose combination of values fewer than k have."""
        codes = [self.table.codes(column.name) for column in columns]
        chunks = (
            [values[chunk][self._tiers[chunk] >= 0].astype(np.int64) for values in codes]
            for chunk in self._chunks()
        )
        hashes = [self._hashes_of(column.name) for column in columns]
        return rare_combination_share(chunks, columns, hashes, self.table.rows, self.k, blanks)

    def _hashes_of(self, name: str) -> NDArray[np.uint64]:
        if name not in self._hashes:
            categories = self.table.facts(name).categories
            assert categories is not None
            self._hashes[name] = text_hashes(categories.values)
        return self._hashes[name]

    @cached_property
    def sample(self) -> Sample:
        """Released records from all over the file."""
        return self._sample(sampled_rows(self.table.rows))

    @cached_property
    def larger(self) -> Sample:
        """Records released under a larger area, in whole classes."""
        rows = np.zeros(0, np.int64)
        if len(self.memberships) > 1:
            rows = np.flatnonzero(self._tiers > 0)
        sample = self._sample(rows)
        return sample.at(whole_cells(released_cells(sample, self.memberships), SAMPLE_ROWS))

    def _sample(self, rows: Ints) -> Sample:
        rows = rows[self._records.classes[rows] >= 0]
        classes = self._records.classes[rows]
        region_of, categories_of = number_values(self.plan.problem, self.table)
        region = region_of[self.table.codes_at(self.plan.problem.region_column, rows)]
        counts = self.plan.problem.counts
        combinations = self.plan.columns[classes]
        codes = np.empty((len(self.quasi_identifiers), rows.size), np.int64)
        for q in range(len(codes)):
            codes[q] = counts.decode_column(q)[combinations]
        numbers = np.unique(combinations, return_inverse=True)[1].ravel()
        originals = tuple(
            None
            if np.unique(group_of).size == group_of.size
            else self.table.codes_at(name, rows).astype(np.int64)
            for name, group_of in zip(self.quasi_identifiers, categories_of, strict=True)
        )
        tiers = self._tiers[rows].astype(np.int64)
        return Sample(rows, region.astype(np.int64), tiers, codes, originals, numbers.astype(np.int64))


class DatabaseTableRecords(TableRecords):
    """Records behind an address: disclosure is judged by a random sample, value frequencies by all released records."""

    def __init__(self, records: DatabaseRecords, columns: Sequence[str], progress: Progress) -> None:
        problem = records.plan.problem
        names = dict.fromkeys((problem.region_column, *problem.quasi_identifiers, *columns))
        sampled = [name for name in names if records.table.facts(name).categorical]
        sample = records.table.sample(sampled, SAMPLE_ROWS, progress)
        super().__init__(find_released_records(records.plan, sample, progress), progress)
        self._whole = records
        self.rows = records.table.rows

    def rare_combinations(self, columns: Sequence[ExaminedColumn], blanks: bool) -> float:
        """Count as of a file if the sample is all records; otherwise nothing is found."""
        return super().rare_combinations(columns, blanks) if self.table.rows == self.rows else 0.0

    def frequencies(self, column: ExaminedColumn) -> Ints:
        """Count the released records with each value of a column, by one query."""
        return self._whole.count_values(column.name)


def column_statistics(
    records: CountableRecords, columns: Sequence[str], progress: Progress
) -> TableRecords:
    """Return the released records as the tests of these columns need them."""
    if isinstance(records, DatabaseRecords):
        return DatabaseTableRecords(records, columns, progress)
    assert isinstance(records, ReleasedRecords)
    return TableRecords(records, progress)
