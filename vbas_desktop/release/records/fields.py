"""Finding the fields of CSV rows in raw bytes, and looking raw fields up in tables, without making a Python object.

Regular rows are cut by the loader's own cutter (`io.records.tokens`). Rows with quotes have one of their own here:
the loader takes the quotes off in place, while the release copies fields with every byte they have.

A field that starts with a quote runs to its closing quote (a doubled quote stands for one); anywhere else a quote is
an ordinary byte. Rows end with LF or CR LF (in files without any LF: with CR); empty lines are no rows.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from vbas_desktop.algorithms.compiled import compiled, inlined
from vbas_desktop.algorithms.hash_table import first_slot, free_slot, next_slot, slots_for
from vbas_desktop.io.records.bits import PADDING
from vbas_desktop.io.records.tokens import CR, LF, QUOTE, SPARE_PLACES, is_regular, separators

Bytes = NDArray[np.uint8]


@compiled
def complete_rows(buf: Bytes, delimiter: int, line_end: int) -> int:
    """The length of the part of ``buf`` that holds complete rows; ``buf`` starts at the start of a row."""
    end, i, n = 0, 0, buf.size
    field_start = True
    while i < n:
        byte = buf[i]
        if field_start and byte == QUOTE:
            i += 1
            while i < n:
                if buf[i] == QUOTE:
                    if i + 1 == n:
                        return end
                    if buf[i + 1] != QUOTE:
                        break
                    i += 1
                i += 1
            field_start = False
        elif byte == line_end:
            end = i + 1
            field_start = True
        else:
            field_start = byte == delimiter
        i += 1
    return end


@compiled
def split_rows(buf: Bytes, delimiter: int, line_end: int, starts: NDArray[np.int32]) -> tuple[int, int, bool]:
    """Fill ``starts[row, column]`` with the places of the fields; field c ends before ``starts[row, c + 1] - 1``.

    Returns the number of rows, the number of the first row with a wrong number of fields (-1: none), and whether a
    field holds a CR outside quotes, which other programs would take for the end of the row.
    """
    columns = starts.shape[1] - 1
    i, row, n = 0, 0, buf.size
    bare = False
    while i < n:
        if buf[i] == line_end or (buf[i] == CR and i + 1 < n and buf[i + 1] == line_end):
            i += 1 if buf[i] == line_end else 2
            continue
        column = 0
        starts[row, 0] = i
        while True:
            if i < n and buf[i] == QUOTE:
                i += 1
                while i < n:
                    if buf[i] == QUOTE:
                        if i + 1 < n and buf[i + 1] == QUOTE:
                            i += 1
                        else:
                            i += 1
                            break
                    i += 1
            while i < n and buf[i] != delimiter and buf[i] != line_end:
                bare |= buf[i] == CR and not (i + 1 < n and buf[i + 1] == line_end)
                i += 1
            column += 1
            if i == n or buf[i] == line_end or column == columns:
                break
            i += 1
            starts[row, column] = i
        if column != columns or (i < n and buf[i] != line_end):
            return row, row, bare
        trailing = line_end == LF and i < n and i > starts[row, columns - 1] and buf[i - 1] == CR
        starts[row, columns] = i if trailing else i + 1
        i += 1
        row += 1
    return row, -1, bare


def regular_rows(buf: Bytes, delimiter: int, line_end: int, lines: int, columns: int) -> NDArray[np.int32] | None:
    """What `split_rows` fills, for text without quotes and CR in which all rows are alike; None if they are not.

    Cut as the loader cuts it. The end of a row is the start of the next, so rows overlap in memory by one entry.
    """
    if columns == 1 or line_end != LF:
        # An empty line would look like a row with an empty field; files without any LF are rare.
        return None
    text = np.zeros(buf.size + PADDING, np.uint8)
    text[: buf.size] = buf
    places = np.empty(buf.size + 1 + SPARE_PLACES, np.int32)
    found, _, _, _ = separators(text, buf.size, delimiter, places)
    if found != lines * columns or not is_regular(text, places, lines, columns):
        return None
    flat = places[: found + 1] + np.int32(1)
    return np.lib.stride_tricks.as_strided(flat, (lines, columns + 1), (4 * columns, 4), writeable=False)


@inlined
def _key(buf: Bytes, start: int, end: int) -> np.uint64:
    key = np.uint64(0xCBF29CE484222325)
    if end - start <= 8:
        key = np.uint64(0)
        for i in range(start, end):
            key = (key << np.uint64(8)) | np.uint64(buf[i])
        return key
    for i in range(start, end):
        key = (key ^ np.uint64(buf[i])) * np.uint64(0x100000001B3)
    return key


@compiled
def insert(
    buf: Bytes,
    bounds: NDArray[np.int64],
    codes: NDArray[np.int32],
    keys: NDArray[np.uint64],
    lengths: NDArray[np.int32],
    places: NDArray[np.int64],
    values: NDArray[np.int32],
) -> None:
    """Put the texts ``buf[bounds[i]:bounds[i + 1]]`` with their codes into an empty table (open addressing)."""
    for i in range(codes.size):
        start, end = bounds[i], bounds[i + 1]
        key = _key(buf, start, end)
        slot = free_slot(key, lengths)
        keys[slot], lengths[slot], places[slot], values[slot] = key, end - start, start, codes[i]


@compiled
def look_up(
    buf: Bytes,
    starts: NDArray[np.int32],
    rows: int,
    column: int,
    pool: Bytes,
    keys: NDArray[np.uint64],
    lengths: NDArray[np.int32],
    places: NDArray[np.int64],
    values: NDArray[np.int32],
    out: NDArray[np.int32],
) -> int:
    """The code of one column's raw field in every row; `ABSENT` where the table lacks it. Returns how many it lacks."""
    absent = 0
    for row in range(rows):
        start, end = starts[row, column], starts[row, column + 1] - 1
        length = end - start
        key = _key(buf, start, end)
        slot = first_slot(key, lengths)
        code = np.int32(-2)
        while lengths[slot] >= 0:
            if keys[slot] == key and lengths[slot] == length:
                same = True
                if length > 8:
                    place = places[slot]
                    for i in range(length):
                        if pool[place + i] != buf[start + i]:
                            same = False
                            break
                if same:
                    code = values[slot]
                    break
            slot = next_slot(slot, lengths)
        if code == -2:
            absent += 1
        out[row] = code
    return absent


