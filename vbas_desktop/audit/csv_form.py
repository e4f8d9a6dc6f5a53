"""Compare the marks of a CSV file with those that its values need, and find rows with too few or no fields."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from itertools import chain, compress
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .csv_stream import CsvStream, MarkCounts, UnreadableFile

_END = "\x1cend\x1c"


class MeasuredValues:
    """Space that the values of a CSV file take: bytes, marks inside values, and quotes around those that need them."""

    def __init__(self, delimiter: str, width: int) -> None:
        self._delimiter = delimiter
        self._width = width
        self._special = re.compile(f'[{re.escape(delimiter)}"\r\n]')
        self.inside = MarkCounts()
        self.quoted = 0
        self.empty_rows = 0

    def add(self, codes: NDArray[np.integer[Any]], texts: Sequence[str]) -> None:
        """Add values: those of a column in a chunk, as codes of its distinct texts."""
        times = np.bincount(codes, minlength=len(texts))
        joined = "".join(texts)
        if joined.isascii():
            lengths = np.fromiter(map(len, texts), np.int64, len(texts))
        else:
            sizes = (len(text.encode("utf-8", "surrogateescape")) for text in texts)
            lengths = np.fromiter(sizes, np.int64, len(texts))
        self.inside.size += int(lengths @ times)
        if self._width == 1:
            # An empty value of the only column stands in quotes: an empty line would be no row.
            self.empty_rows += int(times[lengths == 0].sum())
        if self._special.search(joined):
            has_marks = [self._special.search(text) is not None for text in texts]
            self._add_marks(list(compress(texts, has_marks)), times[has_marks].tolist())

    def _add_marks(self, texts: Sequence[str], times: Sequence[int]) -> None:
        inside = self.inside
        for text, number in zip(texts, times, strict=True):
            inside.delimiters += number * text.count(self._delimiter)
            inside.line_feeds += number * text.count("\n")
            inside.returns += number * text.count("\r")
            inside.quotes += number * text.count('"')
            self.quoted += number


@dataclass(frozen=True)
class ExpectedForm:
    """Required format of a released CSV file; ``quotes_all``: all values are quoted, not only where it is needed."""

    has_mark: bool
    newline: bytes
    quotes_all: bool = False


def find_fault(
    stream: CsvStream, measured: MeasuredValues, rows: int, width: int, form: ExpectedForm
) -> str:
    """Say in which way a CSV file of ``rows`` rows, the names included, is not written as it should be; empty: none.

    Every byte is accounted for: it belongs to a value, or it is a delimiter, a line end or a quote that is needed.
    """
    counts = stream.counts
    inside = measured.inside
    feeds = rows if b"\n" in form.newline else 0
    returns = rows if b"\r" in form.newline else 0
    quoted = rows * width if form.quotes_all else measured.quoted + measured.empty_rows
    quotes = 2 * (inside.quotes + quoted)
    expected_size = (
        inside.size + rows * (width - 1) + rows * len(form.newline) + counts.quotes - inside.quotes
    )
    if stream.has_mark != form.has_mark:
        return "a byte-order mark" if stream.has_mark else "no byte-order mark"
    if stream.empty_lines:
        return "empty lines above the names"
    if counts.delimiters != rows * (width - 1) + inside.delimiters:
        return "rows without all their delimiters"
    if counts.line_feeds != feeds + inside.line_feeds or counts.returns != returns + inside.returns:
        return "other line ends"
    if counts.quotes != quotes:
        return "too few quotes" if form.quotes_all else "quotes where none are needed"
    if counts.size != expected_size:
        return "bytes that belong to no value"
    return ""


@dataclass(frozen=True, eq=False)
class RowScan:
    """Result of a slow reading: the rows that are empty lines, counted from 0, and rows with a wrong number of fields.

    ``first_line`` is the line of the first of these, counted from 1.
    """

    empty: NDArray[np.int64]
    ragged: int
    first_line: int | None


def read_top_rows(
    path: Path, delimiter: str, encoding: str, compressed: bool, rows_left: int
) -> list[list[str]]:
    """Read the top of a CSV file up to the last of ``rows_left`` rows that are not empty."""
    rows = []
    with closing(CsvStream(path, delimiter, encoding, compressed, lambda number: None)) as stream:
        try:
            for row in csv.reader(_lines(stream), delimiter=delimiter):
                rows.append(row)
                rows_left -= bool(row)
                if not rows_left:
                    break
        except csv.Error:
            raise UnreadableFile("it cannot be cut into rows") from None
    return rows


def _lines(stream: CsvStream) -> io.TextIOWrapper:
    buffered = io.BufferedReader(stream)  # type: ignore[arg-type]
    return io.TextIOWrapper(buffered, "utf-8", "surrogateescape", newline="")


def find_empty_lines(path: Path, delimiter: str, encoding: str, compressed: bool, width: int) -> RowScan:
    """Read a CSV file row by row with Python's reader."""
    empty = []
    ragged = 0
    first_line = None
    with closing(CsvStream(path, delimiter, encoding, compressed, lambda number: None)) as stream:
        # An open quote swallows the row that is added at the end.
        reader = csv.reader(chain(_lines(stream), [_END]), delimiter=delimiter)
        try:
            line = 1
            is_closed = False
            for number, row in enumerate(reader):
                is_closed = row == [_END]
                if is_closed:
                    break
                if not row:
                    empty.append(number)
                elif len(row) != width:
                    ragged += 1
                    first_line = first_line or line + stream.empty_lines
                line = reader.line_num + 1
        except csv.Error:
            is_closed = False
        if not is_closed:
            raise UnreadableFile("a quote is not closed")
    return RowScan(np.array(empty, np.int64), ragged, first_line)
