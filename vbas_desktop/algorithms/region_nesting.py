"""Neighbouring places taken together to larger ones of about equally many, tier after tier up to the whole area.

Only the map goes in, where places are and which of them are neighbours: the larger areas tell nothing about records.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from vbas_desktop.model.progress import NO_PROGRESS, Progress

from .nearest_site import weighted_centroids
from .region_graph import (
    Pairs,
    bridge_components,
    contract_graph,
    find_root,
    list_neighbours,
    relabel_by_first,
)

_FEWEST = 3
"""Fewer places are no tier of their own: two children that release nothing never allow a release in their parent."""

_SPARE = 1.5
"""How many times the wanted number of children a place may get while there is a smaller neighbour to choose."""

_STEPS = 256


def nest_regions(
    points: NDArray[np.float64], pairs: Pairs, factor: int, progress: Progress = NO_PROGRESS
) -> list[NDArray[np.int32]]:
    """Compute, for each tier, the parent of each area; about ``factor`` children each, the last parent is a single one.

    Parents are contiguous wherever the neighbours are. O(tiers · places · log places).
    """
    pairs = bridge_components(points, pairs)
    tiers: list[NDArray[np.int32]] = []
    while len(points) > 1 or not tiers:
        n_areas = int(len(points) / factor + 0.5)
        if n_areas < _FEWEST:
            tiers.append(np.zeros(len(points), np.int32))
            break
        parent = _Merging(points, pairs, factor).until(n_areas, progress)
        tiers.append(parent)
        points = weighted_centroids(points, parent)
        pairs = contract_graph(pairs, parent)
    return tiers


class _Merging:
    """Groups of places that grow: the smallest one joins the neighbour that keeps them most compact."""

    def __init__(self, points: NDArray[np.float64], pairs: Pairs, factor: int) -> None:
        self._x = points[:, 0].tolist()
        self._y = points[:, 1].tolist()
        self._size = [1] * len(points)
        self._root = list(range(len(points)))
        self._most = _SPARE * factor
        # Places beside each group, some of which may have joined others meanwhile, or the group itself.
        self._beside = list_neighbours(pairs, len(points))

    def until(self, n_areas: int, progress: Progress) -> NDArray[np.int32]:
        """Merge until ``number`` groups are left; return the group of each area, numbered by their first areas."""
        left = len(self._root)
        for step, smallest in enumerate(self._smallest_first()):
            if left <= n_areas:
                break
            if step % _STEPS == 0:
                progress.update("Arranging places in tiers")
            self._merge(smallest)
            left -= 1
        roots = np.array([find_root(self._root, area) for area in range(len(self._root))])
        return relabel_by_first(roots)

    def _smallest_first(self) -> Iterator[int]:
        """Yield the groups that still exist, smallest first (ties: lower number)."""
        waiting = [(1, area) for area in range(len(self._root))]
        while waiting:
            size, area = heapq.heappop(waiting)
            if self._root[area] == area and self._size[area] == size:
                yield area
                survivor = self._root[area]
                heapq.heappush(waiting, (self._size[survivor], survivor))

    def _merge(self, gone: int) -> None:
        """Rate a merger: not too large first, then the least growth of the squared distances to the middle (Ward)."""
        x = self._x[gone]
        y = self._y[gone]
        size = self._size[gone]
        others = {find_root(self._root, area) for area in self._beside[gone]}
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
        self._size[into] = whole
        self._root[gone] = into
        self._beside[into] += others
        self._beside[gone] = []
