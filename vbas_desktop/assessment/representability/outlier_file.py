"""Handles the k-outliers of a whole file and writes the result: verified by reading it back, then put in place."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

import numpy as np

from vbas_desktop.audit.filters import FilterClaim
from vbas_desktop.audit.handled_file import HandledClaim, verify_handled_file
from vbas_desktop.io.hashing import HashingWriter
from vbas_desktop.io.output import make_private, staged_file, write_text
from vbas_desktop.io.records.csv_writer import CsvFormat, write_csv
from vbas_desktop.io.records.key_index import INDEX_COLUMNS
from vbas_desktop.io.records.parquet_writer import write_parquet
from vbas_desktop.io.records.row_chunks import chunk_texts
from vbas_desktop.io.records.row_texts import row_texts
from vbas_desktop.io.records.table import RecordOptions, load_records
from vbas_desktop.io.written_rows import secret, secret_key, shuffled
from vbas_desktop.model.errors import Finding, InputError, VerificationFailed
from vbas_desktop.model.progress import SILENT, Progress, Span
from vbas_desktop.model.records import RecordTable
from vbas_desktop.model.words import agreeing, counted
from vbas_desktop.settings.writing import HandledColumns, Writing

from .classes import Classes, outlier_records, outliers
from .first_step import FirstStep, handle_in_steps
from .handled_columns import AggregatedColumns, RecordKeyColumn, check_columns, class_counts_file, index_file
from .handling import Handled, Handling
from .hierarchy import Hierarchy
from .made_up import Filling, MadeUp, Places, choose_fillings, refuse_telling_columns
from .record_keys import make_keys, warn_of_gapless_keys
from .vector import Choices
from .words import may_tell

PARQUET = (".parquet", ".pq")
"""Targets with these endings are written as Parquet, all columns as text; others as CSV."""

_ROWS_PER_UPDATE = 1000

Row = TypeVar("Row")


@dataclass(frozen=True)
class Treatment:
    """What is to be done with a file. Of the choices, the key is given new values in made-up records, and sensitive
    columns those of ``filling``, of ``population`` or else of the file. ``every_record`` is the file with the records
    that filters leave out, whose keys must not become those of made-up records.
    """

    choices: Choices
    handling: Handling
    hierarchies: Mapping[str, Hierarchy]
    writing: Writing
    population: RecordTable | None = None
    first_step: FirstStep = field(default_factory=FirstStep)
    filling: Filling = field(default_factory=Filling)
    columns: HandledColumns = field(default_factory=HandledColumns)
    every_record: RecordTable | None = None


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


def handle_outliers(table: RecordTable, treatment: Treatment, target: Path, progress: Progress = SILENT) -> Treated:
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
    check_columns(table, treatment.columns, treatment.writing, (*columns, *keys))
    classes = Classes.of_records(table, columns)
    k = treatment.choices.k
    first_step = treatment.first_step
    handled = handle_in_steps(
        classes,
        k,
        first_step,
        treatment.handling,
        treatment.hierarchies,
        treatment.choices.distances,
        Span(progress, 0.0, 0.4),
    )
    sensitive = treatment.choices.sensitive
    fillings: list[tuple[str, ...]] = []
    findings: list[Finding] = []
    if handled.added:
        # A column with one value in every class tells nothing of a record.
        hidden = treatment.columns.aggregate if treatment.columns.aggregate_below is None else ()
        refuse_telling_columns(table, (*columns, *sensitive, *keys, *hidden), treatment.writing.identifiers)
        fillings = choose_fillings(table, sensitive, k, treatment.filling, treatment.population)
        findings = [finding for name in keys for finding in warn_of_gapless_keys(treatment.every_record or table, name)]
    with ExitStack() as stack:
        # What is entered last gets its name first: the file itself appears when all that belongs to it is there.
        path = stack.enter_context(staged_file(target))
        rows = _Rows(table, classes, handled, treatment, fillings)
        shuffled_rows = rows.shuffled(path.parent, Span(progress, 0.4, 0.6))
        written = _Written(_watch(shuffled_rows, table.rows, "Writing the records", Span(progress, 0.6, 0.8)))
        _write(path, target.suffix.lower() in PARQUET, table, written, treatment)
        smallest = _verified(path, table, treatment, written.number, Span(progress, 0.8, 0.9))
        index = counts = None
        if rows.keys is not None:
            index = stack.enter_context(staged_file(index_file(target)))
            rows.keys.write_index(index)
            make_private(index)
        if treatment.columns.aggregate:
            counts = stack.enter_context(staged_file(class_counts_file(target)))
            rows.aggregated.write_counts(counts)
        progress.update("Verifying the written file", 0.9)
        verify_handled_file(rows.claim(path, target, index, counts))
        custody = custody_file(target)
        if handled.added:
            listed = "".join(f"{row}\n" for row in written.made_up)
            write_text(custody, f"row\n{listed}", private=True)
        else:
            # What it says of an earlier file does not hold of this one.
            custody.unlink(missing_ok=True)
        _remove_outdated(target, treatment.columns)
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


def companion_files(target: Path, chosen: HandledColumns) -> list[Path]:
    """List the files that are written beside a file, or that would not hold of it any more."""
    found = [custody_file(target)]
    if chosen.record_key is not None:
        found.append(index_file(target))
    if chosen.aggregate:
        found.append(class_counts_file(target))
    return found


def _remove_outdated(target: Path, chosen: HandledColumns) -> None:
    """Remove an index of keys and a list of classes that belong to an earlier file with this name."""
    outdated = {index_file(target): chosen.record_key is None, class_counts_file(target): not chosen.aggregate}
    for path, is_outdated in outdated.items():
        if is_outdated and target.exists() and path.is_file():
            with path.open("rb") as stream:
                names = stream.readline(1 << 16).decode("utf-8", "replace").rstrip("\n").split(",")
            if names == list(INDEX_COLUMNS) or (path != index_file(target) and names[-1] == "records"):
                path.unlink()


def _check_identifiers(treatment: Treatment) -> None:
    used = {*treatment.choices.quasi_identifiers, *treatment.choices.sensitive, treatment.choices.key}
    for name in treatment.writing.identifiers:
        if name in used:
            message = "An identifier is not written, so it can be nothing else."
            raise InputError(Finding("two-roles", message, "Name the column once.", column=name))


def _write(path: Path, parquet: bool, table: RecordTable, written: _Written, treatment: Treatment) -> None:
    """Write the new file in the form that its name says."""
    form = treatment.writing
    names = [*table.dialect.header]
    if treatment.columns.record_key is not None:
        names.append(treatment.columns.record_key)
    kept = [place for place, name in enumerate(names) if name not in form.identifiers]
    header = form.row([names[place] for place in kept])
    rows = (form.row([row[place] for place in kept]) for row in written)
    columns, chunks = chunk_texts(header, rows)
    with path.open("wb") as stream:
        if parquet:
            write_parquet(HashingWriter(stream), columns, chunks)
        else:
            write_csv(HashingWriter(stream), columns, chunks, CsvFormat(table.dialect.delimiter or ","))


def _watch(rows: Iterable[Row], total: int, stage: str, progress: Progress) -> Iterator[Row]:
    """Yield rows, and tell how far they are."""
    for number, row in enumerate(rows):
        if number % _ROWS_PER_UPDATE == 0:
            progress.update(stage, min(1.0, number / max(1, total)))
        yield row


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


class _Rows:
    """Makes the rows of the new file: of the records that are written, then of those that are made up."""

    def __init__(
        self,
        table: RecordTable,
        classes: Classes,
        handled: Handled,
        treatment: Treatment,
        fillings: Sequence[tuple[str, ...]],
    ) -> None:
        self._table = table
        self._classes = classes
        self._handled = handled
        self._treatment = treatment
        header = list(table.dialect.header)
        choices = treatment.choices
        key = header.index(choices.key) if choices.key else None
        quasi, sensitive = (
            [header.index(name) for name in names] for names in (choices.quasi_identifiers, choices.sensitive)
        )
        self._places = Places(quasi, sensitive, fillings, key)
        self._draw = secret(treatment.writing.shuffle_seed, table.source.identity, choices.quasi_identifiers, choices.k)
        self.aggregated = AggregatedColumns(header, quasi, treatment.columns, treatment.writing)
        self.keys: RecordKeyColumn | None = None
        if treatment.columns.record_key is not None:
            self.keys = RecordKeyColumn(table, classes, handled, self._secret_of_keys())

    def _secret_of_keys(self) -> bytes:
        """Make the secret that keys come from; with a seed, files that differ in what is written have other keys."""
        treatment = self._treatment
        choices = treatment.choices
        content = (choices.quasi_identifiers, choices.k, treatment.handling.card.name, treatment.writing.identifiers)
        added = treatment.columns
        columns = (added.record_key, added.aggregate, added.aggregate_classes if added.aggregate else "")
        return secret_key(treatment.writing.shuffle_seed, self._table.source.identity, *content, *columns)

    def shuffled(self, scratch: Path, progress: Progress) -> Iterator[tuple[list[str], bool]]:
        """Yield all rows in random order, each with whether it was made up."""
        # The first row comes out when the last one has gone in, so all values were counted by then.
        for row, is_made_up in shuffled(self._count(progress), scratch, self._draw):
            yield self.aggregated.aggregate(row), is_made_up

    def _count(self, progress: Progress) -> Iterator[tuple[list[str], bool]]:
        """Yield all rows in order, with their keys, and count the values that are aggregated."""
        keys = None if self.keys is None else self.keys.texts()
        for row, is_made_up in self._in_order(progress):
            self.aggregated.see(row, is_made_up)
            if keys is not None:
                row.append(next(keys))
            yield row, is_made_up

    def _in_order(self, progress: Progress) -> Iterator[tuple[list[str], bool]]:
        table, handled, places = self._table, self._handled, self._places
        made_up = MadeUp(handled, places, len(table.dialect.header), self._draw)
        records = _watch(row_texts(table), table.rows, "Making the rows", progress)
        for number, row in enumerate(records):
            label = handled.labels[self._classes.class_of[number]]
            made_up.see(row)
            if label is None:
                continue
            for place, value in zip(places.quasi, label, strict=True):
                row[place] = value
            yield row, False
        keys: Iterator[str] = iter(())
        if places.key is not None and handled.added:
            known = self._treatment.every_record or table
            keys = make_keys(known, table.dialect.header[places.key], self._draw)
        for row in made_up.records(keys):
            yield row, True

    def claim(self, path: Path, target: Path, index: Path | None, counts: Path | None) -> HandledClaim:
        """Say what the auditor has to find in the written file at ``path``."""
        table, treatment = self._table, self._treatment
        dialect = table.dialect
        columns = treatment.columns
        selection = () if table.selection is None else table.selection.files
        return HandledClaim(
            source=Path(table.source.path),
            dialect=dialect,
            filters=tuple(FilterClaim(f.source.path, f.source.sha256, name == "keep_records") for name, f in selection),
            file=path,
            is_parquet=target.suffix.lower() in PARQUET,
            delimiter=dialect.delimiter or ",",
            columns=tuple(name for name in dialect.header if name not in treatment.writing.identifiers),
            is_escaped=treatment.writing.escape_formulas,
            quasi_identifiers=treatment.choices.quasi_identifiers,
            labels=dict(zip(self._classes.labels, self._handled.labels, strict=True)),
            added=self._handled.added,
            aggregated=columns.aggregate,
            below=columns.aggregate_below,
            made_up_values=self.aggregated.made_up_values,
            class_counts=counts,
            record_key=columns.record_key,
            index=index,
        )


def _verified(path: Path, table: RecordTable, treatment: Treatment, written: int, progress: Progress) -> int | None:
    """Read the file back and count: no class may be below k, and no record may be lost on the way."""
    if not written:
        return None
    again = load_records(path, RecordOptions(table.dialect.delimiter, "utf-8", "no"), progress)
    sizes = Classes.of_records(again, tuple(map(treatment.writing.text, treatment.choices.quasi_identifiers))).sizes
    if again.rows != written or int(np.min(sizes)) < treatment.choices.k:
        raise VerificationFailed("The written file still has k-outliers, or not all records. Nothing was kept.")
    return int(np.min(sizes))
