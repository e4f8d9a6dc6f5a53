"""From owners to what is released, and what that tells of sensitive values: all of it from who owns what."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vbas_desktop.algorithms.aggregation import dense_membership, suppress_globally
from vbas_desktop.algorithms.certainty import share_of_domain
from vbas_desktop.algorithms.diversity import ClassValues, select_combinations, shares_of
from vbas_desktop.algorithms.suppression import Aggregation, LocalSuppression, release_classes, suppress_locally
from vbas_desktop.approaches.base import Outcome, Situation
from vbas_desktop.model.criteria import CLOSENESS, DISTINCT, ENTROPY, ORDERED, SHARE
from vbas_desktop.model.problem import Problem
from vbas_desktop.model.progress import SILENT, Progress
from vbas_desktop.model.records import finite_number, frozen
from vbas_desktop.model.solution import Solution
from vbas_desktop.model.tiers import NOWHERE, Tiers

Facts = Mapping[str, Mapping[str, Any]]
"""Column → figure → value; None where no released class has a harmful value."""


def situation_of(
    problem: Problem, global_suppression: bool = True, random_seed: int = 0, progress: Progress = SILENT
) -> tuple[Situation, int]:
    """What approaches see of the problem, and how many records global suppression took away."""
    counts = suppress_globally(problem.counts, problem.k, progress) if global_suppression else problem.counts
    sensitive = tuple(select_combinations(each, counts) for each in problem.sensitive)
    situation = Situation(
        problem.regions,
        counts,
        problem.k,
        random_seed,
        sensitive=sensitive,
        category_penalties=_category_penalties(problem),
    )
    return situation, problem.counts.records - counts.records


def _category_penalties(problem: Problem) -> tuple[NDArray[np.float64], ...]:
    """Compute the certainty penalty of each category of each quasi-identifier; empty if none stands for several values.

    Values that only a grouping names count as categories, too.
    """
    penalties = []
    for categories in problem.categories:
        sizes = dict.fromkeys(categories.values, 1) | dict(problem.sizes_of_categories(categories.column))
        own = np.array([sizes[value] for value in categories.values], np.int64)
        penalties.append(share_of_domain(own, sum(sizes.values())))
    return tuple(penalties) if any(own.any() for own in penalties) else ()


def aggregation_of(
    given: Problem | Situation, owner: NDArray[np.integer], tiers: Tiers | None = None
) -> tuple[Aggregation, NDArray[np.int64]]:
    """What these owners merge, and which owner each aggregated region belongs to."""
    membership, used = dense_membership(owner)
    return Aggregation(given.counts, given.k, frozen(membership), int(used.size), tiers, given.sensitive), used


def aggregation_for(problem: Problem, solution: Solution) -> Aggregation:
    """What a solution merges, from the counts of the file.

    A class below k in the whole file is below k in every place, so the release is the same without global suppression.
    """
    merged = solution.membership, solution.aggregated_regions, solution.tiers
    return Aggregation(problem.counts, problem.k, *merged, problem.sensitive)


def decided_for(problem: Problem, solution: Solution, progress: Progress = SILENT) -> LocalSuppression:
    """What a solution releases, from the counts of the file, with the values of all sensitive columns."""
    return suppress_locally(aggregation_for(problem, solution), progress)


def outcome_of(
    problem: Problem,
    situation: Situation,
    owner: NDArray[np.int32],
    sites: NDArray[np.float64] | None,
    progress: Progress = SILENT,
    tiers: Tiers | None = None,
) -> Outcome:
    """The aggregation with local suppression: in each aggregated region every class smaller than k is dropped, and
    every class whose sensitive values do not meet the criteria.

    In tiers these classes are released in the smallest larger place where that is safe.
    """
    merged, used = aggregation_of(situation, owner, tiers)
    release = release_classes(merged, progress)
    return Outcome(
        situation=situation,
        records=problem.records,
        records_by_region=problem.counts.region_totals,
        counts=problem.counts,
        membership=merged.membership,
        aggregated_regions=merged.n_groups,
        sites=None if sites is None else frozen(sites[used]),
        release=release,
        tiers=tiers,
        sensitive={} if release.suppression is None else sensitive_facts(release.suppression),
        suppressed_sensitive=0 if release.suppression is None else _lost_for_sensitive_values(release.suppression),
    )


def sensitive_facts(found: LocalSuppression) -> Facts:
    """The worst figures of all released classes, column by column."""
    return {values.column.column: _facts(found, values) for values in found.values}


def _lost_for_sensitive_values(found: LocalSuppression) -> int:
    """The records of classes with k or more that are released nowhere, because of their sensitive values."""
    sizes = found.aggregated.sizes
    return int(sizes[(sizes >= found.aggregation.k) & (found.tier_of == NOWHERE)].sum())


def _facts(found: LocalSuppression, values: ClassValues) -> dict[str, Any]:
    shares = shares_of(values.total_values(found.tier_of != NOWHERE))
    parts = [found.release_values(values, tier) for tier in range(found.n_tiers)]

    def worst(kind: int) -> float | None:
        figures = np.concatenate([part.compute_figures(kind, 0.0, shares) for part in parts])
        if kind in (DISTINCT, ENTROPY):
            return float(figures.min()) if figures.size and np.isfinite(figures.min()) else None
        return float(figures.max()) if figures.size else None

    least = worst(DISTINCT)
    one_value = [part.class_sizes[part.compute_figures(SHARE, 0.0, shares) >= 100.0] for part in parts]
    return {
        "largest_share_percent": worst(SHARE),
        "least_distinct": None if least is None else int(least),
        "least_entropy": worst(ENTROPY),
        "largest_closeness": worst(CLOSENESS),
        "largest_ordered_closeness": worst(ORDERED) if _is_ordered(values.column.values) else None,
        "one_value_classes": sum(int(sizes.size) for sizes in one_value),
        "one_value_records": sum(int(sizes.sum()) for sizes in one_value),
        "classes": sum(len(part) for part in parts),
    }


def _is_ordered(values: tuple[str, ...]) -> bool:
    """Whether the values of a column are numbers, all of them: then they have an order, and a distance along it."""
    return bool(values) and all(finite_number(value) is not None for value in values)


def largest_shares(found: LocalSuppression) -> NDArray[np.float64]:
    """Of each aggregated region the largest share, in percent, that one harmful value has in a class released in it.

    The worst of all sensitive columns; NaN where nothing is released, or if there is no sensitive column.
    """
    worst = np.full(found.aggregated.n_regions, -1.0)
    for values in found.values:
        part = found.release_values(values, 0)
        np.maximum.at(worst, part.areas, part.compute_figures(SHARE, 0.0, shares_of(values.column.totals)))
    return np.where(worst < 0, np.nan, worst)
