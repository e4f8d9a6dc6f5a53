"""Figures of each aggregated region of a solution, its suppressed classes, and what a refinement moved."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vbas_desktop.algorithms.aggregation import aggregate, smallest_classes, sum_by_region
from vbas_desktop.model.problem import Problem
from vbas_desktop.model.progress import NO_PROGRESS, Progress
from vbas_desktop.model.records import as_readonly
from vbas_desktop.model.sensitive import with_criteria
from vbas_desktop.model.solution import Solution
from vbas_desktop.model.text import format_count, inflect
from vbas_desktop.model.tiers import NOT_RELEASED

from .outcome import find_largest_shares, suppress_solution


@dataclass(frozen=True, eq=False)
class RegionTable:
    """One row per aggregated region, in the order of their numbers.

    ``records`` counts the records of the file in it (those of unknown regions are nowhere), ``released`` those that
    remain, ``suppressed`` the difference, whether lost globally or locally. In tiers, ``released`` are those released
    with its own code, and ``raised`` those released in larger areas; ``by_tier[t]`` are those released in tier t.
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
        """Compute the share of each region in all suppressed records; 0 if nothing was suppressed."""
        return np.asarray(self.suppressed / max(1, int(self.suppressed.sum())))


@dataclass(frozen=True)
class SmallClass:
    """A class that is not released in its aggregated region: its categories in the words of the file, and its size.

    ``tier`` is the tier of the larger area where it is released, if it is. ``harmful``: it has k or more records, and
    their sensitive values do not meet the criteria.
    """

    labels: tuple[str, ...]
    size: int
    tier: int | None = None
    harmful: bool = False


def build_region_table(
    problem: Problem, solution: Solution, progress: Progress = NO_PROGRESS
) -> RegionTable:
    """Count what each aggregated region holds, releases and loses. O(stored counts), milliseconds."""
    # A class below k in the whole file is below k in every region, so local suppression alone gives the release.
    suppression = suppress_solution(problem, solution, progress)
    aggregated = suppression.aggregated
    released = suppression.aggregated.select_classes(suppression.tier_of == 0)
    progress.update("Counting the aggregated regions")
    regions = aggregated.n_regions
    by_tier: tuple[NDArray[np.int64], ...] = ()
    if solution.tiers is not None:
        by_tier = tuple(
            as_readonly(
                sum_by_region(
                    aggregated.table, np.where(suppression.tier_of == tier, aggregated.sizes, 0)
                )
            )
            for tier in range(len(solution.tiers))
        )
    raised = np.sum(by_tier[1:], axis=0) if by_tier else np.zeros(regions, np.int64)
    before, _ = smallest_classes(aggregated.table)
    after, _ = smallest_classes(released.table)
    return RegionTable(
        records=aggregated.region_totals,
        released=released.region_totals,
        suppressed=as_readonly(aggregated.region_totals - released.region_totals - raised),
        anonymity_before=as_readonly(before),
        anonymity_after=as_readonly(after),
        vector=_vector(aggregated.sizes),
        raised=as_readonly(raised),
        largest_share=as_readonly(find_largest_shares(suppression)),
        by_tier=by_tier,
    )


def count_class_sizes(
    problem: Problem, solution: Solution, region: int | None = None
) -> NDArray[np.int64]:
    """Count the classes of 1, 2, … records before suppression: of one aggregated region, or of all."""
    if region is not None:
        return _vector(list_class_sizes(problem, solution, region)[1])
    counts = aggregate(problem.counts, solution.membership, solution.aggregated_regions)
    return _vector(counts.sizes)


def _vector(sizes: NDArray[np.int64]) -> NDArray[np.int64]:
    return as_readonly(np.bincount(sizes)[1:])


