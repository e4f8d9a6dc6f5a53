"""Counting classes and adding up fingerprints of rows, for verification: no order, no memory of single rows.

A row's fingerprint is a 64-bit hash of all its values. The sum over a set of rows tells whether two files hold the
same rows, however often and in whatever order, but for a chance of about one in 10^19.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from vbas_desktop.algorithms.compiled import compiled

from .hash_table import enter, first_slot, next_slot, slots_for
from .words import WORD, word_at

Hashes = NDArray[np.uint64]

_ODD = np.uint64(0x9FB21C651E98DF25)
_MIX = np.uint64(0xD6E8FEB86659FD93)
_SHIFT = np.uint64(32)
_ALL = np.uint64(0xFFFFFFFFFFFFFFFF)
_ONE_EACH: Hashes = np.empty(0, np.uint64)
_STRETCH = 1 << 10
"""So many rows are gone through column by column at a time, in the nearest cache."""


@compiled
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


@compiled
def _short_hash(data: NDArray[np.uint8], start: int, size: int) -> np.uint64:
    """The same for one to eight bytes with as many behind their first that can be read, which are cut off."""
    word = word_at(data, start) & (_ALL >> np.uint64(64 - 8 * size))
    h = ((np.uint64(size + 1) * _ODD) ^ word) * _MIX
    h ^= h >> _SHIFT
    h *= _ODD
    return h ^ (h >> _SHIFT)


# The choice between the two is made in each loop: as a function of its own it takes eight times as long.


@compiled
def hash_fields(data: NDArray[np.uint8], starts: NDArray[np.int32], ends: NDArray[np.int32], out: Hashes) -> None:
    """A 64-bit hash of every field: of the bytes between its start and its end."""
    last = data.size - WORD
    for i in range(out.size):
        start, size = np.int64(starts[i]), np.int64(ends[i]) - np.int64(starts[i])
        if start <= last and 0 < size <= WORD:
            out[i] = _short_hash(data, start, size)
        else:
            out[i] = _any_hash(data, start, start + size)


@compiled
def hash_rows(data: NDArray[np.uint8], borders: NDArray[np.int32], out: Hashes) -> None:
    """The hashes of all fields of even rows, a line of ``out`` for each column."""
    last, start, border = data.size - WORD, np.int64(0), np.uint64(0)
    for row in range(np.uint64(out.shape[1])):
        for column in range(np.uint64(out.shape[0])):
            end = np.int64(borders[border])
            size = end - start
            if start <= last and 0 < size <= WORD:
                out[column, row] = _short_hash(data, start, size)
            else:
                out[column, row] = _any_hash(data, start, end)
            start, border = end + 1, border + np.uint64(1)


@compiled
def _translate(values: Hashes, slots: Hashes, taken: NDArray[np.bool_], targets: Hashes, out: Hashes) -> int:
    missing = 0
    for i in range(values.size):
        slot = first_slot(values[i], slots)
        while taken[slot] and slots[slot] != values[i]:
            slot = next_slot(slot, slots)
        if taken[slot]:
            out[i] = targets[slot]
        else:
            out[i] = np.uint64(0)
            missing += 1
    return missing


@compiled
def _fill(keys: Hashes, values: Hashes, slots: Hashes, taken: NDArray[np.bool_], targets: Hashes) -> None:
    for i in range(keys.size):
        slot = first_slot(keys[i], slots)
        while taken[slot]:
            slot = next_slot(slot, slots)
        slots[slot], taken[slot], targets[slot] = keys[i], True, values[i]


class Translation:
    """From the hash of one value to that of another, such as an initial region to its aggregated region."""

    def __init__(self, keys: Hashes, values: Hashes) -> None:
        size = slots_for(keys.size)
        self._slots, self._targets = np.zeros(size, np.uint64), np.zeros(size, np.uint64)
        self._taken = np.zeros(size, np.bool_)
        _fill(keys, values, self._slots, self._taken, self._targets)

    def of(self, values: Hashes, out: Hashes | None = None) -> tuple[Hashes, int]:
        """The translated hashes, 0 where there is no translation, and how many have none."""
        out = np.empty(values.size, np.uint64) if out is None else out
        return out, int(_translate(values, self._slots, self._taken, self._targets, out))

    def where_any(self, values: Hashes) -> Hashes:
        """The translated hashes; those that have no translation stay as they are."""
        translated, missing = self.of(values)
        return np.where(translated == 0, values, translated) if missing else translated


@compiled
def combine(rows: Hashes, column: Hashes) -> None:
    """Add one more column to the fingerprints of rows; the order of the columns counts."""
    for i in range(rows.size):
        h = (rows[i] ^ column[i]) * _MIX
        rows[i] = h ^ (h >> _SHIFT)


@compiled
def _combine_all(columns: Hashes, places: NDArray[np.int64], rows: Hashes) -> None:
    for low in range(0, rows.size, _STRETCH):
        part = slice(low, low + _STRETCH)
        for place in places:
            combine(rows[part], columns[place, part])


def fingerprints(columns: Hashes, places: Sequence[int]) -> Hashes:
    """Those of the rows of which ``columns`` has a line for each column: what these columns give in this order."""
    rows = np.zeros(columns.shape[1], np.uint64)
    _combine_all(columns, np.array(places, np.int64), rows)
    return rows


@compiled
def _find(keys: Hashes, index: NDArray[np.int32], held: Hashes, numbers: NDArray[np.int32], used: int) -> int:
    """The number of each key's class; new ones are entered. Returns how many there are."""
    first = np.uint64(0)
    for i in range(keys.size):
        key = keys[i]
        slot = first_slot(key, index)
        number = index[slot]
        while number >= 0 and held[np.uint64(number), first] != key:
            slot = next_slot(slot, index)
            number = index[slot]
        if number < 0:
            number = np.int32(used)
            index[slot] = number
            held[number, 0] = key
            used += 1
        numbers[i] = number
    return used


