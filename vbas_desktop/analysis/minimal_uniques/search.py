"""Find the minimal combinations of values that fewer than k records share, size by size.

A superset of a risky combination is risky, so a combination is minimal iff none of those with one column less is. A row
that is already covered by a smaller risky combination of a column set needs no look at the larger set: all records that
share its values there are covered as well, so the counts of the other rows stay exact.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from vbas_desktop.algorithms.composite_keys import LARGEST_KEY
from vbas_desktop.model.progress import NO_PROGRESS, Progress
from vbas_desktop.model.text import format_count

from .distinct_rows import DistinctRows
from .results import SearchLevel, SearchResult, UniqueCombinations, find_risky_rows, mark_covered_rows

if TYPE_CHECKING:
    from vbas_desktop.algorithms.kernels.minimal_uniques import Buffers

WORK_LIMIT = 20_000_000_000
"""Row visits after which a search ends and is marked incomplete (some minutes)."""

MASK_LIMIT = 1 << 30
"""Bytes for the masks of covered rows over all sets of columns of one size."""

_DENSE_LIMIT = 1 << 24

Covered = dict[tuple[int, ...], NDArray[np.uint8]]
"""Mask of the rows that smaller risky combinations cover, one bit per row, by set of columns."""


@dataclass(frozen=True)
class Exemption:
    """Combinations that domain rules exempt: all with one of ``columns``, and those that ``is_exempt`` accepts.

    ``is_exempt`` is called with a set of columns. Larger combinations than those that it accepts are still searched;
    larger ones than those with one of ``columns`` contain that column too.
    """

    columns: frozenset[int]
    is_exempt: Callable[[tuple[int, ...]], bool]

    def exempts_column(self, combinations: UniqueCombinations) -> bool:
        """Say whether combinations are exempt for one of their columns, whatever their size."""
        return not self.columns.isdisjoint(combinations.columns)

    def __call__(self, combinations: UniqueCombinations) -> bool:
        """Say whether a rule exempts the combinations of these columns."""
        return self.exempts_column(combinations) or self.is_exempt(combinations.columns)


@dataclass(frozen=True)
class SearchLimits:
    """Limits of a search: largest size (None: all sizes), row visits, and bytes of masks."""

    max_size: int | None = None
    row_visits: int = WORK_LIMIT
    mask_bytes: int = MASK_LIMIT


def find_minimal_uniques(
    table: DistinctRows,
    k: int,
    *,
    limits: SearchLimits = SearchLimits(),  # noqa: B008 (frozen)
    first_level_only: bool = False,
    exempt: Exemption | None = None,
    references: Sequence[DistinctRows] = (),
    progress: Progress = NO_PROGRESS,
) -> SearchResult:
    """Find the combinations of all sizes within the limits, or only of the first size that has any.

    Values that are rare in one of the ``references`` (public tables) are risky, too.
    """
    width = len(table.columns)
    search = SearchResult(scores=np.zeros(table.rows, np.int32))
    if not references and (table.anonymity or k) >= k:
        return search  # no class over all columns is small, so no combination is
    covered: Covered = {(): np.zeros((table.rows + 7) // 8, np.uint8)}
    counter = _ColumnSetCounter(table, k)
    counter.prepare(covered[()], search.scores, progress)
    row_visits = 0
    for size in range(1, width + 1):
        if limits.max_size is not None and size > limits.max_size:
            search.mark_incomplete(f"sizes above {limits.max_size} were not searched")
            break
        if all(_count_bits(mask) == table.rows for mask in covered.values()):
            break  # every row is covered in every smaller set: no larger combination can be minimal
        if math.comb(width, size) * (table.rows // 8 + 1) > limits.mask_bytes:
            search.mark_incomplete(explain_work_limit(width, table.rows, size))
            break
        level = _LevelSearch(table, k, size, covered, references, counter, search.scores)
        row_visits += level.work
        if not level.work:
            break
        if row_visits > limits.row_visits:
            search.mark_incomplete(explain_work_limit(width, table.rows, size))
            break
        search.levels.append(level.run(exempt, progress))
        covered = level.covered
        if first_level_only and search.levels[-1].number:
            break
    return search


def explain_work_limit(columns: int, rows: int, size: int) -> str:
    """Explain why a search was ended, and what to reduce."""
    sets = math.comb(columns, size)
    return (
        f"size {size} alone has {sets:,} sets of columns over {rows:,} different rows; "
        "search fewer columns, or set a largest size"
    )


class _ColumnSetCounter:
    """Compiled search of one set of columns after the other, in memory that all of them share."""

    def __init__(self, table: DistinctRows, k: int) -> None:
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
        """Compile the kernels for the types of this table."""
        table = self._table
        self._kernels.prepare_search(
            table.codes, table.weights, self._k, scores, mask, self._buffers, progress
        )

    def fits(self, columns: tuple[int, ...]) -> bool:
        """Say whether the composite keys of these columns fit into 64 bits."""
        return math.prod(map(self._table.number_of_values, columns)) < LARGEST_KEY

    def search(
        self, columns: tuple[int, ...], mask: NDArray[np.uint8], scores: NDArray[np.int32]
    ) -> UniqueCombinations | None:
        """Cover and score the rows that are risky over these columns.

        Returns the minimal combinations, None if there are none.
        """
        table = self._table
        kernels = self._kernels
        active = self._buffers.active[: kernels.open_rows(mask, table.rows, self._buffers.active)]
        n_values = [table.number_of_values(column) for column in columns]
        buffers = self._clear(math.prod(n_values), active.size)._replace(active=active)
        kernels.add_up(table.codes, np.array(columns), np.array(n_values), table.weights, buffers)
        if not kernels.any_below(buffers.totals, self._k):
            return None
        n_found = kernels.pick(self._k, scores, mask, buffers)
        return UniqueCombinations.from_counts(
            columns, active[:n_found].view(np.int32), buffers.slots[:n_found].astype(self._count_type)
        )

    def _clear(self, radix: int, rows: int) -> Buffers:
        """Clear the buffers for ``rows`` rows, with a hash table if totals of all ``radix`` keys would be too large."""
        is_hashed = radix > min(_DENSE_LIMIT, max(4 * rows, 1 << 12))
        # At most two of three slots of the hash table are taken, so that searches in it stay short.
        size = max(16, rows + rows // 2) if is_hashed else radix
        slots = size if is_hashed else 0
        totals = _enlarge(self._buffers.totals, size)
        table = _enlarge(self._buffers.table, slots)
        self._buffers = self._buffers._replace(totals=totals, table=table)
        totals[:size] = 0
        table[:slots] = -1
        return self._buffers._replace(totals=totals[:size], table=table[:slots])


def _enlarge(array: NDArray[Any], size: int) -> NDArray[Any]:
    """Return an array of at least this size; its content is undefined."""
    return array if array.size >= size else np.empty(size, array.dtype)


class _LevelSearch:
    """Search of one size: counts every set of columns over the rows that no smaller risky combination covers.

    ``before`` holds the masks of the smaller sets; each is removed as soon as no set needs it any more.
    """

    def __init__(
        self,
        table: DistinctRows,
        k: int,
        size: int,
        before: Covered,
        references: Sequence[DistinctRows],
        counter: _ColumnSetCounter,
        scores: NDArray[np.int32],
    ) -> None:
        self._table = table
        self._k = k
        self._size = size
        self._before = before
        self._references = references
        self._counter = counter
        self._scores = scores
        self.covered: Covered = {}
        self.work = self._count_row_visits()

    def _iterate_sets(self) -> Iterator[tuple[int, ...]]:
        return combinations(range(len(self._table.columns)), self._size)

    def _count_row_visits(self) -> int:
        """Count the rows that this size visits at most."""
        n_open = {
            columns: self._table.rows - _count_bits(mask) for columns, mask in self._before.items()
        }
        return sum(
            min(n_open[subset] for subset in _list_subsets(columns)) for columns in self._iterate_sets()
        )

    def _pop_covered(self, columns: tuple[int, ...]) -> NDArray[np.uint8]:
        """Compute the mask of rows that smaller combinations cover; remove the masks that only this set needed."""
        subsets = _list_subsets(columns)
        mask = self._before[subsets[0]].copy()
        for subset in subsets[1:]:
            mask |= self._before[subset]
        highest = len(self._table.columns) - 1
        for excluded, subset in zip(columns, subsets, strict=True):
            # Sets come in order, so the last one with this subset adds the last column that is not in it.
            if all(column in subset for column in range(excluded + 1, highest + 1)):
                del self._before[subset]
        return mask

    def run(self, exempt: Exemption | None, progress: Progress) -> SearchLevel:
        """Find the minimal risky combinations of this size; those of exempt sets of columns do not count."""
        risky = []
        exempted = []
        n_sets = math.comb(len(self._table.columns), self._size)
        for number, columns in enumerate(self._iterate_sets()):
            progress.update(f"Combinations of {format_count(self._size, 'column')}", number / n_sets)
            column_set = self._search(columns)
            if column_set is None:
                continue
            if exempt is not None and exempt(column_set):
                exempted.append(column_set)
            else:
                risky.append(column_set)
        for column_set in exempted:
            assert exempt is not None
            self._exempt(column_set, uncover=not exempt.exempts_column(column_set))
        return SearchLevel(self._size, tuple(risky), tuple(exempted))

    def _search(self, columns: tuple[int, ...]) -> UniqueCombinations | None:
        """Search one set of columns; None if it has no minimal risky combination."""
        mask = self.covered[columns] = self._pop_covered(columns)
        if not self._references and self._counter.fits(columns):
            return self._counter.search(columns, mask, self._scores)
        covered = np.unpackbits(mask, count=self._table.rows).view(bool)
        rows, combinations = find_risky_rows(
            self._table, self._references, columns, np.flatnonzero(~covered).astype(np.int32), self._k
        )
        self._scores[rows] += 1
        covered[rows] = True
        self.covered[columns] = np.packbits(covered)
        return combinations if rows.size else None

    def _exempt(self, combinations: UniqueCombinations, uncover: bool) -> None:
        """Remove exempt combinations from the scores; with ``uncover``, larger combinations are searched as well."""
        rows = mark_covered_rows(self._table, combinations)
        self._scores[rows] -= 1
        if uncover:
            self.covered[combinations.columns] &= ~np.packbits(rows)


def _list_subsets(columns: tuple[int, ...]) -> list[tuple[int, ...]]:
    return [columns[:position] + columns[position + 1 :] for position in range(len(columns))]


def _count_bits(packed: NDArray[np.uint8]) -> int:
    return int(np.bitwise_count(packed).sum())
