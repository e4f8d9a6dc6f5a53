"""Which regions are neighbours, and into how many pieces groups of regions fall.

A graph is an (m, 2) array of pairs i < j, each once, in ascending order.
"""

from __future__ import annotations

import numpy as np
import shapely
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components
from scipy.spatial import Delaunay, QhullError

from vbas_desktop.domain.regions import Regions

Pairs = NDArray[np.int32]


def neighbours(regions: Regions) -> Pairs:
    """The graph of the initial regions: polygons with a common border, or the triangulation of the points."""
    if regions.polygons is not None and not shapely.is_missing(regions.polygons).any():
        return polygon_neighbours(regions.polygons)
    return point_neighbours(regions.points)


def polygon_neighbours(polygons: NDArray[np.object_]) -> Pairs:
    """Pairs of polygons that share a stretch of border; corners do not count.

    In a clean coverage common borders have the same vertices, so equal segments are enough; else geometry decides.
    """
    if shapely.coverage_is_valid(polygons):
        return _segment_neighbours(polygons)
    tree = shapely.STRtree(polygons)
    left, right = tree.query(polygons, predicate="intersects")
    one, other = left[left < right], right[left < right]
    common = shapely.intersection(shapely.boundary(polygons[one]), shapely.boundary(polygons[other]))
    overlap = shapely.length(common) > 0
    undecided = np.flatnonzero(~overlap)
    overlap[undecided] = shapely.area(shapely.intersection(polygons[one[undecided]], polygons[other[undecided]])) > 0
    return _pairs(one[overlap], other[overlap])


def point_neighbours(points: NDArray[np.float64]) -> Pairs:
    """Pairs of points whose Voronoi cells touch (Delaunay); points at one place, or all on one line, form a chain."""
    places, place = np.unique(points, axis=0, return_inverse=True)
    place = place.ravel()
    first = np.full(len(places), len(points), np.int64)
    np.minimum.at(first, place, np.arange(len(points)))
    one, other = _place_neighbours(places)
    order = np.lexsort((np.arange(len(points)), place))
    together = place[order[1:]] == place[order[:-1]]
    return _pairs(
        np.concatenate((first[one], order[:-1][together])), np.concatenate((first[other], order[1:][together]))
    )


def group_neighbours(pairs: Pairs, membership: NDArray[np.integer]) -> Pairs:
    """The graph of the groups: two are neighbours if members of theirs are."""
    groups = membership[pairs]
    between = groups[groups[:, 0] != groups[:, 1]]
    return _pairs(between[:, 0], between[:, 1])


def pieces(regions: Regions, membership: NDArray[np.integer], pairs: Pairs | None = None) -> NDArray[np.int32]:
    """Into how many pieces each aggregated region falls: 1 if it is contiguous.

    ``pairs`` are the neighbours of the initial regions if the caller has them already.
    """
    graph = neighbours(regions) if pairs is None else pairs
    inside = graph[membership[graph[:, 0]] == membership[graph[:, 1]]]
    size = len(membership)
    links = coo_array((np.ones(len(inside), np.int8), (inside[:, 0], inside[:, 1])), shape=(size, size))
    _, label = connected_components(links, directed=False)
    found = np.unique(np.column_stack((membership, label)), axis=0)[:, 0]
    number = int(membership.max()) + 1 if size else 0
    return np.bincount(found, minlength=number).astype(np.int32)


def _place_neighbours(places: NDArray[np.float64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Neighbours among distinct places, which `numpy.unique` has sorted by x, then y."""
    if len(places) >= 3:
        try:
            corners = Delaunay(places - places.mean(axis=0)).simplices.astype(np.int64)
        except QhullError:
            pass  # all on one line: each touches the next along it
        else:
            return corners[:, [0, 1, 2]].ravel(), corners[:, [1, 2, 0]].ravel()
    chain = np.arange(len(places))
    return chain[:-1], chain[1:]


def _segment_neighbours(polygons: NDArray[np.object_]) -> Pairs:
    parts, part_owner = shapely.get_parts(polygons, return_index=True)
    rings, ring_part = shapely.get_rings(parts, return_index=True)
    corners, ring = shapely.get_coordinates(rings, return_index=True)
    owner = part_owner[ring_part[ring]]
    start, end, same = corners[:-1], corners[1:], ring[:-1] == ring[1:]
    swapped = (start[:, 0] > end[:, 0]) | ((start[:, 0] == end[:, 0]) & (start[:, 1] > end[:, 1]))
    segments = np.where(swapped[:, None], np.hstack((end, start)), np.hstack((start, end)))[same]
    owner = owner[:-1][same]
    order = np.lexsort((owner, *segments.T))
    segments, owner = segments[order], owner[order]
    common = (segments[1:] == segments[:-1]).all(axis=1)
    return _pairs(owner[:-1][common], owner[1:][common])


def _pairs(one: NDArray[np.integer], other: NDArray[np.integer]) -> Pairs:
    different = one != other
    one, other = one[different], other[different]
    both = np.column_stack((np.minimum(one, other), np.maximum(one, other)))
    return np.unique(both, axis=0).astype(np.int32).reshape(-1, 2)
