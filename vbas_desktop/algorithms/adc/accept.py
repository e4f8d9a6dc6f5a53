"""Accepted moves: owners, class sizes and α by differences, and exactly the refusals that they make doubtful.

A refusal stays right until α rises or one of the things it was computed from changes: the site's star or members, the
runners-up of its members, a region that its trials touched, or a point that one of its places could now win.
"""

from __future__ import annotations

from vbas_desktop.algorithms.compiled import lean_inner

from .layout import DEPENDENCIES, WITNESSES, Fact, Line, State
from .star import BLOCK, beats, box_distance, move_site, star_of
from .state import add_counts, find_alpha, link, measure_block, note_bottlenecks, set_nearest, unlink


@lean_inner
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


@lean_inner
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


@lean_inner
def _doubt_star(state: State) -> None:
    """Try again the neighbours of the moving site: their stars change.

    As long as all sites lie in one line no neighbourhood depends on a star; the first one that leaves the line becomes
    a neighbour of all others.
    """
    for c in range(state.facts[Fact.STAR]):
        state.sites[state.lists[Line.STAR, c]].pending = 1


@lean_inner
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


@lean_inner
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


@lean_inner
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


@lean_inner
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


@lean_inner
def _extent(state: State, farther: int) -> tuple[float, float, float, float, float]:
    first = state.points[state.listed[0]]
    low_x, high_x, low_y, high_y, reach = first.x, first.x, first.y, first.y, first.distance
    for f in range(1, farther):
        point = state.points[state.listed[f]]
        low_x, high_x = min(low_x, point.x), max(high_x, point.x)
        low_y, high_y = min(low_y, point.y), max(high_y, point.y)
        reach = max(reach, point.distance)
    return low_x, high_x, low_y, high_y, reach
