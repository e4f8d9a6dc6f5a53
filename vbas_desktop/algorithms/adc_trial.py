"""Candidate places of a site, and whether moving it there would raise the value: judged by differences, nothing moved.

The value α·s − (regions at α) rises if and only if no touched region falls below α and fewer of the touched ones are
at α, because the number of regions at α never exceeds s.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .adc_compiled import inner
from .adc_predicates import side_of_line
from .adc_star import BLOCK, beats, box_distance, star_of
from .adc_state import WITNESSES, Fact, Line, State, load_sizes

Integers = NDArray[np.int64]

_ABOVE, _STAYS, _LEAVES, _FALLS = 0, 1, 2, 3


@inner
def open_visit(state: State, site: int) -> None:
    """Compute the candidate place of every class of a site's region that is at α, in class order."""
    facts, classes, near = state.facts, state.classes, state.listed
    facts[Fact.VISITED] = site
    facts[Fact.NEXT_CANDIDATE] = 0
    _list_candidates(state, site)
    found = _list_neighbourhood(state, site)
    _sort(near[:found])
    for n in range(found):
        # The file position is in the upper half of each number, the point in the lower.
        _weigh_point(state, near[n] & 0xFFFFFFFF)
    for j in range(facts[Fact.CANDIDATES]):
        classes[j].x /= classes[j].weight
        classes[j].y /= classes[j].weight
        classes[classes[j].listed].slot = -1
    _list_blocks(state, site)
    facts[Fact.STAMP] += 1
    facts[Fact.VISIT_STAMP] = facts[Fact.STAMP]
    state.sites[site].dependencies = 0


@inner
def _sort(numbers: Integers) -> None:
    """Shell sort in place: the lists are short, and it compiles much faster than the library's sort."""
    gap = 1
    while gap < numbers.size // 3:
        gap = 3 * gap + 1
    while gap > 0:
        for i in range(gap, numbers.size):
            number, j = numbers[i], i
            while j >= gap and numbers[j - gap] > number:
                numbers[j] = numbers[j - gap]
                j -= gap
            numbers[j] = number
        gap //= 3


@inner
def _list_candidates(state: State, site: int) -> None:
    alpha, count, classes = state.facts[Fact.ALPHA], 0, state.classes
    load_sizes(state, site)
    for column in range(classes.size):
        if classes[column].size == alpha:
            classes[column].slot = count
            candidate = classes[count]
            candidate.listed, candidate.x, candidate.y, candidate.weight = column, 0.0, 0.0, 0.0
            count += 1
    state.facts[Fact.CANDIDATES] = count
    state.facts[Fact.WORK] += classes.size


@inner
def _weigh_point(state: State, i: int) -> None:
    """Add a point, weighted by its members of each class at α, to that class's candidate place."""
    point, classes, count = state.points[i], state.classes, state.facts[Fact.CANDIDATES]
    if count * 8 < point.width:
        for j in range(count):
            _weigh(classes[j], point, float(count_of(state, i, classes[j].listed)))
        state.facts[Fact.WORK] += 8 * count
        return
    for entry in range(point.start, point.start + point.width):
        j = classes[state.columns[entry - point.offset]].slot
        if j >= 0:
            _weigh(classes[j], point, float(state.values[entry]))
    state.facts[Fact.WORK] += point.width


@inner
def _weigh(candidate: Any, point: Any, weight: float) -> None:
    candidate.x += weight * point.x
    candidate.y += weight * point.y
    candidate.weight += weight


@inner
def count_of(state: State, i: int, column: int) -> int:
    """How many members of a class a point has."""
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


@inner
def _list_neighbourhood(state: State, site: int) -> int:
    """The initial regions in a site's cell or in the closed polygon through its star, each with its file position."""
    points, sites, near, star = state.points, state.sites, state.listed, state.lists[Line.STAR]
    corners, bounded = star_of(site, sites, state.site_boxes, star)
    state.facts[Fact.STAR] = corners
    count = 0
    i = sites[site].first_member
    while i >= 0:
        near[count] = (points[i].file << 32) + i
        count += 1
        i = points[i].following
    low_x = high_x = sites[site].x
    low_y = high_y = sites[site].y
    for c in range(corners):
        corner = sites[star[c]]
        low_x, high_x = min(low_x, corner.x), max(high_x, corner.x)
        low_y, high_y = min(low_y, corner.y), max(high_y, corner.y)
    for block in range(state.boxes.size):
        box = state.boxes[block]
        if box.low_x > high_x or box.high_x < low_x or box.low_y > high_y or box.high_y < low_y:
            continue
        for i in range(block * BLOCK, min((block + 1) * BLOCK, points.size)):
            if points[i].owner != site and _in_fan(state, site, corners, bounded, points[i].x, points[i].y):
                near[count] = (points[i].file << 32) + i
                count += 1
    state.facts[Fact.WORK] += 2 * state.boxes.size + 64 * count
    return count


