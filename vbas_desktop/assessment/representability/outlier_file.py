"""Handles the k-outliers of a whole file and writes the result: verified by reading it back, then put in place."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from vbas_desktop.domain.errors import Finding, InputError, VerificationFailed
from vbas_desktop.domain.words import agreeing, counted
from vbas_desktop.files.records.parquet import write_parquet_texts
from vbas_desktop.files.records.row_texts import row_texts
from vbas_desktop.files.records.table import RecordOptions, RecordTable, load_records
from vbas_desktop.files.written_rows import CsvLines, secret, shuffled
from vbas_desktop.io.output import staged_file, write_text
from vbas_desktop.settings.writing import Writing

from .classes import Classes, outlier_records, outliers
from .first_step import FirstStep, handle_in_steps
from .handling import Handled, Handling
from .hierarchy import Hierarchy
from .made_up import Filling, MadeUp, Places, choose_fillings, refuse_telling_columns
from .record_keys import make_keys, warn_of_gapless_keys
from .vector import Choices
from .words import may_tell

PARQUET = (".parquet", ".pq")
"""Targets with these endings are written as Parquet, all columns as text; others as CSV."""


@dataclass(frozen=True)
class Treatment:
    """What is to be done with a file. Of the choices, the key is given new values in made-up records, and sensitive
    columns those of ``filling``, of ``population`` or else of the file.
    """

    choices: Choices
    handling: Handling
    hierarchies: Mapping[str, Hierarchy]
    writing: Writing
    population: RecordTable | None = None
    first_step: FirstStep = field(default_factory=FirstStep)
    filling: Filling = field(default_factory=Filling)


@dataclass(frozen=True)
class Treated:
    """What came of it, in records. Internal: the numbers may be below k; `in_words` tells what may be told."""

    k: int
    records: int
    outlier_records: int
    written: int
    added: int
    smallest_class: int | None
    findings: tuple[Finding, ...] = ()
    left_out: int = 0
    changed: int = 0

    def in_words(self) -> str:
        """Say what was written, in numbers that do not tell of fewer than k records.

        Made-up records are as many as the small classes lack, so few of these hide them too. Where fewer than k are
        left out or changed, the other numbers would tell how many.
        """
        smallest = "no class" if self.smallest_class is None else f"smallest class {self.smallest_class:,}"
        if not may_tell((self.outlier_records,), self.k):
            return f"{counted(self.written, 'record')}, {smallest}"
        if not may_tell((self.left_out, self.changed), self.k):
            return f"{smallest}; fewer than {self.k:,} records are left out or changed"
        numbers = {"left out": self.left_out, "with other values": self.changed, "made up": self.added}
        done = [f"{number:,} {words}" for words, number in numbers.items() if number]
        return f"{counted(self.written, 'record')} ({', '.join(done) or 'none changed'}), {smallest}"


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


def left_out_in_words(table: RecordTable, k: int) -> str:
    """Say how many records filters leave out; fewer than k are not told. Empty without filters."""
    if table.selection is None:
        return ""
    left_out = table.selection.records_left_out
    number = counted(left_out, "record") if left_out >= k else f"fewer than {k:,} records, or none,"
    return f"; {number} left out by filters"


def handle_outliers(table: RecordTable, treatment: Treatment, target: Path) -> Treated:
    """Write the file without k-outliers to ``target``; what was there stays until the new file is verified.

    Its rows are in an order that tells nothing. Which of them were made up is told in a file beside it that nobody but
    the user may read.
    """
    columns = treatment.choices.quasi_identifiers
    if not columns:
        raise InputError(Finding("no-quasi-identifier", "No quasi-identifier is chosen.", "Name at least one."))
    keys = (treatment.choices.key,) if treatment.choices.key else ()
    for name in (*treatment.choices.sensitive, *treatment.writing.identifiers, *keys):
        table.facts(name)
    _check_identifiers(treatment)
    classes = Classes.of_records(table, columns)
    k = treatment.choices.k
    first_step = treatment.first_step
    handled = handle_in_steps(
        classes, k, first_step, treatment.handling, treatment.hierarchies, treatment.choices.distances
    )
    sensitive = treatment.choices.sensitive
    fillings: list[tuple[str, ...]] = []
    findings: list[Finding] = []
    if handled.added:
        refuse_telling_columns(table, (*columns, *sensitive, *keys), treatment.writing.identifiers)
        fillings = choose_fillings(table, sensitive, k, treatment.filling, treatment.population)
        findings = [finding for name in keys for finding in warn_of_gapless_keys(table, name)]
    with staged_file(target) as path:
        written = _Written(_new_rows(table, classes, handled, treatment, fillings, path.parent))
        _write(path, target.suffix.lower() in PARQUET, table, written, treatment)
        smallest = _verified(path, table, treatment, written.number)
        custody = custody_file(target)
        if handled.added:
            rows = "".join(f"{row}\n" for row in written.made_up)
            write_text(custody, f"row\n{rows}", private=True)
        else:
            # What it says of an earlier file does not hold of this one.
            custody.unlink(missing_ok=True)
    added = sum(handled.added.values())
    concerned = outlier_records(first_step.group(classes, treatment.hierarchies).classes, k)
    changes = count_changes(classes, handled)
    return Treated(k, table.rows, concerned, written.number, added, smallest, tuple(findings), *changes)


def count_changes(classes: Classes, handled: Handled) -> tuple[int, int]:
    """Count the records that are left out, and those that get other values."""
    sizes = classes.sizes.tolist()
    pairs = zip(classes.labels, handled.labels, sizes, strict=True)
    left_out = sum(size for label, size in zip(handled.labels, sizes, strict=True) if label is None)
    changed = sum(size for before, after, size in pairs if after is not None and after != before)
    return left_out, changed


def custody_file(target: Path) -> Path:
    """Where it is told which rows of a file were made up. It stays in the house."""
    return target.with_name(f"{target.stem}.made-up-rows.csv")


def _check_identifiers(treatment: Treatment) -> None:
    used = {*treatment.choices.quasi_identifiers, *treatment.choices.sensitive, treatment.choices.key}
    for name in treatment.writing.identifiers:
        if name in used:
            message = "An identifier is not written, so it can be nothing else."
            raise InputError(Finding("two-roles", message, "Name the column once.", column=name))


def _write(path: Path, parquet: bool, table: RecordTable, written: _Written, treatment: Treatment) -> None:
    """Write the new file in the form that its name says."""
    form = treatment.writing
    kept = [place for place, name in enumerate(table.dialect.header) if name not in form.identifiers]
    header = form.row([table.dialect.header[place] for place in kept])
    rows = (form.row([row[place] for place in kept]) for row in written)
    if parquet:
        write_parquet_texts(path, header, rows)
        return
    lines = CsvLines(table.dialect.delimiter or ",")
    with path.open("w", encoding="utf-8", newline="") as stream:
        stream.write(lines.line(header))
        stream.writelines(map(lines.line, rows))


class _Written:
    """Rows on their way, counted; ``made_up`` are the numbers of those that are, the names being row 1."""

    def __init__(self, rows: Iterable[tuple[list[str], bool]]) -> None:
        self._rows, self.number = rows, 0
        self.made_up: list[int] = []

    def __iter__(self) -> Iterator[list[str]]:
        for row, made_up in self._rows:
            self.number += 1
            if made_up:
                self.made_up.append(self.number + 1)
            yield row


def _new_rows(
    table: RecordTable,
    classes: Classes,
    handled: Handled,
    treatment: Treatment,
    fillings: Sequence[tuple[str, ...]],
    scratch: Path,
) -> Iterator[tuple[list[str], bool]]:
    """All rows of the new file, shuffled, each with whether it was made up."""
    draw = secret(
        treatment.writing.shuffle_seed, table.source.identity, treatment.choices.quasi_identifiers, treatment.choices.k
    )
    header = list(table.dialect.header)
    key = header.index(treatment.choices.key) if treatment.choices.key else None
    quasi, sensitive = (
        [header.index(name) for name in names]
        for names in (treatment.choices.quasi_identifiers, treatment.choices.sensitive)
    )
    places = Places(quasi, sensitive, fillings, key)
    return shuffled(_rows_in_order(table, classes, handled, places, draw), scratch, draw)


def _rows_in_order(
    table: RecordTable, classes: Classes, handled: Handled, places: Places, draw: random.Random
) -> Iterator[tuple[list[str], bool]]:
    made_up = MadeUp(handled, places, len(table.dialect.header), draw)
    for number, row in enumerate(row_texts(table)):
        label = handled.labels[classes.class_of[number]]
        made_up.see(row)
        if label is None:
            continue
        for place, value in zip(places.quasi, label, strict=True):
            row[place] = value
        yield row, False
    keys: Iterator[str] = iter(())
    if places.key is not None and handled.added:
        keys = make_keys(table, table.dialect.header[places.key], draw)
    for row in made_up.records(keys):
        yield row, True


def _verified(path: Path, table: RecordTable, treatment: Treatment, written: int) -> int | None:
    """Read the file back and count: no class may be below k, and no record may be lost on the way."""
    if not written:
        return None
    again = load_records(path, RecordOptions(table.dialect.delimiter, "utf-8", "no"))
    sizes = Classes.of_records(again, tuple(map(treatment.writing.text, treatment.choices.quasi_identifiers))).sizes
    if again.rows != written or int(np.min(sizes)) < treatment.choices.k:
        raise VerificationFailed("The written file still has k-outliers, or not all records. Nothing was kept.")
    return int(np.min(sizes))
