"""Record files and their columns: source, format, roles, categories, and the table of records that these describe."""

from __future__ import annotations

import hashlib
import math
from collections import Counter
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from .findings import Finding
from .text import MISSING as MISSING

if TYPE_CHECKING:
    from .counts import ClassCounts
    from .problem import Problem
    from .progress import Progress
    from .selection import Selection


@dataclass(frozen=True)
class SourceFile:
    """The origin of data: enough to find the file again and to notice that it changed.

    ``state`` is what the file system said of the file while it was read (size, time of the last change, number), by
    which a later change is noticed without reading it again; None if nobody asked. It takes no part in comparisons.
    ``elsewhere``: the path is the address of records that an engine reads, and the hash is that of their counts.
    ``selection`` is the hash of the filters that chose among the records of the file; empty if all are considered.
    """

    path: str
    size_bytes: int
    sha256: str
    state: tuple[int, int, int] | None = field(default=None, compare=False)
    elsewhere: bool = field(default=False, compare=False)
    selection: str = ""

    @property
    def identity(self) -> str:
        """Return a hash of the considered records: that of the file, combined with the filters if there are any."""
        return identify(self.sha256, self.selection)


def identify(sha256: str, selection: str) -> str:
    """Combine the hash of a file with that of the filters that chose among its records."""
    if not selection:
        return sha256
    return hashlib.sha256(f"vbas selection {sha256} {selection}".encode()).hexdigest()


@dataclass(frozen=True)
class FileFormat:
    """Hold what was understood of a record file's form.

    ``header`` has the column names in file order. ``category_line``: line 2 holds numbers of response categories and is
    not a record. ``bom``: the file starts with a byte-order mark. ``encoding`` is that of the file, also where it is
    transcoded for reading.
    """

    format: str
    delimiter: str | None = None
    encoding: str | None = None
    bom: bool = False
    compressed: bool = False
    category_line: bool = False
    header: tuple[str, ...] = ()


class Role(StrEnum):
    """The use of a column of the record file, by the name that people read."""

    REGION = "region"
    QUASI_IDENTIFIER = "quasi-identifier"
    SENSITIVE = "sensitive"
    IDENTIFIER = "identifier"
    AS_IS = "released as is"
    LEAVE_OUT = "leave out"

    @property
    def is_released(self) -> bool:
        """Tell whether the release has such a column."""
        return self not in (Role.IDENTIFIER, Role.LEAVE_OUT)


def category_order(values: Sequence[str]) -> list[str]:
    """Sort values as categories: missing first, then numerically if all are numbers, else by code point."""
    present = [value for value in values if value != ""]
    missing = [""] if len(present) < len(values) else []
    numbers = [finite_number(value) for value in present]
    if all(number is not None for number in numbers):
        return missing + [value for _, value in sorted(zip(numbers, present, strict=True))]
    return missing + sorted(present)


def finite_number(value: str) -> float | None:
    """Parse a finite number, or return None; categories are ordered by it."""
    try:
        number = float(value)
    except ValueError:
        return None
    return number if math.isfinite(number) and "_" not in value else None


def with_label(value: str, labels: Mapping[str, str]) -> str:
    """Format a value with the label of its code: "3 (Divorced)"."""
    label = labels.get(value, "")
    return (f"{value} ({label})" if label and label != value else value) or MISSING


@dataclass(frozen=True)
class Categories:
    """The response categories of one column, in class order. ``declared``: the number on the category-count line.

    ``labels`` say what codes mean, as a codebook does; they are for people and decide nothing.
    """

    column: str
    values: tuple[str, ...]
    declared: int | None = None
    labels: Mapping[str, str] = field(default_factory=dict, compare=False, repr=False)

    @property
    def number(self) -> int:
        """Return the number of categories for MaxCombs: the declared number, never fewer than present."""
        return max(len(self.values), self.declared or 0)

    def label(self, code: int) -> str:
        """Format a category with the label of its code: "3 (Divorced)"."""
        return with_label(self.values[code], self.labels)


