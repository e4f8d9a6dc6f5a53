"""Distances between classes: numbers by range, categories by matching or by a given square CSV table, weighted by
column.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from vbas_desktop.io.generalise import delimited_rows
from vbas_desktop.model.errors import Finding, InputError, Severity
from vbas_desktop.model.findings import FindingList
from vbas_desktop.model.records import finite_number, frozen
from vbas_desktop.model.words import counted

from .classes import Classes, Label

GIVEN_TABLE = "given table"
BY_RANK = "by rank"

MOST_RANKS = 2_000
"""Values that an ordinal column may have: their distances are kept as a square table."""

_FORMAT = "Write the values on the first line after an empty field, then each value with its distances."


@dataclass(frozen=True)
class Distance:
    """Gower-like: each column gives 0 … 1 (its weight at most), the sum is the distance.

    ``ranges[q]`` is the range of a numeric column, None for categories; ``tables[q]`` holds given distances.
    """

    ranges: tuple[float | None, ...]
    weights: tuple[float, ...]
    tables: Mapping[int, DistanceTable] = field(default_factory=dict)

    @classmethod
    def of_labels(cls, labels: Sequence[Label], weights: Sequence[float] | None = None) -> Distance:
        """Numeric where all values of a column are numbers; weights 1 unless given."""
        width = len(labels[0]) if labels else 0
        ranges: list[float | None] = []
        for q in range(width):
            numbers = [finite_number(label[q]) for label in labels]
            known = [number for number in numbers if number is not None]
            ranges.append(max(known) - min(known) if known and len(known) == len(numbers) else None)
        return cls(tuple(ranges), tuple(weights) if weights is not None else (1.0,) * width)

    @classmethod
    def of_classes(
        cls,
        classes: Classes,
        weights: Sequence[float] | None = None,
        tables: Mapping[str, DistanceTable] | None = None,
    ) -> Distance:
        """The distance of a file's classes; refused if a table lacks values of the file."""
        given = tables or {}
        check_listed(classes, given)
        plain = cls.of_labels(classes.labels, weights)
        places = {q: given[name] for q, name in enumerate(classes.columns) if name in given}
        return cls(plain.ranges, plain.weights, places)

    def meaning(self, q: int) -> str:
        """How the values of a column are compared, in words."""
        if q in self.tables:
            return self.tables[q].kind
        return "matching" if self.ranges[q] is None else "by range"

    def between(self, one: Label, other: Label) -> float:
        """The weighted sum over the columns."""
        return sum(weight * self._column(q, one[q], other[q]) for q, weight in enumerate(self.weights))

    def _column(self, q: int, one: str, other: str) -> float:
        if one == other:
            return 0.0
        if q in self.tables:
            return self.tables[q].between(one, other)
        width = self.ranges[q]
        first, second = finite_number(one), finite_number(other)
        if width is None or first is None or second is None:
            return 1.0
        return abs(first - second) / width if width else 0.0


@dataclass(frozen=True, eq=False)
class DistanceTable:
    """Distances between the values of one column, divided by the largest one: 0 … 1 as those of other columns.

    ``kind`` says where they come from.
    """

    column: str
    values: tuple[str, ...]
    distances: NDArray[np.float64]
    kind: str = GIVEN_TABLE

    @cached_property
    def places(self) -> dict[str, int]:
        """The row of each value."""
        return {value: place for place, value in enumerate(self.values)}

    def between(self, one: str, other: str) -> float:
        """The distance of two values; the largest one if the table does not list them."""
        if one == other:
            return 0.0
        first, second = self.places.get(one), self.places.get(other)
        return 1.0 if first is None or second is None else float(self.distances[first, second])


def read_distance_table(path: str | Path, column: str | None = None) -> DistanceTable:
    """A table from a CSV file; the column is the file's name unless it is said. All mistakes are told at once."""
    path = Path(path)
    name = column or path.stem
    rows = delimited_rows(path)
    findings = FindingList(str(path))
    if len(rows) < 2 or len(rows[0][1]) < 2:
        findings.add("empty-table", "There is no table of distances.", _FORMAT, column=name)
        findings.stop_on_errors()
    values = rows[0][1][1:]
    _check_values(values, rows, findings)
    findings.stop_on_errors()
    found = np.full((len(values), len(values)), np.nan)
    for number, row in rows[1:]:
        found[values.index(row[0])] = _numbers(row, number, values, findings)
    findings.stop_on_errors()
    _check_symmetry(found, values, {row[0]: number for number, row in rows[1:]}, findings)
    findings.stop_on_errors()
    largest = float(found.max())
    return DistanceTable(name, tuple(values), frozen(found / largest if largest else found))


def read_distance_tables(folder: str | Path | None, columns: Sequence[str]) -> dict[str, DistanceTable]:
    """The tables of a folder: ``COLUMN.csv`` for each of these columns that has one; refused if none has."""
    if folder is None:
        return {}
    paths = {column: Path(folder) / f"{column}.csv" for column in columns}
    found = {column: read_distance_table(path, column) for column, path in paths.items() if path.is_file()}
    if not found:
        message = "The folder has no table of distances for any quasi-identifier."
        remedy = f"Name the tables {', '.join(path.name for path in paths.values())}."
        raise InputError(Finding("no-distance-table", message, remedy, file=str(folder)))
    return found


