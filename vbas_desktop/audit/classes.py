"""How many records each class has, added up block after block; memory follows the classes, not the records.

A class is a row of numbers, one per column, the region's first. As long as such a row fits into 64 bits it is one
number, and counting is sorting; wider rows are sorted column by column.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

Sizes = NDArray[np.int64]
Int = TypeVar("Int", np.int32, np.int64)

PENDING_RECORDS = 1 << 21
"""So many records wait to be counted together, or half as many as there are classes if that is more."""
WIDEST = 1 << 63


class Classes:
    """The classes of all records that were added."""

    def __init__(self, columns: int) -> None:
        self._counter: _Narrow | _Wide = _Narrow([1] * columns)

    def add(self, codes: Sequence[NDArray[np.int32]], numbers: Sequence[int]) -> None:
        """Count records by the codes of their values; ``numbers`` of values are known so far in each column."""
        if not codes[0].size:
            return
        if isinstance(self._counter, _Narrow) and not self._counter.make_room(numbers):
            self._counter = _Wide(*self._counter.classes())
        self._counter.add(codes)

    def sizes(self) -> Sizes:
        """The number of records of each class."""
        return self._counter.sizes()

    def classes(self) -> tuple[list[NDArray[np.int32]], Sizes]:
        """The codes of each class, column by column, and its number of records; in the order of the codes."""
        return self._counter.classes()

    def regions(self) -> Sizes:
        """The number of records of each value of the first column."""
        columns, sizes = self._counter.classes()
        found = np.bincount(columns[0], sizes).astype(np.int64)
        return found[found > 0]


class _Narrow:
    """Classes as single numbers in ascending order."""

    def __init__(self, room: list[int]) -> None:
        self._room = room
        self._keys = np.zeros(0, np.int64)
        self._sizes = np.zeros(0, np.int64)
        self._pending: list[NDArray[np.int64]] = []

    def make_room(self, numbers: Sequence[int]) -> bool:
        """Let every column have this many values; False if the numbers of classes would become too large."""
        room = [
            now if number <= now else 1 << (number - 1).bit_length()
            for now, number in zip(self._room, numbers, strict=True)
        ]
        if math.prod(room) > WIDEST:
            return False
        if room[1:] != self._room[1:]:
            columns, self._sizes = self.classes()
            self._keys = _joined(columns, room)
        self._room = room
        return True

    def add(self, codes: Sequence[NDArray[np.int32]]) -> None:
        self._pending.append(_joined(codes, self._room))
        if sum(part.size for part in self._pending) >= max(PENDING_RECORDS, self._keys.size // 2):
            self._count()

    def sizes(self) -> Sizes:
        self._count()
        return self._sizes

    def classes(self) -> tuple[list[NDArray[np.int32]], Sizes]:
        self._count()
        columns, keys = [], self._keys
        for room in self._room[:0:-1]:
            keys, column = np.divmod(keys, room)
            columns.append(column.astype(np.int32))
        return [keys.astype(np.int32), *columns[::-1]], self._sizes

    def _count(self) -> None:
        if not self._pending:
            return
        records = np.concatenate(self._pending)
        self._pending = []
        records.sort()
        first = np.flatnonzero(beginnings([records]))
        keys = np.concatenate((self._keys, records[first]))
        sizes = np.concatenate((self._sizes, np.diff(first, append=records.size)))
        (self._keys,), self._sizes = summed([keys], sizes)


class _Wide:
    """Classes as rows of numbers."""

    def __init__(self, columns: list[NDArray[np.int32]], sizes: Sizes) -> None:
        self._parts = [(columns, sizes)]
        self._waiting = 0

    def add(self, codes: Sequence[NDArray[np.int32]]) -> None:
        self._parts.append((list(codes), np.ones(codes[0].size, np.int64)))
        self._waiting += codes[0].size
        if self._waiting >= max(PENDING_RECORDS, self._parts[0][1].size // 2):
            self.classes()

    def sizes(self) -> Sizes:
        return self.classes()[1]

    def classes(self) -> tuple[list[NDArray[np.int32]], Sizes]:
        columns = [np.concatenate(parts) for parts in zip(*(codes for codes, _ in self._parts), strict=True)]
        self._parts, self._waiting = [summed(columns, np.concatenate([sizes for _, sizes in self._parts]))], 0
        return self._parts[0]


def summed(columns: Sequence[NDArray[Int]], sizes: Sizes) -> tuple[list[NDArray[Int]], Sizes]:
    """The different rows in ascending order, and the sum of the sizes of each."""
    order = np.lexsort(columns[::-1])
    columns = [column[order] for column in columns]
    first = np.flatnonzero(beginnings(columns))
    total = np.add.reduceat(sizes[order], first) if first.size else sizes
    return [column[first] for column in columns], total


def beginnings(columns: Sequence[NDArray[np.integer]]) -> NDArray[np.bool_]:
    """Which rows differ from the one before."""
    begins = np.zeros(columns[0].size, np.bool_)
    begins[:1] = True
    for column in columns:
        begins[1:] |= column[1:] != column[:-1]
    return begins


def _joined(columns: Sequence[NDArray[np.int32]], room: Sequence[int]) -> NDArray[np.int64]:
    """One number for each row; rows and numbers are in the same order."""
    keys = columns[0].astype(np.int64)
    for column, values in zip(columns[1:], room[1:], strict=True):
        keys *= values
        keys += column
    return keys
