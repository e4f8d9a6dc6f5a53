"""Number the combinations of values that occur in the rows of a file, and count them, chunk by chunk."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from .coded_file import CodedFile, FileColumn

Ints = NDArray[np.int64]
Mask = Callable[[int], NDArray[np.bool_]]
"""Which rows of the chunk with this number count."""

FEW_KEYS = 1 << 22
_DENSE_KEYS = 1 << 26
KEYS_PER_ROW = 6
MOST_KEYS = 1 << 62
PENDING_KEYS = 1 << 21


def is_dense(keys: int, rows: int) -> bool:
    """Return whether an array with an entry for each possible key takes less memory than a list of those that occur."""
    return keys <= min(_DENSE_KEYS, max(FEW_KEYS, KEYS_PER_ROW * rows))


class KeyCounter:
    """Counts the keys 0 … ``keys`` − 1 of ``rows`` rows, in an array or, if they are sparse, in sorted chunks."""

    def __init__(self, keys: int, rows: int) -> None:
        self._dense = np.zeros(keys, np.int32) if is_dense(keys, rows) else None
        self._pending: list[tuple[Ints, Ints]] = []
        self._waiting = 0
        self._known = 0

    def add(self, keys: Ints) -> None:
        """Count keys once more for every time that they occur."""
        if self._dense is not None:
            np.add.at(self._dense, keys, np.int32(1))
            return
        if not keys.size:
            return
        distinct_keys, counts = np.unique(keys, return_counts=True)
        self._pending.append((distinct_keys, counts))
        self._waiting += distinct_keys.size
        if self._waiting >= max(PENDING_KEYS, self._known):
            self._merge()

    def _merge(self) -> None:
        keys = np.concatenate([part for part, _ in self._pending])
        counts = np.concatenate([part for _, part in self._pending])
        self._pending.clear()
        order = np.argsort(keys, kind="stable")
        keys = keys[order]
        first = np.flatnonzero(np.concatenate(([True], keys[1:] != keys[:-1])))
        self._pending.append((keys[first], np.add.reduceat(counts[order], first)))
        self._known = first.size
        self._waiting = 0

    def keys_and_counts(self) -> tuple[Ints, Ints]:
        """Return the keys that occur, ascending, and how often each does."""
        if self._dense is not None:
            keys = np.flatnonzero(self._dense)
            return keys, self._dense[keys].astype(np.int64)
        if not self._pending:
            return np.zeros(0, np.int64), np.zeros(0, np.int64)
        self._merge()
        return self._pending[0]


@dataclass(frozen=True, eq=False)
class Combinations:
    """The combinations of values that occur in some columns of a file.

    Parameters
    ----------
    column : the number of each row's combination, as codes
    codes : the codes that make up each combination, one array for each column
    counts : the number of rows with each combination
    """

    column: FileColumn
    codes: tuple[Ints, ...]
    counts: Ints


def number_combinations(file: CodedFile, columns: Sequence[FileColumn]) -> Combinations:
    """Number the combinations of values in the order of their codes."""
    sizes = [max(1, column.values) for column in columns]
    if math.prod(sizes) >= MOST_KEYS:
        # The first columns are numbered by themselves, as many as the numbers can hold.
        head = next(n for n in range(len(sizes), 0, -1) if math.prod(sizes[:n]) < MOST_KEYS)
        first = number_combinations(file, columns[:head])
        both = number_combinations(file, [first.column, *columns[head:]])
        return Combinations(
            both.column, (*(codes[both.codes[0]] for codes in first.codes), *both.codes[1:]), both.counts
        )
    counter = KeyCounter(math.prod(sizes), file.rows)
    for keys in _keys(file, columns, sizes):
        counter.add(keys)
    combination_keys, counts = counter.keys_and_counts()
    is_direct = is_dense(math.prod(sizes), file.rows)
    numbers = _numbers(
        _keys(file, columns, sizes), combination_keys, math.prod(sizes) if is_direct else None
    )
    column = file.add_column(numbers, combination_keys.size)
    return Combinations(column, tuple(_split(combination_keys, sizes)), counts)


def _keys(file: CodedFile, columns: Sequence[FileColumn], sizes: Sequence[int]) -> Iterator[Ints]:
    """Return one number for the combination of each row."""
    for number, rows in enumerate(file.sizes):
        keys = np.zeros(rows, np.int64)
        for column, size in zip(columns, sizes, strict=True):
            keys *= size
            keys += column.codes(number)
        yield keys


def _numbers(
    keys: Iterable[Ints], keys_present: Ints, possible: int | None
) -> Iterator[NDArray[np.integer]]:
    if possible is not None:
        number_of = np.zeros(possible, np.int32)
        number_of[keys_present] = np.arange(keys_present.size)
        for part in keys:
            yield number_of[part]
        return
    index = pd.Index(keys_present)
    for part in keys:
        yield index.get_indexer(part)


def _split(keys: Ints, sizes: Sequence[int]) -> list[Ints]:
    parts = []
    for size in reversed(sizes):
        keys, part = np.divmod(keys, size)
        parts.append(part)
    return parts[::-1]


def number_rows(columns: Sequence[Ints], rows: int) -> Ints:
    """Number rows of numbers: equal rows have equal numbers."""
    number = np.zeros(rows, np.int64)
    for column in columns:
        # Numbers are made small again after each column, so that they never overflow.
        number = np.unique(number * (int(column.max(initial=0)) + 1) + column, return_inverse=True)[
            1
        ].astype(np.int64)
    return number.ravel()


@dataclass(frozen=True, eq=False)
class PairCounts:
    """Number of rows with each pair of a group and a value, for the pairs that occur; ordered by group."""

    group: Ints
    value: Ints
    counts: Ints


def count_pairs(
    file: CodedFile, groups: FileColumn, values: FileColumn, mask: Mask | None = None
) -> PairCounts:
    """Count the rows by group and value."""
    size = max(1, values.values)
    counter = KeyCounter(max(1, groups.values) * size, file.rows)
    for number in range(len(file.sizes)):
        keys = groups.codes(number).astype(np.int64) * size + values.codes(number)
        counter.add(keys if mask is None else keys[mask(number)])
    pair_keys, counts = counter.keys_and_counts()
    group, value = np.divmod(pair_keys, size)
    return PairCounts(group, value, counts)


def regroup(pairs: PairCounts, group_of: Ints, value_of: Ints) -> PairCounts:
    """Put groups and values together: ``group_of`` and ``value_of`` have their new numbers, −1: they are left out."""
    group = group_of[pairs.group]
    value = value_of[pairs.value]
    is_kept = (group >= 0) & (value >= 0)
    size = int(value.max(initial=0)) + 1
    keys, where = np.unique(group[is_kept] * size + value[is_kept], return_inverse=True)
    counts = np.bincount(where, pairs.counts[is_kept], keys.size).astype(np.int64)
    group, value = np.divmod(keys, size)
    return PairCounts(group, value, counts)
