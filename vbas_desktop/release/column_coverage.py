"""Name the released columns that classes were counted by and those that were not, and count the records that all of
them together single out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vbas_desktop.io.databases.table import DatabaseTable
from vbas_desktop.model.errors import Finding, Severity
from vbas_desktop.model.progress import Progress
from vbas_desktop.model.records import RecordTable
from vbas_desktop.model.words import agreeing, counted, share_in_words
from vbas_desktop.settings.release import ReleaseOptions

from .database_records import DatabaseRecords
from .notation import CountableRecords, released_notation
from .plan import Plan
from .records import ReleasedRecords, find_released_records

_CHUNK_ROWS = 1 << 18
_NAMED = 8
"""So many columns are named in a sentence."""

_LONGEST_NAME = 80
_STAGE = "Counting unique records"

WITHOUT_ROLE = "columns-without-role"
"""The code of the finding about columns that are released although nobody said what they are."""


@dataclass(frozen=True)
class ColumnCoverage:
    """The columns of a release by whether k holds for them.

    ``counted`` are the region column and the quasi-identifiers: every combination of their values has at least k
    records. ``others`` are released as they are; ``without_role`` are those of them that are not known as sensitive.
    ``unique`` is the number of released records whose values in all these columns together no other one has. It is
    None where it was not counted, and a minimum if there are columns with too many values to be coded.
    """

    k: int
    records: int
    counted: tuple[str, ...]
    others: tuple[str, ...]
    without_role: tuple[str, ...] = ()
    unique: int | None = None
    is_minimum: bool = False

    def as_dict(self) -> dict[str, Any]:
        """The columns as plain data: the entry ``columns`` of ``run.json``."""
        return {
            "counted": list(self.counted),
            "not_counted": list(self.others),
            "without_role": list(self.without_role),
            "unique_records": self.unique,
            "unique_records_is_minimum": self.is_minimum,
        }

    def findings(self) -> tuple[Finding, ...]:
        """Warn of columns that are released without a role, with the number of unique records."""
        if not self.without_role:
            return ()
        message = f"No role was given for {names_in_words(self.without_role)}: released as they are."
        remedy = "Name the roles of columns that others may know or that nobody may learn, or leave them out."
        return (Finding(WITHOUT_ROLE, f"{message} {self.unique_in_words}", remedy, Severity.WARNING),)

    @property
    def counted_in_words(self) -> str:
        """Name the columns for which k holds."""
        return f"Counted: {names_in_words(self.counted)}. Every combination of these has at least {self.k:,} records."

    @property
    def others_in_words(self) -> str:
        """Name the columns for which k does not hold; empty if there are none."""
        return f"Not counted, released as they are: {names_in_words(self.others)}." if self.others else ""

    @property
    def unique_in_words(self) -> str:
        """Say how many records all released columns together single out."""
        if self.unique is None:
            return "How many records are unique by all released columns together was not counted."
        least = "at least " if self.is_minimum else ""
        return (
            f"By all released columns together, {least}{self.unique:,} of {counted(self.records, 'record')} "
            f"({share_in_words(self.unique, self.records)}) {agreeing(self.unique, 'is', 'are')} unique."
        )

    @property
    def in_words(self) -> str:
        """Say all of it; the number only if there are columns that were not counted."""
        return " ".join([self.counted_in_words, *([self.others_in_words, self.unique_in_words] if self.others else [])])


def names_in_words(names: Sequence[str]) -> str:
    """Name columns, the first few of many; long names are cut."""
    named = ", ".join(f"“{name[:_LONGEST_NAME]}”" for name in names[:_NAMED])
    return f"{named} and {len(names) - _NAMED:,} more" if len(names) > _NAMED else named


def expect_coverage(plan: Plan, table: RecordTable, options: ReleaseOptions, progress: Progress) -> ColumnCoverage:
    """Say what `cover_columns` will find when the release is written."""
    if isinstance(table, DatabaseTable):
        return cover_columns(DatabaseRecords(plan, table, options, progress), options, progress)
    records = find_released_records(plan, table, progress)
    notation = released_notation(records, options)
    as_written = table.with_texts({name: written for name, (_, written) in notation.items()})
    return cover_columns(records.with_table(as_written), options, progress)


def cover_columns(records: CountableRecords, options: ReleaseOptions, progress: Progress) -> ColumnCoverage:
    """Sort the released columns by whether k holds for them, and count the unique records.

    The table of ``records`` has the values as they will be written. Records behind an address are not counted.
    O(records · columns) time, 8 bytes for each released record.
    """
    plan = records.plan
    table = records.table
    problem = plan.problem
    released = [name for name, _ in options.released_columns(table.dialect.header)]
    used = [name for name in (problem.region_column, *problem.quasi_identifiers) if name in released]
    others = [name for name in released if name not in used]
    sensitive = {each.column for each in problem.sensitive}
    coded = [name for name in others if table.facts(name).categorical]
    is_minimum = len(coded) < len(others)
    unique = None
    if isinstance(records, ReleasedRecords):
        # Where every combination has k records and nothing else is released, nobody is unique.
        unique = _count_unique(records, used, coded, progress) if coded else 0
        if is_minimum:
            least = (_least_unique(plan, table, name) for name in others if name not in coded)
            unique = max(unique, *least) or None
    return ColumnCoverage(
        problem.k,
        plan.records_released,
        tuple(used),
        tuple(others),
        tuple(name for name in others if name not in sensitive),
        unique,
        is_minimum and unique is not None,
    )


def _least_unique(plan: Plan, table: RecordTable, name: str) -> int:
    """Return how many released records a column without codes singles out at least.

    Of d different values in n records, at least 2 d − n occur once; every suppressed record may take one of them away.
    """
    distinct = table.facts(name).distinct - (table.rows - plan.records_released)
    return max(0, 2 * distinct - plan.records_released)


def _count_unique(records: ReleasedRecords, used: Sequence[str], others: Sequence[str], progress: Progress) -> int:
    """Count the released records whose hash of all columns occurs once.

    Of 10 million records, two that differ have the same hash of 64 bits with a probability of 3 in a million.
    """
    plan = records.plan
    problem = plan.problem
    shown: list[NDArray[np.integer]] = [plan.areas] if problem.region_column in used else []
    for q, name in enumerate(problem.quasi_identifiers):
        if name in used:
            shown.append(problem.counts.decode_column(q)[plan.columns])
    hash_of_class = _hash_rows(np.zeros(plan.columns.size, np.uint64), shown)
    written = [records.table.codes(name) for name in others]
    hashes = np.empty(plan.records_released, np.uint64)
    filled = 0
    for start in range(0, records.rows.size, _CHUNK_ROWS):
        progress.update(_STAGE, start / records.rows.size)
        rows = records.rows[start : start + _CHUNK_ROWS]
        hashes[start : start + rows.size] = _hash_rows(
            hash_of_class[records.classes[rows]], [values[rows] for values in written]
        )
        filled += rows.size
    hashes = hashes[:filled]
    hashes.sort()
    alone = np.ones(filled, np.bool_)
    same = hashes[1:] == hashes[:-1]
    alone[1:] &= ~same
    alone[:-1] &= ~same
    return int(np.count_nonzero(alone))


def _hash_rows(mixed: NDArray[np.uint64], columns: Sequence[NDArray[np.integer]]) -> NDArray[np.uint64]:
    """Mix the codes of each row into its number, column by column (the finaliser of splitmix64)."""
    for column in columns:
        mixed = mixed + column.astype(np.uint64) + np.uint64(0x9E3779B97F4A7C15)
        mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        mixed ^= mixed >> np.uint64(31)
    return mixed
