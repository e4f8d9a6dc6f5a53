"""From owners to what is released: everything about a solution can be recomputed from who owns what."""

from __future__ import annotations

from functools import partial

import numpy as np
from numpy.typing import NDArray

from vbas_desktop.algorithms.diversity import without_classes
from vbas_desktop.algorithms.grouping import dense_membership, ends_of_kept
from vbas_desktop.algorithms.released import decide, placed_in_tiers
from vbas_desktop.approaches.base import Outcome, Situation
from vbas_desktop.domain.problem import Problem
from vbas_desktop.domain.progress import Progress, Silent
from vbas_desktop.domain.records import EquivalenceCounts, frozen
from vbas_desktop.domain.solution import Solution
from vbas_desktop.domain.tiers import Tiers

from .sensitive import lost_for_sensitive_values, sensitive_facts

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
    sensitive = tuple(without_classes(each, counts) for each in problem.sensitive)
    situation = Situation(problem.regions, counts, problem.k, random_seed, sensitive=sensitive)
    return situation, problem.counts.records - counts.records


def outcome_of(
    problem: Problem,
    situation: Situation,
    owner: NDArray[np.int32],
    sites: NDArray[np.float64] | None,
    progress: Progress | None = None,
    tiers: Tiers | None = None,
) -> Outcome:
    """The aggregation with local suppression: in each aggregated region every class smaller than k is dropped, and
    every class whose sensitive values do not meet the criteria.

    In tiers these classes are released in the smallest larger place where that is safe.
    """
    progress = progress or Silent()
    membership, used = dense_membership(owner)
    counts, values = situation.counts, situation.sensitive
    outcome = partial(
        Outcome,
        situation=situation,
        records=problem.records,
        records_by_region=problem.counts.region_totals,
        membership=frozen(membership),
        aggregated_regions=int(used.size),
        sites=None if sites is None else frozen(sites[used]),
        tiers=tiers,
    )
    if tiers is not None and not values:
        placed = placed_in_tiers(counts, situation.k, membership, used.size, tiers, progress)
        here, *coarser = placed.classes
        return outcome(released=here, coarser=tuple(coarser), released_by_tier=frozen(placed.records))
    found = decide(counts, values, situation.k, membership, used.size, tiers, progress, released_only=True)
    return outcome(
        released=found.here,
        released_by_tier=frozen(found.by_tier(counts, membership, progress)),
        coarser=found.coarser,
        sensitive=sensitive_facts(found),
        suppressed_sensitive=lost_for_sensitive_values(found),
    )


def outcome_of_solution(problem: Problem, solution: Solution, progress: Progress | None = None) -> Outcome:
    """What a solution releases, from the counts of the file.

    A class below k in the whole file is below k in every place, so the outcome is the same without global suppression.
    """
    situation = Situation(problem.regions, problem.counts, problem.k, sensitive=problem.sensitive)
    return outcome_of(problem, situation, solution.owner, solution.sites, progress, solution.tiers)
