"""How wide groups of points are against the distance to the others: the parts of the Davies–Bouldin index."""

from __future__ import annotations

import numpy as np
import scipy
from numpy.typing import NDArray

from .nearest import threads_for
from .places import place_numbers

Floats = NDArray[np.float64]

_NEAR = 5
"""Neighbours looked at first: nearly always the deciding one is among them."""

_WIDEST = 8
"""So many of the widest groups are looked at together, then twice as many of the next ones, and so on."""

_CELLS = 125_000
"""Distances held at a time, whatever the number of groups."""


def largest_ratios(centres: Floats, spread: Floats) -> tuple[Floats, Floats]:
    """Of each group the largest (S_i + S_j)/D_ij, and the distance to the nearest other centre.

    Centres at the same place are left out; a group that has no other gets −inf and inf. Exact: after the nearest
    neighbours, partners are tried from the widest down until none that is left can be larger. O(n log² n) as a rule.
    """
    number = len(centres)
    best, nearest = np.full(number, -np.inf), np.full(number, np.inf)
    # Of those at one place the widest is the best partner for all others.
    first, at = place_numbers(centres)
    places, widths = centres[first], np.zeros(first.size)
    np.maximum.at(widths, at, spread)
    # Until one at another place is met: from then on the nearest is known.
    _look((centres, spread), np.arange(number), (places, widths), (best, nearest), _NEAR, -np.inf)
    widest_first = np.argsort(-widths, kind="stable")
    start, size = 0, _WIDEST
    while start < len(places):
        some = widest_first[start : start + size]
        widest = widths[some[0]]
        rows = np.flatnonzero((best * nearest < spread + widest) & (nearest < np.inf))
        if not rows.size:
            break
        _look((centres, spread), rows, (places[some], widths[some]), (best, nearest), 1, widest)
        start, size = start + size, 2 * size
    return best, nearest


def _look(
    groups: tuple[Floats, Floats],
    rows: NDArray[np.intp],
    partners: tuple[Floats, Floats],
    found: tuple[Floats, Floats],
    asked: int,
    widest: float,
) -> None:
    """Raise what is ``found`` of some groups by the nearest of the partners, and by more until none can be larger.

    No partner's spread is above ``widest``.
    """
    (centres, spread), (places, widths), (best, nearest) = groups, partners, found
    tree = scipy.spatial.cKDTree(places)
    while rows.size:
        asked = min(asked, len(places))
        last = np.empty(rows.size)
        step = max(1, _CELLS // asked)
        for start in range(0, rows.size, step):
            some = rows[start : start + step]
            distance, place = tree.query(centres[some], np.arange(1, asked + 1), workers=threads_for(some.size))
            last[start : start + step] = distance[:, -1]
            same = distance == 0
            distance[same] = np.inf
            nearest[some] = np.minimum(nearest[some], distance.min(axis=1))
            ratios = widths[place]
            ratios += spread[some, None]
            ratios /= distance
            ratios[same] = -np.inf
            best[some] = np.maximum(best[some], ratios.max(axis=1))
        if asked == len(places):
            return
        rows = rows[(last == 0) | (np.maximum(best[rows], 0.0) * last < spread[rows] + widest)]
        asked *= 4


def coinciding_pairs(centres: Floats) -> int:
    """How many pairs of centres are at the same place."""
    sizes = np.bincount(place_numbers(centres)[1])
    return int((sizes * (sizes - 1) // 2).sum())