ABSENT = -2
"""What `look_up` gives for a raw field that the table does not hold yet."""


class FieldTable:
    """Raw fields of one column → codes. Grows as new spellings (quoted, say) turn up; `meaning` says what they are.

    Several threads may read while one adds: the arrays are replaced as a whole, never changed.
    """

    def __init__(self, known: Iterable[tuple[bytes, int]], meaning: Callable[[bytes], int]) -> None:
        self._entries = dict(known)
        self._meaning, self._lock = meaning, threading.Lock()
        self._rebuild()

    def _rebuild(self) -> None:
        texts = list(self._entries)
        size = slots_for(len(texts))
        pool = np.frombuffer(b"".join(texts) + b"\0", np.uint8)
        bounds = bounds_of(texts)
        codes = np.fromiter(self._entries.values(), np.int32, len(texts))
        keys, lengths = np.zeros(size, np.uint64), np.full(size, -1, np.int32)
        places, values = np.zeros(size, np.int64), np.zeros(size, np.int32)
        insert(pool, bounds, codes, keys, lengths, places, values)
        self._arrays = (pool, keys, lengths, places, values)

    def codes(self, buf: Bytes, starts: NDArray[np.int32], rows: int, column: int) -> NDArray[np.int32]:
        """The code of the column's field in each row."""
        out = np.empty(rows, np.int32)
        while look_up(buf, starts, rows, column, *self._arrays, out):
            missing = np.flatnonzero(out == ABSENT)
            fields = {buf[starts[row, column] : starts[row, column + 1] - 1].tobytes() for row in missing.tolist()}
            with self._lock:
                for raw in sorted(fields - self._entries.keys()):
                    self._entries[raw] = self._meaning(raw)
                self._rebuild()
        return out


_QUOTED = re.compile(rb'"((?:[^"]|"")*+)"?+(.*)', re.DOTALL)


def unquoted(raw: bytes) -> bytes:
    """The value of a raw field: without its quotes, doubled quotes single."""
    found = _QUOTED.fullmatch(raw)
    return raw if found is None else found[1].replace(b'""', b'"') + found[2]


def quoted(value: bytes, delimiter: bytes) -> bytes:
    """The value as a field: in quotes only where it needs them."""
    if any(mark in value for mark in (delimiter, b'"', b"\n", b"\r")):
        return b'"' + value.replace(b'"', b'""') + b'"'
    return value


def bounds_of(texts: Sequence[bytes]) -> NDArray[np.int64]:
    """Where each text begins, and the last ends, if they stand one after the other."""
    return np.concatenate(([0], np.cumsum([len(text) for text in texts]))).astype(np.int64)
