"""The free area between obstacles as a mesh of triangles, with all points and sites among its corners."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import shapely
from numpy.typing import NDArray
from shapely import Polygon

from vbas_desktop.model.regions import Obstacles

from .adjacency import connected_parts
from .kernels.geodesic_waves import Mesh
from .remembered import remembered

_TOUCHING = 1e-9
"""Points nearer to an obstacle than this share of the whole extent lie on its edge."""

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Walls:
    """Obstacles ready to be meshed: the area that they cover, and their lines (edges of areas included) cut wherever
    they meet, as places and pairs of places. Of the walls in a ``box`` only the free area inside of it is known.
    """

    area: shapely.Geometry
    places: Floats
    pairs: NDArray[np.int64]
    box: tuple[Floats, Floats] | None = None

    @cached_property
    def segments(self) -> NDArray[np.object_]:
        """The lines piece by piece."""
        return np.asarray(shapely.linestrings(self.places[self.pairs]))

    @cached_property
    def tree(self) -> shapely.STRtree:
        """Finds segments by where they are."""
        return shapely.STRtree(self.segments)

    def in_box(self, low: Floats, high: Floats) -> NDArray[np.intp]:
        """Which segments reach into a box, at least with the rectangle around them."""
        start, end = self.places[self.pairs[:, 0]], self.places[self.pairs[:, 1]]
        there = (np.minimum(start, end) <= high) & (np.maximum(start, end) >= low)
        return np.flatnonzero(there.all(axis=1))

    def only(self, segments: NDArray[np.intp], low: Floats, high: Floats) -> Walls:
        """These segments, first, and the edges of the box as walls."""
        used, pairs = np.unique(self.pairs[segments], return_inverse=True)
        edge = np.array([low, (high[0], low[1]), high, (low[0], high[1])])
        around = used.size + np.array([(0, 1), (1, 2), (2, 3), (3, 0)])
        places = np.concatenate((self.places[used], edge))
        return Walls(self.area, places, np.concatenate((pairs.reshape(-1, 2), around)), (low, high))


@remembered
def known_walls(obstacles: Obstacles) -> Walls:
    """The walls of these obstacles, made once for as long as they are there: runs on the same file share them."""
    return walls_of(obstacles.shapes)


def walls_of(shapes: NDArray[np.object_]) -> Walls:
    """Areas and lines, cleaned, put together, and cut where they meet; points are no obstacles."""
    parts = shapely.get_parts(shapely.make_valid(shapes[~shapely.is_missing(shapes)]))
    while (shapely.get_type_id(parts) == shapely.GeometryType.GEOMETRYCOLLECTION).any():
        parts = shapely.get_parts(parts)
    if not len(parts):
        return Walls(Polygon(), np.empty((0, 2)), np.empty((0, 2), np.int64))
    kinds = shapely.get_dimensions(parts)
    low_x, low_y, high_x, high_y = shapely.total_bounds(parts)
    # On a fine grid lines that meet do so exactly: a gap that only rounding made must not be a bridge.
    grid = _TOUCHING * max(high_x - low_x, high_y - low_y)
    area = shapely.union_all(parts[kinds == 2], grid_size=grid)
    lines = np.append(parts[kinds == 1], shapely.boundary(area))
    noded = shapely.get_parts(shapely.union_all(lines, grid_size=grid))
    noded = noded[~_inside(area, noded, grid)]
    xy, line = shapely.get_coordinates(noded, return_index=True)
    places, number = np.unique(xy, axis=0, return_inverse=True)
    number = number.ravel()
    same = line[1:] == line[:-1]
    pairs = np.sort(np.column_stack((number[:-1], number[1:]))[same], axis=1)
    return Walls(area, places, np.unique(pairs[pairs[:, 0] != pairs[:, 1]], axis=0))


def _inside(area: shapely.Geometry, lines: NDArray[np.object_], grid: float) -> NDArray[np.bool_]:
    """Which lines lie inside the area and not on its edge."""
    middle = shapely.line_interpolate_point(lines, 0.5, normalized=True)
    inside = np.asarray(shapely.contains(area, middle))
    edge = shapely.boundary(area)
    shapely.prepare(edge)
    inside[inside] = ~shapely.dwithin(edge, middle[inside], 2 * grid)
    return inside


@dataclass(frozen=True, eq=False)
class Standing:
    """Where points are after those inside obstacles went to the nearest edge. ``on[i]`` is the piece of wall that
    point i stands on, or −1.
    """

    points: Floats
    moved: NDArray[np.bool_]
    on: NDArray[np.int64]


def stand(walls: Walls, points: Floats) -> Standing:
    """Move covered points to the nearest edge."""
    on = np.full(len(points), -1, np.int64)
    if not len(walls.pairs):
        return Standing(points, np.zeros(len(points), np.bool_), on)
    shapely.prepare(walls.area)
    moved = np.asarray(shapely.contains_properly(walls.area, shapely.points(points)))
    extent = float(np.ptp(np.concatenate((walls.places, points)), axis=0).max())
    segments, tree = walls.segments, walls.tree
    near = tree.query(shapely.points(points), predicate="dwithin", distance=_TOUCHING * extent)[0]
    asked = np.union1d(np.flatnonzero(moved), near)
    if not asked.size:
        return Standing(points, moved, on)
    index, segment = tree.query_nearest(shapely.points(points[asked]), all_matches=False)
    place = segments[segment]
    foot = shapely.line_interpolate_point(place, shapely.line_locate_point(place, shapely.points(points[asked[index]])))
    standing = points.copy()
    standing[asked[index]] = shapely.get_coordinates(foot)
    on[asked[index]] = segment
    return Standing(standing, moved, on)


def _cut_walls(walls: Walls, standing: Standing) -> tuple[Floats, NDArray[np.int64]]:
    """The walls with a place wherever a point stands on them."""
    who = np.flatnonzero(standing.on >= 0)
    if not who.size:
        return walls.places, walls.pairs
    feet = np.unique(np.column_stack((standing.on[who], standing.points[who])), axis=0)
    on = feet[:, 0].astype(np.int64)
    start, end = walls.places[walls.pairs[on, 0]], walls.places[walls.pairs[on, 1]]
    along = ((feet[:, 1:] - start) * (end - start)).sum(axis=1)
    order = np.lexsort((along, on))
    feet, on = feet[order], on[order]
    number = len(walls.places) + np.arange(len(feet))
    last = np.append(on[1:] != on[:-1], True)
    initial = np.append(True, on[1:] != on[:-1])
    begins = np.where(initial, walls.pairs[on, 0], np.append(0, number[:-1]))
    pairs = [np.delete(walls.pairs, on, axis=0), np.column_stack((begins, number))]
    pairs.append(np.column_stack((number[last], walls.pairs[on[last], 1])))
    return np.concatenate((walls.places, feet[:, 1:])), np.concatenate(pairs)


@dataclass(frozen=True, eq=False)
class Area:
    """The mesh, and where things are on it: the nodes of each place (``node_starts``, ``place_nodes``), the place of
    each point, and the connected part of the free area that each node is in.
    """

    mesh: Mesh
    node_starts: NDArray[np.int64]
    place_nodes: NDArray[np.int64]
    place_of: NDArray[np.int64]
    part: NDArray[np.int32]

    def nodes_of(self, points: slice) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
        """The nodes of some of the points, and the number of the point among them that each is of."""
        at = self.place_of[points]
        counts = self.node_starts[at + 1] - self.node_starts[at]
        offsets = np.arange(int(counts.sum())) - np.repeat(np.cumsum(counts) - counts, counts)
        nodes = self.place_nodes[np.repeat(self.node_starts[at], counts) + offsets]
        return nodes.astype(np.int64), np.repeat(np.arange(at.size, dtype=np.int32), counts)


def mesh_of(walls: Walls, standing: Standing) -> Area:
    """Triangulate the free area with all standing points among the corners."""
    places, pairs = _cut_walls(walls, standing)
    low = np.concatenate((places, standing.points)).min(axis=0)
    high = np.concatenate((places, standing.points)).max(axis=0)
    margin = 0.05 * float((high - low).max()) or 1.0
    box = np.array([(x, y) for x in (low[0] - margin, high[0] + margin) for y in (low[1] - margin, high[1] + margin)])
    every, number = np.unique(np.concatenate((places, standing.points, box)), axis=0, return_inverse=True)
    number = number.ravel()
    place_of = number[len(places) : len(places) + len(standing.points)]
    xy, triangles, fixed = _triangulated(every, number[: len(places)][pairs])
    triangles, beyond, facing = _without_covered(walls, xy, triangles, fixed)
    return _noded(xy, triangles, beyond, facing, len(every), place_of)


def _triangulated(places: Floats, pairs: NDArray[np.int64]) -> tuple[Floats, NDArray[np.int64], NDArray[np.int64]]:
    """Corners, triangles (counter-clockwise) and fixed edges of the constrained Delaunay triangulation."""
    import pythoncdt as cdt

    made: Any = cdt.Triangulation(cdt.VertexInsertionOrder.AUTO, cdt.IntersectingConstraintEdges.TRY_RESOLVE, 0.0)
    made.insert_vertices(np.ascontiguousarray(places))
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    if len(pairs):
        made.insert_edges(np.ascontiguousarray(pairs, np.uint32))
    made.erase_super_triangle()
    triangles = np.asarray(made.triangles_array()["vertices"], np.int64)
    corners = made.vertices_array()
    xy = np.column_stack((corners["x"], corners["y"]))
    fixed = np.array([(edge.v1, edge.v2) for edge in made.fixed_edges_iter()], np.int64).reshape(-1, 2)
    return xy, triangles, fixed


def _without_covered(
    walls: Walls, xy: Floats, triangles: NDArray[np.int64], fixed: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """The triangles of the free area; across which edge each has which other (−1: a wall), and its corner there."""
    beyond, facing = _across(triangles, fixed, len(xy))
    size = len(triangles)
    t, i = np.nonzero(beyond >= 0)
    _, part = connected_parts((t, beyond[t, i]), size)
    a, b, c = (xy[triangles[:, corner]] for corner in range(3))
    surface = (b[:, 0] - a[:, 0]) * (c[:, 1] - a[:, 1]) - (b[:, 1] - a[:, 1]) * (c[:, 0] - a[:, 0])
    # Each connected part is covered or free as a whole, so its largest triangle decides.
    order = np.lexsort((surface, part))
    largest = order[np.append(part[order][1:] != part[order][:-1], True)]
    middle = (a[largest] + b[largest] + c[largest]) / 3
    shapely.prepare(walls.area)
    free = ~np.asarray(shapely.contains_xy(walls.area, middle))
    if walls.box is not None:
        free &= ((middle > walls.box[0]) & (middle < walls.box[1])).all(axis=1)
    kept = free[part] & (surface > 0)
    renumbered = np.full(size + 1, -1, np.int64)
    renumbered[:-1][kept] = np.arange(int(kept.sum()))
    return triangles[kept], renumbered[beyond[kept]], facing[kept]


def _across(
    triangles: NDArray[np.int64], fixed: NDArray[np.int64], places: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    edges = np.stack([triangles[:, [1, 2]], triangles[:, [2, 0]], triangles[:, [0, 1]]], axis=1).reshape(-1, 2)
    name = edges.min(axis=1) * places + edges.max(axis=1)
    order = np.argsort(name, kind="stable")
    same = name[order[1:]] == name[order[:-1]]
    one, other = order[:-1][same], order[1:][same]
    wall = (
        np.isin(name[one], fixed.min(axis=1) * places + fixed.max(axis=1)) if len(fixed) else np.zeros(one.size, bool)
    )
    one, other = one[~wall], other[~wall]
    beyond, facing = np.full(name.size, -1, np.int64), np.zeros(name.size, np.int64)
    beyond[one], beyond[other] = other // 3, one // 3
    facing[one], facing[other] = other % 3, one % 3
    return beyond.reshape(-1, 3), facing.reshape(-1, 3)


def _noded(
    xy: Floats,
    triangles: NDArray[np.int64],
    beyond: NDArray[np.int64],
    facing: NDArray[np.int64],
    places: int,
    place_of: NDArray[np.int64],
) -> Area:
    """Split places into nodes, one for each side that is not joined around the place."""
    size = triangles.size
    t, i = np.nonzero(beyond >= 0)
    n, j = beyond[t, i], facing[t, i]
    # Across a common edge the next corner here is the next but one there, and the other way round.
    here = np.concatenate((3 * t + (i + 1) % 3, 3 * t + (i + 2) % 3))
    there = np.concatenate((3 * n + (j + 2) % 3, 3 * n + (j + 1) % 3))
    _, node = connected_parts((here, there), size)
    number = int(node.max()) + 1 if size else 0
    place = np.zeros(number, np.int64)
    place[node] = triangles.ravel()
    walled = np.zeros(number, np.bool_)
    t, i = np.nonzero(beyond < 0)
    for step in (1, 2):
        walled[node[3 * t + (i + step) % 3]] = True
    angle = np.bincount(node, _angles(xy, triangles).ravel(), minlength=number)
    order = np.argsort(node, kind="stable")
    starts = np.searchsorted(node[order], np.arange(number + 1))
    mesh = Mesh(
        x=xy[place, 0].copy(),
        y=xy[place, 1].copy(),
        corners=node.reshape(-1, 3).astype(np.int32),
        beyond=beyond.astype(np.int32),
        facing=facing.astype(np.int8),
        turns=walled & (angle > np.pi + 1e-9),
        starts=starts.astype(np.int32),
        around=order.astype(np.int32),
    )
    by_place = np.argsort(place, kind="stable")
    one, other, third = node.reshape(-1, 3).T
    _, part = connected_parts((np.concatenate((one, other)), np.concatenate((other, third))), number)
    node_starts = np.searchsorted(place[by_place], np.arange(places + 1))
    # Places that the triangulation added, where edges cross, come last and stand for nothing.
    return Area(mesh, node_starts, by_place[: node_starts[-1]], place_of, part)


def _angles(xy: Floats, triangles: NDArray[np.int64]) -> Floats:
    """The angle at each corner."""
    found = np.empty(triangles.shape)
    for i in range(3):
        one = xy[triangles[:, (i + 1) % 3]] - xy[triangles[:, i]]
        other = xy[triangles[:, (i + 2) % 3]] - xy[triangles[:, i]]
        found[:, i] = np.arctan2(one[:, 0] * other[:, 1] - one[:, 1] * other[:, 0], (one * other).sum(axis=1))
    return found
