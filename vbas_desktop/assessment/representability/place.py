"""Representability of an aggregation: the place is what was generalised. Everything comes from counts, not records.

Original classes are (initial region, class), released ones (aggregated region, class). No original class is split, so
b = 0: Rand = 1 − c/M, Jaccard = a/(a + c), Fowlkes–Mallows = sqrt(Jaccard). Rand is close to 1 whatever is done; what
tells something are Jaccard, Fowlkes–Mallows and how far records moved.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vbas_desktop.algorithms.grouping import aggregate, without_small_classes
from vbas_desktop.algorithms.pair_counts import pairs_by_region, pairs_kept
from vbas_desktop.domain.problem import Problem
from vbas_desktop.domain.solution import RunResult, Solution

from .indices import PairCounts

FACT = "representability"
"""The name of the vector among the facts of a solution."""


@dataclass(frozen=True, eq=False)
class PlaceVector:
    """How much of the geography survives, over all and per aggregated region (NaN where nothing was released).

    ``distance[g]`` is the mean distance of the released records from their initial region to the record-weighted centre
    of aggregated region g, in the unit of the coordinates. ``with_suppressed`` takes the suppressed records as one
    released class, where the plain values leave them out. ``released[i]`` counts the released records of initial
    region i.
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
    released: NDArray[np.int64]

    def as_dict(self, unit: str) -> dict[str, Any]:
        """The vector as plain JSON data; metres become kilometres."""
        scale, name = distance_scale(unit)
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


def distance_scale(unit: str) -> tuple[float, str]:
    """By how much distances are divided to be shown, and the unit they then have: metres become kilometres."""
    return (1000.0, "km") if unit == "m" else (1.0, unit)


def place_vector(problem: Problem, solution: Solution) -> PlaceVector:
    """The vector of one solution: a few passes over the stored counts, whatever the number of records."""
    counts, membership, groups = problem.counts, solution.membership, solution.aggregated_regions
    released = without_small_classes(aggregate(counts, membership, groups), problem.k)
    records, together = pairs_kept(counts, membership, released)
    joined = pairs_by_region(released)
    n, a, both = int(records.sum()), int(together.sum()), int(joined.sum())
    overall = PairCounts(a, 0, both - a, n * (n - 1) // 2 - both)
    # Records of unknown regions have no place of their own: each counts as an original class of one.
    pool = problem.records - n
    a_all = int(pairs_by_region(counts).sum())
    everything = PairCounts(a_all, 0, both + pool * (pool - 1) // 2 - a_all, 0)
    together_by_group = _by_group(membership, together, groups)
    distance, mean = _distances(problem, membership, groups, records)
    return PlaceVector(
        jaccard=overall.jaccard if n else None,
        fowlkes_mallows=_root(overall.jaccard) if n else None,
        rand=overall.rand,
        mean_distance=mean,
        jaccard_with_suppressed=everything.jaccard,
        fowlkes_mallows_with_suppressed=_root(everything.jaccard),
        sample_size_ratio=n / problem.records if problem.records else 0.0,
        region_jaccard=np.where(joined > 0, together_by_group / np.maximum(joined, 1), np.nan),
        region_distance=distance,
        released=records,
    )


def with_representability(problem: Problem, solution: Solution) -> Solution:
    """The same solution with its vector among its facts, from where it goes into run.json and the project."""
    vector = place_vector(problem, solution).as_dict(problem.regions.system.unit)
    return replace(solution, facts={**(solution.facts or {}), FACT: vector})


def rated(result: RunResult, problem: Problem) -> RunResult:
    """The same result, every solution with its vector."""
    return replace(result, solutions=tuple(with_representability(problem, each) for each in result.solutions))


def facts_of(solution: Solution) -> Mapping[str, Any]:
    """The vector among the facts of a solution; empty if it was not computed."""
    found = (solution.facts or {}).get(FACT)
    return found if isinstance(found, Mapping) else {}


def solution_vector(
    solution: Solution,
    quasi_identifiers: Sequence[str],
    region_column: str,
    k: int,
    grouped: Sequence[str] = (),
    released_columns: Sequence[str] | None = None,
) -> dict[str, Any]:
    """A solution in the form that requirements are checked against; what it cannot tell is left out.

    Columns whose categories were taken together are on level 1 as a whole, the others as they were in the file.
    """
    return {
        "overall": dict(facts_of(solution)),
        "included_quasi_identifiers": [*quasi_identifiers, region_column],
        "coding": {
            name: {"height": 2, "records_by_level": {"level 1" if name in grouped else "level 0": None}}
            for name in quasi_identifiers
        },
        "sensitive_aggregated": False,
        "sensitive_columns": released_columns,
        "general": {"k": k},
    }


def _root(value: float | None) -> float | None:
    return None if value is None else math.sqrt(value)


def _by_group(membership: NDArray[np.int32], values: NDArray[np.int64], groups: int) -> NDArray[np.int64]:
    total = np.zeros(groups, np.int64)
    np.add.at(total, membership, values)
    return total


def _distances(
    problem: Problem, membership: NDArray[np.int32], groups: int, weight: NDArray[np.int64]
) -> tuple[NDArray[np.float64], float | None]:
    points = problem.regions.points
    total = np.bincount(membership, weight, minlength=groups)
    safe = np.where(total > 0, total, 1.0)
    centre = np.column_stack(
        [np.bincount(membership, weight * points[:, axis], minlength=groups) / safe for axis in (0, 1)]
    )
    far = np.hypot(*(points - centre[membership]).T)
    per_group = np.bincount(membership, weight * far, minlength=groups) / safe
    mean = float((weight * far).sum() / weight.sum()) if weight.sum() else None
    return np.where(total > 0, per_group, np.nan), mean
