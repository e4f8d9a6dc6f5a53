"""Reading files back for verification. Shares no code with the writer.

What comes out is a 64-bit hash of every value. Files without quotes are cut by `blocks`; all others go through
pyarrow's CSV reader.
"""

from __future__ import annotations

import codecs
import gzip
import io
import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import IO, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pa_csv
import pyarrow.parquet as pa_parquet
from numpy.typing import NDArray

from vbas_desktop.io.parquet_batches import bounded_batches

from .blocks import Fields, Table, Unreadable, WholeLineEnds, borders_in, cut, fields_of, is_even, rows_of
from .tally import Hashes, hash_fields, hash_rows

BLOCK_BYTES = 1 << 19
ARROW_BLOCK_BYTES = 4 << 20
_SLOW_ROWS = 10_000
_MARK = b"\xef\xbb\xbf"
_LEAD = (
    r'^(?:[ \t\r\n\x0B\x0C"\xA0\xAD]|\xC2[\x85\xA0\xAD]|\xE1\x9A\x80|\xE1\xA0\x8E|'
    r"\xE2\x80[\x80-\x8F\xA8-\xAF]|\xE2\x81[\x9F-\xA9]|\xE3\x80\x80|\xEF\xBB\xBF)*"
)
"""Blanks, line breaks and quotes, and what else nobody sees, in UTF-8 and in encodings of one byte."""
_RUN = rf"^[\t\r]|{_LEAD}(?:[=@]|\xEF\xBC\x9D|\xEF\xBC\xA0)"
_SIGN = r"(?:[+-]|\xEF\xBC\x8B|\xEF\xBC\x8D)"
_SIGNED = rf"{_LEAD}{_SIGN}"
_NUMBER = rf"{_LEAD}{_SIGN}[ .,]*[0-9][0-9 .,]*$"


@dataclass(frozen=True)
class Stretch:
    """The bytes of a file from ``low`` up to ``high``."""

    low: int
    high: int


Batch = Hashes
"""The hashes of the values: a line for each column, in the order of the file."""


def read_csv(
    path: Path,
    delimiter: str,
    columns: int,
    compressed: bool = False,
    recode: str | None = None,
    escape: Collection[int] = (),
    needed: list[int] | None = None,
    part: Stretch | None = None,
) -> Iterator[Batch]:
    """A CSV file batch by batch, the row of names included; or a part of it, which `plain_parts` gave.

    Values are hashed byte by byte as they are in the file, or as UTF-8 if ``recode`` names the encoding they are in.
    Columns in ``escape`` are hashed as they would be with their formulas escaped. To ``needed`` goes how many quotes
    the values of each batch need.
    """
    if part is not None:
        yield from _plain(path, delimiter, columns, compressed, part)
        return
    wide = recode if recode is not None and read_wide(recode) else None
    quotes, bare_returns = _looked_through(path, compressed, wide)
    if not quotes and not bare_returns and not escape and recode is None:
        yield from _plain(path, delimiter, columns, compressed)
        return
    read = _slow(path, delimiter, columns, compressed, recode, wide) if bare_returns else None
    for values in read or _arrow(path, delimiter, columns, compressed, recode):
        if needed is not None:
            needed.append(_quotes_needed(values, delimiter))
        yield _stacked(values, escape)


