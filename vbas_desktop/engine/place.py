"""Representability of an aggregation: the place is what was generalised. Everything comes from counts, not records.

Original classes are (initial region, class), released ones (place, class): the place is the aggregated region, or
in tiers the one where the class is released. No original class is split, so
b = 0: Rand = 1 − c/M, Jaccard = a/(a + c), Fowlkes–Mallows = sqrt(Jaccard). Rand is close to 1 whatever is done; what
tells something are Jaccard, Fowlkes–Mallows and how far records moved.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from vbas_desktop.algorithms.aggregation import pairs_by_region
from vbas_desktop.algorithms.indices import (
    DaviesBouldin,
    PairCounts,
    coinciding_pairs,
    compute_entropy_loss,
    largest_ratios,
    of_rows,
    sum_of_logs,
    worst_of_points,
)
from vbas_desktop.algorithms.remembered import remembered
from vbas_desktop.algorithms.suppression import Aggregation, ReleasedClasses, release_classes
from vbas_desktop.model.problem import Problem
from vbas_desktop.model.progress import SILENT, Progress
from vbas_desktop.model.solution import Representability, Solution

from .outcome import aggregation_for

HEIGHT = 2
"""Levels above a value, and above an initial region without tiers: the group it is taken into, suppression."""

Levels = Mapping[str, Mapping[int, int]]
"""Column → level → released records."""


@dataclass(frozen=True, eq=False)
class Moves:
    """How far records are from the record-weighted centre of their aggregated region, in the unit of the coordinates.

    ``by_region`` is the mean of each aggregated region (NaN where nothing was released), ``mean`` that of all.
    ``ratios`` are the largest (S_i + S_j)/D_ij of each one, whose mean is ``davies_bouldin`` (NaN where there is none).
    """

    by_region: NDArray[np.float64]
    mean: float | None
    ratios: NDArray[np.float64]
    davies_bouldin: DaviesBouldin


def moves(
    points: NDArray[np.float64],
    membership: NDArray[np.integer],
    groups: int,
    weight: NDArray[np.int64],
    worst: float | None,
) -> Moves:
    """From the released records of each initial region, or of each initial region in each tier.

    A distance itself says how far a place was generalised, so Davies–Bouldin takes it without a further factor: S is
    the root mean square of a region, D that of the centres. ``worst`` is its worst case.
    """
    total = np.bincount(membership, weight, minlength=groups)
    everything = float(weight.sum())
    if not everything:
        nothing = np.full(groups, np.nan)
        return Moves(nothing, None, nothing, DaviesBouldin(None, 0, reason="nothing is released"))
    safe = np.where(total > 0, total, 1.0)
    centre = np.column_stack(
        [np.bincount(membership, weight * points[:, axis], minlength=groups) / safe for axis in (0, 1)]
    )
    squared = ((points - centre[membership]) ** 2).sum(axis=1)
    far = np.sqrt(squared)
    by_region = np.bincount(membership, weight * far, minlength=groups) / safe
    spread = np.sqrt(np.bincount(membership, weight * squared, minlength=groups) / safe)
    used = total > 0
    largest = largest_ratios(centre[used], spread[used])
    index = of_rows(largest, coinciding_pairs(centre[used]), worst)
    ratios = np.full(groups, np.nan)
    ratios[used] = np.where(np.isfinite(largest), largest, np.nan)
    return Moves(np.where(used, by_region, np.nan), float((weight * far).sum() / everything), ratios, index)


def levels_of(problem: Problem, membership: NDArray[np.int32], released: ReleasedClasses) -> Levels:
    """Count the released records on each level of each column.

    A region that stands alone is as it was, and so is a value that was only renamed.
    """
    found: dict[str, dict[int, int]] = {}
    first = released.classes[0]
    totals = np.sum([counts.combination_totals for counts in released.classes], axis=0)
    for q, categories in enumerate(problem.categories):
        name = problem.quasi_identifiers[q]
        sizes = problem.sizes_of_categories(name)
        level = np.array([int(sizes.get(value, 1) > 1) for value in categories.values], np.int64)
        records = np.bincount(level[first.decode_column(q)], totals, minlength=2) if totals.size else np.zeros(2)
        found[name] = {number: int(records[number]) for number in (0, 1) if records[number]}
    together = np.bincount(membership)[membership] > 1
    moved = int(released.records[0, together].sum())
    places = {0: int(released.records[0].sum()) - moved, 1: moved}
    places |= {tier + 1: int(released.records[tier].sum()) for tier in range(1, len(released.classes))}
    found[problem.region_column] = {number: records for number, records in places.items() if records}
    return found


def precision_by_column(levels: Levels, heights: Mapping[str, int] = MappingProxyType({})) -> dict[str, float] | None:
    """1 − the mean share of the levels climbed, column by column; None if nothing was released."""
    if not any(sum(records.values()) for records in levels.values()):
        return None
    return {
        name: 1.0
        - sum(level * number for level, number in records.items()) / heights.get(name, HEIGHT) / sum(records.values())
        for name, records in levels.items()
    }


def place_precision(records: NDArray[np.int64], merged: NDArray[np.integer], initial_regions: int) -> float | None:
    """Compute how much detail of the place is kept: 1 if no region is merged, 0 if all are one; None without records.

    1 − mean over the released records of log₂(initial regions in the record's place) / log₂(all initial regions).
    ``records[p]`` are the released records that carry place p, ``merged[p]`` its number of initial regions.
    """
    total = int(records.sum())
    if not total:
        return None
    if initial_regions == 1:
        return 1.0
    lost = np.log2(np.maximum(merged, 1)) / np.log2(initial_regions)
    return 1.0 - float((records * lost).sum()) / total


def packed(flags: NDArray[np.bool_]) -> str:
    """Flags as a short text."""
    return base64.b64encode(np.packbits(flags).tobytes()).decode("ascii")


def unpacked(text: str, number: int) -> NDArray[np.bool_] | None:
    """The flags again; None if the text does not hold so many."""
    try:
        bits = np.unpackbits(np.frombuffer(base64.b64decode(text, validate=True), np.uint8))
    except ValueError:
        return None
    return bits[:number].astype(bool) if number <= bits.size < number + 8 else None


_STAGE = "Rating what is kept of the geography"


@dataclass(frozen=True, eq=False)
class PlaceVector:
    """How much of the geography survives, over all and per aggregated region (NaN where nothing was released).

    ``distance[g]`` is the mean distance of the released records from their initial region to the record-weighted centre
    of aggregated region g, in the unit of the coordinates. ``with_suppressed`` takes the suppressed records as one
    released class, where the plain values leave them out. ``heights`` says how many levels each column has above its
    values. In tiers, values per aggregated region are of the records released in it. ``released[i]`` counts the
    released records of initial region i, ``released_classes[c]`` says whether class c is released anywhere.
    ``region_davies_bouldin[g]`` is the largest (S_i + S_j)/D_ij of region g. ``place_precision`` is the detail that is
    kept of the place (see `place_precision`).
    """

    jaccard: float | None
    fowlkes_mallows: float | None
    rand: float | None
    hubert: float | None
    entropy_loss: float | None
    mean_distance: float | None
    jaccard_with_suppressed: float | None
    fowlkes_mallows_with_suppressed: float | None
    sample_size_ratio: float
    davies_bouldin: DaviesBouldin
    levels: Levels
    heights: Mapping[str, int]
    region_column: str
    place_precision: float | None
    region_jaccard: NDArray[np.float64]
    region_distance: NDArray[np.float64]
    region_davies_bouldin: NDArray[np.float64]
    released: NDArray[np.int64]
    released_classes: NDArray[np.bool_]

    @property
    def region_fowlkes_mallows(self) -> NDArray[np.float64]:
        """The Fowlkes–Mallows index of each aggregated region."""
        return np.sqrt(self.region_jaccard)

    @property
    def precision_by_column(self) -> dict[str, float] | None:
        """The precision of each quasi-identifier and of the place; None if nothing was released."""
        by_column = precision_by_column(self.levels, self.heights)
        if by_column is None or self.place_precision is None:
            return None
        return {**by_column, self.region_column: self.place_precision}

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
            "hubert": self.hubert,
            "entropy_loss": self.entropy_loss,
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


def place_vector(
    problem: Problem, solution: Solution, progress: Progress = SILENT, released: ReleasedClasses | None = None
) -> PlaceVector:
    """Compute the vector of one solution in a few passes over the counts, whatever the number of records.

    ``released`` is what the solution releases, where that is known already.
    """
    merged = aggregation_for(problem, solution).judged
    if released is None:
        released = release_classes(merged, progress)
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
    together_by_group = np.zeros(merged.n_groups, np.int64)
    np.add.at(together_by_group, merged.membership, released.pairs[0])
    moved = _moved(problem, merged, released)
    height = max(HEIGHT, len(released.classes))
    return PlaceVector(
        jaccard=overall.jaccard if n else None,
        fowlkes_mallows=overall.fowlkes_mallows if n else None,
        rand=overall.rand,
        hubert=overall.hubert,
        entropy_loss=_entropy_loss(released, n) if n else None,
        mean_distance=moved.mean,
        jaccard_with_suppressed=everything.jaccard,
        fowlkes_mallows_with_suppressed=everything.fowlkes_mallows,
        sample_size_ratio=n / problem.records if problem.records else 0.0,
        davies_bouldin=moved.davies_bouldin,
        levels=levels_of(problem, merged.membership, released),
        heights={**dict.fromkeys(problem.quasi_identifiers, HEIGHT), problem.region_column: height},
        region_column=problem.region_column,
        place_precision=_place_precision(merged, released),
        region_jaccard=np.where(joined > 0, together_by_group / np.maximum(joined, 1), np.nan),
        region_distance=moved.by_region[: merged.n_groups],
        region_davies_bouldin=moved.ratios[: merged.n_groups],
        released=records,
        released_classes=_flag_released(problem, released),
    )


def _entropy_loss(released: ReleasedClasses, records: int) -> float:
    """Compute the entropy-based loss of the released records; no original class is split."""
    joined = sum(sum_of_logs(counts.sizes) for counts in released.classes)
    return compute_entropy_loss(released.log_sum, released.log_sum, joined, records)


def _flag_released(problem: Problem, released: ReleasedClasses) -> NDArray[np.bool_]:
    """Tell of each combination of the file whether it is released anywhere."""
    flags = np.zeros(problem.counts.n_combinations, np.bool_)
    for counts in released.classes:
        there = counts.combinations[counts.combination_totals > 0]
        flags[np.searchsorted(problem.counts.combinations, there)] = True
    return flags


def _place_precision(merged: Aggregation, released: ReleasedClasses) -> float | None:
    """Compute the detail that is kept of the place that each record carries, in whatever tier."""
    in_same_place = [np.bincount(membership)[membership] for membership in merged.memberships]
    return place_precision(released.records, np.array(in_same_place), merged.counts.n_regions)


def _moved(problem: Problem, merged: Aggregation, released: ReleasedClasses) -> Moves:
    """How far records are from the middle of the place where they are released; places tier by tier."""
    starts = np.cumsum([0, *merged.places])
    membership = np.concatenate([each + start for each, start in zip(merged.memberships, starts, strict=False)])
    in_tiers = np.tile(problem.regions.points, (len(merged.places), 1))
    return moves(in_tiers, membership, int(starts[-1]), released.records.ravel(), _worst_ratio(problem)[0])


@remembered
def _worst_ratio(problem: Problem) -> tuple[float | None]:
    """Compute the worst Davies–Bouldin ratio of the file, once for all its solutions."""
    return (worst_of_points(problem.regions.points, problem.counts.region_totals),)


def with_representability(
    problem: Problem, solution: Solution, progress: Progress = SILENT, released: ReleasedClasses | None = None
) -> Solution:
    """The same solution with its vector; itself if it knows it already, as one that was kept does."""
    if "entropy_loss" in solution.representability and solution.released_classes:
        return solution
    vector = place_vector(problem, solution, progress, released)
    told = vector.as_dict(problem.regions.system.unit)
    return replace(solution, representability=told, released_classes=packed(vector.released_classes))
