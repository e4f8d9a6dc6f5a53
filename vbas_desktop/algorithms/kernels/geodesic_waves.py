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

from .jit import kernel, subkernel

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
    """What is known so far: distance and site of each node, the waiting windows, and the heap of what is next.

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
        waves.key[at], waves.entry[at] = waves.key[above], waves.entry[above]
        at = above
    waves.key[at], waves.entry[at] = key, entry


@subkernel
def _pop(waves):  # type: ignore[no-untyped-def] # noqa: ANN001, ANN202
    first_key, first = waves.key[0], waves.entry[0]
    waves.counts[0] -= 1
    size = waves.counts[0]
    key, entry = waves.key[size], waves.entry[size]
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
        waves.key[at], waves.entry[at] = waves.key[below], waves.entry[below]
        at = below
    waves.key[at], waves.entry[at] = key, entry
    return first_key, first


@subkernel
def _length(x, y, u, v):  # type: ignore[no-untyped-def] # noqa: ANN001, ANN202
    return np.sqrt((x - u) * (x - u) + (y - v) * (y - v))


@subkernel
def _arrive(mesh, waves, node, distance, site):  # type: ignore[no-untyped-def] # noqa: ANN001, ANN202
    """A way to a node is known: if it is better, or as good from a site of lower number, it counts."""
    known = waves.distance[node]
    slack = _NEAR * distance
    if distance < known - slack or (distance <= known + slack and site < waves.site[node]):
        waves.distance[node] = min(distance, known)
        waves.site[node] = site
        if mesh.turns[node]:
            _push(waves, waves.distance[node], -node - 1)


@subkernel
def _nearest_on(x, y, ax, ay, bx, by):  # type: ignore[no-untyped-def] # noqa: ANN001, ANN202
    """Distance from a place to a stretch."""
    dx, dy = bx - ax, by - ay
    square = dx * dx + dy * dy
    part = 0.0 if square == 0.0 else ((x - ax) * dx + (y - ay) * dy) / square
    part = min(1.0, max(0.0, part))
    return _length(x, y, ax + part * dx, ay + part * dy)


@subkernel
def _send(mesh, waves, t, i, sx, sy, start, site, lx, ly, rx, ry, back):  # type: ignore[no-untyped-def] # noqa: ANN001, ANN202
    """Send a window out of triangle t across the edge opposite to corner i, unless something better is known.

    ``back``: on which side of the window corner i lies, 1 left, −1 right; 0 if it is the source.
    """
    n = mesh.beyond[t, i]
    if n < 0 or (lx == rx and ly == ry):
        return
    # Seen from the source the edge runs from the next corner but one on the left to the next corner on the right.
    right, left, apex = mesh.corners[t, (i + 1) % 3], mesh.corners[t, (i + 2) % 3], mesh.corners[t, i]
    to_left, to_right = start + _length(sx, sy, lx, ly), start + _length(sx, sy, rx, ry)
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
    waves.ends[slot, 0], waves.ends[slot, 1], waves.ends[slot, 2], waves.ends[slot, 3] = lx, ly, rx, ry
    waves.source[slot, 0], waves.source[slot, 1], waves.source[slot, 2] = sx, sy, start
    waves.aim[slot, 0], waves.aim[slot, 1] = 3 * n + mesh.facing[t, i], site
    _push(waves, start + _nearest_on(sx, sy, lx, ly, rx, ry), slot)


@subkernel
def _begin(mesh, waves, node):  # type: ignore[no-untyped-def] # noqa: ANN001, ANN202
    """Begin waves at a node: along the edges, and across the edges opposite to it."""
    x, y, start, site = mesh.x[node], mesh.y[node], waves.distance[node], waves.site[node]
    for at in range(mesh.starts[node], mesh.starts[node + 1]):
        t, i = mesh.around[at] // 3, mesh.around[at] % 3
        right, left = mesh.corners[t, (i + 1) % 3], mesh.corners[t, (i + 2) % 3]
        for other in (right, left):
            _arrive(mesh, waves, other, start + _length(x, y, mesh.x[other], mesh.y[other]), site)
    for at in range(mesh.starts[node], mesh.starts[node + 1]):
        t, i = mesh.around[at] // 3, mesh.around[at] % 3
        right, left = mesh.corners[t, (i + 1) % 3], mesh.corners[t, (i + 2) % 3]
        _send(
            mesh, waves, t, i, x, y, start, site,
            mesh.x[left], mesh.y[left], mesh.x[right], mesh.y[right], 0,
        )  # fmt: skip


@subkernel
def _cross(ax, ay, bx, by):  # type: ignore[no-untyped-def] # noqa: ANN001, ANN202
    return ax * by - ay * bx


@subkernel
def _hit(sx, sy, ex, ey, px, py, qx, qy):  # type: ignore[no-untyped-def] # noqa: ANN001, ANN202
    """Where the ray from s through e meets the stretch from p to q."""
    p, q = _cross(ex - sx, ey - sy, px - sx, py - sy), _cross(ex - sx, ey - sy, qx - sx, qy - sy)
    part = 0.0 if p == q else p / (p - q)
    part = min(1.0, max(0.0, part))
    if part == 1.0:
        return qx, qy
    return px + part * (qx - px), py + part * (qy - py)


@subkernel
def _enter(mesh, waves, slot):  # type: ignore[no-untyped-def] # noqa: ANN001, ANN202
    """A window enters a triangle: it may reach the corner in front, and goes on across one or both other edges."""
    lx, ly, rx, ry = waves.ends[slot, 0], waves.ends[slot, 1], waves.ends[slot, 2], waves.ends[slot, 3]
    sx, sy, start = waves.source[slot, 0], waves.source[slot, 1], waves.source[slot, 2]
    t, i, site = waves.aim[slot, 0] // 3, waves.aim[slot, 0] % 3, waves.aim[slot, 1]
    waves.free[waves.counts[1]] = slot
    waves.counts[1] += 1
    front = mesh.corners[t, i]
    # Of the edge it comes through, the next corner is on the left and the next but one on the right.
    left, right = mesh.corners[t, (i + 1) % 3], mesh.corners[t, (i + 2) % 3]
    to_left, to_right = start + _length(sx, sy, lx, ly), start + _length(sx, sy, rx, ry)
    d = waves.distance
    if d[left] + _length(mesh.x[left], mesh.y[left], rx, ry) < to_right * (1 - _NEAR):
        return
    if d[right] + _length(mesh.x[right], mesh.y[right], lx, ly) < to_left * (1 - _NEAR):
        return
    cx, cy = mesh.x[front], mesh.y[front]
    from_left = _cross(lx - sx, ly - sy, cx - sx, cy - sy)
    from_right = _cross(rx - sx, ry - sy, cx - sx, cy - sy)
    size = abs(cx - sx) + abs(cy - sy)
    slack_left = _NEAR * size * (abs(lx - sx) + abs(ly - sy))
    slack_right = _NEAR * size * (abs(rx - sx) + abs(ry - sy))
    if from_left <= slack_left and from_right >= -slack_right:
        _arrive(mesh, waves, front, start + _length(sx, sy, cx, cy), site)
    ux, uy, wx, wy = mesh.x[left], mesh.y[left], mesh.x[right], mesh.y[right]
    if from_left < 0.0:
        # Something of it passes on the left of the corner in front.
        ax, ay = _hit(sx, sy, lx, ly, ux, uy, cx, cy)
        bx, by = (cx, cy) if from_right >= 0.0 else _hit(sx, sy, rx, ry, ux, uy, cx, cy)
        _send(mesh, waves, t, (i + 2) % 3, sx, sy, start, site, ax, ay, bx, by, -1)
    if from_right > 0.0:
        ax, ay = (cx, cy) if from_left <= 0.0 else _hit(sx, sy, lx, ly, cx, cy, wx, wy)
        bx, by = _hit(sx, sy, rx, ry, cx, cy, wx, wy)
        _send(mesh, waves, t, (i + 1) % 3, sx, sy, start, site, ax, ay, bx, by, 1)


@kernel
def begin_at(mesh, waves, nodes, sites):  # type: ignore[no-untyped-def] # noqa: ANN001, ANN201
    """Put sites at nodes; of several at one node the lowest number counts."""
    for at in range(nodes.size):
        node = nodes[at]
        if waves.distance[node] > 0.0 or sites[at] < waves.site[node]:
            waves.distance[node], waves.site[node] = 0.0, sites[at]
            _push(waves, 0.0, -node - 1)


@kernel
def run_on(mesh, waves, most, far):  # type: ignore[no-untyped-def] # noqa: ANN001, ANN201
    """Go on for so many steps. Returns 0 when all nodes up to this distance are known, 1 if room is short, else 2; and
    the distance reached.
    """
    reached = 0.0
    room = waves.key.size
    for _ in range(most):
        if waves.counts[0] == 0 or waves.key[0] > far:
            return 0, reached
        first = waves.entry[0]
        wanted = 4
        if first < 0:
            wanted = 4 * (mesh.starts[-first] - mesh.starts[-first - 1]) + 4
        if waves.counts[1] < wanted or waves.counts[0] + wanted >= room:
            return 1, reached
        reached, entry = _pop(waves)
        if entry >= 0:
            _enter(mesh, waves, entry)
        elif reached <= waves.distance[-entry - 1]:
            _begin(mesh, waves, -entry - 1)
    return 2, reached
