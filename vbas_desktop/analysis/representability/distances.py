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

from vbas_desktop.algorithms.nearest_class import DistanceColumn
from vbas_desktop.io.documents.hierarchies import read_delimited_rows
from vbas_desktop.model.findings import Finding, FindingList, InputError, Severity
from vbas_desktop.model.records import as_readonly, finite_number
from vbas_desktop.model.text import format_count

from .record_classes import ClassLabel, RecordClasses

GIVEN_TABLE = "given table"
BY_RANK = "by rank"

MAX_RANKS = 2_000
"""Values that an ordinal column may have: their distances are kept as a square table."""

_FORMAT = "Write the values on the first line after an empty field, then each value with its distances."


@dataclass(frozen=True)
class ClassDistance:
    """Gower-like distance of classes: the sum over the columns, each of which gives 0 … its weight.

    ``ranges[q]`` is the range of a numeric column, None for categories; ``tables[q]`` holds given distances.
    """

    ranges: tuple[float | None, ...]
    weights: tuple[float, ...]
    tables: Mapping[int, DistanceTable] = field(default_factory=dict)

    @classmethod
    def of_labels(
        cls, labels: Sequence[ClassLabel], weights: Sequence[float] | None = None
    ) -> ClassDistance:
        """Compare columns by range where all values are numbers, else by matching; weights are 1 unless given."""
        width = len(labels[0]) if labels else 0
        ranges: list[float | None] = []
        for q in range(width):
            numbers = [finite_number(label[q]) for label in labels]
            finite = [number for number in numbers if number is not None]
            ranges.append(max(finite) - min(finite) if finite and len(finite) == len(numbers) else None)
        return cls(tuple(ranges), tuple(weights) if weights is not None else (1.0,) * width)

    @classmethod
    def of_classes(
        cls,
        classes: RecordClasses,
        weights: Sequence[float] | None = None,
        tables: Mapping[str, DistanceTable] | None = None,
    ) -> ClassDistance:
        """Build the distance of a file's classes. Raises `InputError` if a table lacks values of the file."""
        tables = tables or {}
        check_values_listed(classes, tables)
        distance = cls.of_labels(classes.labels, weights)
        tables_by_position = {
            q: tables[name] for q, name in enumerate(classes.columns) if name in tables
        }
        return cls(distance.ranges, distance.weights, tables_by_position)

    def describe_column(self, q: int) -> str:
        """Return in a word or two how the values of a column are compared."""
        if q in self.tables:
            return self.tables[q].kind
        return "matching" if self.ranges[q] is None else "by range"

    def code_columns(self, labels: Sequence[ClassLabel]) -> list[DistanceColumn]:
        """Code the columns of classes, so that distances are computed on arrays."""
        return [self._code_column([label[q] for label in labels], q) for q in range(len(self.weights))]

    def _code_column(self, values: Sequence[str], q: int) -> DistanceColumn:
        weight = self.weights[q]
        if q in self.tables:
            table = self.tables[q]
            rows = np.array([table.row_of[value] for value in values], np.float64)
            return DistanceColumn(rows, weight, table=table.distances)
        width = self.ranges[q]
        if width is not None:
            numbers = np.array([finite_number(value) for value in values], np.float64)
            return DistanceColumn(numbers, weight, width)
        _, codes = np.unique(np.array(values), return_inverse=True)
        return DistanceColumn(codes.astype(np.float64), weight)


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
    def row_of(self) -> dict[str, int]:
        """The row of each value."""
        return {value: row for row, value in enumerate(self.values)}


def read_distance_table(path: str | Path, column: str | None = None) -> DistanceTable:
    """Read a square table from CSV; the column is named like the file unless ``column`` is given.

    Raises `InputError` with all mistakes.
    """
    path = Path(path)
    name = column or path.stem
    rows = read_delimited_rows(path)
    findings = FindingList(str(path))
    if len(rows) < 2 or len(rows[0][1]) < 2:
        findings.add("empty-table", "There is no table of distances.", _FORMAT, column=name)
        findings.stop_on_errors()
    values = rows[0][1][1:]
    _check_values(values, rows, findings)
    findings.stop_on_errors()
    distances = np.full((len(values), len(values)), np.nan)
    for number, row in rows[1:]:
        distances[values.index(row[0])] = _parse_distances(row, number, values, findings)
    findings.stop_on_errors()
    _check_symmetry(distances, values, {row[0]: number for number, row in rows[1:]}, findings)
    findings.stop_on_errors()
    largest = float(distances.max())
    return DistanceTable(name, tuple(values), as_readonly(distances / largest if largest else distances))


def read_distance_tables(folder: str | Path | None, columns: Sequence[str]) -> dict[str, DistanceTable]:
    """Read ``COLUMN.csv`` of a folder for each of these columns that has one. Raises `InputError` if none has."""
    if folder is None:
        return {}
    paths = {column: Path(folder) / f"{column}.csv" for column in columns}
    tables = {
        column: read_distance_table(path, column) for column, path in paths.items() if path.is_file()
    }
    if not tables:
        message = "The folder has no table of distances for any quasi-identifier."
        remedy = f"Name the tables {', '.join(path.name for path in paths.values())}."
        raise InputError(Finding("no-distance-table", message, remedy, file=str(folder)))
    return tables


