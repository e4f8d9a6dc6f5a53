"""State of ADC (anonymity-driven clustering): its record types, and how it is set up and kept right.

Everything of one point, site or class is one record: few arrays keep compiling short, and what is used together lies
together. Points are in spatial order (`spatial_order`), so that blocks of them can be skipped by their bounding boxes;
each has its nearest site and the runner-up, so that a trial needs no search.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from vbas_desktop.model.counts import ClassCounts

from .jit import kernel, subkernel
from .spatial_index import BLOCK, block_boxes, sites_in_blocks, two_nearest

Floats = NDArray[np.float64]

Integers = NDArray[np.int64]
Records = NDArray[Any]

WITNESSES = 24
"""Bottleneck classes remembered of each region: one that a trial leaves as it is proves that the region stays at α."""

DEPENDENCIES = 40
"""Regions remembered that the trials of one site touched; with more, any change makes the site try again."""

LOGGED_MOVES = 1024
"""Accepted moves that one slice of work can log."""

POINT = np.dtype(
    [
        ("x", "f8"),
        ("y", "f8"),
        ("distance", "f8"),
        ("second_distance", "f8"),
        ("owner", "i8"),
        ("second", "i8"),
        ("following", "i8"),
        ("preceding", "i8"),
        ("start", "i8"),
        ("file", "i8"),
        ("width", "i8"),
    ]
)
"""An initial region: its place, squared distances to its owner and runner-up, both, its neighbours in the list of its
owner's members, its position in the file, and its counts (``width`` entries from ``start``)."""

CLASS = np.dtype(
    [
        ("listed", "i8"),
        ("x", "f8"),
        ("y", "f8"),
        ("weight", "f8"),
        ("slot", "i8"),
        ("delta", "i8"),
        ("stamp", "i8"),
        ("changed", "i8"),
        ("size", "i8"),
        ("rare", "i8"),
    ]
)
"""Work space by class. By number of candidate: the class ``listed``, its place and weight. By class: the ``slot`` of
its candidate (or -1), the change ``delta`` of its size (valid if ``stamp`` is the current one), its summed-up ``size``;
``changed`` lists the changed classes, ``rare`` all classes from the one that fewest points have."""

MOVE = np.dtype([("point", "i8"), ("partner", "i8"), ("gain", "i8")])
"""A point that would change hands, the site it is won from (gain 1) or lost to (gain -1)."""

LOG = np.dtype([("site", "i8"), ("column", "i8"), ("x", "f8"), ("y", "f8")])
"""An accepted move."""


class Fact(IntEnum):
    """Positions in ``State.facts``, the numbers that change as the work goes on."""

    ALPHA = 0
    AT_ALPHA = 1
    CURSOR = 2
    VISITED = 3
    CANDIDATES = 4
    NEXT_CANDIDATE = 5
    STAR = 6
    BLOCKS = 7
    MOVED = 8
    TOUCHED = 9
    STAMP = 10
    VISIT_STAMP = 11
    WORK = 12
    LOGGED = 13
    TRIALS = 14
    TRIES = 15
    MOVES = 16


class ListRow(IntEnum):
    """Rows of ``State.lists``: sites (star, touched), hopes of the touched ones, blocks."""

    STAR = 0
    TOUCHED = 1
    HOPES = 2
    BLOCKS = 3


class State(NamedTuple):
    """Everything. ``notes`` holds the witnesses of each region, then the regions that its trials touched.

    ``listed`` holds points: those of a neighbourhood during a visit, those that came to be farther from their site
    during an accepted move.
    """

    facts: Integers
    points: Records
    boxes: Records
    sites: Records
    site_boxes: Records
    columns: NDArray[np.int32]
    values: Integers
    sizes: Integers
    notes: NDArray[np.int32]
    classes: Records
    moves: Records
    lists: Integers
    listed: Integers
    log: Records


MATRIX_BYTES = 2**28
"""Above this size the class sizes of aggregated regions are summed up when needed instead of being kept."""


def new_state(points: Floats, order: Integers, counts: ClassCounts, sites: Floats) -> State:
    """Build the state before the first trial; owners, class sizes and α are computed by `begin`."""
    r = len(points)
    s = len(sites)
    classes = counts.n_combinations
    in_blocks, site_boxes = sites_in_blocks(sites)
    ordered = _points_in_order(points, order)
    boxes = block_boxes(points[order])
    columns, values, holders = _place_counts(counts, ordered)
    by_class = np.zeros(classes, CLASS)
    by_class["slot"] = -1
    by_class["rare"] = np.argsort(holders, kind="stable")
    return State(
        facts=np.zeros(len(Fact), np.int64),
        points=ordered,
        boxes=boxes,
        sites=in_blocks,
        site_boxes=site_boxes,
        columns=columns,
        values=values,
        sizes=np.zeros((s if s * classes * 8 <= MATRIX_BYTES else 0, classes), np.int64),
        notes=np.zeros((s, WITNESSES + DEPENDENCIES), np.int32),
        classes=by_class,
        moves=np.zeros(r, MOVE),
        lists=np.zeros((len(ListRow), max(boxes.size, s) + 1), np.int64),
        listed=np.zeros(r, np.int64),
        log=np.zeros(LOGGED_MOVES, LOG),
    )


def _points_in_order(points: Floats, order: Integers) -> Records:
    ordered = np.zeros(len(points), POINT)
    ordered["x"], ordered["y"] = points[order].T
    ordered["file"] = order
    ordered["following"] = ordered["preceding"] = -1
    return ordered


