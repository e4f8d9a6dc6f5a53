"""How wide groups of points are against the distance to the others: the parts of the Davies–Bouldin index."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree
from scipy.spatial.distance import cdist

Floats = NDArray[np.float64]

_NEAR = 17
"""Neighbours looked at first: nearly always the deciding one is among them."""

_CELLS = 125_000
"""Distances held at a time, whatever the number of groups."""


def largest_ratios(centres: Floats, spread: Floats) -> tuple[Floats, Floats]:
    """Of each group the largest (S_i + S_j)/D_ij, and the distance to the nearest other centre.

    Centres at the same place are left out; a group that has no other gets −inf and inf. Exact: after the nearest
    neighbours, partners are tried from the widest down until none that is left can be larger. O(n log n) as a rule.
    """
    number = len(centres)
    if number < 2:
        return np.full(number, -np.inf), np.full(number, np.inf)
    distance, place = cKDTree(centres).query(centres, min(_NEAR, number))
    same = distance == 0
    distance[same] = np.inf
    nearest = distance.min(axis=1)
    sums = spread[:, None] + spread[place]
    sums /= distance
    sums[same] = -np.inf
    best = sums.max(axis=1)
    unknown = same.all(axis=1)
    del distance, place, sums, same
    widest_first = np.argsort(-spread, kind="stable")
    start = 0
    while start < number:
        limit = (spread + spread[widest_first[start]]) / np.where(unknown, np.inf, nearest)
        rows = np.flatnonzero((best < limit) | unknown)
        if not rows.size:
            break
        end = start + max(1, _CELLS // rows.size)
        partners = widest_first[start:end]
        far = cdist(centres[rows], centres[partners])
        same = far == 0
        far[same] = np.inf
        lone = far.min(axis=1)
        ratios = spread[rows, None] + spread[partners][None, :]
        ratios /= far
        ratios[same] = -np.inf
        best[rows] = np.maximum(best[rows], ratios.max(axis=1))
        nearest[rows] = np.where(unknown[rows], np.minimum(nearest[rows], lone), nearest[rows])
        start = end
    return best, nearest


def coinciding_pairs(centres: Floats) -> int:
    """How many pairs of centres are at the same place."""
    if not len(centres):
        return 0
    _, sizes = np.unique(centres, axis=0, return_counts=True)
    return int((sizes.astype(np.int64) * (sizes - 1) // 2).sum())
