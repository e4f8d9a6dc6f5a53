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
from vbas_desktop.algorithms.suppression import Aggregation, ReleasedClasses, release_classes
from vbas_desktop.algorithms.validity_indices import (
    ContingencyTable,
    DaviesBouldin,
    SizeSums,
    compute_largest_ratios,
    compute_worst_index,
    count_coinciding_pairs,
    summarise_ratios,
)
from vbas_desktop.algorithms.weak_cache import cached_per_object
from vbas_desktop.model.problem import Problem
from vbas_desktop.model.progress import NO_PROGRESS, Progress
from vbas_desktop.model.solution import RepresentabilityMeasures, Solution

from .outcome import aggregate_solution

HEIGHT = 2
"""Levels above a value, and above an initial region without tiers: the group it is taken into, suppression."""

Levels = Mapping[str, Mapping[int, int]]
"""Column → level → released records."""


@dataclass(frozen=True, eq=False)
class Displacements:
    """Distances of records from the record-weighted centre of their aggregated region, in the unit of the coordinates.

    ``by_region`` is the mean of each aggregated region (NaN where nothing was released), ``mean`` that of all.
    ``ratios`` are the largest (S_i + S_j)/D_ij of each one, whose mean is ``davies_bouldin`` (NaN where there is none).
    """

    by_region: NDArray[np.float64]
    mean: float | None
    ratios: NDArray[np.float64]
    davies_bouldin: DaviesBouldin


def measure_displacements(
    points: NDArray[np.float64],
    membership: NDArray[np.integer],
    n_areas: int,
    records: NDArray[np.int64],
    worst: float | None,
) -> Displacements:
    """Measure how far the records are from the centre of the area that they are released in.

    ``points`` (n × 2), ``membership`` (area of each) and ``records`` (released ones) are those of the initial regions,
    in tiers those of every tier one after another. A distance itself says how far an area was generalised, so
    Davies–Bouldin takes it without a further factor: S is the root mean square of an area, D the distance of two
    centres. ``worst`` is its worst case.
    """
    by_area = np.bincount(membership, records, minlength=n_areas)
    total = float(records.sum())
    if not total:
        undefined = np.full(n_areas, np.nan)
        return Displacements(
            undefined, None, undefined, DaviesBouldin(None, 0, reason="nothing is released")
        )
    divisor = np.where(by_area > 0, by_area, 1.0)
    centres = np.column_stack(
        [
            np.bincount(membership, records * points[:, axis], minlength=n_areas) / divisor
            for axis in (0, 1)
        ]
    )
    squared = ((points - centres[membership]) ** 2).sum(axis=1)
    distances = np.sqrt(squared)
    mean_by_area = np.bincount(membership, records * distances, minlength=n_areas) / divisor
    spread = np.sqrt(np.bincount(membership, records * squared, minlength=n_areas) / divisor)
    is_used = by_area > 0
    largest = compute_largest_ratios(centres[is_used], spread[is_used])
    index = summarise_ratios(largest, count_coinciding_pairs(centres[is_used]), worst)
    ratios = np.full(n_areas, np.nan)
    ratios[is_used] = np.where(np.isfinite(largest), largest, np.nan)
    mean = float((records * distances).sum() / total)
    return Displacements(np.where(is_used, mean_by_area, np.nan), mean, ratios, index)


def count_levels(problem: Problem, membership: NDArray[np.int32], released: ReleasedClasses) -> Levels:
    """Count the released records on each level of each column.

    A region that stands alone is as it was, and so is a value that was only renamed.
    """
    levels: dict[str, dict[int, int]] = {}
    first_tier = released.classes[0]
    totals = np.sum([counts.combination_totals for counts in released.classes], axis=0)
    for q, categories in enumerate(problem.categories):
        name = problem.quasi_identifiers[q]
        sizes = problem.sizes_of_categories(name)
        level = np.array([int(sizes.get(value, 1) > 1) for value in categories.values], np.int64)
        records = (
            np.bincount(level[first_tier.decode_column(q)], totals, minlength=2)
            if totals.size
            else np.zeros(2)
        )
        levels[name] = {number: int(records[number]) for number in (0, 1) if records[number]}
    is_merged = np.bincount(membership)[membership] > 1
    merged = int(released.records[0, is_merged].sum())
    by_level = {0: int(released.records[0].sum()) - merged, 1: merged}
    by_level |= {tier + 1: int(released.records[tier].sum()) for tier in range(1, len(released.classes))}
    levels[problem.region_column] = {level: number for level, number in by_level.items() if number}
    return levels


def compute_column_precision(
    levels: Levels, heights: Mapping[str, int] = MappingProxyType({})
) -> dict[str, float] | None:
    """Compute 1 − the mean share of the levels climbed, column by column; None if nothing was released."""
    if not any(sum(records.values()) for records in levels.values()):
        return None
    precision = {}
    for name, records in levels.items():
        climbed = sum(level * number for level, number in records.items()) / heights.get(name, HEIGHT)
        precision[name] = 1.0 - climbed / sum(records.values())
    return precision


