"""Cross-tabulate coded columns: count the records of each region and combination of categories."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from vbas_desktop.model.counts import MAX_COMBINATIONS, ClassCounts, make_table
from vbas_desktop.model.progress import Progress, SubProgress

_RECORDS_PER_CHUNK = 1 << 20
_RECORDS_PER_SORT = 1 << 22
"""Records between two looks at whether the user wants to stop."""

_BINS_PER_RECORD = 2
_FEW_BINS = 1 << 20
"""With more bins than this per record, and than a few in any case, sorting the keys is faster than filling bins."""

_STAGE = "Counting classes"


@dataclass(frozen=True)
class CodedColumn:
    """Codes of the records in one column.

    codes: code of each record.
    table: what each code counts as, below ``number``; -1 for a region that is not known.
    """

    codes: NDArray[np.integer]
    table: NDArray[np.integer]
    number: int


def count_classes(
    region: CodedColumn, quasi_identifiers: Sequence[CodedColumn], progress: Progress
) -> tuple[ClassCounts, int]:
    """Count the records of each region and combination; return also the number of records without a known region.

    Memory grows with the records and with the classes that occur. O(records) if there are not many more possible
    classes than records, else O(records · log(records)).
    """
    n_categories = tuple(column.number for column in quasi_identifiers)
    width = math.prod(n_categories)
    # Records of unknown regions are counted in one more region after the known ones.
    last = np.where(region.table < 0, region.number, region.table)
    regions = CodedColumn(region.codes, last, region.number + 1)
    listed = None
    if regions.number * width >= MAX_COMBINATIONS:
        # Only the combinations that occur are numbered, so that the keys do not overflow.
        listed, codes = np.unique(
            _make_keys(quasi_identifiers, SubProgress(progress, 0.0, 0.5)), return_inverse=True
        )
        quasi_identifiers = [CodedColumn(codes, np.arange(listed.size), listed.size)]
        width = listed.size
    keys = _make_keys([regions, *quasi_identifiers], SubProgress(progress, 0.5, 0.7))
    filled, sizes = _count_keys(keys, regions.number * width, SubProgress(progress, 0.7, 1.0))
    del keys
    ends = np.searchsorted(filled, np.arange(regions.number) * width)
    n_known = ends[-1]
    unknown = int(sizes[n_known:].sum())
    numbers = filled[:n_known] - np.repeat(np.arange(region.number) * width, np.diff(ends))
    present, columns = _number_columns(numbers, width)
    table = make_table(sizes[:n_known], columns, ends, (region.number, present.size))
    return ClassCounts(n_categories, present if listed is None else listed[present], table), unknown


def add_sizes(
    region: NDArray[np.integer],
    combination: NDArray[np.int64],
    sizes: NDArray[np.int64],
    n_regions: int,
    n_categories: tuple[int, ...],
) -> ClassCounts:
    """Make counts from the sizes of (region, combination), which may come more than once and in any order."""
    present, columns = np.unique(combination, return_inverse=True)
    entries = (sizes, (region.astype(np.int32), columns.astype(np.int32)))
    return ClassCounts(n_categories, present, csr_array(entries, shape=(n_regions, present.size)))


def _make_keys(columns: Sequence[CodedColumn], progress: Progress) -> NDArray[np.int64]:
    """Compute the row-major number of each record's combination."""
    n_records = columns[0].codes.size
    keys = np.empty(n_records, np.int64)
    stride = 1
    digits = []
    for column in reversed(columns):
        digits.append((column.codes, column.table.astype(np.int64) * stride))
        stride *= column.number
    for start in range(0, n_records, _RECORDS_PER_CHUNK):
        progress.update(_STAGE, start / n_records)
        chunk = slice(start, start + _RECORDS_PER_CHUNK)
        keys[chunk] = sum(digit[codes[chunk]] for codes, digit in digits)
    return keys


def _count_keys(
    keys: NDArray[np.int64], n_bins: int, progress: Progress
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """List the keys that occur, in ascending order, and how often each does."""
    if n_bins > max(_FEW_BINS, _BINS_PER_RECORD * keys.size):
        return _count_sorted(keys, progress)
    # A chunk has as many records as there are bins, so that adding up the bins takes no longer than filling them.
    step = max(_RECORDS_PER_CHUNK, n_bins)
    bins = np.bincount(keys[:step], minlength=n_bins)
    for start in range(step, keys.size, step):
        progress.update(_STAGE, start / keys.size)
        bins += np.bincount(keys[start : start + step], minlength=n_bins)
    filled = np.flatnonzero(bins)
    return filled, bins[filled]


def _count_sorted(
    keys: NDArray[np.int64], progress: Progress
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Count keys by sorting them, a range of keys at a time."""
    n_parts = max(1, -(-keys.size // _RECORDS_PER_SORT))
    sample = np.sort(keys[:: 1 + keys.size // _RECORDS_PER_CHUNK])
    edges = sample[np.arange(1, n_parts) * sample.size // n_parts]
    parts = []
    for number, (low, high) in enumerate(pairwise((None, *edges, None))):
        progress.update(_STAGE, number / n_parts)
        inside = np.ones(keys.size, np.bool_)
        if low is not None:
            inside &= keys >= low
        if high is not None:
            inside &= keys < high
        parts.append(_list_runs(np.sort(keys[inside])))
    return np.concatenate([filled for filled, _ in parts]), np.concatenate([sizes for _, sizes in parts])


def _list_runs(ascending: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """List the different values of an ascending array, and how often each occurs."""
    is_first = np.ones(ascending.size, np.bool_)
    is_first[1:] = ascending[1:] != ascending[:-1]
    starts = np.flatnonzero(is_first)
    return ascending[starts], np.diff(starts, append=ascending.size)


def _number_columns(
    numbers: NDArray[np.int64], n_possible: int
) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """List the numbers that occur, in ascending order, and the position of each number in that list."""
    if n_possible > max(_FEW_BINS, _BINS_PER_RECORD * numbers.size):
        present = np.unique(numbers)
        return present, np.searchsorted(present, numbers).astype(np.int32)
    occurs = np.zeros(n_possible, np.bool_)
    occurs[numbers] = True
    return np.flatnonzero(occurs), (np.cumsum(occurs) - 1).astype(np.int32)[numbers]