@inner
def _in_fan(state: State, site: int, corners: int, bounded: bool, x: float, y: float) -> bool:
    """Whether a place is in the closed polygon: the triangles of the site with each two successive neighbours.

    At an open side the site itself is the corner between the last and the first neighbour, so no triangle is there;
    neighbours in one line with the site span none.
    """
    sites, star = state.sites, state.lists[Line.STAR]
    vx, vy = sites[site].x, sites[site].y
    for c in range(corners if bounded else corners - 1):
        a, b = sites[star[c]], sites[star[c + 1 if c + 1 < corners else 0]]
        if (
            side_of_line(vx, vy, a.x, a.y, x, y) >= 0
            and side_of_line(vx, vy, b.x, b.y, x, y) <= 0
            and side_of_line(a.x, a.y, b.x, b.y, x, y) >= 0
            and side_of_line(vx, vy, a.x, a.y, b.x, b.y) > 0
        ):
            return True
    return False


@inner
def _list_blocks(state: State, site: int) -> None:
    """The box of all candidate places, and the blocks of points from which some of them might win any."""
    own, classes, count = state.sites[site], state.classes, 0
    own.low_x = own.high_x = classes[0].x
    own.low_y = own.high_y = classes[0].y
    for j in range(1, state.facts[Fact.CANDIDATES]):
        own.low_x, own.high_x = min(own.low_x, classes[j].x), max(own.high_x, classes[j].x)
        own.low_y, own.high_y = min(own.low_y, classes[j].y), max(own.high_y, classes[j].y)
    for block in range(state.boxes.size):
        box = state.boxes[block]
        dx = max(max(box.low_x - own.high_x, own.low_x - box.high_x), 0.0)
        dy = max(max(box.low_y - own.high_y, own.low_y - box.high_y), 0.0)
        if dx * dx + dy * dy <= box.reach:
            state.lists[Line.BLOCKS, count] = block
            count += 1
    state.facts[Fact.BLOCKS] = count
    state.facts[Fact.WORK] += 2 * state.boxes.size


@inner
def try_place(state: State, site: int, x: float, y: float) -> bool:
    """Whether the value would be higher with the site at this place; the points that would move stay listed."""
    facts, leaving = state.facts, 0
    _list_moving_points(state, site, x, y)
    facts[Fact.TRIALS] += 1
    if facts[Fact.MOVED] == 0:
        return False
    _list_touched_regions(state, site)
    if not _some_may_leave(state, site):
        return False
    for t in range(facts[Fact.TOUCHED]):
        if state.lists[Line.HOPES, t] == _LEAVES:
            bottlenecks = _bottlenecks_after(state, site, state.lists[Line.TOUCHED, t])
            if bottlenecks < 0:
                return False
            leaving += 1 if bottlenecks == 0 else 0
    return leaving > 0 and _others_allow(state, site, leaving)


@inner
def _some_may_leave(state: State, site: int) -> bool:
    """Sort the touched regions by a cheap look; False if none can leave α, or if one certainly falls below it."""
    hopes = 0
    for t in range(state.facts[Fact.TOUCHED]):
        region = state.lists[Line.TOUCHED, t]
        hope = _may_leave(state, site, region) if state.sites[region].low > 0 else _ABOVE
        state.lists[Line.HOPES, t] = hope
        if hope == _FALLS:
            return False
        hopes += 1 if hope == _LEAVES else 0
    return hopes > 0


@inner
def _others_allow(state: State, site: int, leaving: int) -> bool:
    """Whether no other touched region falls below α and fewer come to α than leave it."""
    for t in range(state.facts[Fact.TOUCHED]):
        hope = state.lists[Line.HOPES, t]
        # Nothing is below an α of 1, so that a region known to stay at it needs no further look.
        if hope == _LEAVES or (hope == _STAYS and state.facts[Fact.ALPHA] == 1):
            continue
        bottlenecks = _bottlenecks_after(state, site, state.lists[Line.TOUCHED, t])
        leaving -= 1 if hope == _ABOVE and bottlenecks > 0 else 0
        if bottlenecks < 0 or leaving == 0:
            return False
    return True


