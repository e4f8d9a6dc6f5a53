"""Sites moved by simulated annealing, so that fewer records are to be suppressed; regions stay Voronoi.

A move draws one site towards, or away from, the point of an initial region near by; every tenth takes it to the point
of any initial region, which small steps would not reach. The regions that would change hands are found exactly: those
of the site that are now nearer to another one, and those that are now nearer to it. They are handed over one by one,
which gives the change of S; if the move is refused, they are handed back.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from vbas_desktop.model.progress import SILENT, Cancelled, Progress
from vbas_desktop.model.records import EquivalenceCounts

from .adc.star import BLOCK, beats, block_boxes, box_distance, move_site, sites_in_blocks, spatial_order, two_nearest
from .annealing import Best, Limits, Refining, below, share, squares_limit, temperatures
from .boundaries import SAMPLE, SLICE, move_boundaries, renew_if_crowded, typical_change
from .compiled import lean, lean_inner
from .partition import Floats, Integers, Partition, Total, measure_bits, new_partition, table_has_room, table_is_crowded
from .partition_moves import move_region

_FAR = 0.1
"""The share of the moves that take a site to any place."""

_OF_NUMBER = 0.2
"""The share of the moves that change the number of groups, where that may be."""

_LEAVING = 0.05
"""The share of the moves that leave a site without regions, where that may be."""

_REORDERED = 4
"""Temperatures after which the blocks of sites are made anew."""

_SEARCHED = 50
"""Draws after which no idle site is looked for any more."""


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


class Change(NamedTuple):
    """Within which numbers of groups the search may remain, and the S up to which new ones may come."""

    fewest: int
    most: int
    allowed: int


def move_sites(
    partition: Partition,
    tries: int,
    seed: int,
    weight: float,
    longer: float,
    lossier: float,
    change: Change | None = None,
    progress: Progress = SILENT,
    larger: float = 1.0,
    leaving: bool = False,
) -> Refining:
    """Anneal the places of the sites, from a partition in which each region belongs to its nearest site.

    The sum of the squared populations must not rise above ``larger`` times the start's, nor the sum of the distances
    above ``longer`` times, nor the estimated entropy above ``lossier`` times. No site comes to attract nothing, unless
    the number of groups may ``change``, or sites may be ``leaving``: then as many go as the limits allow. ``weight`` as
    in `move_boundaries`. A stop gives what was best until then.
    O(tries · (points / 16 + counts moved)).
    """
    places, totals, distance = _places(partition), partition.totals, float(partition.distance[0])
    start, groups = int(totals[Total.SUPPRESSED]), int(totals[Total.GROUPS])
    price = weight * start / distance if distance > 0 else 0.0
    squares, bits = math.floor(int(totals[Total.SQUARES]) * larger), float(partition.bits[0]) * lossier
    limits = Limits(squares, distance * longer, bits, price, leaving=leaving)
    if change is not None:
        limits = limits._replace(groups=groups, **change._asdict())
    best, draws, done, stopped = Best(partition, limits), np.array([seed], np.uint64), 0, False
    hot = typical_change(partition, draws, SAMPLE) if start or change else 0.0
    try:
        for epoch, (temperature, end) in enumerate(temperatures(hot, tries) if hot > 0 or change else ()):
            limits = limits._replace(temperature=temperature)
            if epoch % _REORDERED == _REORDERED - 1:
                places = _reordered(places, partition.centres)
            while done < end:
                progress.update(_told(partition, start, change), done / tries)
                done += advance(partition, places, limits, draws, end - done, SLICE)
                renew_if_crowded(partition)
            measure_bits(partition)
            best.look_at(partition)
    except Cancelled:
        stopped = True
    return best.refining(int(totals[Total.MOVES]), done, stopped)


def _told(partition: Partition, start: int, change: Change | None) -> str:
    number = f", {partition.totals[Total.GROUPS]:,} regions" if change else ""
    now = f"{partition.totals[Total.SUPPRESSED]:,} records to be suppressed"
    return f"Moving sites: {now}, {start:,} at the start{number}"


def _places(partition: Partition) -> Places:
    points, sites, regions = partition.points, partition.centres, len(partition.points)
    order = spatial_order(points)
    position = np.empty(regions, np.int64)
    position[order] = np.arange(regions)
    in_blocks, site_boxes = sites_in_blocks(sites)
    away = points - sites[partition.owner]
    places = Places(
        sites=in_blocks,
        site_boxes=site_boxes,
        boxes=block_boxes(points[order]),
        region=order,
        position=position,
        away=away[:, 0] * away[:, 0] + away[:, 1] * away[:, 1],
        touched=np.zeros(regions, np.int64),
        origin=np.zeros(regions, np.int64),
        heir=np.zeros(regions, np.int64),
        fresh=np.zeros(regions),
        aside=idle_place(points),
    )
    _measure(places)
    return places


def _reordered(places: Places, sites: Floats) -> Places:
    """Blocks of sites that are near each other now: those who went far, or aside, had made their boxes large.

    What is found is the same; it is found sooner.
    """
    in_blocks, site_boxes = sites_in_blocks(sites)
    return places._replace(sites=in_blocks, site_boxes=site_boxes)


def idle_place(points: Floats) -> Floats:
    """A place that is farther from every point than the points are from each other."""
    low, high = points.min(axis=0), points.max(axis=0)
    return np.asarray(high + 4 * (high - low).max() + 1.0)


@lean
def _measure(q: Places) -> None:
    for block in range(q.boxes.size):
        _measure_block(q, block)


@lean_inner
def _measure_block(q: Places, block: int) -> None:
    """How far the farthest owner of a block's points is."""
    reach = 0.0
    for at in range(block * BLOCK, min((block + 1) * BLOCK, q.region.size)):
        reach = max(reach, q.away[q.region[at]])
    q.boxes[block].reach = reach


