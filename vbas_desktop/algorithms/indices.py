"""Indices of how much the classes of a release still say of the original classes. Exact integers underneath."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray


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


@dataclass(frozen=True)
class DaviesBouldin:
    """The index, and how many pairs of classes lie on top of each other (distance 0) and were left out of it.

    ``worst`` is the index if every class were as wide as the whole file, which is all that suppressed values tell;
    the best case is the original file, whose classes have no width: 0. ``reason`` says why there is no value.
    """

    value: float | None
    coinciding_pairs: int
    worst: float | None = None
    reason: str = ""

    @property
    def normalised(self) -> float | None:
        """The index between the best case (0) and the worst (1); None where one of them is not defined."""
        if self.value is None or not self.worst:
            return None
        return min(1.0, self.value / self.worst)


def of_rows(
    largest: NDArray[np.float64], nearest: NDArray[np.float64], coinciding: int, widest: float | None
) -> DaviesBouldin:
    """The index from the largest ratio of each class and the distance to the nearest other one."""
    usable = np.isfinite(nearest)
    if not usable.any():
        reason = "all classes have the same centre" if nearest.size > 1 else "there is only one class"
        return DaviesBouldin(None, coinciding, reason=reason)
    worst = None if widest is None else float((2.0 * widest / nearest[usable]).mean())
    return DaviesBouldin(float(largest[usable].mean()), coinciding, worst)
