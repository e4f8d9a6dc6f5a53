"""The compiled loops of comparing releases: one pass over all atoms each, instead of one for each operation."""

from __future__ import annotations

from typing import Any

import numpy as np

from vbas_desktop.algorithms.compiled import compiled
from vbas_desktop.algorithms.key_groups import group_keys

REHEARSAL = f"{__name__}:rehearse"


@compiled
def cells_of(indptr: Any, columns: Any, place: Any, class_of: Any, width: int, out: Any) -> None:
    """The cell of each atom by the place of its region and the number of its class; -1 where there is no place."""
    for region in range(indptr.size - 1):
        start = np.int64(place[region]) * width
        for at in range(indptr[region], indptr[region + 1]):
            out[at] = start + class_of[columns[at]] if start >= 0 else -1


@compiled
def mark(cells: Any, flags: Any) -> None:
    """Note which cells occur."""
    for cell in cells:
        if cell >= 0:
            flags[np.uint64(cell)] = True


@compiled
def flagged(cells: Any, flags: Any, out: Any) -> None:
    """Which of the cells have a flag."""
    for i in range(cells.size):
        out[i] = cells[i] >= 0 and flags[np.uint64(cells[i])]


@compiled
def settle(cells: Any, released: Any, room: int, open_: int, fate: Any, tier: Any, rooms: Any) -> None:
    """What becomes of atoms whose cells are released or not."""
    for i in range(cells.size):
        fate[i] = cells[i] if released[i] else -1
        tier[i] = 0 if released[i] else open_
        rooms[i] = 0 if released[i] else room


@compiled
def add_mixed(fate: Any, factor: np.uint64, total: Any, seen: Any) -> None:
    """Add a hash of each fate, times the factor of its release, and note which are released."""
    for i in range(fate.size):
        mixed = np.uint64(fate[i] + 2) * np.uint64(0x9E3779B97F4A7C15)
        mixed ^= mixed >> np.uint64(29)
        mixed *= np.uint64(0xBF58476D1CE4E5B9)
        mixed ^= mixed >> np.uint64(32)
        total[i] += mixed * factor
        seen[i] |= fate[i] >= 0


def rehearse() -> None:
    """Run all loops once."""
    one, none, flags = np.zeros(1, np.int64), np.zeros(1, np.int32), np.zeros(1, np.bool_)
    for each in (one, _frozen(one)):
        for columns in (none, _frozen(none)):
            cells_of(_frozen(np.array([0, 1])), columns, none, one, 1, one.copy())
            cells_of(np.array([0, 1]), columns, none, one, 1, one.copy())
        group_keys(np.zeros(1, np.uint64), each)
    mark(one, flags)
    flagged(one, flags, flags.copy())
    settle(one, flags, 1, 255, one.copy(), np.zeros(1, np.uint8), one.copy())
    add_mixed(one, np.uint64(1), np.zeros(1, np.uint64), flags.copy())


def _frozen(array: Any) -> Any:
    copy = array.copy()
    copy.flags.writeable = False
    return copy
