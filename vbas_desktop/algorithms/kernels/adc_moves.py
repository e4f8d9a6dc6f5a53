"""Moves of ADC: whether moving a site would raise the value, and the move itself, both by differences.

The value α·s − (regions at α) rises if and only if no touched region falls below α and fewer of the touched ones are
at α, because the number of regions at α never exceeds s.

A refusal stays right until α rises or one of the things it was computed from changes: the site's star or members, the
runners-up of its members, a region that its trials touched, or a point that one of its candidate positions could now
win. Exactly these refusals are tried again after a move.
"""

from __future__ import annotations

from .adc_state import (
    DEPENDENCIES,
    WITNESSES,
    Fact,
    Line,
    State,
    add_counts,
    count_of,
    find_alpha,
    link,
    load_sizes,
    measure_block,
    note_bottlenecks,
    set_nearest,
    unlink,
)
from .jit import subkernel
from .spatial_index import BLOCK, beats, box_distance, move_site, star_of

_ABOVE, _STAYS, _LEAVES, _FALLS = 0, 1, 2, 3


@subkernel
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


@subkernel
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


@subkernel
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


@subkernel
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


@subkernel
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


@subkernel
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


@subkernel
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


@subkernel
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
            column = state.columns[entry]
            changing = classes[column]
            if changing.stamp != stamp:
                changing.stamp = stamp
                changing.delta = 0
                classes[count].changed = column
                count += 1
            changing.delta += gain * state.values[entry]
        state.facts[Fact.WORK] += point.width
    return count


@subkernel
def remember_trial(state: State, site: int) -> None:
    """Note the regions that a refused trial touched."""
    if state.facts[Fact.MOVED] == 0:
        return
    for t in range(state.facts[Fact.TOUCHED]):
        region = state.lists[Line.TOUCHED, t]
        if state.sites[region].remembered != state.facts[Fact.VISIT_STAMP]:
            state.sites[region].remembered = state.facts[Fact.VISIT_STAMP]
            count = state.sites[site].dependencies
            if count < DEPENDENCIES:
                state.notes[site, WITNESSES + count] = region
            state.sites[site].dependencies = count + 1


@subkernel
def accept(state: State, site: int, x: float, y: float) -> None:
    """Move the site whose last trial was accepted."""
    facts, sites = state.facts, state.sites
    _doubt_star(state)
    old_x, old_y = sites[site].x, sites[site].y
    move_site(sites, state.site_boxes, site, x, y)
    if state.sizes.shape[0] > 0:
        for m in range(facts[Fact.MOVED]):
            move = state.moves[m]
            add_counts(state, move.point, site, move.gain)
            add_counts(state, move.point, move.partner, -move.gain)
    farther = _change_owners(state, site, old_x, old_y)
    facts[Fact.STAR], _ = star_of(site, sites, state.site_boxes, state.lists[Line.STAR])
    _doubt_star(state)
    for t in range(facts[Fact.TOUCHED]):
        region = state.lists[Line.TOUCHED, t]
        facts[Fact.AT_ALPHA] -= 1 if sites[region].low > 0 else 0
        note_bottlenecks(state, region)
        facts[Fact.AT_ALPHA] += 1 if sites[region].low > 0 else 0
        sites[region].pending = 1
    if facts[Fact.AT_ALPHA] == 0:
        find_alpha(state)
    else:
        _doubt_touching(state)
        _doubt_winning(state, farther)


@subkernel
def _doubt_star(state: State) -> None:
    """Try again the neighbours of the moving site: their stars change.

    As long as all sites lie in one line no neighbourhood depends on a star; the first one that leaves the line becomes
    a neighbour of all others.
    """
    for c in range(state.facts[Fact.STAR]):
        state.sites[state.lists[Line.STAR, c]].pending = 1


@subkernel
def _change_owners(state: State, site: int, old_x: float, old_y: float) -> int:
    """Owners and runners-up after the move; lists the points that are now farther from their site."""
    points, boxes, farther = state.points, state.boxes, 0
    x, y = state.sites[site].x, state.sites[site].y
    for block in range(boxes.size):
        box = boxes[block]
        if box_distance(box, x, y) > box.second_reach and box_distance(box, old_x, old_y) > box.second_reach:
            continue
        for i in range(block * BLOCK, min((block + 1) * BLOCK, points.size)):
            point = points[i]
            owner, distance, second, second_distance = point.owner, point.distance, point.second, point.second_distance
            _change_owner(state, i, site)
            if point.second != second or point.second_distance != second_distance:
                state.sites[point.owner].pending = 1
            if point.distance > distance or (point.distance == distance and point.owner > owner):
                state.listed[farther] = i
                farther += 1
        measure_block(points, boxes, block)
    return farther


@subkernel
def _change_owner(state: State, i: int, site: int) -> None:
    points, sites, point = state.points, state.sites, state.points[i]
    dx, dy = point.x - sites[site].x, point.y - sites[site].y
    distance = dx * dx + dy * dy
    if point.owner == site:
        if point.second < 0 or beats(distance, site, point.second_distance, point.second):
            point.distance = distance
        else:
            unlink(points, sites, i)
            set_nearest(state, i, point.second)
            link(points, sites, i)
    elif beats(distance, site, point.distance, point.owner):
        unlink(points, sites, i)
        point.second, point.second_distance = point.owner, point.distance
        point.owner, point.distance = site, distance
        link(points, sites, i)
    elif point.second == site and distance > point.second_distance:
        set_nearest(state, i, point.owner)
    elif point.second == site or beats(distance, site, point.second_distance, point.second):
        point.second, point.second_distance = site, distance


@subkernel
def _doubt_touching(state: State) -> None:
    """Try again every site of which a trial touched a region that has changed."""
    sites, facts = state.sites, state.facts
    facts[Fact.STAMP] += 1
    for t in range(facts[Fact.TOUCHED]):
        sites[state.lists[Line.TOUCHED, t]].marked = facts[Fact.STAMP]
    for site in range(sites.size):
        if sites[site].pending or sites[site].low == 0:
            continue
        count = sites[site].dependencies
        if count > DEPENDENCIES:
            sites[site].pending = 1
            continue
        for d in range(count):
            if sites[state.notes[site, WITNESSES + d]].marked == facts[Fact.STAMP]:
                sites[site].pending = 1
                break


@subkernel
def _doubt_winning(state: State, farther: int) -> None:
    """Try again every site of which a place might win a point that is now farther from its owner."""
    sites, points = state.sites, state.points
    if farther == 0:
        return
    low_x, high_x, low_y, high_y, reach = _extent(state, farther)
    for site in range(sites.size):
        own = sites[site]
        if own.pending or own.low == 0:
            continue
        dx = max(max(low_x - own.high_x, own.low_x - high_x), 0.0)
        dy = max(max(low_y - own.high_y, own.low_y - high_y), 0.0)
        if dx * dx + dy * dy > reach:
            continue
        for f in range(farther):
            point = points[state.listed[f]]
            if box_distance(own, point.x, point.y) <= point.distance:
                own.pending = 1
                break


@subkernel
def _extent(state: State, farther: int) -> tuple[float, float, float, float, float]:
    first = state.points[state.listed[0]]
    low_x, high_x, low_y, high_y, reach = first.x, first.x, first.y, first.y, first.distance
    for f in range(1, farther):
        point = state.points[state.listed[f]]
        low_x, high_x = min(low_x, point.x), max(high_x, point.x)
        low_y, high_y = min(low_y, point.y), max(high_y, point.y)
        reach = max(reach, point.distance)
    return low_x, high_x, low_y, high_y, reach
