"""Columns, their categories and roles, and the table of records that these describe."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from .errors import Finding
from .words import MISSING as MISSING

if TYPE_CHECKING:
    from .counts import ClassCounts
    from .file_format import Dialect
    from .progress import Progress
    from .selection import Selection
    from .source import Source


class Role(StrEnum):
    """What a column of the record file is used for."""

    REGION = "region"
    QUASI_IDENTIFIER = "quasi-identifier"
    SENSITIVE = "sensitive"
    IDENTIFIER = "identifier"
    PLAIN = "plain"


def category_order(values: Sequence[str]) -> list[str]:
    """Values in the order of the classes: missing first, then numerically if all are numbers, else by code point."""
    present = [value for value in values if value != ""]
    missing = [""] if len(present) < len(values) else []
    numbers = [finite_number(value) for value in present]
    if all(number is not None for number in numbers):
        return missing + [value for _, value in sorted(zip(numbers, present, strict=True))]
    return missing + sorted(present)


def finite_number(value: str) -> float | None:
    """The number a text stands for, or None: the one notion of a number that orders categories."""
    try:
        number = float(value)
    except ValueError:
        return None
    return number if math.isfinite(number) and "_" not in value else None


def with_label(value: str, labels: Mapping[str, str]) -> str:
    """A value as people read it, with what a code means: "3 (Divorced)"."""
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
        """How many categories count for MaxCombs: the declared number if the file has one, never fewer than present."""
        return max(len(self.values), self.declared or 0)

    def label(self, code: int) -> str:
        """The category as people read it, with what a code means: "3 (Divorced)"."""
        return with_label(self.values[code], self.labels)


@dataclass(frozen=True)
class Grouping:
    """A generalisation of one column: which group each value belongs to. Values not named stay as they are."""

    column: str
    groups: Mapping[str, str]


def group_sizes(groupings: Sequence[Grouping], column: str, values: Iterable[str] = ()) -> dict[str, int]:
    """Count the values of a column that each group stands for, after all its groupings.

    A group of a single value is only another name for it. ``values`` are those of the records; all values that the
    groupings name count as well, whether or not they occur.
    """
    chain = [grouping.groups for grouping in groupings if grouping.column == column]
    known = set(values)
    made: set[str] = set()
    for groups in chain:
        known.update(value for value in groups if value not in made)
        made.update(groups.values())
    members: Counter[str] = Counter()
    for value in known:
        group = value
        for groups in chain:
            group = groups.get(group, group)
        members[group] += 1
    return dict(members)


@dataclass(frozen=True)
class ColumnFacts:
    """What is known of one column after one pass over the file.

    ``distinct`` is exact if ``categorical``; else there are more values than are worth coding and it is a lower bound.
    ``frequencies`` lists the number of records of each category, in the order of ``categories.values``.
    """

    name: str
    distinct: int
    missing: int
    categorical: bool
    categories: Categories | None = None
    frequencies: NDArray[np.int64] | None = None


@dataclass(frozen=True, eq=False)
class Lookup:
    """A column by name, what each of its codes counts as (-1: not at all), and how many of these there are."""

    column: str
    table: NDArray[np.int32]
    number: int


class RecordTable(Protocol):
    """Records by column: facts and counts of all, codes of each where the records are at hand.

    A record file in memory and a table behind an address both are one.
    """

    @property
    def source(self) -> Source:
        """Return where the records came from."""

    @property
    def rows(self) -> int:
        """Return the number of records that are considered."""

    @property
    def dialect(self) -> Dialect:
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
    def positions(self) -> NDArray[np.int64] | None:
        """Return which records of the file are considered, counted from 0, in ascending order; None if all are."""

    @property
    def file_rows(self) -> int:
        """Return the number of records of the file, those that a filter leaves out included."""

    @property
    def considered(self) -> NDArray[np.bool_] | None:
        """Return whether each record of the file is considered; None if all are."""

    @property
    def mapped_column(self) -> str | None:
        """Return the column whose values are regions of a region map, not those of the file."""

    @property
    def padded_categories(self) -> Mapping[str, tuple[str, ...]]:
        """Return the categories with blanks or invisible characters around them, by column."""

    @property
    def rows_hash(self) -> str:
        """Return the hash of the rows in any order; empty if it is not known."""

    def facts(self, name: str) -> ColumnFacts:
        """Return what is known of a column."""

    def check_name(self, name: str) -> None:
        """Refuse a name that no column has."""

    def schema(self) -> Any:
        """Return the types of the columns as Arrow names them; None if all are text."""

    def labelled(self, codebook: Mapping[str, Mapping[str, str]]) -> Self:
        """Return the same records with the labels of a codebook."""

    def with_texts(self, texts: Mapping[str, Sequence[str]]) -> Self:
        """Return the same records with other texts for the values of some columns; equal ones become one category."""

    def with_regions(self, name: str, values: Sequence[str], codes: NDArray[np.integer]) -> Self:
        """Return the same records with other regions in a column: ``codes`` are indices into ``values``."""

    def with_codes(self, name: str, values: Sequence[str], codes: NDArray[np.int32]) -> Self:
        """Return the same records with other values in a column, which are given in the order of categories."""

    def select(self, selection: Selection, positions: NDArray[np.int64], findings: Sequence[Finding] = ()) -> Self:
        """Return a table of the records at these positions, which ascend; ``findings`` were noticed in choosing."""

    def positions_of(self, rows: slice) -> NDArray[np.int64]:
        """Return where consecutive records of the table are among all records of the file, counted from 0."""

    def in_file(self, codes: NDArray[np.int32]) -> NDArray[np.int32]:
        """Return codes of the considered records as codes of all records of the file; those left out have 0."""

    def codes(self, name: str) -> NDArray[np.unsignedinteger]:
        """Return the category of each record in a column, as an index into ``facts(name).categories.values``."""

    def code_column(self, name: str, progress: Progress) -> Self:
        """Return the same records with categories in a column of any number of values."""

    def codes_at(self, name: str, records: NDArray[np.int64]) -> NDArray[np.unsignedinteger]:
        """Return the category of some records only, which are given in ascending order."""

    def read_batches(
        self, names: Sequence[str], progress: Progress, stage: str, *, typed: bool = False
    ) -> Generator[Any]:
        """Yield some columns of all records of the file as Arrow batches, in the order of the file.

        Values are strings, missing ones empty, or with ``typed`` what a Parquet file stores.
        """

    def pieces(
        self, columns: Sequence[str], progress: Progress, stage: str
    ) -> Iterator[Mapping[str, NDArray[np.integer]]]:
        """Yield the categories of all records in some columns, a part of the records at a time."""

    def count(self, region: Lookup, quasi_identifiers: Sequence[Lookup], progress: Progress) -> tuple[ClassCounts, int]:
        """Count the records of each region and class, and those without a region."""

    def row_number(self, record: int) -> int:
        """Return the number of the line on which a record (counted from 0) begins."""

    def row_numbers(self, positions: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the lines on which records of the file begin, of which the positions (counted from 0) ascend."""

    def load_codes(self, progress: Progress) -> RecordTable:
        """Return the same records with a code of each in memory."""

    def first_rows(self, name: str, wanted: NDArray[np.bool_], limit: int) -> list[int]:
        """Return the row numbers of the first records whose category is marked in ``wanted``."""


def not_categorical(table: RecordTable, facts: ColumnFacts) -> Finding:
    """Make the finding that a column has too many values to be used for classes or regions."""
    message = "The column holds structured or binary values, which cannot be categories."
    remedy = "Choose another column, or write it as text."
    if facts.distinct:
        message = f"The column has {facts.distinct:,} or more different values: too many for categories."
        remedy = "Choose another column, or group its values before loading."
    return Finding("not-categorical", message, remedy, file=table.source.path, column=facts.name)


def frozen(array: NDArray[np.generic]) -> NDArray:  # type: ignore[type-arg]
    """The same array, read-only: what is handed out at a border must not change behind the owner's back."""
    array.flags.writeable = False
    return array
