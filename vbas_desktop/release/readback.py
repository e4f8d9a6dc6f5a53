"""Reading files back for verification. Shares no code with the writer: pyarrow's reader, values instead of bytes."""

from __future__ import annotations

import gzip
import re
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.parquet as pa_parquet

BLOCK_BYTES = 4 << 20
_SLOW_ROWS = 10_000

Columns = list[Any]
"""One pyarrow binary array per column."""


class Unreadable(Exception):
    """The file cannot be read as the table that it should be."""


def read_csv(
    path: Path, delimiter: str, columns: int, compressed: bool = False, encoding: str = "utf-8"
) -> Iterator[Columns]:
    """The values of a CSV file as bytes, batch by batch, the row of names included; see `read_wide` for encodings."""
    if _has_bare_returns(path, compressed):
        yield from _slow(path, delimiter, columns, compressed)
        return
    names = [f"f{place}" for place in range(columns)]
    with _opened(path, compressed) as file:
        try:
            reader = pa_csv.open_csv(
                file,
                read_options=pa_csv.ReadOptions(
                    block_size=BLOCK_BYTES,
                    autogenerate_column_names=True,
                    encoding=encoding if read_wide(encoding) else "utf8",
                ),
                parse_options=pa_csv.ParseOptions(delimiter=delimiter, newlines_in_values=True),
                convert_options=pa_csv.ConvertOptions(
                    column_types=dict.fromkeys(names, pa.binary()), strings_can_be_null=False
                ),
            )
            for batch in reader:
                if batch.num_columns != columns:
                    raise Unreadable(f"{batch.num_columns} columns instead of {columns}")
                yield batch.columns
        except pa.ArrowInvalid:
            raise Unreadable("the rows do not have the same number of fields") from None


def read_parquet(path: Path) -> Iterator[tuple[list[str], Columns]]:
    """The names and values of a Parquet file as text, batch by batch."""
    with pa_parquet.ParquetFile(path) as file:
        names = file.schema_arrow.names
        for batch in file.iter_batches(batch_size=1 << 17):
            yield names, [as_text(column) for column in batch.columns]


def as_text(column: Any) -> Any:
    """A column of any type as bytes of its text; missing values are empty, as they are when records are loaded."""
    import pyarrow.compute as pc

    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    if not pa.types.is_binary(column.type):
        column = pc.cast(column, pa.string())
    return pc.fill_null(pc.cast(column, pa.binary()), b"")


def read_wide(encoding: str) -> bool:
    """Whether values in this encoding are compared as UTF-8 (else byte by byte, as they are in the file)."""
    single = ("utf-8", "utf8", "ascii", "us-ascii", "latin", "iso8859", "iso-8859", "cp125", "windows-125")
    return not encoding.lower().replace("_", "-").startswith(single)


def _opened(path: Path, compressed: bool) -> Any:
    return pa.input_stream(str(path), compression="gzip" if compressed else None)


def _bytes(path: Path, compressed: bool) -> IO[bytes]:
    return gzip.open(path, "rb") if compressed else path.open("rb")  # type: ignore[return-value]


def _has_bare_returns(path: Path, compressed: bool) -> bool:
    """Whether there are carriage returns that are no part of a line end: pyarrow would end rows there."""
    last = b""
    line_feeds = returns = pairs = 0
    with _bytes(path, compressed) as file:
        while data := file.read(BLOCK_BYTES):
            found = data.count(b"\r")
            if found or last == b"\r":
                returns += found
                pairs += data.count(b"\r\n") + (last == b"\r" and data[:1] == b"\n")
            line_feeds += b"\n" in data
            last = data[-1:]
    return returns != pairs and line_feeds > 0


def _slow(path: Path, delimiter: str, columns: int, compressed: bool) -> Iterator[Columns]:
    """The same by a plain pattern: rows end with LF or CR LF only."""
    mark = re.escape(delimiter.encode())
    field = re.compile(rb'(?:"((?:[^"]|"")*)"([^' + mark + rb"\n]*)|([^" + mark + rb"\n]*))(" + mark + rb"|\n|\Z)")
    rows: list[list[bytes]] = []
    row: list[bytes] = []
    for value, quoted, ends_row in _fields(path, field, delimiter.encode(), compressed):
        row.append(value)
        if not ends_row:
            continue
        if row != [b""] or quoted:
            rows.append(row)
        row = []
        if len(rows) == _SLOW_ROWS:
            yield _arrays(rows, columns)
            rows = []
    if rows:
        yield _arrays(rows, columns)


def _fields(
    path: Path, field: re.Pattern[bytes], delimiter: bytes, compressed: bool
) -> Iterator[tuple[bytes, bool, bool]]:
    """Each field's value, whether it was quoted, and whether it ends its row; a piece of the file at a time."""
    with _bytes(path, compressed) as file:
        data, place, more = file.read(BLOCK_BYTES).removeprefix(b"\xef\xbb\xbf"), 0, True
        while place < len(data) or more:
            found = field.match(data, place)
            if more and (found is None or found.end() == len(data)):
                piece = file.read(BLOCK_BYTES)
                data, place, more = data[place:] + piece, 0, bool(piece)
                continue
            if found is None:
                raise Unreadable("a quote is not closed")
            quoted, after, plain, end = found.groups()
            value = plain if quoted is None else quoted.replace(b'""', b'"') + after
            place = found.end()
            strip = end == b"\n" and (quoted is None or after.endswith(b"\r"))
            yield (value.removesuffix(b"\r") if strip else value), quoted is not None, end != delimiter


def _arrays(rows: list[list[bytes]], columns: int) -> Columns:
    if any(len(row) != columns for row in rows):
        raise Unreadable("the rows do not have the same number of fields")
    return [pa.array([row[place] for row in rows], pa.binary()) for place in range(columns)]


def buffers(column: Any) -> tuple[np.ndarray, np.ndarray]:  # type: ignore[type-arg]
    """The offsets and the bytes of a binary array."""
    _, offsets, data = column.buffers()
    places = np.frombuffer(offsets, np.int32)[column.offset : column.offset + len(column) + 1]
    return places, np.frombuffer(data, np.uint8) if data is not None and data.size else np.zeros(1, np.uint8)
