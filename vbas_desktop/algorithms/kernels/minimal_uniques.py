"""Counts of the records that share their values over one set of columns: the loops of the search for minimal uniques.

The key of a row over some columns is one whole number; rows with the same key share a slot, in which their records are
added up. Rows that are covered already are left out first, so that the loops that follow have nothing to decide; keys
are made block by block, so that they stay in the processor's cache. Bits of ``covered`` are those of `numpy.packbits`,
most significant first. Indices are unsigned: numba tests a signed one for being negative, which takes half the time.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from vbas_desktop.model.progress import Progress

from .jit import kernel, prepare, subkernel

Codes = NDArray[np.unsignedinteger]
Bits = NDArray[np.uint8]
Rows = NDArray[np.int32]
RowNumbers = NDArray[np.uint32]
Keys = NDArray[np.int64]

BLOCK = 8192
"""Rows whose keys are made together."""


class Buffers(NamedTuple):
    """Memory that the search of one set of columns after the other uses.

    ``active`` are the rows that are not covered, ``slots`` the slot of each of them, ``totals`` the records of each
    slot, 0 before. The slot of a key is the key itself if ``table`` is empty, else its place in this hash table, which
    is −1 before. ``keys`` and ``hits`` are for one block of rows, with one place more for hits.
    """

    active: RowNumbers
    slots: RowNumbers
    table: Keys
    totals: Rows
    keys: Keys
    hits: RowNumbers


def prepare_search(
    codes: Codes,
    weights: Rows,
    k: int,
    scores: Rows,
    covered: Bits,
    buffers: Buffers,
    progress: Progress,
) -> None:
    """Compile all kernels for these arguments, or load them from the cache, while a stop is obeyed."""
    numbers = np.zeros(0, np.int64)
    prepare(progress, open_rows, covered, 0, buffers.active)
    prepare(progress, add_up, codes, numbers, numbers, weights, buffers)
    prepare(progress, any_below, buffers.totals, k)
    prepare(progress, pick, k, scores, covered, buffers)


_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)
_HALF = np.uint64(32)


@subkernel
def _find_slot(key: int, table: Keys) -> np.uint64:
    """Return the slot of a key of 0 or more, or the free one (−1) where it belongs."""
    # The upper half goes into the lower one first: keys that differ in it only must not share their slots.
    number = np.uint64(key)
    mixed = (number ^ (number >> _HALF)) * _MULTIPLIER
    slot = ((mixed >> _HALF) * np.uint64(table.size)) >> _HALF
    while table[slot] != key and table[slot] >= 0:
        slot += np.uint64(1)
        if slot == np.uint64(table.size):
            slot = np.uint64(0)
    return slot


@kernel
def open_rows(covered: Bits, rows: int, active: RowNumbers) -> int:
    """List the rows that are not covered; returns how many. ``active`` has room for eight more than there are rows."""
    if not covered.any():
        for row in range(rows):
            active[row] = row
        return rows
    number = 0
    for byte in range(covered.size):
        bits = covered[byte]
        if bits == 255:
            continue
        for bit in range(8):
            active[number] = (byte << 3) + bit
            number += 1 - (bits >> (7 - bit) & 1)
    while number and active[number - 1] >= rows:
        number -= 1
    return number


@subkernel
def _compute_keys(
    codes: Codes, columns: NDArray[np.int64], numbers: NDArray[np.int64], active: RowNumbers, keys: Keys
) -> None:
    """Compute the key of each listed row, two columns at a time to touch the keys less often."""
    size = active.size
    if columns.size % 2:
        last = codes[columns[0]]
        for i in range(size):
            keys[i] = last[active[i]]
    else:
        keys[:size] = 0
    for j in range(columns.size % 2, columns.size, 2):
        first = codes[columns[j]]
        second = codes[columns[j + 1]]
        number = numbers[j + 1]
        both = numbers[j] * number
        for i in range(size):
            row = active[i]
            keys[i] = keys[i] * both + (np.int64(first[row]) * number + second[row])


@kernel
def add_up(
    codes: Codes, columns: NDArray[np.int64], numbers: NDArray[np.int64], weights: Rows, buffers: Buffers
) -> None:
    """Add up the records of each key in its slot of ``totals``, and list the slot of each active row."""
    active = buffers.active
    slots = buffers.slots
    table = buffers.table
    totals = buffers.totals
    keys = buffers.keys
    for start in range(0, active.size, BLOCK):
        rows = active[start : start + BLOCK]
        _compute_keys(codes, columns, numbers, rows, keys)
        if table.size:
            for i in range(rows.size):
                slot = _find_slot(keys[i], table)
                table[slot] = keys[i]
                keys[i] = slot
        for i in range(rows.size):
            slots[start + i] = keys[i]
            totals[slots[start + i]] += weights[rows[i]]


@kernel
def any_below(totals: Rows, k: int) -> bool:
    """Test whether some key has fewer than k records."""
    for total in totals:  # noqa: SIM110 - compiled, a loop is what it is
        if 0 < total < k:
            return True
    return False


@kernel
def pick(k: int, scores: Rows, covered: Bits, buffers: Buffers) -> int:
    """Cover and score the active rows whose slot has fewer than k records.

    Leaves the first row of each such slot in ``active`` and its records in ``slots``; returns how many there are.
    """
    active = buffers.active
    slots = buffers.slots
    totals = buffers.totals
    hit = buffers.hits
    n_slots = 0
    for start in range(0, active.size, BLOCK):
        hits = 0
        for i in range(start, min(start + BLOCK, active.size)):
            hit[hits] = i
            hits += totals[slots[i]] < k
        for index in range(hits):
            slot = slots[hit[index]]
            row = active[hit[index]]
            total = totals[slot]
            scores[row] += 1
            covered[row >> 3] |= 1 << (7 - (row & 7))
            if total > 0:
                totals[slot] = -total
                active[n_slots] = row  # never beyond what is read already
                slots[n_slots] = total
                n_slots += 1
    return n_slots
