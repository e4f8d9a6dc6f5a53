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

from vbas_desktop.model.progress import Progress

from .jit import kernel, prepare, subkernel
from .partition_moves import (
    change_of_bits,
    change_of_distance,
    change_of_squares,
    change_of_suppressed,
    changes_of_suppressed,
    move_region,
    stays_contiguous,
)
from .partition_state import (
    Floats,
    Integers,
    PartitionState,
    Total,
    fill_table,
    table_has_room,
    table_is_crowded,
)
from .spatial_index import BLOCK, beats, box_distance, move_site, two_nearest

_FAR = 0.1
"""The share of the moves that take a site to any place."""

_OF_NUMBER = 0.2
"""The share of the moves that change the number of groups, where that may be."""

_LEAVING = 0.05
"""The share of the moves that leave a site without regions, where that may be."""

_SEARCHED = 50
"""Draws after which no idle site is looked for any more."""


class AnnealingBounds(NamedTuple):
    """Bounds of a move: limits of the guard, the price of a unit of distance in records, the temperature.

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


class SiteSearch(NamedTuple):
    """Sites and points in blocks with bounding boxes, in which the nearest site is found.

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
def squares_limit(state: PartitionState, bounds: AnnealingBounds) -> float:
    """Bound the sum of the squared populations for as many groups as there are.

    Equal groups would make it rise as their number falls; twice as fast leaves room for uneven ones on the way.
    """
    groups = state.totals[Total.GROUPS]
    if bounds.most == 0 or groups >= bounds.groups:
        return float(bounds.squares)
    ratio = bounds.groups / groups
    return bounds.squares * (ratio * ratio)


@subkernel
def draw(draws: NDArray[np.uint64]) -> np.uint64:
    """Draw the next 64 bits (splitmix64)."""
    draws[0] += np.uint64(0x9E3779B97F4A7C15)
    z = draws[0]
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


@subkernel
def share(draws: NDArray[np.uint64]) -> float:
    """Draw a number from 0 to 1, 0 excluded."""
    return (np.float64(draw(draws) >> np.uint64(11)) + 1.0) * 2.0**-53


@subkernel
def below(draws: NDArray[np.uint64], number: int) -> int:
    """Draw a natural number below that one, which is far smaller than 2**32."""
    return np.int64(((draw(draws) >> np.uint64(32)) * np.uint64(number)) >> np.uint64(32))  # type: ignore[return-value]


@subkernel
def _propose(state: PartitionState, draws: NDArray[np.uint64]) -> tuple[int, int]:
    """Draw a region, and the group of one of its neighbours that it could go to; -1 if it cannot leave."""
    i = below(draws, state.owner.size)
    around = state.first_neighbour[i + 1] - state.first_neighbour[i]
    if around == 0 or state.members[state.owner[i]] == 1:
        return i, -1
    to = state.owner[state.neighbours[state.first_neighbour[i] + below(draws, around)]]
    return i, -1 if to == state.owner[i] else to


def prepare_region_moves(
    state: PartitionState, bounds: AnnealingBounds, draws: NDArray[np.uint64], progress: Progress
) -> None:
    """Compile `typical_change` and `move_regions` for these arguments, or load them, while a stop is obeyed."""
    prepare(progress, typical_change, state, draws, 0)
    prepare(progress, move_regions, state, bounds, draws, 0, 0)


def prepare_site_moves(
    state: PartitionState,
    search: SiteSearch,
    bounds: AnnealingBounds,
    draws: NDArray[np.uint64],
    progress: Progress,
) -> None:
    """Compile `typical_change` and `move_sites` for these arguments, or load them, while a stop is obeyed."""
    prepare(progress, typical_change, state, draws, 0)
    prepare(progress, move_sites, state, search, bounds, draws, 0, 0)


@kernel
def typical_change(state: PartitionState, draws: NDArray[np.uint64], sample: int) -> float:
    """Compute the mean of |change of S| over some moves: the scale of temperatures."""
    total = 0
    number = 0
    for _ in range(sample):
        i, to = _propose(state, draws)
        if to >= 0:
            total += abs(change_of_suppressed(state, i, to))
            number += 1
    return total / number if number else 0.0