def list_class_sizes(
    problem: Problem, solution: Solution, region: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """List the classes (columns of ``problem.counts``) of one aggregated region and their sizes before suppression."""
    totals = _sum_combinations(problem, solution.membership == region)
    present = np.flatnonzero(totals)
    return present, totals[present]


def _sum_combinations(problem: Problem, regions: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Count the records of each combination in some initial regions together."""
    return problem.counts.select_regions(np.flatnonzero(regions)).combination_totals


def explain_suppression(problem: Problem, solution: Solution, region: int) -> list[SmallClass]:
    """List the classes that cost records in one aggregated region, largest first."""
    if solution.tiers is None and not with_criteria(problem.sensitive):
        columns, sizes = list_class_sizes(problem, solution, region)
        tiers = np.where(sizes < problem.k, NOT_RELEASED, 0)
    else:
        suppression = suppress_solution(problem, solution)
        table = suppression.aggregated.table
        mine = slice(table.indptr[region], table.indptr[region + 1])
        columns = table.indices[mine].astype(np.int64)
        sizes = table.data[mine]
        tiers = suppression.tier_of[mine]
    suppressed = np.flatnonzero(tiers != 0)
    order = suppressed[np.argsort(-sizes[suppressed], kind="stable")]
    return [
        SmallClass(
            decode_class(problem, int(columns[i])),
            int(sizes[i]),
            int(tiers[i]) if tiers[i] != NOT_RELEASED else None,
            bool(sizes[i] >= problem.k),
        )
        for i in order
    ]


def decode_class(problem: Problem, column: int) -> tuple[str, ...]:
    """Return the labels of the categories of one class, in the order of the quasi-identifiers."""
    codes = problem.counts.decode_combination(column)
    return tuple(
        categories.label(code) for categories, code in zip(problem.categories, codes, strict=True)
    )


@dataclass(frozen=True)
class RegionTransfer:
    """Initial regions that one aggregated region has from, or gave to, another one.

    ``saved_records`` is how many records fewer are suppressed than if they were handed back and all else stayed,
    before fallback areas; None where criteria for sensitive values decide, too.
    """

    other: int
    regions: int
    gained: bool
    saved_records: int | None


def list_transfers(problem: Problem, solution: Solution, region: int) -> tuple[RegionTransfer, ...]:
    """List the transfers of one aggregated region by the refinement: gains first, larger ones first."""
    if solution.unrefined is None:
        return ()
    former = np.searchsorted(solution.owners_used, solution.unrefined.owner)
    now = solution.membership
    transfers = []
    for gained in (True, False):
        mine, theirs = (now, former) if gained else (former, now)
        moved = (mine == region) & (theirs != region)
        for other in np.unique(theirs[moved]).tolist():
            part = moved & (theirs == other)
            taker, giver = (region, other) if gained else (other, region)
            saved_records = (
                None
                if problem.judged_columns
                else _count_saved_records(problem, now, part, taker, giver)
            )
            transfers.append(RegionTransfer(other, int(part.sum()), gained, saved_records))
    return tuple(
        sorted(transfers, key=lambda transfer: (not transfer.gained, -transfer.regions, transfer.other))
    )


def _count_saved_records(
    problem: Problem, now: NDArray[np.int32], part: NDArray[np.bool_], taker: int, giver: int
) -> int:
    k = problem.k
    moved = _sum_combinations(problem, part)
    of_taker = _sum_combinations(problem, now == taker)
    of_giver = _sum_combinations(problem, now == giver)
    back = _count_suppressed(of_taker - moved, k) + _count_suppressed(of_giver + moved, k)
    return back - _count_suppressed(of_taker, k) - _count_suppressed(of_giver, k)


def _count_suppressed(sizes: NDArray[np.int64], k: int) -> int:
    return int(sizes[sizes < k].sum())


def describe_transfers(
    transfers: tuple[RegionTransfer, ...], codes: tuple[str, ...], most: int = 10
) -> tuple[str, ...]:
    """Describe the transfers and why they were made; beyond ``most`` neighbours only their number."""
    sentences = [_sentence(transfer, codes[transfer.other]) for transfer in transfers[:most]]
    rest = transfers[most:]
    if rest:
        number = sum(transfer.regions for transfer in rest)
        sentences.append(
            f"{number:,} more came from or went to {format_count(len(rest), 'other neighbour')}."
        )
    return tuple(sentences)


def _sentence(transfer: RegionTransfer, code: str) -> str:
    number = transfer.regions
    saved_records = transfer.saved_records
    moved = f"{format_count(number, 'initial region')} {'came from' if transfer.gained else 'went to'} {code}"
    if saved_records is None:
        return f"{moved}."
    if saved_records > 0:
        fewer = format_count(saved_records, "record")
        return f"{moved} because {fewer} fewer {inflect(saved_records, 'is', 'are')} suppressed."
    if saved_records == 0:
        return f"{moved}; by itself that keeps no record."
    return f"{moved}; by itself that costs {format_count(-saved_records, 'record')}, but other moves build on it."
