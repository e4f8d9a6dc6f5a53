"""Groups of neighbouring regions by what they hold: small ones join a neighbour, large ones are cut in two.

An amount is anything that adds up over regions (records, inhabitants); the arrays have one column for each. Districts
grow that way: the smallest joins its nearest neighbour until each has enough records; large ones are split.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import NDArray

from vbas_desktop.model.progress import NO_PROGRESS, Progress

from .region_graph import (
    Pairs,
    bridge_components,
    label_components,
    list_neighbours,
    relabel_by_first,
)

Floats = NDArray[np.float64]

_STEPS = 256
_STAGE = "Growing districts"


def merge_undersized(
    points: Floats,
    weight: Floats,
    amounts: Floats,
    least: Floats,
    most: Floats,
    pairs: Pairs,
    progress: Progress,
) -> NDArray[np.int32]:
    """Merge groups that hold too little; return the group that each ends in, named by one of its members.

    Of the groups with less than the ``least`` of an amount the one that lacks most joins the neighbour whose middle
    (the mean of the points by ``weight``) is nearest, again and again, until none is left that has a neighbour.
    Neighbours that would get more than the ``most`` of an amount by it come last; ties go to the lower number.
    O(r log r) steps, each with the neighbours of one group.
    """
    held = amounts.tolist()
    middle = points.tolist()
    heavy = weight.tolist()
    needs = [(column, float(need)) for column, need in enumerate(least) if need > 0]
    capped = [(column, float(cap)) for column, cap in enumerate(most) if np.isfinite(cap)]
    joined_to = list(range(len(points)))
    neighbours_of = [set(near) for near in list_neighbours(pairs, len(points))]

    def fill_share(group: int) -> float:
        mine = held[group]
        return min((mine[column] / need for column, need in needs), default=1.0)

    def exceeds_cap(first: int, second: int) -> bool:
        return any(held[first][column] + held[second][column] > cap for column, cap in capped)

    waiting = [(share, group) for group in joined_to if (share := fill_share(group)) < 1.0]
    heapq.heapify(waiting)
    step = 0
    while waiting:
        share, gone = heapq.heappop(waiting)
        if joined_to[gone] != gone or fill_share(gone) != share or not neighbours_of[gone]:
            continue
        step += 1
        if step % _STEPS == 0:
            progress.update(_STAGE)
        x, y = middle[gone]
        into = min(
            neighbours_of[gone],
            key=lambda other: (
                exceeds_cap(gone, other),
                (middle[other][0] - x) ** 2 + (middle[other][1] - y) ** 2,
                other,
            ),
        )
        _join(gone, into, middle, heavy, joined_to, neighbours_of)
        held[into] = [one + other for one, other in zip(held[into], held[gone], strict=True)]
        if (share := fill_share(into)) < 1.0:
            heapq.heappush(waiting, (share, into))
    return _roots(joined_to)


@dataclass(frozen=True, eq=False)
class MergeSequence:
    """All steps in which the group that holds least joins its nearest neighbour, until one group is left.

    ``held[t]`` is what the group ``gone[t]`` held when it joined the group ``into[t]``; it never falls from one step to
    the next. So growing to a larger amount, or to fewer groups, only goes on from where a smaller amount ends.
    """

    gone: NDArray[np.int32]
    into: NDArray[np.int32]
    held: Floats

    def groups_of(self, regions: int, cutoff: float) -> NDArray[np.int32]:
        """Return the group of each region, named by one of its members, when none holds less than the cutoff."""
        return self._after(int(np.searchsorted(self.held, cutoff)), regions)

    def groups_left(self, regions: int, n_groups: int) -> NDArray[np.int32]:
        """Return the group of each region, numbered by their first members, when ``n_groups`` are left."""
        return relabel_by_first(self._after(max(0, regions - max(1, n_groups)), regions))

    def _after(self, steps: int, regions: int) -> NDArray[np.int32]:
        joined_to = np.arange(regions, dtype=np.int32)
        joined_to[self.gone[:steps]] = self.into[:steps]
        return _roots(joined_to)


def merge_smallest_first(
    points: Floats, weight: Floats, held: Floats, pairs: Pairs, progress: Progress
) -> MergeSequence:
    """Join the group that holds least to the neighbour whose middle is nearest, until one is left.

    Middles are means of the points by ``weight``; ties go to the lower number. ``pairs`` must join all regions.
    O(r log r) steps, each with the neighbours of one group.
    """
    neighbours_of = [set(near) for near in list_neighbours(pairs, len(points))]
    middle = points.tolist()
    heavy = weight.tolist()
    amount = held.tolist()
    joined_to = list(range(len(points)))
    waiting = [(holds, group) for group, holds in enumerate(amount)]
    heapq.heapify(waiting)
    gone: list[int] = []
    into: list[int] = []
    least: list[float] = []
    while len(gone) < len(points) - 1:
        holds, group = heapq.heappop(waiting)
        if joined_to[group] != group or amount[group] != holds:
            continue
        if len(gone) % _STEPS == 0:
            progress.update(_STAGE)
        nearest = _nearest(group, middle, neighbours_of)
        _join(group, nearest, middle, heavy, joined_to, neighbours_of)
        amount[nearest] += holds
        heapq.heappush(waiting, (amount[nearest], nearest))
        gone.append(group)
        into.append(nearest)
        least.append(holds)
    return MergeSequence(np.array(gone, np.int32), np.array(into, np.int32), np.array(least, np.float64))


def _nearest(group: int, middle: list[list[float]], neighbours_of: list[set[int]]) -> int:
    """Find the neighbour whose middle is nearest; of several the one with the lowest number."""
    x, y = middle[group]
    nearest = -1
    least = math.inf
    # A loop takes a third of the time of `min` with a key, and this is where the time goes.
    for other in neighbours_of[group]:
        u, v = middle[other]
        away = (u - x) ** 2 + (v - y) ** 2
        if away < least or (away == least and other < nearest):
            nearest = other
            least = away
    return nearest


def _join(
    gone: int,
    into: int,
    middle: list[list[float]],
    heavy: list[float],
    joined_to: list[int],
    neighbours_of: list[set[int]],
) -> None:
    """Join one group to another, which takes over its weight, middle and neighbours."""
    whole = heavy[gone] + heavy[into]
    (x, y) = middle[gone]
    (u, v) = middle[into]
    middle[into] = [
        (x * heavy[gone] + u * heavy[into]) / whole,
        (y * heavy[gone] + v * heavy[into]) / whole,
    ]
    heavy[into] = whole
    joined_to[gone] = into
    for other in neighbours_of[gone]:
        neighbours_of[other].discard(gone)
        if other != into:
            neighbours_of[other].add(into)
            neighbours_of[into].add(other)


def _roots(joined_to: list[int] | NDArray[np.int32]) -> NDArray[np.int32]:
    root = np.asarray(joined_to, np.int32)
    while (root[root] != root).any():
        root = root[root]
    return root


def split_oversized(
    points: Floats,
    amounts: Floats,
    pairs: Pairs,
    group: NDArray[np.int32],
    too_large: Callable[[Floats], int | None],
    least: Floats,
    progress: Progress,
) -> NDArray[np.int32]:
    """Cut groups in two along their shortest spanning trees while they are too large and both parts have the least.

    ``too_large`` says by which amount a group with these amounts is to be halved (None: not at all). The part with the
    first region keeps the number of the group; the others get numbers from the largest number on.
    """
    membership = group.copy()
    number = int(group.max()) + 1 if group.size else 0
    held = np.column_stack([np.bincount(group, column, minlength=number) for column in amounts.T])
    members_of = np.argsort(group, kind="stable")
    begins = np.searchsorted(group[members_of], np.arange(number + 1))
    inside = pairs[group[pairs[:, 0]] == group[pairs[:, 1]]]
    order = np.argsort(group[inside[:, 0]], kind="stable")
    starts = np.searchsorted(group[inside[order, 0]], np.arange(number + 1))
    following = number
    for root in range(number):
        members = members_of[begins[root] : begins[root + 1]]
        if members.size < 2 or too_large(held[root]) is None:
            continue
        progress.update(_STAGE)
        mine = order[starts[root] : starts[root + 1]]
        for part in _parts(members, points, inside[mine], amounts, too_large, least)[1:]:
            membership[part] = following
            following += 1
    return membership


def _parts(
    members: NDArray[np.intp],
    points: Floats,
    pairs: Pairs,
    amounts: Floats,
    too_large: Callable[[Floats], int | None],
    least: Floats,
) -> list[NDArray[np.intp]]:
    """Split members into parts, each in one piece if the group is; pieces are joined by shortest bridges."""

    size = members.size
    ends = bridge_components(points[members], np.searchsorted(members, pairs).astype(np.int32))
    length = np.hypot(*(points[members[ends[:, 0]]] - points[members[ends[:, 1]]]).T)
    # A pair of length zero would be no pair: only the order of the lengths counts.
    rank = np.argsort(np.argsort(length, kind="stable"), kind="stable") + 1.0
    tree = scipy.sparse.csgraph.minimum_spanning_tree(
        scipy.sparse.coo_array((rank, (ends[:, 0], ends[:, 1])), shape=(size, size)).tocsr()
    )
    tree = (tree + tree.T).tocsr()
    mine = amounts[members]
    done = []
    open_parts = [np.arange(size)]
    while open_parts:
        part = open_parts.pop()
        by = too_large(mine[part].sum(axis=0))
        cut = None if by is None else _best_cut(tree, part, mine, by, least)
        if cut is None:
            done.append(part)
        else:
            open_parts += cut
    return [members[np.sort(part)] for part in sorted(done, key=lambda part: int(part.min()))]


def _best_cut(
    tree: scipy.sparse.csr_array, part: NDArray[np.intp], amounts: Floats, by: int, least: Floats
) -> list[NDArray[np.intp]] | None:
    """Cut the tree where the smaller side is largest; None if no edge leaves the least on both sides."""

    if part.size < 2:
        return None
    inner = tree[part][:, part]
    order, before = scipy.sparse.csgraph.breadth_first_order(inner, 0, directed=False)
    below = amounts[part].copy()
    for node in order[:0:-1]:
        below[before[node]] += below[node]
    rest = below[0] - below
    smaller = np.minimum(below[:, by], rest[:, by])
    smaller[((below < least) | (rest < least)).any(axis=1)] = -1
    smaller[0] = -1
    at = int(np.argmax(smaller))
    if smaller[at] < 0:
        return None
    # Of a tree everybody but the first is joined to the one before: all of these but the edge that is cut.
    nodes = order[1:][order[1:] != at]
    _, side = label_components((nodes, before[nodes]), part.size)
    return [part[side == side[0]], part[side != side[0]]]


def compute_merge_sequence(
    points: Floats,
    population: NDArray[np.int64],
    pairs: Pairs,
    weight: Floats | None = None,
    progress: Progress = NO_PROGRESS,
) -> MergeSequence:
    """Find all steps in which initial regions grow together, that with the fewest records first."""
    weight = np.ones(len(points)) if weight is None else weight
    return merge_smallest_first(points, weight, population.astype(np.float64), pairs, progress)


def grow_districts(
    points: NDArray[np.float64],
    population: NDArray[np.int64],
    pairs: Pairs,
    cutoff: int,
    joins: MergeSequence,
    progress: Progress = NO_PROGRESS,
) -> NDArray[np.int32]:
    """Grow contiguous districts, none below the cutoff; number them by their first regions.

    ``joins`` are all steps in which these regions grow together, whatever the cutoff. If all of them together have
    fewer records, there is one district. What is too large is split along its shortest spanning tree.
    """
    progress.update(_STAGE)
    people = population[:, None].astype(np.float64)
    least = np.array([float(cutoff)])
    district = joins.groups_of(len(points), float(cutoff))

    def too_large(held: NDArray[np.float64]) -> int | None:
        return 0 if held[0] >= 2 * cutoff else None

    return relabel_by_first(split_oversized(points, people, pairs, district, too_large, least, progress))


def grow_from_seeds(
    points: NDArray[np.float64],
    population: NDArray[np.int64],
    pairs: Pairs,
    cutoff: float,
    seeds: NDArray[np.integer],
    progress: Progress = NO_PROGRESS,
    weight: NDArray[np.float64] | None = None,
) -> NDArray[np.int32]:
    """Grow districts from seeds until each has the cutoff, and number them by their first regions.

    ``seeds`` lists all initial regions in the order in which they become seeds. A seed whose district is below the
    cutoff takes in the adjacent region or district whose centroid (the mean of the points by ``weight``) is nearest,
    again and again, until it reaches the cutoff; ties go to the lower number. Nothing is split. O(r) steps, each with
    the neighbours of one district.
    """
    progress.update(_STAGE)
    middle = points.tolist()
    heavy = (np.ones(len(points)) if weight is None else weight).tolist()
    people = population.tolist()
    joined_to = list(range(len(points)))
    neighbours_of = [set(near) for near in list_neighbours(pairs, len(points))]
    steps = 0
    for seed in seeds.tolist():
        if joined_to[seed] != seed:
            continue
        while people[seed] < cutoff and neighbours_of[seed]:
            nearest = _nearest(seed, middle, neighbours_of)
            _join(nearest, seed, middle, heavy, joined_to, neighbours_of)
            people[seed] += people[nearest]
            steps += 1
            if steps % _STEPS == 0:
                progress.update(_STAGE)
    return relabel_by_first(_roots(joined_to))
