"""Records by region and class, from coded columns: exact, and only for the classes that occur."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numba import njit
from numpy.typing import NDArray

from vbas_desktop.domain.progress import Progress
from vbas_desktop.domain.records import EquivalenceCounts

CLASSES_LIMIT = 1 << 63
"""Class numbers are signed 64-bit integers: more classes than this cannot be told apart."""

_CHUNK = 1 << 20
_LOOKUP_CLASSES = 1 << 22
_DENSE_CELLS = 24_000_000
_STAGE = "Counting classes"


@dataclass(frozen=True)
class CodedColumn:
    """A column's codes, a table from code to what it counts as (-1: not at all), and how many of these there are."""

    codes: NDArray[np.unsignedinteger]
    table: NDArray[np.int32]
    number: int


@njit(cache=True, nogil=True)
def _locate(codes: NDArray, table: NDArray[np.int32], regions: NDArray[np.int32], classes: NDArray[np.int64]) -> int:
    unknown = 0
    for i in range(codes.size):
        region = table[codes[i]]
        regions[i] = region
        classes[i] = 0 if region >= 0 else -1
        unknown += region < 0
    return unknown


@njit(cache=True, nogil=True)
def _fold(codes: NDArray, table: NDArray[np.int32], number: int, classes: NDArray[np.int64]) -> None:
    for i in range(codes.size):
        if classes[i] >= 0:
            classes[i] = classes[i] * number + table[codes[i]]


@njit(cache=True, nogil=True)
def _mark(classes: NDArray[np.int64], seen: NDArray[np.bool_]) -> None:
    for number in classes:
        if number >= 0:
            seen[number] = True


@njit(cache=True, nogil=True)
def _look_up(classes: NDArray[np.int64], rank: NDArray[np.int64]) -> None:
    for i in range(classes.size):
        if classes[i] >= 0:
            classes[i] = rank[classes[i]]


