"""Counts of initial regions added up to counts of aggregated regions, and the smallest classes of each."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import scipy
from numpy.typing import NDArray

from vbas_desktop.domain.progress import Progress, Silent
from vbas_desktop.domain.records import EquivalenceCounts, Rows, frozen

from .ahead import make_ready

_BLOCK_CELLS = 4_000_000
_CACHED_CELLS = 2**16
"""Block sizes: what a stop may wait for, and what stays in the processor's cache during several passes over it."""

_REHEARSAL = "vbas_desktop.algorithms.grouping_kernel:rehearse"
_TABLE_BYTES = 8_000_000
"""The largest table of bits."""


def dense_membership(owner: NDArray[np.integer]) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Dense numbers (0 …) of the owners that own something, and which owner each number stands for (ascending)."""
    used, membership = np.unique(owner, return_inverse=True)
    return membership.astype(np.int32), used.astype(np.int64)


def aggregate(
    counts: EquivalenceCounts,
    membership: NDArray[np.int32],
    groups: int,
    progress: Progress | None = None,
    least: int = 0,
    in_rows: bool = False,
) -> EquivalenceCounts:
    """The counts of the groups: row g is the sum of the rows i with ``membership[i] == g``. O(r + counts stored).

    Sums below ``least`` are left out. What is listed goes at once to where it stays: nothing is held twice. Who needs
    ``rows`` of counts by rows gets them as they are, though a matrix may be smaller.
    """
    progress = progress or Silent()
    if groups == counts.regions and np.array_equal(membership, np.arange(groups)):
        return without_small_classes(counts, least)
    if counts.dense is not None:
        summing = _summing_matrix(membership, groups)
        summed = np.empty((groups, counts.classes.size), np.int64)
        for start, end in blocks(
            np.bincount(membership, minlength=groups) * max(1, counts.classes.size), _CACHED_CELLS
        ):
            progress.update("Adding up the classes", start / groups)
            summed[start:end] = summing[start:end] @ counts.dense
            if least:
                summed[start:end][summed[start:end] < least] = 0
        return EquivalenceCounts.from_dense(counts.category_numbers, counts.classes, summed)
    rows = _rows_added_up(counts, membership, groups, progress, least)
    if in_rows:
        ends, columns, values = (frozen(each) for each in rows)
        return EquivalenceCounts(counts.category_numbers, counts.classes, sparse=(ends, columns, values))
    return EquivalenceCounts.from_rows(counts.category_numbers, counts.classes, *rows)


def _rows_added_up(
    counts: EquivalenceCounts, membership: NDArray[np.int32], groups: int, progress: Progress, least: int
) -> Rows:
    make_ready(_REHEARSAL, progress)
    from .grouping_kernel import add_groups
    from .met import nothing_met

    indptr, columns, values = counts.rows
    weights = np.bincount(membership, weights=np.diff(indptr), minlength=groups).astype(np.int64)
    most = np.minimum(weights, counts.classes.size)
    if least:
        records = np.bincount(membership, weights=counts.region_totals, minlength=groups).astype(np.int64)
        most = np.minimum(most, records // least)
    ends, filled = np.zeros(groups + 1, np.int64), 0
    lists = np.empty(int(most.sum()) + 1, np.int32), np.empty(int(most.sum()) + 1, np.int64)
    members, starts = members_by_group(membership, groups)
    met = nothing_met(counts.classes.size)
    for start, end in blocks(weights):
        progress.update("Adding up the classes", start / groups)
        some, here = starts[start : end + 1], ends[start + 1 : end + 1]
        filled = add_groups(indptr, columns, values, members, some, max(1, least), *met, here, filled, *lists)
    for each in lists:
        # In their place, so that no copy is made of what is kept.
        each.resize(filled, refcheck=False)
    return ends, *lists


def released_totals(
    counts: EquivalenceCounts, membership: NDArray[np.int32], groups: int, k: int, progress: Progress | None = None
) -> NDArray[np.int64]:
    """The records of each group that are in classes of k or more there. O(r + counts stored).

    Some groups are added up at a time, and nothing is kept of them: it takes no memory worth counting.
    """
    progress = progress or Silent()
    if counts.dense is None:
        return _released_in_rows(counts, membership, groups, k, progress)
    summing, totals = _summing_matrix(membership, groups), np.zeros(groups, np.int64)
    for start, end in blocks(np.bincount(membership, minlength=groups) * max(1, counts.classes.size), _CACHED_CELLS):
        progress.update("Adding up the classes", start / groups)
        part = summing[start:end] @ counts.dense
        part[part < k] = 0
        totals[start:end] = part.sum(axis=1)
    return totals


def _released_in_rows(
    counts: EquivalenceCounts, membership: NDArray[np.int32], groups: int, k: int, progress: Progress
) -> NDArray[np.int64]:
    make_ready(_REHEARSAL, progress)
    from .grouping_kernel import add_released

    indptr, columns, values = counts.rows
    members = np.argsort(membership, kind="stable")
    starts = np.concatenate(([0], np.cumsum(np.bincount(membership, minlength=groups))))
    sums, met = np.zeros(counts.classes.size, np.int64), np.empty(counts.classes.size + 1, np.int32)
    totals = np.zeros(groups, np.int64)
    for start, end in blocks(np.bincount(membership, np.diff(indptr), groups), _BLOCK_CELLS):
        progress.update("Adding up the classes", start / groups)
        some = starts[start : end + 1]
        add_released(indptr, columns, values, members, some, k, sums, met, totals[start:end])
    return totals


def as_matrix(counts: EquivalenceCounts) -> scipy.sparse.csr_array:
    """The counts as a scipy matrix that shares their memory."""
    indptr, columns, values = counts.rows
    if values.size < np.iinfo(np.int32).max:
        indptr = indptr.astype(np.int32)
    return scipy.sparse.csr_array((values, columns, indptr), shape=(counts.regions, counts.classes.size))


def ends_of_kept(kept: NDArray[np.bool_], indptr: NDArray[np.integer]) -> NDArray[np.int64]:
    """Where each row ends among the entries that are kept.

    Numpy adds up flags without letting other threads go on; of numbers it does not keep them waiting.
    """
    ends = np.zeros(len(indptr), np.int64)
    for start, end in blocks(np.diff(indptr), _CACHED_CELLS):
        low, high = indptr[start], indptr[end]
        running = np.zeros(high - low + 1, np.int64)
        running[1:] = kept[low:high]
        ends[start + 1 : end + 1] = ends[start] + np.cumsum(running, out=running)[indptr[start + 1 : end + 1] - low]
    return ends


def without_small_classes(counts: EquivalenceCounts, k: int) -> EquivalenceCounts:
    """The same regions with every class smaller than k dropped (all columns are kept)."""
    if k <= 1:
        return counts
    if counts.dense is not None:
        large = counts.dense >= k
        if np.array_equal(large, counts.dense > 0):
            return counts
        return EquivalenceCounts.from_dense(counts.category_numbers, counts.classes, counts.dense * large)
    indptr, columns, values = counts.rows
    large = values >= k
    if large.all():
        return counts
    ends = ends_of_kept(large, indptr)
    return EquivalenceCounts.from_rows(counts.category_numbers, counts.classes, ends, columns[large], values[large])


def of_classes(counts: EquivalenceCounts, first: int, end: int) -> EquivalenceCounts:
    """The counts of the classes ``first`` … ``end`` − 1."""
    classes = counts.classes[first:end]
    if counts.dense is not None:
        return EquivalenceCounts(counts.category_numbers, classes, dense=frozen(counts.dense[:, first:end].copy()))
    indptr, columns, values = counts.rows
    low, high = _first_of_rows(indptr, columns, first), _first_of_rows(indptr, columns, end)
    ends = np.concatenate(([0], np.cumsum(high - low)))
    entries = np.arange(ends[-1]) + np.repeat(low - ends[:-1], high - low)
    some = frozen(ends), frozen(columns[entries] - np.int32(first)), frozen(values[entries])
    return EquivalenceCounts(counts.category_numbers, classes, sparse=some)


def _first_of_rows(indptr: NDArray[np.int64], columns: NDArray[np.int32], least: int) -> NDArray[np.int64]:
    """Where in each row the columns from ``least`` on begin: bisection in all rows at once, since columns ascend."""
    low, high = indptr[:-1].copy(), indptr[1:].copy()
    while (going := np.flatnonzero(low < high)).size:
        middle = (low[going] + high[going]) // 2
        less = columns[middle] < least
        low[going[less]], high[going[~less]] = middle[less] + 1, middle[~less]
    return low


def side_by_side(parts: list[EquivalenceCounts], counts: EquivalenceCounts) -> EquivalenceCounts:
    """The counts of consecutive classes as those of all classes of ``counts``. Takes the parts out of the list.

    Each is gone once it is copied, so that not everything is there twice.
    """
    ends = np.stack([part.rows[0] for part in parts]).sum(axis=0)
    columns, values = np.empty(ends[-1], np.int32), np.empty(ends[-1], np.int64)
    free, first = ends[:-1].copy(), 0
    while parts:
        part = parts.pop(0)
        indptr, own, sizes = part.rows
        lengths = np.diff(indptr)
        at = np.repeat(free - indptr[:-1], lengths) + np.arange(own.size)
        columns[at], values[at] = own + np.int32(first), sizes
        free += lengths
        first += part.classes.size
    return EquivalenceCounts.from_rows(counts.category_numbers, counts.classes, ends, columns, values)


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
        step = max(1, _CACHED_CELLS // width)
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
    """Answers whether a class is present in a group: by a table of bits while that is small, else by bisection."""

    def __init__(self, counts: EquivalenceCounts) -> None:
        self._width = counts.classes.size
        self._bytes = -(-self._width // 8)
        self._bits: NDArray[np.uint8] | None = None
        self._keys: NDArray[np.int64] | None = None
        if counts.dense is None and counts.regions * self._bytes > _TABLE_BYTES:
            indptr, columns, _ = counts.rows
            self._keys = np.repeat(np.arange(counts.regions, dtype=np.int64) * self._width, np.diff(indptr)) + columns
            return
        self._bits = np.empty((counts.regions, self._bytes), np.uint8)
        step = max(1, _CACHED_CELLS // max(1, self._width))
        for start in range(0, counts.regions, step):
            self._bits[start : start + step] = np.packbits(_present(counts, start, step), axis=1, bitorder="little")

    def rows(self, groups: NDArray[np.int32]) -> NDArray[np.bool_]:
        """The flags of whole groups, one row each."""
        if self._bits is not None:
            flags = np.unpackbits(self._bits[groups], axis=1, count=self._width, bitorder="little")
            return flags.view(np.bool_)
        columns = np.tile(np.arange(self._width, dtype=np.int32), len(groups))
        return self.entries(groups, np.full(len(groups), self._width), columns).reshape(len(groups), self._width)

    def entries(
        self, groups: NDArray[np.int32], lengths: NDArray[np.int64], columns: NDArray[np.int32]
    ) -> NDArray[np.bool_]:
        """The flag of each column in its group; the first ``lengths[0]`` columns belong to ``groups[0]``, and so on."""
        if self._bits is not None:
            within = np.repeat(groups * np.int32(self._bytes), lengths) + (columns >> 3)
            return (np.take(self._bits.ravel(), within) >> (columns & 7).astype(np.uint8) & 1).view(np.bool_)
        keys = np.repeat(groups.astype(np.int64) * self._width, lengths) + columns
        assert self._keys is not None
        if not self._keys.size:
            return np.zeros(keys.size, np.bool_)
        place = np.minimum(np.searchsorted(self._keys, keys), self._keys.size - 1)
        return np.asarray(self._keys[place] == keys)


def _present(counts: EquivalenceCounts, start: int, step: int) -> NDArray[np.bool_]:
    """Which classes some consecutive regions have."""
    if counts.dense is not None:
        return np.asarray(counts.dense[start : start + step] > 0)
    indptr, columns, _ = counts.rows
    ends = indptr[start : start + step + 1]
    flags = np.zeros((ends.size - 1, counts.classes.size), np.bool_)
    flags[np.repeat(np.arange(ends.size - 1), np.diff(ends)), columns[ends[0] : ends[-1]]] = True
    return flags


def _summing_matrix(membership: NDArray[np.int32], groups: int) -> scipy.sparse.csr_array:
    """The groups × regions matrix of ones that adds up the rows of each group in file order."""
    order, indptr = members_by_group(membership, groups)
    return scipy.sparse.csr_array((np.ones(order.size, np.int64), order, indptr), shape=(groups, order.size))


def members_by_group(membership: NDArray[np.int32], groups: int) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """The regions by group, in file order, and where each group begins among them."""
    order = np.argsort(membership, kind="stable").astype(np.int32)
    starts = np.concatenate(([0], np.cumsum(np.bincount(membership, minlength=groups)))).astype(np.int32)
    return order, starts


def blocks(weights: NDArray[np.int64], size: int | None = None) -> list[tuple[int, int]]:
    """Consecutive ranges of about that weight, so that no single step keeps a stop waiting."""
    size = size or _BLOCK_CELLS
    running = np.cumsum(weights)
    total = int(running[-1]) if running.size else 0
    cuts = np.searchsorted(running, np.arange(size, total, size), side="left") + 1
    edges = np.unique(np.concatenate(([0], cuts, [len(weights)])))
    return [(int(start), int(end)) for start, end in pairwise(edges)]
