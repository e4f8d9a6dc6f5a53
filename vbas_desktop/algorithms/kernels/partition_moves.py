"""Moves of one initial region within a partition: what each would change, and the move with all totals kept in step."""

from __future__ import annotations

from typing import Any

import numpy as np

from .jit import subkernel
from .partition_state import Partition, Total, add_counts, are_judged, bits_of, cell_of, row_fails

_LARGEST = np.iinfo(np.int32).max
"""No class size is above it."""


@subkernel
def _judge(p: Partition, i: int, group: int) -> None:
    """Note which classes of a group fail, of those that region i has."""
    keys, sizes, first = p.keys, p.sizes, np.int64(group) * p.classes
    for e in range(p.start[i], p.start[i + 1]):
        cell = cell_of(keys, first + p.columns[e])
        p.judged.failing[cell] = sizes[cell] >= p.k and row_fails(p.judged, cell, e, 0)


@subkernel
def _changes_by_values(p: Partition, i: int, to: int) -> tuple[int, int]:
    """The same with the criteria for sensitive values."""
    keys, sizes, columns, values, k, judged = p.keys, p.sizes, p.columns, p.values, p.k, p.judged
    here_first, there_first = np.int64(p.owner[i]) * p.classes, np.int64(to) * p.classes
    lost, gained = 0, 0
    for e in range(p.start[i], p.start[i + 1]):
        number, column = values[e], columns[e]
        cell, other = cell_of(keys, here_first + column), cell_of(keys, there_first + column)
        here, there = sizes[cell], sizes[other]
        if here < k or judged.failing[cell]:
            lost -= here
        if here - number < k or row_fails(judged, cell, e, -1):
            lost += here - number
        if there < k or judged.failing[other]:
            gained -= there
        if there + number < k or row_fails(judged, other, e, 1):
            gained += there + number
    p.totals[Total.WORK] += (4 + 4 * judged.row.size) * (p.start[i + 1] - p.start[i])
    return lost, gained


@subkernel
def change_of_suppressed(p: Partition, i: int, to: int) -> int:
    """By how much S would change if region i went to another group."""
    here, there = changes_of_suppressed(p, i, to)
    return here + there


@subkernel
def changes_of_suppressed(p: Partition, i: int, to: int) -> tuple[int, int]:
    """By how much S would change in region i's group and in another one that it went to."""
    if are_judged(p.judged):
        return _changes_by_values(p, i, to)
    if p.keys.size == 0:
        return _changes_in_matrix(p, i, to)
    # Names of their own for the arrays: taken out of the tuple inside the loop they would cost ten times the loop.
    keys, sizes, columns, values, k = p.keys, p.sizes, p.columns, p.values, p.k
    here_first, there_first = np.int64(p.owner[i]) * p.classes, np.int64(to) * p.classes
    loss, gain = 0, 0
    for e in range(p.start[i], p.start[i + 1]):
        number = values[e]
        column = columns[e]
        here = sizes[cell_of(keys, here_first + column)]
        there = sizes[cell_of(keys, there_first + column)]
        if here < k:
            loss -= here
        if here - number < k:
            loss += here - number
        if there < k:
            gain -= there
        if there + number < k:
            gain += there + number
    p.totals[Total.WORK] += 4 * (p.start[i + 1] - p.start[i])
    return loss, gain


@subkernel
def _changes_in_matrix(p: Partition, i: int, to: int) -> tuple[int, int]:
    """The same where class sizes are a full matrix: 32 bits and no branches, so that several are done at a time."""
    first, end, group = p.start[i], p.start[i + 1], np.int64(p.owner[i])
    columns, values = p.columns[first:end], p.values[first:end]
    here_sizes = p.sizes[group * p.classes : (group + 1) * p.classes]
    there_sizes = p.sizes[np.int64(to) * p.classes : (np.int64(to) + 1) * p.classes]
    nothing, k = np.int32(0), np.int32(min(p.k, _LARGEST))
    loss: Any = 0
    gain: Any = 0
    for e in range(values.size):
        number, column = np.int32(values[e]), np.uint32(columns[e])
        here, there = here_sizes[column], there_sizes[column]
        less, more = np.int32(here - number), np.int32(there + number)
        loss += np.int32((less if less < k else nothing) - (here if here < k else nothing))
        gain += np.int32((more if more < k else nothing) - (there if there < k else nothing))
    p.totals[Total.WORK] += 2 * values.size
    return loss, gain


