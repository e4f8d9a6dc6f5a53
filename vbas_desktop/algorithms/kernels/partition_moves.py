"""Moves of one initial region within a partition: what each would change, and the move with all totals kept in step."""

from __future__ import annotations

from typing import Any

import numpy as np

from .diversity import has_rules, row_fails
from .jit import subkernel
from .partition_state import PartitionState, Total, add_counts, bits_of, cell_of

_LARGEST = np.iinfo(np.int32).max
"""No class size is above it."""


@subkernel
def _judge(state: PartitionState, i: int, group: int) -> None:
    """Note which classes of a group fail, of those that region i has."""
    keys = state.keys
    sizes = state.sizes
    first = np.int64(group) * state.classes
    for e in range(state.start[i], state.start[i + 1]):
        cell = cell_of(keys, first + state.columns[e])
        state.diversity.failing[cell] = sizes[cell] >= state.k and row_fails(state.diversity, cell, e, 0)


@subkernel
def _changes_by_values(state: PartitionState, i: int, to: int) -> tuple[int, int]:
    """Compute the changes of S with the criteria for sensitive values."""
    keys = state.keys
    sizes = state.sizes
    columns = state.columns
    values = state.values
    k = state.k
    judged = state.diversity
    here_first = np.int64(state.owner[i]) * state.classes
    there_first = np.int64(to) * state.classes
    suppressed = 0
    gained = 0
    for e in range(state.start[i], state.start[i + 1]):
        number = values[e]
        column = columns[e]
        cell = cell_of(keys, here_first + column)
        other = cell_of(keys, there_first + column)
        here = sizes[cell]
        there = sizes[other]
        if here < k or judged.failing[cell]:
            suppressed -= here
        if here - number < k or row_fails(judged, cell, e, -1):
            suppressed += here - number
        if there < k or judged.failing[other]:
            gained -= there
        if there + number < k or row_fails(judged, other, e, 1):
            gained += there + number
    state.totals[Total.WORK] += (4 + 4 * judged.row.size) * (state.start[i + 1] - state.start[i])
    return suppressed, gained


@subkernel
def change_of_suppressed(state: PartitionState, i: int, to: int) -> int:
    """Compute by how much S would change if region i went to another group."""
    here, there = changes_of_suppressed(state, i, to)
    return here + there


@subkernel
def changes_of_suppressed(state: PartitionState, i: int, to: int) -> tuple[int, int]:
    """Compute by how much S would change in region i's group and in another one that it went to."""
    if has_rules(state.diversity):
        return _changes_by_values(state, i, to)
    if state.keys.size == 0:
        return _changes_in_matrix(state, i, to)
    # Names of their own for the arrays: taken out of the tuple inside the loop they would cost ten times the loop.
    keys = state.keys
    sizes = state.sizes
    columns = state.columns
    values = state.values
    k = state.k
    here_first = np.int64(state.owner[i]) * state.classes
    there_first = np.int64(to) * state.classes
    loss = 0
    gain = 0
    for e in range(state.start[i], state.start[i + 1]):
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
    state.totals[Total.WORK] += 4 * (state.start[i + 1] - state.start[i])
    return loss, gain


@subkernel
def _changes_in_matrix(state: PartitionState, i: int, to: int) -> tuple[int, int]:
    """Compute the changes of S in a full matrix: 32 bits and no branches, so that several are done at a time."""
    first = state.start[i]
    end = state.start[i + 1]
    group = np.int64(state.owner[i])
    columns = state.columns[first:end]
    values = state.values[first:end]
    here_sizes = state.sizes[group * state.classes : (group + 1) * state.classes]
    there_sizes = state.sizes[np.int64(to) * state.classes : (np.int64(to) + 1) * state.classes]
    nothing = np.int32(0)
    k = np.int32(min(state.k, _LARGEST))
    loss: Any = 0
    gain: Any = 0
    for e in range(values.size):
        number = np.int32(values[e])
        column = np.uint32(columns[e])
        here = here_sizes[column]
        there = there_sizes[column]
        less = np.int32(here - number)
        more = np.int32(there + number)
        loss += np.int32((less if less < k else nothing) - (here if here < k else nothing))
        gain += np.int32((more if more < k else nothing) - (there if there < k else nothing))
    state.totals[Total.WORK] += 2 * values.size
    return loss, gain


