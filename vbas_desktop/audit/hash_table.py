"""The auditor's hash tables: where a hash is looked for first, and where the search goes on.

A table has a power of two of slots, of which at most half are taken. Slots have no sign, since for others the compiler
looks for negative ones at every access. Nothing of this is shared with what loads and writes records.
"""

from __future__ import annotations

import numpy as np

from vbas_desktop.algorithms.compiled import inlined

_ODD = np.uint64(0x9FB21C651E98DF25)


@inlined
def first_slot(key, table):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN201
    """Where to begin looking for a hash of 64 bits."""
    return (key * _ODD >> np.uint64(17)) & np.uint64(table.size - 1)


@inlined
def next_slot(slot, table):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN201
    """Where to look after that slot."""
    return (slot + np.uint64(1)) & np.uint64(table.size - 1)


@inlined
def enter(key, number, index):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN201
    """Note the number of what has this hash, and was not met before, in an index of numbers (free: −1)."""
    slot = first_slot(key, index)
    while index[slot] >= 0:
        slot = next_slot(slot, index)
    index[slot] = number


def slots_for(entries: int) -> int:
    """How many slots a table for so many entries has."""
    return 1 << max(4, (2 * entries).bit_length())