@kernel
def move_regions(
    state: PartitionState, bounds: AnnealingBounds, draws: NDArray[np.uint64], tries: int, work: int
) -> int:
    """Draw moves of regions until ``tries`` are drawn or ``work`` steps are done; return how many were drawn."""
    state.totals[Total.WORK] = 0
    for done in range(tries):
        if state.totals[Total.WORK] > work:
            return done
        if table_is_crowded(state):
            fill_table(state)
        state.totals[Total.WORK] += 30
        i, to = _propose(state, draws)
        # The draw is made in any case, so that what the guard refuses does not shift the draws that follow.
        allowed = -bounds.temperature * np.log(share(draws))
        if to >= 0 and _move_is_within_guard(state, bounds, i, to):
            here, there = changes_of_suppressed(state, i, to)
            change = here + there + bounds.price * change_of_distance(state, i, to)
            # At temperature zero a move that costs nothing and gains nothing would be made to and fro.
            is_accepted = change <= allowed if bounds.temperature > 0.0 else change < 0.0
            is_accepted = is_accepted and _keeps_bits(state, bounds, i, to, here, there)
            if is_accepted and table_has_room(state, i) and stays_contiguous(state, i):
                move_region(state, i, to)
    return tries


@subkernel
def _move_is_within_guard(state: PartitionState, bounds: AnnealingBounds, i: int, to: int) -> bool:
    """Test whether the move exceeds no limit; above a limit, only moves that lower the sum are allowed."""
    squares = change_of_squares(state, i, to)
    if squares > 0 and state.totals[Total.SQUARES] + squares > bounds.squares:
        return False
    distance = change_of_distance(state, i, to)
    return distance <= 0.0 or state.distance[0] + distance <= bounds.distance


@subkernel
def _keeps_bits(
    state: PartitionState, bounds: AnnealingBounds, i: int, to: int, here: int, there: int
) -> bool:
    bits = change_of_bits(state, i, to, here, there)
    return bits <= 0.0 or state.bits[0] + bits <= bounds.bits


@kernel
def measure_blocks(search: SiteSearch) -> None:
    """Measure how far the farthest owner of each block's points is."""
    for block in range(search.boxes.size):
        _measure_block(search, block)


@subkernel
def _measure_block(search: SiteSearch, block: int) -> None:
    """Measure how far the farthest owner of a block's points is."""
    reach = 0.0
    for at in range(block * BLOCK, min((block + 1) * BLOCK, search.region.size)):
        reach = max(reach, search.away[search.region[at]])
    search.boxes[block].reach = reach


@kernel
def move_sites(
    state: PartitionState,
    search: SiteSearch,
    bounds: AnnealingBounds,
    draws: NDArray[np.uint64],
    tries: int,
    work: int,
) -> int:
    """Draw moves of sites until ``tries`` are drawn or ``work`` steps are done; return how many were drawn."""
    state.totals[Total.WORK] = 0
    for done in range(tries):
        if state.totals[Total.WORK] > work:
            return done
        if table_is_crowded(state):
            fill_table(state)
        i = below(draws, state.owner.size)
        around = state.first_neighbour[i + 1] - state.first_neighbour[i]
        towards = i if around == 0 else state.neighbours[state.first_neighbour[i] + below(draws, around)]
        step = share(draws) - 0.5
        allowed = -bounds.temperature * np.log(share(draws))
        if bounds.most > 0 and share(draws) < _OF_NUMBER:
            _try_number(state, search, bounds, i, share(draws) < 0.5, draws)
            continue
        if bounds.leaving and share(draws) < _LEAVING:
            _try_move(
                state,
                search,
                bounds,
                np.int64(state.owner[i]),
                search.aside[0],
                search.aside[1],
                allowed,
            )
            continue
        if share(draws) < _FAR:
            site = np.int64(state.owner[below(draws, state.owner.size)])
            _try_move(state, search, bounds, site, state.points[i, 0], state.points[i, 1], allowed)
            continue
        site = np.int64(state.owner[i])
        x = state.centres[site, 0] + step * (state.points[towards, 0] - state.centres[site, 0])
        y = state.centres[site, 1] + step * (state.points[towards, 1] - state.centres[site, 1])
        _try_move(state, search, bounds, site, x, y, allowed)
    return tries


@subkernel
def _try_number(
    state: PartitionState,
    search: SiteSearch,
    bounds: AnnealingBounds,
    i: int,
    birth: bool,
    draws: NDArray[np.uint64],
) -> None:
    """Take away the site of a region while too many records are suppressed, or put an idle one at a region's point."""
    if not birth:
        if (
            state.totals[Total.SUPPRESSED] > bounds.allowed
            and state.totals[Total.GROUPS] > bounds.fewest
        ):
            _try_move(
                state, search, bounds, np.int64(state.owner[i]), search.aside[0], search.aside[1], 0.0
            )
        return
    for _ in range(_SEARCHED):
        site = below(draws, state.members.size)
        if state.members[site] == 0:
            _try_move(state, search, bounds, site, state.points[i, 0], state.points[i, 1], np.inf)
            return