@compiled
def _sum(numbers: NDArray[np.int32], counts: Hashes, rows: Hashes, held: Hashes) -> None:
    """Add one, or its count, and its line of ``rows`` to what is held of each key's class."""
    one = np.uint64(1)
    if counts.size:
        for i in range(numbers.size):
            held[np.uint64(numbers[i]), one] += counts[i]
    else:
        for i in range(numbers.size):
            held[np.uint64(numbers[i]), one] += one
    for way in range(rows.shape[0]):
        for i in range(numbers.size):
            held[np.uint64(numbers[i]), np.uint64(2 + way)] += rows[way, i]


@compiled
def _find_again(held: Hashes, used: int, index: NDArray[np.int32]) -> None:
    for i in range(used):
        enter(held[i, 0], i, index)


class Classes(NamedTuple):
    """The hash and the number of records of every class, the sums of fingerprints, and what was noted of it."""

    keys: Hashes
    counts: NDArray[np.int64]
    sums: Hashes
    notes: Hashes


class Tally:
    """Records and sums of their fingerprints by class: one sum for each way of writing the rows.

    Of each class a few ``notes`` are kept, in which all its records agree. Classes are numbered as they come: those of
    one region are mostly neighbours in the file, and then in memory too, all that is known of a class side by side.
    """

    def __init__(self, ways: int = 1, notes: int = 0) -> None:
        self._ways, self._used = ways, 0
        self._held = np.zeros((1 << 12, 2 + ways + notes), np.uint64)
        self._index = np.empty(0, np.int32)

    def add(self, keys: Hashes, rows: Hashes, notes: Hashes | None = None, counts: Hashes = _ONE_EACH) -> None:
        """Count rows by the hash of their class; ``rows`` has a line for each way, ``notes`` one for each note."""
        self._make_room(keys.size)
        numbers = np.empty(keys.size, np.int32)
        self._used = int(_find(keys, self._index, self._held, numbers, self._used))
        _sum(numbers, counts, rows, self._held)
        for place, note in enumerate(() if notes is None else notes, 2 + self._ways):
            self._held[numbers, place] = note

    def absorb(self, other: Tally) -> None:
        """Add what another tally counted."""
        keys, counts, sums, notes = other.classes()
        self.add(keys, np.ascontiguousarray(sums.T), notes.T, counts.astype(np.uint64))

    def _make_room(self, number: int) -> None:
        """For so many more classes: at most half of the index is in use."""
        while self._used + number > self._held.shape[0]:
            self._held = np.concatenate((self._held, np.zeros_like(self._held)))
        if 2 * self._held.shape[0] > self._index.size:
            self._index = np.full(2 * self._held.shape[0], -1, np.int32)
            _find_again(self._held, self._used, self._index)

    def classes(self) -> Classes:
        """What is known of every class, in the order in which they came."""
        held = self._held[: self._used]
        sums, notes = held[:, 2 : 2 + self._ways].copy(), held[:, 2 + self._ways :].copy()
        return Classes(held[:, 0].copy(), held[:, 1].astype(np.int64), sums, notes)