def plain_parts(path: Path, number: int) -> list[Stretch | None]:
    """Stretches of complete rows that are read side by side, if rows end where lines do; else the file as a whole."""
    if any(_looked_through(path, False, None)):
        return [None]
    size, borders = path.stat().st_size, [0]
    with path.open("rb") as file:
        for place in range(1, number):
            file.seek(max(borders[-1], size * place // number))
            file.readline()
            borders.append(file.tell())
    return [Stretch(low, high) for low, high in pairwise([*borders, size]) if high > low]


def _quotes_needed(values: list[Any], delimiter: str) -> int:
    """Those in the values; twice and two around where one holds a quote, the delimiter or a line break."""
    special, total = f'["{re.escape(delimiter)}\r\n]', 0
    for column in values:
        inside = pc.count_substring(column, '"')
        around = pc.cast(pc.match_substring_regex(column, special), pa.int64())
        needed = pc.add(inside, pc.multiply(around, pc.add(inside, 2)))
        total += int(pc.sum(needed).as_py() or 0)
    if len(values) == 1:
        # An empty line would be no row.
        total += 2 * int(pc.sum(pc.cast(pc.equal(pc.binary_length(values[0]), 0), pa.int64())).as_py() or 0)
    return total


def quotes_in(path: Path) -> int:
    """How many quotes a file has."""
    with path.open("rb") as file:
        return sum(data.count(b'"') for data in iter(lambda: file.read(BLOCK_BYTES), b""))


def read_parquet(path: Path, escape: Collection[int] = ()) -> Iterator[Batch]:
    """A Parquet file as text, batch by batch, the names first."""
    names = [name.encode() for name in pa_parquet.read_schema(path).names]
    yield _stacked(pa.array([name], pa.binary()) for name in names)
    yield from hashed_batches(bounded_batches(path, 1 << 17), escape)


def hashed_batches(batches: Iterable[Any], escape: Collection[int] = ()) -> Iterator[Batch]:
    """Arrow batches as hashes of their texts."""
    for batch in batches:
        yield _stacked(map(as_text, batch.columns), escape)


def _stacked(texts: Iterable[Any], escape: Collection[int] = ()) -> Batch:
    return np.stack([hashes_of(escaped(text) if place in escape else text) for place, text in enumerate(texts)])


def hashes_of(column: Any) -> Hashes:
    """The hash of every value of a pyarrow binary array."""
    return _hashed(fields_of(column))


def _hashed(fields: Fields) -> Hashes:
    out = np.empty(fields.starts.size, np.uint64)
    hash_fields(fields.data, fields.starts, fields.ends, out)
    return out


def as_text(column: Any) -> Any:
    """A column of any type as bytes of its text; missing values are empty, as they are when records are loaded."""
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    if pa.types.is_floating(column.type):
        column = pc.if_else(pc.is_nan(column), pa.scalar(None, column.type), column)
    if pa.types.is_nested(column.type):
        return pa.array([repr(value).encode() for value in column.to_pylist()], pa.binary())
    if not pa.types.is_binary(column.type):
        column = pc.cast(column, pa.string())
    return pc.fill_null(pc.cast(column, pa.binary()), b"")


def escaped(column: Any) -> Any:
    """The column with an apostrophe before everything that a spreadsheet might run."""
    runs = pc.match_substring_regex(column, _RUN)
    signed = pc.and_not(pc.match_substring_regex(column, _SIGNED), pc.match_substring_regex(column, _NUMBER))
    apostrophe, nothing = pa.scalar(b"'", pa.binary()), pa.scalar(b"", pa.binary())
    return pc.if_else(pc.or_(runs, signed), pc.binary_join_element_wise(apostrophe, column, nothing), column)


def read_wide(encoding: str) -> bool:
    """Whether values in this encoding are compared as UTF-8 (else byte by byte, as they are in the file)."""
    single = ("utf-8", "utf8", "ascii", "us-ascii", "latin", "iso8859", "iso-8859", "cp125", "windows-125")
    return not encoding.lower().replace("_", "-").startswith(single)


def _bytes(path: Path, compressed: bool, recode: str | None = None, part: Stretch | None = None) -> IO[bytes]:
    """The bytes of the file, or of a part of it; as UTF-8 if ``recode`` names the encoding they are in."""
    if part is not None:
        return _Part(path, part)  # type: ignore[return-value]
    if recode is not None:
        return codecs.EncodedFile(_bytes(path, compressed), "utf-8", recode)  # type: ignore[return-value]
    return gzip.open(path, "rb") if compressed else path.open("rb")  # type: ignore[return-value]


class _Part(io.FileIO):
    """A stretch of a file, as if it were all of it."""

    def __init__(self, path: Path, part: Stretch) -> None:
        super().__init__(path)
        self.seek(part.low)
        self._left = part.high - part.low

    def read(self, size: int | None = -1) -> bytes:
        """The next bytes, so many at most."""
        data = super().read(self._left if size is None or size < 0 else min(size, self._left)) or b""
        self._left -= len(data)
        return data


def _looked_through(path: Path, compressed: bool, wide: str | None) -> tuple[bool, bool]:
    """Whether there are quotes, and returns that are no part of a line end, where pyarrow would end a row."""
    last = b""
    quotes, line_feeds, returns, pairs = False, False, 0, 0
    with _bytes(path, compressed, wide) as file:
        while data := file.read(BLOCK_BYTES):
            # A zero byte is no part of a text, which `blocks` insists on; pyarrow takes it like any other.
            quotes = quotes or b'"' in data or b"\0" in data
            line_feeds = line_feeds or b"\n" in data
            if b"\r" in data or last == b"\r":
                returns += data.count(b"\r")
                pairs += data.count(b"\r\n") + (last == b"\r" and data[:1] == b"\n")
            last = data[-1:]
    # Without any line feed, returns are the line ends, which pyarrow knows too.
    return quotes or not line_feeds, returns != pairs and line_feeds


def _plain(path: Path, delimiter: str, columns: int, compressed: bool, part: Stretch | None = None) -> Iterator[Batch]:
    table = Table(delimiter, columns, range(columns), 0)
    with _bytes(path, compressed, part=part) as file:
        for rows in rows_of(file, table):
            hashes = _hashed_rows(rows, table)
            if table.ragged:
                raise Unreadable("the rows do not have the same number of fields")
            yield hashes


def _hashed_rows(rows: NDArray[np.uint8] | list[Fields], table: Table) -> Batch:
    """All columns of a block."""
    if not isinstance(rows, list):
        borders, lines = borders_in(rows, table)
        if is_even(rows, borders, lines, table.width):
            table.lines += lines
            hashes = np.empty((table.width, lines), np.uint64)
            hash_rows(rows, borders, hashes)
            return hashes
        rows = cut(rows, borders, lines, table)
    return np.stack([_hashed(each) for each in rows])


def _arrow(path: Path, delimiter: str, columns: int, compressed: bool, recode: str | None) -> Iterator[list[Any]]:
    names = [f"f{place}" for place in range(columns)]
    with _bytes(path, compressed, recode) as file:
        try:
            reader = pa_csv.open_csv(
                pa.PythonFile(WholeLineEnds(file), "r"),
                read_options=pa_csv.ReadOptions(
                    block_size=ARROW_BLOCK_BYTES,
                    autogenerate_column_names=True,
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


def _slow(
    path: Path, delimiter: str, columns: int, compressed: bool, recode: str | None, wide: str | None
) -> Iterator[list[Any]]:
    """The same by a plain pattern: rows end with LF or CR LF only."""
    mark = re.escape(delimiter.encode())
    field = re.compile(
        rb'(?:"((?:[^"]|"")*+)"([^' + mark + rb'\n]*)|((?!")[^' + mark + rb"\n]*))(" + mark + rb"|\n|\Z)"
    )
    with _bytes(path, compressed, wide) as file:
        yield from _slow_batches(_fields(file, field, delimiter.encode()), columns, None if wide else recode)


def _slow_batches(fields: Iterator[tuple[bytes, bool, bool]], columns: int, recode: str | None) -> Iterator[list[Any]]:
    rows: list[list[bytes]] = []
    row: list[bytes] = []
    for value, quoted, ends_row in fields:
        row.append(value if recode is None else value.decode(recode).encode())
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


def _fields(file: IO[bytes], field: re.Pattern[bytes], delimiter: bytes) -> Iterator[tuple[bytes, bool, bool]]:
    """Each field's value, whether it was quoted, and whether it ends its row; a piece of the file at a time."""
    data, place, more = file.read(BLOCK_BYTES).removeprefix(_MARK), 0, True
    while place < len(data) or more:
        found = field.match(data, place)
        if more and (found is None or found.end() == len(data)):
            piece = file.read(BLOCK_BYTES)
            more = bool(piece)
            # The last row may lack its line end; with one it is read like all others.
            data, place = data[place:] + (piece or (b"" if data.endswith(b"\n") else b"\n")), 0
            continue
        if found is None:
            raise Unreadable("a quote is not closed")
        quoted, after, plain, end = found.groups()
        value = plain if quoted is None else quoted.replace(b'""', b'"') + after
        place = found.end()
        strip = end == b"\n" and (quoted is None or after.endswith(b"\r"))
        yield (value.removesuffix(b"\r") if strip else value), quoted is not None, end != delimiter


def _arrays(rows: list[list[bytes]], columns: int) -> list[Any]:
    if any(len(row) != columns for row in rows):
        raise Unreadable("the rows do not have the same number of fields")
    return [pa.array([row[place] for row in rows], pa.binary()) for place in range(columns)]
