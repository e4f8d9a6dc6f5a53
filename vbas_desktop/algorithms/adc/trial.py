"""Whether moving a site to a place would raise the value: judged by differences, nothing moved.

The value α·s − (regions at α) rises if and only if no touched region falls below α and fewer of the touched ones are
at α, because the number of regions at α never exceeds s.
"""

from __future__ import annotations

from vbas_desktop.algorithms.compiled import lean_inner

from .layout import WITNESSES, Fact, Line, State
from .star import BLOCK, beats, box_distance
from .state import count_of, load_sizes

_ABOVE, _STAYS, _LEAVES, _FALLS = 0, 1, 2, 3


@lean_inner
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


@lean_inner
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


@lean_inner
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


@lean_inner
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


@lean_inner
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


@lean_inner
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


@lean_inner
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


@lean_inner
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
