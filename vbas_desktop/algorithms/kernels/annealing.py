"""Loops of simulated annealing: random draws, moves of single regions, and moves of sites.

A boundary move gives one initial region to the group of a neighbour. It must leave the group that loses it in one piece
and not empty, and must not break the guard: neither the sum of the squared populations nor the sum of the distances may
rise above their limits.

A site move draws one site towards, or away from, the point of an initial region near by; every tenth takes it to the
point of any initial region, which small steps would not reach. The regions that would change hands are found exactly:
those of the site that are now nearer to another one, and those that are now nearer to it. They are handed over one by
one, which gives the change of S; if the move is refused, they are handed back.

Of the moves that are allowed, those that lower S + weight · distances are taken always, others with a probability that
falls with the temperature. The draws come from a generator of its own, so that a seed decides all.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .jit import kernel, subkernel
from .partition_moves import (
    change_of_bits,
    change_of_distance,
    change_of_squares,
    change_of_suppressed,
    changes_of_suppressed,
    move_region,
    stays_contiguous,
)
from .partition_state import Floats, Integers, Partition, Total, fill_table, table_has_room, table_is_crowded
from .spatial_index import BLOCK, beats, box_distance, move_site, two_nearest

_FAR = 0.1
"""The share of the moves that take a site to any place."""

_OF_NUMBER = 0.2
"""The share of the moves that change the number of groups, where that may be."""

_LEAVING = 0.05
"""The share of the moves that leave a site without regions, where that may be."""

_SEARCHED = 50
"""Draws after which no idle site is looked for any more."""


class Limits(NamedTuple):
    """What a move must obey: limits of the guard, the price of a unit of distance in records, the temperature.

    If ``most`` is above zero, the number of groups may change between ``fewest`` and ``most``: while S is above
    ``allowed`` groups may vanish, and new ones may come as long as it is not. ``groups`` is the number at the start,
    for which ``squares`` is meant: of fewer groups the sum of the squares is larger. With ``leaving`` groups may vanish
    within the same limits, if that is worth it.
    """

    squares: int
    distance: float
    bits: float
    price: float
    temperature: float = 0.0
    groups: int = 0
    fewest: int = 0
    most: int = 0
    allowed: int = 0
    leaving: bool = False


class Places(NamedTuple):
    """Where sites and points are, in blocks with bounding boxes: what finds the nearest.

    Points are in spatial order; ``region`` is the one at each position. ``away`` is the squared distance of each
    region to its owner. Of a trial, ``touched`` lists the regions whose distance changes, ``origin`` whose they were,
    ``heir`` whose they would be, ``fresh`` how far that one is. ``aside`` is where a site attracts nothing.
    """

    sites: NDArray[Any]
    site_boxes: NDArray[Any]
    boxes: NDArray[Any]
    region: Integers
    position: Integers
    away: Floats
    touched: Integers
    origin: Integers
    heir: Integers
    fresh: Floats
    aside: Floats


@subkernel
def squares_limit(p: Partition, limits: Limits) -> float:
    """How large the sum of the squared populations may be with as many groups as there are.

    Equal groups would make it rise as their number falls; twice as fast leaves room for uneven ones on the way.
    """
    groups = p.totals[Total.GROUPS]
    if limits.most == 0 or groups >= limits.groups:
        return float(limits.squares)
    ratio = limits.groups / groups
    return limits.squares * (ratio * ratio)


@subkernel
def draw(draws: NDArray[np.uint64]) -> np.uint64:
    """The next 64 bits (splitmix64)."""
    draws[0] += np.uint64(0x9E3779B97F4A7C15)
    z = draws[0]
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


@subkernel
def share(draws: NDArray[np.uint64]) -> float:
    """A number from 0 to 1, 0 excluded."""
    return (np.float64(draw(draws) >> np.uint64(11)) + 1.0) * 2.0**-53


@subkernel
def below(draws: NDArray[np.uint64], number: int) -> int:
    """A natural number below that one, which is far smaller than 2**32."""
    return np.int64(((draw(draws) >> np.uint64(32)) * np.uint64(number)) >> np.uint64(32))  # type: ignore[return-value]


@subkernel
def _propose(p: Partition, draws: NDArray[np.uint64]) -> tuple[int, int]:
    """A region, and the group of one of its neighbours that it could go to; -1 if it cannot leave."""
    i = below(draws, p.owner.size)
    around = p.first_neighbour[i + 1] - p.first_neighbour[i]
    if around == 0 or p.members[p.owner[i]] == 1:
        return i, -1
    to = p.owner[p.neighbours[p.first_neighbour[i] + below(draws, around)]]
    return i, -1 if to == p.owner[i] else to


@kernel
def typical_change(p: Partition, draws: NDArray[np.uint64], sample: int) -> float:
    """The mean of |change of S| over some moves: the scale of temperatures."""
    total, number = 0, 0
    for _ in range(sample):
        i, to = _propose(p, draws)
        if to >= 0:
            total += abs(change_of_suppressed(p, i, to))
            number += 1
    return total / number if number else 0.0


@kernel
def move_regions(p: Partition, limits: Limits, draws: NDArray[np.uint64], tries: int, work: int) -> int:
    """Draw so many moves, or as many as that much work allows; returns how many."""
    p.totals[Total.WORK] = 0
    for done in range(tries):
        if p.totals[Total.WORK] > work:
            return done
        if table_is_crowded(p):
            fill_table(p)
        p.totals[Total.WORK] += 30
        i, to = _propose(p, draws)
        # The draw is made in any case, so that what the guard refuses does not shift the draws that follow.
        allowed = -limits.temperature * np.log(share(draws))
        if to >= 0 and _move_is_within_guard(p, limits, i, to):
            here, there = changes_of_suppressed(p, i, to)
            change = here + there + limits.price * change_of_distance(p, i, to)
            # At temperature zero a move that costs nothing and gains nothing would be made to and fro.
            wanted = change <= allowed if limits.temperature > 0.0 else change < 0.0
            wanted = wanted and _keeps_bits(p, limits, i, to, here, there)
            if wanted and table_has_room(p, i) and stays_contiguous(p, i):
                move_region(p, i, to)
    return tries


@subkernel
def _move_is_within_guard(p: Partition, limits: Limits, i: int, to: int) -> bool:
    """Whether no limit is exceeded by the move; above a limit, only moves that lower the sum are allowed."""
    squares = change_of_squares(p, i, to)
    if squares > 0 and p.totals[Total.SQUARES] + squares > limits.squares:
        return False
    distance = change_of_distance(p, i, to)
    return distance <= 0.0 or p.distance[0] + distance <= limits.distance


@subkernel
def _keeps_bits(p: Partition, limits: Limits, i: int, to: int, here: int, there: int) -> bool:
    bits = change_of_bits(p, i, to, here, there)
    return bits <= 0.0 or p.bits[0] + bits <= limits.bits


@kernel
def measure_blocks(q: Places) -> None:
    """Measure how far the farthest owner of each block's points is."""
    for block in range(q.boxes.size):
        _measure_block(q, block)


