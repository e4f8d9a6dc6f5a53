"""Whether several releases show of a place and values which one of them does not list that somebody is there.

What a release does not list of a class is *open*: a recipient knows no more than that each place has any number of
its records up to its *room* (docs/tiers.md; k − 1 in an aggregated region). Another release may show that some of them
are there. Nothing is proved if all that is seen fits into the rooms in any case, even if any one place is empty.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .fates import NOT_RELEASED, Fates, Ints
from .numbering import numbered


def shown_cells(one: Fates, other: Fates, counts: Ints) -> int:
    """How many groups of records must be in cells that ``other`` does not list, with no room to spare.

    A group are the records with the same fate in both. Those that ``one`` lists in their own regions can be moved about
    among the places of ``other`` that they are in. A place that several groups are in is divided evenly among them, and
    places without records are left out: both is less room than there is. Groups that are open in both releases would
    have to fit into the rooms of both at once, and are never taken to.
    """
    open_here = (other.tier != 0) & (other.cell != NOT_RELEASED)
    lost = np.flatnonzero(open_here & ((one.fate != NOT_RELEASED) | (other.fate != NOT_RELEASED)))
    if not lost.size:
        return 0
    group, _ = numbered([one.fate[lost], other.fate[lost]])
    open_in_both = (one.tier[lost] != 0) & (one.cell[lost] != NOT_RELEASED)
    size = np.bincount(group, counts[lost])
    tight = size > _certain_room(other, lost, group, size.size)
    tight[group[open_in_both]] = True
    return int(np.count_nonzero(tight))


def _certain_room(fates: Fates, lost: Ints, group: Ints, groups: int) -> NDArray[np.float64]:
    """How many records of each group fit into the open places, even if the largest part of them is empty."""
    tier = fates.tier[lost]
    total, largest = np.zeros(groups), np.zeros(groups)
    at, room = np.arange(lost.size), np.zeros(lost.size)
    for number, level in enumerate(fates.levels):
        node = level.node[lost]
        # Below the place that lists them, the parts may be filled as their rooms allow.
        listed = tier[at] == number
        np.add.at(total, group[at[listed]], room[listed])
        np.maximum.at(largest, group[at[listed]], room[listed])
        at, room = at[~listed], room[~listed]
        pair, first = numbered([group[at], node[at]])
        _, users = np.unique(node[at[first]], return_inverse=True)
        share = level.room[lost[at[first]]] // np.bincount(users.ravel())[users.ravel()]
        inside = np.bincount(pair, room, minlength=first.size)
        if number == len(fates.levels) - 1:
            np.maximum.at(largest, group[at], room if number else share[pair])
        room = np.minimum(share, inside) if number else share
        at = at[first]
    np.add.at(total, group[at], room)
    return total - largest
