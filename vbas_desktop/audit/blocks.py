"""The auditor's cutter: the fields of some columns of a written file, block after block.

As long as a file has neither quotes nor lone returns, its rows are cut at delimiters and line ends, which needs a few
lines of code. From the first block on that has one, Arrow's CSV parser reads the rest. Nothing here is shared with the
loader or with whatever wrote the file.
"""

from __future__ import annotations

import io
import sys
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from vbas_desktop.algorithms.compiled import compiled

from .words import list_borders

Places = NDArray[np.int32]

BLOCK_BYTES = 1 << 19
"""Small enough to stay in the processor's cache from step to step."""
ARROW_BLOCK_BYTES = 8 << 20
"""Arrow refuses rows that are longer than this."""
LONGEST_ROW_BYTES = 64 << 20
_MARK = b"\xef\xbb\xbf"
_END = "\x1cend\x1c"


class Unreadable(Exception):
    """This is not text in rows."""


@dataclass(frozen=True, eq=False)
class Fields:
    """One column of a block: field i is ``data[starts[i]:ends[i]]``."""

    data: NDArray[np.uint8]
    starts: Places
    ends: Places


@dataclass
class Table:
    """How the file is cut: ``skipped`` rows at its top are no records. Rows of another width are noted, not read."""

    delimiter: str
    width: int
    wanted: Sequence[int]
    skipped: int
    lines: int = 0
    ragged: int = 0
    first_ragged: int | None = None

    def note_ragged(self, number: int, line: int | None) -> None:
        """Count rows with too many or too few fields; ``line`` is that of the first of them."""
        if number and not self.ragged:
            self.first_ragged = line
        self.ragged += number


def blocks_of(file: IO[bytes], table: Table) -> Iterator[list[Fields]]:
    """The wanted columns of each block."""
    for block in rows_of(file, table):
        yield block if isinstance(block, list) else cut(block, *borders_in(block, table), table)


def rows_of(file: IO[bytes], table: Table) -> Iterator[NDArray[np.uint8] | list[Fields]]:
    """The bytes of complete rows, block after block; from the first quote or lone return on the wanted columns."""
    whole = WholeLineEnds(file, text_only=True)
    rest, begun = b"", False
    while True:
        piece = whole.read(max(BLOCK_BYTES, len(rest)))
        data = rest + piece
        if not begun:
            # Blank lines above the names are nothing; Arrow would count them among the rows to skip.
            data = data.removeprefix(_MARK).lstrip(b"\r\n")
            begun = bool(data)
        if b'"' in data or (b"\r" in data and _has_lone_return(np.frombuffer(data, np.uint8))):
            yield from _by_arrow(data, whole, table)
            return
        if not piece and data and not data.endswith(b"\n"):
            data += b"\n"
        end = data.rfind(b"\n") + 1
        rest = data[end:]
        if len(rest) > LONGEST_ROW_BYTES:
            raise Unreadable("a row does not end")
        if end:
            yield np.frombuffer(data, np.uint8, end)
        if not piece:
            return


class WholeLineEnds(io.RawIOBase):
    """A file whose pieces never end with a return: Arrow drops a line feed that a piece begins with after one."""

    def __init__(self, file: IO[bytes], text_only: bool = False) -> None:
        self._file, self._text_only = file, text_only

    def readable(self) -> bool:
        """It is."""
        return True

    def read(self, size: int = -1) -> bytes:
        """The next piece, of so many bytes or one less."""
        data = self._file.read(size - 1 if size > 1 else size)
        if self._text_only and b"\0" in data:
            # No text has it, and Arrow would lose rows behind it.
            raise Unreadable("this is not text")
        return data + self._file.read(1) if data.endswith(b"\r") else data


class _Joined(io.RawIOBase):
    """What was read already, the rest of the file, and some more rows; pieces are full, since Arrow refuses short ones.

    No piece ends with a return, as above.
    """

    def __init__(self, data: bytes, file: WholeLineEnds, more: bytes) -> None:
        self._parts: list[io.RawIOBase] = [WholeLineEnds(io.BytesIO(data), text_only=True), file, io.BytesIO(more)]  # type: ignore[list-item]

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        pieces: list[bytes] = []
        while self._parts and size > 1:
            if data := self._parts[0].read(size):
                pieces.append(data)
                size -= len(data)
            else:
                del self._parts[0]
        return b"".join(pieces)


def _has_lone_return(data: NDArray[np.uint8]) -> bool:
    returns = data == 13
    return bool(returns[-1] or (returns[:-1] & (data[1:] != 10)).any())


def borders_in(data: NDArray[np.uint8], table: Table) -> tuple[Places, int]:
    """Where the delimiters and line feeds are, and how many of these there are."""
    room = np.empty(data.size, np.int32)
    found, lines = list_borders(data, ord(table.delimiter), room)
    return room[:found], int(lines)


def cut(data: NDArray[np.uint8], borders: Places, lines: int, table: Table) -> list[Fields]:
    """The wanted columns of complete rows."""
    wanted = np.array(table.wanted, np.int64)
    if not table.skipped and is_even(data, borders, lines, table.width):
        table.lines += lines
        return _even_fields(data, borders.reshape(lines, table.width), wanted)
    starts = np.empty((wanted.size, lines), np.int32)
    ends = np.empty_like(starts)
    rows, skipped, ragged, first = cut_rows(data, borders, table.width, wanted, table.skipped, starts, ends)
    table.note_ragged(ragged, table.lines + first)
    table.lines += starts.shape[1]
    table.skipped -= skipped
    return [Fields(data, starts[slot, :rows], ends[slot, :rows]) for slot in range(wanted.size)]


