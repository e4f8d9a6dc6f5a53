"""The compiled loop of adding up groups of regions of which nothing but the released records is wanted."""

from __future__ import annotations

from typing import Any

import numpy as np

from .compiled import compiled


@compiled
def add_released(
    indptr: Any, columns: Any, values: Any, members: Any, starts: Any, k: int, sums: Any, met: Any, totals: Any
) -> None:
    """The records of each group that are in classes of k or more there.

    The regions of group g are ``members[starts[g] : starts[g + 1]]``; ``sums`` has a zero for each class, before and
    after, ``met`` room for as many numbers.
    """
    for group in range(totals.size):
        number, total = np.uint64(0), np.int64(0)
        for place in range(np.uint64(starts[group]), np.uint64(starts[group + 1])):
            region = np.uint64(members[place])
            for at in range(np.uint64(indptr[region]), np.uint64(indptr[region + np.uint64(1)])):
                column = np.uint64(columns[at])
                # Without a branch: what was met before is overwritten by what follows.
                met[number] = columns[at]
                number += np.uint64(sums[column] == 0 and values[at] > 0)
                sums[column] += values[at]
        for i in range(number):
            column = np.uint64(met[i])
            total += sums[column] if sums[column] >= k else 0
            sums[column] = 0
        totals[group] = total


def rehearse() -> None:
    """Run it once, with arrays that may be changed and with others."""
    ends, none, one = np.array([0, 1]), np.zeros(1, np.int32), np.ones(1, np.int64)
    for fixed in (False, True):
        for each in (ends, none, one):
            each.flags.writeable = not fixed
        members, starts, room = np.zeros(1, np.int64), np.array([0, 1]), np.zeros(2, np.int32)
        add_released(ends, none, one, members, starts, 1, np.zeros(1, np.int64), room, np.zeros(1, np.int64))
