"""Indices of how much the classes of a release still say of the original classes. Exact integers underneath.

And the parts of the Davies–Bouldin index: how wide groups of points are against the distance to the others.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from .nearest_site import choose_thread_count, group_coincident_points

_ROUNDING = 1e-12
"""An entropy per record below this is 0: sums of logarithms have rounding errors."""

_CELLS = 125_000
"""Numbers that are worked on at a time, so that temporary arrays stay small."""


@dataclass(frozen=True)
class SizeSums:
    """Sums over the sizes n of some classes: n, the pairs of records n · (n − 1) / 2, and n · ln n (NaN: not known)."""

    records: int
    pairs: int
    log_sum: float = math.nan

    @classmethod
    def of(cls, sizes: ArrayLike) -> SizeSums:
        """Compute the sums. Pairs are exact for any number of classes of up to 3·10⁹ records."""
        array = np.asarray(sizes, dtype=np.int64).ravel()
        log_sum = 0.0
        for start in range(0, array.size, _CELLS):
            chunk = array[start : start + _CELLS]
            log_sum += float((chunk * np.log(np.maximum(chunk, 1))).sum())
        return cls(int(array.sum()), _count_pairs(array), log_sum)

    def __add__(self, other: SizeSums) -> SizeSums:
        return SizeSums(
            self.records + other.records, self.pairs + other.pairs, self.log_sum + other.log_sum
        )


def _count_pairs(sizes: NDArray[np.int64]) -> int:
    """Sum the pairs of each class as a Python integer: 9.6 million records have more pairs than 32 bits hold."""
    pairs = sizes * (sizes - 1) // 2
    # One class fits into 64 bits, the sum of many may not.
    if pairs.size and float(pairs.max()) * pairs.size < 2.0**62:
        return int(pairs.sum())
    return sum(int(number) for number in pairs)


@dataclass(frozen=True)
class ContingencyTable:
    """Records by original and released class, reduced to the sums that the measures of representability need.

    ``cells`` are the records that an original and a released class have in common, ``original`` and ``released`` the
    classes, that is, the sums of the rows and of the columns. All three are of the same records. If no original class
    is split, each is a cell, so ``original`` equals ``cells``.
    """

    cells: SizeSums
    original: SizeSums
    released: SizeSums

    @classmethod
    def of_sizes(cls, cells: ArrayLike, original: ArrayLike, released: ArrayLike) -> ContingencyTable:
        """Sum the sizes of the cells, of the original classes and of the released ones."""
        return cls(SizeSums.of(cells), SizeSums.of(original), SizeSums.of(released))

    @property
    def records(self) -> int:
        """Number of records."""
        return self.cells.records

    @property
    def pairs(self) -> int:
        """Number of pairs of records."""
        return self.records * (self.records - 1) // 2

    @property
    def pairs_apart(self) -> int:
        """Number of pairs that share neither an original nor a released class."""
        return self.pairs - self.original.pairs - self.released.pairs + self.cells.pairs

    @property
    def rand(self) -> float | None:
        """Share of all pairs on which both files agree; None with fewer than two records."""
        return (self.cells.pairs + self.pairs_apart) / self.pairs if self.pairs else None

    @property
    def jaccard(self) -> float | None:
        """Share of the pairs that share a class in one of the files that do so in both.

        1 where no pair shares a class, None without records.
        """
        if not self.records:
            return None
        in_either = self.original.pairs + self.released.pairs - self.cells.pairs
        return self.cells.pairs / in_either if in_either else 1.0

    @property
    def fowlkes_mallows(self) -> float | None:
        """Compute the geometric mean of the shares of pairs of either file that share a class in the other one, too.

        1 where no pair shares a class, None without records.
        """
        if not self.records:
            return None
        if self.original.pairs == 0 or self.released.pairs == 0:
            return 1.0 if self.original.pairs == self.released.pairs else 0.0
        return math.sqrt(self.cells.pairs / self.original.pairs) * math.sqrt(
            self.cells.pairs / self.released.pairs
        )

    @property
    def hubert(self) -> float | None:
        """Compute Hubert's Γ, normalised: the correlation of "together before" with "together after" over all pairs.

        (M·a − (a+b)(a+c)) / √((a+b)(a+c)(M−a−b)(M−a−c)) with a, a + b and a + c the pairs in the cells, the original
        and the released classes, and M all pairs. None where a factor is 0.
        """
        original = self.original.pairs
        released = self.released.pairs
        factors = (original, released, self.pairs - original, self.pairs - released)
        if 0 in factors:
            return None
        covariance = self.pairs * self.cells.pairs - original * released
        # Products of four numbers of pairs exceed 64 bits; the integers of Python do not.
        return covariance / math.sqrt(math.prod(factors))

    @property
    def entropy_loss(self) -> float | None:
        """Compute the entropy-based loss H(original | released) / H(original): 0 nothing is lost, 1 everything.

        0 if all records are in one original class, None without records or where the logarithms are not known.
        """
        if not self.records or math.isnan(
            self.cells.log_sum + self.original.log_sum + self.released.log_sum
        ):
            return None
        uncertainty = self.records * math.log(self.records) - self.original.log_sum
        if uncertainty <= _ROUNDING * self.records:
            return 0.0
        return min(1.0, max(0.0, (self.released.log_sum - self.cells.log_sum) / uncertainty))


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
        """Scale the index between the best case (0) and the worst (1); None where one of them is not defined."""
        if not self.value:
            return self.value
        if not self.worst:
            return None
        return min(1.0, self.value / self.worst)


def summarise_ratios(
    largest: NDArray[np.float64], coinciding: int, worst: float | None = None
) -> DaviesBouldin:
    """Compute the index from the largest ratio of each class (−inf: no other class has another centre)."""
    usable = largest > -np.inf
    if not usable.any():
        reason = "all classes have the same centre" if largest.size > 1 else "there is only one class"
        return DaviesBouldin(None, coinciding, worst, reason=reason)
    return DaviesBouldin(float(largest[usable].mean()), coinciding, worst)


Floats = NDArray[np.float64]


def compute_worst_index(points: Floats, records: NDArray[np.int64]) -> float | None:
    """Compute the worst case 2 · S / D of records at points; None unless two points with records differ."""
    used = records > 0
    some = points[used]
    weight = records[used]
    first, _ = group_coincident_points(some)
    if first.size < 2:
        return None
    middle = np.average(some, axis=0, weights=weight)
    spread = math.sqrt(np.average(((some - middle) ** 2).sum(axis=1), weights=weight))
    positions = some[first]
    distances, _ = scipy.spatial.cKDTree(positions).query(
        positions, [2], workers=choose_thread_count(len(positions))
    )
    return 2.0 * spread / float(distances.min())


_NEAR = 5
"""Neighbours looked at first: nearly always the deciding one is among them."""

_WIDEST = 8
"""Number of the widest groups that are compared together first; then twice as many of the next ones, and so on."""


def compute_largest_ratios(centres: Floats, spread: Floats) -> Floats:
    """Compute the largest (S_i + S_j)/D_ij of each group.

    Centres at the same place are left out; a group that has no other gets −inf. Exact: after the nearest
    neighbours, partners are tried from the widest down until none that is left can be larger. O(n log² n) as a rule.
    """
    number = len(centres)
    best = np.full(number, -np.inf)
    nearest = np.full(number, np.inf)
    # Of those at one place the widest is the best partner for all others.
    first, at = group_coincident_points(centres)
    positions = centres[first]
    widths = np.zeros(first.size)
    np.maximum.at(widths, at, spread)
    # Until one at another place is met: from then on the nearest is known.
    _raise_ratios(
        (centres, spread), np.arange(number), (positions, widths), (best, nearest), _NEAR, -np.inf
    )
    widest_first = np.argsort(-widths, kind="stable")
    start = 0
    size = _WIDEST
    while start < len(positions):
        some = widest_first[start : start + size]
        widest = widths[some[0]]
        rows = np.flatnonzero((best * nearest < spread + widest) & (nearest < np.inf))
        if not rows.size:
            break
        _raise_ratios(
            (centres, spread), rows, (positions[some], widths[some]), (best, nearest), 1, widest
        )
        start += size
        size *= 2
    return best


def _raise_ratios(
    groups: tuple[Floats, Floats],
    rows: NDArray[np.intp],
    partners: tuple[Floats, Floats],
    results: tuple[Floats, Floats],
    n_neighbours: int,
    widest: float,
) -> None:
    """Raise the largest ratios of some groups by their nearest partners, and by more until none can be larger.

    groups: centres and spread of all groups. partners: the same of the possible partners, none with a spread above
    ``widest``. results: largest ratio and distance to the nearest partner of each group, updated in place.
    """
    centres, spread = groups
    positions, widths = partners
    best, nearest = results
    tree = scipy.spatial.cKDTree(positions)
    while rows.size:
        n_neighbours = min(n_neighbours, len(positions))
        last = np.empty(rows.size)
        step = max(1, _CELLS // n_neighbours)
        for start in range(0, rows.size, step):
            some = rows[start : start + step]
            distance, neighbour = tree.query(
                centres[some], np.arange(1, n_neighbours + 1), workers=choose_thread_count(some.size)
            )
            last[start : start + step] = distance[:, -1]
            same = distance == 0
            distance[same] = np.inf
            nearest[some] = np.minimum(nearest[some], distance.min(axis=1))
            ratios = widths[neighbour]
            ratios += spread[some, None]
            ratios /= distance
            ratios[same] = -np.inf
            best[some] = np.maximum(best[some], ratios.max(axis=1))
        if n_neighbours == len(positions):
            return
        rows = rows[(last == 0) | (np.maximum(best[rows], 0.0) * last < spread[rows] + widest)]
        n_neighbours *= 4


def count_coinciding_pairs(centres: Floats) -> int:
    """Count the pairs of centres at the same position."""
    sizes = np.bincount(group_coincident_points(centres)[1])
    return int((sizes * (sizes - 1) // 2).sum())
