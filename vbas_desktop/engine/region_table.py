"""The aggregated regions of a solution one by one: what they hold, what they lost and why, what a refinement moved."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vbas_desktop.algorithms.aggregation import aggregate, smallest_classes, sum_by_region
from vbas_desktop.model.problem import Problem
from vbas_desktop.model.progress import SILENT, Progress
from vbas_desktop.model.records import frozen
from vbas_desktop.model.sensitive import enforced
from vbas_desktop.model.solution import Solution
from vbas_desktop.model.tiers import NOWHERE
from vbas_desktop.model.words import agreeing, counted

from .outcome import decided_for, largest_shares


@dataclass(frozen=True, eq=False)
class RegionTable:
    """One row per aggregated region, in the order of their numbers.

    ``records`` counts the records of the file in it (those of unknown regions are nowhere), ``released`` those that
    remain, ``suppressed`` the difference, whether lost globally or locally. In tiers, ``released`` are those released
    with its own code, and ``raised`` those released in larger places; ``by_tier[t]`` are those released in tier t.
    ``anonymity_before`` and ``anonymity_after`` are the smallest class before and after suppression; 0 where there is
    no record. ``vector[t − 1]`` classes of all regions together have t records before suppression.
    ``largest_share`` is the largest share, in percent, of one harmful value in a class released in the region; NaN
    where there is none.
    """

    records: NDArray[np.int64]
    released: NDArray[np.int64]
    suppressed: NDArray[np.int64]
    anonymity_before: NDArray[np.int64]
    anonymity_after: NDArray[np.int64]
    vector: NDArray[np.int64]
    raised: NDArray[np.int64]
    largest_share: NDArray[np.float64]
    by_tier: tuple[NDArray[np.int64], ...] = ()

    def __len__(self) -> int:
        return int(self.records.size)

    @property
    def share_of_loss(self) -> NDArray[np.float64]:
        """The share of each region in all suppressed records (0 where nothing was suppressed at all)."""
        return np.asarray(self.suppressed / max(1, int(self.suppressed.sum())))


@dataclass(frozen=True)
class SmallClass:
    """A class that is not released in its aggregated region: its categories in the words of the file, and its size.

    ``tier`` is the tier of the larger place where it is released, if it is. ``harmful``: it has k or more records, and
    their sensitive values do not meet the criteria.
    """

    labels: tuple[str, ...]
    size: int
    tier: int | None = None
    harmful: bool = False


def region_table(problem: Problem, solution: Solution, progress: Progress = SILENT) -> RegionTable:
    """What each aggregated region holds and lost. O(stored counts), milliseconds."""
    # A class below k in the whole file is below k in every region, so local suppression alone gives the release.
    found = decided_for(problem, solution, progress)
    aggregated = found.aggregated
    released = found.aggregated.select_classes(found.tier_of == 0)
    progress.update("Counting the aggregated regions")
    regions = aggregated.n_regions
    by_tier: tuple[NDArray[np.int64], ...] = ()
    if solution.tiers is not None:
        by_tier = tuple(
            frozen(sum_by_region(aggregated.table, np.where(found.tier_of == tier, aggregated.sizes, 0)))
            for tier in range(len(solution.tiers))
        )
    raised = np.sum(by_tier[1:], axis=0) if by_tier else np.zeros(regions, np.int64)
    before, _ = smallest_classes(aggregated.table)
    after, _ = smallest_classes(released.table)
    return RegionTable(
        records=aggregated.region_totals,
        released=released.region_totals,
        suppressed=frozen(aggregated.region_totals - released.region_totals - raised),
        anonymity_before=frozen(before),
        anonymity_after=frozen(after),
        vector=_vector(aggregated.sizes),
        raised=frozen(raised),
        largest_share=frozen(largest_shares(found)),
        by_tier=by_tier,
    )


def anonymity_vector(problem: Problem, solution: Solution, region: int | None = None) -> NDArray[np.int64]:
    """How many classes have 1, 2, … records before suppression: of one aggregated region, or of all together."""
    if region is not None:
        return _vector(class_sizes(problem, solution, region)[1])
    counts = aggregate(problem.counts, solution.membership, solution.aggregated_regions)
    return _vector(counts.sizes)


def _vector(sizes: NDArray[np.int64]) -> NDArray[np.int64]:
    return frozen(np.bincount(sizes)[1:])


def class_sizes(problem: Problem, solution: Solution, region: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The classes (columns of ``problem.counts``) of one aggregated region and their sizes before suppression."""
    totals = _sum_combinations(problem, solution.membership == region)
    present = np.flatnonzero(totals)
    return present, totals[present]