@subkernel
def _measure_block(q: Places, block: int) -> None:
    """How far the farthest owner of a block's points is."""
    reach = 0.0
    for at in range(block * BLOCK, min((block + 1) * BLOCK, q.region.size)):
        reach = max(reach, q.away[q.region[at]])
    q.boxes[block].reach = reach


@kernel
def move_sites(p: Partition, q: Places, limits: Limits, draws: NDArray[np.uint64], tries: int, work: int) -> int:
    """Draw so many moves, or as many as that much work allows; returns how many."""
    p.totals[Total.WORK] = 0
    for done in range(tries):
        if p.totals[Total.WORK] > work:
            return done
        if table_is_crowded(p):
            fill_table(p)
        i = below(draws, p.owner.size)
        around = p.first_neighbour[i + 1] - p.first_neighbour[i]
        towards = i if around == 0 else p.neighbours[p.first_neighbour[i] + below(draws, around)]
        step = share(draws) - 0.5
        allowed = -limits.temperature * np.log(share(draws))
        if limits.most > 0 and share(draws) < _OF_NUMBER:
            _try_number(p, q, limits, i, share(draws) < 0.5, draws)
            continue
        if limits.leaving and share(draws) < _LEAVING:
            _try_move(p, q, limits, np.int64(p.owner[i]), q.aside[0], q.aside[1], allowed)
            continue
        if share(draws) < _FAR:
            site = np.int64(p.owner[below(draws, p.owner.size)])
            _try_move(p, q, limits, site, p.points[i, 0], p.points[i, 1], allowed)
            continue
        site = np.int64(p.owner[i])
        x = p.centres[site, 0] + step * (p.points[towards, 0] - p.centres[site, 0])
        y = p.centres[site, 1] + step * (p.points[towards, 1] - p.centres[site, 1])
        _try_move(p, q, limits, site, x, y, allowed)
    return tries


