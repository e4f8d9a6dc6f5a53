"""How wide groups of points are against the distance to the others: the parts of the Davies–Bouldin index."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree
from scipy.spatial.distance import cdist

Floats = NDArray[np.float64]

_NEAR = 17
"""Neighbours looked at first: nearly always the deciding one is among them."""

_CELLS = 250_000
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
    apart = distance > 0
    sums = spread[:, None] + spread[place]
    best = np.where(apart, sums / np.where(apart, distance, 1.0), -np.inf).max(axis=1)
    nearest = np.where(apart, distance, np.inf).min(axis=1)
    unknown = ~apart.any(axis=1)
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
        others = far > 0
        ratios = (spread[rows, None] + spread[partners][None, :]) / np.where(others, far, 1.0)
        best[rows] = np.maximum(best[rows], np.where(others, ratios, -np.inf).max(axis=1))
        lone = np.where(others, far, np.inf).min(axis=1)
        nearest[rows] = np.where(unknown[rows], np.minimum(nearest[rows], lone), nearest[rows])
        start = end
    return best, nearest


def coinciding_pairs(centres: Floats) -> int:
    """How many pairs of centres are at the same place."""
    if not len(centres):
        return 0
    _, sizes = np.unique(centres, axis=0, return_counts=True)
    return int((sizes.astype(np.int64) * (sizes - 1) // 2).sum())
