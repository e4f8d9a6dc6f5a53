"""Counts of initial regions added up to counts of aggregated regions, and the smallest classes of each."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from vbas_desktop.domain.progress import Progress, Silent
from vbas_desktop.domain.records import EquivalenceCounts, frozen

_BLOCK_CELLS = 4_000_000
_CACHED_CELLS = 200_000
"""Block sizes: what a stop may wait for, and what stays in the processor's cache during several passes over it."""

_MASK_CELLS = 64_000_000


def dense_membership(owner: NDArray[np.integer]) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Dense numbers (0 …) of the owners that own something, and which owner each number stands for (ascending)."""
    used, membership = np.unique(owner, return_inverse=True)
    return membership.astype(np.int32), used.astype(np.int64)


def aggregate(
    counts: EquivalenceCounts, membership: NDArray[np.int32], groups: int, progress: Progress | None = None
) -> EquivalenceCounts:
    """The counts of the groups: row g is the sum of the rows i with ``membership[i] == g``. O(r + counts stored)."""
    progress = progress or Silent()
    summing = _summing_matrix(membership, groups)
    if counts.dense is not None:
        summed = []
        for start, end in blocks(np.bincount(membership, minlength=groups) * max(1, counts.classes.size)):
            progress.update("Adding up the classes", start / groups)
            summed.append(summing[start:end] @ counts.dense)
        return EquivalenceCounts.from_dense(counts.category_numbers, counts.classes, np.concatenate(summed))
    matrix = as_matrix(counts)
    weights = np.bincount(membership, weights=np.diff(matrix.indptr), minlength=groups).astype(np.int64)
    parts = []
    for start, end in blocks(weights):
        progress.update("Adding up the classes", start / groups)
        parts.append(summing[start:end] @ matrix)
    return _joined(counts, parts)


def released_totals(
    counts: EquivalenceCounts, membership: NDArray[np.int32], groups: int, k: int, progress: Progress | None = None
) -> NDArray[np.int64]:
    """The records of each group that are in classes of k or more there. O(r + counts stored).

    Some groups are added up at a time, and nothing is kept of them: it takes no memory worth counting.
    """
    progress = progress or Silent()
    summing = _summing_matrix(membership, groups)
    matrix = as_matrix(counts) if counts.dense is None else counts.dense
    sizes = max(1, counts.classes.size) if counts.dense is not None else np.diff(counts.rows[0])
    totals = np.zeros(groups, np.int64)
    for start, end in blocks(np.bincount(membership, np.broadcast_to(sizes, membership.shape), groups), _CACHED_CELLS):
        progress.update("Adding up the classes", start / groups)
        part = summing[start:end] @ matrix
        values = part if counts.dense is not None else part.data
        values[values < k] = 0
        totals[start:end] = part.sum(axis=1)
    return totals


def _joined(counts: EquivalenceCounts, parts: list[csr_array]) -> EquivalenceCounts:
    """The blocks one below the other; mostly filled ones become a matrix at once, which spares sorting them."""
    filled, groups = sum(part.nnz for part in parts), sum(part.shape[0] for part in parts)
    if groups * counts.classes.size * 8 <= filled * 12 + (groups + 1) * 8:
        matrix = np.concatenate([part.toarray() for part in parts])
        return EquivalenceCounts(counts.category_numbers, counts.classes, dense=frozen(matrix))
    for part in parts:
        part.sort_indices()
    lengths = np.concatenate([np.diff(part.indptr) for part in parts])
    indptr = np.concatenate(([0], np.cumsum(lengths, dtype=np.int64)))
    columns = np.concatenate([part.indices for part in parts]).astype(np.int32, copy=False)
    values = np.concatenate([part.data for part in parts])
    return EquivalenceCounts.from_rows(counts.category_numbers, counts.classes, indptr, columns, values)


def as_matrix(counts: EquivalenceCounts) -> csr_array:
    """The counts as a scipy matrix that shares their memory."""
    indptr, columns, values = counts.rows
    if values.size < np.iinfo(np.int32).max:
        indptr = indptr.astype(np.int32)
    return csr_array((values, columns, indptr), shape=(counts.regions, counts.classes.size))


def ends_of_kept(kept: NDArray[np.bool_], indptr: NDArray[np.int64]) -> NDArray[np.int64]:
    """Where each row ends among the entries that are kept.

    Numpy adds up flags without letting other threads go on; of numbers it does not keep them waiting.
    """
    running = np.zeros(kept.size + 1, np.int64)
    running[1:] = kept
    return np.cumsum(running, out=running)[indptr]


def without_small_classes(counts: EquivalenceCounts, k: int) -> EquivalenceCounts:
    """The same regions with every class smaller than k dropped (all columns are kept)."""
    if counts.dense is not None:
        kept = np.where(counts.dense >= k, counts.dense, 0)
        return EquivalenceCounts.from_dense(counts.category_numbers, counts.classes, kept)
    indptr, columns, values = counts.rows
    large = values >= k
    ends = ends_of_kept(large, indptr)
    return EquivalenceCounts.from_rows(counts.category_numbers, counts.classes, ends, columns[large], values[large])


def records_kept(
    counts: EquivalenceCounts,
    membership: NDArray[np.int32],
    released: EquivalenceCounts,
    progress: Progress | None = None,
) -> NDArray[np.int64]:
    """Records of each region whose class is still there in its group's row of ``released``. O(counts stored)."""
    progress = progress or Silent()
    kept = np.zeros(counts.regions, np.int64)
    still_there = _Lookup(released)
    width = max(1, counts.classes.size)
    if counts.dense is not None:
        step = max(1, _BLOCK_CELLS // width)
        for start in range(0, counts.regions, step):
            progress.update("Counting the released records", start / counts.regions)
            rows = still_there.rows(membership[start : start + step])
            kept[start : start + step] = np.einsum("ij,ij->i", counts.dense[start : start + step], rows)
        return kept
    indptr, columns, values = counts.rows
    for start, end in blocks(np.diff(indptr), _CACHED_CELLS):
        progress.update("Counting the released records", start / counts.regions)
        low, high = indptr[start], indptr[end]
        lengths = np.diff(indptr[start : end + 1])
        flags = still_there.entries(membership[start:end], lengths, columns[low:high])
        filled = np.flatnonzero(lengths)
        if filled.size:
            sums = np.add.reduceat(values[low:high] * flags, indptr[start:end][filled] - low)
            kept[start + filled] = sums
    return kept


def smallest_classes(counts: EquivalenceCounts) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Of each region: its anonymity (smallest non-zero class size; 0 without records) and how many classes have it."""
    anonymity = np.zeros(counts.regions, np.int64)
    number = np.zeros(counts.regions, np.int64)
    if counts.dense is not None:
        width = counts.classes.size
        step = max(1, _CACHED_CELLS // max(1, width))
        for start in range(0, counts.regions if width else 0, step):
            block = counts.dense[start : start + step]
            smallest = np.where(block > 0, block, np.iinfo(np.int64).max).min(axis=1)
            number[start : start + step] = np.count_nonzero(block == smallest[:, None], axis=1)
            anonymity[start : start + step] = smallest
        anonymity[number == 0] = 0
        return anonymity, number
    indptr, _, values = counts.rows
    filled = np.diff(indptr) > 0
    if filled.any():
        starts = indptr[:-1][filled]
        smallest = np.minimum.reduceat(values, starts)
        anonymity[filled] = smallest
        at_it = values == np.repeat(smallest, np.diff(indptr)[filled])
        number[filled] = np.add.reduceat(at_it, starts, dtype=np.int64)
    return anonymity, number


class _Lookup:
    """Answers whether a class is present in a group: by a table of flags while that is small, else by bisection."""

    def __init__(self, counts: EquivalenceCounts) -> None:
        self._width = counts.classes.size
        self._flags: NDArray[np.bool_] | None = None
        self._keys: NDArray[np.int64] | None = None
        if counts.dense is not None:
            self._flags = counts.dense > 0
            return
        indptr, columns, _ = counts.rows
        keys = np.repeat(np.arange(counts.regions, dtype=np.int64) * self._width, np.diff(indptr)) + columns
        if counts.regions * self._width <= _MASK_CELLS:
            self._flags = np.zeros((counts.regions, self._width), np.bool_)
            self._flags.ravel()[keys] = True
        else:
            self._keys = keys

    def rows(self, groups: NDArray[np.int32]) -> NDArray[np.bool_]:
        """The flags of whole groups, one row each."""
        if self._flags is not None:
            return self._flags[groups]
        columns = np.tile(np.arange(self._width, dtype=np.int32), len(groups))
        return self.entries(groups, np.full(len(groups), self._width), columns).reshape(len(groups), self._width)

    def entries(
        self, groups: NDArray[np.int32], lengths: NDArray[np.int64], columns: NDArray[np.int32]
    ) -> NDArray[np.bool_]:
        """The flag of each column in its group; the first ``lengths[0]`` columns belong to ``groups[0]``, and so on."""
        if self._flags is not None and self._flags.size < np.iinfo(np.int32).max:
            keys = np.repeat(groups * np.int32(self._width), lengths) + columns
            return np.take(self._flags.ravel(), keys)
        keys = np.repeat(groups.astype(np.int64) * self._width, lengths) + columns
        if self._flags is not None:
            return np.take(self._flags.ravel(), keys)
        assert self._keys is not None
        if not self._keys.size:
            return np.zeros(keys.size, np.bool_)
        place = np.minimum(np.searchsorted(self._keys, keys), self._keys.size - 1)
        return np.asarray(self._keys[place] == keys)


def _summing_matrix(membership: NDArray[np.int32], groups: int) -> csr_array:
    """The groups × regions matrix of ones that adds up the rows of each group in file order."""
    order = np.argsort(membership, kind="stable").astype(np.int32)
    indptr = np.concatenate(([0], np.cumsum(np.bincount(membership, minlength=groups)))).astype(np.int32)
    return csr_array((np.ones(order.size, np.int64), order, indptr), shape=(groups, order.size))


def blocks(weights: NDArray[np.int64], size: int | None = None) -> list[tuple[int, int]]:
    """Consecutive ranges of about that weight, so that no single step keeps a stop waiting."""
    size = size or _BLOCK_CELLS
    running = np.cumsum(weights)
    total = int(running[-1]) if running.size else 0
    cuts = np.searchsorted(running, np.arange(size, total, size), side="left") + 1
    edges = np.unique(np.concatenate(([0], cuts, [len(weights)])))
    return [(int(start), int(end)) for start, end in pairwise(edges)]
