"""Handles the k-outliers of a whole file and writes the result: verified by reading it back, then put in place."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from vbas_desktop.domain.errors import Finding, InputError, VerificationFailed
from vbas_desktop.domain.records import finite_number
from vbas_desktop.domain.words import agreeing, counted
from vbas_desktop.files.csv_rows import CsvLines
from vbas_desktop.files.folders import new_file
from vbas_desktop.files.parquet import write_parquet_texts
from vbas_desktop.files.records import RecordOptions, RecordTable, load_records
from vbas_desktop.files.row_texts import row_texts

from .classes import Classes, Label, outlier_records, outliers
from .distance_tables import DistanceTable
from .distances import Distance
from .handling import Fabricate, Handled, Handling
from .hierarchy import Hierarchy
from .telling import may_tell

PARQUET = (".parquet", ".pq")
"""Targets with these endings are written as Parquet, all columns as text; others as CSV."""

FLAG = "fabricated"
"""The column that tells made-up records (1) from real ones (0)."""


@dataclass(frozen=True)
class Treatment:
    """What is to be done with a file. ``key`` is given new values in made-up records, ``sensitive`` average ones."""

    quasi_identifiers: tuple[str, ...]
    k: int
    handling: Handling
    hierarchies: Mapping[str, Hierarchy]
    sensitive: tuple[str, ...] = ()
    key: str | None = None
    distances: Mapping[str, DistanceTable] = field(default_factory=dict)


@dataclass(frozen=True)
class Treated:
    """What came of it, in records. Internal: the numbers may be below k; `in_words` tells what may be told."""

    k: int
    records: int
    outlier_classes: int
    outlier_records: int
    written: int
    added: int
    smallest_class: int | None

    def in_words(self) -> str:
        """What was written. Made-up records are as many as the small classes lack, so few of these hide them too."""
        told = may_tell((self.outlier_records,), self.k)
        made_up = f" ({self.added:,} made up)" if told else ""
        smallest = "no class" if self.smallest_class is None else f"smallest class {self.smallest_class:,}"
        return f"{counted(self.written, 'record')}{made_up}, {smallest}"


def counted_in_words(classes: Classes, k: int) -> str:
    """How many records are in classes below k; fewer than k of them are not told, nor what they follow from."""
    small, concerned = outliers(classes, k).size, outlier_records(classes, k)
    if not may_tell((concerned,), k):
        return f"fewer than {k:,} records are in classes that have fewer than {k:,}"
    return (
        f"{counted(classes.records, 'record')} in {counted(len(classes.labels), 'class')}; "
        f"{counted(small, 'class')} with {counted(concerned, 'record')} "
        f"{agreeing(small, 'has', 'have')} fewer than {k:,}"
    )


def handle_outliers(table: RecordTable, treatment: Treatment, target: Path) -> Treated:
    """Write the file without k-outliers to ``target``; what was there stays until the new file is verified."""
    columns = treatment.quasi_identifiers
    if not columns:
        raise InputError(Finding("no-quasi-identifier", "No quasi-identifier is chosen.", "Name at least one."))
    named = (*treatment.sensitive, *((treatment.key,) if treatment.key else ()))
    for name in named:
        table.facts(name)
    if FLAG in table.dialect.header and treatment.handling.card.name == "fabricate":
        raise InputError(Finding("column-taken", f"There is a column “{FLAG}” already.", "Rename it.", column=FLAG))
    classes = Classes.of_records(table, columns)
    distance = Distance.of_classes(classes, tables=treatment.distances)
    handled = treatment.handling.handle(classes, treatment.k, treatment.hierarchies, distance)
    with new_file(target) as path:
        written = _write(path, target.suffix.lower() in PARQUET, table, classes, handled, treatment)
        smallest = _verified(path, table, treatment, written)
    small = outliers(classes, treatment.k)
    added = sum(handled.added.values())
    concerned = outlier_records(classes, treatment.k)
    return Treated(treatment.k, table.rows, small.size, concerned, written, added, smallest)


def _write(
    path: Path, parquet: bool, table: RecordTable, classes: Classes, handled: Handled, treatment: Treatment
) -> int:
    """Write the new file in the form that its name says; returns the number of its records."""
    flagged = treatment.handling.card.name == "fabricate"
    header = [*table.dialect.header, FLAG] if flagged else list(table.dialect.header)
    written = _Counted(_new_rows(table, classes, handled, treatment, flagged))
    if parquet:
        write_parquet_texts(path, header, written)
        return written.number
    lines = CsvLines(table.dialect.delimiter or ",")
    with path.open("w", encoding="utf-8", newline="") as stream:
        stream.write(lines.line(header))
        stream.writelines(map(lines.line, written))
    return written.number


class _Counted:
    """Rows on their way, counted."""

    def __init__(self, rows: Iterable[list[str]]) -> None:
        self._rows, self.number = rows, 0

    def __iter__(self) -> Iterator[list[str]]:
        for row in self._rows:
            self.number += 1
            yield row


def _new_rows(
    table: RecordTable, classes: Classes, handled: Handled, treatment: Treatment, flagged: bool
) -> Iterator[list[str]]:
    header = list(table.dialect.header)
    places = [header.index(name) for name in treatment.quasi_identifiers]
    whole = isinstance(treatment.handling, Fabricate) and treatment.handling.average_of == "file"
    averages = _Averages(handled, [header.index(name) for name in treatment.sensitive], whole)
    for number, row in enumerate(row_texts(table)):
        label = handled.labels[classes.class_of[number]]
        averages.see(classes.labels[classes.class_of[number]], row)
        if label is None:
            continue
        for place, value in zip(places, label, strict=True):
            row[place] = value
        yield [*row, "0"] if flagged else row
    key = header.index(treatment.key) if treatment.key else None
    yield from ([*row, "1"] for row in averages.records(len(header), places, key))


class _Averages:
    """Collects the sensitive values of the classes that get made-up records, or of the whole file: means of numbers,
    else the commonest.
    """

    def __init__(self, handled: Handled, places: Sequence[int], whole: bool) -> None:
        self._added, self._places, self._whole = handled.added, places, whole
        self._values: dict[tuple[Label, int], Counter[str]] = {}

    def see(self, label: Label, row: Sequence[str]) -> None:
        """A record of the file."""
        if self._whole or label in self._added:
            for place in self._places:
                self._values.setdefault((() if self._whole else label, place), Counter())[row[place]] += 1

    def records(self, width: int, quasi: Sequence[int], key: int | None) -> Iterable[list[str]]:
        """The made-up records, class by class."""
        number = 0
        for label, missing in self._added.items():
            for _ in range(missing):
                number += 1
                row = [""] * width
                for place, value in zip(quasi, label, strict=True):
                    row[place] = value
                for place in self._places:
                    row[place] = average(self._values[() if self._whole else label, place])
                if key is not None:
                    row[key] = f"{FLAG}-{number}"
                yield row


def average(values: Counter[str]) -> str:
    """The mean where all values are numbers, else the commonest value (the first of those in order)."""
    numbers = {text: finite_number(text) for text in values}
    if all(number is not None for number in numbers.values()):
        total = sum(number * values[text] for text, number in numbers.items() if number is not None)
        return f"{total / values.total():.10g}"
    return min(values, key=lambda text: (-values[text], text))


def _verified(path: Path, table: RecordTable, treatment: Treatment, written: int) -> int | None:
    """Read the file back and count: no class may be below k, and no record may be lost on the way."""
    if not written:
        return None
    again = load_records(path, RecordOptions(table.dialect.delimiter, "utf-8", "no"))
    sizes = Classes.of_records(again, treatment.quasi_identifiers).sizes
    if again.rows != written or int(np.min(sizes)) < treatment.k:
        raise VerificationFailed("The written file still has k-outliers, or not all records. Nothing was kept.")
    return int(np.min(sizes))