@dataclass(frozen=True)
class Grouping:
    """A generalisation of one column: which group each value belongs to. Values not named stay as they are."""

    column: str
    groups: Mapping[str, str]


def group_sizes(
    groupings: Sequence[Grouping], column: str, values: Iterable[str] = ()
) -> dict[str, int]:
    """Count the values of a column that each group stands for, after all its groupings.

    A group of a single value is only another name for it. ``values`` are those of the records; all values that the
    groupings name count as well, whether or not they occur.
    """
    chain = [grouping.groups for grouping in groupings if grouping.column == column]
    all_values = set(values)
    group_names: set[str] = set()
    for groups in chain:
        all_values.update(value for value in groups if value not in group_names)
        group_names.update(groups.values())
    members: Counter[str] = Counter()
    for value in all_values:
        group = value
        for groups in chain:
            group = groups.get(group, group)
        members[group] += 1
    return dict(members)


@dataclass(frozen=True)
class ColumnFacts:
    """The facts about a column after one pass over the file.

    ``distinct`` is exact if ``categorical``; else there are more values than are worth coding and it is a lower bound.
    ``frequencies`` lists the number of records of each category, in the order of ``categories.values``.
    """

    name: str
    distinct: int
    missing: int
    categorical: bool
    categories: Categories | None = None
    frequencies: NDArray[np.int64] | None = None


def label_columns(
    columns: Iterable[ColumnFacts], codebook: Mapping[str, Mapping[str, str]]
) -> tuple[ColumnFacts, ...]:
    """Return the same columns with the labels of a codebook."""
    labelled = []
    for column in columns:
        if column.categories is not None and column.name in codebook:
            categories = replace(column.categories, labels=codebook[column.name])
            labelled.append(replace(column, categories=categories))
        else:
            labelled.append(column)
    return tuple(labelled)


@dataclass(frozen=True, eq=False)
class CodeMap:
    """A column by name, what each of its codes counts as (-1: not at all), and how many of these there are."""

    column: str
    table: NDArray[np.int32]
    number: int


class RecordTable(Protocol):
    """Records by column: what is known of the columns, and counts of all records.

    A record file in memory and a table behind an address both are one. What needs the records one by one asks for
    `CodedRecords`, which only the first gives at once.
    """

    @property
    def source(self) -> SourceFile:
        """Return where the records came from."""

    @property
    def rows(self) -> int:
        """Return the number of records that are considered."""

    @property
    def file_format(self) -> FileFormat:
        """Return how the records are written, with the names of all columns."""

    @property
    def columns(self) -> tuple[ColumnFacts, ...]:
        """Return the facts of the columns that were asked for, in the order of the file."""

    @property
    def findings(self) -> tuple[Finding, ...]:
        """Return what was noticed while reading."""

    @property
    def selection(self) -> Selection | None:
        """Return the filters that choose among the records; None if all are considered."""

    @property
    def padded_categories(self) -> Mapping[str, tuple[str, ...]]:
        """Return the categories with blanks or invisible characters around them, by column."""

    @property
    def rows_hash(self) -> str:
        """Return the hash of the rows in any order; empty if it is not known."""

    def facts(self, name: str) -> ColumnFacts:
        """Return what is known of a column."""

    def check_name(self, name: str) -> None:
        """Raise `InputError` if no column has this name."""

    def schema(self) -> Any:
        """Return the types of the columns as Arrow names them; None if all are text."""

    def with_labels(self, codebook: Mapping[str, Mapping[str, str]]) -> Self:
        """Return the same records with the labels of a codebook."""

    def with_texts(self, texts: Mapping[str, Sequence[str]]) -> Self:
        """Return the same records with other texts for the values of some columns; equal ones become one category."""

    def count(
        self, region: CodeMap, quasi_identifiers: Sequence[CodeMap], progress: Progress
    ) -> tuple[ClassCounts, int]:
        """Count the records of each region and class, and those without a region."""

    def pieces(
        self, columns: Sequence[str], progress: Progress, stage: str
    ) -> Iterator[Mapping[str, NDArray[np.integer]]]:
        """Yield the categories of all records in some columns, a part of the records at a time."""

    def first_rows(self, name: str, marked: NDArray[np.bool_], limit: int) -> list[int]:
        """Return the row numbers of the first records whose category is marked; none if records have no order."""

    def snapshot(self, problem: Problem, progress: Progress) -> AbstractContextManager[None]:
        """Let everything inside see the records from which ``problem`` was counted.

        Raises `InputError` if an engine has other records by now.
        """

    def load_codes(self, progress: Progress) -> CodedRecords:
        """Return the same records with a code of each in memory; read them if they are not there."""

    def require_codes(self) -> CodedRecords:
        """Return the table itself if it has a code of each record; raise `InputError` if an engine has the records."""


