"""Counts of initial regions added up to counts of aggregated regions, and the smallest classes of each."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import numpy as np
import scipy
from numpy.typing import NDArray

from vbas_desktop.model.progress import SILENT, Progress
from vbas_desktop.model.records import EquivalenceCounts, Rows, frozen
from vbas_desktop.model.tiers import NOWHERE

from .ahead import make_ready

_BLOCK_CELLS = 4_000_000
_CACHED_CELLS = 2**16
"""Block sizes: what a stop may wait for, and what stays in the processor's cache during several passes over it."""

_SUPPRESSING = "Suppressing classes that are too small everywhere"
_LARGEST = np.iinfo(np.int64).max
_REHEARSAL = "vbas_desktop.algorithms.grouping_kernel:rehearse"


def dense_membership(owner: NDArray[np.integer]) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Dense numbers (0 …) of the owners that own something, and which owner each number stands for (ascending)."""
    used, membership = np.unique(owner, return_inverse=True)
    return membership.astype(np.int32), used.astype(np.int64)


def aggregate(
    counts: EquivalenceCounts,
    membership: NDArray[np.int32],
    groups: int,
    progress: Progress = SILENT,
    least: int = 0,
    in_rows: bool = False,
) -> EquivalenceCounts:
    """The counts of the groups: row g is the sum of the rows i with ``membership[i] == g``. O(r + counts stored).

    Sums below ``least`` are left out. What is listed goes at once to where it stays: nothing is held twice. Who needs
    ``rows`` of counts by rows gets them as they are, though a matrix may be smaller.
    """
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
    counts: EquivalenceCounts, membership: NDArray[np.int32], groups: int, k: int, progress: Progress = SILENT
) -> NDArray[np.int64]:
    """The records of each group that are in classes of k or more there. O(r + counts stored).

    Some groups are added up at a time, and nothing is kept of them: it takes no memory worth counting.
    """
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
    members, starts = members_by_group(membership, groups)
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


def with_entries(counts: EquivalenceCounts, kept: NDArray[np.bool_]) -> EquivalenceCounts:
    """The same regions and classes with those entries of the rows only that are kept."""
    indptr, columns, values = counts.rows
    rows = ends_of_kept(kept, indptr), columns[kept], values[kept]
    return EquivalenceCounts(counts.category_numbers, counts.classes, sparse=rows)


def with_classes(counts: EquivalenceCounts, kept: NDArray[np.bool_], progress: Progress = SILENT) -> EquivalenceCounts:
    """The counts of those classes only that are kept; nothing is copied if all are.

    The possible classes stay what they were: only columns of the classes that occur go away.
    """
    if kept.all():
        return counts
    classes = counts.classes[kept]
    if counts.dense is not None:
        return EquivalenceCounts.from_dense(counts.category_numbers, classes, counts.dense[:, kept])
    flags = kept[counts.rows[1]]
    progress.update(_SUPPRESSING)
    indptr, columns, values = with_entries(counts, flags).rows
    progress.update(_SUPPRESSING)
    renumbered = (np.cumsum(kept) - 1).astype(np.int32)
    return EquivalenceCounts.from_rows(counts.category_numbers, classes, indptr, renumbered[columns], values)


def suppress_globally(counts: EquivalenceCounts, k: int, progress: Progress = SILENT) -> EquivalenceCounts:
    """The counts without the classes that have fewer than k records in all regions together."""
    progress.update(_SUPPRESSING)
    large = counts.class_totals >= k
    progress.update(_SUPPRESSING)
    return with_classes(counts, large, progress)


def without_small_classes(counts: EquivalenceCounts, k: int) -> EquivalenceCounts:
    """The same regions with every class smaller than k dropped (all columns are kept)."""
    if k <= 1:
        return counts
    if counts.dense is not None:
        large = counts.dense >= k
        if np.array_equal(large, counts.dense > 0):
            return counts
        return EquivalenceCounts.from_dense(counts.category_numbers, counts.classes, counts.dense * large)
    large = counts.rows[2] >= k
    if large.all():
        return counts
    return EquivalenceCounts.from_rows(counts.category_numbers, counts.classes, *with_entries(counts, large).rows)


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


def pairs_of(values: NDArray[np.int64]) -> NDArray[np.int64]:
    """n·(n − 1)/2 of each count."""
    return np.asarray(values * (values - 1) >> 1)


def pairs_by_region(counts: EquivalenceCounts) -> NDArray[np.int64]:
    """Pairs of records of the same class in each region, exact in 64 bits for up to 3·10⁹ records."""
    found = np.zeros(counts.regions, np.int64)
    if counts.dense is not None:
        for block in slices(*counts.dense.shape):
            found[block] = pairs_of(counts.dense[block]).sum(axis=1)
        return found
    indptr, _, values = counts.rows
    for start, end in blocks(np.diff(indptr), _CACHED_CELLS):
        low, high = indptr[start], indptr[end]
        running = np.concatenate(([0], np.cumsum(pairs_of(values[low:high]))))
        found[start:end] = np.diff(running[indptr[start : end + 1] - low])
    return found


def records_by_tier(
    counts: EquivalenceCounts,
    membership: NDArray[np.int32],
    aggregated: EquivalenceCounts,
    tier_of: NDArray[np.uint8] | None,
    tiers: int,
    progress: Progress = SILENT,
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
    """Count, for each tier and initial region, the released records and the pairs of them of one class; sum n · ln n.

    n are the released records of a class in an initial region, for the entropy of these classes. ``tier_of`` is
    that of each class that ``aggregated`` lists (None: the first); what it does not list is released nowhere.
    O(counts stored).
    """
    records, pairs = np.zeros((2, tiers, counts.regions), np.int64)
    logs = np.zeros((tiers, counts.regions), np.float64)
    if counts.dense is not None:
        table = _tier_table(aggregated, tier_of)
        for block in slices(*counts.dense.shape):
            progress.update("Counting the released records", block.start / counts.regions)
            found = table[membership[block]]
            for tier in range(tiers):
                kept = np.where(found == tier, counts.dense[block], 0)
                records[tier, block], pairs[tier, block] = kept.sum(axis=1), pairs_of(kept).sum(axis=1)
                logs[tier, block] = (kept * np.log(np.maximum(kept, 1))).sum(axis=1)
        return records, pairs, logs
    make_ready(_REHEARSAL, progress)
    from .grouping_kernel import add_by_tier

    members, starts = members_by_group(membership, aggregated.regions)
    place_starts, place_columns, sizes = aggregated.rows
    tier_of = np.zeros(sizes.size, np.uint8) if tier_of is None else tier_of
    given = (*counts.rows, members, starts, place_starts, place_columns, tier_of)
    here = np.full(counts.classes.size, NOWHERE, np.uint8)
    for start, end in blocks(np.bincount(membership, np.diff(counts.rows[0]), aggregated.regions)):
        progress.update("Counting the released records", start / aggregated.regions)
        add_by_tier(start, end, *given, here, records, pairs, logs)
    return records, pairs, logs


def _tier_table(aggregated: EquivalenceCounts, tier_of: NDArray[np.uint8] | None) -> NDArray[np.uint8]:
    """The tier of each class of each place as a matrix."""
    if tier_of is None and aggregated.dense is not None:
        return np.where(aggregated.dense > 0, 0, NOWHERE).astype(np.uint8)
    indptr, columns, _ = aggregated.rows
    table = np.full((aggregated.regions, aggregated.classes.size), NOWHERE, np.uint8)
    table[np.repeat(np.arange(aggregated.regions), np.diff(indptr)), columns] = 0 if tier_of is None else tier_of
    return table


def smallest_classes(counts: EquivalenceCounts) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Of each region: its anonymity (smallest non-zero class size; 0 without records) and how many classes have it."""
    anonymity = np.zeros(counts.regions, np.int64)
    number = np.zeros(counts.regions, np.int64)
    if counts.dense is not None:
        for block in slices(*counts.dense.shape):
            sizes = counts.dense[block]
            smallest = np.where(sizes > 0, sizes, _LARGEST).min(axis=1, initial=_LARGEST)
            number[block] = np.count_nonzero(sizes == smallest[:, None], axis=1)
            anonymity[block] = smallest
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


def slices(rows: int, width: int) -> Iterator[slice]:
    """Some rows of a matrix at a time, so few that they stay in the processor's cache."""
    step = max(1, _CACHED_CELLS // max(1, width))
    return (slice(start, start + step) for start in range(0, rows, step))
