"""Pairs of records that share region and class, before and after small classes are dropped."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from vbas_desktop.domain.progress import Progress, Silent
from vbas_desktop.domain.records import EquivalenceCounts

from .grouping import _CACHED_CELLS, _Lookup, blocks

Counts = NDArray[np.int64]


def pairs_of(values: Counts) -> Counts:
    """n·(n − 1)/2 of each count."""
    return np.asarray(values * (values - 1) >> 1)


def pairs_by_region(counts: EquivalenceCounts) -> Counts:
    """Pairs of records of the same class in each region, exact in 64 bits for up to 3·10⁹ records."""
    if counts.dense is not None:
        found = np.zeros(counts.regions, np.int64)
        step = max(1, _CACHED_CELLS // max(1, counts.classes.size))
        for start in range(0, counts.regions, step):
            found[start : start + step] = pairs_of(counts.dense[start : start + step]).sum(axis=1)
        return found
    indptr, _, values = counts.rows
    found = np.zeros(counts.regions, np.int64)
    for start, end in blocks(np.diff(indptr), _CACHED_CELLS):
        low, high = indptr[start], indptr[end]
        running = np.concatenate(([0], np.cumsum(pairs_of(values[low:high]))))
        found[start:end] = np.diff(running[indptr[start : end + 1] - low])
    return found


def pairs_kept(
    counts: EquivalenceCounts,
    membership: NDArray[np.int32],
    released: EquivalenceCounts,
    progress: Progress | None = None,
) -> tuple[Counts, Counts]:
    """Of each region: the records, and the pairs of them, whose class is still in its group's row of ``released``.

    Works in blocks: the memory beyond the counts does not grow with them.
    """
    progress = progress or Silent()
    records, pairs = np.zeros(counts.regions, np.int64), np.zeros(counts.regions, np.int64)
    still_there = _Lookup(released)
    if counts.dense is not None:
        step = max(1, _CACHED_CELLS // max(1, counts.classes.size))
        for start in range(0, counts.regions, step):
            progress.update("Counting pairs of records")
            block = slice(start, start + step)
            kept = counts.dense[block] * still_there.rows(membership[block])
            records[block], pairs[block] = kept.sum(axis=1), pairs_of(kept).sum(axis=1)
        return records, pairs
    indptr, columns, values = counts.rows
    for start, end in blocks(np.diff(indptr), _CACHED_CELLS):
        progress.update("Counting pairs of records")
        low, high = indptr[start], indptr[end]
        lengths = np.diff(indptr[start : end + 1])
        filled = np.flatnonzero(lengths)
        if filled.size:
            kept = values[low:high] * still_there.entries(membership[start:end], lengths, columns[low:high])
            starts = indptr[start:end][filled] - low
            records[start + filled] = np.add.reduceat(kept, starts)
            pairs[start + filled] = np.add.reduceat(pairs_of(kept), starts)
    return records, pairs