def _place_counts(counts: ClassCounts, ordered: Records) -> tuple[NDArray[np.int32], Integers, Integers]:
    """Set where the entries of each point are; return columns, values, and how many points have each column.

    Entry e of a point is ``values[e]`` of class ``columns[e]``.
    """
    table = counts.table
    columns = table.indices.astype(np.int32, copy=False)
    ordered["start"] = table.indptr[ordered["file"]]
    ordered["width"] = table.indptr[ordered["file"] + 1] - ordered["start"]
    return (
        _read_only(columns),
        _read_only(table.data),
        np.bincount(columns, minlength=counts.n_combinations),
    )


def _read_only(array: NDArray) -> NDArray:  # type: ignore[type-arg]
    # One compiled version: numba tells read-only arrays from others.
    view = array.view()
    view.flags.writeable = False
    return view


@kernel
def begin(state: State, start: int, stop: int) -> None:
    """Give the points of these blocks their owners and count them; after the last blocks find α (0: no records)."""
    points = state.points
    hint = np.int64(0)
    for block in range(start, min(stop, state.boxes.size)):
        for i in range(block * BLOCK, min((block + 1) * BLOCK, points.size)):
            set_nearest(state, i, hint)
            hint = points[i].owner
            link(points, state.sites, i)
            if state.sizes.shape[0] > 0:
                add_counts(state, i, hint, np.int64(1))
        measure_block(points, state.boxes, block)
    if stop >= state.boxes.size:
        find_alpha(state)


@subkernel
def set_nearest(state: State, i: int, hint: int) -> None:
    """Look up the owner and the runner-up of a point."""
    point = state.points[i]
    first, d1, second, d2 = two_nearest(point.x, point.y, state.sites, state.site_boxes, hint)
    point.owner = first
    point.distance = d1
    point.second = second
    point.second_distance = d2


@subkernel
def measure_block(points: Records, boxes: Records, block: int) -> None:
    """Measure how far the owners and the runners-up of a block's points are at most."""
    reach = 0.0
    second_reach = 0.0
    for i in range(block * BLOCK, min((block + 1) * BLOCK, points.size)):
        reach = max(reach, points[i].distance)
        second_reach = max(second_reach, points[i].second_distance)
    boxes[block].reach = reach
    boxes[block].second_reach = second_reach


@subkernel
def link(points: Records, sites: Records, i: int) -> None:
    """Put a point into the list of its owner's members."""
    owner = sites[points[i].owner]
    first = owner.first_member
    owner.first_member = i
    points[i].following = first
    points[i].preceding = -1
    if first >= 0:
        points[first].preceding = i


@subkernel
def unlink(points: Records, sites: Records, i: int) -> None:
    """Take a point out of the list of its owner's members."""
    before = points[i].preceding
    after = points[i].following
    if before >= 0:
        points[before].following = after
    else:
        sites[points[i].owner].first_member = after
    if after >= 0:
        points[after].preceding = before


@subkernel
def add_counts(state: State, i: int, site: int, sign: int) -> None:
    """Add (or take away) the counts of one point to the class sizes that are kept of a site's region."""
    point = state.points[i]
    for entry in range(point.start, point.start + point.width):
        state.sizes[site, state.columns[entry]] += sign * state.values[entry]


@subkernel
def load_sizes(state: State, site: int) -> None:
    """Bring the class sizes of one aggregated region into the work space."""
    classes = state.classes
    if state.sizes.shape[0] > 0:
        for column in range(classes.size):
            classes[column].size = state.sizes[site, column]
        return
    for column in range(classes.size):
        classes[column].size = 0
    i = state.sites[site].first_member
    while i >= 0:
        point = state.points[i]
        for entry in range(point.start, point.start + point.width):
            classes[state.columns[entry]].size += state.values[entry]
        i = point.following


@subkernel
def find_alpha(state: State) -> None:
    """Find the lowest anonymity of all regions, and count everything that is relative to it."""
    alpha = 0
    sites = state.sites
    classes = state.classes
    for site in range(sites.size):
        load_sizes(state, site)
        for column in range(classes.size):
            size = classes[column].size
            if size > 0 and (alpha == 0 or size < alpha):
                alpha = size
    state.facts[Fact.ALPHA] = alpha
    state.facts[Fact.AT_ALPHA] = 0
    for site in range(sites.size):
        note_bottlenecks(state, site)
        sites[site].pending = 1
        if sites[site].low > 0:
            state.facts[Fact.AT_ALPHA] += 1


@subkernel
def note_bottlenecks(state: State, site: int) -> None:
    """Count the classes of a region that are at α and remember the rarest: a trial changes them least often."""
    alpha = state.facts[Fact.ALPHA]
    low = 0
    load_sizes(state, site)
    for rank in range(state.classes.size):
        column = state.classes[rank].rare
        if state.classes[column].size == alpha and alpha > 0:
            if low < WITNESSES:
                state.notes[site, low] = column
            low += 1
    state.sites[site].low = low


@subkernel
def count_of(state: State, i: int, column: int) -> int:
    """Return how many members of a class a point has."""
    point = state.points[i]
    if point.width == state.classes.size:
        return state.values[point.start + column]
    low = point.start
    stop = high = low + point.width
    while low < high:
        middle = (low + high) // 2
        if state.columns[middle] < column:
            low = middle + 1
        else:
            high = middle
    return state.values[low] if low < stop and state.columns[low] == column else 0
