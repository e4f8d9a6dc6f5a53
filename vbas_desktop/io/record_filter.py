"""Filters of records: files that list required or unwanted combinations of values."""

from __future__ import annotations

import csv
import hashlib
import io
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from vbas_desktop.model.findings import Finding, FindingList, InputError, input_error
from vbas_desktop.model.records import CodedRecords, RecordTable, SourceFile, not_categorical
from vbas_desktop.model.selection import FilterFile, Selection

from .records.table import unknown_column
from .text_files import read_text_file

_CHUNK = 1 << 20
_DELIMITERS = ",;\t"


def read_record_filter(path: str | Path) -> FilterFile:
    """Read a table of combinations: names of columns on line 1, then one combination per line.

    Fields are separated by comma, semicolon or tab, whichever line 1 has most. An empty field stands for a missing
    value; empty lines are skipped. All mistakes are raised together as `InputError`.
    """
    path = Path(path)
    text = read_text_file(path)
    delimiter = max(_DELIMITERS, key=text.partition("\n")[0].count)
    findings = FindingList(str(path))
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    try:
        lines = [(reader.line_num, row) for row in reader if row]
    except csv.Error:
        raise input_error(
            "bad-quotes", "A quoted field is not closed.", "Correct the quotes.", file=path
        ) from None
    if len(lines) < 2:
        message = "The filter lists no combination."
        findings.add(
            "empty-filter",
            message,
            "Write names of columns on line 1 and a combination on each further line.",
        )
        findings.stop_on_errors()
    (_, names), *rows = lines
    for position, name in enumerate(names):
        if name in names[:position]:
            message = f"Field {position + 1} names a column that was named before."
            findings.add("repeated-column", message, "Name every column once.", row=1)
    combinations: set[tuple[str, ...]] = set()
    for number, row in rows:
        if len(row) != len(names):
            message = f"The row has {len(row)} fields instead of {len(names)}."
            findings.add("ragged", message, "Complete it.", row=number)
        elif tuple(row) in combinations:
            message = "This combination was listed before."
            findings.add("repeated-combination", message, "List every combination once.", row=number)
        combinations.add(tuple(row))
    findings.stop_on_errors()
    data = path.read_bytes()
    state = path.stat()
    source = SourceFile(
        str(path),
        len(data),
        hashlib.sha256(data).hexdigest(),
        (state.st_size, state.st_mtime_ns, state.st_ino),
    )
    return FilterFile(
        source, tuple(names), tuple(tuple(row) for _, row in rows), tuple(number for number, _ in rows)
    )


def filter_records(
    table: RecordTable, required: FilterFile | None, unwanted: FilterFile | None
) -> RecordTable:
    """Return the table of the records that have a required combination (if any are listed) and no unwanted one.

    Values are compared as they are in the record file, before any grouping. Values and combinations that no record
    has become hints. Raises `InputError` for unknown columns and if no record is left.
    """
    if required is None and unwanted is None:
        return table
    records = table.require_codes()
    for file in (required, unwanted):
        if file is not None:
            _check_columns(records, file)
    hints: list[Finding] = []
    considered = np.ones(table.rows, np.bool_)
    if required is not None:
        matching, absent = _find_matches(records, required)
        considered &= matching
        hints += absent
    if unwanted is not None:
        matching, absent = _find_matches(records, unwanted)
        considered &= ~matching
        hints += absent
    positions = np.flatnonzero(considered).astype(np.int64)
    if not positions.size:
        message = "The filters of records leave no record."
        file = required or unwanted
        assert file is not None
        remedy = "Compare the values of the filter with those of the records; they must be written in the same way."
        raise InputError([*hints, Finding("no-records", message, remedy, file=file.source.path)])
    selection = Selection(required, unwanted, table.rows - positions.size)
    return records.select(selection, positions, hints)


def _check_columns(table: RecordTable, file: FilterFile) -> None:
    """Refuse columns that the record file does not have or that have too many values to be coded."""
    findings = FindingList(file.source.path)
    for position, name in enumerate(file.columns):
        if name not in table.file_format.header:
            # Line 1 may be a record, so it is not quoted.
            message = f"Field {position + 1} is not the name of a column of the records."
            findings.add("unknown-column", message, unknown_column(table, name).remedy, row=1)
        elif not table.facts(name).categorical:
            findings.note(not_categorical(table, table.facts(name)))
    findings.stop_on_errors()


def _find_matches(
    table: CodedRecords, file: FilterFile
) -> tuple[NDArray[np.bool_], tuple[Finding, ...]]:
    """Return whether each record has one of the combinations, and hints to those that none has.

    The combinations are followed column by column: a record is in the prefix of a combination as long as its values
    are those of the combination. It takes O(records × columns × log combinations) steps.
    """
    hints = FindingList(file.source.path)
    prefixes = np.zeros(len(file.rows), np.int64)
    steps = []
    for position, name in enumerate(file.columns):
        categories = table.facts(name).categories
        assert categories is not None
        code_of = {value: code for code, value in enumerate(categories.values)}
        codes = np.array([code_of.get(row[position], -1) for row in file.rows], np.int64)
        _note_absent(file, codes, name, hints)
        number = len(categories.values)
        keys = np.where((prefixes >= 0) & (codes >= 0), prefixes * number + codes, -1)
        prefix_keys = np.unique(keys[keys >= 0])
        prefixes = np.where(keys >= 0, np.searchsorted(prefix_keys, keys), -1)
        steps.append((table.codes(name), number, prefix_keys))
    is_match = np.zeros(table.rows, np.bool_)
    occurs = np.zeros(steps[-1][2].size, np.bool_)
    for start in range(0, table.rows, _CHUNK):
        chunk = slice(start, min(table.rows, start + _CHUNK))
        reached = np.zeros(chunk.stop - chunk.start, np.int64)
        for every_code, number, prefix_keys in steps:
            reached = _follow(reached, every_code[chunk].astype(np.int64), number, prefix_keys)
        is_match[chunk] = reached >= 0
        occurs[reached[reached >= 0]] = True
    for row, prefix in zip(file.row_numbers, prefixes.tolist(), strict=True):
        if prefix >= 0 and not occurs[prefix]:
            hints.hint("no-such-combination", "No record has this combination.", row=row)
    return is_match, hints.all()


def _follow(
    prefixes: NDArray[np.int64], codes: NDArray[np.int64], number: int, prefix_keys: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Return the prefixes that are one column longer; -1: no combination begins in this way."""
    if not prefix_keys.size:
        return np.full(prefixes.size, -1, np.int64)
    keys = prefixes * number + codes
    positions = np.minimum(np.searchsorted(prefix_keys, keys), prefix_keys.size - 1)
    return np.where((prefixes >= 0) & (prefix_keys[positions] == keys), positions, -1)


def _note_absent(file: FilterFile, codes: NDArray[np.int64], name: str, hints: FindingList) -> None:
    """Note the lines whose value in a column no record has."""
    remedy = "Write values as in the record file, blanks and leading zeros included."
    for position in np.flatnonzero(codes < 0).tolist():
        hints.hint(
            "no-such-value",
            "No record has this value.",
            remedy,
            row=file.row_numbers[position],
            column=name,
        )