@subkernel
def change_of_squares(p: Partition, i: int, to: int) -> int:
    """By how much the sum of the squared populations would change."""
    number = p.population[i]
    return 2 * number * (p.group_population[to] - p.group_population[p.owner[i]] + number)


@subkernel
def change_of_bits(p: Partition, i: int, to: int, here: int, there: int) -> float:
    """By how much the estimated entropy would change, given the changes of S.

    The estimate takes the released share of a group for that of each of its regions, which is within some per mille of
    the measure and needs no counts.
    """
    number, spread = p.population[i], p.spread[i]
    return _more_bits(p, p.owner[i], -number, here, -spread) + _more_bits(p, to, number, there, spread)


@subkernel
def _more_bits(p: Partition, group: int, number: int, suppressed: int, spread: float) -> float:
    population, lost, kept = p.group_population[group], p.group_suppressed[group], p.group_spread[group]
    return bits_of(population + number, lost + suppressed, kept + spread) - bits_of(population, lost, kept)


@subkernel
def change_of_distance(p: Partition, i: int, to: int) -> float:
    """By how much the sum of the distances would change, the centres staying where they are."""
    return _distance(p, i, to) - _distance(p, i, p.owner[i])


@subkernel
def _distance(p: Partition, i: int, group: int) -> float:
    dx, dy = p.points[i, 0] - p.centres[group, 0], p.points[i, 1] - p.centres[group, 1]
    return p.weight[i] * np.sqrt(dx * dx + dy * dy)


@subkernel
def move_region(p: Partition, i: int, to: int) -> None:
    """Give a region to another group; all totals follow."""
    group, number = p.owner[i], p.population[i]
    here, there = changes_of_suppressed(p, i, to)
    p.bits[0] += change_of_bits(p, i, to, here, there)
    p.totals[Total.SUPPRESSED] += here + there
    p.group_suppressed[group] += here
    p.group_suppressed[to] += there
    p.group_spread[group] -= p.spread[i]
    p.group_spread[to] += p.spread[i]
    p.totals[Total.SQUARES] += change_of_squares(p, i, to)
    p.distance[0] += change_of_distance(p, i, to)
    add_counts(p, i, group, -1)
    add_counts(p, i, to, 1)
    if are_judged(p.judged):
        _judge(p, i, group)
        _judge(p, i, to)
    p.owner[i] = to
    p.group_population[group] -= number
    p.group_population[to] += number
    p.members[group] -= 1
    p.totals[Total.GROUPS] -= 1 if p.members[group] == 0 else 0
    p.totals[Total.GROUPS] += 1 if p.members[to] == 0 else 0
    p.members[to] += 1
    p.totals[Total.MOVES] += 1
    p.totals[Total.WORK] += 4 * (p.start[i + 1] - p.start[i])


@subkernel
def stays_contiguous(p: Partition, i: int) -> bool:
    """Whether the other regions of region i's group still hang together without it, if they did with it.

    They do if its neighbours in the group can reach each other: a walk from one of them, until all are met.
    """
    owner, seen, queue, neighbours, begin = p.owner, p.seen, p.queue, p.neighbours, p.first_neighbour
    group, wanted, first = owner[i], 0, -1
    p.totals[Total.STAMP] += 2
    sought, met = p.totals[Total.STAMP], p.totals[Total.STAMP] + 1
    for e in range(begin[i], begin[i + 1]):
        j = neighbours[e]
        if owner[j] == group:
            seen[j] = sought
            first = j
            wanted += 1
    if wanted <= 1:
        return True
    seen[i] = met
    seen[first] = met
    queue[0] = first
    done, listed = 0, 1
    wanted -= 1
    while done < listed:
        j = queue[done]
        done += 1
        for e in range(begin[j], begin[j + 1]):
            other = neighbours[e]
            if owner[other] != group or seen[other] == met:
                continue
            if seen[other] == sought:
                wanted -= 1
                if wanted == 0:
                    return True
            seen[other] = met
            queue[listed] = other
            listed += 1
        p.totals[Total.WORK] += 20
    return False
