"""The free area between obstacles as a mesh of triangles, with all points and sites among its corners."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pythoncdt
import shapely
from numpy.typing import NDArray
from shapely import Polygon

from vbas_desktop.model.regions import Obstacles

from .kernels.geodesic_waves import Mesh
from .region_graph import label_components
from .weak_cache import cached_per_object

_TOUCHING = 1e-9
"""Points nearer to an obstacle than this share of the whole extent lie on its edge."""

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Barriers:
    """Obstacles ready to be meshed: the area that they cover, and their lines (edges of areas included) cut wherever
    they meet, as places and pairs of places. Of the walls in a ``box`` only the free area inside of it is known.
    """

    area: shapely.Geometry
    vertices: Floats
    pairs: NDArray[np.int64]
    box: tuple[Floats, Floats] | None = None

    @cached_property
    def segments(self) -> NDArray[np.object_]:
        """Return the lines piece by piece."""
        return np.asarray(shapely.linestrings(self.vertices[self.pairs]))

    @cached_property
    def tree(self) -> shapely.STRtree:
        """Return the spatial index of the segments."""
        return shapely.STRtree(self.segments)

    def in_box(self, low: Floats, high: Floats) -> NDArray[np.intp]:
        """Flag the segments whose bounding box reaches into a box."""
        start = self.vertices[self.pairs[:, 0]]
        end = self.vertices[self.pairs[:, 1]]
        there = (np.minimum(start, end) <= high) & (np.maximum(start, end) >= low)
        return np.flatnonzero(there.all(axis=1))

    def only(self, segments: NDArray[np.intp], low: Floats, high: Floats) -> Barriers:
        """Restrict the walls to these segments, and add the edges of the box as walls."""
        used, pairs = np.unique(self.pairs[segments], return_inverse=True)
        edge = np.array([low, (high[0], low[1]), high, (low[0], high[1])])
        around = used.size + np.array([(0, 1), (1, 2), (2, 3), (3, 0)])
        vertices = np.concatenate((self.vertices[used], edge))
        return Barriers(self.area, vertices, np.concatenate((pairs.reshape(-1, 2), around)), (low, high))


@cached_per_object
def obstacle_barriers(obstacles: Obstacles) -> Barriers:
    """Build the walls of these obstacles, once for as long as they exist: runs on the same file share them."""
    return build_barriers(obstacles.shapes)


def build_barriers(shapes: NDArray[np.object_]) -> Barriers:
    """Clean and unite areas and lines, and cut them where they meet; points are no obstacles."""
    parts = shapely.get_parts(shapely.make_valid(shapes[~shapely.is_missing(shapes)]))
    while (shapely.get_type_id(parts) == shapely.GeometryType.GEOMETRYCOLLECTION).any():
        parts = shapely.get_parts(parts)
    if not len(parts):
        return Barriers(Polygon(), np.empty((0, 2)), np.empty((0, 2), np.int64))
    kinds = shapely.get_dimensions(parts)
    low_x, low_y, high_x, high_y = shapely.total_bounds(parts)
    # On a fine grid lines that meet do so exactly: a gap that only rounding made must not be a bridge.
    grid = _TOUCHING * max(high_x - low_x, high_y - low_y)
    area = shapely.union_all(parts[kinds == 2], grid_size=grid)
    lines = np.append(parts[kinds == 1], shapely.boundary(area))
    noded = shapely.get_parts(shapely.union_all(lines, grid_size=grid))
    noded = noded[~_inside(area, noded, grid)]
    xy, line = shapely.get_coordinates(noded, return_index=True)
    vertices, number = np.unique(xy, axis=0, return_inverse=True)
    number = number.ravel()
    same = line[1:] == line[:-1]
    pairs = np.sort(np.column_stack((number[:-1], number[1:]))[same], axis=1)
    return Barriers(area, vertices, np.unique(pairs[pairs[:, 0] != pairs[:, 1]], axis=0))


def _inside(area: shapely.Geometry, lines: NDArray[np.object_], grid: float) -> NDArray[np.bool_]:
    """Flag the lines that lie inside the area and not on its edge."""
    middle = shapely.line_interpolate_point(lines, 0.5, normalized=True)
    inside = np.asarray(shapely.contains(area, middle))
    edge = shapely.boundary(area)
    shapely.prepare(edge)
    inside[inside] = ~shapely.dwithin(edge, middle[inside], 2 * grid)
    return inside


@dataclass(frozen=True, eq=False)
class AnchoredPoints:
    """Points, of which those inside obstacles were moved to the nearest edge.

    points: float64 (n, 2). moved: bool (n,). on: int64 (n,), the piece of wall that a point stands on, or −1.
    """

    points: Floats
    moved: NDArray[np.bool_]
    on: NDArray[np.int64]


def anchor_points(walls: Barriers, points: Floats) -> AnchoredPoints:
    """Move covered points to the nearest edge."""
    on = np.full(len(points), -1, np.int64)
    if not len(walls.pairs):
        return AnchoredPoints(points, np.zeros(len(points), np.bool_), on)
    shapely.prepare(walls.area)
    moved = np.asarray(shapely.contains_properly(walls.area, shapely.points(points)))
    extent = float(np.ptp(np.concatenate((walls.vertices, points)), axis=0).max())
    segments = walls.segments
    tree = walls.tree
    near = tree.query(shapely.points(points), predicate="dwithin", distance=_TOUCHING * extent)[0]
    candidates = np.union1d(np.flatnonzero(moved), near)
    if not candidates.size:
        return AnchoredPoints(points, moved, on)
    index, segment = tree.query_nearest(shapely.points(points[candidates]), all_matches=False)
    ends = segments[segment]
    foot = shapely.line_interpolate_point(
        ends, shapely.line_locate_point(ends, shapely.points(points[candidates[index]]))
    )
    standing = points.copy()
    standing[candidates[index]] = shapely.get_coordinates(foot)
    on[candidates[index]] = segment
    return AnchoredPoints(standing, moved, on)


def _cut_walls(walls: Barriers, standing: AnchoredPoints) -> tuple[Floats, NDArray[np.int64]]:
    """Cut the walls wherever a point stands on them."""
    who = np.flatnonzero(standing.on >= 0)
    if not who.size:
        return walls.vertices, walls.pairs
    feet = np.unique(np.column_stack((standing.on[who], standing.points[who])), axis=0)
    on = feet[:, 0].astype(np.int64)
    start = walls.vertices[walls.pairs[on, 0]]
    end = walls.vertices[walls.pairs[on, 1]]
    along = ((feet[:, 1:] - start) * (end - start)).sum(axis=1)
    order = np.lexsort((along, on))
    feet = feet[order]
    on = on[order]
    number = len(walls.vertices) + np.arange(len(feet))
    last = np.append(on[1:] != on[:-1], True)
    initial = np.append(True, on[1:] != on[:-1])
    begins = np.where(initial, walls.pairs[on, 0], np.append(0, number[:-1]))
    pairs = [np.delete(walls.pairs, on, axis=0), np.column_stack((begins, number))]
    pairs.append(np.column_stack((number[last], walls.pairs[on[last], 1])))
    return np.concatenate((walls.vertices, feet[:, 1:])), np.concatenate(pairs)


@dataclass(frozen=True, eq=False)
class FreeArea:
    """The mesh, and where things are on it: the nodes of each place (``node_starts``, ``place_nodes``), the place of
    each point, and the connected part of the free area that each node is in.
    """

    mesh: Mesh
    node_starts: NDArray[np.int64]
    place_nodes: NDArray[np.int64]
    place_of: NDArray[np.int64]
    part: NDArray[np.int32]

    def nodes_of(self, points: slice) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
        """List the nodes of some of the points, and for each node the number of its point among them."""
        at = self.place_of[points]
        counts = self.node_starts[at + 1] - self.node_starts[at]
        offsets = np.arange(int(counts.sum())) - np.repeat(np.cumsum(counts) - counts, counts)
        nodes = self.place_nodes[np.repeat(self.node_starts[at], counts) + offsets]
        return nodes.astype(np.int64), np.repeat(np.arange(at.size, dtype=np.int32), counts)


def build_mesh(walls: Barriers, standing: AnchoredPoints) -> FreeArea:
    """Triangulate the free area with all standing points among the corners."""
    vertices, pairs = _cut_walls(walls, standing)
    low = np.concatenate((vertices, standing.points)).min(axis=0)
    high = np.concatenate((vertices, standing.points)).max(axis=0)
    margin = 0.05 * float((high - low).max()) or 1.0
    box = np.array(
        [
            (x, y)
            for x in (low[0] - margin, high[0] + margin)
            for y in (low[1] - margin, high[1] + margin)
        ]
    )
    every, number = np.unique(
        np.concatenate((vertices, standing.points, box)), axis=0, return_inverse=True
    )
    number = number.ravel()
    place_of = number[len(vertices) : len(vertices) + len(standing.points)]
    xy, triangles, fixed = _triangulate(every, number[: len(vertices)][pairs])
    triangles, beyond, facing = _drop_covered_triangles(walls, xy, triangles, fixed)
    return _split_nodes(xy, triangles, beyond, facing, len(every), place_of)


def _triangulate(
    vertices: Floats, pairs: NDArray[np.int64]
) -> tuple[Floats, NDArray[np.int64], NDArray[np.int64]]:
    """Triangulate (constrained Delaunay); return corners, triangles (counter-clockwise) and fixed edges."""
    triangulation: Any = pythoncdt.Triangulation(
        pythoncdt.VertexInsertionOrder.AUTO, pythoncdt.IntersectingConstraintEdges.TRY_RESOLVE, 0.0
    )
    triangulation.insert_vertices(np.ascontiguousarray(vertices))
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    if len(pairs):
        triangulation.insert_edges(np.ascontiguousarray(pairs, np.uint32))
    triangulation.erase_super_triangle()
    triangles = np.asarray(triangulation.triangles_array()["vertices"], np.int64)
    corners = triangulation.vertices_array()
    xy = np.column_stack((corners["x"], corners["y"]))
    fixed = np.array(
        [(edge.v1, edge.v2) for edge in triangulation.fixed_edges_iter()], np.int64
    ).reshape(-1, 2)
    return xy, triangles, fixed


def _drop_covered_triangles(
    walls: Barriers, xy: Floats, triangles: NDArray[np.int64], fixed: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Drop the triangles inside obstacles; return the others (t, 3), those across each edge, and their corners.

    A triangle across an edge is −1 where a wall is in between.
    """
    beyond, facing = _across(triangles, fixed, len(xy))
    size = len(triangles)
    t, i = np.nonzero(beyond >= 0)
    _, part = label_components((t, beyond[t, i]), size)
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
    is_free = free[part] & (surface > 0)
    renumbered = np.full(size + 1, -1, np.int64)
    renumbered[:-1][is_free] = np.arange(int(is_free.sum()))
    return triangles[is_free], renumbered[beyond[is_free]], facing[is_free]


