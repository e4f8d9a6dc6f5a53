"""Which regions are neighbours, the connected parts of a graph, and into how many pieces groups of regions fall.

A graph is an (m, 2) array of pairs i < j, each once, in ascending order.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise

import numpy as np
import scipy
import shapely
from numpy.typing import NDArray

from vbas_desktop.model.records import frozen
from vbas_desktop.model.regions import Regions

from .coverage import clean_coverage
from .places import distinct_pairs, place_numbers
from .remembered import remembered
from .shape_blocks import take_apart

Pairs = NDArray[np.int32]


def neighbours(regions: Regions, clean: bool = False) -> Pairs:
    """The graph of the initial regions: polygons with a common border, or the triangulation of the points.

    ``clean``: the polygons are known to be a valid coverage, which is costly to find out.
    """
    if regions.polygons is not None and not shapely.is_missing(regions.polygons).any():
        return polygon_neighbours(regions.polygons, clean)
    return point_neighbours(regions.points)


@remembered
def _neighbours_once(regions: Regions) -> Pairs:
    return frozen(neighbours(regions))


def known_neighbours(regions: Regions) -> Pairs:
    """The graph of the initial regions, found once for as long as the regions are there."""
    if regions.whole is not None and regions.polygons is not None:
        return _restricted(known_neighbours(regions.whole[0]), len(regions.whole[0]), regions.whole[1])
    return _neighbours_once(regions)


def _restricted(pairs: Pairs, number: int, members: NDArray[np.intp]) -> Pairs:
    """The pairs among some of the regions, by their numbers there."""
    own = np.full(number, -1, np.int32)
    own[members] = np.arange(members.size, dtype=np.int32)
    inside = own[pairs]
    inside = inside[(inside >= 0).all(axis=1)]
    return _pairs(inside[:, 0], inside[:, 1])


def polygon_neighbours(polygons: NDArray[np.object_], clean: bool = False) -> Pairs:
    """Pairs of polygons that share a stretch of border; corners do not count.

    In a clean coverage common borders have the same vertices, so equal segments are enough; if the polygons cannot be
    cleaned, geometry decides. ``clean``: they are known to be a valid coverage.
    """
    cleaned, valid = (polygons, True) if clean else clean_coverage(polygons)
    if valid:
        return _segment_neighbours(cleaned)
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
    first, place = place_numbers(points)
    one, other = _place_neighbours(points[first])
    order = np.argsort(place, kind="stable")
    together = place[order[1:]] == place[order[:-1]]
    return _pairs(
        np.concatenate((first[one], order[:-1][together])), np.concatenate((first[other], order[1:][together]))
    )


def adjacency_lists(pairs: NDArray[np.integer], regions: int) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Where each region's neighbours begin in the list of all neighbours, and that list, ascending."""
    both = np.concatenate((pairs, pairs[:, ::-1])).astype(np.int64)
    keys = np.sort(both[:, 0] * max(1, regions) + both[:, 1])
    number = np.bincount(keys // max(1, regions), minlength=regions)
    return np.concatenate(([0], np.cumsum(number))).astype(np.int64), (keys % max(1, regions)).astype(np.int32)


def neighbour_lists(pairs: NDArray[np.integer], regions: int) -> list[list[int]]:
    """The neighbours of each region, ascending."""
    first, listed = adjacency_lists(pairs, regions)
    starts, every = first.tolist(), listed.tolist()
    return [every[start:end] for start, end in pairwise(starts)]


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
    _, label = connected_parts(inside.T, size)
    found = distinct_pairs(membership, label)[:, 0]
    number = int(membership.max()) + 1 if size else 0
    return np.bincount(found, minlength=number).astype(np.int32)


def _place_neighbours(places: NDArray[np.float64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Neighbours among distinct places, which are sorted by x, then y."""
    if len(places) >= 3:
        try:
            corners = scipy.spatial.Delaunay(places - places.mean(axis=0)).simplices.astype(np.int64)
        except scipy.spatial.QhullError:
            pass  # all on one line: each touches the next along it
        else:
            return corners[:, [0, 1, 2]].ravel(), corners[:, [1, 2, 0]].ravel()
    chain = np.arange(len(places))
    return chain[:-1], chain[1:]


def _segment_neighbours(polygons: NDArray[np.object_]) -> Pairs:
    parts, part_owner = take_apart(shapely.get_parts, polygons)
    rings, ring_part = take_apart(shapely.get_rings, parts)
    corners, ring = take_apart(shapely.get_coordinates, rings)
    owner = part_owner[ring_part[ring]]
    first, corner = place_numbers(corners)
    same = ring[:-1] == ring[1:]
    low, high = np.minimum(corner[:-1], corner[1:])[same], np.maximum(corner[:-1], corner[1:])[same]
    segment = low.astype(np.int64) * first.size + high
    order = np.argsort(segment, kind="stable")
    segment, owner = segment[order], owner[:-1][same][order]
    common = segment[1:] == segment[:-1]
    return _pairs(owner[:-1][common], owner[1:][common])


def _pairs(one: NDArray[np.integer], other: NDArray[np.integer]) -> Pairs:
    different = one != other
    one, other = one[different], other[different]
    return distinct_pairs(np.minimum(one, other), np.maximum(one, other)).astype(np.int32)


def connected_parts(ends: Iterable[NDArray[np.integer]], nodes: int) -> tuple[int, NDArray[np.int32]]:
    """How many parts edges leave, and the part of each node, numbered by their first nodes.

    ``ends`` are two arrays: the node where each edge begins, and the one where it ends.
    Every node points to a lower one of its part, in the end to the lowest: O(log n) rounds over the edges as a rule.
    """
    one, other = ends
    lowest = np.arange(nodes)
    while one.size:
        here, there = lowest[one], lowest[other]
        lower = np.minimum(here, there)
        np.minimum.at(lowest, here, lower)
        np.minimum.at(lowest, there, lower)
        while not np.array_equal(further := lowest[lowest], lowest):
            lowest = further
        still = lowest[one] != lowest[other]
        one, other = one[still], other[still]
    first, part = np.unique(lowest, return_inverse=True)
    return first.size, part.astype(np.int32)


def numbered(groups: NDArray[np.integer]) -> NDArray[np.int32]:
    """The groups numbered by their first members."""
    _, first, member = np.unique(groups, return_index=True, return_inverse=True)
    rank = np.empty(first.size, np.int32)
    rank[np.argsort(first, kind="stable")] = np.arange(first.size, dtype=np.int32)
    return np.asarray(rank[member])
