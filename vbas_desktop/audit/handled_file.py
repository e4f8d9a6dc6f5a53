"""Checks a file without small classes against the records it was made of: keys, their index, aggregated values.

Both files are read by the auditor's own reader. Taken on trust is only what becomes of each class, and the values of
records that were made up.
"""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from vbas_desktop.model.findings import Check, VerificationFailed
from vbas_desktop.model.records import FileFormat

from .aggregates import expected_aggregates
from .coded_file import CodedFile, CsvForm, ReadOptions, read_csv, read_parquet
from .csv_stream import UnreadableFile
from .filters import FilterClaim, find_considered, read_filters
from .formulas import escape_formulas
from .text_hashes import TextHasher

Label = tuple[str, ...]
_KEY = re.compile("[A-Z2-7]{16}")


@dataclass(frozen=True, eq=False)
class HandledClaim:
    """Properties that a written file is claimed to have.

    Parameters
    ----------
    source, file_format, filters : the record file, its form, and the filters that chose the considered records
    file, is_parquet, delimiter : the written file and its form
    columns : its columns by their names in the record file, without the column of keys
    is_escaped : an apostrophe stands before what looks like a formula
    quasi_identifiers : the columns that make up the classes
    labels : the values that the records of each class of the record file have got; None if they are left out
    added : how many records were made up for a class
    aggregated, below : columns with one value in each class of fewer than so many records (None: in each class)
    made_up_values : by aggregated column and class, the values that made-up records had before
    class_counts : the list of classes
    record_key, index : the column of keys and the file that leads from a key to its record
    """

    source: Path
    file_format: FileFormat
    filters: tuple[FilterClaim, ...]
    file: Path
    is_parquet: bool
    delimiter: str
    columns: tuple[str, ...]
    is_escaped: bool
    quasi_identifiers: tuple[str, ...]
    labels: Mapping[Label, Label | None]
    added: Mapping[Label, int]
    aggregated: tuple[str, ...] = ()
    below: int | None = None
    made_up_values: Mapping[str, Mapping[Label, Counter[str]]] | None = None
    class_counts: Path | None = None
    record_key: str | None = None
    index: Path | None = None


def verify_handled_file(claim: HandledClaim) -> None:
    """Raise `VerificationFailed` with the names of the checks that the written file did not pass."""
    try:
        checks = list(_Comparison(claim).checks())
    except UnreadableFile as error:
        checks = [Check("the written file can be read back", False, str(error))]
    failed = "; ".join(check.name for check in checks if not check.passed)
    if failed:
        raise VerificationFailed(
            f"The written file did not pass its verification (not so: {failed}). Nothing was kept."
        )


