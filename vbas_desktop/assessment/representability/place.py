"""Representability of an aggregation: the place is what was generalised. Everything comes from counts, not records.

Original classes are (initial region, class), released ones (aggregated region, class). No original class is split, so
b = 0: Rand = 1 − c/M, Jaccard = a/(a + c), Fowlkes–Mallows = sqrt(Jaccard). Rand is close to 1 whatever is done; what
tells something are Jaccard, Fowlkes–Mallows and how far records moved.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vbas_desktop.domain.problem import Problem
from vbas_desktop.domain.records import EquivalenceCounts
from vbas_desktop.domain.solution import Solution

from .indices import PairCounts, pairs


@dataclass(frozen=True, eq=False)
class PlaceVector:
    """How much of the geography survives, over all and per aggregated region (NaN where nothing was released).

    ``distance[g]`` is the mean distance of the released records from their initial region to the record-weighted centre
    of aggregated region g, in the unit of the coordinates. ``with_suppressed`` takes the suppressed records as one
    released class, where the plain values leave them out.
    """

    jaccard: float | None
    fowlkes_mallows: float | None
    rand: float | None
    mean_distance: float | None
    jaccard_with_suppressed: float | None
    fowlkes_mallows_with_suppressed: float | None
    sample_size_ratio: float
    region_jaccard: NDArray[np.float64]
    region_distance: NDArray[np.float64]

    def as_dict(self, unit: str) -> dict[str, Any]:
        """The vector as plain JSON data; metres become kilometres."""
        scale, name = (1000.0, "km") if unit == "m" else (1.0, unit)
        return {
            "jaccard": self.jaccard,
            "fowlkes_mallows": self.fowlkes_mallows,
            "rand": self.rand,
            "mean_distance": None if self.mean_distance is None else self.mean_distance / scale,
            "distance_unit": name,
            "jaccard_with_suppressed": self.jaccard_with_suppressed,
            "fowlkes_mallows_with_suppressed": self.fowlkes_mallows_with_suppressed,
            "sample_size_ratio": self.sample_size_ratio,
        }


def place_vector(problem: Problem, solution: Solution) -> PlaceVector:
    """The vector of one solution: one pass over the stored counts."""
    counts, membership, groups = problem.counts, solution.membership, solution.aggregated_regions
    region, column, value = _entries(counts)
    width = counts.classes.size
    totals = np.bincount(membership[region] * np.int64(width) + column, value, minlength=groups * width)
    totals = totals.astype(np.int64).reshape(groups, width)
    kept = totals[membership[region], column] >= problem.k
    released = np.where(totals >= problem.k, totals, 0)
    together = _pairs_by(membership[region[kept]], value[kept], groups)
    joined = (released * (released - 1) // 2).sum(axis=1)
    a, both = pairs(value[kept]), pairs(released)
    n = int(value[kept].sum())
    overall = PairCounts(a, 0, both - a, n * (n - 1) // 2 - both)
    lost = int(value[~kept].sum())
    unknown = problem.unknown_region_records
    pool = lost + unknown
    # Records of unknown regions have no place of their own: each counts as an original class of one.
    a_all = a + pairs(value[~kept])
    everything = PairCounts(a_all, 0, both + pool * (pool - 1) // 2 - a_all, 0)
    distance, mean = _distances(problem, membership, groups, region[kept], value[kept])
    return PlaceVector(
        jaccard=overall.jaccard if n else None,
        fowlkes_mallows=_root(overall.jaccard) if n else None,
        rand=overall.rand,
        mean_distance=mean,
        jaccard_with_suppressed=everything.jaccard,
        fowlkes_mallows_with_suppressed=_root(everything.jaccard),
        sample_size_ratio=n / problem.records if problem.records else 0.0,
        region_jaccard=np.where(joined > 0, together / np.maximum(joined, 1), np.nan),
        region_distance=distance,
    )


def _root(value: float | None) -> float | None:
    return None if value is None else math.sqrt(value)


def _entries(counts: EquivalenceCounts) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int64]]:
    indptr, columns, values = counts.rows
    return np.repeat(np.arange(counts.regions), np.diff(indptr)), columns, values


def _pairs_by(group: NDArray[np.int32], value: NDArray[np.int64], groups: int) -> NDArray[np.float64]:
    return np.bincount(group, value * (value - 1) // 2, minlength=groups).astype(np.float64)


def _distances(
    problem: Problem,
    membership: NDArray[np.int32],
    groups: int,
    region: NDArray[np.int64],
    value: NDArray[np.int64],
) -> tuple[NDArray[np.float64], float | None]:
    points = problem.regions.points
    weight = np.bincount(region, value, minlength=len(points))
    total = np.bincount(membership, weight, minlength=groups)
    safe = np.where(total > 0, total, 1.0)
    centre = np.column_stack(
        [np.bincount(membership, weight * points[:, axis], minlength=groups) / safe for axis in (0, 1)]
    )
    far = np.hypot(*(points - centre[membership]).T)
    per_group = np.bincount(membership, weight * far, minlength=groups) / safe
    mean = float((weight * far).sum() / weight.sum()) if weight.sum() else None
    return np.where(total > 0, per_group, np.nan), mean