def _sum_combinations(problem: Problem, regions: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Count the records of each combination in some initial regions together."""
    return problem.counts.select_regions(np.flatnonzero(regions)).combination_totals


def why(problem: Problem, solution: Solution, region: int) -> list[SmallClass]:
    """The classes that cost records in one aggregated region (by row of the table), largest first."""
    if solution.tiers is None and not enforced(problem.sensitive):
        columns, sizes = class_sizes(problem, solution, region)
        tiers = np.where(sizes < problem.k, NOWHERE, 0)
    else:
        found = decided_for(problem, solution)
        table = found.aggregated.table
        mine = slice(table.indptr[region], table.indptr[region + 1])
        columns, sizes, tiers = table.indices[mine].astype(np.int64), table.data[mine], found.tier_of[mine]
    lost = np.flatnonzero(tiers != 0)
    order = lost[np.argsort(-sizes[lost], kind="stable")]
    return [
        SmallClass(
            class_labels(problem, int(columns[i])),
            int(sizes[i]),
            int(tiers[i]) if tiers[i] != NOWHERE else None,
            bool(sizes[i] >= problem.k),
        )
        for i in order
    ]


def class_labels(problem: Problem, column: int) -> tuple[str, ...]:
    """The categories of one class in the words of the file, in the order of the quasi-identifiers."""
    codes = problem.counts.decode_combination(column)
    return tuple(categories.label(code) for categories, code in zip(problem.categories, codes, strict=True))


@dataclass(frozen=True)
class Handover:
    """Initial regions that one aggregated region has from, or gave to, another one.

    ``kept`` is how many records fewer are suppressed than if they were handed back and all else stayed (before larger
    places are looked at); None where criteria for sensitive values decide, too.
    """

    other: int
    regions: int
    gained: bool
    kept: int | None


def handovers(problem: Problem, solution: Solution, region: int) -> tuple[Handover, ...]:
    """Those of one aggregated region, what it gained first, more initial regions first; none without a refinement."""
    if solution.unrefined is None:
        return ()
    former = np.searchsorted(solution.owners_used, solution.unrefined.owner)
    now, found = solution.membership, []
    for gained in (True, False):
        mine, theirs = (now, former) if gained else (former, now)
        moved = (mine == region) & (theirs != region)
        for other in np.unique(theirs[moved]).tolist():
            part = moved & (theirs == other)
            taker, giver = (region, other) if gained else (other, region)
            kept = None if problem.judged_columns else _kept(problem, now, part, taker, giver)
            found.append(Handover(other, int(part.sum()), gained, kept))
    return tuple(sorted(found, key=lambda each: (not each.gained, -each.regions, each.other)))


def _kept(problem: Problem, now: NDArray[np.int32], part: NDArray[np.bool_], taker: int, giver: int) -> int:
    k = problem.k
    moved = _sum_combinations(problem, part)
    taken = _sum_combinations(problem, now == taker)
    left = _sum_combinations(problem, now == giver)
    back = _suppressed(taken - moved, k) + _suppressed(left + moved, k)
    return back - _suppressed(taken, k) - _suppressed(left, k)


def _suppressed(sizes: NDArray[np.int64], k: int) -> int:
    return int(sizes[sizes < k].sum())


def in_sentences(found: tuple[Handover, ...], codes: tuple[str, ...], most: int = 10) -> tuple[str, ...]:
    """Where initial regions came from or went to by the refinement, and why; so many neighbours are told one by one."""
    told, rest = [_sentence(each, codes[each.other]) for each in found[:most]], found[most:]
    if rest:
        number = sum(each.regions for each in rest)
        told.append(f"{number:,} more came from or went to {counted(len(rest), 'other neighbour')}.")
    return tuple(told)


def _sentence(handover: Handover, code: str) -> str:
    number, kept = handover.regions, handover.kept
    moved = f"{counted(number, 'initial region')} {'came from' if handover.gained else 'went to'} {code}"
    if kept is None:
        return f"{moved}."
    if kept > 0:
        return f"{moved} because {counted(kept, 'record')} fewer {agreeing(kept, 'is', 'are')} suppressed."
    if kept == 0:
        return f"{moved}; by itself that keeps no record."
    return f"{moved}; by itself that costs {counted(-kept, 'record')}, but other moves build on it."
