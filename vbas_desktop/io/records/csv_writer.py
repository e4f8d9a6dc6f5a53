"""Write rows as CSV: every distinct value is quoted and encoded once, and Arrow joins the rows from these fields."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from vbas_desktop.model.findings import Finding, InputError

from ..hashing import HashingWriter
from .row_chunks import ReleasedColumn, RowChunk, divide_rows, prepare_ahead

BYTES_PER_CHUNK = 16 << 20
MOST_COMBINATIONS = 1 << 15
"""Neighbouring columns with at most so many combinations of values are joined once for each, not row by row."""


@dataclass(frozen=True)
class CsvFormat:
    """The form of a CSV file that is written.

    has_mark: it begins with the byte-order mark of UTF-8.
    quotes_all: every field is quoted, not only those in which a reader needs it.
    """

    delimiter: str = ","
    encoding: str = "utf-8"
    line_end: str = "\n"
    has_mark: bool = False
    quotes_all: bool = False


def write_csv(
    out: HashingWriter,
    columns: Sequence[ReleasedColumn],
    chunks: Iterable[RowChunk],
    file_format: CsvFormat,
) -> int:
    """Write the names of the columns and the rows of the chunks, and return the number of rows.

    The data buffer of a chunk that Arrow joined is the text of its rows, so no row becomes a Python object.
    """
    rows = _RowTexts(columns, file_format)
    if file_format.has_mark:
        out.write(codecs.BOM_UTF8)
    out.write(rows.header)
    written = 0
    for number, text in prepare_ahead(rows.join, divide_rows(columns, chunks, BYTES_PER_CHUNK)):
        out.write(text)
        written += number
    return written


class _RowTexts:
    """Joins the text of rows."""

    def __init__(self, columns: Sequence[ReleasedColumn], file_format: CsvFormat) -> None:
        self._columns = columns
        self._format = file_format
        self._separator = pa.scalar(file_format.delimiter.encode(file_format.encoding), pa.binary())
        self._line_end = pa.scalar(file_format.line_end.encode(file_format.encoding), pa.binary())
        self._parts = list(self._combine_columns())

    def _combine_columns(self) -> Iterator[_JoinedColumns | int]:
        """Yield the parts of a row: coded columns, or the number of a column whose values come with the rows."""
        joined: _JoinedColumns | None = None
        for number, column in enumerate(self._columns):
            if column.codes is None:
                if joined is not None:
                    yield joined
                    joined = None
                yield number
                continue
            fields = self._encode(column.values, number)
            if joined is not None and len(joined.fields) * len(fields) <= MOST_COMBINATIONS:
                joined = joined.append(column, fields, self._separator)
                continue
            if joined is not None:
                yield joined
            joined = _JoinedColumns(fields, (column,), (1,))
        if joined is not None:
            yield joined

    def _encode(self, values: Any, number: int) -> Any:
        """Return the field of each value of a column; those of the last column with the end of the line."""
        name = self._columns[number].name
        fields = encode_fields(as_text(values, name), self._format, name)
        if len(self._columns) == 1:
            # An empty line would be no row.
            fields = pc.if_else(
                pc.equal(pc.binary_length(fields), 0), pa.scalar(b'""', pa.binary()), fields
            )
        if number == len(self._columns) - 1:
            fields = pc.binary_join_element_wise(fields, self._line_end, pa.scalar(b"", pa.binary()))
        return fields

    @property
    def header(self) -> bytes:
        """The line of names."""
        names = (
            encode_fields(pa.array([column.name]), self._format, column.name) for column in self._columns
        )
        line: bytes = self._separator.as_py().join(name[0].as_py() for name in names)
        return line + self._line_end.as_py()

    def join(self, chunk: RowChunk) -> tuple[int, Any]:
        """Return the number of rows of a chunk, and their text as a buffer."""
        arrays = iter(chunk.arrays)
        parts = []
        for part in self._parts:
            if isinstance(part, int):
                parts.append(self._encode(next(arrays), part))
            else:
                parts.append(pc.take(part.fields, pa.array(part.find(chunk.rows)), boundscheck=False))
        return len(chunk), pc.binary_join_element_wise(*parts, self._separator).buffers()[2]


@dataclass(frozen=True, eq=False)
class _JoinedColumns:
    """Neighbouring coded columns, with the joined fields of every combination of their values.

    sizes: the number of values of each column but the first, whose entry means nothing.
    """

    fields: Any
    columns: tuple[ReleasedColumn, ...]
    sizes: tuple[int, ...]

    def append(self, column: ReleasedColumn, fields: Any, separator: Any) -> _JoinedColumns:
        """Join a further column to these."""
        number = len(fields)
        left = pc.take(self.fields, pa.array(np.repeat(np.arange(len(self.fields)), number)))
        right = pc.take(fields, pa.array(np.tile(np.arange(number), len(self.fields))))
        joined = pc.binary_join_element_wise(left, right, separator)
        return _JoinedColumns(joined, (*self.columns, column), (*self.sizes, number))

    def find(self, rows: NDArray[np.integer]) -> NDArray[np.integer]:
        """Return the number of the combination of each record."""
        first, *others = self.columns
        assert first.codes is not None
        numbers = first.codes(rows)
        if others:
            numbers = numbers.astype(np.int32)
        for column, size in zip(others, self.sizes[1:], strict=True):
            assert column.codes is not None
            numbers *= size
            numbers += column.codes(rows)
        return numbers


def as_text(values: Any, column: str) -> Any:
    """Return Arrow values as text; missing values and NaN are empty, as they are when records are loaded."""
    kind = values.type
    if pa.types.is_nested(kind):
        raise InputError(_not_text(column, "structured"))
    if pa.types.is_floating(kind):
        values = pc.if_else(pc.is_nan(values), pa.scalar(None, kind), values)
    try:
        return pc.fill_null(values.cast(pa.string()), "")
    except pa.ArrowInvalid:
        raise InputError(_not_text(column, "binary")) from None


def _not_text(column: str, kind: str) -> Finding:
    message = f"The column holds {kind} values, which CSV cannot hold."
    return Finding("no-text", message, "Release as Parquet, or leave the column out.", column=column)


def encode_fields(texts: Any, file_format: CsvFormat, column: str) -> Any:
    """Return the field of each text (Arrow arrays): quoted where a reader needs it, in the encoding of the file."""
    quoted = pc.binary_join_element_wise('"', pc.replace_substring(texts, '"', '""'), '"', "")
    if file_format.quotes_all:
        fields = quoted
    else:
        special = pc.match_substring_regex(texts, f'["\r\n{re.escape(file_format.delimiter)}]')
        fields = pc.if_else(special, quoted, texts)
    if codecs.lookup(file_format.encoding).name == "utf-8":
        return fields.cast(pa.binary())
    try:
        return pa.array(
            [field.encode(file_format.encoding) for field in fields.to_pylist()], pa.binary()
        )
    except UnicodeEncodeError:
        message = f"A name or label cannot be written in {file_format.encoding}, the encoding of the record file."
        remedy = "Use plain letters, or save the record file as UTF-8."
        raise InputError(Finding("release-option", message, remedy, column=column)) from None
