"""The kernels of counting records by region and class: plain loops over coded columns."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from vbas_desktop.algorithms.compiled import compiled
from vbas_desktop.algorithms.hash_table import slot_of
from vbas_desktop.algorithms.met import list_met, note


@compiled
def locate(codes: NDArray, table: NDArray[np.int32], regions: NDArray[np.int32], classes: NDArray[np.int64]) -> int:
    """The region of each record (-1: none) and class 0 for those that have one; how many have none."""
    unknown = 0
    # Unsigned numbers here and below: numba would look for a negative index at every access.
    for i in range(np.uint64(codes.size)):
        region = table[np.uint64(codes[i])]
        regions[i] = region
        classes[i] = 0 if region >= 0 else -1
        unknown += region < 0
    return unknown


@compiled
def fold(codes: NDArray, table: NDArray[np.int32], number: int, classes: NDArray[np.int64]) -> None:
    """Make a column the next digit of the class numbers."""
    for i in range(np.uint64(codes.size)):
        found = classes[i] * number + table[np.uint64(codes[i])]
        classes[i] = found if classes[i] >= 0 else -1


@compiled
def mark(classes: NDArray[np.int64], seen: NDArray[np.bool_]) -> None:
    """Note which class numbers occur."""
    for number in classes:
        if number >= 0:
            seen[np.uint64(number)] = True


@compiled
def look_up(classes: NDArray[np.int64], rank: NDArray[np.int64]) -> None:
    """Replace class numbers by their ranks."""
    for i in range(np.uint64(classes.size)):
        if classes[i] >= 0:
            classes[i] = rank[np.uint64(classes[i])]


@compiled
def enter(
    classes: NDArray[np.int64], done: int, keys: NDArray[np.int64], order: NDArray[np.int64], used: int
) -> tuple[int, int]:
    """Replace class numbers by the order of their first appearance; stops where the table is half full."""
    for i in range(done, classes.size):
        number = classes[i]
        if number < 0:
            continue
        slot = slot_of(number, keys)
        if keys[slot] < 0:
            if 2 * used >= keys.size:
                return i, used
            keys[slot] = number
            order[slot] = used
            used += 1
        classes[i] = order[slot]
    return classes.size, used


@compiled
def tally(regions: NDArray[np.int32], classes: NDArray[np.int64], matrix: NDArray) -> None:
    """Add the records to a matrix of regions and classes."""
    for i in range(np.uint64(classes.size)):
        if classes[i] >= 0:
            matrix[np.uint64(regions[i]), np.uint64(classes[i])] += 1


@compiled
def columns_met(matrix: NDArray, seen: NDArray[np.bool_]) -> None:
    """Note which columns have an entry that is not zero."""
    for row in range(matrix.shape[0]):
        for column in range(matrix.shape[1]):
            seen[column] |= matrix[row, column] != 0


@compiled
def count_filled(matrix: NDArray, numbers: NDArray[np.int64]) -> None:
    """How many entries of each row are not zero."""
    for row in range(matrix.shape[0]):
        filled = 0
        for column in range(matrix.shape[1]):
            filled += matrix[row, column] != 0
        numbers[row] = filled


@compiled
def extract(matrix: NDArray, indptr: NDArray[np.int64], columns: NDArray[np.int32], values: NDArray[np.int64]) -> None:
    """The columns and values of the entries that are not zero, row by row."""
    for row in range(matrix.shape[0]):
        place = indptr[row]
        for column in range(matrix.shape[1]):
            # Without a branch: what is not kept is overwritten by what follows.
            columns[place] = column
            values[place] = matrix[row, column]
            place += matrix[row, column] != 0


@compiled
def count_codes(codes: NDArray, numbers: NDArray[np.int64]) -> None:
    """How many records have each code."""
    for i in range(np.uint64(codes.size)):
        numbers[np.uint64(codes[i])] += 1


@compiled
def count_regions(regions: NDArray[np.int32], classes: NDArray[np.int64], numbers: NDArray[np.int64]) -> None:
    """How many records with a class each region has."""
    for i in range(np.uint64(classes.size)):
        if classes[i] >= 0:
            numbers[np.uint64(regions[i])] += 1


@compiled
def by_region(
    regions: NDArray[np.int32], classes: NDArray[np.int64], places: NDArray[np.int64], out: NDArray[np.int32]
) -> None:
    """Sort the classes of records by region; ``places`` says where each region goes on."""
    for i in range(np.uint64(classes.size)):
        if classes[i] >= 0:
            region = np.uint64(regions[i])
            out[np.uint64(places[region])] = classes[i]
            places[region] += 1


@compiled
def count_each(
    classes: NDArray[np.int32],
    starts: NDArray[np.int64],
    numbers: NDArray[np.int64],
    met: NDArray[np.uint64],
    some_met: NDArray[np.uint64],
    ends: NDArray[np.int64],
    place: int,
    columns: NDArray[np.int32],
    values: NDArray[np.int64],
) -> int:
    """Count the classes of each region, and list those met in ascending order from ``place`` on.

    ``numbers``, ``met`` and ``some_met`` are as `met.nothing_met` makes them. ``ends`` gets where the list of each
    region ends.
    """
    to = np.uint64(place)
    for region in range(starts.size - 1):
        for i in range(np.uint64(starts[region]), np.uint64(starts[region + 1])):
            number = np.uint64(classes[i])
            numbers[number] += 1
            note(number, met, some_met)
        to = list_met(numbers, met, some_met, 1, to, columns, values)
        ends[region] = to
    return int(to)
