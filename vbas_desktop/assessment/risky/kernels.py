"""Compiled loops of the search over one set of columns.

Rows that are covered already are left out first, so that the loops that follow have nothing to decide; the key of a row
over some columns is one whole number. Bits of ``covered`` are those of `numpy.packbits`, most significant first.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

Codes = NDArray[np.unsignedinteger]
Rows = NDArray[np.int32]
Keys = NDArray[np.int64]


@njit(cache=True, nogil=True)
def open_rows(covered: NDArray[np.uint8], rows: int, active: Rows) -> int:
    """List the rows that are not covered; returns how many. ``active`` has room for eight more than there are rows."""
    number = 0
    for place in range(covered.size):
        bits = covered[place]
        if bits == 255:
            continue
        for bit in range(8):
            active[number] = (place << 3) + bit
            number += 1 - (bits >> (7 - bit) & 1)
    while number and active[number - 1] >= rows:
        number -= 1
    return number


@njit(cache=True, nogil=True)
def keys_of(
    codes: Codes, columns: NDArray[np.int64], numbers: NDArray[np.int64], active: Rows, size: int, keys: Keys
) -> None:
    """The key of each listed row, column by column."""
    first = codes[columns[0]]
    for i in range(size):
        keys[i] = first[active[i]]
    for j in range(1, columns.size):
        column, number = codes[columns[j]], numbers[j]
        for i in range(size):
            keys[i] = keys[i] * number + column[active[i]]


@njit(cache=True, nogil=True)
def hash_keys(keys: Keys, size: int, table: Keys) -> None:
    """Replace each key by its slot in a hash table that is −1 before and whose size is a power of two."""
    last = table.size - 1
    for i in range(size):
        key = keys[i]
        slot = np.int64((np.uint64(key) * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(20)) & last
        while table[slot] != key and table[slot] != -1:
            slot = (slot + 1) & last
        table[slot] = key
        keys[i] = slot


@njit(cache=True, nogil=True)
def pick(
    keys: Keys,
    active: Rows,
    size: int,
    weights: Rows,
    totals: Rows,
    k: int,
    scores: Rows,
    covered: NDArray[np.uint8],
    rows: Rows,
) -> int:
    """Cover and score the rows whose key has fewer than k records. ``totals`` is zero before.

    The first row of each such key goes into ``rows``; returns how many. Its count is then −totals of its key.
    """
    for i in range(size):
        totals[keys[i]] += weights[active[i]]
    hits = 0
    for i in range(size):
        rows[hits] = i
        hits += totals[keys[i]] < k
    found = 0
    for hit in range(hits):
        i = rows[hit]
        row, total = active[i], totals[keys[i]]
        scores[row] += 1
        covered[row >> 3] |= 1 << (7 - (row & 7))
        if total > 0:
            totals[keys[i]] = -total
            keys[found] = total  # the keys of earlier rows are not needed any more
            rows[found] = row
            found += 1
    return found


@njit(cache=True, nogil=True)
def join_equal(
    keys: NDArray[np.int64],
    weights: NDArray[np.int64],
    start: int,
    end: int,
    found: int,
    table: NDArray[np.int64],
    number_of: NDArray[np.int32],
    first: NDArray[np.int32],
    totals: NDArray[np.int64],
    group: NDArray[np.int32],
) -> int:
    """Number equal keys in the order of their first row; returns how many there are. ``table`` is −1 before.

    Goes on from row ``start``, with ``found`` keys known, to row ``end``.
    """
    last = table.size - 1
    for row in range(start, end):
        key = keys[row]
        slot = np.int64((np.uint64(key) * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(20)) & last
        while table[slot] != key and table[slot] != -1:
            slot = (slot + 1) & last
        if table[slot] == -1:
            table[slot] = key
            number_of[slot] = found
            first[found] = row
            totals[found] = 0
            found += 1
        number = number_of[slot]
        totals[number] += weights[row]
        group[row] = number
    return found
