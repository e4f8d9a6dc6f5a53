"""The compiled loops of adding up groups of regions."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from vbas_desktop.model.tiers import NOWHERE

from .compiled import compiled, lean
from .met import list_met, note, nothing_met


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


@lean
def add_groups(
    indptr: Any,
    columns: Any,
    values: Any,
    members: Any,
    starts: Any,
    least: int,
    sums: Any,
    met: Any,
    some_met: Any,
    ends: Any,
    place: int,
    out_columns: Any,
    out_values: Any,
) -> int:
    """List the classes of each group with their records from ``place`` on; those below ``least`` are left out.

    The regions of group g are ``members[starts[g] : starts[g + 1]]``, ``ends[g]`` gets where its list ends. ``sums``,
    ``met`` and ``some_met`` are as `met.nothing_met` makes them.
    """
    to = np.uint64(place)
    for group in range(starts.size - 1):
        for at in range(np.uint64(starts[group]), np.uint64(starts[group + 1])):
            region = np.uint64(members[at])
            for i in range(np.uint64(indptr[region]), np.uint64(indptr[region + np.uint64(1)])):
                column = np.uint64(columns[i])
                sums[column] += values[i]
                note(column, met, some_met)
        to = list_met(sums, met, some_met, least, to, out_columns, out_values)
        ends[group] = to
    return int(to)


@lean
def add_by_tier(
    first: Any,
    end: Any,
    starts: Any,
    columns: Any,
    values: Any,
    members: Any,
    group_starts: Any,
    place_starts: Any,
    place_columns: Any,
    tier: Any,
    here: Any,
    records: Any,
    pairs: Any,
    logs: Any,
) -> None:
    """Add up records, pairs of one class and n · ln n of the places ``first`` … ``end`` − 1, by region and tier.

    The regions of place p are ``members`` from ``group_starts[p]``; ``here`` is NOWHERE for each class, before and
    after.
    """
    for place in range(first, end):
        for at in range(place_starts[place], place_starts[place + 1]):
            here[place_columns[at]] = tier[at]
        for i in range(group_starts[place], group_starts[place + 1]):
            region = members[i]
            for at in range(starts[region], starts[region + 1]):
                where = here[columns[at]]
                if where != NOWHERE:
                    records[where, region] += values[at]
                    pairs[where, region] += values[at] * (values[at] - 1) // 2
                    logs[where, region] += values[at] * math.log(values[at])
        for at in range(place_starts[place], place_starts[place + 1]):
            here[place_columns[at]] = NOWHERE


def rehearse() -> None:
    """Run them once, with arrays that may be changed and with others."""
    ends, none, one = np.array([0, 1]), np.zeros(1, np.int32), np.ones(1, np.int64)
    for fixed in (False, True):
        for each in (ends, none, one):
            each.flags.writeable = not fixed
        some, room = np.array([0, 1], np.int32), np.zeros(2, np.int32)
        add_released(ends, none, one, some[:1], some, 1, np.zeros(1, np.int64), room, np.zeros(1, np.int64))
        ends_of, lists = np.zeros(1, np.int64), (np.zeros(2, np.int32), np.zeros(2, np.int64))
        add_groups(ends, none, one, some[:1], some, 1, *nothing_met(1), ends_of, 0, *lists)
        found = np.zeros((2, 1, 1), np.int64)
        add_by_tier(
            0,
            1,
            ends,
            none,
            one,
            some[:1],
            some,
            ends,
            none,
            np.zeros(1, np.uint8),
            np.zeros(1, np.uint8),
            *found,
            np.zeros((1, 1), np.float64),
        )
