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
    ListRow,
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

_ABOVE = 0
_STAYS = 1
_LEAVES = 2
_FALLS = 3


@subkernel
def try_place(state: State, site: int, x: float, y: float) -> bool:
    """Test whether the value would be higher with the site at this position; the points that would move stay listed."""
    facts = state.facts
    leaving = 0
    _list_moving_points(state, site, x, y)
    facts[Fact.TRIALS] += 1
    if facts[Fact.MOVED] == 0:
        return False
    _list_touched_regions(state, site)
    if not _some_may_leave(state, site):
        return False
    for t in range(facts[Fact.TOUCHED]):
        if state.lists[ListRow.HOPES, t] == _LEAVES:
            bottlenecks = _bottlenecks_after(state, site, state.lists[ListRow.TOUCHED, t])
            if bottlenecks < 0:
                return False
            leaving += 1 if bottlenecks == 0 else 0
    return leaving > 0 and _others_allow(state, site, leaving)


@subkernel
def _some_may_leave(state: State, site: int) -> bool:
    """Sort the touched regions by a cheap look; False if none can leave α, or if one certainly falls below it."""
    hopes = 0
    for t in range(state.facts[Fact.TOUCHED]):
        region = state.lists[ListRow.TOUCHED, t]
        hope = _may_leave(state, site, region) if state.sites[region].low > 0 else _ABOVE
        state.lists[ListRow.HOPES, t] = hope
        if hope == _FALLS:
            return False
        hopes += 1 if hope == _LEAVES else 0
    return hopes > 0


@subkernel
def _others_allow(state: State, site: int, leaving: int) -> bool:
    """Test whether no other touched region falls below α and fewer come to α than leave it."""
    for t in range(state.facts[Fact.TOUCHED]):
        hope = state.lists[ListRow.HOPES, t]
        # Nothing is below an α of 1, so that a region known to stay at it needs no further look.
        if hope == _LEAVES or (hope == _STAYS and state.facts[Fact.ALPHA] == 1):
            continue
        bottlenecks = _bottlenecks_after(state, site, state.lists[ListRow.TOUCHED, t])
        leaving -= 1 if hope == _ABOVE and bottlenecks > 0 else 0
        if bottlenecks < 0 or leaving == 0:
            return False
    return True


@subkernel
def _list_moving_points(state: State, site: int, x: float, y: float) -> None:
    """List the points that would change hands."""
    points = state.points
    moves = state.moves
    moved = 0
    i = state.sites[site].first_member
    while i >= 0:
        point = points[i]
        dx = point.x - x
        dy = point.y - y
        if point.second >= 0 and not beats(dx * dx + dy * dy, site, point.second_distance, point.second):
            moves[moved].point = i
            moves[moved].partner = point.second
            moves[moved].gain = -1
            moved += 1
        i = point.following
    for b in range(state.facts[Fact.BLOCKS]):
        block = state.lists[ListRow.BLOCKS, b]
        if box_distance(state.boxes[block], x, y) > state.boxes[block].reach:
            continue
        for i in range(block * BLOCK, min((block + 1) * BLOCK, points.size)):
            point = points[i]
            dx = point.x - x
            dy = point.y - y
            if point.owner != site and beats(dx * dx + dy * dy, site, point.distance, point.owner):
                moves[moved].point = i
                moves[moved].partner = point.owner
                moves[moved].gain = 1
                moved += 1
    state.facts[Fact.MOVED] = moved
    state.facts[Fact.WORK] += 8 * state.facts[Fact.BLOCKS] + 4 * moved + 50


@subkernel
def _list_touched_regions(state: State, site: int) -> None:
    facts = state.facts
    touched = state.lists[ListRow.TOUCHED]
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
    alpha = state.facts[Fact.ALPHA]
    own = region == site
    for j in range(min(state.sites[region].low, WITNESSES)):
        column = state.notes[region, j]
        change = 0
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
    alpha = state.facts[Fact.ALPHA]
    bottlenecks = state.sites[region].low
    classes = state.classes
    has_sizes = state.sizes.shape[0] > 0
    if not has_sizes:
        load_sizes(state, region)
    for c in range(_sum_changes(state, site, region)):
        column = classes[c].changed
        size = state.sizes[region, column] if has_sizes else classes[column].size
        after = size + classes[column].delta
        if 0 < after < alpha:
            return -1
        bottlenecks += (1 if after == alpha else 0) - (1 if size == alpha else 0)
    return bottlenecks