class _Comparison:
    """The considered records and the written rows, side by side."""

    def __init__(self, claim: HandledClaim) -> None:
        self._claim = claim
        self._before, self._positions = _read_source(claim)
        self._after = _read_written(claim)
        class_of, originals = _number_classes([self._before[name] for name in claim.quasi_identifiers])
        unknown = [label for label in originals if label not in claim.labels]
        if unknown:
            raise UnreadableFile("the record file has classes that were not handled")
        targets = [claim.labels[label] for label in originals]
        number_of: dict[Label, int] = {}
        number_of_class = [
            -1 if label is None else number_of.setdefault(self._as_written(label), len(number_of))
            for label in targets
        ]
        self._added: Counter[int] = Counter()
        for label, number in claim.added.items():
            self._added[number_of.setdefault(self._as_written(label), len(number_of))] += number
        self._labels = list(number_of)
        self._number_of_record = np.array(number_of_class, np.int64)[class_of]
        self._row_classes, self._row_labels = _number_classes(
            [self._after[name] for name in claim.quasi_identifiers]
        )

    def _as_written(self, label: Label) -> Label:
        return tuple(self._escape(label))

    def _escape(self, texts: Sequence[str]) -> list[str]:
        return escape_formulas(texts) if self._claim.is_escaped else list(texts)

    def checks(self) -> Iterator[Check]:
        """Make all checks; those of values only where the classes are as they have to be."""
        released = self._number_of_record[self._number_of_record >= 0]
        sizes = np.bincount(released, minlength=len(self._labels)).astype(np.int64)
        for number, added in self._added.items():
            sizes[number] += added
        expected = dict(zip(self._labels, sizes.tolist(), strict=True))
        counts = dict(zip(self._row_labels, np.bincount(self._row_classes).tolist(), strict=True))
        same = expected == counts
        yield Check("every class has the records that it has to have", same)
        if not same:
            return
        number_of = {label: number for number, label in enumerate(self._labels)}
        rows = np.array([number_of[label] for label in self._row_labels], np.int64)[self._row_classes]
        for name in self._claim.aggregated:
            yield self._check_values(name, rows, sizes)
        if self._claim.class_counts is not None:
            yield self._check_counts(self._claim.class_counts, expected)
        if self._claim.index is not None:
            yield from self._check_keys(self._claim.index, rows)

    def _check_values(self, name: str, rows: NDArray[np.int64], sizes: NDArray[np.int64]) -> Check:
        """Check that each class has its one value, or the values of its records if it is large enough."""
        column = self._before[name]
        is_released = self._number_of_record >= 0
        values = _count_by_class(
            self._number_of_record[is_released],
            column.codes[is_released],
            column.texts,
            len(self._labels),
        )
        number_of = {label: number for number, label in enumerate(self._labels)}
        for label, counter in (self._claim.made_up_values or {}).get(name, {}).items():
            values[number_of[self._as_written(label)]].update(counter)
        one_value = expected_aggregates(dict(enumerate(values)), sizes, self._claim.below)
        written = self._after[name]
        counts = _count_by_class(rows, written.codes, written.texts, len(self._labels))
        right = True
        for number, counter in enumerate(values):
            texts = Counter({one_value[number]: int(sizes[number])}) if number in one_value else counter
            expected: Counter[str] = Counter()
            for text, times in zip(self._escape(list(texts)), texts.values(), strict=True):
                expected[text] += times
            right = right and expected == counts[number]
        return Check("every class has the aggregated values that follow from its records", right)

    def _check_counts(self, path: Path, expected: Mapping[Label, int]) -> Check:
        """Check the list of classes."""
        header, *rows = _read_rows(path)
        names = [*self._escape(self._claim.quasi_identifiers), "records"]
        listed = {tuple(row[:-1]): row[-1] for row in rows}
        positions = {label: str(number) for label, number in expected.items()}
        right = header == names and len(rows) == len(listed) and listed == positions
        return Check("the list of classes has the number of records of each class", right)

    def _check_keys(self, index: Path, rows: NDArray[np.int64]) -> Iterator[Check]:
        """Check the form of the keys, that no two are equal, and where the index leads."""
        assert self._claim.record_key is not None
        keys = self._after[self._claim.record_key]
        right_form = all(_KEY.fullmatch(text) for text in keys.texts)
        unique = len(keys.texts) == keys.codes.size
        yield Check("every row has a key of 16 characters that no other row has", right_form and unique)
        header, *entries = _read_rows(index)
        well_formed = header == ["record_key", "record", "row"] and all(
            len(entry) == 3 for entry in entries
        )
        right_keys = well_formed and sorted(keys.texts) == sorted(entry[0] for entry in entries)
        yield Check("the index of keys lists just the written rows", right_keys)
        if not (unique and right_keys):
            return
        record_of_key = {key: (record, row) for key, record, row in entries}
        made_up = [key for key, entry in record_of_key.items() if entry == ("", "")]
        real = {key: entry for key, entry in record_of_key.items() if entry != ("", "")}
        is_numbered = all(text.isdecimal() for entry in real.values() for text in entry)
        right_number = len(made_up) == sum(self._added.values())
        yield Check(
            "the index of keys has a row of the record file for all but made-up records", right_number
        )
        yield Check(
            "every key leads to the record that its row was made of",
            is_numbered and self._leads(real, rows),
        )

    def _leads(self, real: Mapping[str, tuple[str, str]], rows: NDArray[np.int64]) -> bool:
        """Say whether keys lead to the right records: to each released one once, with the values that it has."""
        claim = self._claim
        assert claim.record_key is not None
        numbers = sorted((int(record), int(row)) for record, row in real.values())
        is_released = self._number_of_record >= 0
        released = (self._positions[is_released] + 1).tolist()
        lines = [row for _, row in numbers]
        if [record for record, _ in numbers] != released or any(np.diff(lines) <= 0):
            return False
        keys = self._after[claim.record_key]
        record_of_code = np.array(
            [int(real[text][0]) - 1 if text in real else -1 for text in keys.texts], np.int64
        )
        position = record_of_code[keys.codes]
        is_real = position >= 0
        record = np.searchsorted(self._positions, position[is_real])
        if not np.array_equal(self._number_of_record[record], rows[is_real]):
            return False
        for name in claim.columns:
            if name in claim.quasi_identifiers or name in claim.aggregated:
                continue
            before = self._before[name]
            after = self._after[name]
            number_of = {text: code for code, text in enumerate(after.texts)}
            code_of = np.array(
                [number_of.get(text, -1) for text in self._escape(before.texts)], np.int64
            )
            if not np.array_equal(code_of[before.codes[record]], after.codes[is_real]):
                return False
        return True


