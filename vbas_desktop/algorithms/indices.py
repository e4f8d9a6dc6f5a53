"""Indices of how much the classes of a release still say of the original classes. Exact integers underneath.

And the parts of the Davies–Bouldin index: how wide groups of points are against the distance to the others.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from .nearest import threads_for
from .places import place_numbers

_ROUNDING = 1e-12
"""An entropy per record below this is 0: sums of logarithms have rounding errors."""


def pairs(counts: ArrayLike) -> int:
    """Σ C(n, 2) as a Python integer: 9.6 million records have more pairs than 32 bits hold."""
    array = np.asarray(counts, dtype=np.int64).ravel()
    # n·(n−1)/2 of up to 2^31 records fits into 64 bits, but a sum of many may not.
    each = array * (array - 1) // 2
    if each.size and float(each.max()) * each.size < 2.0**62:
        return int(each.sum())
    return sum(int(value) for value in each)


@dataclass(frozen=True)
class PairCounts:
    """Pairs of records: together in both (a), in the original only (b), in the release only (c), in neither (d)."""

    together: int
    only_original: int
    only_released: int
    apart: int

    @classmethod
    def of(cls, both: ArrayLike, original: ArrayLike, released: ArrayLike) -> PairCounts:
        """From the sizes of the common classes, the original classes and the released classes."""
        a = pairs(both)
        b, c = pairs(original) - a, pairs(released) - a
        n = int(np.asarray(original, dtype=np.int64).sum())
        return cls(a, b, c, n * (n - 1) // 2 - a - b - c)

    @property
    def rand(self) -> float | None:
        """Share of pairs on which both agree; None with fewer than two records."""
        total = self.together + self.only_original + self.only_released + self.apart
        return (self.together + self.apart) / total if total else None

    @property
    def jaccard(self) -> float | None:
        """Share of the pairs together in one that are together in both; 1 where no pair is together in either."""
        either = self.together + self.only_original + self.only_released
        return self.together / either if either else 1.0

    @property
    def fowlkes_mallows(self) -> float | None:
        """Geometric mean of the two shares of pairs that stay together; 1 where no pair is together in either."""
        original, released = self.together + self.only_original, self.together + self.only_released
        if original == 0 or released == 0:
            return 1.0 if original == released else 0.0
        return math.sqrt(self.together / original) * math.sqrt(self.together / released)

    @property
    def hubert(self) -> float | None:
        """Hubert's Γ, normalised: the correlation of "together before" with "together after" over all pairs.

        (M·a − (a+b)(a+c)) / √((a+b)(a+c)(M−a−b)(M−a−c)); None where a factor is 0, that is, where all pairs or none
        are together in one of the files.
        """
        original = self.together + self.only_original
        released = self.together + self.only_released
        total = original + self.only_released + self.apart
        factors = (original, released, total - original, total - released)
        if 0 in factors:
            return None
        covariance = total * self.together - original * released
        # Products of four numbers of pairs exceed 64 bits; the integers of Python do not.
        return covariance / math.sqrt(math.prod(factors))


def sum_of_logs(counts: ArrayLike) -> float:
    """Compute Σ n · ln n, some counts at a time; a count of 0 adds nothing."""
    array = np.asarray(counts, dtype=np.int64).ravel()
    total = 0.0
    for start in range(0, array.size, _CELLS):
        some = array[start : start + _CELLS]
        total += float((some * np.log(np.maximum(some, 1))).sum())
    return total


def compute_entropy_loss(both: float, original: float, released: float, records: int) -> float:
    """Compute the entropy-based loss H(original | released) / H(original): 0 nothing is lost, 1 everything.

    The arguments are Σ n · ln n over the common parts of an original and a released class (``both``), over the original
    classes and over the released ones, and the number of records. 0 if all records are in one original class.
    """
    if records == 0:
        return 0.0
    uncertainty = records * math.log(records) - original
    if uncertainty <= _ROUNDING * records:
        return 0.0
    return min(1.0, max(0.0, (released - both) / uncertainty))


@dataclass(frozen=True)
class DaviesBouldin:
    """The index, and how many pairs of classes lie on top of each other (distance 0) and were left out of it.

    ``worst`` is the worst case of the original file, the same for all releases of it: 2 · S / D with S the root mean
    square distance of all records to the centre of the file and D the smallest positive distance between the centres
    of two original classes. The best case is the original itself, whose classes have no width: 0. ``reason`` says why
    there is no value.
    """

    value: float | None
    coinciding_pairs: int
    worst: float | None = None
    reason: str = ""

    @property
    def normalised(self) -> float | None:
        """The index between the best case (0) and the worst (1); None where one of them is not defined."""
        if not self.value:
            return self.value
        if not self.worst:
            return None
        return min(1.0, self.value / self.worst)


def of_rows(largest: NDArray[np.float64], coinciding: int, worst: float | None = None) -> DaviesBouldin:
    """Compute the index from the largest ratio of each class (−inf: no other class has another centre)."""
    usable = largest > -np.inf
    if not usable.any():
        reason = "all classes have the same centre" if largest.size > 1 else "there is only one class"
        return DaviesBouldin(None, coinciding, worst, reason=reason)
    return DaviesBouldin(float(largest[usable].mean()), coinciding, worst)


Floats = NDArray[np.float64]


def worst_of_points(points: Floats, records: NDArray[np.int64]) -> float | None:
    """Compute the worst case 2 · S / D of records at points; None unless two points with records differ."""
    used = records > 0
    some, weight = points[used], records[used]
    first, _ = place_numbers(some)
    if first.size < 2:
        return None
    middle = np.average(some, axis=0, weights=weight)
    spread = math.sqrt(np.average(((some - middle) ** 2).sum(axis=1), weights=weight))
    places = some[first]
    distances, _ = scipy.spatial.cKDTree(places).query(places, [2], workers=threads_for(len(places)))
    return 2.0 * spread / float(distances.min())


_NEAR = 5
"""Neighbours looked at first: nearly always the deciding one is among them."""

_WIDEST = 8
"""So many of the widest groups are looked at together, then twice as many of the next ones, and so on."""

_CELLS = 125_000
"""Distances held at a time, whatever the number of groups."""


def largest_ratios(centres: Floats, spread: Floats) -> Floats:
    """Compute the largest (S_i + S_j)/D_ij of each group.

    Centres at the same place are left out; a group that has no other gets −inf. Exact: after the nearest
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
    return best


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
