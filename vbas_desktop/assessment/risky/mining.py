"""Finds the minimal combinations of values that fewer than k records share, size by size.

A superset of a risky combination is risky, so a combination is minimal iff none of those with one column less is. A row
that is already covered by a smaller risky combination of a column set needs no look at the larger set: all records
that share its values there are covered as well, so the counts of the other rows stay exact.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, compress
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from vbas_desktop.algorithms.composite_keys import LARGEST_KEY
from vbas_desktop.model.progress import Progress, Silent
from vbas_desktop.model.words import counted

from .found import Found, Level, Search, risky_rows, rows_of
from .table import Table

if TYPE_CHECKING:
    from vbas_desktop.algorithms.kernels.minimal_uniques import Buffers

WORK_LIMIT = 20_000_000_000
"""Row visits after which a search ends and says that it is not complete (some minutes)."""

MASK_LIMIT = 1 << 30
"""Bytes that may tell which rows are covered over all sets of columns of one size."""

_DENSE_LIMIT = 1 << 24

Covered = dict[tuple[int, ...], NDArray[np.uint8]]
"""For sets of columns: which rows smaller risky combinations cover, one bit per row."""


@dataclass(frozen=True)
class Exemption:
    """What domain rules let pass: every combination with one of ``columns``, and what ``lets_pass`` accepts.

    ``lets_pass`` is given a set of columns. Larger combinations than those that it accepts are still looked at; larger
    ones than those with one of ``columns`` contain that column too.
    """

    columns: frozenset[int]
    lets_pass: Callable[[tuple[int, ...]], bool]

    def by_column(self, found: Found) -> bool:
        """Say whether a combination is let pass for a column of its own, whatever its size."""
        return not self.columns.isdisjoint(found.columns)

    def __call__(self, found: Found) -> bool:
        """Say whether a rule lets the combinations of these columns pass."""
        return self.by_column(found) or self.lets_pass(found.columns)


def mine(
    table: Table,
    k: int,
    *,
    max_size: int | None = None,
    first_level_only: bool = False,
    exempt: Exemption | None = None,
    references: Sequence[Table] = (),
    work_limit: int = WORK_LIMIT,
    mask_limit: int = MASK_LIMIT,
    progress: Progress | None = None,
) -> Search:
    """Search all sizes up to ``max_size`` (None: all), or until the first size that has risky combinations left."""
    progress = progress or Silent()
    width = len(table.columns)
    search = Search(scores=np.zeros(table.rows, np.int32))
    if not references and (table.anonymity or k) >= k:
        return search  # no class over all columns is small, so no combination is
    covered: Covered = {(): np.zeros((table.rows + 7) // 8, np.uint8)}
    scratch = _Scratch(table, k)
    scratch.prepare(covered[()], search.scores, progress)
    work = 0
    for size in range(1, width + 1):
        if max_size is not None and size > max_size:
            search.give_up(f"sizes above {max_size} were not searched")
            break
        if all(_ones(mask) == table.rows for mask in covered.values()):
            break  # every row is covered in every smaller set: no larger combination can be minimal
        if math.comb(width, size) * (table.rows // 8 + 1) > mask_limit:
            search.give_up(too_much(width, table.rows, size))
            break
        level = _Level(table, k, size, covered, references, scratch, search.scores)
        work += level.work
        if not level.work:
            break
        if work > work_limit:
            search.give_up(too_much(width, table.rows, size))
            break
        found = level.run(progress)
        passed = [exempt is not None and exempt(each) for each in found]
        for each in compress(found, passed):
            assert exempt is not None
            level.let_pass(each, uncover=not exempt.by_column(each))
        search.levels.append(Level(size, _those(found, passed, False), _those(found, passed, True)))
        covered = level.covered
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


def _those(found: list[Found], passed: list[bool], wanted: bool) -> tuple[Found, ...]:
    return tuple(each for each, let in zip(found, passed, strict=True) if let is wanted)


class _Scratch:
    """The compiled search of one set of columns after the other, with memory that all of them use."""

    def __init__(self, table: Table, k: int) -> None:
        from vbas_desktop.algorithms.kernels import minimal_uniques

        self._kernels = minimal_uniques
        self._table = table
        self._k = min(k, (1 << 31) - 1)
        self._count_type = np.min_scalar_type(self._k)
        self._buffers = minimal_uniques.Buffers(
            active=np.empty(table.rows + 8, np.uint32),
            slots=np.empty(table.rows, np.uint32),
            table=np.empty(0, np.int64),
            totals=np.empty(0, np.int32),
            keys=np.empty(minimal_uniques.BLOCK, np.int64),
            hits=np.empty(minimal_uniques.BLOCK + 1, np.uint32),
        )

    def prepare(self, mask: NDArray[np.uint8], scores: NDArray[np.int32], progress: Progress) -> None:
        """Have the kernels compiled for the types of this table."""
        from vbas_desktop.algorithms.kernels.preparation import prepare

        table, kernels, buffers = self._table, self._kernels, self._buffers
        numbers = np.zeros(0, np.int64)
        prepare(progress, kernels.open_rows, mask, table.rows, buffers.active)
        prepare(progress, kernels.add_up, table.codes, numbers, numbers, table.weights, buffers)
        prepare(progress, kernels.any_below, buffers.totals, self._k)
        prepare(progress, kernels.pick, self._k, scores, mask, buffers)

    def fits(self, columns: tuple[int, ...]) -> bool:
        """Whether the keys of these columns are whole numbers that the machine can hold."""
        return math.prod(map(self._table.number_of_values, columns)) < LARGEST_KEY

    def search(self, columns: tuple[int, ...], mask: NDArray[np.uint8], scores: NDArray[np.int32]) -> Found | None:
        """Cover and score the rows that are risky over these columns; the combinations that make them so."""
        table, kernels = self._table, self._kernels
        active = self._buffers.active[: kernels.open_rows(mask, table.rows, self._buffers.active)]
        numbers = [table.number_of_values(column) for column in columns]
        buffers = self._clear(math.prod(numbers), active.size)._replace(active=active)
        kernels.add_up(table.codes, np.array(columns), np.array(numbers), table.weights, buffers)
        if not kernels.any_below(buffers.totals, self._k):
            return None
        found = kernels.pick(self._k, scores, mask, buffers)
        return Found.of(columns, active[:found].view(np.int32), buffers.slots[:found].astype(self._count_type))

    def _clear(self, radix: int, rows: int) -> Buffers:
        """Return the buffers with totals for so many rows, and a hash table if all keys would take too much memory."""
        is_hashed = radix > min(_DENSE_LIMIT, max(4 * rows, 1 << 12))
        # At most two of three slots of the hash table are taken, so that searches in it stay short.
        size = max(16, rows + rows // 2) if is_hashed else radix
        slots = size if is_hashed else 0
        totals = _grown(self._buffers.totals, size)
        table = _grown(self._buffers.table, slots)
        self._buffers = self._buffers._replace(totals=totals, table=table)
        totals[:size] = 0
        table[:slots] = -1
        return self._buffers._replace(totals=totals[:size], table=table[:slots])


def _grown(array: NDArray[Any], size: int) -> NDArray[Any]:
    """An array of at least this size; what is in it does not matter."""
    return array if array.size >= size else np.empty(size, array.dtype)


class _Level:
    """One size: counts every set of columns over the rows that no smaller risky combination covers.

    ``before`` holds the masks of the smaller sets; each is taken out as soon as no set needs it any more.
    """

    def __init__(
        self,
        table: Table,
        k: int,
        size: int,
        before: Covered,
        references: Sequence[Table],
        scratch: _Scratch,
        scores: NDArray[np.int32],
    ) -> None:
        self._table, self._k, self._size, self._before = table, k, size, before
        self._references, self._scratch, self._scores = references, scratch, scores
        self.covered: Covered = {}
        self.work = self._row_visits()

    def _sets(self) -> Iterator[tuple[int, ...]]:
        return combinations(range(len(self._table.columns)), self._size)

    def _row_visits(self) -> int:
        """How many rows this size has to look at, at most."""
        left = {columns: self._table.rows - _ones(mask) for columns, mask in self._before.items()}
        return sum(min(left[subset] for subset in _subsets(columns)) for columns in self._sets())

    def _taken(self, columns: tuple[int, ...]) -> NDArray[np.uint8]:
        """Which rows smaller combinations cover; takes out the masks that only this set still needed."""
        subsets = _subsets(columns)
        mask = self._before[subsets[0]].copy()
        for subset in subsets[1:]:
            mask |= self._before[subset]
        highest = len(self._table.columns) - 1
        for left_out, subset in zip(columns, subsets, strict=True):
            # Sets come in order, so the last one with this subset adds the last column that is not in it.
            if all(column in subset for column in range(left_out + 1, highest + 1)):
                del self._before[subset]
        return mask

    def run(self, progress: Progress) -> list[Found]:
        """The minimal risky combinations of this size."""
        found = []
        total = math.comb(len(self._table.columns), self._size)
        for number, columns in enumerate(self._sets()):
            progress.update(f"Combinations of {counted(self._size, 'column')}", number / total)
            one = self._search(columns)
            if one is not None:
                found.append(one)
        return found

    def _search(self, columns: tuple[int, ...]) -> Found | None:
        mask = self.covered[columns] = self._taken(columns)
        if not self._references and self._scratch.fits(columns):
            return self._scratch.search(columns, mask, self._scores)
        covered = np.unpackbits(mask, count=self._table.rows).view(bool)
        rows, found = risky_rows(
            self._table, self._references, columns, np.flatnonzero(~covered).astype(np.int32), self._k
        )
        self._scores[rows] += 1
        covered[rows] = True
        self.covered[columns] = np.packbits(covered)
        return found if rows.size else None

    def let_pass(self, found: Found, uncover: bool) -> None:
        """Do not count combinations for a row; with ``uncover``, larger combinations are looked at as well."""
        rows = rows_of(self._table, found)
        self._scores[rows] -= 1
        if uncover:
            self.covered[found.columns] &= ~np.packbits(rows)


def _subsets(columns: tuple[int, ...]) -> list[tuple[int, ...]]:
    return [columns[:place] + columns[place + 1 :] for place in range(len(columns))]


def _ones(packed: NDArray[np.uint8]) -> int:
    return int(np.bitwise_count(packed).sum())