class CodedRecords(RecordTable, Protocol):
    """Records with the code of each in memory, in the order of their file.

    Positions count all records of the file from 0; with filters, the considered records are some of them.
    """

    @property
    def positions(self) -> NDArray[np.int64] | None:
        """Return the positions of the considered records, ascending; None if all are considered."""

    @property
    def file_rows(self) -> int:
        """Return the number of records of the file, those that a filter leaves out included."""

    @property
    def considered(self) -> NDArray[np.bool_] | None:
        """Return for each record of the file whether it is considered; None if all are."""

    @property
    def mapped_column(self) -> str | None:
        """Return the column whose values are regions of a region map, not those of the file."""

    def codes(self, name: str) -> NDArray[np.unsignedinteger]:
        """Return the category of each record in a column, as an index into ``facts(name).categories.values``."""

    def codes_at(self, name: str, records: NDArray[np.int64]) -> NDArray[np.unsignedinteger]:
        """Return the category of some records only, which are given in ascending order."""

    def code_column(self, name: str, progress: Progress) -> Self:
        """Return the same records with categories in a column of any number of values."""

    def read_batches(
        self, names: Sequence[str], progress: Progress, stage: str, *, typed: bool = False
    ) -> Generator[Any]:
        """Yield some columns of all records of the file as Arrow batches, in the order of the file.

        Values are strings, missing ones empty, or with ``typed`` what a Parquet file stores.
        """

    def select(
        self, selection: Selection, positions: NDArray[np.int64], findings: Sequence[Finding] = ()
    ) -> Self:
        """Return a table of the records at these positions, which ascend; ``findings`` were noticed in choosing."""

    def with_regions(self, name: str, values: Sequence[str], codes: NDArray[np.integer]) -> Self:
        """Return the same records with other regions in a column: ``codes`` are indices into ``values``."""

    def with_codes(self, name: str, values: Sequence[str], codes: NDArray[np.int32]) -> Self:
        """Return the same records with other values in a column, which are given in the order of categories."""

    def positions_of(self, rows: slice) -> NDArray[np.int64]:
        """Return the positions of consecutive records of the table."""

    def row_number(self, record: int) -> int:
        """Return the number of the line on which a record (counted from 0) begins."""

    def row_numbers(self, positions: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the lines on which the records at these positions begin, which ascend."""


def not_categorical(table: RecordTable, facts: ColumnFacts) -> Finding:
    """Make the finding that a column has too many values to be used for classes or regions."""
    message = "The column holds structured or binary values, which cannot be categories."
    remedy = "Choose another column, or write it as text."
    if facts.distinct:
        message = f"The column has {facts.distinct:,} or more different values: too many for categories."
        remedy = "Choose another column, or group its values before loading."
    return Finding("not-categorical", message, remedy, file=table.source.path, column=facts.name)


def as_readonly(array: NDArray[np.generic]) -> NDArray:  # type: ignore[type-arg]
    """Make an array read-only, and return it: its owner relies on its values."""
    array.flags.writeable = False
    return array
