"""Sites and points in blocks with bounding boxes: nearest sites, Voronoi neighbours, and exact predicates.

The star of a site (the sites of the adjacent Voronoi cells) is found by turning around the site, one neighbour after
the other, with exact predicates; no triangulation is kept. Blocks of sites that were near each other at the start carry
their bounding boxes, so that blocks too far away are skipped.

The predicates are the signs of two determinants of plane geometry. A floating-point filter decides almost always; what
it cannot decide is computed without rounding, as a sum of floating-point numbers that do not overlap (Shewchuk,
Adaptive precision floating-point arithmetic, 1997). So regular grids, collinear and coincident points get the answers
of real arithmetic, on every machine.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .jit import allocating_subkernel, subkernel

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Records = NDArray[Any]
Position = tuple[float, float]

_NONE: Any = np.int64(-1)
# As plain -1 it would make numba compile a second version of every function that it is passed to.

BLOCK = 16
"""Sites or points in one block."""

BOX = np.dtype(
    [
        ("low_x", "f8"),
        ("high_x", "f8"),
        ("low_y", "f8"),
        ("high_y", "f8"),
        ("reach", "f8"),
        ("second_reach", "f8"),
    ]
)
"""A block: its bounding box; of points also how far their owners and their runners-up are at most (squared)."""

SITE = np.dtype(
    [
        ("x", "f8"),
        ("y", "f8"),
        ("order", "i8"),
        ("block", "i8"),
        ("first_member", "i8"),
        ("low", "i8"),
        ("pending", "i8"),
        ("marked", "i8"),
        ("remembered", "i8"),
        ("dependencies", "i8"),
        ("low_x", "f8"),
        ("high_x", "f8"),
        ("low_y", "f8"),
        ("high_y", "f8"),
    ]
)
"""A site: its place and block, the first of its members, the number of its classes at α, whether it is to be tried,
two marks, the number of regions its trials touched, and the box of its candidate places. ``order`` is apart from the
rest: the site at that position of the spatial order."""


def spatial_order(points: Floats) -> Integers:
    """Order points so that every run of `BLOCK` is compact: halves by the wider side, again and again."""
    order = np.arange(len(points), dtype=np.int64)
    xs, ys = np.ascontiguousarray(points.T)
    open_runs = [(0, len(points))]
    while open_runs:
        start, stop = open_runs.pop()
        blocks = -(-(stop - start) // BLOCK)
        if blocks < 2:
            continue
        middle = (blocks // 2) * BLOCK
        run = order[start:stop]
        x = xs.take(run)
        y = ys.take(run)
        along = x if x.max() - x.min() >= y.max() - y.min() else y
        order[start:stop] = run.take(along.argpartition(middle))
        open_runs += [(start, start + middle), (start + middle, stop)]
    return order


def block_boxes(points: Floats) -> Records:
    """Compute the bounding boxes of the blocks of points that are in spatial order."""
    starts = np.arange(0, len(points), BLOCK)
    low = np.minimum.reduceat(points, starts)
    high = np.maximum.reduceat(points, starts)
    boxes = np.zeros(starts.size, BOX)
    boxes["low_x"], boxes["low_y"] = low.T
    boxes["high_x"], boxes["high_y"] = high.T
    return boxes


def sites_in_blocks(positions: Floats) -> tuple[Records, Records]:
    """Build the sites and the boxes of their blocks, ready to be searched and moved."""
    order = spatial_order(positions)
    sites = np.zeros(len(positions), SITE)
    sites["x"], sites["y"] = positions.T
    sites["order"] = order
    sites["block"][order] = np.arange(len(positions)) // BLOCK
    sites["first_member"] = -1
    sites["pending"] = 1
    return sites, block_boxes(positions[order])


@subkernel
def move_site(sites: Records, boxes: Records, site: int, x: float, y: float) -> None:
    """Put one site elsewhere and make the box of its block exact again."""
    sites[site].x = x
    sites[site].y = y
    block = sites[site].block
    low_x = x
    high_x = x
    low_y = y
    high_y = y
    for position in range(block * BLOCK, min((block + 1) * BLOCK, sites.size)):
        other = sites[sites[position].order]
        low_x = min(low_x, other.x)
        high_x = max(high_x, other.x)
        low_y = min(low_y, other.y)
        high_y = max(high_y, other.y)
    box = boxes[block]
    box.low_x = low_x
    box.high_x = high_x
    box.low_y = low_y
    box.high_y = high_y


@subkernel
def box_distance(box: Any, x: float, y: float) -> float:
    """Compute the squared distance of a position to a box: never more than to any point in it, rounding included."""
    dx = max(max(box.low_x - x, x - box.high_x), 0.0)
    dy = max(max(box.low_y - y, y - box.high_y), 0.0)
    return dx * dx + dy * dy


@subkernel
def beats(distance: float, site: int, other_distance: float, other: int) -> bool:
    """Test whether a site at this squared distance comes before another: nearer, or as near with the lower index."""
    return distance < other_distance or (distance == other_distance and site < other)


@subkernel
def two_nearest(
    x: float, y: float, sites: Records, boxes: Records, hint: int
) -> tuple[int, float, int, float]:
    """Find the nearest site and the runner-up with their squared distances (-1 and infinity if there is none)."""
    first = _NONE
    second = _NONE
    d1 = np.inf
    d2 = np.inf
    start = sites[hint].block
    for step in range(boxes.size):
        # The hinted block first: it gives bounds that skip most of the others.
        block = start if step == 0 else (step if step > start else step - 1)
        if box_distance(boxes[block], x, y) > d2:
            continue
        for position in range(block * BLOCK, min((block + 1) * BLOCK, sites.size)):
            site = sites[position].order
            dx = x - sites[site].x
            dy = y - sites[site].y
            distance = dx * dx + dy * dy
            if first < 0 or beats(distance, site, d1, first):
                second = first
                d2 = d1
                first = site
                d1 = distance
            elif second < 0 or beats(distance, site, d2, second):
                second = site
                d2 = distance
    return first, d1, second, d2


@subkernel
def star_of(site: int, sites: Records, boxes: Records, star: Integers) -> tuple[int, bool]:
    """Fill ``star`` with the sites of the cells adjacent to a site's cell, counter-clockwise.

    Returns their number and whether the cell is bounded; if it is not, the list starts and ends at its open side.
    Sites at one place share a cell: the one of lowest index stands for them. If all sites lie in one line, so that
    no polygon can be made of them, only the nearest is listed.
    """
    first = _nearest_elsewhere(site, sites, boxes)
    if first < 0:
        return 0, False
    count = 0
    current = first
    turn = np.int64(1)
    while current >= 0 and count < star.size:
        star[count] = current
        count += 1
        following = _next_in_star(site, current, turn, sites, boxes)
        if following == first:
            return count, True
        if following < 0 and turn == 1:
            # The open side: what is there so far turns over, and the rest is found the other way round.
            turn = np.int64(-1)
            _reverse(star, count)
            following = _next_in_star(site, first, turn, sites, boxes)
        current = following
    _reverse(star, count)
    return count, False


@subkernel
def _reverse(star: Integers, count: int) -> None:
    for i in range(count // 2):
        star[i], star[count - 1 - i] = star[count - 1 - i], star[i]


@subkernel
def _nearest_elsewhere(site: int, sites: Records, boxes: Records) -> int:
    x = sites[site].x
    y = sites[site].y
    best = _NONE
    bound = np.inf
    start = sites[site].block
    for step in range(boxes.size):
        block = start if step == 0 else (step if step > start else step - 1)
        if box_distance(boxes[block], x, y) > bound:
            continue
        for position in range(block * BLOCK, min((block + 1) * BLOCK, sites.size)):
            other = sites[position].order
            dx = sites[other].x - x
            dy = sites[other].y - y
            if dx == 0.0 and dy == 0.0:
                continue
            distance = dx * dx + dy * dy
            if best < 0 or beats(distance, other, bound, best):
                best = other
                bound = distance
    return best


@subkernel
def _next_in_star(site: int, current: int, turn: int, sites: Records, boxes: Records) -> int:
    """Find the neighbour after ``current`` counter-clockwise (turn 1) or clockwise (turn -1); -1 at an open side.

    Of all sites on that side of the line through both, the one whose circle with both holds no other: the end of
    their common edge. Of several on that circle the farthest round shares an edge of positive length.
    """
    vx = sites[site].x
    vy = sites[site].y
    ax = sites[current].x
    ay = sites[current].y
    best = _NONE
    circle = (0.0, 0.0, np.inf)
    own = sites[site].block
    other = sites[current].block
    for step in range(boxes.size + 2):
        block = own if step == 0 else (other if step == 1 else step - 2)
        if step >= 2 and block in (own, other):
            continue
        if _box_is_useless(boxes[block], vx, vy, ax - vx, ay - vy, turn, circle):
            continue
        for position in range(block * BLOCK, min((block + 1) * BLOCK, sites.size)):
            candidate = sites[position].order
            px = sites[candidate].x
            py = sites[candidate].y
            dx = (px - vx) - circle[0]
            dy = (py - vy) - circle[1]
            if dx * dx + dy * dy > circle[2] or turn * side_of_line(vx, vy, ax, ay, px, py) <= 0:
                continue
            if best < 0 or _comes_before((vx, vy), (ax, ay), sites, best, candidate, turn):
                best = candidate
                circle = _circle(ax - vx, ay - vy, px - vx, py - vy)
    return best


@subkernel
def _comes_before(
    v: Position, a: Position, sites: Records, best: int, candidate: int, turn: int
) -> bool:
    b = (sites[best].x, sites[best].y)
    p = (sites[candidate].x, sites[candidate].y)
    if b[0] == p[0] and b[1] == p[1]:
        return candidate < best
    inside = turn * side_of_circle(v, a, b, p)
    return inside > 0 or (inside == 0 and turn * side_of_line(v[0], v[1], b[0], b[1], p[0], p[1]) > 0)


@subkernel
def _circle(ax: float, ay: float, bx: float, by: float) -> tuple[float, float, float]:
    """Compute centre and squared radius, a little enlarged, of the circle through the origin, a and b.

    Infinite unless it is certain that rounding moves it by much less than the enlargement.
    """
    lift_a = ax * ax + ay * ay
    lift_b = bx * bx + by * by
    double_area = ax * by - ay * bx
    if double_area * double_area <= 1e-10 * lift_a * lift_b:
        return 0.0, 0.0, np.inf
    scale = 0.5 / double_area
    x = (by * lift_a - ay * lift_b) * scale
    y = (ax * lift_b - bx * lift_a) * scale
    return x, y, (x * x + y * y) * (1.0 + 1e-7)


@subkernel
def _box_is_useless(
    box: Any, vx: float, vy: float, ax: float, ay: float, turn: int, circle: tuple[float, float, float]
) -> bool:
    """Test whether a block certainly lies outside the circle, or on the wrong side of the line from the origin to a."""
    low_x = box.low_x - vx
    high_x = box.high_x - vx
    low_y = box.low_y - vy
    high_y = box.high_y - vy
    dx = max(max(low_x - circle[0], circle[0] - high_x), 0.0)
    dy = max(max(low_y - circle[1], circle[1] - high_y), 0.0)
    if dx * dx + dy * dy > circle[2]:
        return True
    along_x = turn * ax
    along_y = turn * ay
    upper = along_x * (high_y if along_x > 0.0 else low_y)
    lower = along_y * (low_x if along_y > 0.0 else high_x)
    return upper - lower < -1e-12 * (abs(upper) + abs(lower))


_HALF_ULP = 2.0**-53
_SIDE_BOUND = (3.0 + 16.0 * _HALF_ULP) * _HALF_ULP
_CIRCLE_BOUND = (10.0 + 96.0 * _HALF_ULP) * _HALF_ULP
_SPLITTER = 2.0**27 + 1.0


@subkernel
def side_of_line(ax: float, ay: float, bx: float, by: float, px: float, py: float) -> int:
    """Return 1 if p lies left of the line from a to b, -1 if right of it, 0 if on it."""
    left = (bx - ax) * (py - ay)
    right = (by - ay) * (px - ax)
    determinant = left - right
    bound = _SIDE_BOUND * (abs(left) + abs(right))
    if determinant > bound:
        return 1
    if determinant < -bound:
        return -1
    if bound == 0.0:
        return 0
    return _exact_side(ax, ay, bx, by, px, py)


@subkernel
def side_of_circle(v: Position, a: Position, b: Position, p: Position) -> int:
    """Return 1 if p lies inside the circle of v, a, b (counter-clockwise), -1 if outside, 0 if on it."""
    adx = a[0] - v[0]
    ady = a[1] - v[1]
    bdx = b[0] - v[0]
    bdy = b[1] - v[1]
    pdx = p[0] - v[0]
    pdy = p[1] - v[1]
    bp = bdx * pdy
    pb = pdx * bdy
    pa = pdx * ady
    ap = adx * pdy
    ab = adx * bdy
    ba = bdx * ady
    lift_a = adx * adx + ady * ady
    lift_b = bdx * bdx + bdy * bdy
    lift_p = pdx * pdx + pdy * pdy
    determinant = lift_a * (bp - pb) + lift_b * (pa - ap) + lift_p * (ab - ba)
    size = lift_a * (abs(bp) + abs(pb)) + lift_b * (abs(pa) + abs(ap)) + lift_p * (abs(ab) + abs(ba))
    bound = _CIRCLE_BOUND * size
    # The determinant is that of v against the circle a, b, p; turning the four round once changes its sign.
    if determinant > bound:
        return -1
    if determinant < -bound:
        return 1
    if bound == 0.0:
        return 0
    return _exact_circle(v, a, b, p)


@subkernel
def _two_sum(a: float, b: float) -> tuple[float, float]:
    total = a + b
    shadow = total - a
    return total, (a - (total - shadow)) + (b - shadow)


@subkernel
def _two_product(a: float, b: float) -> tuple[float, float]:
    product = a * b
    wide = _SPLITTER * a
    a_high = wide - (wide - a)
    a_low = a - a_high
    wide = _SPLITTER * b
    b_high = wide - (wide - b)
    b_low = b - b_high
    return product, a_low * b_low - (((product - a_high * b_high) - a_low * b_high) - a_high * b_low)


@allocating_subkernel
def _difference(a: float, b: float) -> Floats:
    total, rest = _two_sum(a, -b)
    if rest != 0.0:
        return np.array([rest, total])
    return np.array([total])


@subkernel
def _append_part(parts: Floats, filled: int, part: float) -> int:
    """Append a part to the ``filled`` parts of a sum, unless it is zero; return how many there are then."""
    parts[filled] = part
    return filled + 1 if part != 0.0 else filled


@allocating_subkernel
def _plus(e: Floats, f: Floats, sign: float) -> Floats:
    """Add e and sign·f, sums of parts that ascend in size, as the result does; zeros are left out."""
    result = np.empty(e.size + f.size)
    i = 0
    j = 0
    filled = 0
    carried = 0.0
    while i < e.size or j < f.size:
        if j >= f.size or (i < e.size and abs(e[i]) <= abs(f[j])):
            term = e[i]
            i += 1
        else:
            term = sign * f[j]
            j += 1
        carried, rest = _two_sum(carried, term)
        filled = _append_part(result, filled, rest)
    filled = _append_part(result, filled, carried)
    return result[: max(filled, 1)]


@allocating_subkernel
def _scale(e: Floats, factor: float) -> Floats:
    result = np.empty(2 * e.size)
    carried, rest = _two_product(e[0], factor)
    filled = _append_part(result, 0, rest)
    for i in range(1, e.size):
        high, low = _two_product(e[i], factor)
        total, rest = _two_sum(carried, low)
        filled = _append_part(result, filled, rest)
        carried, rest = _two_sum(high, total)
        filled = _append_part(result, filled, rest)
    filled = _append_part(result, filled, carried)
    return result[: max(filled, 1)]


@allocating_subkernel
def _times(e: Floats, f: Floats) -> Floats:
    product = _scale(e, f[0])
    for j in range(1, f.size):
        product = _plus(product, _scale(e, f[j]), 1.0)
    return product


@allocating_subkernel
def _cross(ax: Floats, ay: Floats, bx: Floats, by: Floats) -> Floats:
    return _plus(_times(ax, by), _times(ay, bx), -1.0)


@allocating_subkernel
def _lift(x: Floats, y: Floats) -> Floats:
    return _plus(_times(x, x), _times(y, y), 1.0)


@subkernel
def _sign(e: Floats) -> int:
    largest = e[e.size - 1]
    if largest > 0.0:
        return 1
    return -1 if largest < 0.0 else 0


@allocating_subkernel
def _exact_side(ax: float, ay: float, bx: float, by: float, px: float, py: float) -> int:
    return _sign(
        _cross(_difference(bx, ax), _difference(by, ay), _difference(px, ax), _difference(py, ay))
    )


@allocating_subkernel
def _exact_circle(v: Position, a: Position, b: Position, p: Position) -> int:
    adx = _difference(a[0], v[0])
    ady = _difference(a[1], v[1])
    bdx = _difference(b[0], v[0])
    bdy = _difference(b[1], v[1])
    pdx = _difference(p[0], v[0])
    pdy = _difference(p[1], v[1])
    first = _times(_cross(bdx, bdy, pdx, pdy), _lift(adx, ady))
    second = _times(_cross(pdx, pdy, adx, ady), _lift(bdx, bdy))
    third = _times(_cross(adx, ady, bdx, bdy), _lift(pdx, pdy))
    return -_sign(_plus(_plus(first, second, 1.0), third, 1.0))
