"""The rule of releases in tiers as a compiled loop over the classes (see `tier_release`)."""

from __future__ import annotations

from typing import Any

import numpy as np

from vbas_desktop.model.tiers import NOWHERE

from .compiled import compiled, inlined


@compiled
def rooms_of_open_places(parents: Any, tier_starts: Any, k: Any) -> Any:
    """The room of each place in which nothing of a class is released, whatever the class."""
    nodes = parents.size
    room = np.zeros(nodes, np.int64)
    total = np.zeros(nodes, np.int64)
    largest = np.zeros(nodes, np.int64)
    for node in range(nodes):
        room[node] = k - 1 if node < tier_starts[1] else room_of(total[node], largest[node], k)
        above = parents[node]
        if above >= 0:
            total[above] += room[node]
            largest[above] = max(largest[above], room[node])
    return room


@inlined
def room_of(total: Any, largest: Any, k: Any) -> Any:
    """Up to which number a place that releases nothing may hold records, by all that a recipient can see.

    If its children leave room for a release there, it is only certain that less than k are possible.
    """
    return total if total - largest < k else k - 1


@compiled
def count_by_class(columns: Any, starts: Any) -> None:
    """Fill ``starts`` with where each class would begin if the entries were sorted by class."""
    for entry in range(columns.size):
        starts[columns[entry] + 1] += 1
    for c in range(1, starts.size):
        starts[c] += starts[c - 1]


@compiled
def take_classes(
    first: Any, end: Any, starts: Any, indptr: Any, columns: Any, following: Any, order: Any, place_of: Any
) -> None:
    """Fill ``order`` with the entries of the classes ``first`` … ``end`` − 1, by class, and ``place_of`` alike.

    ``following[p]`` is the next entry of place p: classes ascend in it, so what was taken is not looked at again.
    """
    free = starts[first:end] - starts[first]
    for place in range(following.size):
        entry = following[place]
        while entry < indptr[place + 1] and columns[entry] < end:
            at = free[columns[entry] - first]
            order[at], place_of[at] = entry, place
            free[columns[entry] - first] += 1
            entry += 1
        following[place] = entry


@compiled
def place_classes(
    first: Any,
    end: Any,
    starts: Any,
    order: Any,
    place_of: Any,
    values: Any,
    parents: Any,
    child_starts: Any,
    children: Any,
    open_room: Any,
    barred_starts: Any,
    barred: Any,
    depth: Any,
    k: Any,
    tier: Any,
) -> None:
    """Fill ``tier`` for the entries of the classes ``first`` … ``end`` − 1.

    ``order`` has these entries by class (`take_classes`), ``place_of`` their places; nodes are numbered tier by tier.
    The nodes ``barred`` from ``barred_starts[c]`` must not release class c, however many records there are. Only the
    ancestors of places that have the class are looked at: of all others everything is known beforehand.
    """
    nodes = parents.size
    seen = np.full(nodes, -1, np.int64)
    rest, room = np.zeros(nodes, np.int64), np.zeros(nodes, np.int64)
    refused = np.full(nodes, -1, np.int64)
    released = np.zeros(nodes, np.bool_)
    now, then = np.empty(nodes, np.int64), np.empty(nodes, np.int64)
    for c in range(first, end):
        low, high = starts[c] - starts[first], starts[c + 1] - starts[first]
        count = 0
        for at in range(barred_starts[c], barred_starts[c + 1]):
            refused[barred[at]] = c
        for at in range(low, high):
            entry = order[at]
            node = place_of[at]
            large = values[entry] >= k and refused[node] != c
            seen[node], released[node] = c, large
            rest[node] = 0 if large else values[entry]
            room[node] = 0 if large else k - 1
            now[count] = node
            count += 1
        for _ in range(depth):
            found = 0
            for i in range(count):
                above = parents[now[i]]
                if seen[above] == c:
                    continue
                seen[above] = c
                then[found] = above
                found += 1
                sum_rest = sum_room = largest = 0
                for j in range(child_starts[above], child_starts[above + 1]):
                    child = children[j]
                    child_room = open_room[child]
                    if seen[child] == c:
                        child_room = room[child]
                        sum_rest += rest[child]
                    sum_room += child_room
                    largest = max(largest, child_room)
                allowed = k <= sum_rest <= sum_room - largest and refused[above] != c
                released[above] = allowed
                rest[above] = 0 if allowed else sum_rest
                room[above] = 0 if allowed else room_of(sum_room, largest, k)
            now, then = then, now
            count = found
        for at in range(low, high):
            entry = order[at]
            node, height = place_of[at], 0
            while node >= 0 and not released[node]:
                node = parents[node]
                height += 1
            tier[entry] = height if node >= 0 else NOWHERE


@compiled
def add_places(
    order: Any,
    group_starts: Any,
    starts: Any,
    columns: Any,
    values: Any,
    tier_of: Any,
    tier: Any,
    width: Any,
    ends: Any,
    found: Any,
    sums: Any,
) -> None:
    """Add up the entries of one tier: rows of ``found`` (classes, ascending) and ``sums`` that end at ``ends``.

    The places of tier 0 that lie in place p are ``order`` from ``group_starts[p]``.
    """
    total = np.zeros(width, np.int64)
    met = np.empty(width, np.int32)
    filled = 0
    for place in range(group_starts.size - 1):
        number = 0
        for i in range(group_starts[place], group_starts[place + 1]):
            for at in range(starts[order[i]], starts[order[i] + 1]):
                if tier_of[at] == tier:
                    if total[columns[at]] == 0:
                        met[number] = columns[at]
                        number += 1
                    total[columns[at]] += values[at]
        for column in np.sort(met[:number]):
            found[filled], sums[filled] = column, total[column]
            total[column] = 0
            filled += 1
        ends[place + 1] = filled
