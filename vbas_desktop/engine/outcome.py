"""Suppression applied to a partition or a solution, and the sensitive values of what is released."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vbas_desktop.algorithms.aggregation import dense_membership, suppress_globally
from vbas_desktop.algorithms.certainty_penalty import compute_value_penalty
from vbas_desktop.algorithms.diversity import ClassValues, select_combinations, shares_of
from vbas_desktop.algorithms.suppression import (
    Aggregation,
    LocalSuppression,
    release_classes,
    suppress_locally,
)
from vbas_desktop.approaches.interface import AggregationOutcome, Context
from vbas_desktop.model import criteria
from vbas_desktop.model.findings import Finding
from vbas_desktop.model.problem import Problem
from vbas_desktop.model.progress import NO_PROGRESS, Progress
from vbas_desktop.model.records import as_readonly, finite_number
from vbas_desktop.model.solution import Solution, UnrefinedPartition
from vbas_desktop.model.tiers import NOT_RELEASED, Tiers

Facts = Mapping[str, Mapping[str, Any]]
"""Column → figure → value; None where no released class has a harmful value."""


def build_context(
    problem: Problem,
    global_suppression: bool = True,
    random_seed: int = 0,
    progress: Progress = NO_PROGRESS,
) -> tuple[Context, int]:
    """Build the context that approaches see, and count the globally suppressed records."""
    counts = (
        suppress_globally(problem.counts, problem.k, progress) if global_suppression else problem.counts
    )
    sensitive = tuple(select_combinations(column, counts) for column in problem.sensitive)
    context = Context(
        problem.regions,
        counts,
        problem.k,
        random_seed,
        sensitive=sensitive,
        category_penalties=_category_penalties(problem),
        given=problem.given,
    )
    return context, problem.counts.records - counts.records


def _category_penalties(problem: Problem) -> tuple[NDArray[np.float64], ...]:
    """Compute the certainty penalty of each category of each quasi-identifier; empty if none stands for several values.

    Values that only a grouping names count as categories, too.
    """
    penalties = []
    for categories in problem.categories:
        sizes = dict.fromkeys(categories.values, 1) | dict(
            problem.sizes_of_categories(categories.column)
        )
        own = np.array([sizes[value] for value in categories.values], np.int64)
        penalties.append(compute_value_penalty(own, sum(sizes.values())))
    return tuple(penalties) if any(own.any() for own in penalties) else ()


@dataclass(frozen=True, eq=False)
class RegionPartition:
    """The division of the initial regions into aggregated regions, as the approaches made it.

    sites: float64 (sites, 2), None if there are none. owner: int32 per initial region, index of its site or group.
    diagnostics: what the approaches tell of their work, by approach name. unrefined: what the construction made, if a
    refinement changed it. stopped: the user did not wait for the end. detoured: as in `Solution`. zone_sites: number
    of sites of each zone, if there are constraints.
    """

    sites: NDArray[np.float64] | None
    owner: NDArray[np.int32]
    diagnostics: Mapping[str, Any]
    findings: tuple[Finding, ...] = ()
    tiers: Tiers | None = None
    unrefined: UnrefinedPartition | None = None
    stopped: bool = False
    detoured: NDArray[np.bool_] | None = None
    zone_sites: tuple[int, ...] = ()

    def aggregate(self, context: Context) -> Aggregation:
        """Build its aggregation with those sensitive columns only that have criteria."""
        return aggregate_owners(context, self.owner, self.tiers)[0].judged


def aggregate_owners(
    source: Problem | Context, owner: NDArray[np.integer], tiers: Tiers | None = None
) -> tuple[Aggregation, NDArray[np.int64]]:
    """Build the aggregation of an owner array; also return the owner of each aggregated region."""
    membership, used = dense_membership(owner)
    return Aggregation(
        source.counts, source.k, as_readonly(membership), int(used.size), tiers, source.sensitive
    ), used


def aggregate_solution(problem: Problem, solution: Solution) -> Aggregation:
    """Build the aggregation of a solution from the counts of the file.

    A class below k in the whole file is below k in every place, so the release is the same without global suppression.
    """
    merged = solution.membership, solution.aggregated_regions, solution.tiers
    return Aggregation(problem.counts, problem.k, *merged, problem.sensitive)


def suppress_solution(
    problem: Problem, solution: Solution, progress: Progress = NO_PROGRESS
) -> LocalSuppression:
    """Apply local suppression to a solution, with the values of all sensitive columns."""
    return suppress_locally(aggregate_solution(problem, solution), progress)


def suppress_partition(
    problem: Problem,
    context: Context,
    owner: NDArray[np.int32],
    sites: NDArray[np.float64] | None,
    progress: Progress = NO_PROGRESS,
    tiers: Tiers | None = None,
) -> AggregationOutcome:
    """Apply local suppression to a partition: drop classes below k, and classes that miss the criteria.

    In tiers these classes are released in the smallest fallback area where that is safe.
    """
    merged, used = aggregate_owners(context, owner, tiers)
    release = release_classes(merged, progress)
    return AggregationOutcome(
        context=context,
        records=problem.records,
        records_by_region=problem.counts.region_totals,
        counts=problem.counts,
        membership=merged.membership,
        aggregated_regions=merged.n_groups,
        sites=None if sites is None else as_readonly(sites[used]),
        release=release,
        tiers=tiers,
        sensitive={} if release.suppression is None else measure_sensitive(release.suppression),
        suppressed_sensitive=0
        if release.suppression is None
        else _count_lost_for_criteria(release.suppression),
    )


def measure_sensitive(suppression: LocalSuppression) -> Facts:
    """Measure the worst figures over all released classes, column by column."""
    return {values.column.column: _measure_column(suppression, values) for values in suppression.values}


def _count_lost_for_criteria(suppression: LocalSuppression) -> int:
    """Count the records of classes of k or more that the criteria suppress."""
    sizes = suppression.aggregated.sizes
    return int(sizes[(sizes >= suppression.aggregation.k) & (suppression.tier_of == NOT_RELEASED)].sum())


def _measure_column(suppression: LocalSuppression, values: ClassValues) -> dict[str, Any]:
    shares = shares_of(values.total_values(suppression.tier_of != NOT_RELEASED))
    parts = [suppression.release_values(values, tier) for tier in range(suppression.n_tiers)]

    def worst(kind: int) -> float | None:
        figures = np.concatenate([part.compute_figures(kind, 0.0, shares) for part in parts])
        if kind in (criteria.DISTINCT, criteria.ENTROPY):
            return float(figures.min()) if figures.size and np.isfinite(figures.min()) else None
        return float(figures.max()) if figures.size else None

    least = worst(criteria.DISTINCT)
    one_value = [
        part.class_sizes[part.compute_figures(criteria.SHARE, 0.0, shares) >= 100.0] for part in parts
    ]
    return {
        "largest_share_percent": worst(criteria.SHARE),
        "least_distinct": None if least is None else int(least),
        "least_entropy": worst(criteria.ENTROPY),
        "largest_closeness": worst(criteria.CLOSENESS),
        "largest_ordered_closeness": worst(criteria.ORDERED)
        if _is_ordered(values.column.values)
        else None,
        "one_value_classes": sum(int(sizes.size) for sizes in one_value),
        "one_value_records": sum(int(sizes.sum()) for sizes in one_value),
        "classes": sum(len(part) for part in parts),
    }


def _is_ordered(values: tuple[str, ...]) -> bool:
    """Test whether all values of a column are numbers: then they have an order and distances."""
    return bool(values) and all(finite_number(value) is not None for value in values)


def find_largest_shares(suppression: LocalSuppression) -> NDArray[np.float64]:
    """Find the largest share of one harmful value in a class of each aggregated region, in percent.

    The worst of all sensitive columns; NaN where nothing is released, or if there is no sensitive column.
    """
    worst = np.full(suppression.aggregated.n_regions, -1.0)
    for values in suppression.values:
        part = suppression.release_values(values, 0)
        np.maximum.at(
            worst, part.areas, part.compute_figures(criteria.SHARE, 0.0, shares_of(values.column.totals))
        )
    return np.where(worst < 0, np.nan, worst)
