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
_SECOND: Final = np.uint64(0xD6E8FEB86659FD93)
_LONG: Final = np.uint64(1 << 63)
_LOW = np.array([(1 << 8 * min(size, 8)) - 1 for size in range(17)], np.uint64)
_HIGH = np.array([(1 << 8 * max(size - 8, 0)) - 1 for size in range(17)], np.uint64)
_BIAS = np.array([0, 1, 257], np.uint64)


@njit(inline="always")
def _slot(first, second, slots):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
    """Where to begin looking for a key; values that differ in their last letters only go to different places too."""
    mixed = first ^ (second * _SECOND)
    mixed = (mixed ^ (mixed >> np.uint64(32))) * _MULTIPLIER
    return (mixed >> np.uint64(32)) & np.uint64(slots - 1)


@njit(inline="always")
def _hashed(text, begin, size):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
    """Two words for a field of more than 16 bytes; no shorter field, being without zero bytes, has such a second."""
    last = size - np.uint64(8)
    first = load_word(text, begin + last) + size
    for j in range(np.uint64(0), last, np.uint64(8)):
        first = (first ^ load_word(text, begin + j)) * _MULTIPLIER
        first ^= first >> np.uint64(29)
    return first, _LONG


@njit(inline="always")
def _same(text, begin, size, arena, offset):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
    """Whether a field of more than eight bytes is the value at a place of the arena."""
    last = size - np.uint64(8)
    same = load_word(arena, offset + last) == load_word(text, begin + last)
    for j in range(np.uint64(0), last, np.uint64(8)):
        same &= load_word(arena, offset + j) == load_word(text, begin + j)
    return same


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

    Fields of up to two bytes are looked up directly (``direct`` holds code + 1) unless that table is empty; longer ones
    in an open hash table whose key is the field itself up to 16 bytes, beyond that a hash that is confirmed by
    comparing every byte. Numbers are unsigned throughout: numba would look for a negative index at every access.
    """
    low, high, bias = _LOW, _HIGH, _BIAS
    short = np.uint64(3 if direct.size else 0)
    step, i = np.uint64(columns), np.uint64(done * columns + column)
    for row in range(np.uint64(done), np.uint64(rows)):
        begin = np.uint64(np.uint32(starts[i] + np.int32(1)))
        end = np.uint64(np.uint32(ends[i]))
        i += step
        if strip_cr and end > begin and text[end - np.uint64(1)] == CR:
            end -= np.uint64(1)
        size = end - begin
        first = load_word(text, begin)
        second = at = slot = np.uint64(0)
        if size < short:
            # No field, all fields of one byte and all of two bytes have a place of their own.
            at = (first & low[size]) + bias[size]
            code = direct[at]
            if code > 0:
                codes[row] = code - np.int32(1)
                continue
        else:
            if size <= 16:
                first &= low[size]
                second = load_word(text, begin + np.uint64(8)) & high[size]
            else:
                first, second = _hashed(text, begin, size)
            slot = _slot(first, second, slots.size)
            code = slots[slot]
            while code >= 0:
                if keys[slot, 0] == first and keys[slot, 1] == second:
                    known = np.uint64(code)
                    if size <= 16 or (
                        np.uint64(sizes[known]) == size and _same(text, begin, size, arena, np.uint64(offsets[known]))
                    ):
                        break
                slot = (slot + np.uint64(1)) & np.uint64(slots.size - 1)
                code = slots[slot]
            if code >= 0:
                codes[row] = code
                continue
        number, used = state[0], state[1]
        if 2 * number >= slots.size or number >= offsets.size or used + np.int64(size) + PADDING > arena.size:
            return int(np.int64(row))
        offsets[number] = used
        sizes[number] = size
        for j in range(size):
            arena[np.uint64(used) + j] = text[begin + j]
        if size < short:
            direct[at] = number + 1
        else:
            keys[slot, 0] = first
            keys[slot, 1] = second
            slots[slot] = number
        state[0] = number + 1
        state[1] = used + np.int64(size)
        codes[row] = number
    return rows


@njit(cache=True, nogil=True)
def rehash(
    keys: NDArray[np.uint64], slots: NDArray[np.int32], new_keys: NDArray[np.uint64], new_slots: NDArray[np.int32]
) -> None:
    """Move every entry of a hash table into a larger, empty one."""
    for old in range(slots.size):
        if slots[old] >= 0:
            slot = _slot(keys[old, 0], keys[old, 1], new_slots.size)
            while new_slots[slot] >= 0:
                slot = (slot + np.uint64(1)) & np.uint64(new_slots.size - 1)
            new_keys[slot] = keys[old]
            new_slots[slot] = slots[old]


@njit(cache=True, nogil=True)
def recode(raw: NDArray, table: NDArray[np.uint32], out: NDArray) -> None:
    """Translate codes through a table."""
    for i in range(np.uint64(raw.size)):
        out[i] = table[np.uint64(raw[i])]


@njit(cache=True, nogil=True)
def tally(raw: NDArray, counts: NDArray[np.int64]) -> None:
    """Add up how often each code occurs, spread over four rows: equal neighbours need not wait for each other."""
    even = np.uint64(raw.size - raw.size % 4)
    for i in range(np.uint64(0), even, np.uint64(4)):
        for lane in range(np.uint64(4)):
            counts[lane, np.uint64(raw[i + lane])] += 1
    for i in range(even, np.uint64(raw.size)):
        counts[np.uint64(0), np.uint64(raw[i])] += 1


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
