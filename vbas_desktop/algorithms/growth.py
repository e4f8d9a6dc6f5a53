"""Districts that grow: the smallest joins its nearest neighbour until each has enough records; large ones are split."""

from __future__ import annotations

import heapq
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import breadth_first_order, connected_components, minimum_spanning_tree
from scipy.spatial import cKDTree

from vbas_desktop.domain.progress import Progress, Silent
from vbas_desktop.domain.regions import Regions

from .adjacency import Pairs, neighbours, point_neighbours
from .agglomeration import connected

_STEPS = 256
_STAGE = "Growing districts"


@dataclass(frozen=True, eq=False)
class Ground:
    """What districts grow on: which initial regions are neighbours; ``bridges`` of these pairs join islands."""

    pairs: Pairs
    bridges: int


def ground_of(regions: Regions) -> Ground:
    """Polygons with a common border, or the Gabriel graph of the points; islands are joined to the nearest coast."""
    whole = regions.polygons is not None
    found = neighbours(regions) if whole else gabriel(regions.points)
    joined = connected(regions.points, found)
    return Ground(joined, len(joined) - len(found))


def gabriel(points: NDArray[np.float64]) -> Pairs:
    """Pairs of points with no other point inside the circle that has the two as its diameter. O(r log r)."""
    pairs = point_neighbours(points)
    middle = (points[pairs[:, 0]] + points[pairs[:, 1]]) / 2
    radius = np.hypot(*(points[pairs[:, 0]] - points[pairs[:, 1]]).T) / 2
    nearest, _ = cKDTree(points).query(middle)
    # The two ends themselves are at the radius, give or take a rounding.
    return pairs[nearest >= radius * (1 - 1e-9)]


def grow(
    points: NDArray[np.float64],
    population: NDArray[np.int64],
    pairs: Pairs,
    cutoff: int,
    progress: Progress | None = None,
) -> NDArray[np.int32]:
    """The district of each initial region, numbered by their first regions: contiguous, none below the cutoff.

    ``pairs`` must join all regions. If all of them together have fewer records, there is one district.
    O(r log r) steps, each with the neighbours of one district.
    """
    progress = progress or Silent()
    progress.update(_STAGE)
    district = _merged(points, population, pairs, cutoff, progress)
    return _numbered(_split(points, population, pairs, district, cutoff, progress))


def _merged(
    points: NDArray[np.float64], population: NDArray[np.int64], pairs: Pairs, cutoff: int, progress: Progress
) -> NDArray[np.int32]:
    """Merge the smallest district with the nearest neighbour (middle to middle) until none is below the cutoff."""
    people, middle, members = population.tolist(), points.tolist(), [1] * len(points)
    joined_to = list(range(len(points)))
    beside: list[set[int]] = [set() for _ in joined_to]
    for one, other in pairs.tolist():
        beside[one].add(other)
        beside[other].add(one)
    waiting = [(number, place) for place, number in enumerate(people) if number < cutoff]
    heapq.heapify(waiting)
    step = 0
    while waiting:
        number, gone = heapq.heappop(waiting)
        if joined_to[gone] != gone or people[gone] != number or not beside[gone]:
            continue
        step += 1
        if step % _STEPS == 0:
            progress.update(_STAGE)
        x, y = middle[gone]
        into = min(beside[gone], key=lambda other: ((middle[other][0] - x) ** 2 + (middle[other][1] - y) ** 2, other))
        whole = members[gone] + members[into]
        u, v = middle[into]
        middle[into] = [
            (x * members[gone] + u * members[into]) / whole,
            (y * members[gone] + v * members[into]) / whole,
        ]
        people[into], members[into], joined_to[gone] = people[into] + number, whole, into
        for other in beside[gone]:
            beside[other].discard(gone)
            if other != into:
                beside[other].add(into)
                beside[into].add(other)
        if people[into] < cutoff:
            heapq.heappush(waiting, (people[into], into))
    return _roots(joined_to)


def _roots(joined_to: list[int]) -> NDArray[np.int32]:
    root = np.array(joined_to, np.int32)
    while (root[root] != root).any():
        root = root[root]
    return root


def _split(
    points: NDArray[np.float64],
    population: NDArray[np.int64],
    pairs: Pairs,
    district: NDArray[np.int32],
    cutoff: int,
    progress: Progress,
) -> NDArray[np.int32]:
    """Cut districts of twice the cutoff and more along their shortest spanning trees while both parts are enough."""
    found = district.copy()
    inside = pairs[district[pairs[:, 0]] == district[pairs[:, 1]]]
    length = np.hypot(*(points[inside[:, 0]] - points[inside[:, 1]]).T)
    people = np.bincount(district, population, minlength=len(district))
    large = np.flatnonzero(people >= 2 * cutoff)
    order = np.argsort(district[inside[:, 0]], kind="stable")
    starts = np.searchsorted(district[inside[order, 0]], np.arange(len(district) + 1))
    following = len(district)
    for root in large.tolist():
        progress.update(_STAGE)
        mine = order[starts[root] : starts[root + 1]]
        members = np.flatnonzero(district == root)
        if members.size == 1:
            continue
        for part in _parts(members, inside[mine], length[mine], population, cutoff)[1:]:
            found[part] = following
            following += 1
    return found


def _parts(
    members: NDArray[np.intp],
    pairs: Pairs,
    length: NDArray[np.float64],
    population: NDArray[np.int64],
    cutoff: int,
) -> list[NDArray[np.intp]]:
    """The members in contiguous parts of at least the cutoff each."""
    ends = np.searchsorted(members, pairs)
    size = members.size
    # A pair of length zero would be no pair: only the order of the lengths counts.
    rank = np.argsort(np.argsort(length, kind="stable"), kind="stable") + 1.0
    tree = minimum_spanning_tree(coo_array((rank, (ends[:, 0], ends[:, 1])), shape=(size, size)).tocsr())
    tree = (tree + tree.T).tocsr()
    people, done, open_parts = population[members], [], [np.arange(size)]
    while open_parts:
        part = open_parts.pop()
        cut = _best_cut(tree, part, people, cutoff)
        if cut is None:
            done.append(part)
        else:
            open_parts += cut
    return [members[np.sort(part)] for part in sorted(done, key=lambda part: int(part.min()))]


def _best_cut(
    tree: coo_array, part: NDArray[np.intp], people: NDArray[np.int64], cutoff: int
) -> list[NDArray[np.intp]] | None:
    """The two sides of the tree's edge whose smaller side is largest; None if that is below the cutoff."""
    if part.size < 2 or people[part].sum() < 2 * cutoff:
        return None
    inner = tree[part][:, part]
    order, before = breadth_first_order(inner, 0, directed=False)
    below = people[part].astype(np.int64).copy()
    for node in order[:0:-1]:
        below[before[node]] += below[node]
    smaller = np.minimum(below, below[0] - below)
    smaller[0] = -1
    at = int(np.argmax(smaller))
    if smaller[at] < cutoff:
        return None
    cut = inner.tolil()
    cut[at, before[at]] = cut[before[at], at] = 0
    cut = cut.tocsr()
    cut.eliminate_zeros()
    _, side = connected_components(cut, directed=False)
    return [part[side == side[0]], part[side != side[0]]]


def _numbered(groups: NDArray[np.int32]) -> NDArray[np.int32]:
    _, first, member = np.unique(groups, return_index=True, return_inverse=True)
    rank = np.empty(first.size, np.int32)
    rank[np.argsort(first, kind="stable")] = np.arange(first.size, dtype=np.int32)
    return np.asarray(rank[member])
