"""Finds the minimal combinations of values that fewer than k records share, size by size.

A superset of a risky combination is risky, so a combination is minimal iff none of those with one column less is. A row
that is already covered by a smaller risky combination of a column set needs no look at the larger set: all records
that share its values there are covered as well, so the counts of the other rows stay exact.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import combinations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from vbas_desktop.domain.progress import Progress, Silent

from .kernels import hash_keys, keys_of, open_rows, pick
from .table import Table

WORK_LIMIT = 20_000_000_000
"""Row visits after which a search ends and says that it is not complete (some minutes)."""

_DENSE_LIMIT = 1 << 24
_SLICE = 2_000_000


@dataclass(frozen=True, eq=False)
class Found:
    """The minimal risky combinations over one set of columns: a distinct row that shows each, and its count."""

    columns: tuple[int, ...]
    rows: NDArray[np.int32]
    counts: NDArray[np.integer]

    @property
    def size(self) -> int:
        """Number of columns."""
        return len(self.columns)


@dataclass(frozen=True, eq=False)
class Level:
    """All minimal risky combinations of one size, and which rows they cover."""

    size: int
    found: tuple[Found, ...]
    exempted: tuple[Found, ...] = ()

    @property
    def number(self) -> int:
        """How many combinations there are."""
        return sum(each.rows.size for each in self.found)


@dataclass(eq=False)
class Search:
    """The outcome of a search. ``scores[i]``: in how many minimal risky combinations distinct row i is."""

    levels: list[Level] = field(default_factory=list)
    complete: bool = True
    why_incomplete: str = ""
    scores: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, np.int64))

    @property
    def number(self) -> int:
        """How many minimal risky combinations were found."""
        return sum(level.number for level in self.levels)

    @property
    def exempted(self) -> int:
        """How many risky combinations the domain rules let pass."""
        return sum(each.rows.size for level in self.levels for each in level.exempted)


Exempt = Callable[[int, list[Found]], list[NDArray[np.bool_]]]
"""Given a size and what was found: for each `Found`, which of its combinations the domain rules let pass."""


def mine(
    table: Table,
    k: int,
    *,
    max_size: int | None = None,
    first_level_only: bool = False,
    exempt: Exempt | None = None,
    reference: Table | None = None,
    work_limit: int = WORK_LIMIT,
    progress: Progress | None = None,
) -> Search:
    """Search all sizes up to ``max_size`` (None: all), or until the first size that has risky combinations left."""
    progress = progress or Silent()
    width = len(table.columns)
    search = Search(scores=np.zeros(table.rows, np.int64))
    if reference is None and (table.anonymity or k) >= k:
        return search  # no class over all columns is small, so no combination is
    covered: dict[tuple[int, ...], NDArray[np.uint8]] = {(): np.packbits(np.zeros(table.rows, bool))}
    scratch = _Scratch(table, k)
    work = 0
    for size in range(1, width + 1):
        if max_size is not None and size > max_size:
            search.complete, search.why_incomplete = False, f"sizes above {max_size} were not searched"
            break
        level = _Level(table, k, size, covered, reference, scratch)
        work += level.work()
        if work > work_limit:
            search.complete = False
            search.why_incomplete = too_much(width, table.rows, size)
            break
        if level.nothing_left():
            break
        found = level.run(progress)
        passed = exempt(size, found) if exempt is not None else [np.zeros(each.rows.size, bool) for each in found]
        search.levels.append(_settled(size, found, passed))
        search.scores += level.scores
        covered = level.covered_without(found, passed)
        if first_level_only and search.levels[-1].number:
            break
    return search


def too_much(columns: int, rows: int, size: int) -> str:
    """Why a search was given up, and what to reduce."""
    sets = math.comb(columns, size)
    return (
        f"size {size} alone has {sets:,} sets of columns over {rows:,} different rows; "
        "search fewer columns, or set a largest size"
    )


def _settled(size: int, found: list[Found], passed: list[NDArray[np.bool_]]) -> Level:
    kept = [Found(f.columns, f.rows[~p], f.counts[~p]) for f, p in zip(found, passed, strict=True)]
    exempted = [Found(f.columns, f.rows[p], f.counts[p]) for f, p in zip(found, passed, strict=True)]
    return Level(size, tuple(f for f in kept if f.rows.size), tuple(f for f in exempted if f.rows.size))


class _Scratch:
    """What the compiled search of all sets shares: codes as small as they can be, and memory used again and again."""

    def __init__(self, table: Table, k: int) -> None:
        self._numbers = tuple(max(len(values), 1) for values in table.values)
        smallest = np.min_scalar_type(max(self._numbers, default=1))
        self._codes = np.stack([codes.astype(smallest) for codes in table.codes])
        self._countable = table.records < 1 << 31
        self._weights = table.weights.astype(np.int32) if self._countable else np.zeros(0, np.int32)
        self._k = min(k, (1 << 31) - 1)
        self._active, self._rows = np.empty(table.rows + 8, np.int32), np.empty(table.rows + 1, np.int32)
        self._keys = np.empty(table.rows, np.int64)
        self._totals = np.empty(0, np.int32)

    def fits(self, columns: tuple[int, ...]) -> bool:
        """Whether counts and the keys of these columns are whole numbers that the machine can hold."""
        return self._countable and math.prod(self._numbers[column] for column in columns) < 1 << 62

    def search(
        self, columns: tuple[int, ...], mask: NDArray[np.uint8], scores: NDArray[np.int32]
    ) -> tuple[NDArray[np.int32], NDArray[np.integer]]:
        """Cover and score the rows that are risky over these columns; a row and the count of each combination."""
        size = open_rows(mask, self._keys.size, self._active)
        numbers = np.array([self._numbers[column] for column in columns], np.int64)
        keys_of(self._codes, np.array(columns, np.int64), numbers, self._active, size, self._keys)
        radix = math.prod(self._numbers[column] for column in columns)
        if radix > min(_DENSE_LIMIT, max(4 * size, 1 << 12)):
            radix = 1 << max(4, int(2 * size - 1).bit_length())
            hash_keys(self._keys, size, np.full(radix, -1, np.int64))
        totals = self._cleared(radix)
        found = pick(self._keys, self._active, size, self._weights, totals, self._k, scores, mask, self._rows)
        smallest = np.min_scalar_type(max(self._k - 1, 0))
        return self._rows[:found].copy(), self._keys[:found].astype(smallest)

    def _cleared(self, size: int) -> NDArray[np.int32]:
        if self._totals.size < size:
            self._totals = np.zeros(size, np.int32)
        totals = self._totals[:size]
        totals.fill(0)
        return totals


class _Level:
    """One size: counts every set of columns over the rows that no smaller risky combination covers."""

    def __init__(
        self,
        table: Table,
        k: int,
        size: int,
        covered: dict[tuple[int, ...], NDArray[np.uint8]],
        reference: Table | None,
        scratch: _Scratch,
    ) -> None:
        self._table, self._k, self._size, self._before = table, k, size, covered
        self._reference, self._scratch = reference, scratch
        self.scores = np.zeros(table.rows, np.int32)
        self._risky: dict[tuple[int, ...], NDArray[np.uint8]] = {}

    def _sets(self) -> Iterator[tuple[int, ...]]:
        return combinations(range(len(self._table.columns)), self._size)

    def _covered(self, columns: tuple[int, ...]) -> NDArray[np.uint8]:
        subsets = [columns[:j] + columns[j + 1 :] for j in range(self._size)]
        mask = self._before[subsets[0]].copy()
        for subset in subsets[1:]:
            mask |= self._before[subset]
        return mask

    def work(self) -> int:
        """Row visits that this size costs at most."""
        open_rows = {columns: self._table.rows - _ones(mask) for columns, mask in self._before.items()}
        if self._size == 1:
            return self._table.rows * len(self._table.columns)
        return sum(
            min(open_rows[columns[:j] + columns[j + 1 :]] for j in range(self._size)) for columns in self._sets()
        )

    def nothing_left(self) -> bool:
        """Whether every row is covered in every smaller set: no larger combination can be minimal."""
        return self.work() == 0

    def run(self, progress: Progress) -> list[Found]:
        """The minimal risky combinations of this size."""
        found = []
        total = math.comb(len(self._table.columns), self._size)
        for number, columns in enumerate(self._sets()):
            progress.update(f"Combinations of {self._size} columns", number / total)
            found += self._search(columns, progress)
        return found

    def _search(self, columns: tuple[int, ...], progress: Progress) -> list[Found]:
        mask = self._covered(columns)
        if self._reference is not None or not self._scratch.fits(columns):
            return self._search_generally(columns, mask, progress)
        self._risky[columns] = mask
        rows, counts = self._scratch.search(columns, mask, self.scores)
        return [Found(columns, rows, counts)] if rows.size else []

    def _search_generally(self, columns: tuple[int, ...], mask: NDArray[np.uint8], progress: Progress) -> list[Found]:
        """The same for any number of values and with a public table, slower."""
        table = self._table
        covered = np.unpackbits(mask, count=table.rows).view(bool)
        active = np.flatnonzero(~covered).astype(np.int32)
        self._risky[columns] = mask
        if not active.size:
            return []
        keys, radix = _keys(table, columns, active)
        group, counts = _grouped(keys, radix, table.weights[active], progress)
        risky = counts < self._k
        if self._reference is not None:
            risky |= _reference_counts(table, self._reference, columns, active, group, counts.size) < self._k
        if not risky.any():
            return []
        hit = risky[group]
        rows = active[hit]
        self.scores[rows] += 1
        covered[rows] = True
        self._risky[columns] = np.packbits(covered)
        _, first = np.unique(group[hit], return_index=True)
        return [Found(columns, rows[first], counts[group[hit][first]])]

    def covered_without(
        self, found: list[Found], passed: list[NDArray[np.bool_]]
    ) -> dict[tuple[int, ...], NDArray[np.uint8]]:
        """Which rows are covered after this size; combinations that were let pass cover nothing."""
        for each, let in zip(found, passed, strict=True):
            if let.any():
                mask = np.unpackbits(self._risky[each.columns], count=self._table.rows).view(bool)
                mask[_rows_like(self._table, each.columns, each.rows[let])] = False
                self._risky[each.columns] = np.packbits(mask)
        return self._risky


def _rows_like(table: Table, columns: tuple[int, ...], examples: NDArray[np.int32]) -> NDArray[np.bool_]:
    """The rows that share the values of one of the example rows in these columns."""
    keys, _ = _keys(table, columns, np.arange(table.rows, dtype=np.int32))
    return np.isin(keys, keys[examples])


def rows_of(table: Table, found: Found) -> NDArray[np.bool_]:
    """The distinct rows that have one of the found combinations."""
    return _rows_like(table, found.columns, found.rows)


def _ones(packed: NDArray[np.uint8]) -> int:
    return int(np.bitwise_count(packed).sum())


def _keys(table: Table, columns: tuple[int, ...], active: NDArray[np.int32]) -> tuple[NDArray[np.int64], int]:
    """One number per active row, equal iff the rows agree in these columns; and a bound of the numbers."""
    key, radix = np.zeros(active.size, np.int64), 1
    for column in columns:
        number = max(len(table.values[column]), 1)
        if radix * number >= 1 << 62:
            distinct, key = np.unique(key, return_inverse=True)
            radix = distinct.size
        _extend(key, table.codes[column], active, number)
        radix *= number
    return key, radix


@njit(cache=True, nogil=True)
def _extend(key: NDArray[np.int64], codes: NDArray[np.integer], active: NDArray[np.int32], number: int) -> None:
    for i in range(key.size):
        key[i] = key[i] * number + codes[active[i]]


def _grouped(
    keys: NDArray[np.int64], radix: int, weights: NDArray[np.int64], progress: Progress
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The group of each key and the records of each group."""
    if radix <= max(_DENSE_LIMIT // 8, 2 * keys.size) and radix <= _DENSE_LIMIT:
        totals = np.zeros(radix, np.int64)
        _add_up(keys, weights, totals)
        return keys, totals
    slots = 1 << max(4, int(2 * keys.size - 1).bit_length())
    table_keys, group = np.full(slots, -1, np.int64), np.empty(keys.size, np.int64)
    totals = np.zeros(slots, np.int64)
    for start in range(0, keys.size, _SLICE):
        progress.update("Counting combinations")
        end = min(start + _SLICE, keys.size)
        _add_up_hashed(keys, weights, start, end, table_keys, totals, group)
    return group, totals


@njit(cache=True, nogil=True)
def _add_up(keys: NDArray[np.int64], weights: NDArray[np.int64], totals: NDArray[np.int64]) -> None:
    for i in range(keys.size):
        totals[keys[i]] += weights[i]


@njit(cache=True, nogil=True)
def _add_up_hashed(
    keys: NDArray[np.int64],
    weights: NDArray[np.int64],
    start: int,
    end: int,
    table: NDArray[np.int64],
    totals: NDArray[np.int64],
    group: NDArray[np.int64],
) -> None:
    """Open addressing; the group of a key is its slot."""
    last = table.size - 1
    for i in range(start, end):
        key = keys[i]
        mixed = np.uint64(key) * np.uint64(0x9E3779B97F4A7C15)
        slot = np.int64(mixed >> np.uint64(20)) & last
        while table[slot] != key and table[slot] != -1:
            slot = (slot + 1) & last
        table[slot] = key
        totals[slot] += weights[i]
        group[i] = slot


def _reference_counts(
    table: Table,
    reference: Table,
    columns: tuple[int, ...],
    active: NDArray[np.int32],
    group: NDArray[np.int64],
    groups: int,
) -> NDArray[np.int64]:
    """How often each group occurs in the public table; far more than k where the sets of columns do not match."""
    plenty = np.full(groups, np.iinfo(np.int64).max)
    names = [table.columns[column] for column in columns]
    if any(name not in reference.columns for name in names):
        return plenty
    own_key = np.zeros(active.size, np.int64)
    other_key = np.zeros(reference.rows, np.int64)
    for column, name in zip(columns, names, strict=True):
        other = reference.columns.index(name)
        shared = {value: number for number, value in enumerate({*table.values[column], *reference.values[other]})}
        translate = np.array([shared[value] for value in table.values[column]], np.int64)
        translate_other = np.array([shared[value] for value in reference.values[other]], np.int64)
        own_key = own_key * len(shared) + translate[table.codes[column][active]]
        other_key = other_key * len(shared) + translate_other[reference.codes[other]]
        _, both = np.unique(np.concatenate([own_key, other_key]), return_inverse=True)
        own_key, other_key = both[: active.size], both[active.size :]
    counts = np.zeros(int(max(own_key.max(initial=-1), other_key.max(initial=-1))) + 1, np.int64)
    np.add.at(counts, other_key, reference.weights)
    plenty[group] = counts[own_key]
    return plenty