@dataclass(frozen=True, eq=False)
class _Column:
    """A column in memory: the code of every row, and the text of each code."""

    codes: NDArray[np.integer]
    texts: tuple[str, ...]


def _read_source(claim: HandledClaim) -> tuple[dict[str, _Column], NDArray[np.int64]]:
    """Read the needed columns of the considered records, and which records of the file these are, from 0."""
    filters = read_filters(claim.filters)
    needed = (
        claim.columns if claim.record_key is not None else (*claim.quasi_identifiers, *claim.aggregated)
    )
    names = list(dict.fromkeys([*needed, *(name for filter_ in filters for name in filter_.columns)]))
    file_format = claim.file_format
    columns_read = [file_format.header.index(name) for name in names]
    options = ReadOptions(columns_read, TextHasher(), unlimited=columns_read)
    if file_format.format == "parquet":
        file = read_parquet(claim.source, options, int(file_format.category_line))
    else:
        skipped = 2 if file_format.category_line else 1
        form = CsvForm(
            len(file_format.header),
            file_format.delimiter or ",",
            file_format.encoding or "utf-8",
            file_format.compressed,
        )
        file = read_csv(claim.source, replace(form, skipped=skipped, undefined="replace"), options)
    considered = find_considered(filters, file, dict(zip(names, file.columns, strict=True)))
    positions = np.flatnonzero(np.concatenate([*considered, np.zeros(0, np.bool_)]))
    if filters:
        file = file.keep_rows(considered)
    return _in_memory(names, file), positions


def _read_written(claim: HandledClaim) -> dict[str, _Column]:
    """Read the columns of the written file, by their names in the record file."""
    names = [*claim.columns, *([claim.record_key] if claim.record_key is not None else [])]
    positions = range(len(names))
    options = ReadOptions(positions, TextHasher(), unlimited=positions)
    if claim.is_parquet:
        file = read_parquet(claim.file, options)
    else:
        file = read_csv(claim.file, CsvForm(len(names), claim.delimiter, "utf-8"), options)
    if list(file.names) != (escape_formulas(names) if claim.is_escaped else names):
        raise UnreadableFile("its columns are not those that were chosen")
    return _in_memory(names, file)


def _in_memory(names: Sequence[str], file: CodedFile) -> dict[str, _Column]:
    """Return the columns with codes for the values that occur."""
    counts = {}
    for name, column in zip(names, file.columns, strict=True):
        used = np.flatnonzero(column.frequencies)
        number = np.zeros(column.values, np.int64)
        number[used] = np.arange(used.size)
        texts = tuple(column.known_texts[code] for code in used.tolist())
        counts[name] = _Column(number[column.all_codes()], texts)
    file.store.close()
    return counts


def _read_rows(path: Path) -> list[list[str]]:
    try:
        with path.open(encoding="utf-8", newline="") as stream:
            return list(csv.reader(stream)) or [[]]
    except (OSError, ValueError, csv.Error):
        raise UnreadableFile("a list beside it cannot be read") from None


def _number_classes(columns: Sequence[_Column]) -> tuple[NDArray[np.int64], list[Label]]:
    """Return the number of the class of each row, and the values of each class."""
    class_of = np.zeros(columns[0].codes.size, np.int64)
    for column in columns:
        # Numbers are made small again after each column, so that they never overflow.
        _, class_of = np.unique(class_of * len(column.texts) + column.codes, return_inverse=True)
    _, first = np.unique(class_of, return_index=True)
    labels = [tuple(column.texts[int(column.codes[row])] for column in columns) for row in first]
    return class_of.ravel().astype(np.int64), labels


def _count_by_class(
    classes: NDArray[np.int64], codes: NDArray[np.integer], texts: Sequence[str], number: int
) -> list[Counter[str]]:
    """Count the texts in each class."""
    pairs, counts = np.unique(classes * max(1, len(texts)) + codes, return_counts=True)
    texts_by_class: list[Counter[str]] = [Counter() for _ in range(number)]
    for pair, times in zip(pairs.tolist(), counts.tolist(), strict=True):
        class_number, code = divmod(pair, max(1, len(texts)))
        texts_by_class[class_number][texts[code]] += times
    return texts_by_class