def _even_fields(data: NDArray[np.uint8], borders: Places, wanted: NDArray[np.int64]) -> list[Fields]:
    """The fields of even rows, whose borders are the rows of a matrix."""
    after = borders.ravel() + np.int32(1)
    width, first = borders.shape[1], np.empty(len(borders), np.int32)
    first[0], first[1:] = 0, after[width - 1 : -1 : width]
    starts = [after[place - 1 :: width] if place else first for place in wanted.tolist()]
    return [Fields(data, start, borders[:, place]) for start, place in zip(starts, wanted.tolist(), strict=True)]


# Indexes below have no sign, since for others the compiler looks for negative ones at every access.


@compiled
def is_even(data: NDArray[np.uint8], borders: Places, lines: int, width: int) -> bool:
    """Whether every row has so many fields and ends with a line feed alone, and none is empty."""
    if width < 2 or borders.size != lines * width:
        return False
    even = True
    for place in range(width - 1, borders.size, width):
        end = np.uint64(borders[place])
        even &= data[end] == 10 and data[end - np.uint64(1)] != 13
    return even


@compiled
def cut_rows(
    data: NDArray[np.uint8],
    borders: Places,
    width: int,
    wanted: NDArray[np.int64],
    skip: int,
    starts: Places,
    ends: Places,
) -> tuple[np.int64, int, int, int]:
    """Where the wanted fields of complete rows are; rows, skipped and ragged rows, and the first ragged line."""
    one = np.uint64(1)
    row, top, begin, line = np.uint64(0), np.uint64(0), 0, 0
    skipped, ragged, first = 0, 0, 0
    for last in range(np.uint64(borders.size)):
        final = borders[last]
        if data[np.uint64(final)] != np.uint8(10):
            continue
        line += 1
        end = final - 1 if final > begin and data[np.uint64(final - 1)] == 13 else final
        if last == top and end == begin:
            pass
        elif skipped < skip:
            skipped += 1
        elif last - top + one != np.uint64(width):
            first = line if ragged == 0 else first
            ragged += 1
        else:
            for slot in range(np.uint64(wanted.size)):
                place = top + np.uint64(wanted[slot])
                starts[slot, row] = begin if place == top else borders[place - one] + 1
                ends[slot, row] = end if place == last else borders[place]
            row += one
        top, begin = last + one, final + 1
    return np.int64(row), skipped, ragged, first


def _by_arrow(data: bytes, file: WholeLineEnds, table: Table) -> Iterator[list[Fields]]:
    """The rest of the file, of which ``data`` is read already.

    Arrow lets an open quote swallow all that follows. So rows that nobody else writes are put at the end, one more than
    may be skipped: if none comes out again, a quote was not closed.
    """
    last_row = table.delimiter.join([_END] * table.width) + "\n"
    more = "\n" + last_row * (table.skipped + 1)
    held: deque[Any] = deque()
    for batch in _arrow_batches(_Joined(data, file, more.encode()), table):
        held.append(batch)
        if len(held) > table.skipped + 2:
            yield [fields_of(array) for array in held.popleft().columns]
    ends, rows = 0, 0
    while held and not rows:
        batch = held.pop()
        rows = batch.num_rows
        while rows and ends <= table.skipped and all(column[rows - 1].as_py() == _END.encode() for column in batch):
            rows, ends = rows - 1, ends + 1
        if rows:
            held.append(batch.slice(0, rows))
    if not ends:
        raise Unreadable("a quote is not closed")
    for batch in held:
        yield [fields_of(array) for array in batch.columns]


def _arrow_batches(file: io.RawIOBase, table: Table) -> Iterator[Any]:
    import pyarrow as pa
    from pyarrow import csv as arrow_csv

    def skip(row: Any) -> str:
        table.note_ragged(1, table.lines + row.number)
        return "skip"

    names = [str(place) for place in range(table.width)]
    reading = arrow_csv.ReadOptions(
        block_size=ARROW_BLOCK_BYTES, column_names=names, skip_rows_after_names=table.skipped, use_threads=False
    )
    cutting = arrow_csv.ParseOptions(delimiter=table.delimiter, newlines_in_values=True, invalid_row_handler=skip)
    taking = arrow_csv.ConvertOptions(
        include_columns=[names[place] for place in table.wanted],
        column_types=dict.fromkeys(names, pa.binary()),
        strings_can_be_null=False,
        null_values=[],
    )
    # The reader hands over a ragged row as UTF-8; if it is none, it says so to the terminal and quotes the row's bytes.
    said, sys.unraisablehook = sys.unraisablehook, lambda _: None
    try:
        yield from arrow_csv.open_csv(pa.PythonFile(file, "r"), reading, cutting, taking)
    except pa.ArrowInvalid:
        # Its message quotes the row, so only its kind is passed on.
        raise Unreadable("this cannot be cut into rows") from None
    finally:
        sys.unraisablehook = said


def fields_of(array: Any) -> Fields:
    """The values of a binary array."""
    _, offsets, data = array.buffers()
    if not len(array):
        return Fields(np.zeros(1, np.uint8), np.zeros(0, np.int32), np.zeros(0, np.int32))
    places = np.frombuffer(offsets, np.int32)[array.offset : array.offset + len(array) + 1].copy()
    bytes_of = np.frombuffer(data if data is not None and data.size else b"\0", np.uint8)
    return Fields(bytes_of, places[:-1], places[1:])