@subkernel
def _try_move(
    state: PartitionState,
    search: SiteSearch,
    bounds: AnnealingBounds,
    site: int,
    x: float,
    y: float,
    allowed: float,
) -> None:
    old_x = state.centres[site, 0]
    old_y = state.centres[site, 1]
    distance = state.distance[0]
    bits = state.bits[0]
    suppressed = state.totals[Total.SUPPRESSED]
    moves = state.totals[Total.MOVES]
    groups = state.totals[Total.GROUPS]
    _move_site_to(state, search, site, x, y)
    touched, longer = _list_touched(state, search, site, old_x, old_y)
    empty, full = _hand_over(state, search, touched)
    state.distance[0] = distance + longer
    change = state.totals[Total.SUPPRESSED] - suppressed + bounds.price * longer
    # At temperature zero a move that costs nothing and gains nothing would be made to and fro.
    is_accepted = change <= allowed if bounds.temperature > 0.0 or allowed > 0.0 else change < 0.0
    if (
        is_accepted
        and not full
        and _number_allowed(state, bounds, groups, empty)
        and _within_guard(state, bounds)
    ):
        state.totals[Total.MOVES] = moves + 1
        for n in range(touched):
            search.away[search.touched[n]] = search.fresh[n]
        for n in range(touched):
            _measure_block(search, search.position[search.touched[n]] // BLOCK)
        return
    for n in range(touched):
        if search.origin[n] != search.heir[n]:
            move_region(state, search.touched[n], search.origin[n])
    _move_site_to(state, search, site, old_x, old_y)
    state.distance[0] = distance
    state.bits[0] = bits
    state.totals[Total.MOVES] = moves


@subkernel
def _number_allowed(state: PartitionState, bounds: AnnealingBounds, before: int, empty: bool) -> bool:
    groups = state.totals[Total.GROUPS]
    if bounds.most == 0:
        return bounds.leaving or not empty
    if groups > before:
        return groups <= bounds.most and state.totals[Total.SUPPRESSED] <= bounds.allowed
    return groups == before or groups >= bounds.fewest


@subkernel
def _within_guard(state: PartitionState, bounds: AnnealingBounds) -> bool:
    within = state.distance[0] <= bounds.distance and state.bits[0] <= bounds.bits
    return within and state.totals[Total.SQUARES] <= squares_limit(state, bounds)


@subkernel
def _move_site_to(state: PartitionState, search: SiteSearch, site: int, x: float, y: float) -> None:
    move_site(search.sites, search.site_boxes, site, x, y)
    state.centres[site, 0] = x
    state.centres[site, 1] = y


@subkernel
def _list_touched(
    state: PartitionState, search: SiteSearch, site: int, old_x: float, old_y: float
) -> tuple[int, float]:
    """List the regions of the site, and those it would win; how many they are, and by how much they are farther off."""
    x = state.centres[site, 0]
    y = state.centres[site, 1]
    touched = 0
    longer = 0.0
    owner = state.owner
    points = state.points
    away = search.away
    boxes = search.boxes
    for block in range(boxes.size):
        reach = boxes[block].reach
        if box_distance(boxes[block], x, y) > reach and box_distance(boxes[block], old_x, old_y) > reach:
            continue
        for at in range(block * BLOCK, min((block + 1) * BLOCK, search.region.size)):
            i = search.region[at]
            heir = np.int64(site)
            dx = points[i, 0] - x
            dy = points[i, 1] - y
            fresh = dx * dx + dy * dy
            if owner[i] == site:
                if fresh > away[i]:
                    heir, fresh, _, _ = two_nearest(
                        points[i, 0], points[i, 1], search.sites, search.site_boxes, site
                    )
            elif not beats(fresh, site, away[i], owner[i]):
                continue
            search.touched[touched] = i
            search.origin[touched] = owner[i]
            search.heir[touched] = heir
            search.fresh[touched] = fresh
            longer += np.sqrt(fresh) - np.sqrt(away[i])
            touched += 1
    state.totals[Total.WORK] += 3 * boxes.size + 60 * touched
    return touched, longer


@subkernel
def _hand_over(state: PartitionState, search: SiteSearch, touched: int) -> tuple[bool, bool]:
    """Give the touched regions to their heirs: whether that leaves a group without any, or had to be broken off."""
    empty = False
    full = False
    for n in range(touched):
        full = full or not table_has_room(state, search.touched[n])
        if full:
            search.heir[n] = search.origin[n]
        elif search.origin[n] != search.heir[n]:
            move_region(state, search.touched[n], search.heir[n])
    for n in range(touched):
        empty = empty or state.members[search.origin[n]] == 0
    return empty, full