@lean
def advance(p: Partition, q: Places, limits: Limits, draws: NDArray[np.uint64], tries: int, work: int) -> int:
    """Draw so many moves, or as many as that much work allows; returns how many."""
    p.totals[Total.WORK] = 0
    for done in range(tries):
        if p.totals[Total.WORK] > work or table_is_crowded(p):
            return done
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


@lean_inner
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


@lean_inner
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


@lean_inner
def _number_allowed(p: Partition, limits: Limits, before: int, empty: bool) -> bool:
    groups = p.totals[Total.GROUPS]
    if limits.most == 0:
        return limits.leaving or not empty
    if groups > before:
        return groups <= limits.most and p.totals[Total.SUPPRESSED] <= limits.allowed
    return groups == before or groups >= limits.fewest


@lean_inner
def _within_guard(p: Partition, limits: Limits) -> bool:
    within = p.distance[0] <= limits.distance and p.bits[0] <= limits.bits
    return within and p.totals[Total.SQUARES] <= squares_limit(p, limits)


@lean_inner
def _put(p: Partition, q: Places, site: int, x: float, y: float) -> None:
    move_site(q.sites, q.site_boxes, site, x, y)
    p.centres[site, 0] = x
    p.centres[site, 1] = y


@lean_inner
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


@lean_inner
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


def rehearse() -> None:
    """Boundaries and sites moved once: in a full matrix, and in rows of counts, both of the types of real use."""
    points = np.array([(0.0, 0.0), (4.0, 0.0), (6.0, 0.0), (10.0, 0.0)])
    dense = np.array([(5, 5), (0, 3), (0, 1), (9, 0)], np.int64)
    counts = EquivalenceCounts((2,), np.arange(2, dtype=np.int64), dense=dense)
    pairs = np.array([(0, 1), (1, 2), (2, 3)], np.int32)
    owner = np.array([0, 0, 1, 1], np.int32)
    for kept in (counts, EquivalenceCounts((2,), counts.classes, sparse=counts.rows)):
        partition = new_partition(kept, points, pairs, owner, points[[0, 3]], 4)
        table_is_crowded(partition)
        move_boundaries(partition, 20, 0, 0.1, 10**6, 100.0)
        move_sites(new_partition(kept, points, pairs, owner, points[[0, 3]], 4), 20, 0, 0.1, 2.0, 2.0)
