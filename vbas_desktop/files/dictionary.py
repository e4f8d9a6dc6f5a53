"""The kernels that turn fields into codes: one dictionary per column, kept in plain arrays."""

from __future__ import annotations

from typing import Final

import numpy as np
from numba import njit
from numpy.typing import NDArray

from .tokens import CR
from .words import PADDING, load_word

DIRECT: Final = 1 + 256 + 65536
_MULTIPLIER: Final = np.uint64(0x9E3779B97F4A7C15)
_MASKS = np.array([(1 << 8 * size) - 1 for size in range(9)], np.uint64)
_BIAS = np.array([0, 1, 257], np.int64)


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
    up to eight bytes, beyond that a hash that is confirmed by comparing every byte.
    """
    mask = np.uint64(keys.size - 1)
    masks, bias = _MASKS, _BIAS
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
            # No field, all fields of one byte and all of two bytes have a place of their own.
            at = np.int64(load_word(text, begin) & masks[size]) + bias[size]
            code = direct[at]
            if code >= 0:
                codes[row] = code
                continue
        elif size <= 8:
            key = load_word(text, begin) & masks[size]
            if key == previous_key and size == previous_size:
                codes[row] = previous_code
                continue
        else:
            place = begin
            while place + 8 <= end:
                key = (key ^ load_word(text, place)) * _MULTIPLIER
                key ^= key >> np.uint64(29)
                place += 8
            if place < end:
                key = (key ^ (load_word(text, place) & masks[end - place])) * _MULTIPLIER
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
                        last = size - 8
                        same = load_word(arena, offset + last) == load_word(text, begin + last)
                        for j in range(0, last, 8):
                            same &= load_word(arena, offset + j) == load_word(text, begin + j)
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
        if 2 * number >= keys.size or number >= offsets.size or used + size + PADDING > arena.size:
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