def compute_region_precision(
    records: NDArray[np.int64], merged: NDArray[np.integer], initial_regions: int
) -> float | None:
    """Compute how much detail of the place is kept: 1 if no region is merged, 0 if all are one; None without records.

    1 − mean over the released records of log₂(initial regions in the record's place) / log₂(all initial regions).
    ``records[p]`` are the released records that carry place p, ``merged[p]`` its number of initial regions.
    """
    total = int(records.sum())
    if not total:
        return None
    if initial_regions == 1:
        return 1.0
    losses = np.log2(np.maximum(merged, 1)) / np.log2(initial_regions)
    return 1.0 - float((records * losses).sum()) / total


def pack_flags(flags: NDArray[np.bool_]) -> str:
    """Write flags as a short text (bits in base64)."""
    return base64.b64encode(np.packbits(flags).tobytes()).decode("ascii")


def unpack_flags(text: str, number: int) -> NDArray[np.bool_] | None:
    """Unpack as many flags; None if the text does not hold that number."""
    try:
        bits = np.unpackbits(np.frombuffer(base64.b64decode(text, validate=True), np.uint8))
    except ValueError:
        return None
    return bits[:number].astype(bool) if number <= bits.size < number + 8 else None


_STAGE = "Rating what is kept of the geography"


@dataclass(frozen=True, eq=False)
class GeographicRepresentability:
    """Representability of a solution, over all and per aggregated region (NaN where nothing was released).

    ``table`` cross-tabulates the released records by initial region and class, and by released region and class;
    ``table_with_suppressed`` all records, the suppressed ones as one released class. ``mean_distance`` and
    ``region_distance[g]`` are distances of the released records from their initial region to the record-weighted centre
    of their aggregated region, in the unit of the coordinates. ``heights`` are the levels that each column has above
    its values. In tiers, values per aggregated region are of the records released in it. ``released[i]`` counts the
    released records of initial region i, ``released_classes[c]`` tells if combination c is released anywhere.
    ``region_davies_bouldin[g]`` is the largest (S_i + S_j)/D_ij of region g. ``place_precision`` is the detail that is
    kept of the place (see `compute_region_precision`).
    """

    table: ContingencyTable
    table_with_suppressed: ContingencyTable
    mean_distance: float | None
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
    def sample_size_ratio(self) -> float:
        """Share of the records that is released; 0 without records."""
        records = self.table_with_suppressed.records
        return self.table.records / records if records else 0.0

    @property
    def region_fowlkes_mallows(self) -> NDArray[np.float64]:
        """Compute the Fowlkes–Mallows index of each aggregated region."""
        return np.sqrt(self.region_jaccard)

    @property
    def precision_by_column(self) -> dict[str, float] | None:
        """Compute the precision of each quasi-identifier and of the region; None if nothing was released."""
        by_column = compute_column_precision(self.levels, self.heights)
        if by_column is None or self.place_precision is None:
            return None
        return {**by_column, self.region_column: self.place_precision}

    @property
    def precision(self) -> float | None:
        """Compute the mean precision of the quasi-identifiers and the region."""
        by_column = self.precision_by_column
        return None if by_column is None else sum(by_column.values()) / len(by_column)

    def as_dict(self, unit: str) -> RepresentabilityMeasures:
        """Return the measures as plain JSON data; metres become kilometres."""
        scale, name = distance_scale(unit)
        precision = self.precision
        index = self.davies_bouldin
        reason = (
            RepresentabilityMeasures(davies_bouldin_reason=index.reason)
            if index.reason
            else RepresentabilityMeasures()
        )
        return {
            "precision": precision,
            "precision_by_column": self.precision_by_column,
            "precision_with_suppressed": (precision or 0.0) * self.sample_size_ratio,
            "jaccard": self.table.jaccard,
            "fowlkes_mallows": self.table.fowlkes_mallows,
            "rand": self.table.rand,
            "hubert": self.table.hubert,
            "entropy_loss": self.table.entropy_loss,
            "davies_bouldin": index.value,
            "davies_bouldin_normalised": index.normalised,
            "davies_bouldin_worst": index.worst,
            "davies_bouldin_coinciding_classes": index.coinciding_pairs,
            **reason,
            "mean_distance": None if self.mean_distance is None else self.mean_distance / scale,
            "distance_unit": name,
            "jaccard_with_suppressed": self.table_with_suppressed.jaccard,
            "fowlkes_mallows_with_suppressed": self.table_with_suppressed.fowlkes_mallows,
            "sample_size_ratio": self.sample_size_ratio,
            "records_by_level": {
                column: {f"level {level}": records for level, records in by_level.items()}
                for column, by_level in self.levels.items()
            },
        }


