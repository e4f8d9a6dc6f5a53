"""Counting classes and adding up fingerprints of rows, for verification: no order, no memory of single rows.

A row's fingerprint is a 64-bit hash of all its values. The sum over a set of rows tells whether two files hold the
same rows, however often and in whatever order, but for a chance of about one in 10^19.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

Hashes = NDArray[np.uint64]

_ODD = np.uint64(0x9FB21C651E98DF25)
_MIX = np.uint64(0xD6E8FEB86659FD93)
_SHIFT = np.uint64(32)


@njit(cache=True, nogil=True, inline="always")
def _hash(data: NDArray[np.uint8], start: int, end: int) -> np.uint64:
    h = np.uint64(end - start + 1) * _ODD
    j = start
    while end - j > 8:
        word = np.uint64(0)
        for i in range(j, j + 8):
            word = (word << np.uint64(8)) | np.uint64(data[i])
        h = (h ^ word) * _MIX
        h ^= h >> _SHIFT
        j += 8
    word = np.uint64(0)
    for i in range(j, end):
        word = (word << np.uint64(8)) | np.uint64(data[i])
    h = (h ^ word) * _MIX
    h ^= h >> _SHIFT
    h *= _ODD
    return h ^ (h >> _SHIFT)


@njit(cache=True, nogil=True)
def hash_fields(data: NDArray[np.uint8], starts: NDArray[np.int32], ends: NDArray[np.int32], out: Hashes) -> None:
    """A 64-bit hash of every field: of the bytes between its start and its end."""
    for i in range(out.size):
        out[i] = _hash(data, starts[i], ends[i])


@njit(cache=True, nogil=True)
def _translate(values: Hashes, slots: Hashes, taken: NDArray[np.bool_], targets: Hashes, out: Hashes) -> int:
    mask, missing = np.uint64(slots.size - 1), 0
    for i in range(values.size):
        slot = np.int64((values[i] * _ODD >> np.uint64(17)) & mask)
        while taken[slot] and slots[slot] != values[i]:
            slot = np.int64(np.uint64(slot + 1) & mask)
        if taken[slot]:
            out[i] = targets[slot]
        else:
            out[i] = np.uint64(0)
            missing += 1
    return missing


@njit(cache=True, nogil=True)
def _fill(keys: Hashes, values: Hashes, slots: Hashes, taken: NDArray[np.bool_], targets: Hashes) -> None:
    mask = np.uint64(slots.size - 1)
    for i in range(keys.size):
        slot = np.int64((keys[i] * _ODD >> np.uint64(17)) & mask)
        while taken[slot]:
            slot = np.int64(np.uint64(slot + 1) & mask)
        slots[slot], taken[slot], targets[slot] = keys[i], True, values[i]


class Translation:
    """From the hash of one value to that of another, such as an initial region to its aggregated region."""

    def __init__(self, keys: Hashes, values: Hashes) -> None:
        size = 1 << max(4, (2 * keys.size).bit_length())
        self._slots, self._targets = np.zeros(size, np.uint64), np.zeros(size, np.uint64)
        self._taken = np.zeros(size, np.bool_)
        _fill(keys, values, self._slots, self._taken, self._targets)

    def of(self, values: Hashes) -> tuple[Hashes, int]:
        """The translated hashes, 0 where there is no translation, and how many have none."""
        out = np.empty(values.size, np.uint64)
        return out, int(_translate(values, self._slots, self._taken, self._targets, out))


@njit(cache=True, nogil=True)
def combine(rows: Hashes, column: Hashes) -> None:
    """Add one more column to the fingerprints of rows; the order of the columns counts."""
    for i in range(rows.size):
        h = (rows[i] ^ column[i]) * _MIX
        rows[i] = h ^ (h >> _SHIFT)


@njit(cache=True, nogil=True)
def _add(
    keys: Hashes, rows: Hashes, slots: Hashes, counts: NDArray[np.int64], sums: Hashes, start: int, room: int
) -> tuple[int, int]:
    mask = np.uint64(slots.size - 1)
    used = 0
    for i in range(start, keys.size):
        slot = np.int64((keys[i] * _ODD >> np.uint64(17)) & mask)
        while counts[slot] and slots[slot] != keys[i]:
            slot = np.int64(np.uint64(slot + 1) & mask)
        if counts[slot] == 0:
            if used == room:
                return i, used
            used += 1
            slots[slot] = keys[i]
        counts[slot] += 1
        sums[slot] += rows[i]
    return keys.size, used


class Tally:
    """Records and the sum of their fingerprints by class."""

    def __init__(self) -> None:
        self._slots, self._counts, self._sums = self._empty(1 << 12)
        self._used = 0

    @staticmethod
    def _empty(size: int) -> tuple[Hashes, NDArray[np.int64], Hashes]:
        return np.zeros(size, np.uint64), np.zeros(size, np.int64), np.zeros(size, np.uint64)

    def add(self, keys: Hashes, rows: Hashes) -> None:
        """Count rows by the hash of their class."""
        done = 0
        while True:
            room = self._slots.size // 2 - self._used
            done, used = _add(keys, rows, self._slots, self._counts, self._sums, done, room)
            self._used += used
            if done == keys.size:
                return
            self._grow()

    def _grow(self) -> None:
        keys, counts, sums = self.classes()
        self._slots, self._counts, self._sums = self._empty(self._slots.size * 4)
        _move(keys, counts, sums, self._slots, self._counts, self._sums)

    def classes(self) -> tuple[Hashes, NDArray[np.int64], Hashes]:
        """The hash, the number of records and the sum of fingerprints of every class, by ascending hash."""
        present = np.flatnonzero(self._counts)
        order = present[np.argsort(self._slots[present])]
        return self._slots[order], self._counts[order], self._sums[order]


@njit(cache=True, nogil=True)
def _move(
    keys: Hashes, counts: NDArray[np.int64], sums: Hashes, slots: Hashes, new: NDArray[np.int64], total: Hashes
) -> None:
    mask = np.uint64(slots.size - 1)
    for i in range(keys.size):
        slot = np.int64((keys[i] * _ODD >> np.uint64(17)) & mask)
        while new[slot]:
            slot = np.int64(np.uint64(slot + 1) & mask)
        slots[slot], new[slot], total[slot] = keys[i], counts[i], sums[i]
