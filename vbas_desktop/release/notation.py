"""How the values of a release are written: decided from the released records, and applied before columns are tested."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from vbas_desktop.io.databases.table import DatabaseTable
from vbas_desktop.model.progress import Progress
from vbas_desktop.model.records import RecordTable
from vbas_desktop.settings.release import ReleaseOptions

from .plan import Plan
from .records.canonical import Canonical, canonical_columns, values_of_texts
from .records.composition import Decision, region_and_category_codes
from .records.source_writer import ReleaseQuery

_CHUNK_ROWS = 1 << 18
_STAGE = "Looking at the released values"


def copied_texts(plan: Plan, table: RecordTable, options: ReleaseOptions) -> dict[str, tuple[str, ...]]:
    """Return the values of the released columns that are copied from the record file and are text there."""
    used = {plan.problem.region_column, *plan.problem.quasi_identifiers}
    released = options.released_columns(table.dialect.header)
    return values_of_texts(table, [name for name, _ in released if name not in used])


def released_notation(plan: Plan, table: RecordTable, options: ReleaseOptions, progress: Progress) -> Canonical:
    """Decide from the values of the released records how those of each column are written."""
    values = copied_texts(plan, table, options)
    if isinstance(table, DatabaseTable):
        return canonical_columns(values, _SourceValues(plan, table, options, progress).released)
    return canonical_columns(values, _TableValues(plan, table, progress).released)


class _TableValues:
    """Tells which values of a column released records have, by the codes of the loaded table."""

    def __init__(self, plan: Plan, table: RecordTable, progress: Progress) -> None:
        self._plan, self._table, self._progress = plan, table, progress
        self._kept: NDArray[np.bool_] | None = None

    def released(self, name: str) -> NDArray[np.bool_]:
        """Return for each value of a column whether a released record has it."""
        if self._kept is None:
            self._kept = find_released_records(self._plan, self._table, self._progress)
        codes = self._table.codes(name)
        found = np.zeros(self._table.facts(name).distinct, np.bool_)
        for start in range(0, codes.size, _CHUNK_ROWS):
            rows = slice(start, start + _CHUNK_ROWS)
            found[codes[rows][self._kept[rows]]] = True
        return found


def find_released_records(plan: Plan, table: RecordTable, progress: Progress) -> NDArray[np.bool_]:
    """Return whether each considered record of a loaded table is released."""
    problem, decision = plan.problem, Decision.of(plan)
    region_of, categories_of = region_and_category_codes(problem, table)
    kept = np.empty(table.rows, np.bool_)
    for start in range(0, kept.size, _CHUNK_ROWS):
        progress.update(_STAGE, start / kept.size)
        rows = slice(start, start + _CHUNK_ROWS)
        region = region_of[table.codes(problem.region_column)[rows]]
        codes = np.empty((len(categories_of), region.size), np.int32)
        for q, (name, category_of) in enumerate(zip(problem.quasi_identifiers, categories_of, strict=True)):
            codes[q] = category_of[table.codes(name)[rows]]
        kept[rows] = decision.places(region, codes)[0] >= 0
    return kept


class _SourceValues:
    """Tells the same of records behind an address, by a query for each column."""

    def __init__(self, plan: Plan, table: DatabaseTable, options: ReleaseOptions, progress: Progress) -> None:
        self._table, self._progress = table, progress
        self._query = ReleaseQuery(plan, table, options, {})
        self._is_uploaded = False

    def released(self, name: str) -> NDArray[np.bool_]:
        """Return for each value of a column whether a released record has it."""
        if not self._is_uploaded:
            self._query.upload(self._progress)
            self._is_uploaded = True
        found = self._query.frequencies(name, self._progress)
        categories = self._table.facts(name).categories
        assert categories is not None
        return np.array([value in found for value in categories.values], np.bool_)