@subkernel
def change_of_squares(state: PartitionState, i: int, to: int) -> int:
    """Compute by how much the sum of the squared populations would change."""
    number = state.population[i]
    return 2 * number * (state.group_population[to] - state.group_population[state.owner[i]] + number)


@subkernel
def change_of_bits(state: PartitionState, i: int, to: int, here: int, there: int) -> float:
    """Compute by how much the estimated entropy would change, given the changes of S.

    The estimate takes the released share of a group for that of each of its regions, which is within some per mille of
    the measure and needs no counts.
    """
    number = state.population[i]
    spread = state.spread[i]
    return _more_bits(state, state.owner[i], -number, here, -spread) + _more_bits(
        state, to, number, there, spread
    )


@subkernel
def _more_bits(
    state: PartitionState, group: int, records: int, more_suppressed: int, more_spread: float
) -> float:
    population = state.group_population[group]
    suppressed = state.group_suppressed[group]
    spread = state.group_spread[group]
    before = bits_of(population, suppressed, spread)
    return bits_of(population + records, suppressed + more_suppressed, spread + more_spread) - before


@subkernel
def change_of_distance(state: PartitionState, i: int, to: int) -> float:
    """Compute by how much the sum of the distances would change, the centres staying where they are."""
    return _distance(state, i, to) - _distance(state, i, state.owner[i])


@subkernel
def _distance(state: PartitionState, i: int, group: int) -> float:
    dx = state.points[i, 0] - state.centres[group, 0]
    dy = state.points[i, 1] - state.centres[group, 1]
    return state.weight[i] * np.sqrt(dx * dx + dy * dy)


@subkernel
def move_region(state: PartitionState, i: int, to: int) -> None:
    """Give a region to another group; all totals follow."""
    group = state.owner[i]
    number = state.population[i]
    here, there = changes_of_suppressed(state, i, to)
    state.bits[0] += change_of_bits(state, i, to, here, there)
    state.totals[Total.SUPPRESSED] += here + there
    state.group_suppressed[group] += here
    state.group_suppressed[to] += there
    state.group_spread[group] -= state.spread[i]
    state.group_spread[to] += state.spread[i]
    state.totals[Total.SQUARES] += change_of_squares(state, i, to)
    state.distance[0] += change_of_distance(state, i, to)
    add_counts(state, i, group, -1)
    add_counts(state, i, to, 1)
    if has_rules(state.diversity):
        _judge(state, i, group)
        _judge(state, i, to)
    state.owner[i] = to
    state.group_population[group] -= number
    state.group_population[to] += number
    state.members[group] -= 1
    state.totals[Total.GROUPS] -= 1 if state.members[group] == 0 else 0
    state.totals[Total.GROUPS] += 1 if state.members[to] == 0 else 0
    state.members[to] += 1
    state.totals[Total.MOVES] += 1
    state.totals[Total.WORK] += 4 * (state.start[i + 1] - state.start[i])


@subkernel
def stays_contiguous(state: PartitionState, i: int) -> bool:
    """Test whether the other regions of region i's group stay connected without it, if they were with it.

    They do if its neighbours in the group can reach each other: a walk from one of them, until all are met.
    """
    owner = state.owner
    visited = state.visited
    queue = state.queue
    neighbours = state.neighbours
    begin = state.first_neighbour
    group = owner[i]
    remaining = 0
    first = -1
    state.totals[Total.STAMP] += 2
    sought = state.totals[Total.STAMP]
    stamp = state.totals[Total.STAMP] + 1
    for e in range(begin[i], begin[i + 1]):
        j = neighbours[e]
        if owner[j] == group:
            visited[j] = sought
            first = j
            remaining += 1
    if remaining <= 1:
        return True
    visited[i] = stamp
    visited[first] = stamp
    queue[0] = first
    done = 0
    listed = 1
    remaining -= 1
    while done < listed:
        j = queue[done]
        done += 1
        for e in range(begin[j], begin[j + 1]):
            other = neighbours[e]
            if owner[other] != group or visited[other] == stamp:
                continue
            if visited[other] == sought:
                remaining -= 1
                if remaining == 0:
                    return True
            visited[other] = stamp
            queue[listed] = other
            listed += 1
        state.totals[Total.WORK] += 20
    return False
