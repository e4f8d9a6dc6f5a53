"""From owners to what is released: everything about a solution can be recomputed from who owns what."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from vbas_desktop.algorithms.grouping import (
    aggregate,
    dense_membership,
    ends_of_kept,
    records_kept,
    without_small_classes,
)
from vbas_desktop.algorithms.tier_release import records_by_tier, released_in_tier, tiers_of_classes
from vbas_desktop.approaches.base import Outcome, Situation
from vbas_desktop.domain.problem import Problem
from vbas_desktop.domain.progress import Progress, Silent
from vbas_desktop.domain.records import EquivalenceCounts, frozen
from vbas_desktop.domain.solution import Solution
from vbas_desktop.domain.tiers import Tiers

_STAGE = "Suppressing classes that are too small everywhere"


def suppress_globally(counts: EquivalenceCounts, k: int, progress: Progress | None = None) -> EquivalenceCounts:
    """The counts without the classes that have fewer than k records in all regions together.

    The possible classes stay what they were: only columns of the classes that occur go away. Nothing is copied if no
    class is too small.
    """
    progress = progress or Silent()
    progress.update(_STAGE)
    large = counts.class_totals >= k
    progress.update(_STAGE)
    if large.all():
        return counts
    classes = counts.classes[large]
    if counts.dense is not None:
        return EquivalenceCounts.from_dense(counts.category_numbers, classes, counts.dense[:, large])
    indptr, columns, values = counts.rows
    kept = large[columns]
    progress.update(_STAGE)
    ends = ends_of_kept(kept, indptr)
    progress.update(_STAGE)
    renumbered = (np.cumsum(large) - 1).astype(np.int32)
    return EquivalenceCounts.from_rows(counts.category_numbers, classes, ends, renumbered[columns[kept]], values[kept])


def situation_of(
    problem: Problem, global_suppression: bool = True, random_seed: int = 0, progress: Progress | None = None
) -> tuple[Situation, int]:
    """What approaches see of the problem, and how many records global suppression took away."""
    counts = suppress_globally(problem.counts, problem.k, progress) if global_suppression else problem.counts
    situation = Situation(problem.regions, counts, problem.k, random_seed)
    return situation, problem.counts.records - counts.records


def outcome_of(
    problem: Problem,
    situation: Situation,
    owner: NDArray[np.int32],
    sites: NDArray[np.float64] | None,
    progress: Progress | None = None,
    tiers: Tiers | None = None,
) -> Outcome:
    """The aggregation with local suppression: in each aggregated region every class smaller than k is dropped.

    In tiers these classes are released in the smallest larger place where that is safe.
    """
    progress = progress or Silent()
    membership, used = dense_membership(owner)
    aggregated = aggregate(situation.counts, membership, used.size, progress)
    released = without_small_classes(aggregated, situation.k)
    coarser: tuple[EquivalenceCounts, ...] = ()
    if tiers is None:
        by_tier = records_kept(situation.counts, membership, released, progress)[None, :]
    else:
        tier_of = tiers_of_classes(aggregated, tiers, situation.k, progress)
        coarser = tuple(released_in_tier(aggregated, tier_of, tiers, tier) for tier in range(1, len(tiers)))
        by_tier, _ = records_by_tier(situation.counts, membership, aggregated, tier_of, len(tiers), progress)
    del aggregated
    return Outcome(
        situation=situation,
        records=problem.records,
        records_by_region=problem.counts.region_totals,
        membership=frozen(membership),
        aggregated_regions=int(used.size),
        sites=None if sites is None else frozen(sites[used]),
        released=released,
        released_by_tier=frozen(by_tier),
        tiers=tiers,
        coarser=coarser,
    )


def outcome_of_solution(problem: Problem, solution: Solution, progress: Progress | None = None) -> Outcome:
    """What a solution releases, from the counts of the file.

    A class below k in the whole file is below k in every place, so the outcome is the same without global suppression.
    """
    situation = Situation(problem.regions, problem.counts, problem.k)
    return outcome_of(problem, situation, solution.owner, solution.sites, progress, solution.tiers)
