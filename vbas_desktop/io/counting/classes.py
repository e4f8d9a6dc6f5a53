"""Records by region and class, from coded columns: exact, and only for the classes that occur."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from vbas_desktop.algorithms.met import nothing_met
from vbas_desktop.model.counts import ClassCounts
from vbas_desktop.model.progress import Progress

from .kernels import (
    by_region,
    columns_met,
    count_codes,
    count_each,
    count_filled,
    count_regions,
    enter,
    extract,
    fold,
    locate,
    look_up,
    mark,
    tally,
)

CLASSES_LIMIT = 1 << 63
"""Class numbers are signed 64-bit integers: more classes than this cannot be told apart."""

_CHUNK = 1 << 20
_LOOKUP_CLASSES = 1 << 22
_DENSE_CELLS = 24_000_000
_FEW_CLASSES = 1 << 16
"""So many classes have their numbers in the processor's cache, be they met or not."""

_FEW_CELLS = 1_000_000
_CELLS_PER_RECORD = 2
_CACHED = 16
"""Into how many parts a chunk is cut so that what is made of it stays in the processor's cache."""

_STAGE = "Counting classes"

Rows = tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int64]]
"""The non-zero counts of each region: where they begin, their columns in ascending order, the numbers."""


@dataclass(frozen=True)
class CodedColumn:
    """A column's codes, a table from code to what it counts as (-1: not at all), and how many of these there are."""

    codes: NDArray[np.unsignedinteger]
    table: NDArray[np.int32]
    number: int


def count(region: CodedColumn, quasi_identifiers: Sequence[CodedColumn], progress: Progress) -> tuple[ClassCounts, int]:
    """Count the records of each region and class; the second number is that of records without a region."""
    numbers = tuple(column.number for column in quasi_identifiers)
    possible = math.prod(numbers)
    if _fits(region, possible):
        present, rows, unknown = _count_directly(region, quasi_identifiers, possible, progress)
        return _make_counts(numbers, present, rows), unknown
    if possible <= _FEW_CLASSES and all((column.table >= 0).all() for column in quasi_identifiers):
        present, rows, unknown = count_by_region(region, quasi_identifiers, possible, progress)
        return _make_counts(numbers, present, rows), unknown
    size = region.codes.size
    regions, classes = np.empty(size, np.int32), np.empty(size, np.int64)
    unknown = 0
    for part in _chunks(size, progress, 0.0, 0.3):
        unknown += _classify(region, quasi_identifiers, part, regions[part], classes[part])
    rank = _rank_by_lookup if possible <= _LOOKUP_CLASSES else _rank_by_hash
    present = rank(classes, possible, progress)
    counter = _count_in_matrix if _fits(region, present.size) else count_sorted
    rows = counter(regions, classes, region.number, present.size, progress)
    return _make_counts(numbers, present, rows), unknown


def _make_counts(numbers: tuple[int, ...], present: NDArray[np.int64], rows: Rows) -> ClassCounts:
    indptr, columns, values = rows
    return ClassCounts(numbers, present, csr_array((values, columns, indptr), shape=(indptr.size - 1, present.size)))


def _fits(region: CodedColumn, classes: int) -> bool:
    """Whether a matrix is small enough, and not so empty that looking through it would take longer than sorting."""
    return region.number * classes <= min(_DENSE_CELLS, max(_FEW_CELLS, _CELLS_PER_RECORD * region.codes.size))


