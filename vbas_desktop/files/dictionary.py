"""The kernels that turn fields into codes: one dictionary per column, kept in plain arrays."""

from __future__ import annotations

from typing import Final

import numpy as np
from numba import njit
from numpy.typing import NDArray

from .tokens import CR

DIRECT: Final = 1 + 256 + 65536
_MULTIPLIER: Final = np.uint64(0x9E3779B97F4A7C15)
_MASKS = np.array([(1 << 8 * size) - 1 for size in range(9)], np.uint64)
PADDING = 8
"""Bytes that must follow the last field in memory, so that eight can always be loaded at once."""


@njit(inline="always")
def _eight(text, place):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
    word = np.uint64(text[place])
    for i in range(1, 8):
        word |= np.uint64(text[place + i]) << np.uint64(8 * i)
    return word


@njit(cache=True, nogil=True)
def code_fields(
    text: NDArray[np.uint8],
    starts: NDArray[np.int32],
    ends: NDArray[np.int32],
    rows: int,
    done: int,
    column: int,
    columns: int,
    strip_cr: bool,
    direct: NDArray[np.int32],
    keys: NDArray[np.uint64],
    slots: NDArray[np.int32],
    sizes: NDArray[np.int64],
    offsets: NDArray[np.int64],
    arena: NDArray[np.uint8],
    state: NDArray[np.int64],
    codes: NDArray[np.uint32],
) -> int:
    """Code one column's fields from row ``done`` on; stops early, and says where, when the dictionary must grow.

    Fields of up to two bytes are looked up directly; longer ones in an open hash table whose key is the field itself
    up to eight bytes, beyond that a hash that is confirmed byte by byte.
    """
    mask = np.uint64(keys.size - 1)
    masks = _MASKS
    previous_key = np.uint64(0)
    previous_size = -1
    previous_code = 0
    for row in range(done, rows):
        i = row * columns + column
        begin = starts[i] + 1
        end = ends[i]
        if strip_cr and end > begin and text[end - 1] == CR:
            end -= 1
        size = end - begin
        at = np.int64(0)
        key = np.uint64(0)
        if size <= 2:
            if size == 1:
                at = 1 + np.int64(text[begin])
            elif size == 2:
                at = 257 + np.int64(text[begin]) + 256 * np.int64(text[begin + 1])
            code = direct[at]
            if code >= 0:
                codes[row] = code
                continue
        elif size <= 8:
            key = _eight(text, begin) & masks[size]
            if key == previous_key and size == previous_size:
                codes[row] = previous_code
                continue
        else:
            place = begin
            while place + 8 <= end:
                key = (key ^ _eight(text, place)) * _MULTIPLIER
                key ^= key >> np.uint64(29)
                place += 8
            if place < end:
                key = (key ^ (_eight(text, place) & masks[end - place])) * _MULTIPLIER
                key ^= key >> np.uint64(29)
        slot = np.uint64(0)
        if size > 2:
            slot = ((key * _MULTIPLIER) >> np.uint64(20)) & mask
            code = -1
            while slots[slot] >= 0:
                known = slots[slot]
                if keys[slot] == key and sizes[known] == size:
                    same = True
                    if size > 8:
                        offset = offsets[known]
                        for j in range(size):
                            if arena[offset + j] != text[begin + j]:
                                same = False
                                break
                    if same:
                        code = known
                        break
                slot = (slot + np.uint64(1)) & mask
            if code >= 0:
                codes[row] = code
                previous_key, previous_size, previous_code = key, size, code
                continue
        number = state[0]
        used = state[1]
        if 2 * number >= keys.size or number >= offsets.size or used + size > arena.size:
            return row
        offsets[number] = used
        sizes[number] = size
        for j in range(size):
            arena[used + j] = text[begin + j]
        if size <= 2:
            direct[at] = number
        else:
            keys[slot] = key
            slots[slot] = number
        state[0] = number + 1
        state[1] = used + size
        codes[row] = number
    return rows


@njit(cache=True, nogil=True)
def rehash(
    keys: NDArray[np.uint64], slots: NDArray[np.int32], new_keys: NDArray[np.uint64], new_slots: NDArray[np.int32]
) -> None:
    """Move every entry of a hash table into a larger, empty one."""
    mask = np.uint64(new_keys.size - 1)
    for old in range(keys.size):
        if slots[old] >= 0:
            slot = ((keys[old] * _MULTIPLIER) >> np.uint64(20)) & mask
            while new_slots[slot] >= 0:
                slot = (slot + np.uint64(1)) & mask
            new_keys[slot] = keys[old]
            new_slots[slot] = slots[old]


@njit(cache=True, nogil=True)
def recode(raw: NDArray, table: NDArray[np.uint32], out: NDArray, frequencies: NDArray[np.int64]) -> None:
    """Translate codes through a table and count how often each comes out."""
    for i in range(raw.size):
        code = table[raw[i]]
        out[i] = code
        frequencies[code] += 1


@njit(cache=True, nogil=True)
def count_empty(
    text: NDArray[np.uint8],
    starts: NDArray[np.int32],
    ends: NDArray[np.int32],
    rows: int,
    column: int,
    columns: int,
    strip_cr: bool,
) -> int:
    """How many of one column's fields are empty."""
    empty = 0
    for row in range(rows):
        i = row * columns + column
        size = ends[i] - starts[i] - 1
        empty += size == 0 or (strip_cr and size == 1 and text[ends[i] - 1] == CR)
    return empty
