"""The counts for the tests of released columns, where the records stay with their engine."""

from __future__ import annotations

import numpy as np

from vbas_desktop.domain.progress import Progress
from vbas_desktop.domain.records import ColumnFacts
from vbas_desktop.settings.release import ReleaseOptions
from vbas_desktop.sources.table import SourceTable

from .column_counts import SAMPLE_ROWS, Ints, ReleasedRecords
from .plan import Plan
from .records.source_writer import ReleaseQuery


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
