"""Add up the counts of initial regions to those of aggregated regions, and find the smallest classes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, vstack

from vbas_desktop.model.counts import ClassCounts
from vbas_desktop.model.progress import NO_PROGRESS, Progress
from vbas_desktop.model.tiers import NOT_RELEASED

_ENTRIES_PER_BLOCK = 500_000
"""Entries of a table that are summed at a time: a stop waits for some 10 ms, and temporary arrays stay small."""

_LOOKUP_CELLS_PER_ENTRY = 8
"""Cells of the lookup from class to tier, of one byte each, that count as much as an entry."""


def dense_membership(owner: NDArray[np.integer]) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Number the owners that own something from 0 in ascending order; return the numbers and these owners."""
    used, membership = np.unique(owner, return_inverse=True)
    return membership.astype(np.int32), used.astype(np.int64)


def make_group_matrix(membership: NDArray[np.integer], n_groups: int) -> csr_array:
    """Make the matrix of ones, groups × regions, that sums the rows of each group when it is multiplied with them."""
    ones = np.ones(membership.size, np.int64)
    regions = np.arange(membership.size, dtype=np.int32)
    return csr_array((ones, (membership.astype(np.int32), regions)), shape=(n_groups, membership.size))


def split_evenly(weights: NDArray[np.number], size: float) -> list[tuple[int, int]]:
    """Split a sequence into ranges of about the same weight, as (start, end), so that no step takes long."""
    running = np.cumsum(weights)
    total = running[-1] if running.size else 0
    cuts = np.searchsorted(running, np.arange(size, total, size), side="left") + 1
    edges = np.unique(np.concatenate(([0], cuts, [len(weights)])))
    return [(int(start), int(end)) for start, end in pairwise(edges)]


def sum_groups(
    counts: ClassCounts, membership: NDArray[np.integer], n_groups: int, progress: Progress = NO_PROGRESS
) -> Iterator[tuple[slice, csr_array]]:
    """Sum the regions of each group, some groups at a time: yield these groups and their table.

    Row g of all tables together is the sum of the rows i with ``membership[i] == g``. The indices of a table are not
    sorted, and its arrays may be changed. O(regions + classes).
    """
    groups = make_group_matrix(membership, n_groups)
    entries = np.bincount(membership, np.diff(counts.table.indptr), n_groups)
    for start, end in split_evenly(entries, _ENTRIES_PER_BLOCK):
        progress.update("Adding up the classes", start / n_groups)
        yield slice(start, end), groups[start:end] @ counts.table


def aggregate(
    counts: ClassCounts,
    membership: NDArray[np.integer],
    n_groups: int,
    progress: Progress = NO_PROGRESS,
    least: int = 1,
) -> ClassCounts:
    """Sum the regions of each group; classes of fewer than ``least`` records are dropped on the way."""
    parts = [csr_array((0, counts.n_combinations), dtype=np.int64)]
    for _, summed in sum_groups(counts, membership, n_groups, progress):
        if least > 1:
            summed.data *= summed.data >= least
            summed.eliminate_zeros()
        summed.sort_indices()
        parts.append(summed)
    table = parts[1] if len(parts) == 2 else vstack(parts, format="csr")
    return replace(counts, table=table)


def sum_large_classes(
    counts: ClassCounts,
    membership: NDArray[np.integer],
    n_groups: int,
    k: int,
    progress: Progress = NO_PROGRESS,
) -> NDArray[np.int64]:
    """Count the records of each group that are in classes of k or more. No table of all groups is made."""
    totals = np.zeros(n_groups, np.int64)
    for block, summed in sum_groups(counts, membership, n_groups, progress):
        summed.data *= summed.data >= k
        totals[block] = summed.sum(axis=1)
    return totals


def suppress_globally(counts: ClassCounts, k: int, progress: Progress = NO_PROGRESS) -> ClassCounts:
    """Drop the combinations that have fewer than k records in all regions together."""
    progress.update("Suppressing classes that are too small everywhere")
    return counts.select_combinations(counts.combination_totals >= k)


def count_pairs(sizes: NDArray[np.int64]) -> NDArray[np.int64]:
    """Count the pairs of records of each class, n · (n − 1) / 2; exact for up to 3·10⁹ records."""
    return np.asarray(sizes * (sizes - 1) >> 1)


def sum_by_region(table: csr_array, values: NDArray[np.number]) -> NDArray[np.number]:
    """Add up values of the entries of a table row by row."""
    return np.asarray(csr_array((values, table.indices, table.indptr), shape=table.shape).sum(axis=1))


def pairs_by_region(counts: ClassCounts) -> NDArray[np.int64]:
    """Count the pairs of records of the same class in each region."""
    return sum_by_region(counts.table, count_pairs(counts.sizes)).astype(np.int64, copy=False)


def smallest_classes(table: csr_array) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Find the size of the smallest class of each row (0 without records), and how many classes have that size."""
    anonymity = np.zeros(table.shape[0], np.int64)
    number = np.zeros(table.shape[0], np.int64)
    lengths = np.diff(table.indptr)
    filled = np.flatnonzero(lengths)
    if filled.size:
        starts = table.indptr[filled]
        anonymity[filled] = np.minimum.reduceat(table.data, starts)
        is_smallest = table.data == np.repeat(anonymity, lengths)
        number[filled] = np.add.reduceat(is_smallest, starts, dtype=np.int64)
    return anonymity, number


def anonymity_before_suppression(
    counts: ClassCounts, membership: NDArray[np.integer], n_groups: int
) -> NDArray[np.int64]:
    """Find the size of the smallest class of each group; 0 for groups without records."""
    anonymity = np.zeros(n_groups, np.int64)
    for block, summed in sum_groups(counts, membership, n_groups):
        anonymity[block], _ = smallest_classes(summed)
    return anonymity


def find_class_tiers(
    counts: ClassCounts,
    membership: NDArray[np.integer],
    aggregated: ClassCounts,
    tier_of: NDArray[np.uint8],
    progress: Progress = NO_PROGRESS,
) -> Iterator[tuple[NDArray[np.int32], csr_array, NDArray[np.uint8]]]:
    """Find the tier in which each class of the initial regions is released, some aggregated regions at a time.

    ``tier_of`` is the tier of each class of ``aggregated``; what that does not have is released nowhere. Yields some
    initial regions, their table and the tier of each of its entries. O(classes).
    """
    width = aggregated.n_combinations
    groups = make_group_matrix(membership, aggregated.n_regions)
    entries = np.bincount(membership, np.diff(counts.table.indptr), aggregated.n_regions)
    blocks = split_evenly(entries + width / _LOOKUP_CELLS_PER_ENTRY, _ENTRIES_PER_BLOCK)
    lookup = np.full(
        width * max((end - first for first, end in blocks), default=0), NOT_RELEASED, np.uint8
    )
    indptr = aggregated.table.indptr
    for first, end in blocks:
        progress.update("Counting the released records", first / aggregated.n_regions)
        listed = np.repeat(
            np.arange(end - first, dtype=np.int64) * width, np.diff(indptr[first : end + 1])
        )
        listed += aggregated.table.indices[indptr[first] : indptr[end]]
        lookup[listed] = tier_of[indptr[first] : indptr[end]]
        regions = groups.indices[groups.indptr[first] : groups.indptr[end]]
        part = counts.table[regions]
        cells = np.repeat((membership[regions] - np.int64(first)) * width, np.diff(part.indptr))
        yield regions, part, lookup[cells + part.indices]
        # Only what was set is reset, so that the time does not depend on regions × combinations.
        lookup[listed] = NOT_RELEASED
