"""Representability of an aggregation: the place is what was generalised. Everything comes from counts, not records.

Original classes are (initial region, class), released ones (place, class): the place is the aggregated region, or
in tiers the one where the class is released. No original class is split, so
b = 0: Rand = 1 − c/M, Jaccard = a/(a + c), Fowlkes–Mallows = sqrt(Jaccard). Rand is close to 1 whatever is done; what
tells something are Jaccard, Fowlkes–Mallows and how far records moved.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from vbas_desktop.algorithms.grouping import pairs_by_region
from vbas_desktop.algorithms.indices import DaviesBouldin, PairCounts
from vbas_desktop.algorithms.released import Aggregation, Placed, placed
from vbas_desktop.domain.problem import Problem
from vbas_desktop.domain.progress import SILENT, Progress
from vbas_desktop.domain.solution import Representability, Solution

from .outcome import aggregation_for
from .place_parts import HEIGHT, Levels, Moves, levels_of, moves, packed, precision_by_column

_STAGE = "Rating what is kept of the geography"


@dataclass(frozen=True, eq=False)
class PlaceVector:
    """How much of the geography survives, over all and per aggregated region (NaN where nothing was released).

    ``distance[g]`` is the mean distance of the released records from their initial region to the record-weighted centre
    of aggregated region g, in the unit of the coordinates. ``with_suppressed`` takes the suppressed records as one
    released class, where the plain values leave them out. ``heights`` says how many levels each column has above its
    values. In tiers, values per aggregated region are of the records released in it. ``released[i]`` counts the
    released records of initial region i, ``released_classes[c]`` says whether class c is released anywhere.
    """

    jaccard: float | None
    fowlkes_mallows: float | None
    rand: float | None
    mean_distance: float | None
    jaccard_with_suppressed: float | None
    fowlkes_mallows_with_suppressed: float | None
    sample_size_ratio: float
    davies_bouldin: DaviesBouldin
    levels: Levels
    heights: Mapping[str, int]
    region_jaccard: NDArray[np.float64]
    region_distance: NDArray[np.float64]
    released: NDArray[np.int64]
    released_classes: NDArray[np.bool_]

    @property
    def region_fowlkes_mallows(self) -> NDArray[np.float64]:
        """The Fowlkes–Mallows index of each aggregated region."""
        return np.sqrt(self.region_jaccard)

    @property
    def precision_by_column(self) -> dict[str, float] | None:
        """The precision of each quasi-identifier and of the place; None if nothing was released."""
        return precision_by_column(self.levels, self.heights)

    @property
    def precision(self) -> float | None:
        """The mean over the quasi-identifiers and the place."""
        by_column = self.precision_by_column
        return None if by_column is None else sum(by_column.values()) / len(by_column)

    def as_dict(self, unit: str) -> Representability:
        """The vector as plain JSON data; metres become kilometres."""
        scale, name = distance_scale(unit)
        precision, index = self.precision, self.davies_bouldin
        reason = Representability(davies_bouldin_reason=index.reason) if index.reason else Representability()
        return {
            "precision": precision,
            "precision_by_column": self.precision_by_column,
            "precision_with_suppressed": (precision or 0.0) * self.sample_size_ratio,
            "jaccard": self.jaccard,
            "fowlkes_mallows": self.fowlkes_mallows,
            "rand": self.rand,
            "davies_bouldin": index.value,
            "davies_bouldin_normalised": index.normalised,
            "davies_bouldin_worst": index.worst,
            "davies_bouldin_coinciding_classes": index.coinciding_pairs,
            **reason,
            "mean_distance": None if self.mean_distance is None else self.mean_distance / scale,
            "distance_unit": name,
            "jaccard_with_suppressed": self.jaccard_with_suppressed,
            "fowlkes_mallows_with_suppressed": self.fowlkes_mallows_with_suppressed,
            "sample_size_ratio": self.sample_size_ratio,
            "records_by_level": {
                column: {f"level {level}": records for level, records in by_level.items()}
                for column, by_level in self.levels.items()
            },
        }


def distance_scale(unit: str) -> tuple[float, str]:
    """By how much distances are divided to be shown, and the unit they then have: metres become kilometres."""
    return (1000.0, "km") if unit == "m" else (1.0, unit)


def place_vector(problem: Problem, solution: Solution, progress: Progress = SILENT) -> PlaceVector:
    """The vector of one solution: a few passes over the stored counts, whatever the number of records."""
    merged = aggregation_for(problem, solution).judged
    released = placed(merged, progress)
    records = released.records.sum(axis=0)
    joined = pairs_by_region(released.classes[0])
    n, a = int(records.sum()), int(released.pairs.sum())
    both = int(joined.sum()) + sum(int(pairs_by_region(counts).sum()) for counts in released.classes[1:])
    overall = PairCounts(a, 0, both - a, n * (n - 1) // 2 - both)
    # Records of unknown regions have no place of their own: each counts as an original class of one.
    pool = problem.records - n
    progress.update(_STAGE)
    a_all = int(pairs_by_region(problem.counts).sum())
    progress.update(_STAGE)
    everything = PairCounts(a_all, 0, both + pool * (pool - 1) // 2 - a_all, 0)
    together_by_group = np.zeros(merged.groups, np.int64)
    np.add.at(together_by_group, merged.membership, released.pairs[0])
    moved = _moved(problem.regions.points, merged, released)
    height = max(HEIGHT, len(released.classes))
    return PlaceVector(
        jaccard=overall.jaccard if n else None,
        fowlkes_mallows=_root(overall.jaccard) if n else None,
        rand=overall.rand,
        mean_distance=moved.mean,
        jaccard_with_suppressed=everything.jaccard,
        fowlkes_mallows_with_suppressed=_root(everything.jaccard),
        sample_size_ratio=n / problem.records if problem.records else 0.0,
        davies_bouldin=moved.davies_bouldin,
        levels=levels_of(problem, merged.membership, released),
        heights={**dict.fromkeys(problem.quasi_identifiers, HEIGHT), problem.region_column: height},
        region_jaccard=np.where(joined > 0, together_by_group / np.maximum(joined, 1), np.nan),
        region_distance=moved.by_region[: merged.groups],
        released=records,
        released_classes=np.any([counts.class_totals > 0 for counts in released.classes], axis=0),
    )


def _moved(points: NDArray[np.float64], merged: Aggregation, released: Placed) -> Moves:
    """How far records are from the middle of the place where they are released; places tier by tier."""
    starts = np.cumsum([0, *merged.places])
    membership = np.concatenate([each + start for each, start in zip(merged.memberships, starts, strict=False)])
    return moves(np.tile(points, (len(merged.places), 1)), membership, int(starts[-1]), released.records.ravel())


def with_representability(problem: Problem, solution: Solution, progress: Progress = SILENT) -> Solution:
    """The same solution with its vector; itself if it knows it already, as one that was kept does."""
    if "precision" in solution.representability and solution.released_classes:
        return solution
    vector = place_vector(problem, solution, progress)
    told = vector.as_dict(problem.regions.system.unit)
    return replace(solution, representability=told, released_classes=packed(vector.released_classes))


def _root(value: float | None) -> float | None:
    return None if value is None else math.sqrt(value)
