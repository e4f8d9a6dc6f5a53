"""Counting classes and adding up fingerprints of rows, for verification: no order, no memory of single rows.

A row's fingerprint is a 64-bit hash of all its values. The sum over a set of rows tells whether two files hold the
same rows, however often and in whatever order, but for a chance of about one in 10^19.
"""

from __future__ import annotations

from typing import NamedTuple, TypeVar

import numpy as np
from numba import njit
from numpy.typing import NDArray

from .words import WORD, word_at

Hashes = NDArray[np.uint64]
T = TypeVar("T", np.uint64, np.int64)

_ODD = np.uint64(0x9FB21C651E98DF25)
_MIX = np.uint64(0xD6E8FEB86659FD93)
_SHIFT = np.uint64(32)
_ALL = np.uint64(0xFFFFFFFFFFFFFFFF)


@njit(cache=True, nogil=True)
def _any_hash(data: NDArray[np.uint8], start: int, end: int) -> np.uint64:
    """The hash of a field of any length, wherever it is."""
    h = np.uint64(end - start + 1) * _ODD
    while True:
        word = np.uint64(0)
        for i in range(min(8, end - start)):
            word |= np.uint64(data[start + i]) << np.uint64(8 * i)
        h = (h ^ word) * _MIX
        h ^= h >> _SHIFT
        start += 8
        if start >= end:
            h *= _ODD
            return h ^ (h >> _SHIFT)


@njit(cache=True, nogil=True)
def hash_fields(data: NDArray[np.uint8], starts: NDArray[np.int32], ends: NDArray[np.int32], out: Hashes) -> None:
    """A 64-bit hash of every field: of the bytes between its start and its end."""
    last = data.size - WORD
    for i in range(out.size):
        start, size = np.int64(starts[i]), np.int64(ends[i]) - np.int64(starts[i])
        if start <= last and 0 < size <= WORD:
            # Most fields are one word, and bytes behind them are there to be cut off.
            word = word_at(data, start) & (_ALL >> np.uint64(64 - 8 * size))
            h = ((np.uint64(size + 1) * _ODD) ^ word) * _MIX
            h ^= h >> _SHIFT
            h *= _ODD
            out[i] = h ^ (h >> _SHIFT)
        else:
            out[i] = _any_hash(data, start, start + size)


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
    keys: Hashes,
    rows: Hashes,
    notes: Hashes,
    weights: NDArray[np.int64],
    index: NDArray[np.int32],
    known: Hashes,
    counts: NDArray[np.int64],
    sums: Hashes,
    kept: Hashes,
    start: int,
    used: int,
) -> tuple[int, int]:
    mask = np.uint64(index.size - 1)
    for i in range(start, keys.size):
        slot = np.int64((keys[i] * _ODD >> np.uint64(17)) & mask)
        while index[slot] >= 0 and known[index[slot]] != keys[i]:
            slot = np.int64(np.uint64(slot + 1) & mask)
        at = index[slot]
        if at < 0:
            if used == known.size:
                return i, used
            at, index[slot] = used, used
            used += 1
            known[at] = keys[i]
            for j in range(notes.shape[0]):
                kept[at, j] = notes[j, i]
        counts[at] += weights[i] if weights.size else 1
        for j in range(rows.shape[0]):
            sums[at, j] += rows[j, i]
    return keys.size, used


@njit(cache=True, nogil=True)
def _find_again(keys: Hashes, index: NDArray[np.int32]) -> None:
    mask = np.uint64(index.size - 1)
    for i in range(keys.size):
        slot = np.int64((keys[i] * _ODD >> np.uint64(17)) & mask)
        while index[slot] >= 0:
            slot = np.int64(np.uint64(slot + 1) & mask)
        index[slot] = i


class Classes(NamedTuple):
    """The hash and the number of records of every class, the sums of fingerprints, and what was noted of it."""

    keys: Hashes
    counts: NDArray[np.int64]
    sums: Hashes
    notes: Hashes


class Tally:
    """Records and sums of their fingerprints by class: one sum for each way of writing the rows.

    Of each class a few ``notes`` are kept, in which all its records agree. Classes are numbered as they come: those of
    one region are mostly neighbours in the file, and then in memory too.
    """

    def __init__(self, ways: int = 1, notes: int = 0) -> None:
        size = 1 << 12
        sums, kept = np.zeros((size, ways), np.uint64), np.zeros((size, notes), np.uint64)
        self._held = Classes(np.zeros(size, np.uint64), np.zeros(size, np.int64), sums, kept)
        self._index = np.full(2 * size, -1, np.int32)
        self._used = 0

    def add(self, keys: Hashes, rows: Hashes, notes: Hashes | None = None) -> None:
        """Count rows by the hash of their class; ``rows`` has a line for each way, ``notes`` one for each note."""
        notes = np.zeros((0, keys.size), np.uint64) if notes is None else notes
        self._add(keys, rows, notes, np.empty(0, np.int64))

    def absorb(self, other: Tally) -> None:
        """Add what another tally counted."""
        keys, counts, sums, notes = other.classes()
        self._add(keys, np.ascontiguousarray(sums.T), np.ascontiguousarray(notes.T), counts)

    def _add(self, keys: Hashes, rows: Hashes, notes: Hashes, weights: NDArray[np.int64]) -> None:
        done = 0
        while True:
            done, self._used = _add(keys, rows, notes, weights, self._index, *self._held, done, self._used)
            if done == keys.size:
                return
            self._grow()

    def _grow(self) -> None:
        keys, counts, sums, notes = self._held
        self._held = Classes(_doubled(keys), _doubled(counts), _doubled(sums), _doubled(notes))
        self._index = np.full(2 * self._index.size, -1, np.int32)
        _find_again(self._held.keys[: self._used], self._index)

    def classes(self) -> Classes:
        """What is known of every class, in the order in which they came."""
        keys, counts, sums, notes = self._held
        used = slice(self._used)
        return Classes(keys[used], counts[used], sums[used], notes[used])


def _doubled(array: NDArray[T]) -> NDArray[T]:
    return np.concatenate((array, np.zeros_like(array)))