@subkernel
def _try_number(p: Partition, q: Places, limits: Limits, i: int, birth: bool, draws: NDArray[np.uint64]) -> None:
    """Take away the site of a region while too many records are suppressed, or put an idle one at a region's point."""
    if not birth:
        if p.totals[Total.SUPPRESSED] > limits.allowed and p.totals[Total.GROUPS] > limits.fewest:
            _try_move(p, q, limits, np.int64(p.owner[i]), q.aside[0], q.aside[1], 0.0)
        return
    for _ in range(_SEARCHED):
        site = below(draws, p.members.size)
        if p.members[site] == 0:
            _try_move(p, q, limits, site, p.points[i, 0], p.points[i, 1], np.inf)
            return


@subkernel
def _try_move(p: Partition, q: Places, limits: Limits, site: int, x: float, y: float, allowed: float) -> None:
    old_x, old_y, distance, bits = p.centres[site, 0], p.centres[site, 1], p.distance[0], p.bits[0]
    suppressed, moves, groups = p.totals[Total.SUPPRESSED], p.totals[Total.MOVES], p.totals[Total.GROUPS]
    _put(p, q, site, x, y)
    touched, longer = _list_touched(p, q, site, old_x, old_y)
    empty, full = _hand_over(p, q, touched)
    p.distance[0] = distance + longer
    change = p.totals[Total.SUPPRESSED] - suppressed + limits.price * longer
    # At temperature zero a move that costs nothing and gains nothing would be made to and fro.
    wanted = change <= allowed if limits.temperature > 0.0 or allowed > 0.0 else change < 0.0
    if wanted and not full and _number_allowed(p, limits, groups, empty) and _within_guard(p, limits):
        p.totals[Total.MOVES] = moves + 1
        for n in range(touched):
            q.away[q.touched[n]] = q.fresh[n]
        for n in range(touched):
            _measure_block(q, q.position[q.touched[n]] // BLOCK)
        return
    for n in range(touched):
        if q.origin[n] != q.heir[n]:
            move_region(p, q.touched[n], q.origin[n])
    _put(p, q, site, old_x, old_y)
    p.distance[0], p.bits[0], p.totals[Total.MOVES] = distance, bits, moves


@subkernel
def _number_allowed(p: Partition, limits: Limits, before: int, empty: bool) -> bool:
    groups = p.totals[Total.GROUPS]
    if limits.most == 0:
        return limits.leaving or not empty
    if groups > before:
        return groups <= limits.most and p.totals[Total.SUPPRESSED] <= limits.allowed
    return groups == before or groups >= limits.fewest


@subkernel
def _within_guard(p: Partition, limits: Limits) -> bool:
    within = p.distance[0] <= limits.distance and p.bits[0] <= limits.bits
    return within and p.totals[Total.SQUARES] <= squares_limit(p, limits)


@subkernel
def _put(p: Partition, q: Places, site: int, x: float, y: float) -> None:
    move_site(q.sites, q.site_boxes, site, x, y)
    p.centres[site, 0] = x
    p.centres[site, 1] = y


@subkernel
def _list_touched(p: Partition, q: Places, site: int, old_x: float, old_y: float) -> tuple[int, float]:
    """List the regions of the site, and those it would win; how many they are, and by how much they are farther off."""
    x, y, touched, longer = p.centres[site, 0], p.centres[site, 1], 0, 0.0
    owner, points, away, boxes = p.owner, p.points, q.away, q.boxes
    for block in range(boxes.size):
        reach = boxes[block].reach
        if box_distance(boxes[block], x, y) > reach and box_distance(boxes[block], old_x, old_y) > reach:
            continue
        for at in range(block * BLOCK, min((block + 1) * BLOCK, q.region.size)):
            i = q.region[at]
            heir, dx, dy = np.int64(site), points[i, 0] - x, points[i, 1] - y
            fresh = dx * dx + dy * dy
            if owner[i] == site:
                if fresh > away[i]:
                    heir, fresh, _, _ = two_nearest(points[i, 0], points[i, 1], q.sites, q.site_boxes, site)
            elif not beats(fresh, site, away[i], owner[i]):
                continue
            q.touched[touched], q.origin[touched], q.heir[touched], q.fresh[touched] = i, owner[i], heir, fresh
            longer += np.sqrt(fresh) - np.sqrt(away[i])
            touched += 1
    p.totals[Total.WORK] += 3 * boxes.size + 60 * touched
    return touched, longer


@subkernel
def _hand_over(p: Partition, q: Places, touched: int) -> tuple[bool, bool]:
    """Give the touched regions to their heirs: whether that leaves a group without any, or had to be broken off."""
    empty, full = False, False
    for n in range(touched):
        full = full or not table_has_room(p, q.touched[n])
        if full:
            q.heir[n] = q.origin[n]
        elif q.origin[n] != q.heir[n]:
            move_region(p, q.touched[n], q.heir[n])
    for n in range(touched):
        empty = empty or p.members[q.origin[n]] == 0
    return empty, full