def distance_scale(unit: str) -> tuple[float, str]:
    """Return the divisor of distances that are shown, and the unit that they then have: metres become kilometres."""
    return (1000.0, "km") if unit == "m" else (1.0, unit)


def measure_geographic_representability(
    problem: Problem,
    solution: Solution,
    progress: Progress = NO_PROGRESS,
    released: ReleasedClasses | None = None,
) -> GeographicRepresentability:
    """Compute the vector of one solution in a few passes over the counts, whatever the number of records.

    ``released`` is what the solution releases, where that is known already.
    """
    aggregation = aggregate_solution(problem, solution).judged
    if released is None:
        released = release_classes(aggregation, progress)
    records = released.records.sum(axis=0)
    n_released = int(records.sum())
    # No original class is split, so every cell of the table is one.
    cells = SizeSums(n_released, int(released.pairs.sum()), released.log_sum)
    classes = sum((SizeSums.of(counts.sizes) for counts in released.classes), start=SizeSums.of(()))
    table = ContingencyTable(cells, cells, classes)
    progress.update(_STAGE)
    originals = _sum_original_classes(problem)
    suppressed = SizeSums.of((problem.records - n_released,))
    table_with_suppressed = ContingencyTable(originals, originals, classes + suppressed)
    progress.update(_STAGE)
    pairs_by_area = pairs_by_region(released.classes[0])
    pairs_kept = np.zeros(aggregation.n_groups, np.int64)
    np.add.at(pairs_kept, aggregation.membership, released.pairs[0])
    displacements = _measure_displacements(problem, aggregation, released)
    height = max(HEIGHT, len(released.classes))
    return GeographicRepresentability(
        table=table,
        table_with_suppressed=table_with_suppressed,
        mean_distance=displacements.mean,
        davies_bouldin=displacements.davies_bouldin,
        levels=count_levels(problem, aggregation.membership, released),
        heights={**dict.fromkeys(problem.quasi_identifiers, HEIGHT), problem.region_column: height},
        region_column=problem.region_column,
        place_precision=_compute_place_precision(aggregation, released),
        region_jaccard=np.where(pairs_by_area > 0, pairs_kept / np.maximum(pairs_by_area, 1), np.nan),
        region_distance=displacements.by_region[: aggregation.n_groups],
        region_davies_bouldin=displacements.ratios[: aggregation.n_groups],
        released=records,
        released_classes=_flag_released_combinations(problem, released),
    )


@cached_per_object
def _sum_original_classes(problem: Problem) -> SizeSums:
    """Sum the classes of the file, once for all its solutions."""
    # Records of unknown regions have no place of their own: each counts as an original class of one.
    unknown = problem.records - problem.counts.records
    return SizeSums.of(problem.counts.sizes) + SizeSums(unknown, pairs=0, log_sum=0.0)


def _flag_released_combinations(problem: Problem, released: ReleasedClasses) -> NDArray[np.bool_]:
    """Flag each combination of the file that is released anywhere."""
    flags = np.zeros(problem.counts.n_combinations, np.bool_)
    for counts in released.classes:
        occurring = counts.combinations[counts.combination_totals > 0]
        flags[np.searchsorted(problem.counts.combinations, occurring)] = True
    return flags


def _compute_place_precision(aggregation: Aggregation, released: ReleasedClasses) -> float | None:
    """Compute the detail that is kept of the place that each record carries, in whatever tier."""
    merged = [np.bincount(membership)[membership] for membership in aggregation.memberships]
    return compute_region_precision(released.records, np.array(merged), aggregation.counts.n_regions)


def _measure_displacements(
    problem: Problem, aggregation: Aggregation, released: ReleasedClasses
) -> Displacements:
    """Measure how far records are from the centre of their released region, tier by tier."""
    starts = np.cumsum([0, *aggregation.n_areas])
    membership = np.concatenate(
        [own + start for own, start in zip(aggregation.memberships, starts, strict=False)]
    )
    points = np.tile(problem.regions.points, (len(aggregation.n_areas), 1))
    (worst,) = _compute_worst_index(problem)
    return measure_displacements(points, membership, int(starts[-1]), released.records.ravel(), worst)


@cached_per_object
def _compute_worst_index(problem: Problem) -> tuple[float | None]:
    """Compute the worst Davies–Bouldin ratio of the file, once for all its solutions."""
    return (compute_worst_index(problem.regions.points, problem.counts.region_totals),)


def with_representability(
    problem: Problem, solution: Solution, released: ReleasedClasses, progress: Progress = NO_PROGRESS
) -> Solution:
    """Return the solution with the geographic representability of what it releases."""
    measures = measure_geographic_representability(problem, solution, progress, released)
    return replace(
        solution,
        representability=measures.as_dict(problem.regions.system.unit),
        released_classes=pack_flags(measures.released_classes),
    )
