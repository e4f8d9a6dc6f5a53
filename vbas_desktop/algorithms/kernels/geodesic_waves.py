"""Exact distances from many sites at once, as waves that run over a mesh of triangles.

A *window* is the part of an edge that a source (a site, or a corner of an obstacle) sees straight ahead. Windows run
from triangle to triangle, nearest first; at corners of obstacles new waves begin. A window is dropped where a corner
of its triangle is known to be a better start for everything beyond. Nodes are the places of the mesh; a place at which
obstacles meet is several nodes, one for each side.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from vbas_desktop.model.progress import Progress

from .jit import kernel, prepare, subkernel

_NEAR = 1e-11
"""Lengths that differ by less than this share of themselves are equal."""


class Mesh(NamedTuple):
    """``corners[t]`` are the nodes of a triangle, counter-clockwise; ``beyond[t, i]`` is the triangle across the edge
    opposite to corner i (−1: an obstacle), ``facing[t, i]`` its corner on the other side. ``turns[v]``: ways may turn
    at node v. ``starts`` and ``around`` list the triangles (3 t + i) at each node.
    """

    x: NDArray[np.float64]
    y: NDArray[np.float64]
    corners: NDArray[np.int32]
    beyond: NDArray[np.int32]
    facing: NDArray[np.int8]
    turns: NDArray[np.bool_]
    starts: NDArray[np.int32]
    around: NDArray[np.int32]


class Waves(NamedTuple):
    """State of the search: distance and site of each node, the waiting windows, and the heap of what is next.

    A row of ``ends`` is the left end (x, y) and the right end of a window, a row of ``source`` the x, y of its source
    and the distance there; ``aim`` is the triangle it enters (3 t + i, across the edge opposite to corner i) and its
    site. ``counts`` are: entries of the heap, free slots.
    """

    distance: NDArray[np.float64]
    site: NDArray[np.int32]
    ends: NDArray[np.float64]
    source: NDArray[np.float64]
    aim: NDArray[np.int32]
    free: NDArray[np.int32]
    key: NDArray[np.float64]
    entry: NDArray[np.int32]
    counts: NDArray[np.int64]


@subkernel
def _push(waves, key, entry):  # type: ignore[no-untyped-def] # noqa: ANN001, ANN202
    at = waves.counts[0]
    waves.counts[0] += 1
    while at > 0:
        above = (at - 1) >> 1
        if waves.key[above] < key or (waves.key[above] == key and waves.entry[above] <= entry):
            break
        waves.key[at] = waves.key[above]
        waves.entry[at] = waves.entry[above]
        at = above
    waves.key[at] = key
    waves.entry[at] = entry


@subkernel
def _pop(waves):  # type: ignore[no-untyped-def] # noqa: ANN001, ANN202
    first_key = waves.key[0]
    first = waves.entry[0]
    waves.counts[0] -= 1
    size = waves.counts[0]
    key = waves.key[size]
    entry = waves.entry[size]
    at = 0
    while True:
        below = 2 * at + 1
        if below >= size:
            break
        other = below + 1
        if other < size and (
            waves.key[other] < waves.key[below]
            or (waves.key[other] == waves.key[below] and waves.entry[other] < waves.entry[below])
        ):
            below = other
        if key < waves.key[below] or (key == waves.key[below] and entry <= waves.entry[below]):
            break
        waves.key[at] = waves.key[below]
        waves.entry[at] = waves.entry[below]
        at = below
    waves.key[at] = key
    waves.entry[at] = entry
    return first_key, first


@subkernel
def _length(x, y, u, v):  # type: ignore[no-untyped-def] # noqa: ANN001, ANN202
    return np.sqrt((x - u) * (x - u) + (y - v) * (y - v))


@subkernel
def _arrive(mesh, waves, node, distance, site):  # type: ignore[no-untyped-def] # noqa: ANN001, ANN202
    """Note a way to a node if it is better than the known one, or as good from a site of lower number."""
    best = waves.distance[node]
    slack = _NEAR * distance
    if distance < best - slack or (distance <= best + slack and site < waves.site[node]):
        waves.distance[node] = min(distance, best)
        waves.site[node] = site
        if mesh.turns[node]:
            _push(waves, waves.distance[node], -node - 1)


@subkernel
def _nearest_on(x, y, ax, ay, bx, by):  # type: ignore[no-untyped-def] # noqa: ANN001, ANN202
    """Compute the distance from a position to a segment."""
    dx = bx - ax
    dy = by - ay
    square = dx * dx + dy * dy
    part = 0.0 if square == 0.0 else ((x - ax) * dx + (y - ay) * dy) / square
    part = min(1.0, max(0.0, part))
    return _length(x, y, ax + part * dx, ay + part * dy)


@subkernel
def _send(mesh, waves, entrance, source, left_end, right_end, back):  # type: ignore[no-untyped-def] # noqa: ANN001, ANN202
    """Send a window out of a triangle across one of its edges, unless something better is known.

    entrance: 3 t + i for triangle t and the edge opposite to its corner i. source: x, y, distance there, site.
    left_end, right_end: x, y of the ends of the window. back: on which side of the window corner i lies, 1 left,
    −1 right; 0 if it is the source.
    """
    t = entrance // 3
    i = entrance % 3
    n = mesh.beyond[t, i]
    lx, ly = left_end
    rx, ry = right_end
    if n < 0 or (lx == rx and ly == ry):
        return
    sx, sy, start, site = source
    # Seen from the source the edge runs from the next corner but one on the left to the next corner on the right.
    right = mesh.corners[t, (i + 1) % 3]
    left = mesh.corners[t, (i + 2) % 3]
    apex = mesh.corners[t, i]
    to_left = start + _length(sx, sy, lx, ly)
    to_right = start + _length(sx, sy, rx, ry)
    d = waves.distance
    if d[left] + _length(mesh.x[left], mesh.y[left], rx, ry) < to_right * (1 - _NEAR):
        return
    if d[right] + _length(mesh.x[right], mesh.y[right], lx, ly) < to_left * (1 - _NEAR):
        return
    if back == 1 and d[apex] + _length(mesh.x[apex], mesh.y[apex], rx, ry) < to_right * (1 - _NEAR):
        return
    if back == -1 and d[apex] + _length(mesh.x[apex], mesh.y[apex], lx, ly) < to_left * (1 - _NEAR):
        return
    waves.counts[1] -= 1
    slot = waves.free[waves.counts[1]]
    waves.ends[slot, 0] = lx
    waves.ends[slot, 1] = ly
    waves.ends[slot, 2] = rx
    waves.ends[slot, 3] = ry
    waves.source[slot, 0] = sx
    waves.source[slot, 1] = sy
    waves.source[slot, 2] = start
    waves.aim[slot, 0] = 3 * n + mesh.facing[t, i]
    waves.aim[slot, 1] = site
    _push(waves, start + _nearest_on(sx, sy, lx, ly, rx, ry), slot)


@subkernel
def _begin(mesh, waves, node):  # type: ignore[no-untyped-def] # noqa: ANN001, ANN202
    """Begin waves at a node: along the edges, and across the edges opposite to it."""
    x = mesh.x[node]
    y = mesh.y[node]
    start = waves.distance[node]
    site = waves.site[node]
    for at in range(mesh.starts[node], mesh.starts[node + 1]):
        t = mesh.around[at] // 3
        i = mesh.around[at] % 3
        right = mesh.corners[t, (i + 1) % 3]
        left = mesh.corners[t, (i + 2) % 3]
        for other in (right, left):
            _arrive(mesh, waves, other, start + _length(x, y, mesh.x[other], mesh.y[other]), site)
    for at in range(mesh.starts[node], mesh.starts[node + 1]):
        t = mesh.around[at] // 3
        i = mesh.around[at] % 3
        right = mesh.corners[t, (i + 1) % 3]
        left = mesh.corners[t, (i + 2) % 3]
        left_end = (mesh.x[left], mesh.y[left])
        right_end = (mesh.x[right], mesh.y[right])
        _send(mesh, waves, 3 * t + i, (x, y, start, site), left_end, right_end, 0)


@subkernel
def _cross(ax, ay, bx, by):  # type: ignore[no-untyped-def] # noqa: ANN001, ANN202
    return ax * by - ay * bx


@subkernel
def _hit(s, e, p, q):  # type: ignore[no-untyped-def] # noqa: ANN001, ANN202
    """Find where the ray from s through e meets the segment from p to q; all are pairs (x, y)."""
    left = _cross(e[0] - s[0], e[1] - s[1], p[0] - s[0], p[1] - s[1])
    right = _cross(e[0] - s[0], e[1] - s[1], q[0] - s[0], q[1] - s[1])
    part = 0.0 if left == right else left / (left - right)
    part = min(1.0, max(0.0, part))
    if part == 1.0:
        return q
    return p[0] + part * (q[0] - p[0]), p[1] + part * (q[1] - p[1])


@subkernel
def _enter(mesh, waves, slot):  # type: ignore[no-untyped-def] # noqa: ANN001, ANN202
    """Let a window enter a triangle: it may reach the corner in front, and goes on across one or both other edges."""
    lx = waves.ends[slot, 0]
    ly = waves.ends[slot, 1]
    rx = waves.ends[slot, 2]
    ry = waves.ends[slot, 3]
    sx = waves.source[slot, 0]
    sy = waves.source[slot, 1]
    start = waves.source[slot, 2]
    t = waves.aim[slot, 0] // 3
    i = waves.aim[slot, 0] % 3
    site = waves.aim[slot, 1]
    waves.free[waves.counts[1]] = slot
    waves.counts[1] += 1
    front = mesh.corners[t, i]
    # Of the edge it comes through, the next corner is on the left and the next but one on the right.
    left = mesh.corners[t, (i + 1) % 3]
    right = mesh.corners[t, (i + 2) % 3]
    to_left = start + _length(sx, sy, lx, ly)
    to_right = start + _length(sx, sy, rx, ry)
    d = waves.distance
    if d[left] + _length(mesh.x[left], mesh.y[left], rx, ry) < to_right * (1 - _NEAR):
        return
    if d[right] + _length(mesh.x[right], mesh.y[right], lx, ly) < to_left * (1 - _NEAR):
        return
    cx = mesh.x[front]
    cy = mesh.y[front]
    from_left = _cross(lx - sx, ly - sy, cx - sx, cy - sy)
    from_right = _cross(rx - sx, ry - sy, cx - sx, cy - sy)
    size = abs(cx - sx) + abs(cy - sy)
    slack_left = _NEAR * size * (abs(lx - sx) + abs(ly - sy))
    slack_right = _NEAR * size * (abs(rx - sx) + abs(ry - sy))
    if from_left <= slack_left and from_right >= -slack_right:
        _arrive(mesh, waves, front, start + _length(sx, sy, cx, cy), site)
    seen_from = (sx, sy)
    left_end = (lx, ly)
    right_end = (rx, ry)
    left_corner = (mesh.x[left], mesh.y[left])
    right_corner = (mesh.x[right], mesh.y[right])
    corner = (cx, cy)
    source = (sx, sy, start, site)
    if from_left < 0.0:
        # Something of it passes on the left of the corner in front.
        begin = _hit(seen_from, left_end, left_corner, corner)
        end = corner if from_right >= 0.0 else _hit(seen_from, right_end, left_corner, corner)
        _send(mesh, waves, 3 * t + (i + 2) % 3, source, begin, end, -1)
    if from_right > 0.0:
        begin = corner if from_left <= 0.0 else _hit(seen_from, left_end, corner, right_corner)
        end = _hit(seen_from, right_end, corner, right_corner)
        _send(mesh, waves, 3 * t + (i + 1) % 3, source, begin, end, 1)


def prepare_waves(
    mesh: Mesh, waves: Waves, nodes: NDArray[np.integer], sites: NDArray[np.integer], progress: Progress
) -> None:
    """Compile `begin_at` and `run_on` for these arguments, or load them from the cache, while a stop is obeyed."""
    prepare(progress, begin_at, mesh, waves, nodes, sites)
    prepare(progress, run_on, mesh, waves, 0, 0.0)


@kernel
def begin_at(mesh, waves, nodes, sites):  # type: ignore[no-untyped-def] # noqa: ANN001, ANN201
    """Put sites at nodes; of several at one node the lowest number counts."""
    for at in range(nodes.size):
        node = nodes[at]
        if waves.distance[node] > 0.0 or sites[at] < waves.site[node]:
            waves.distance[node] = 0.0
            waves.site[node] = sites[at]
            _push(waves, 0.0, -node - 1)


@kernel
def run_on(mesh, waves, most, far):  # type: ignore[no-untyped-def] # noqa: ANN001, ANN201
    """Propagate the waves for at most ``most`` steps, up to the distance ``far``.

    Returns the state (0: all nodes up to this distance are reached, 1: the arrays are too small, 2: not done) and the
    distance reached.
    """
    reached = 0.0
    capacity = waves.key.size
    for _ in range(most):
        if waves.counts[0] == 0 or waves.key[0] > far:
            return 0, reached
        first = waves.entry[0]
        needed = 4
        if first < 0:
            needed = 4 * (mesh.starts[-first] - mesh.starts[-first - 1]) + 4
        if waves.counts[1] < needed or waves.counts[0] + needed >= capacity:
            return 1, reached
        reached, entry = _pop(waves)
        if entry >= 0:
            _enter(mesh, waves, entry)
        elif reached <= waves.distance[-entry - 1]:
            _begin(mesh, waves, -entry - 1)
    return 2, reached