def _chunks(size: int, progress: Progress, start: float, end: float, smaller: int = 1) -> Iterator[slice]:
    step = max(1, _CHUNK // smaller)
    for number, first in enumerate(range(0, size, step)):
        if number % smaller == 0:
            progress.update(_STAGE, start + (end - start) * first / size)
        yield slice(first, min(size, first + step))


def _classify(
    region: CodedColumn,
    quasi_identifiers: Sequence[CodedColumn],
    part: slice,
    regions: NDArray[np.int32],
    classes: NDArray[np.int64],
) -> int:
    """The region and the class number of each record of a part; how many have no region."""
    unknown = locate(region.codes[part], region.table, regions, classes)
    for column in quasi_identifiers:
        fold(column.codes[part], column.table, column.number, classes)
    return int(unknown)


def _count_directly(
    region: CodedColumn, quasi_identifiers: Sequence[CodedColumn], possible: int, progress: Progress
) -> tuple[NDArray[np.int64], Rows, int]:
    """All in one pass whose parts stay in the processor's cache: for few possible classes."""
    size = region.codes.size
    matrix = np.zeros((region.number, possible), np.int32 if size < 1 << 31 else np.int64)
    step = max(1, _CHUNK // _CACHED)
    regions, classes = np.empty(step, np.int32), np.empty(step, np.int64)
    unknown = 0
    for part in _chunks(size, progress, 0.0, 0.9, _CACHED):
        here = slice(0, part.stop - part.start)
        unknown += _classify(region, quasi_identifiers, part, regions[here], classes[here])
        tally(regions[here], classes[here], matrix)
    seen = np.zeros(possible, np.bool_)
    for some in _some_rows(matrix, progress):
        columns_met(some, seen)
    present = np.flatnonzero(seen).astype(np.int64)
    if present.size < possible:
        matrix = np.take(matrix, present, axis=1)
    return present, _rows_of(matrix, progress), unknown


def count_by_region(
    region: CodedColumn, quasi_identifiers: Sequence[CodedColumn], possible: int, progress: Progress
) -> tuple[NDArray[np.int64], Rows, int]:
    """The classes of records put in the order of regions as they are made: for few classes in many regions."""
    size = region.codes.size
    of_codes = np.zeros(region.table.size, np.int64)
    for part in _chunks(size, progress, 0.0, 0.1):
        count_codes(region.codes[part], of_codes)
    per_region = np.zeros(region.number, np.int64)
    np.add.at(per_region, region.table[region.table >= 0], of_codes[region.table >= 0])
    starts = np.concatenate(([0], np.cumsum(per_region)))
    places, ordered, seen = starts.copy(), np.empty(int(starts[-1]), np.int32), np.zeros(possible, np.bool_)
    step = max(1, _CHUNK // _CACHED)
    regions, classes = np.empty(step, np.int32), np.empty(step, np.int64)
    for part in _chunks(size, progress, 0.1, 0.7, _CACHED):
        here = slice(0, part.stop - part.start)
        _classify(region, quasi_identifiers, part, regions[here], classes[here])
        mark(classes[here], seen)
        by_region(regions[here], classes[here], places, ordered)
    indptr, columns, values = _count_ordered(ordered, starts, possible, progress)
    present = np.flatnonzero(seen).astype(np.int64)
    if present.size < possible:
        columns = (np.cumsum(seen) - 1).astype(np.int32)[columns]
    return present, (indptr, columns, values), size - ordered.size


def _rank_by_lookup(classes: NDArray[np.int64], possible: int, progress: Progress) -> NDArray[np.int64]:
    """Replace class numbers by their rank among those that occur, and hand these back in ascending order."""
    seen = np.zeros(possible, np.bool_)
    for part in _chunks(classes.size, progress, 0.3, 0.4):
        mark(classes[part], seen)
    present = np.flatnonzero(seen).astype(np.int64)
    rank = np.cumsum(seen.astype(np.int64)) - 1
    for part in _chunks(classes.size, progress, 0.4, 0.6):
        look_up(classes[part], rank)
    return present


def _rank_by_hash(classes: NDArray[np.int64], possible: int, progress: Progress) -> NDArray[np.int64]:
    """The same for more possible classes than fit into a table."""
    keys, order, used = np.full(1 << 12, -1, np.int64), np.zeros(1 << 12, np.int64), 0
    for part in _chunks(classes.size, progress, 0.3, 0.5):
        chunk, done = classes[part], 0
        while True:
            done, used = enter(chunk, done, keys, order, used)
            if done == chunk.size:
                break
            keys, order = _wider(keys, order)
    entered = np.flatnonzero(keys >= 0)
    met = np.empty(used, np.int64)
    met[order[entered]] = keys[entered]
    sorting = np.argsort(met)
    rank = np.empty(used, np.int64)
    rank[sorting] = np.arange(used)
    for part in _chunks(classes.size, progress, 0.5, 0.6):
        look_up(classes[part], rank)
    return met[sorting]


def _wider(keys: NDArray[np.int64], order: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """A table four times as large with the same entries."""
    entered = keys >= 0
    known, places = keys[entered], order[entered]
    new_keys, new_order = np.full(keys.size * 4, -1, np.int64), np.zeros(keys.size * 4, np.int64)
    by_appearance = known[np.argsort(places)]
    enter(by_appearance, 0, new_keys, new_order, 0)
    return new_keys, new_order


def _count_in_matrix(
    regions: NDArray[np.int32], classes: NDArray[np.int64], region_number: int, present: int, progress: Progress
) -> Rows:
    """``indptr, columns, values`` by way of a full matrix: fastest while the matrix is not too large."""
    matrix = np.zeros((region_number, present), np.int32 if classes.size < 1 << 31 else np.int64)
    for part in _chunks(classes.size, progress, 0.6, 0.9):
        tally(regions[part], classes[part], matrix)
    return _rows_of(matrix, progress)


def _rows_of(matrix: NDArray, progress: Progress) -> Rows:
    """The entries of a matrix that are not zero, row by row."""
    indptr = np.zeros(matrix.shape[0] + 1, np.int64)
    done = 0
    for some in _some_rows(matrix, progress):
        count_filled(some, indptr[1 + done :])
        done += some.shape[0]
    np.cumsum(indptr, out=indptr)
    filled, done = int(indptr[-1]), 0
    columns, values = np.empty(filled + 1, np.int32), np.empty(filled + 1, np.int64)
    for some in _some_rows(matrix, progress):
        extract(some, indptr[done:], columns, values)
        done += some.shape[0]
    return indptr, columns[:filled], values[:filled]


def _some_rows(matrix: NDArray, progress: Progress) -> Iterator[NDArray]:
    """The rows of a matrix, as many at a time as take little time."""
    step = max(1, _CHUNK // max(1, matrix.shape[1]))
    for first in range(0, matrix.shape[0], step):
        progress.update(_STAGE, 0.9)
        yield matrix[first : first + step]


def count_sorted(
    regions: NDArray[np.int32], classes: NDArray[np.int64], region_number: int, present: int, progress: Progress
) -> Rows:
    """The same by sorting the records by region and counting one region at a time: memory grows with the records."""
    per_region = np.zeros(region_number, np.int64)
    for part in _chunks(classes.size, progress, 0.6, 0.65):
        count_regions(regions[part], classes[part], per_region)
    starts = np.concatenate(([0], np.cumsum(per_region)))
    known, places = int(starts[-1]), starts.copy()
    ordered = np.empty(known, np.int32)
    for part in _chunks(classes.size, progress, 0.65, 0.8):
        by_region(regions[part], classes[part], places, ordered)
    return _count_ordered(ordered, starts, present, progress)


def _count_ordered(ordered: NDArray[np.int32], starts: NDArray[np.int64], classes: int, progress: Progress) -> Rows:
    """Count the classes of records in the order of regions, each of which begins at its start."""
    kept, known, regions = nothing_met(classes), ordered.size, starts.size - 1
    indptr = np.zeros(regions + 1, np.int64)
    columns, values = np.empty(known + 1, np.int32), np.empty(known + 1, np.int64)
    filled, step = 0, max(1, regions * _CHUNK // max(1, known))
    for first in range(0, regions, step):
        progress.update(_STAGE, 0.8 + 0.2 * first / regions)
        some = starts[first : first + step + 1]
        filled = int(count_each(ordered, some, *kept, indptr[first + 1 :], filled, columns, values))
    return indptr, columns[:filled], values[:filled]
