"""Aggregated regions in one piece: a graph on which all regions can be reached, and pieces joined to neighbours."""

from __future__ import annotations

import heapq

import numpy as np
import scipy
from numpy.typing import NDArray

from vbas_desktop.model.progress import SILENT, Progress

from .adjacency import Pairs, adjacency_lists, connected_parts
from .nearest import squared_distances
from .places import distinct_pairs

_EVERY = 1000


def bridged(pairs: Pairs, points: NDArray[np.float64]) -> tuple[Pairs, int]:
    """The graph with a bridge over the shortest gap from each island, and the number of bridges.

    Islands are the parts of the graph but the largest one; they are joined until all regions hang together.
    """
    built: list[tuple[int, int]] = []
    while True:
        whole = np.concatenate((pairs, np.array(built, np.int32).reshape(-1, 2)))
        number, label = connected_parts(whole.T, len(points))
        if number <= 1:
            return distinct_pairs(whole[:, 0], whole[:, 1]).astype(np.int32) if built else pairs, len(built)
        largest = int(np.bincount(label).argmax())
        for island in (part for part in range(number) if part != largest):
            here, elsewhere = np.flatnonzero(label == island), np.flatnonzero(label != island)
            gap, nearest = scipy.spatial.cKDTree(points[elsewhere]).query(points[here])
            at = int(gap.argmin())
            one, other = int(here[at]), int(elsewhere[nearest[at]])
            if (min(one, other), max(one, other)) not in built:
                built.append((min(one, other), max(one, other)))


def join_pieces(
    owner: NDArray[np.int32],
    pairs: Pairs,
    points: NDArray[np.float64],
    centres: NDArray[np.float64],
    population: NDArray[np.int64],
    progress: Progress = SILENT,
) -> NDArray[np.int32]:
    """Owners such that every group is in one piece, on a graph in which all regions hang together.

    Each group keeps its most populous piece (ties: more regions, then the first region in file order). The others are
    handed out region by region: always the one next that lies nearest to the centre of a group it touches.
    O(r log r + neighbours).
    """
    joined = owner.copy()
    free = ~_main_pieces(owner, pairs, population)
    first, neighbours = adjacency_lists(pairs, len(owner))
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


def _main_pieces(owner: NDArray[np.int32], pairs: Pairs, population: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Whether each region lies in the piece that its group keeps."""
    inside = pairs[owner[pairs[:, 0]] == owner[pairs[:, 1]]]
    number, piece = connected_parts(inside.T, len(owner))
    people = np.bincount(piece, population, minlength=number)
    regions = np.bincount(piece, minlength=number)
    head = np.full(number, len(owner))
    np.minimum.at(head, piece, np.arange(len(owner)))
    group = owner[head]
    order = np.lexsort((head, -regions, -people, group))
    kept = np.zeros(number, np.bool_)
    kept[order[np.concatenate(([True], group[order[1:]] != group[order[:-1]]))]] = True
    return kept[piece]


def _touches(free: NDArray[np.bool_], pairs: Pairs) -> NDArray[np.bool_]:
    """Whether each region has a neighbour that is free."""
    touching = np.zeros(free.size, np.bool_)
    touching[pairs[free[pairs[:, 1]], 0]] = True
    touching[pairs[free[pairs[:, 0]], 1]] = True
    return touching
