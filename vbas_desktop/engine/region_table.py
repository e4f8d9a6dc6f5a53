"""The aggregated regions of a solution one by one: what they hold, what they lost, and why."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vbas_desktop.algorithms.grouping import aggregate, smallest_classes
from vbas_desktop.domain.problem import Problem
from vbas_desktop.domain.progress import Progress, Silent
from vbas_desktop.domain.records import EquivalenceCounts, frozen
from vbas_desktop.domain.sensitive import enforced
from vbas_desktop.domain.solution import Solution
from vbas_desktop.domain.tiers import NOWHERE

from .outcome import decided_for, largest_shares


@dataclass(frozen=True, eq=False)
class RegionTable:
    """One row per aggregated region, in the order of ``solution.owners_used``.

    ``records`` counts the records of the file in it (those of unknown regions are nowhere), ``released`` those that
    remain, ``suppressed`` the difference, whether lost globally or locally. In tiers, ``released`` are those released
    with its own code, and ``raised`` those released in larger places; ``by_tier[t]`` are those released in tier t.
    ``anonymity_before`` and ``anonymity_after`` are
    the smallest class before and after suppression; 0 where there is no record. ``site_x`` and ``site_y`` are NaN
    without sites. ``vector[t − 1]`` classes of all regions together have t records before suppression.
    ``largest_share`` is the largest share, in percent, of one harmful value in a class released in the region; NaN
    where there is none.
    """

    site: NDArray[np.int32]
    site_x: NDArray[np.float64]
    site_y: NDArray[np.float64]
    initial_regions: NDArray[np.int64]
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
        return int(self.site.size)

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


def region_table(problem: Problem, solution: Solution, progress: Progress | None = None) -> RegionTable:
    """What each aggregated region holds and lost. O(stored counts), milliseconds."""
    progress = progress or Silent()
    # A class below k in the whole file is below k in every region, so local suppression alone gives the release.
    found = decided_for(problem, solution, progress)
    aggregated, released = found.aggregated, found.here
    progress.update("Counting the aggregated regions")
    used = solution.owners_used
    nowhere = np.full((used.size, 2), np.nan)
    places = nowhere if solution.sites is None else solution.sites[used]
    by_tier: tuple[NDArray[np.int64], ...] = ()
    if solution.tiers is not None:
        tier_of = found.tier_of
        indptr, _, values = aggregated.rows
        place = np.repeat(np.arange(used.size), np.diff(indptr))
        by_tier = tuple(
            frozen(np.bincount(place[here], values[here], used.size).astype(np.int64))
            for here in (tier_of == tier for tier in range(len(solution.tiers)))
        )
    raised = np.sum(by_tier[1:], axis=0) if by_tier else np.zeros(used.size, np.int64)
    before, _ = smallest_classes(aggregated)
    after, _ = smallest_classes(released)
    return RegionTable(
        site=used,
        site_x=frozen(places[:, 0].copy()),
        site_y=frozen(places[:, 1].copy()),
        initial_regions=frozen(np.bincount(solution.membership, minlength=used.size)),
        records=aggregated.region_totals,
        released=released.region_totals,
        suppressed=frozen(aggregated.region_totals - released.region_totals - raised),
        anonymity_before=frozen(before),
        anonymity_after=frozen(after),
        vector=_vector(aggregated.dense if aggregated.dense is not None else aggregated.rows[2]),
        raised=frozen(raised),
        largest_share=frozen(largest_shares(found)),
        by_tier=by_tier,
    )


def anonymity_vector(problem: Problem, solution: Solution, region: int | None = None) -> NDArray[np.int64]:
    """How many classes have 1, 2, … records before suppression: of one aggregated region, or of all together."""
    if region is not None:
        return _vector(class_sizes(problem, solution, region)[1])
    counts = aggregate(problem.counts, solution.membership, solution.aggregated_regions)
    return _vector(counts.dense if counts.dense is not None else counts.rows[2])


def _vector(sizes: NDArray[np.int64]) -> NDArray[np.int64]:
    return frozen(np.bincount(sizes.ravel())[1:])


def class_sizes(problem: Problem, solution: Solution, region: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The classes (columns of ``problem.counts``) of one aggregated region and their sizes before suppression."""
    totals = sizes_in(problem.counts, np.flatnonzero(solution.membership == region))
    present = np.flatnonzero(totals)
    return present, totals[present]


def sizes_in(counts: EquivalenceCounts, regions: NDArray[np.integer]) -> NDArray[np.int64]:
    """The sizes of all classes in some initial regions together."""
    if counts.dense is not None:
        return np.asarray(counts.dense[regions].sum(axis=0))
    totals = np.zeros(counts.classes.size, np.int64)
    indptr, columns, values = counts.rows
    for region in regions:
        span = slice(indptr[region], indptr[region + 1])
        totals[columns[span]] += values[span]
    return totals


def why(problem: Problem, solution: Solution, region: int) -> list[SmallClass]:
    """The classes that cost records in one aggregated region (by row of the table), largest first."""
    if solution.tiers is None and not enforced(problem.sensitive):
        columns, sizes = class_sizes(problem, solution, region)
        tiers = np.where(sizes < problem.k, NOWHERE, 0)
    else:
        found = decided_for(problem, solution)
        indptr, every, values = found.aggregated.rows
        mine = slice(indptr[region], indptr[region + 1])
        columns, sizes, tiers = every[mine].astype(np.int64), values[mine], found.tier_of[mine]
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
    codes = problem.counts.class_codes(column)
    return tuple(categories.label(code) for categories, code in zip(problem.categories, codes, strict=True))
