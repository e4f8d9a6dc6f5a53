"""Neighbouring places taken together to larger ones of about equally many, tier after tier up to the whole area.

Only the map goes in, where places are and which of them are neighbours: the larger places tell nothing about records.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from vbas_desktop.model.progress import SILENT, Progress

from .adjacency import Pairs, connected_parts, group_neighbours, neighbour_lists, numbered, point_neighbours
from .places import middles

_FEWEST = 3
"""Fewer places are no tier of their own: two children that release nothing never allow a release in their parent."""

_SPARE = 1.5
"""How many times the wanted number of children a place may get while there is a smaller neighbour to choose."""

_STEPS = 256


def nested_groups(
    points: NDArray[np.float64], pairs: Pairs, factor: int, progress: Progress = SILENT
) -> list[NDArray[np.int32]]:
    """For each tier the parent of each of its places; about ``factor`` children each, the last parent is one.

    Parents are contiguous wherever the neighbours are. O(tiers · places · log places).
    """
    pairs = connected(points, pairs)
    tiers: list[NDArray[np.int32]] = []
    while len(points) > 1 or not tiers:
        wanted = int(len(points) / factor + 0.5)
        if wanted < _FEWEST:
            tiers.append(np.zeros(len(points), np.int32))
            break
        parent = _Merging(points, pairs, factor).until(wanted, progress)
        tiers.append(parent)
        points = middles(points, parent)
        pairs = group_neighbours(pairs, parent)
    return tiers


def connected(points: NDArray[np.float64], pairs: Pairs) -> Pairs:
    """The same graph with the shortest bridges between its pieces: islands belong to the coast that is nearest."""
    pieces, piece = connected_parts(pairs.T, len(points))
    if pieces == 1:
        return pairs
    possible = point_neighbours(points)
    possible = possible[piece[possible[:, 0]] != piece[possible[:, 1]]]
    lengths = np.linalg.norm(points[possible[:, 0]] - points[possible[:, 1]], axis=1)
    root = list(range(pieces))
    bridges = []
    for at in np.lexsort((possible[:, 1], possible[:, 0], lengths)).tolist():
        one, other = (_root(root, int(piece[end])) for end in possible[at])
        if one != other:
            root[one] = other
            bridges.append(possible[at])
    # The triangulation leaves out points that nearly coincide with others; they are joined in the order of the file.
    for one, other in pairwise([int(np.flatnonzero(piece == number)[0]) for number in range(pieces)]):
        ends = (_root(root, int(piece[one])), _root(root, int(piece[other])))
        if ends[0] != ends[1]:
            root[ends[0]] = ends[1]
            bridges.append(np.array(sorted((one, other)), np.int32))
    joined = np.concatenate((pairs, np.array(bridges, np.int32)))
    return np.asarray(joined[np.lexsort((joined[:, 1], joined[:, 0]))])


def _root(parents: list[int], node: int) -> int:
    while parents[node] != node:
        parents[node] = parents[parents[node]]
        node = parents[node]
    return node


class _Merging:
    """Groups of places that grow: the smallest one joins the neighbour that keeps them most compact."""

    def __init__(self, points: NDArray[np.float64], pairs: Pairs, factor: int) -> None:
        self._x, self._y = points[:, 0].tolist(), points[:, 1].tolist()
        self._size = [1] * len(points)
        self._root = list(range(len(points)))
        self._most = _SPARE * factor
        # Places beside each group, some of which may have joined others meanwhile, or the group itself.
        self._beside = neighbour_lists(pairs, len(points))

    def until(self, wanted: int, progress: Progress) -> NDArray[np.int32]:
        """Merge until so many groups are left; the group of each place, numbered by their first places."""
        left = len(self._root)
        for step, smallest in enumerate(self._smallest_first()):
            if left <= wanted:
                break
            if step % _STEPS == 0:
                progress.update("Arranging places in tiers")
            self._merge(smallest)
            left -= 1
        roots = np.array([_root(self._root, place) for place in range(len(self._root))])
        return numbered(roots)

    def _smallest_first(self) -> Iterator[int]:
        """Groups that still exist, smallest first (ties: lower number), as they are when asked for."""
        waiting = [(1, place) for place in range(len(self._root))]
        while waiting:
            size, place = heapq.heappop(waiting)
            if self._root[place] == place and self._size[place] == size:
                yield place
                survivor = self._root[place]
                heapq.heappush(waiting, (self._size[survivor], survivor))

    def _merge(self, gone: int) -> None:
        """Not too large first, then the least growth of the squared distances to the middle (Ward)."""
        x, y, size = self._x[gone], self._y[gone], self._size[gone]
        others = {_root(self._root, place) for place in self._beside[gone]}
        others.discard(gone)
        costs = []
        for other in others:
            whole = size + self._size[other]
            if whole > self._most:
                costs.append((True, float(whole), other))
            else:
                apart = (x - self._x[other]) ** 2 + (y - self._y[other]) ** 2
                costs.append((False, apart * size * self._size[other] / whole, other))
        into = min(costs)[2]
        whole = size + self._size[into]
        self._x[into] = (x * size + self._x[into] * self._size[into]) / whole
        self._y[into] = (y * size + self._y[into] * self._size[into]) / whole
        self._size[into], self._root[gone] = whole, into
        self._beside[into] += others
        self._beside[gone] = []
