"""Neighbour graphs of regions: borders, Delaunay and Gabriel graphs, components, bridges, pieces of groups.

A graph is an (m, 2) array of pairs i < j, each once, in ascending order.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable
from itertools import pairwise

import numpy as np
import scipy
import shapely
from numpy.typing import NDArray

from vbas_desktop.model.progress import NO_PROGRESS, Progress
from vbas_desktop.model.records import as_readonly
from vbas_desktop.model.regions import Regions

from .nearest_site import group_coincident_points, squared_distances, unique_pairs
from .polygons import clean_coverage, explode_in_blocks
from .weak_cache import cached_per_object

Pairs = NDArray[np.int32]


def find_neighbours(regions: Regions, clean: bool = False) -> Pairs:
    """Find the graph of the initial regions: polygons with a common border, or the triangulation of the points.

    ``clean``: the polygons are known to be a valid coverage, which is costly to find out.
    """
    if regions.polygons is not None and not shapely.is_missing(regions.polygons).any():
        return find_polygon_neighbours(regions.polygons, clean)
    return find_point_neighbours(regions.points)


@cached_per_object
def _neighbours_once(regions: Regions) -> Pairs:
    return as_readonly(find_neighbours(regions))


def region_neighbours(regions: Regions) -> Pairs:
    """Find the graph of the initial regions, once for as long as the regions exist."""
    if regions.whole is not None and regions.polygons is not None:
        return _select_pairs(
            region_neighbours(regions.whole[0]), len(regions.whole[0]), regions.whole[1]
        )
    return _neighbours_once(regions)


def _select_pairs(pairs: Pairs, number: int, members: NDArray[np.intp]) -> Pairs:
    """Select the pairs among some of the regions, by their numbers there."""
    own = np.full(number, -1, np.int32)
    own[members] = np.arange(members.size, dtype=np.int32)
    inside = own[pairs]
    inside = inside[(inside >= 0).all(axis=1)]
    return _pairs(inside[:, 0], inside[:, 1])


def find_polygon_neighbours(polygons: NDArray[np.object_], clean: bool = False) -> Pairs:
    """Find pairs of polygons that share a stretch of border; corners do not count.

    In a clean coverage common borders have the same vertices, so equal segments are enough; if the polygons cannot be
    cleaned, geometry decides. ``clean``: they are known to be a valid coverage.
    """
    cleaned, valid = (polygons, True) if clean else clean_coverage(polygons)
    if valid:
        return _segment_neighbours(cleaned)
    tree = shapely.STRtree(polygons)
    left, right = tree.query(polygons, predicate="intersects")
    first = left[left < right]
    second = right[left < right]
    common = shapely.intersection(shapely.boundary(polygons[first]), shapely.boundary(polygons[second]))
    overlap = shapely.length(common) > 0
    undecided = np.flatnonzero(~overlap)
    overlap[undecided] = (
        shapely.area(shapely.intersection(polygons[first[undecided]], polygons[second[undecided]])) > 0
    )
    return _pairs(first[overlap], second[overlap])


def find_point_neighbours(points: NDArray[np.float64]) -> Pairs:
    """Find pairs of points whose Voronoi cells touch (Delaunay); coincident or collinear points form a chain."""
    first, position = group_coincident_points(points)
    left, right = _find_position_neighbours(points[first])
    order = np.argsort(position, kind="stable")
    together = position[order[1:]] == position[order[:-1]]
    return _pairs(
        np.concatenate((first[left], order[:-1][together])),
        np.concatenate((first[right], order[1:][together])),
    )


def build_adjacency(
    pairs: NDArray[np.integer], regions: int
) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Return where each region's neighbours begin in the list of all neighbours, and that list, ascending."""
    both = np.concatenate((pairs, pairs[:, ::-1])).astype(np.int64)
    keys = np.sort(both[:, 0] * max(1, regions) + both[:, 1])
    number = np.bincount(keys // max(1, regions), minlength=regions)
    return np.concatenate(([0], np.cumsum(number))).astype(np.int64), (keys % max(1, regions)).astype(
        np.int32
    )


def list_neighbours(pairs: NDArray[np.integer], regions: int) -> list[list[int]]:
    """List the neighbours of each region, ascending."""
    first, listed = build_adjacency(pairs, regions)
    starts = first.tolist()
    every = listed.tolist()
    return [every[start:end] for start, end in pairwise(starts)]


def contract_graph(pairs: Pairs, membership: NDArray[np.integer]) -> Pairs:
    """Build the graph of the groups: two are neighbours if members of theirs are."""
    groups = membership[pairs]
    between = groups[groups[:, 0] != groups[:, 1]]
    return _pairs(between[:, 0], between[:, 1])


def count_pieces(
    regions: Regions, membership: NDArray[np.integer], pairs: Pairs | None = None
) -> NDArray[np.int32]:
    """Count the pieces of each aggregated region: 1 if it is contiguous.

    ``pairs`` are the neighbours of the initial regions if the caller has them already.
    """
    graph = find_neighbours(regions) if pairs is None else pairs
    inside = graph[membership[graph[:, 0]] == membership[graph[:, 1]]]
    size = len(membership)
    _, label = label_components(inside.T, size)
    groups = unique_pairs(membership, label)[:, 0]
    number = int(membership.max()) + 1 if size else 0
    return np.bincount(groups, minlength=number).astype(np.int32)


def _find_position_neighbours(
    positions: NDArray[np.float64],
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Find neighbours among distinct positions, which are sorted by x, then y."""
    if len(positions) >= 3:
        try:
            corners = scipy.spatial.Delaunay(positions - positions.mean(axis=0)).simplices.astype(
                np.int64
            )
        except scipy.spatial.QhullError:
            pass  # all on one line: each touches the next along it
        else:
            return corners[:, [0, 1, 2]].ravel(), corners[:, [1, 2, 0]].ravel()
    chain = np.arange(len(positions))
    return chain[:-1], chain[1:]


def _segment_neighbours(polygons: NDArray[np.object_]) -> Pairs:
    parts, part_owner = explode_in_blocks(shapely.get_parts, polygons)
    rings, ring_part = explode_in_blocks(shapely.get_rings, parts)
    corners, ring = explode_in_blocks(shapely.get_coordinates, rings)
    owner = part_owner[ring_part[ring]]
    first, corner = group_coincident_points(corners)
    same = ring[:-1] == ring[1:]
    low = np.minimum(corner[:-1], corner[1:])[same]
    high = np.maximum(corner[:-1], corner[1:])[same]
    segment = low.astype(np.int64) * first.size + high
    order = np.argsort(segment, kind="stable")
    segment = segment[order]
    owner = owner[:-1][same][order]
    common = segment[1:] == segment[:-1]
    return _pairs(owner[:-1][common], owner[1:][common])


def _pairs(first: NDArray[np.integer], second: NDArray[np.integer]) -> Pairs:
    different = first != second
    first = first[different]
    second = second[different]
    return unique_pairs(np.minimum(first, second), np.maximum(first, second)).astype(np.int32)


def label_components(ends: Iterable[NDArray[np.integer]], nodes: int) -> tuple[int, NDArray[np.int32]]:
    """Count the components that edges leave, and label each node with its own, numbered by their first nodes.

    ``ends`` are two arrays: the node where each edge begins, and the one where it ends.
    Every node points to a lower one of its part, in the end to the lowest: O(log n) rounds over the edges as a rule.
    """
    starts, stops = ends
    lowest = np.arange(nodes)
    while starts.size:
        here = lowest[starts]
        there = lowest[stops]
        lower = np.minimum(here, there)
        np.minimum.at(lowest, here, lower)
        np.minimum.at(lowest, there, lower)
        while not np.array_equal(further := lowest[lowest], lowest):
            lowest = further
        still = lowest[starts] != lowest[stops]
        starts = starts[still]
        stops = stops[still]
    first, part = np.unique(lowest, return_inverse=True)
    return first.size, part.astype(np.int32)


def relabel_by_first(groups: NDArray[np.integer]) -> NDArray[np.int32]:
    """Renumber the groups by their first members."""
    _, first, member = np.unique(groups, return_index=True, return_inverse=True)
    rank = np.empty(first.size, np.int32)
    rank[np.argsort(first, kind="stable")] = np.arange(first.size, dtype=np.int32)
    return np.asarray(rank[member])


_EVERY = 1000


def bridge_islands(pairs: Pairs, points: NDArray[np.float64]) -> tuple[Pairs, int]:
    """Add a bridge over the shortest gap from each island to the graph; also return the number of bridges.

    Islands are the parts of the graph but the largest one; they are joined until all regions hang together.
    """
    built: list[tuple[int, int]] = []
    while True:
        whole = np.concatenate((pairs, np.array(built, np.int32).reshape(-1, 2)))
        number, label = label_components(whole.T, len(points))
        if number <= 1:
            return unique_pairs(whole[:, 0], whole[:, 1]).astype(np.int32) if built else pairs, len(
                built
            )
        largest = int(np.bincount(label).argmax())
        for island in (part for part in range(number) if part != largest):
            here = np.flatnonzero(label == island)
            elsewhere = np.flatnonzero(label != island)
            gap, nearest = scipy.spatial.cKDTree(points[elsewhere]).query(points[here])
            at = int(gap.argmin())
            end = int(here[at])
            far_end = int(elsewhere[nearest[at]])
            if (min(end, far_end), max(end, far_end)) not in built:
                built.append((min(end, far_end), max(end, far_end)))


def reassign_detached_pieces(
    owner: NDArray[np.int32],
    pairs: Pairs,
    points: NDArray[np.float64],
    centres: NDArray[np.float64],
    population: NDArray[np.int64],
    progress: Progress = NO_PROGRESS,
) -> NDArray[np.int32]:
    """Reassign regions so that every group is in one piece, on a connected graph.

    Each group keeps its most populous piece (ties: more regions, then the first region in file order). The others are
    handed out region by region: always the one next that lies nearest to the centre of a group it touches.
    O(r log r + neighbours).
    """
    joined = owner.copy()
    free = ~_main_pieces(owner, pairs, population)
    first, neighbours = build_adjacency(pairs, len(owner))
    waiting: list[tuple[float, int, int]] = []

    def offer(region: int) -> None:
        around = neighbours[first[region] : first[region + 1]]
        around = around[free[around]]
        group = joined[region]
        away = squared_distances(points[around], centres[group])
        for distance, other in zip(away.tolist(), around.tolist(), strict=True):
            heapq.heappush(waiting, (distance, int(group), other))

    for region in np.flatnonzero(~free & _touches(free, pairs)).tolist():
        offer(region)
    done = 0
    while waiting:
        _, group, region = heapq.heappop(waiting)
        if done % _EVERY == 0:
            progress.update("Joining pieces to their neighbours")
        done += 1
        if free[region]:
            free[region] = False
            joined[region] = group
            offer(region)
    return joined


def _main_pieces(
    owner: NDArray[np.int32], pairs: Pairs, population: NDArray[np.int64]
) -> NDArray[np.bool_]:
    """Flag the regions that lie in the piece that their group keeps."""
    inside = pairs[owner[pairs[:, 0]] == owner[pairs[:, 1]]]
    number, piece = label_components(inside.T, len(owner))
    people = np.bincount(piece, population, minlength=number)
    regions = np.bincount(piece, minlength=number)
    head = np.full(number, len(owner))
    np.minimum.at(head, piece, np.arange(len(owner)))
    group = owner[head]
    order = np.lexsort((head, -regions, -people, group))
    is_main = np.zeros(number, np.bool_)
    is_main[order[np.concatenate(([True], group[order[1:]] != group[order[:-1]]))]] = True
    return is_main[piece]


def _touches(free: NDArray[np.bool_], pairs: Pairs) -> NDArray[np.bool_]:
    """Flag the regions that have a free neighbour."""
    touching = np.zeros(free.size, np.bool_)
    touching[pairs[free[pairs[:, 1]], 0]] = True
    touching[pairs[free[pairs[:, 0]], 1]] = True
    return touching


def build_growth_graph(regions: Regions) -> tuple[Pairs, int]:
    """Find the neighbours of initial regions for districts to grow; also count the pairs that join islands.

    Polygons with a common border, or the Gabriel graph of the points; islands are joined to the nearest coast.
    """
    pairs = (
        find_gabriel_neighbours(regions.points)
        if regions.polygons is None
        else region_neighbours(regions)
    )
    joined = bridge_components(regions.points, pairs)
    return joined, len(joined) - len(pairs)


def find_gabriel_neighbours(points: NDArray[np.float64]) -> Pairs:
    """Find pairs of points with no other point inside the circle that has the two as its diameter. O(r log r)."""
    pairs = find_point_neighbours(points)
    middle = (points[pairs[:, 0]] + points[pairs[:, 1]]) / 2
    radius = np.hypot(*(points[pairs[:, 0]] - points[pairs[:, 1]]).T) / 2
    nearest, _ = scipy.spatial.cKDTree(points).query(middle)
    # The two ends themselves are at the radius, give or take a rounding.
    return pairs[nearest >= radius * (1 - 1e-9)]


def bridge_components(points: NDArray[np.float64], pairs: Pairs) -> Pairs:
    """Add the shortest bridges between the components of a graph: islands belong to the coast that is nearest."""
    pieces, piece = label_components(pairs.T, len(points))
    if pieces == 1:
        return pairs
    possible = find_point_neighbours(points)
    possible = possible[piece[possible[:, 0]] != piece[possible[:, 1]]]
    lengths = np.linalg.norm(points[possible[:, 0]] - points[possible[:, 1]], axis=1)
    root = list(range(pieces))
    bridges = []
    for at in np.lexsort((possible[:, 1], possible[:, 0], lengths)).tolist():
        left_root, right_root = (find_root(root, int(piece[end])) for end in possible[at])
        if left_root != right_root:
            root[left_root] = right_root
            bridges.append(possible[at])
    # The triangulation leaves out points that nearly coincide with others; they are joined in the order of the file.
    for left_root, right_root in pairwise(
        [int(np.flatnonzero(piece == number)[0]) for number in range(pieces)]
    ):
        ends = (find_root(root, int(piece[left_root])), find_root(root, int(piece[right_root])))
        if ends[0] != ends[1]:
            root[ends[0]] = ends[1]
            bridges.append(np.array(sorted((left_root, right_root)), np.int32))
    joined = np.concatenate((pairs, np.array(bridges, np.int32)))
    return np.asarray(joined[np.lexsort((joined[:, 1], joined[:, 0]))])


def find_root(parents: list[int], node: int) -> int:
    """Find the root of a node in a union–find forest, and shorten the path to it."""
    while parents[node] != node:
        parents[node] = parents[parents[node]]
        node = parents[node]
    return node
