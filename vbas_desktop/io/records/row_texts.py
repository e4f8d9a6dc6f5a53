"""The rows of a loaded record file once more, as text: for jobs that need whole rows or a column that is not coded."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from vbas_desktop.model.errors import InputError, refusal
from vbas_desktop.model.file_format import Dialect
from vbas_desktop.model.records import RecordTable

from .bits import PADDING
from .parquet import parquet_rows
from .stream import ByteStream
from .tokens import CONSUMED, RAGGED, ROWS, tokenise


def row_texts(table: RecordTable) -> Iterator[list[str]]:
    """Every considered record as the list of its fields, in file order, without names and category numbers.

    Raises `InputError` if the file is not the file any more that was loaded (told after the last row).
    """
    if table.source.elsewhere:
        return _loaded_rows(table)
    return _checked(table, table.dialect.header)


def _loaded_rows(table: RecordTable) -> Iterator[list[str]]:
    """The records of an address, which are all in memory."""
    columns = [coded_texts(table, name) for name in table.dialect.header]
    for record in range(table.rows):
        yield [str(texts[codes[record]]) for codes, texts in columns]


def _checked(table: RecordTable, names: Sequence[str]) -> Iterator[list[str]]:
    """The rows; of a Parquet file only these columns, of text all of them."""
    parquet = table.dialect.format == "parquet"
    skipped = int(table.dialect.category_line) + (not parquet)
    number = -skipped
    considered = table.considered
    for row in _parquet_rows(table, names) if parquet else _text_rows(table):
        number += 1
        if number > table.file_rows:
            raise _changed(table)
        if number > 0 and (considered is None or considered[number - 1]):
            yield row
    if number != table.file_rows:
        raise _changed(table)


def _parquet_rows(table: RecordTable, names: Sequence[str]) -> Iterator[list[str]]:
    path = Path(table.source.path)
    yield from parquet_rows(path, names)
    with path.open("rb") as file:
        if hashlib.file_digest(file, "sha256").hexdigest() != table.source.sha256:
            raise _changed(table)


def _text_rows(table: RecordTable) -> Iterator[list[str]]:
    """All rows of a text file, the names first, through the same bytes and the same rules as when it was loaded."""
    dialect = table.dialect
    with ByteStream(Path(table.source.path), dialect.encoding) as stream:
        rest = b""
        for block in chain(stream.blocks(), (b"",)):
            if not block and rest and not rest.endswith(b"\n"):
                block = b"\n"
            data = rest + block
            encoding = stream.scanned or "utf-8"
            if b'"' in data:
                rows, used = _quoted_rows(data, dialect, encoding)
            else:
                rows, used = _plain_rows(data, dialect, encoding)
            if rows is None:
                raise _changed(table)
            yield from rows
            rest = data[used:]
        if rest or stream.source() != replace(table.source, selection=""):
            raise _changed(table)


def _plain_rows(data: bytes, dialect: Dialect, encoding: str) -> tuple[list[list[str]] | None, int]:
    """The complete rows of text without quotes and where they end; None if a row has another number of fields."""
    end, width = data.rfind(b"\n") + 1, len(dialect.header)
    lines = (line.removesuffix("\r") for line in data[:end].decode(encoding, "replace").split("\n"))
    rows = [line.split(dialect.delimiter or ",") for line in lines if line]
    return rows if all(len(row) == width for row in rows) else None, end


def _quoted_rows(data: bytes, dialect: Dialect, encoding: str) -> tuple[list[list[str]] | None, int]:
    """As `_plain_rows`, for text with quotes."""
    delimiter, width = (dialect.delimiter or ",").encode(), len(dialect.header)
    end, lines = data.rfind(b"\n") + 1, data.count(b"\n")
    text = np.frombuffer(bytearray(data) + bytes(PADDING), np.uint8)
    starts = np.empty(lines + data.count(delimiter) + width, np.int32)
    ends, row_lines = np.empty_like(starts), np.empty(lines + 1, np.int32)
    report = np.zeros(6, np.int64)
    tokenise(text, end, ord(delimiter), width, starts, ends, row_lines, np.zeros((0, 2), np.int64), report)
    if report[RAGGED]:
        return None, 0
    raw, fields = text.tobytes(), int(report[ROWS]) * width
    places = zip((starts[:fields] + 1).tolist(), ends[:fields].tolist(), strict=True)
    texts = [raw[start:stop].decode(encoding, "replace") for start, stop in places]
    return [texts[first : first + width] for first in range(0, fields, width)], int(report[CONSUMED])


def column_texts(table: RecordTable, name: str) -> NDArray[np.str_]:
    """The text of one column in every record; read from the file again where the column has too many values to code."""
    facts = table.facts(name)
    if facts.categories is not None:
        return np.array(facts.categories.values)[table.codes(name)]
    if table.source.elsewhere:
        codes, texts = coded_texts(table, name)
        return texts[codes]
    if table.dialect.format == "parquet":
        return np.array([row[0] for row in _checked(table, [name])], np.str_)
    place = table.dialect.header.index(name)
    return np.array([row[place] for row in row_texts(table)], np.str_)


def coded_texts(table: RecordTable, name: str) -> tuple[NDArray[np.integer], NDArray[np.str_]]:
    """One column as a code of each record and the texts the codes stand for, whether or not it was coded on loading."""
    facts = table.facts(name)
    if facts.categories is not None:
        return table.codes(name), np.array(facts.categories.values, np.str_)
    if table.source.elsewhere:
        return _loaded_texts(table, name)
    texts, codes = np.unique(column_texts(table, name), return_inverse=True)
    return codes, texts


def _changed(table: RecordTable) -> InputError:
    return refusal("input-changed", "The file changed since it was loaded.", "Load it again.", file=table.source.path)


def _loaded_texts(table: RecordTable, name: str) -> tuple[NDArray[np.integer], NDArray[np.str_]]:
    """The same of a column of an address; refused if its values have no text."""
    if name not in table.texts:
        message = "The column holds structured or binary values, which have no text."
        raise refusal("uncodable-column", message, "Leave the column out.", file=table.source.path, column=name)
    found = table.texts[name]
    ordered, code_of = np.unique(np.array(found.dictionary.to_pylist(), np.str_), return_inverse=True)
    return code_of[np.asarray(found.indices)], ordered