def rank_distances(column: str, order: Sequence[str]) -> DistanceTable:
    """Make the distances of an ordinal column: the difference in rank, divided by the largest one.

    ``order`` lists the values from one end to the other. A missing value is at distance 1 from all others.
    """
    values = [value for value in dict.fromkeys(order) if value != ""]
    if len(values) < 2 or len(values) > MOST_RANKS or len(values) < len([value for value in order if value != ""]):
        message = f"The order of this column needs 2 to {MOST_RANKS:,} values, each named once."
        remedy = "Write COLUMN=first/second/third; numbers are compared by range without an order."
        raise InputError(Finding("ordinal", message, remedy, column=column))
    ranks = np.arange(len(values), dtype=np.float64)
    distances = np.ones((len(values) + 1, len(values) + 1))
    distances[:-1, :-1] = np.abs(ranks[:, None] - ranks[None, :]) / (len(values) - 1)
    distances[-1, -1] = 0.0
    return DistanceTable(column, (*values, ""), frozen(distances), BY_RANK)


def check_listed(classes: Classes, tables: Mapping[str, DistanceTable]) -> None:
    """Refuse tables that lack values of the file. The values are not named: a few people may be the only ones."""
    findings = []
    for name, used in _values((classes,), tables):
        lacking = len(used - set(tables[name].values))
        if lacking:
            some = counted(lacking, "value of the records is", "values of the records are")
            if tables[name].kind == BY_RANK:
                message, remedy = f"{some} not in the order of the column.", "Name every value in the order."
            else:
                message, remedy = f"{some} not in the table of distances.", "Add a row and a column for each."
            findings.append(Finding("unlisted-value", message, remedy, column=name))
    if findings:
        raise InputError(findings)


def unused_values(before: Classes, after: Classes, tables: Mapping[str, DistanceTable]) -> list[Finding]:
    """A warning for each table with values that neither file has: perhaps it was written for another file."""
    findings = []
    for name, used in _values((before, after), tables):
        if tables[name].kind == BY_RANK:
            continue  # An order lists what a column may hold, whether or not it occurs.
        spare = sum(value not in used for value in tables[name].values)
        if spare:
            some = counted(spare, "value does", "values do")
            message = f"{some} not occur in the records, but stand in the table of distances."
            remedy = "Check that the table was written for this file."
            findings.append(Finding("unknown-value", message, remedy, Severity.WARNING, column=name))
    return findings


def _values(files: Sequence[Classes], tables: Mapping[str, DistanceTable]) -> Iterator[tuple[str, set[str]]]:
    """The columns that have a table, and the values of each in these files."""
    for q, name in enumerate(files[0].columns):
        if name in tables:
            yield name, {label[q] for classes in files for label in classes.labels}


def _check_values(values: Sequence[str], rows: Sequence[tuple[int, list[str]]], findings: FindingList) -> None:
    # Values are never quoted, because the file may be a record file that was named by mistake.
    columns: dict[str, int] = {}
    for column, value in enumerate(values, 2):
        first = columns.setdefault(value, column)
        if first != column:
            message = f"Fields {first} and {column} name the same value."
            findings.add("duplicate-value", message, "Name every value once.", row=rows[0][0])
    seen: set[str] = set()
    for number, row in rows[1:]:
        if row[0] not in columns:
            message = "The value of this row is unknown: the first line does not name it."
            findings.add("unknown-value", message, "Give it a column too, or remove the row.", row=number)
        elif row[0] in seen:
            message = "The value of this row has two rows."
            findings.add("duplicate-value", message, "Keep one of them.", row=number)
        seen.add(row[0])
    for value, column in columns.items():
        if value not in seen:
            message = f"The value in field {column} of the first line has a column but no row."
            findings.add("missing-pair", message, "Add its row.")


def _numbers(row: Sequence[str], number: int, values: Sequence[str], findings: FindingList) -> list[float]:
    if len(row) > len(values) + 1:
        message = f"The row has {len(row) - 1} distances instead of {len(values)}."
        findings.add("ragged", message, "Take the others out.", row=number)
    found = []
    for place, value in enumerate(values, 1):
        text = row[place].strip() if place < len(row) else ""
        distance = finite_number(text) if text else None
        pair = f"in field {place + 1}"
        if not text:
            findings.add("missing-pair", f"The distance {pair} is missing.", "Fill it in.", row=number)
        elif distance is None:
            findings.add("no-number", f"The distance {pair} is no number.", "Write 0.5 for example.", row=number)
        elif distance < 0:
            findings.add("negative", f"The distance {pair} is negative.", "It is at least 0.", row=number)
        elif distance and value == row[0]:
            findings.add(
                "diagonal", f"The distance {pair} is not 0.", "A value is at distance 0 from itself.", row=number
            )
        found.append(np.nan if distance is None else distance)
    return found


def _check_symmetry(
    found: NDArray[np.float64], values: Sequence[str], rows: Mapping[str, int], findings: FindingList
) -> None:
    for one, other in np.argwhere(np.triu(found != found.T)):
        both = f"{found[one, other]:g} and {found[other, one]:g}"
        message = f"The values of rows {rows[values[one]]} and {rows[values[other]]} have two distances: {both}."
        findings.add("asymmetric", message, "Write the same one in both places.", row=rows[values[one]])