@inner
def _list_moving_points(state: State, site: int, x: float, y: float) -> None:
    """The points that would change hands."""
    points, moves, moved = state.points, state.moves, 0
    i = state.sites[site].first_member
    while i >= 0:
        point = points[i]
        dx, dy = point.x - x, point.y - y
        if point.second >= 0 and not beats(dx * dx + dy * dy, site, point.second_distance, point.second):
            moves[moved].point, moves[moved].partner, moves[moved].gain = i, point.second, -1
            moved += 1
        i = point.following
    for b in range(state.facts[Fact.BLOCKS]):
        block = state.lists[Line.BLOCKS, b]
        if box_distance(state.boxes[block], x, y) > state.boxes[block].reach:
            continue
        for i in range(block * BLOCK, min((block + 1) * BLOCK, points.size)):
            point = points[i]
            dx, dy = point.x - x, point.y - y
            if point.owner != site and beats(dx * dx + dy * dy, site, point.distance, point.owner):
                moves[moved].point, moves[moved].partner, moves[moved].gain = i, point.owner, 1
                moved += 1
    state.facts[Fact.MOVED] = moved
    state.facts[Fact.WORK] += 8 * state.facts[Fact.BLOCKS] + 4 * moved + 50


@inner
def _list_touched_regions(state: State, site: int) -> None:
    facts, touched = state.facts, state.lists[Line.TOUCHED]
    facts[Fact.STAMP] += 1
    touched[0] = site
    count = 1
    for m in range(facts[Fact.MOVED]):
        partner = state.moves[m].partner
        if state.sites[partner].marked != facts[Fact.STAMP]:
            state.sites[partner].marked = facts[Fact.STAMP]
            touched[count] = partner
            count += 1
    facts[Fact.TOUCHED] = count


@inner
def _may_leave(state: State, site: int, region: int) -> int:
    """Look at the rarest classes at α of a region: one that does not change keeps it at α, one that shrinks decides."""
    alpha, own = state.facts[Fact.ALPHA], region == site
    for j in range(min(state.sites[region].low, WITNESSES)):
        column, change = state.notes[region, j], 0
        for m in range(state.facts[Fact.MOVED]):
            move = state.moves[m]
            if own:
                change += move.gain * count_of(state, move.point, column)
            elif move.partner == region:
                change -= move.gain * count_of(state, move.point, column)
        state.facts[Fact.WORK] += 10 * state.facts[Fact.MOVED]
        if change == 0:
            return _STAYS
        if change < 0 and alpha + change > 0:
            return _FALLS
    return _LEAVES


@inner
def _bottlenecks_after(state: State, site: int, region: int) -> int:
    """Number of classes at α that a touched region would have; -1 if one of its classes would be smaller."""
    alpha, bottlenecks, classes = state.facts[Fact.ALPHA], state.sites[region].low, state.classes
    kept = state.sizes.shape[0] > 0
    if not kept:
        load_sizes(state, region)
    for c in range(_sum_changes(state, site, region)):
        column = classes[c].changed
        size = state.sizes[region, column] if kept else classes[column].size
        after = size + classes[column].delta
        if 0 < after < alpha:
            return -1
        bottlenecks += (1 if after == alpha else 0) - (1 if size == alpha else 0)
    return bottlenecks


@inner
def _sum_changes(state: State, site: int, region: int) -> int:
    """By how much each class of a region would change; returns how many classes are listed as changed."""
    classes, count = state.classes, 0
    state.facts[Fact.STAMP] += 1
    stamp = state.facts[Fact.STAMP]
    for m in range(state.facts[Fact.MOVED]):
        move = state.moves[m]
        if region != site and move.partner != region:
            continue
        gain = move.gain if region == site else -move.gain
        point = state.points[move.point]
        for entry in range(point.start, point.start + point.width):
            column = state.columns[entry - point.offset]
            changing = classes[column]
            if changing.stamp != stamp:
                changing.stamp = stamp
                changing.delta = 0
                classes[count].changed = column
                count += 1
            changing.delta += gain * state.values[entry]
        state.facts[Fact.WORK] += point.width
    return count
