"""Grouping many numbers by value without sorting them: in hash tables that fit into the processor's cache."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .compiled import compiled
from .hash_table import first_slot, next_slot

_PART = 1 << 12
"""About so many keys are looked at in one table."""
_MIX = np.uint64(0xD6E8FEB86659FD93)
"""Another factor than that of the tables: keys of one part must not share their slots."""


def group_keys(
    keys: NDArray[np.uint64], counts: NDArray[np.int64]
) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int64]]:
    """The group of each key, where a key of each group stands, and the sum of the counts of each group.

    Groups are numbered in no particular order, but always in the same one.
    """
    group, first = np.empty(keys.size, np.int32), np.empty(keys.size, np.int32)
    sums = np.empty(keys.size, np.int64)
    bits = min(12, max(1, (keys.size // _PART).bit_length()))
    number = _group(keys, counts, bits, group, first, sums)
    return group, first[:number], sums[:number]


@compiled
def _group(keys: Any, counts: Any, bits: int, group: Any, first: Any, sums: Any) -> int:
    one, shift = np.uint64(1), np.uint64(64 - bits)
    parts = 1 << bits
    starts = np.zeros(parts + 1, np.int64)
    for i in range(keys.size):
        starts[((keys[i] * _MIX) >> shift) + one] += 1
    largest = 0
    for part in range(parts):
        largest = max(largest, starts[part + 1])
        starts[part + 1] += starts[part]
    order, places = np.empty(keys.size, np.int32), starts[:-1].copy()
    for i in range(keys.size):
        part = (keys[i] * _MIX) >> shift
        order[np.uint64(places[part])] = i
        places[part] += 1
    table = np.empty(max(16, 2 * largest), np.int32)
    number = np.int32(0)
    for part in range(parts):
        table[:] = -1
        for at in range(starts[part], starts[part + 1]):
            row = np.uint64(order[at])
            key = keys[row]
            slot = first_slot(key, table)
            found = table[slot]
            while found >= 0 and keys[np.uint64(first[np.uint64(found)])] != key:
                slot = next_slot(slot, table)
                found = table[slot]
            if found < 0:
                found = number
                table[slot] = found
                first[np.uint64(found)] = order[at]
                sums[np.uint64(found)] = 0
                number += np.int32(1)
            group[row] = found
            sums[np.uint64(found)] += counts[row]
    return int(number)
