"""The Voronoi diagram of points as polygons.

GEOS makes it quickly, but folds cells over where many points lie nearly on circles, as those of a grid of longitudes
and latitudes do once they are projected. Qhull, which merges what is nearly one vertex, takes over then.
"""

from __future__ import annotations

import numpy as np
import scipy
import shapely
from numpy.typing import NDArray

from .polygons import Shapes, explode_in_blocks

_FAR = 40.0
"""How far (in diagonals) the outer points lie that make every cell of the diagram finite."""

_EDGES = 500_000
"""Edges that are compared at a time."""

_SAME = 1e-12
"""Vertices nearer to each other than this share of the diagram are one."""


def voronoi_polygons(
    points: NDArray[np.float64], low: NDArray[np.float64], high: NDArray[np.float64]
) -> tuple[Shapes, bool]:
    """Compute the cell of each of several distinct points, reaching well beyond the box from ``low`` to ``high``.

    The second answer: the cells are known to be a valid coverage.
    """
    span = float(np.hypot(*(high - low))) or 1.0
    angle = np.arange(8) * (np.pi / 4) + 0.1
    outer = (low + high) / 2 + _FAR * span * np.column_stack((np.cos(angle), np.sin(angle)))
    everything = np.vstack((points, outer))
    all_cells = shapely.get_parts(
        shapely.voronoi_polygons(shapely.multipoints(everything), ordered=True)
    )
    cells = all_cells[: len(points)]
    if _is_sound(all_cells, cells, points):
        return cells, True
    return _by_qhull(everything, len(points)), False


def _is_sound(all_cells: Shapes, cells: Shapes, points: NDArray[np.float64]) -> bool:
    valid = shapely.is_valid(all_cells)
    return bool(
        valid[: len(cells)].all()
        and shapely.intersects_xy(cells, points[:, 0], points[:, 1]).all()
        and ((valid.all() and is_tiling(all_cells)) or shapely.coverage_is_valid(cells))
    )


def is_tiling(cells: Shapes) -> bool:
    """Test quickly whether valid cells without holes fill their bounding box exactly once.

    They do if every edge is there once more in the opposite direction, but for those that go around the box once: the
    number of turns that all cells together make around a point is then that of the box, which is one. (Cells that are
    no such neat tiling may still be a coverage, which takes longer to find out.)
    """
    coordinates, owner = explode_in_blocks(shapely.get_coordinates, cells)
    begins = np.flatnonzero(owner[:-1] == owner[1:])
    del owner
    # Equal edges have equal numbers, so edges can be compared part by part, with a part of the memory.
    blocks = range(0, begins.size, _EDGES)
    mixed = np.concatenate(
        [_hash_edges(_list_edges(coordinates, begins[start : start + _EDGES])[0]) for start in blocks]
        or [np.empty(0, np.uint64)]
    )
    parts = max(1, begins.size // _EDGES)
    around = []
    turns = []
    for part in range(parts):
        mine = np.flatnonzero(mixed % np.uint64(parts) == part)
        mine = mine[np.argsort(mixed[mine], kind="stable")]
        edges, turn = _list_edges(coordinates, begins[mine])
        again = np.flatnonzero((edges[:-1] == edges[1:]).all(axis=1))
        # Three equal edges are two pairs with one edge in common.
        if not ((np.diff(again) > 1).all() and (turn[again] + turn[again + 1] == 0).all()):
            return False
        alone = np.ones(len(edges), bool)
        alone[again] = False
        alone[again + 1] = False
        around.append(edges[alone])
        turns.append(turn[alone])
    return _goes_around(np.concatenate(around), np.concatenate(turns))


def _list_edges(
    coordinates: NDArray[np.float64], begins: NDArray[np.intp]
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Get the edges from some vertices to the next, from the lower end to the higher, and −1 if it was swapped."""
    start = coordinates[begins]
    end = coordinates[begins + 1]
    swapped = (start[:, 0] > end[:, 0]) | ((start[:, 0] == end[:, 0]) & (start[:, 1] > end[:, 1]))
    edges = np.hstack((start, end))
    edges[swapped] = np.hstack((end[swapped], start[swapped]))
    return edges, np.where(swapped, -1, 1)


def _hash_edges(edges: NDArray[np.float64]) -> NDArray[np.uint64]:
    """Hash each edge, so that equal edges come together when sorted."""
    words = (edges + 0.0).view(np.uint64)
    mixed = np.zeros(len(edges), np.uint64)
    for column in words.T:
        mixed = (mixed ^ column) * np.uint64(0x9E3779B97F4A7C15)
        mixed ^= mixed >> np.uint64(29)
    return mixed


def _goes_around(edges: NDArray[np.float64], turn: NDArray[np.int64]) -> bool:
    """Test whether edges go once around their bounding box, end to end and all in one direction."""
    low = edges.reshape(-1, 2).min(axis=0)
    high = edges.reshape(-1, 2).max(axis=0)
    step = (edges[:, 2:] - edges[:, :2]) * turn[:, None]
    sides = []
    for axis, border, sign in ((1, low, 1), (0, high, 1), (1, high, -1), (0, low, -1)):
        on_side = (edges[:, axis] == border[axis]) & (edges[:, axis + 2] == border[axis])
        along = step[on_side, 1 - axis] * sign
        if not ((along > 0).all() or (along < 0).all()):
            return False
        sides.append((int(on_side.sum()), float(along.sum()), float((high - low)[1 - axis])))
    total = sum(number for number, _, _ in sides)
    one_way = len({np.sign(length) for _, length, _ in sides}) == 1
    return (
        total == len(edges)
        and one_way
        and all(np.isclose(abs(length), side, 1e-9) for _, length, side in sides)
    )


def _by_qhull(points: NDArray[np.float64], number: int) -> Shapes:
    """Compute the cells of the first points; vertices in the order of their directions, as cells are convex."""
    middle = points.mean(axis=0)
    diagram = scipy.spatial.Voronoi(points - middle)
    vertices, same = _merge_points(diagram.vertices, _SAME * float(np.ptp(points)))
    cells = np.empty(number, object)
    for i in range(number):
        corners = vertices[np.unique(same[diagram.regions[diagram.point_region[i]]])]
        away = corners - (points[i] - middle)
        ring = corners[np.argsort(np.arctan2(away[:, 1], away[:, 0]))] + middle
        cells[i] = shapely.Polygon(ring) if len(ring) > 2 else shapely.Polygon()
    folded = ~shapely.is_valid(cells)
    cells[folded] = shapely.convex_hull(cells[folded])
    return cells


def _merge_points(
    vertices: NDArray[np.float64], width: float
) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
    _, first, same = np.unique(
        np.round(vertices / width), axis=0, return_index=True, return_inverse=True
    )
    return vertices[first], same.ravel()
