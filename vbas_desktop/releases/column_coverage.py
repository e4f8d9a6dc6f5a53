"""Name the released columns that classes were counted by and those that were not, and count the records that all of
them together single out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vbas_desktop.model.findings import Finding, Severity
from vbas_desktop.model.problem import Problem
from vbas_desktop.model.progress import Progress
from vbas_desktop.model.records import RecordTable
from vbas_desktop.model.text import format_count, format_share, inflect
from vbas_desktop.settings.release import ReleaseOptions

from .database_records import select_released_records
from .notation import CountableRecords, released_notation
from .plan import ReleasePlan
from .records import ReleasedRecords

_CHUNK_ROWS = 1 << 18
MOST_NUMBERS = 1 << 64
"""Up to so many possible rows are numbered, more are hashed."""
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
        """Return the columns as plain data: the entry ``columns`` of ``run.json``."""
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
        remedy = (
            "Name the roles of columns that others may know or that nobody may learn, or leave them out."
        )
        return (Finding(WITHOUT_ROLE, f"{message} {self.unique_in_words}", remedy, Severity.WARNING),)

    @property
    def counted_in_words(self) -> str:
        """Name the columns for which k holds."""
        records = format_count(self.k, "record")
        return f"Every combination of {_enumerate(self.counted)} is shared by at least {records}."

    @property
    def others_in_words(self) -> str:
        """Name the columns for which k does not hold, with the number of unique records; empty if there are none."""
        if not self.others:
            return ""
        sensitive = [name for name in self.others if name not in self.without_role]
        text = f"Not protected, released as they are: {_enumerate(self.others, sensitive)}"
        if self.unique is None:
            return f"{text}."
        least = "at least " if self.is_minimum else ""
        return (
            f"{text}: with these, {least}{self.unique:,} of {format_count(self.records, 'record')} "
            f"({format_share(self.unique, self.records)}) {inflect(self.unique, 'is', 'are')} unique."
        )

    @property
    def safe_in_words(self) -> str:
        """Say in one sentence what the release is safe against."""
        return (
            f"Safe against somebody who knows {_enumerate(self.counted)} of a person and nothing else that is "
            f"released: at least {format_count(self.k, 'record')} fit."
        )

    @property
    def unsafe_in_words(self) -> str:
        """Say in one sentence what the release is not safe against."""
        if not self.others:
            return "Not safe against somebody who wants to know whether people with these values are in the file."
        return (
            f"Not safe against somebody who also knows {_enumerate(self.others, conjunction='or')} of a person, nor "
            "where all records that fit share such a value."
        )

    @property
    def unique_in_words(self) -> str:
        """Say how many records all released columns together single out."""
        if self.unique is None:
            return "How many records are unique by all released columns together was not counted."
        least = "at least " if self.is_minimum else ""
        return (
            f"By all released columns together, {least}{self.unique:,} of {format_count(self.records, 'record')} "
            f"({format_share(self.unique, self.records)}) {inflect(self.unique, 'is', 'are')} unique."
        )

    @property
    def in_words(self) -> str:
        """Say all of it, for people who decide about the release."""
        not_counted = "How many records are unique with these was not counted."
        others = (
            [self.others_in_words, *([not_counted] if self.unique is None else [])]
            if self.others
            else []
        )
        return " ".join([self.counted_in_words, *others, self.safe_in_words, self.unsafe_in_words])


def _enumerate(names: Sequence[str], sensitive: Sequence[str] = (), conjunction: str = "and") -> str:
    """Enumerate columns, the first few of many; long names are cut, sensitive columns are marked."""
    quoted = [
        f"“{name[:_LONGEST_NAME]}”{' (sensitive)' if name in sensitive else ''}"
        for name in names[:_NAMED]
    ]
    if len(names) > _NAMED:
        quoted.append(f"{len(names) - _NAMED:,} more")
    *first, last = quoted
    return f"{', '.join(first)} {conjunction} {last}" if first else last


def names_in_words(names: Sequence[str]) -> str:
    """Name columns, the first few of many; long names are cut."""
    named = ", ".join(f"“{name[:_LONGEST_NAME]}”" for name in names[:_NAMED])
    return f"{named} and {len(names) - _NAMED:,} more" if len(names) > _NAMED else named


def sort_columns(problem: Problem, released: Sequence[str], records: int) -> ColumnCoverage:
    """Sort released columns by whether k holds for them, without counting unique records.

    ``records``: number of released records.
    """
    used = tuple(
        name for name in (problem.region_column, *problem.quasi_identifiers) if name in released
    )
    others = tuple(name for name in released if name not in used)
    sensitive = {column.column for column in problem.sensitive}
    return ColumnCoverage(
        problem.k, records, used, others, tuple(name for name in others if name not in sensitive)
    )


def expect_coverage(
    plan: ReleasePlan, table: RecordTable, options: ReleaseOptions, progress: Progress
) -> ColumnCoverage:
    """Say what `cover_columns` will find when the release is written."""
    records = select_released_records(plan, table, options, progress)
    if records.engine is None:
        notation = released_notation(records, options)
        records = records.with_texts({name: written for name, (_, written) in notation.items()})
    return cover_columns(records, options, progress)


def cover_columns(
    records: CountableRecords, options: ReleaseOptions, progress: Progress
) -> ColumnCoverage:
    """Sort the released columns by whether k holds for them, and count the unique records.

    The table of ``records`` has the values as they will be written. Records behind an address are not counted.
    O(records · columns) time, 8 bytes for each released record.
    """
    plan = records.plan
    table = records.table
    problem = plan.problem
    released = [name for name, _ in options.released_columns(table.file_format.header)]
    coverage = sort_columns(problem, released, plan.records_released)
    coded = [name for name in coverage.others if table.facts(name).categorical]
    is_minimum = len(coded) < len(coverage.others)
    unique = None
    if isinstance(records, ReleasedRecords):
        # Where every combination has k records and nothing else is released, nobody is unique.
        unique = _count_unique(records, coverage.counted, coded, progress) if coded else 0
        if is_minimum:
            least = (_least_unique(plan, table, name) for name in coverage.others if name not in coded)
            unique = max(unique, *least) or None
    return replace(coverage, unique=unique, is_minimum=is_minimum and unique is not None)


def _least_unique(plan: ReleasePlan, table: RecordTable, name: str) -> int:
    """Return how many released records a column without codes singles out at least.

    Of d different values in n records, at least 2 d − n occur once; every suppressed record may take one of them away.
    """
    distinct = table.facts(name).distinct - (table.rows - plan.records_released)
    return max(0, 2 * distinct - plan.records_released)


def _count_unique(
    records: ReleasedRecords, used: Sequence[str], others: Sequence[str], progress: Progress
) -> int:
    """Count the released records whose combination of values in all columns occurs once.

    If there are so many possible combinations that they are hashed, two different ones of 10 million records have the
    same hash of 64 bits with a probability of 3 in a million.
    """
    plan = records.plan
    problem = plan.problem
    class_columns: list[NDArray[np.integer]] = [plan.areas] if problem.region_column in used else []
    for q, name in enumerate(problem.quasi_identifiers):
        if name in used:
            class_columns.append(problem.counts.decode_column(q)[plan.columns])
    sizes = _count_codes(class_columns)
    number_of_class = _number_rows(np.zeros(plan.columns.size, np.uint64), 1, class_columns, sizes)
    possible = prod(sizes)
    written = [records.table.codes(name) for name in others]
    sizes = _count_codes(written)
    numbers = np.empty(plan.records_released, np.uint64)
    for start in range(0, records.rows.size, _CHUNK_ROWS):
        progress.update(_STAGE, start / records.rows.size)
        rows = records.rows[start : start + _CHUNK_ROWS]
        numbers[start : start + rows.size] = _number_rows(
            number_of_class[records.classes[rows]], possible, [codes[rows] for codes in written], sizes
        )
    numbers = numbers[: records.rows.size]
    numbers.sort()
    is_unique = np.ones(numbers.size, np.bool_)
    same = numbers[1:] == numbers[:-1]
    is_unique[1:] &= ~same
    is_unique[:-1] &= ~same
    return int(np.count_nonzero(is_unique))


def _count_codes(columns: Sequence[NDArray[np.integer]]) -> list[int]:
    return [int(codes.max(initial=0)) + 1 for codes in columns]


def _number_rows(
    numbers: NDArray[np.uint64],
    possible: int,
    columns: Sequence[NDArray[np.integer]],
    sizes: Sequence[int],
) -> NDArray[np.uint64]:
    """Number the combinations of numbers below ``possible`` with codes, or hash them if there are too many."""
    for codes, size in zip(columns, sizes, strict=True):
        numbers = numbers * np.uint64(size) if possible * size <= MOST_NUMBERS else _mix(numbers)
        numbers += codes.astype(np.uint64)
        possible *= size
    return numbers


def _mix(numbers: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Mix the bits of each number (the finaliser of splitmix64)."""
    numbers = (numbers ^ (numbers >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    numbers = (numbers ^ (numbers >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    numbers ^= numbers >> np.uint64(31)
    return numbers
