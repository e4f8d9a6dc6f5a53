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
    ReleasedColumn,
    Sample,
    rare_combination_share,
    released_cells,
    sampled_rows,
    text_hashes,
    whole_cells,
)
from vbas_desktop.io.databases.table import DatabaseTable
from vbas_desktop.model.progress import Progress
from vbas_desktop.model.records import ColumnFacts, RecordTable
from vbas_desktop.settings.release import ReleaseOptions

from .plan import Plan
from .records.composition import Decision, region_and_category_codes
from .records.source_writer import ReleaseQuery

CHUNK_ROWS = 1 << 18


def empty_code(facts: ColumnFacts) -> int:
    """Return the code of records that have no value; −1 if there is none."""
    if not facts.missing or facts.categories is None:
        return -1
    return facts.categories.values.index("")


class TableRecords:
    """The released records of a plan by the codes of the loaded table."""

    def __init__(self, plan: Plan, table: RecordTable, progress: Progress) -> None:
        self.plan, self.table, self._progress = plan, table, progress
        self.rows = table.rows
        self.k = plan.problem.k
        self.quasi_identifiers = plan.problem.quasi_identifiers
        tiers = plan.solution.tiers
        memberships = [plan.membership] if tiers is None else tiers.memberships(plan.membership)
        self.memberships = tuple(membership.astype(np.int64) for membership in memberships)
        self._decision = Decision.of(plan)
        self._region_of, self._categories_of = region_and_category_codes(plan.problem, table)
        self._hashes: dict[str, NDArray[np.uint64]] = {}

    def column(self, facts: ColumnFacts) -> ReleasedColumn:
        """Describe a column of the table."""
        filled = max(0, self.rows - facts.missing - self.plan.records_suppressed)
        # A column that is filled at all is tested, however many of its records are suppressed.
        filled = max(filled, min(1, self.rows - facts.missing))
        values = facts.distinct
        return ReleasedColumn(facts.name, values, empty_code(facts), filled, facts.missing, values, facts.categorical)

    def _places(self, rows: slice | Ints) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int32]]:
        """Return the released places of these rows (below 0: suppressed), their initial regions and categories."""
        problem = self.plan.problem
        region = self._region_of[self.table.codes(problem.region_column)[rows]]
        codes = np.empty((len(self._categories_of), region.size), np.int32)
        for q, (name, table) in enumerate(zip(problem.quasi_identifiers, self._categories_of, strict=True)):
            codes[q] = table[self.table.codes(name)[rows]]
        return self._decision.places(region, codes)[0], region, codes

    @cached_property
    def _tiers(self) -> NDArray[np.int8]:
        """The tier in which each row is released; −1: it is not."""
        tiers = np.full(self.table.rows, -1, np.int8)
        for chunk in self._chunks():
            tiers[chunk] = self._tier_of(self._places(chunk)[0])
        return tiers

    def _tier_of(self, places: NDArray[np.int32]) -> NDArray[np.int8]:
        numbers = np.array([len(tier.codes) for tier in self.plan.tiers])
        found = np.searchsorted(np.cumsum(numbers), places, side="right")
        return np.where(places < 0, -1, found).astype(np.int8)

    def _chunks(self) -> Iterator[slice]:
        for start in range(0, self.table.rows, CHUNK_ROWS):
            self._progress.update("Testing the released columns", 0.0)
            yield slice(start, min(self.table.rows, start + CHUNK_ROWS))

    def values_at(self, column: ReleasedColumn, rows: Ints) -> Ints:
        """Return the codes of a column in these rows."""
        return self.table.codes_at(column.name, rows).astype(np.int64)

    def frequencies(self, column: ReleasedColumn) -> Ints:
        """Count the released records with each code of a column."""
        codes = self.table.codes(column.name)
        counts = np.zeros(column.values, np.int64)
        for chunk in self._chunks():
            counts += np.bincount(codes[chunk][self._tiers[chunk] >= 0], minlength=column.values)
        return counts

    def rare_combinations(self, columns: Sequence[ReleasedColumn], blanks: bool) -> float:
        """Return the share of the released records whose combination of values fewer than k have."""
        codes = [self.table.codes(column.name) for column in columns]
        chunks = (
            [values[chunk][self._tiers[chunk] >= 0].astype(np.int64) for values in codes] for chunk in self._chunks()
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
        """Records released under a larger place, in whole classes."""
        rows = np.zeros(0, np.int64)
        if len(self.memberships) > 1:
            rows = np.flatnonzero(self._tiers > 0)
        found = self._sample(rows)
        return found.at(whole_cells(released_cells(found, self.memberships), SAMPLE_ROWS))

    def _sample(self, rows: Ints) -> Sample:
        places, region, every_code = self._places(rows)
        kept = places >= 0
        rows = rows[kept]
        codes = every_code[:, kept].astype(np.int64)
        classes = np.unique(self._decision.strides @ codes, return_inverse=True)[1].ravel()
        originals = tuple(
            None if np.unique(group_of).size == group_of.size else self.table.codes_at(name, rows).astype(np.int64)
            for name, group_of in zip(self.quasi_identifiers, self._categories_of, strict=True)
        )
        tiers = self._tier_of(places[kept]).astype(np.int64)
        return Sample(rows, region[kept].astype(np.int64), tiers, codes, originals, classes.astype(np.int64))


class DatabaseTableRecords(TableRecords):
    """What is told of place and class is judged by a random sample, how often values occur by all released records."""

    def __init__(
        self, plan: Plan, table: DatabaseTable, options: ReleaseOptions, columns: list[str], progress: Progress
    ) -> None:
        problem = plan.problem
        names = dict.fromkeys((problem.region_column, *problem.quasi_identifiers, *columns))
        sampled = [name for name in names if table.facts(name).categorical]
        super().__init__(plan, table.sample(sampled, SAMPLE_ROWS, progress), progress)
        self._whole, self.rows = table, table.rows
        self._query = ReleaseQuery(plan, table, options, {})
        self._uploaded = False

    def rare_combinations(self, columns: Sequence[ReleasedColumn], blanks: bool) -> float:
        """Count as of a file if the sample is all records; otherwise nothing is found."""
        return super().rare_combinations(columns, blanks) if self.table.rows == self.rows else 0.0

    def frequencies(self, column: ReleasedColumn) -> Ints:
        """Count the released records with each value of a column, by one query."""
        if not self._uploaded:
            self._query.upload(self._progress)
            self._uploaded = True
        found = self._query.frequencies(column.name, self._progress)
        categories = self._whole.facts(column.name).categories
        assert categories is not None
        return np.array([found.get(value, 0) for value in categories.values], np.int64)
