"""The compiled loops of comparing releases: one pass over all atoms each, instead of one for each operation."""

from __future__ import annotations

from typing import Any

import numpy as np

from vbas_desktop.algorithms.compiled import compiled
from vbas_desktop.algorithms.key_groups import group_keys
from vbas_desktop.model.records import frozen

REHEARSAL = f"{__name__}:rehearse"

OPEN = 255
"""The tier of what is released in none."""


@compiled
def cells_of(indptr: Any, columns: Any, place: Any, class_of: Any, width: int, out: Any) -> None:
    """The cell of each atom by the place of its region and the number of its class; -1 where there is no place."""
    for region in range(indptr.size - 1):
        start = np.int64(place[region]) * width
        for at in range(indptr[region], indptr[region + 1]):
            out[at] = start + class_of[columns[at]] if start >= 0 else -1


@compiled
def settle(cells: Any, released: Any, tier: Any) -> None:
    """The tier of what is in cells that are released or not."""
    for i in range(cells.size):
        tier[i] = 0 if cells[i] >= 0 and released[np.uint64(cells[i])] else OPEN


@compiled
def add_up(indptr: Any, columns: Any, values: Any, region_of: Any, class_of: Any, matrix: Any) -> None:
    """Add the counts of regions and classes to those of the regions and classes that they are taken together to."""
    for region in range(indptr.size - 1):
        row = np.uint64(region_of[region])
        for at in range(indptr[region], indptr[region + 1]):
            matrix[row, np.uint64(class_of[np.uint64(columns[at])])] += values[at]


@compiled
def add_mixed(where: Any, tier: Any, factor: np.uint64, total: Any, seen: Any) -> None:
    """Add a hash of each fate, times the factor of its release, and note which are released."""
    for i in range(where.size):
        fate = np.int64(where[i]) if tier[i] != OPEN else np.int64(-1)
        mixed = np.uint64(fate + 2) * np.uint64(0x9E3779B97F4A7C15)
        mixed ^= mixed >> np.uint64(29)
        mixed *= np.uint64(0xBF58476D1CE4E5B9)
        mixed ^= mixed >> np.uint64(32)
        total[i] += mixed * factor
        seen[i] |= fate >= 0


def rehearse() -> None:
    """Run all loops once."""
    ends, one, none, flags = np.array([0, 1]), np.zeros(1, np.int64), np.zeros(1, np.int32), np.zeros(1, np.bool_)
    tier = np.zeros(1, np.uint8)
    fixed_ends, fixed_none, fixed_one = (frozen(array.copy()) for array in (ends, none, one))
    for cells in (one, none):
        for fixed in (ends, fixed_ends):
            for columns in (none, fixed_none):
                cells_of(fixed, columns, none, one, 1, cells.copy())
        settle(cells, flags, tier)
        add_mixed(cells, tier, np.uint64(1), np.zeros(1, np.uint64), flags.copy())
    for rows in ((ends, none, one), (fixed_ends, fixed_none, fixed_one)):
        add_up(*rows, one, one, np.zeros((1, 1), np.int64))
    for each in (one, fixed_one):
        group_keys(np.zeros(1, np.uint64), each)
