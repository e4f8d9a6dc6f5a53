"""Numbers for the values of a column, in the order in which they come: equal bytes, equal number."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from vbas_desktop.algorithms.compiled import compiled

from .blocks import Fields, Places
from .hash_table import enter, first_slot, next_slot

_FIRST_SLOTS = 1 << 8
_FIRST_BYTES = 1 << 12
_BASIS = np.uint64(0xCBF29CE484222325)
_MIX = np.uint64(0xFF51AFD7ED558CCD)
_HALF = np.uint64(32)


class Values:
    """The distinct values of one column. Their bytes stand one after the other, each closed by a line feed."""

    def __init__(self) -> None:
        self.number = 0
        self._slots = np.full(_FIRST_SLOTS, -1, np.int32)
        self._ends = np.zeros(_FIRST_SLOTS // 2 + 1, np.int64)
        self._bytes = np.empty(_FIRST_BYTES, np.uint8)

    def codes(self, fields: Fields) -> Places:
        """The number of each field's value."""
        codes = np.empty(fields.starts.size, np.int32)
        done = 0
        while True:
            known = self._slots, self._ends, self._bytes, self.number
            done, self.number = map(int, number_fields(fields.data, fields.starts, fields.ends, done, codes, *known))
            if done == codes.size:
                return codes
            self._grow(int(fields.ends[done] - fields.starts[done]))

    def text(self, encoding: str) -> str:
        """All values as text; `UnicodeDecodeError` if one is not in this encoding."""
        return self._bytes[: self._ends[self.number]].tobytes().decode(encoding)

    def texts(self, encoding: str) -> list[str]:
        """Each value as text, in the order of the numbers; what is not in this encoding is replaced."""
        ends = self._ends[: self.number + 1].tolist()
        cut = (self._bytes[low : high - 1].tobytes() for low, high in pairwise(ends))
        return [each.decode(encoding, "replace") for each in cut]

    def _grow(self, needed: int) -> None:
        used = int(self._ends[self.number])
        if used + needed + 1 > self._bytes.size:
            self._bytes = np.concatenate([self._bytes[:used], np.empty(used + 2 * needed + _FIRST_BYTES, np.uint8)])
        if 2 * self.number >= self._slots.size:
            self._slots = np.full(4 * self._slots.size, -1, np.int32)
            self._ends = np.concatenate([self._ends, np.zeros(self._slots.size // 2 + 1 - self._ends.size, np.int64)])
            place_again(self._slots, self._ends, self._bytes, self.number)


# Indexes below have no sign, since for others the compiler looks for negative ones at every access.


@compiled
def hash_bytes(data: NDArray[np.uint8], start: np.uint64, end: np.uint64) -> np.uint64:
    """A hash whose low bits depend on all bytes."""
    h, word = _BASIS ^ (end - start), np.uint64(0)
    for i in range(start, end):
        word = (word << np.uint64(8)) | np.uint64(data[i])
        if (i - start) & np.uint64(7) == np.uint64(7):
            h = (h ^ word) * _MIX
            h ^= h >> _HALF
            word = np.uint64(0)
    h = (h ^ word) * _MIX
    h = (h ^ (h >> _HALF)) * _MIX
    return h ^ (h >> _HALF)


@compiled
def number_fields(
    data: NDArray[np.uint8],
    starts: Places,
    ends: Places,
    first: int,
    codes: Places,
    slots: Places,
    value_ends: NDArray[np.int64],
    values: NDArray[np.uint8],
    number: int,
) -> tuple[np.int64, np.int64]:
    """Number the fields from ``first`` on; the first that found no room, and how many values there are."""
    one, known = np.uint64(1), np.uint64(number)
    for row in range(np.uint64(first), np.uint64(codes.size)):
        start = np.uint64(starts[row])
        length = np.uint64(ends[row]) - start
        slot = first_slot(hash_bytes(data, start, start + length), slots)
        code = slots[slot]
        while code >= 0:
            begin = np.uint64(value_ends[np.uint64(code)])
            if np.uint64(value_ends[np.uint64(code) + one]) == begin + length + one:
                same = np.uint64(0)
                while same < length and values[begin + same] == data[start + same]:
                    same += one
                if same == length:
                    break
            slot = next_slot(slot, slots)
            code = slots[slot]
        if code < 0:
            begin = np.uint64(value_ends[known])
            if known + known >= np.uint64(slots.size) or begin + length + one > np.uint64(values.size):
                return np.int64(row), np.int64(known)
            for i in range(length):
                values[begin + i] = data[start + i]
            values[begin + length] = 10
            value_ends[known + one] = begin + length + one
            code = np.int32(known)
            slots[slot] = code
            known += one
        codes[row] = code
    return np.int64(codes.size), np.int64(known)


@compiled
def place_again(slots: Places, value_ends: NDArray[np.int64], values: NDArray[np.uint8], number: int) -> None:
    """Put the values into empty slots."""
    one = np.uint64(1)
    for code in range(np.uint64(number)):
        enter(hash_bytes(values, np.uint64(value_ends[code]), np.uint64(value_ends[code + one]) - one), code, slots)
