"""Everything about a release that is decided before the first record is read: codes, kept classes, their sizes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from vbas_desktop.algorithms.region_codes import compute_mean_points, make_tier_codes
from vbas_desktop.algorithms.suppression import LocalSuppression
from vbas_desktop.engine.outcome import suppress_solution
from vbas_desktop.model.findings import Finding, InputError, VerificationFailed
from vbas_desktop.model.problem import Problem
from vbas_desktop.model.regions import Regions
from vbas_desktop.model.sensitive import with_criteria
from vbas_desktop.model.solution import Solution
from vbas_desktop.model.tiers import NOT_RELEASED, Tiers


@dataclass(frozen=True, eq=False, kw_only=True)
class ReleasedPartition:
    """Places with their released records: all that the small files and the map need.

    ``membership`` is the place of each of the initial ``regions``; ``codes``, ``centres`` (their middles) and ``names``
    (readable ones, if they have any) are those of the places. In tiers, ``parents`` has the code of the larger area
    that each place lies in, empty for the whole area, and ``coarser`` the tiers above. ``cell_sites`` are the sites of
    the places if their Voronoi cells are the released shapes (None: the shapes are unions of initial regions).
    """

    regions: Regions
    membership: NDArray[np.int32]
    codes: tuple[str, ...]
    centres: NDArray[np.float64]
    names: tuple[str, ...] | None = None
    parents: tuple[str, ...] = ()
    coarser: tuple[FallbackTier, ...] = ()
    cell_sites: NDArray[np.float64] | None = None

    @property
    def released_by_region(self) -> NDArray[np.int64]:
        """Records that are released with the code of each place."""
        raise NotImplementedError

    @cached_property
    def members_by_region(self) -> NDArray[np.int64]:
        """Number of initial regions of each place."""
        return np.bincount(self.membership, minlength=len(self.codes)).astype(np.int64)

    @property
    def tiers(self) -> tuple[ReleasedPartition, ...]:
        """The places of all tiers, these first."""
        return (self, *self.coarser)

    @property
    def smallest_area(self) -> int | None:
        """The fewest released records of a place that is named in the release; None if nothing is released.

        The records of a larger area are those released with its own code and with the codes of places inside it.
        """
        fewest: list[int] = []
        inside: dict[str, int] = {}
        for tier in self.tiers:
            above: dict[str, int] = {}
            parents = tier.parents or ("",) * len(tier.codes)
            for code, parent, released in zip(
                tier.codes, parents, tier.released_by_region.tolist(), strict=True
            ):
                total = inside.get(code, 0) + released
                above[parent] = above.get(parent, 0) + total
                if released:
                    fewest.append(total)
            inside = above
        return min(fewest, default=None)


@dataclass(frozen=True, eq=False, kw_only=True)
class FallbackTier(ReleasedPartition):
    """The places of one tier above the aggregated regions, and what is released in them.

    ``sizes`` are those of the classes that are released here, ``size_places`` the place of each, ``size_classes`` its
    column among the classes. ``names`` are those of the region file where the places have some.
    """

    title: str
    sizes: NDArray[np.int64]
    size_places: NDArray[np.int64]
    size_classes: NDArray[np.int64]

    @cached_property
    def released_by_region(self) -> NDArray[np.int64]:
        """Records that are released with the code of each place."""
        return np.bincount(self.size_places, self.sizes, minlength=len(self.codes)).astype(np.int64)


@dataclass(frozen=True, eq=False, kw_only=True)
class ReleasePlan(ReleasedPartition):
    """The aggregation of one solution in counts: what is released of every class of every aggregated region.

    ``indptr, columns, counts`` list the non-zero classes of each aggregated region before local suppression, columns
    ascending; ``tier_of`` says in which tier each of them is released (NOWHERE: in none). Without tiers a class is
    released iff its count reaches k and its sensitive values meet the criteria. (A class that global suppression drops
    has fewer than k records in the whole file, so it never reaches k in a region: one test covers both.) ``names`` are
    readable ones of the aggregated regions, if they are wanted.
    """

    problem: Problem
    solution: Solution
    indptr: NDArray[np.int64]
    columns: NDArray[np.int32]
    counts: NDArray[np.int64]
    tier_of: NDArray[np.uint8]

    @cached_property
    def places(self) -> NDArray[np.int32]:
        """The aggregated region of every listed class."""
        return np.repeat(np.arange(len(self.codes), dtype=np.int32), np.diff(self.indptr))

    @cached_property
    def released(self) -> NDArray[np.int64]:
        """Released records of every listed class, in whatever tier: its count, or 0 if it is too small."""
        return np.where(self.tier_of != NOT_RELEASED, self.counts, 0)

    @cached_property
    def released_here(self) -> NDArray[np.int64]:
        """The records of every listed class that are released with the code of their aggregated region."""
        return np.where(self.tier_of == 0, self.counts, 0)

    @cached_property
    def every_code(self) -> tuple[str, ...]:
        """The codes of all tiers, one tier after the other."""
        return (*self.codes, *(code for tier in self.coarser for code in tier.codes))

    @cached_property
    def areas(self) -> NDArray[np.int32]:
        """Of every listed class the place among `every_code` where it is released (where it is not: of no meaning)."""
        if self.solution.tiers is None:
            return self.places
        areas = self.places.copy()
        start = len(self.codes)
        for tier, fallback_tier in enumerate(self.coarser, 1):
            is_here = self.tier_of == tier
            areas[is_here] = start + self.solution.tiers.ancestors[tier][self.places[is_here]]
            start += len(fallback_tier.codes)
        return areas

    @cached_property
    def class_sizes(self) -> NDArray[np.int64]:
        """Of every listed class how many released records have the same code and values; 0 where it is not released."""
        if not self.coarser:
            return self.released
        width = max(1, self.problem.counts.n_combinations)
        keys = self.areas.astype(np.int64) * width + self.columns
        _, where = np.unique(keys, return_inverse=True)
        return np.where(self.released > 0, np.bincount(where, self.released).astype(np.int64)[where], 0)

    @cached_property
    def sizes(self) -> NDArray[np.int64]:
        """The sizes of all released classes."""
        own = self.released_here[self.released_here > 0]
        return np.concatenate([own, *(tier.sizes for tier in self.coarser)])

    def _per_region(self, values: NDArray[np.int64]) -> NDArray[np.int64]:
        running = np.concatenate(([0], np.cumsum(values)))
        return running[self.indptr[1:]] - running[self.indptr[:-1]]

    @cached_property
    def records_by_region(self) -> NDArray[np.int64]:
        """Records of each aggregated region before suppression."""
        return self._per_region(self.counts)

    @cached_property
    def released_by_region(self) -> NDArray[np.int64]:
        """Records that are released with the code of each aggregated region."""
        return self._per_region(self.released_here)

    @cached_property
    def suppressed_by_region(self) -> NDArray[np.int64]:
        """Records of each aggregated region that are released nowhere."""
        return self.records_by_region - self._per_region(self.released)

    @cached_property
    def anonymity_by_region(self) -> NDArray[np.int64]:
        """Smallest class released with the code of each aggregated region; 0 where none is."""
        smallest = np.full(len(self.codes), np.iinfo(np.int64).max)
        is_released = self.released_here > 0
        np.minimum.at(smallest, self.places[is_released], self.released_here[is_released])
        return np.where(self.released_by_region > 0, smallest, 0)

    @property
    def records_released(self) -> int:
        """Records of the released file."""
        return int(self.released.sum())

    @property
    def records_suppressed(self) -> int:
        """Records of the input that are not in the released file, those of unknown regions included."""
        return self.problem.records - self.records_released

    @property
    def anonymity(self) -> int | None:
        """The smallest released class, None if nothing is released."""
        return int(self.sizes.min()) if self.sizes.size else None


def empty_release(problem: Problem) -> InputError:
    """Make the refusal to release nothing: a file without records is no release, however well it is verified."""
    return InputError(
        Finding(
            "empty-release",
            f"Nothing would be released: no combination of values occurs {problem.k:,} times in an aggregated region"
            f"{' with sensitive values that meet the criteria' if with_criteria(problem.sensitive) else ''}.",
            "Choose a smaller k, fewer quasi-identifiers, broader groups, or a solution with fewer regions.",
        )
    )


def build_plan(problem: Problem, solution: Solution) -> ReleasePlan:
    """Aggregate the counts by the solution's owners and compare with what the solution says of itself."""
    regions = problem.regions
    tiers = solution.tiers
    suppression = suppress_solution(problem, solution)
    codes = make_tier_codes(regions, solution)
    table = suppression.aggregated.table
    plan = ReleasePlan(
        problem=problem,
        solution=solution,
        regions=regions,
        membership=solution.membership,
        codes=codes[0],
        centres=compute_mean_points(regions, solution.membership),
        indptr=table.indptr.astype(np.int64),
        columns=table.indices,
        counts=table.data,
        tier_of=suppression.tier_of,
    )
    if tiers is not None:
        coarser = _build_fallback_tiers(regions, solution, tiers, suppression, codes)
        parents = tuple(coarser[0].codes[parent] for parent in tiers.parents[0].tolist())
        plan = replace(plan, parents=parents, coarser=coarser)
    stated = solution.suppressed_global + solution.suppressed_local + problem.unknown_region_records
    if plan.records_suppressed != stated:
        raise VerificationFailed(
            "The solution does not fit the counts of the record file. Run it again."
        )
    return plan


def _build_fallback_tiers(
    regions: Regions,
    solution: Solution,
    tiers: Tiers,
    suppression: LocalSuppression,
    codes: tuple[tuple[str, ...], ...],
) -> tuple[FallbackTier, ...]:
    """Build the tiers above the aggregated regions, from the whole area down, so that each knows the codes above it."""
    fallback_tiers: list[FallbackTier] = []
    memberships = list(tiers.memberships(solution.membership))
    for tier in range(len(tiers) - 1, 0, -1):
        released = suppression.released[tier]
        above = (
            [""]
            if not fallback_tiers
            else [codes[tier + 1][parent] for parent in tiers.parents[tier].tolist()]
        )
        fallback_tier = FallbackTier(
            title=tiers.titles[tier],
            regions=regions,
            membership=memberships[tier],
            codes=codes[tier],
            centres=compute_mean_points(regions, memberships[tier]),
            parents=tuple(above),
            names=tiers.names[tier],
            sizes=released.sizes,
            size_places=released.list_class_regions(),
            size_classes=released.table.indices.astype(np.int64),
        )
        fallback_tiers.insert(0, fallback_tier)
    return tuple(fallback_tiers)
