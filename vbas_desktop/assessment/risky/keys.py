"""Rows as whole numbers, and equal numbers joined."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from vbas_desktop.domain.progress import Progress, Silent

from .kernels import extend_keys, join_equal

LARGEST = 1 << 62
"""Keys stay below this, so that none overflows."""

_CHUNK = 1_000_000


def row_keys(columns: Iterable[tuple[NDArray[np.integer], int]], rows: int) -> NDArray[np.int64]:
    """One number per row, equal iff the rows agree. A column is its codes and how many values they may have."""
    keys, radix = np.zeros(rows, np.int64), 1
    for codes, number in columns:
        if radix * number >= LARGEST:
            _, _, group = joined(keys, np.ones(rows, np.int32))
            keys, radix = group.astype(np.int64), rows
        extend_keys(keys, codes, number)
        radix *= number
    return keys


def joined(
    keys: NDArray[np.int64], weights: NDArray[np.int32], progress: Progress | None = None
) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int32]]:
    """The first row and the records of each different key, and the number of each row's key."""
    size, progress = keys.size, progress or Silent()
    slots = max(16, size + size // 2)
    first, totals, group = (np.empty(size, np.int32) for _ in range(3))
    table, number_of = np.full(slots, -1, np.int64), np.empty(slots, np.int32)
    found = 0
    for start in range(0, size, _CHUNK):
        progress.update("Joining equal records", start / size)
        end = min(start + _CHUNK, size)
        found = join_equal(keys, weights, start, end, found, table, number_of, first, totals, group)
    return first[:found].copy(), totals[:found].copy(), group