@subkernel
def _sum_changes(state: State, site: int, region: int) -> int:
    """Sum up the change of each class of a region; return how many classes are listed as changed."""
    classes = state.classes
    count = 0
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
        region = state.lists[ListRow.TOUCHED, t]
        if state.sites[region].remembered != state.facts[Fact.VISIT_STAMP]:
            state.sites[region].remembered = state.facts[Fact.VISIT_STAMP]
            count = state.sites[site].dependencies
            if count < DEPENDENCIES:
                state.notes[site, WITNESSES + count] = region
            state.sites[site].dependencies = count + 1


@subkernel
def accept(state: State, site: int, x: float, y: float) -> None:
    """Move the site whose last trial was accepted."""
    facts = state.facts
    sites = state.sites
    _doubt_star(state)
    old_x = sites[site].x
    old_y = sites[site].y
    move_site(sites, state.site_boxes, site, x, y)
    if state.sizes.shape[0] > 0:
        for m in range(facts[Fact.MOVED]):
            move = state.moves[m]
            add_counts(state, move.point, site, move.gain)
            add_counts(state, move.point, move.partner, -move.gain)
    farther = _change_owners(state, site, old_x, old_y)
    facts[Fact.STAR], _ = star_of(site, sites, state.site_boxes, state.lists[ListRow.STAR])
    _doubt_star(state)
    for t in range(facts[Fact.TOUCHED]):
        region = state.lists[ListRow.TOUCHED, t]
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
        state.sites[state.lists[ListRow.STAR, c]].pending = 1


@subkernel
def _change_owners(state: State, site: int, old_x: float, old_y: float) -> int:
    """Update owners and runners-up after the move; list the points that are now farther from their site."""
    points = state.points
    boxes = state.boxes
    farther = 0
    x = state.sites[site].x
    y = state.sites[site].y
    for block in range(boxes.size):
        box = boxes[block]
        if (
            box_distance(box, x, y) > box.second_reach
            and box_distance(box, old_x, old_y) > box.second_reach
        ):
            continue
        for i in range(block * BLOCK, min((block + 1) * BLOCK, points.size)):
            point = points[i]
            owner = point.owner
            distance = point.distance
            second = point.second
            second_distance = point.second_distance
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
    points = state.points
    sites = state.sites
    point = state.points[i]
    dx = point.x - sites[site].x
    dy = point.y - sites[site].y
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
        point.second = point.owner
        point.second_distance = point.distance
        point.owner = site
        point.distance = distance
        link(points, sites, i)
    elif point.second == site and distance > point.second_distance:
        set_nearest(state, i, point.owner)
    elif point.second == site or beats(distance, site, point.second_distance, point.second):
        point.second = site
        point.second_distance = distance


@subkernel
def _doubt_touching(state: State) -> None:
    """Try again every site of which a trial touched a region that has changed."""
    sites = state.sites
    facts = state.facts
    facts[Fact.STAMP] += 1
    for t in range(facts[Fact.TOUCHED]):
        sites[state.lists[ListRow.TOUCHED, t]].marked = facts[Fact.STAMP]
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
    sites = state.sites
    points = state.points
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
    low_x = first.x
    high_x = first.x
    low_y = first.y
    high_y = first.y
    reach = first.distance
    for f in range(1, farther):
        point = state.points[state.listed[f]]
        low_x = min(low_x, point.x)
        high_x = max(high_x, point.x)
        low_y = min(low_y, point.y)
        high_y = max(high_y, point.y)
        reach = max(reach, point.distance)
    return low_x, high_x, low_y, high_y, reach
