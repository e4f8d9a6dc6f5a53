"""Find the rows of a delimited text that cannot be read, and the lines on which records begin.

This is a slow pass in plain Python. It runs only after the fast reader refused a file, or when somebody asks for the
line of a record in a file whose records do not have one line each.

A *row number* is the number of the line on which a row begins, the names being row 1: what an editor shows, also where
quoted fields contain line breaks.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from vbas_desktop.model.findings import Finding, InputError
from vbas_desktop.model.progress import Progress
from vbas_desktop.model.records import FileFormat
from vbas_desktop.model.text import format_count

from ..delimited_text import find_wrong_names
from .file_format import (
    QUOTE,
    ReadLimits,
    TextStream,
    blank_lines,
    check_is_text,
    endless_row,
    explain_encoding,
    find_wrong_byte,
    read_opening,
    scan_line,
    stray_return,
)

REPORTED_ROWS = 10
"""How many rows of a kind are named one by one."""

_READ_BYTES = 1 << 20


class Row(NamedTuple):
    """One row: the line on which it begins, its number of fields (0: a blank line), and returns outside quotes."""

    line: int
    fields: int
    has_stray_return: bool


class RowScanner:
    """Goes through the rows after the names, one by one.

    Once the rows were asked for, ``names`` are those of the columns, ``stated`` is the encoding that is stated, and
    ``first_not_utf8`` the first line, the names included, that is not in the expected encoding.
    """

    def __init__(
        self,
        path: Path,
        delimiter: str | None,
        encoding: str | None,
        limits: ReadLimits,
        progress: Progress,
        stage: str,
    ) -> None:
        self._path = path
        self._limits = limits
        self._progress = progress
        self._stage = stage
        self._delimiter = delimiter
        self._encoding = encoding
        self.names: tuple[bytes, ...] = ()
        self.stated: str | None = None
        self.first_not_utf8: int | None = None

    def rows(self) -> Iterator[Row]:
        """Yield the rows in order; raise `InputError` at zero bytes, an open quote or a row that is too long."""
        begin = 0
        delimiters = 0
        size = 0
        inside = False
        has_stray_return = False
        for number, line in self._lines():
            if not inside:
                if QUOTE not in line and len(line) <= self._limits.longest_row:
                    yield self._plain_row(number, line)
                    continue
                begin = number
                delimiters = 0
                size = 0
                has_stray_return = False
            size += len(line)
            if size > self._limits.longest_row:
                raise InputError(endless_row(self._path, begin, QUOTE if inside else line, self._limits))
            scanned = scan_line(line, self._separator, inside)
            inside = scanned.inside
            delimiters += scanned.delimiters
            has_stray_return = has_stray_return or scanned.has_stray_return
            if not inside:
                yield Row(begin, delimiters + 1, has_stray_return)
        if inside:
            raise InputError(endless_row(self._path, begin, QUOTE, self._limits))

    def _plain_row(self, number: int, line: bytes) -> Row:
        text = line[: -2 if line.endswith(b"\r\n") else -1]
        if not text:
            return Row(number, 0, False)
        return Row(number, text.count(self._separator) + 1, b"\r" in text)

    def _lines(self) -> Iterator[tuple[int, bytes]]:
        """Yield the lines after the names with their numbers, each with a line feed unless it is too long."""
        with TextStream(self._path, self._encoding) as stream:
            opening = read_opening(stream, self._delimiter, self._limits)
            self._separator = opening.delimiter.encode()
            self.names = opening.names
            self.stated = stream.stated
            for number, line in enumerate(opening.names_text.split(b"\n"), 1):
                self._check_encoding(number, line)
            number = opening.lines
            text = opening.rest
            while True:
                check_is_text(self._path, text, number + 1)
                *lines, text = text.split(b"\n")
                for line in lines:
                    number += 1
                    self._check_encoding(number, line)
                    yield number, line + b"\n"
                self._progress.update(self._stage, stream.fraction)
                more = stream.read(_READ_BYTES)
                if not more or len(text) > self._limits.longest_row:
                    break
                text += more
            if text:
                self._check_encoding(number + 1, text)
                yield number + 1, text + b"\n"

    def _check_encoding(self, number: int, line: bytes) -> None:
        if self.first_not_utf8 is None and find_wrong_byte(line, self.stated) is not None:
            self.first_not_utf8 = number


def find_row_errors(
    path: Path, delimiter: str | None, encoding: str | None, limits: ReadLimits, progress: Progress
) -> list[Finding]:
    """List the first rows that are wrong, and how many more there are, with the hints that reading would give.

    Raises `InputError` where a file cannot be read on.
    """
    scanner = RowScanner(
        path, delimiter, encoding, limits, progress, "Looking for the rows that are wrong"
    )
    findings: list[Finding] = []
    ragged = 0
    stray = 0
    blank = 0
    try:
        for row in scanner.rows():
            if not row.fields:
                blank += 1
            elif row.has_stray_return:
                stray += 1
                if stray <= REPORTED_ROWS:
                    findings.append(stray_return(path, row.line))
            elif row.fields != len(scanner.names):
                ragged += 1
                if ragged <= REPORTED_ROWS:
                    findings.append(_ragged_row(path, row, len(scanner.names)))
    except InputError as error:
        if any(finding.code == "not-text" for finding in error.findings):
            raise
        raise InputError([*findings, *error.findings]) from None
    if scanner.first_not_utf8 is not None:
        findings.append(explain_encoding(path, scanner.stated, scanner.first_not_utf8))
    for number, code, kind in (
        (ragged, "ragged-row", "have the wrong number of fields"),
        (stray, "line-ends", "have a carriage return outside quotes"),
    ):
        if number > REPORTED_ROWS:
            message = f"{number - REPORTED_ROWS:,} more rows {kind}."
            findings.append(Finding(code, message, file=str(path)))
    if blank:
        findings.append(blank_lines(path, blank))
    encoding = scanner.stated or ("utf-8" if scanner.first_not_utf8 is None else "iso8859-1")
    return [
        *findings,
        *find_wrong_names(path, [name.decode(encoding, "replace") for name in scanner.names]),
    ]


def _ragged_row(path: Path, row: Row, columns: int) -> Finding:
    message = f"The row has {format_count(row.fields, 'field')}, the names line has {columns:,}."
    remedy = "Look for a missing or extra delimiter, or put quotes around text that contains one."
    return Finding("ragged-row", message, remedy, file=str(path), row=row.line)


def count_blank_lines(
    path: Path, file_format: FileFormat, limits: ReadLimits, progress: Progress
) -> int:
    """Count the lines outside quotes that are empty."""
    scanner = RowScanner(
        path, file_format.delimiter, file_format.encoding, limits, progress, "Counting blank lines"
    )
    return sum(not row.fields for row in scanner.rows())


def locate_records(
    path: Path,
    file_format: FileFormat,
    positions: NDArray[np.int64],
    limits: ReadLimits,
    progress: Progress,
) -> NDArray[np.int64]:
    """Return the lines on which records begin, whose positions in the file (from 0) are given in ascending order."""
    scanner = RowScanner(
        path, file_format.delimiter, file_format.encoding, limits, progress, "Looking for the rows"
    )
    records = (row.line for row in scanner.rows() if row.fields)
    if file_format.category_line:
        next(records, None)
    if not positions.size:
        return np.zeros(0, np.int64)
    first = np.fromiter(islice(records, int(positions[-1]) + 1), np.int64)
    return first[positions]