@njit(cache=True, nogil=True)
def _enter(
    classes: NDArray[np.int64], done: int, keys: NDArray[np.int64], order: NDArray[np.int64], used: int
) -> tuple[int, int]:
    """Replace class numbers by the order of their first appearance; stops where the table is half full."""
    mask = keys.size - 1
    for i in range(done, classes.size):
        number = classes[i]
        if number < 0:
            continue
        slot = np.int64((np.uint64(number) * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(24)) & mask
        while keys[slot] >= 0 and keys[slot] != number:
            slot = (slot + 1) & mask
        if keys[slot] < 0:
            if 2 * used >= keys.size:
                return i, used
            keys[slot] = number
            order[slot] = used
            used += 1
        classes[i] = order[slot]
    return classes.size, used


@njit(cache=True, nogil=True)
def _tally(regions: NDArray[np.int32], classes: NDArray[np.int64], matrix: NDArray) -> None:
    for i in range(classes.size):
        if classes[i] >= 0:
            matrix[regions[i], classes[i]] += 1


@njit(cache=True, nogil=True)
def _filled(matrix: NDArray, numbers: NDArray[np.int64]) -> None:
    for row in range(matrix.shape[0]):
        filled = 0
        for column in range(matrix.shape[1]):
            filled += matrix[row, column] != 0
        numbers[row] = filled


@njit(cache=True, nogil=True)
def _extract(matrix: NDArray, indptr: NDArray[np.int64], columns: NDArray[np.int32], values: NDArray[np.int64]) -> None:
    for row in range(matrix.shape[0]):
        place = indptr[row]
        for column in range(matrix.shape[1]):
            # Without a branch: what is not kept is overwritten by what follows.
            columns[place] = column
            values[place] = matrix[row, column]
            place += matrix[row, column] != 0


@njit(cache=True, nogil=True)
def _histogram(keys: NDArray, counts: NDArray[np.int64]) -> None:
    for key in keys:
        if key >= 0:
            counts[key] += 1


@njit(cache=True, nogil=True)
def _by_class(
    regions: NDArray[np.int32],
    classes: NDArray[np.int64],
    places: NDArray[np.int64],
    out_regions: NDArray[np.int32],
    out_classes: NDArray[np.int32],
) -> None:
    for i in range(classes.size):
        number = classes[i]
        if number >= 0:
            place = places[number]
            places[number] += 1
            out_regions[place] = regions[i]
            out_classes[place] = number


@njit(cache=True, nogil=True)
def _by_region(
    regions: NDArray[np.int32],
    classes: NDArray[np.int32],
    starts: NDArray[np.int64],
    fill: NDArray[np.int64],
    columns: NDArray[np.int32],
    values: NDArray[np.int64],
) -> None:
    """Records come ordered by class, so that equal classes of a region follow each other: add up or append."""
    for i in range(classes.size):
        region = regions[i]
        place = fill[region]
        if place > starts[region] and columns[place - 1] == classes[i]:
            values[place - 1] += 1
        else:
            columns[place] = classes[i]
            values[place] = 1
            fill[region] = place + 1


def count(
    region: CodedColumn, quasi_identifiers: Sequence[CodedColumn], progress: Progress
) -> tuple[EquivalenceCounts, int]:
    """Count the records of each region and class; the second number is that of records without a region."""
    size = region.codes.size
    regions, classes = np.empty(size, np.int32), np.empty(size, np.int64)
    unknown = 0
    for part in _chunks(size, progress, 0.0, 0.3):
        unknown += _locate(region.codes[part], region.table, regions[part], classes[part])
        for column in quasi_identifiers:
            _fold(column.codes[part], column.table, column.number, classes[part])
    numbers = tuple(column.number for column in quasi_identifiers)
    possible = 1
    for number in numbers:
        possible *= number
    rank = _rank_by_lookup if possible <= _LOOKUP_CLASSES else _rank_by_hash
    present = rank(classes, possible, progress)
    in_matrix = region.number * present.size <= _DENSE_CELLS
    counter = _count_in_matrix if in_matrix else count_sorted
    rows = counter(regions, classes, region.number, present.size, progress)
    return EquivalenceCounts.from_rows(numbers, present, *rows), unknown


def _chunks(size: int, progress: Progress, start: float, end: float) -> Iterator[slice]:
    for first in range(0, size, _CHUNK):
        progress.update(_STAGE, start + (end - start) * first / size)
        yield slice(first, min(size, first + _CHUNK))


def _rank_by_lookup(classes: NDArray[np.int64], possible: int, progress: Progress) -> NDArray[np.int64]:
    """Replace class numbers by their rank among those that occur, and hand these back in ascending order."""
    seen = np.zeros(possible, np.bool_)
    for part in _chunks(classes.size, progress, 0.3, 0.4):
        _mark(classes[part], seen)
    present = np.flatnonzero(seen).astype(np.int64)
    rank = np.cumsum(seen, dtype=np.int64) - 1
    for part in _chunks(classes.size, progress, 0.4, 0.6):
        _look_up(classes[part], rank)
    return present


def _rank_by_hash(classes: NDArray[np.int64], possible: int, progress: Progress) -> NDArray[np.int64]:
    """The same for more possible classes than fit into a table."""
    keys, order, used = np.full(1 << 12, -1, np.int64), np.zeros(1 << 12, np.int64), 0
    for part in _chunks(classes.size, progress, 0.3, 0.5):
        chunk, done = classes[part], 0
        while True:
            done, used = _enter(chunk, done, keys, order, used)
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
        _look_up(classes[part], rank)
    return met[sorting]


def _wider(keys: NDArray[np.int64], order: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """A table four times as large with the same entries."""
    entered = keys >= 0
    known, places = keys[entered], order[entered]
    new_keys, new_order = np.full(keys.size * 4, -1, np.int64), np.zeros(keys.size * 4, np.int64)
    by_appearance = known[np.argsort(places)]
    _enter(by_appearance, 0, new_keys, new_order, 0)
    return new_keys, new_order


def _count_in_matrix(
    regions: NDArray[np.int32], classes: NDArray[np.int64], region_number: int, present: int, progress: Progress
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int64]]:
    """``indptr, columns, values`` by way of a full matrix: fastest while the matrix is not too large."""
    matrix = np.zeros((region_number, present), np.int32 if classes.size < 1 << 31 else np.int64)
    for part in _chunks(classes.size, progress, 0.6, 0.9):
        _tally(regions[part], classes[part], matrix)
    indptr = np.zeros(region_number + 1, np.int64)
    step = max(1, _CHUNK // max(1, present))
    for first in range(0, region_number, step):
        _filled(matrix[first : first + step], indptr[1 + first :])
    np.cumsum(indptr, out=indptr)
    filled = int(indptr[-1])
    columns, values = np.empty(filled + 1, np.int32), np.empty(filled + 1, np.int64)
    for first in range(0, region_number, step):
        progress.update(_STAGE, 0.9 + 0.1 * first / region_number)
        _extract(matrix[first : first + step], indptr[first:], columns, values)
    return indptr, columns[:filled], values[:filled]


def count_sorted(
    regions: NDArray[np.int32], classes: NDArray[np.int64], region_number: int, present: int, progress: Progress
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int64]]:
    """The same by sorting the records by class and adding up neighbours: memory grows with the records only."""
    per_class, per_region = np.zeros(present, np.int64), np.zeros(region_number, np.int64)
    for part in _chunks(classes.size, progress, 0.6, 0.65):
        _histogram(classes[part], per_class)
        _histogram(regions[part], per_region)
    known = int(per_class.sum())
    places = np.cumsum(per_class) - per_class
    sorted_regions, sorted_classes = np.empty(known, np.int32), np.empty(known, np.int32)
    for part in _chunks(classes.size, progress, 0.65, 0.8):
        _by_class(regions[part], classes[part], places, sorted_regions, sorted_classes)
    starts = np.cumsum(per_region) - per_region
    fill, columns, values = starts.copy(), np.empty(known, np.int32), np.zeros(known, np.int64)
    for part in _chunks(known, progress, 0.8, 1.0):
        _by_region(sorted_regions[part], sorted_classes[part], starts, fill, columns, values)
    entries = fill - starts
    indptr = np.concatenate(([0], np.cumsum(entries))).astype(np.int64)
    kept = values > 0
    return indptr, columns[kept], values[kept]