def _across(
    triangles: NDArray[np.int64], fixed: NDArray[np.int64], n_vertices: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    edges = np.stack([triangles[:, [1, 2]], triangles[:, [2, 0]], triangles[:, [0, 1]]], axis=1).reshape(
        -1, 2
    )
    name = edges.min(axis=1) * n_vertices + edges.max(axis=1)
    order = np.argsort(name, kind="stable")
    same = name[order[1:]] == name[order[:-1]]
    left_edge = order[:-1][same]
    right_edge = order[1:][same]
    wall = (
        np.isin(name[left_edge], fixed.min(axis=1) * n_vertices + fixed.max(axis=1))
        if len(fixed)
        else np.zeros(left_edge.size, bool)
    )
    left_edge = left_edge[~wall]
    right_edge = right_edge[~wall]
    beyond = np.full(name.size, -1, np.int64)
    facing = np.zeros(name.size, np.int64)
    beyond[left_edge] = right_edge // 3
    beyond[right_edge] = left_edge // 3
    facing[left_edge] = right_edge % 3
    facing[right_edge] = left_edge % 3
    return beyond.reshape(-1, 3), facing.reshape(-1, 3)


def _split_nodes(
    xy: Floats,
    triangles: NDArray[np.int64],
    beyond: NDArray[np.int64],
    facing: NDArray[np.int64],
    n_vertices: int,
    place_of: NDArray[np.int64],
) -> FreeArea:
    """Split places into nodes, one for each side that is not joined around the place."""
    size = triangles.size
    t, i = np.nonzero(beyond >= 0)
    n = beyond[t, i]
    j = facing[t, i]
    # Across a common edge the next corner here is the next but one there, and the other way round.
    here = np.concatenate((3 * t + (i + 1) % 3, 3 * t + (i + 2) % 3))
    there = np.concatenate((3 * n + (j + 2) % 3, 3 * n + (j + 1) % 3))
    _, node = label_components((here, there), size)
    number = int(node.max()) + 1 if size else 0
    node_position = np.zeros(number, np.int64)
    node_position[node] = triangles.ravel()
    walled = np.zeros(number, np.bool_)
    t, i = np.nonzero(beyond < 0)
    for step in (1, 2):
        walled[node[3 * t + (i + step) % 3]] = True
    angle = np.bincount(node, _angles(xy, triangles).ravel(), minlength=number)
    order = np.argsort(node, kind="stable")
    starts = np.searchsorted(node[order], np.arange(number + 1))
    mesh = Mesh(
        x=xy[node_position, 0].copy(),
        y=xy[node_position, 1].copy(),
        corners=node.reshape(-1, 3).astype(np.int32),
        beyond=beyond.astype(np.int32),
        facing=facing.astype(np.int8),
        turns=walled & (angle > np.pi + 1e-9),
        starts=starts.astype(np.int32),
        around=order.astype(np.int32),
    )
    by_place = np.argsort(node_position, kind="stable")
    first_node, second_node, third_node = node.reshape(-1, 3).T
    _, part = label_components(
        (np.concatenate((first_node, second_node)), np.concatenate((second_node, third_node))), number
    )
    node_starts = np.searchsorted(node_position[by_place], np.arange(n_vertices + 1))
    # Places that the triangulation added, where edges cross, come last and stand for nothing.
    return FreeArea(mesh, node_starts, by_place[: node_starts[-1]], place_of, part)


def _angles(xy: Floats, triangles: NDArray[np.int64]) -> Floats:
    """Compute the angle at each corner."""
    angles = np.empty(triangles.shape)
    for i in range(3):
        first_side = xy[triangles[:, (i + 1) % 3]] - xy[triangles[:, i]]
        second_side = xy[triangles[:, (i + 2) % 3]] - xy[triangles[:, i]]
        angles[:, i] = np.arctan2(
            first_side[:, 0] * second_side[:, 1] - first_side[:, 1] * second_side[:, 0],
            (first_side * second_side).sum(axis=1),
        )
    return angles
