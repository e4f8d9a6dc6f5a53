"""The kernels that turn fields into codes: one dictionary per column, kept in plain arrays.

Fields of up to two bytes are looked up directly (``direct`` holds code + 1) unless that table is empty. Longer ones are
found over an open hash table of codes: ``cells`` holds the first 32 bytes of each value, zeros behind a shorter one.
Text has no zero bytes, so that below 32 bytes a cell is the value; from there on its size and the rest, which is in the
``arena``, must be the same too. Numbers are unsigned throughout: numba would look for a negative index at every access.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from vbas_desktop.algorithms.compiled import compiled, inlined
from vbas_desktop.algorithms.hash_table import first_slot, free_slot, next_slot

from .bits import CELL, CELL_MASKS, PADDING, hash_cell, is_cell, load_word
from .tokens import CR

DIRECT: Final = 1 + 256 + 65536
LONGER: Final = 3
"""From this size on a field is not looked up directly."""
_CELL: Final = np.uint64(CELL)
_WORD: Final = np.uint64(8)
_MULTIPLIER: Final = np.uint64(0x9E3779B97F4A7C15)
_MASKS = CELL_MASKS
_LOW = np.array([0, 0xFF, 0xFFFF], np.uint64)
_BIAS = np.array([0, 1, 257], np.uint64)


@inlined
def _number_of(text, begin, size):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
    """What stands for the bytes of a field of any size."""
    if size < _CELL:
        return hash_cell(text, begin, _MASKS, _CELL - size)
    number = hash_cell(text, begin, _MASKS, np.uint64(0)) + size
    last = size - _WORD
    for i in range(_CELL, last, _WORD):
        number = (number ^ load_word(text, begin + i)) * _MULTIPLIER
        number ^= number >> np.uint64(29)
    return (number ^ load_word(text, begin + last)) * _MULTIPLIER


@inlined
def _same_rest(text, begin, size, arena, offset):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
    """Whether what a field has beyond its first 32 bytes is the same as in the value at a place of the arena."""
    last = size - _WORD
    same = load_word(arena, offset + last) == load_word(text, begin + last)
    for i in range(_CELL, last, _WORD):
        same &= load_word(arena, offset + i) == load_word(text, begin + i)
    return same


@compiled
def _find(
    text: NDArray[np.uint8],
    begin: int,
    size: int,
    slots: NDArray[np.int32],
    sizes: NDArray[np.int64],
    offsets: NDArray[np.int64],
    cells: NDArray[np.uint8],
    arena: NDArray[np.uint8],
) -> tuple[int, int]:
    """The code of a field of any size, or -1, and the slot in which it is or belongs."""
    mask = np.uint64(0) if size > _CELL else _CELL - np.uint64(size)
    slot = first_slot(_number_of(text, np.uint64(begin), np.uint64(size)), slots)
    code = slots[slot]
    while code >= 0:
        known = np.uint64(code)
        if is_cell(text, np.uint64(begin), _MASKS, mask, cells, known * _CELL) and (
            size < _CELL
            or (
                np.uint64(sizes[known]) == size
                and _same_rest(text, np.uint64(begin), np.uint64(size), arena, np.uint64(offsets[known]))
            )
        ):
            break
        slot = next_slot(slot, slots)
        code = slots[slot]
    return int(np.int64(code)), int(np.int64(slot))


@compiled
def _code_known(
    text: NDArray[np.uint8],
    starts: NDArray[np.int32],
    ends: NDArray[np.int32],
    rows: int,
    done: int,
    column: int,
    columns: int,
    strip_cr: bool,
    direct: NDArray[np.int32],
    slots: NDArray[np.int32],
    cells: NDArray[np.uint8],
    codes: NDArray[np.unsignedinteger],
) -> int:
    """Code one column's fields from row ``done`` on, up to the first that is not known or longer than a cell.

    Nearly all fields of a file go through here, so that nothing else is done in this loop: all it needs stays in the
    processor's registers.
    """
    low, bias, masks = _LOW, _BIAS, _MASKS
    short = np.uint64(LONGER if direct.size else 0)
    step, i = np.uint64(columns), np.uint64(done * columns + column)
    for row in range(np.uint64(done), np.uint64(rows)):
        begin = np.uint64(np.uint32(starts[i] + np.int32(1)))
        size = np.uint64(np.uint32(ends[i])) - begin
        i += step
        if strip_cr and size > 0 and text[begin + size - np.uint64(1)] == CR:
            size -= np.uint64(1)
        if size < short:
            # No field, all fields of one byte and all of two bytes have a place of their own.
            code = direct[(load_word(text, begin) & low[size]) + bias[size]] - np.int32(1)
        elif size < _CELL:
            mask = _CELL - size
            slot = first_slot(hash_cell(text, begin, masks, mask), slots)
            code = slots[slot]
            while code >= 0 and not is_cell(text, begin, masks, mask, cells, np.uint64(code) * _CELL):
                slot = next_slot(slot, slots)
                code = slots[slot]
        else:
            code = np.int32(-1)
        if code < 0:
            return int(np.int64(row))
        codes[row] = code
    return rows


@compiled
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
    slots: NDArray[np.int32],
    sizes: NDArray[np.int64],
    offsets: NDArray[np.int64],
    cells: NDArray[np.uint8],
    arena: NDArray[np.uint8],
    state: NDArray[np.int64],
    codes: NDArray[np.unsignedinteger],
    largest: int,
) -> int:
    """Code one column's fields from row ``done`` on; stops early, and says where, when the dictionary must grow, or
    when a code would be larger than the largest that ``codes`` can hold.
    """
    short = LONGER if direct.size else 0
    while True:
        done = _code_known(text, starts, ends, rows, done, column, columns, strip_cr, direct, slots, cells, codes)
        if done == rows:
            return rows
        begin, end = starts[done * columns + column] + 1, ends[done * columns + column]
        if strip_cr and end > begin and text[end - 1] == CR:
            end -= 1
        size, code, slot = end - begin, -1, 0
        if size >= short:
            code, slot = _find(text, begin, size, slots, sizes, offsets, cells, arena)
        if code < 0:
            code, used = state[0], state[1]
            if 2 * code >= slots.size or code >= offsets.size or used + size + PADDING > arena.size or code > largest:
                return done
            offsets[code], sizes[code] = used, size
            arena[used : used + size] = text[begin:end]
            inside = min(size, CELL)
            cells[code * CELL : code * CELL + inside] = text[begin : begin + inside]
            if size >= short:
                slots[slot] = code
            else:
                direct[(load_word(text, begin) & _LOW[size]) + _BIAS[size]] = code + 1
            state[0], state[1] = code + 1, used + size
        codes[done] = code
        done += 1


@compiled
def rehash(
    arena: NDArray[np.uint8],
    offsets: NDArray[np.int64],
    sizes: NDArray[np.int64],
    values: int,
    shortest: int,
    slots: NDArray[np.int32],
) -> None:
    """Enter the values of at least the shortest size into an empty hash table."""
    for code in range(values):
        if sizes[code] >= shortest:
            slots[free_slot(_number_of(arena, np.uint64(offsets[code]), np.uint64(sizes[code])), slots)] = code


@compiled
def recode(raw: NDArray, table: NDArray[np.uint32], out: NDArray) -> None:
    """Translate codes through a table."""
    for i in range(np.uint64(raw.size)):
        out[i] = table[np.uint64(raw[i])]


@compiled
def tally(raw: NDArray, counts: NDArray[np.int64]) -> None:
    """Add up how often each code occurs, spread over four rows: equal neighbours need not wait for each other."""
    even = np.uint64(raw.size - raw.size % 4)
    for i in range(np.uint64(0), even, np.uint64(4)):
        for lane in range(np.uint64(4)):
            counts[lane, np.uint64(raw[i + lane])] += 1
    for i in range(even, np.uint64(raw.size)):
        counts[np.uint64(0), np.uint64(raw[i])] += 1


@compiled
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
