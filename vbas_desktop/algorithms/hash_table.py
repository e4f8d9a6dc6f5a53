"""Open hash tables in plain arrays: where to look for a key first, and where to go on.

A table is an array with an entry for each slot; some value, mostly −1, says that a slot is free. It may have any size
up to 2³². Some slots must always be free: a search ends at a free one. Slots are unsigned: numba would look for a
negative index at every access. The auditor has tables of its own (`audit.hash_table`).
"""

from __future__ import annotations

from typing import Final

import numpy as np

from .compiled import inlined

_MULTIPLIER: Final = np.uint64(0x9E3779B97F4A7C15)
_HALF: Final = np.uint64(32)


@inlined
def first_slot(number, table):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN201
    """Where to begin looking for what made this number, of 64 bits without a sign."""
    # The upper half goes into the lower one first: numbers that differ in it only must not share their places.
    mixed = (number ^ (number >> _HALF)) * _MULTIPLIER
    return ((mixed >> _HALF) * np.uint64(table.size)) >> _HALF


@inlined
def next_slot(slot, table):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN201
    """Where to look after that slot."""
    after = slot + np.uint64(1)
    return after if after < np.uint64(table.size) else np.uint64(0)


@inlined
def slot_of(key, keys):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN201
    """The slot of a key of 0 or more in a table of keys, or the free one (−1) where it belongs."""
    slot = first_slot(np.uint64(key), keys)
    while keys[slot] != key and keys[slot] >= 0:
        slot = next_slot(slot, keys)
    return slot


@inlined
def free_slot(number, table):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN201
    """Where what made this number belongs in a table (free: below 0) that does not have it yet."""
    slot = first_slot(number, table)
    while table[slot] >= 0:
        slot = next_slot(slot, table)
    return slot


def slots_for(entries: int) -> int:
    """How many slots a table for so many entries has: at most two of three are taken, and searches stay short."""
    return max(16, entries + entries // 2)
