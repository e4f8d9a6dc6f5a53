"""What engines counted, as counts; in parts where memory is short."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from vbas_desktop.model.errors import InputError
from vbas_desktop.model.records import EquivalenceCounts

from .engine import OUT_OF_MEMORY, DatabaseEngine

T = TypeVar("T")

DENSE_CELLS = 24_000_000
"""Up to so many, all possible cells are held at once."""

_STEP = 4
_MOST_PARTS = 64


def in_parts(engine: DatabaseEngine, column: int, job: Callable[[str], T]) -> list[T]:
    """What a job gives of all records, which it gets by their name; if memory is short, of ever smaller parts.

    The parts are cut by the values of a column, so nothing that is grouped by it is in two of them.
    """
    number = 1
    while True:
        names = engine.parts(column, number)
        try:
            return [job(name) for name in names]
        except InputError as error:
            short = any(finding.code == OUT_OF_MEMORY for finding in error.findings)
            if not short or number > len(names) or number >= _MOST_PARTS:
                raise
        number *= _STEP


def counts_of(
    area: NDArray[np.int64],
    classes: NDArray[np.int64],
    sizes: NDArray[np.int64],
    regions: int,
    numbers: tuple[int, ...],
    dense_cells: int = DENSE_CELLS,
) -> EquivalenceCounts:
    """Counts from the sizes of (region, class), which may come more than once and in any order."""
    possible = math.prod(numbers)
    if regions * possible <= dense_cells:
        keys = area * possible + classes
        cells = np.zeros(regions * possible, np.int64)
        cells[keys] = sizes
        if int(cells.sum()) != int(sizes.sum()):
            # A cell came more than once. Added up as floating-point numbers, but exact: nobody has 2**53 records.
            cells = np.bincount(keys, sizes, minlength=regions * possible).astype(np.int64)
        matrix = cells.reshape(regions, possible)
        there = np.flatnonzero(matrix.any(axis=0)).astype(np.int64)
        return EquivalenceCounts.from_dense(
            numbers, there, matrix if there.size == possible else np.take(matrix, there, axis=1)
        )
    present, column = np.unique(classes, return_inverse=True)
    keys = area * max(1, present.size) + column
    cells, where = np.unique(keys, return_inverse=True)
    values = np.zeros(cells.size, np.int64)
    np.add.at(values, where, sizes)
    indptr = np.searchsorted(cells // max(1, present.size), np.arange(regions + 1)).astype(np.int64)
    columns = (cells % max(1, present.size)).astype(np.int32)
    return EquivalenceCounts.from_rows(numbers, present.astype(np.int64), indptr, columns, values)