def make_rank_distances(column: str, order: Sequence[str]) -> DistanceTable:
    """Make the distances of an ordinal column: the difference in rank, divided by the largest one.

    ``order`` lists the values from one end to the other. A missing value is at distance 1 from all others.
    """
    values = [value for value in dict.fromkeys(order) if value != ""]
    if (
        len(values) < 2
        or len(values) > MAX_RANKS
        or len(values) < len([value for value in order if value != ""])
    ):
        message = f"The order of this column needs 2 to {MAX_RANKS:,} values, each named once."
        remedy = "Write COLUMN=first/second/third; numbers are compared by range without an order."
        raise InputError(Finding("ordinal", message, remedy, column=column))
    ranks = np.arange(len(values), dtype=np.float64)
    distances = np.ones((len(values) + 1, len(values) + 1))
    distances[:-1, :-1] = np.abs(ranks[:, None] - ranks[None, :]) / (len(values) - 1)
    distances[-1, -1] = 0.0
    return DistanceTable(column, (*values, ""), as_readonly(distances), BY_RANK)


def check_values_listed(classes: RecordClasses, tables: Mapping[str, DistanceTable]) -> None:
    """Refuse tables that lack values of the file. The values are not named: a few people may be the only ones."""
    findings = []
    for name, used in _iterate_used_values((classes,), tables):
        n_missing = len(used - set(tables[name].values))
        if n_missing:
            number = format_count(n_missing, "value of the records is", "values of the records are")
            if tables[name].kind == BY_RANK:
                message = f"{number} not in the order of the column."
                remedy = "Name every value in the order."
            else:
                message = f"{number} not in the table of distances."
                remedy = "Add a row and a column for each."
            findings.append(Finding("unlisted-value", message, remedy, column=name))
    if findings:
        raise InputError(findings)


def warn_of_unused_values(
    before: RecordClasses, after: RecordClasses, tables: Mapping[str, DistanceTable]
) -> list[Finding]:
    """Warn of tables with values that neither file has: perhaps they were written for another file."""
    findings = []
    for name, used in _iterate_used_values((before, after), tables):
        if tables[name].kind == BY_RANK:
            continue  # An order lists what a column may hold, whether or not it occurs.
        n_unused = sum(value not in used for value in tables[name].values)
        if n_unused:
            number = format_count(n_unused, "value does", "values do")
            message = f"{number} not occur in the records, but stand in the table of distances."
            remedy = "Check that the table was written for this file."
            findings.append(Finding("unknown-value", message, remedy, Severity.WARNING, column=name))
    return findings


def _iterate_used_values(
    files: Sequence[RecordClasses], tables: Mapping[str, DistanceTable]
) -> Iterator[tuple[str, set[str]]]:
    """Yield the columns that have a table, and the values of each in these files."""
    for q, name in enumerate(files[0].columns):
        if name in tables:
            yield name, {label[q] for classes in files for label in classes.labels}


def _check_values(
    values: Sequence[str], rows: Sequence[tuple[int, list[str]]], findings: FindingList
) -> None:
    # Values are never quoted, because the file may be a record file that was named by mistake.
    columns: dict[str, int] = {}
    for column, value in enumerate(values, 2):
        first = columns.setdefault(value, column)
        if first != column:
            message = f"Fields {first} and {column} name the same value."
            findings.add("duplicate-value", message, "Name every value once.", row=rows[0][0])
    listed: set[str] = set()
    for number, row in rows[1:]:
        if row[0] not in columns:
            message = "The value of this row is unknown: the first line does not name it."
            findings.add(
                "unknown-value", message, "Give it a column too, or remove the row.", row=number
            )
        elif row[0] in listed:
            message = "The value of this row has two rows."
            findings.add("duplicate-value", message, "Keep one of them.", row=number)
        listed.add(row[0])
    for value, column in columns.items():
        if value not in listed:
            message = f"The value in field {column} of the first line has a column but no row."
            findings.add("missing-pair", message, "Add its row.")


def _parse_distances(
    row: Sequence[str], number: int, values: Sequence[str], findings: FindingList
) -> list[float]:
    """Parse the distances of a row, NaN where there is none; add what is wrong to the findings."""
    if len(row) > len(values) + 1:
        message = f"The row has {len(row) - 1} distances instead of {len(values)}."
        findings.add("ragged", message, "Take the others out.", row=number)
    distances = []
    for position, value in enumerate(values, 1):
        text = row[position].strip() if position < len(row) else ""
        distance = finite_number(text) if text else None
        field_name = f"in field {position + 1}"
        if not text:
            findings.add(
                "missing-pair", f"The distance {field_name} is missing.", "Fill it in.", row=number
            )
        elif distance is None:
            message = f"The distance {field_name} is not a number."
            findings.add("no-number", message, "Write 0.5 for example.", row=number)
        elif distance < 0:
            findings.add(
                "negative", f"The distance {field_name} is negative.", "It is at least 0.", row=number
            )
        elif distance and value == row[0]:
            message = f"The distance {field_name} is not 0."
            findings.add("diagonal", message, "A value is at distance 0 from itself.", row=number)
        distances.append(np.nan if distance is None else distance)
    return distances


def _check_symmetry(
    distances: NDArray[np.float64], values: Sequence[str], rows: Mapping[str, int], findings: FindingList
) -> None:
    """Find pairs with two distances; ``rows`` are the line numbers of the values."""
    for first, second in np.argwhere(np.triu(distances != distances.T)):
        both = f"{distances[first, second]:g} and {distances[second, first]:g}"
        message = f"The values of rows {rows[values[first]]} and {rows[values[second]]} have two distances: {both}."
        findings.add(
            "asymmetric", message, "Write the same one in both places.", row=rows[values[first]]
        )
