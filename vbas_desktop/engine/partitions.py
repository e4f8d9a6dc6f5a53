"""Build the partitions of one run by number of sites, and cache them with what each loses."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from statistics import median
from time import perf_counter
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from vbas_desktop.algorithms.aggregation import dense_membership
from vbas_desktop.algorithms.certainty_penalty import (
    compute_certainty_penalty,
    sum_category_penalties,
    sum_region_penalties,
)
from vbas_desktop.algorithms.site_counts import list_site_counts
from vbas_desktop.algorithms.suppression import count_released, release_classes
from vbas_desktop.approaches.interface import Context
from vbas_desktop.approaches.registry import NOTHING
from vbas_desktop.model.findings import Finding
from vbas_desktop.model.progress import NO_PROGRESS, DeadlineProgress, Progress, SubProgress
from vbas_desktop.model.records import SourceFile
from vbas_desktop.model.regions import CrosswalkPartition
from vbas_desktop.model.tiers import Tiers
from vbas_desktop.settings.run import RunSettings

from .constraint_zones import Zones, build_tiers_within, join_partitions
from .constraints import ResolvedConstraints, resolve_constraints
from .outcome import RegionPartition, build_context
from .request import Request, list_deciding_settings
from .stages import build_zone_partition
from .validation import check_tiers

T = TypeVar("T")

_GRACE_SECONDS = 2.0
"""How long a solution may take to be completed after a stop."""

_MAX_CACHED = 64
"""Partitions that are cached for other requests: more than one search for a number makes."""


@dataclass(frozen=True)
class Trial:
    """Summary of a trial partition: its released records, and the sum of their regions' certainty penalties."""

    released: int
    place_penalties: float


class PartitionCache:
    """Partitions by number of sites, and what each loses, for all requests that differ in their number of sites alone.

    Only finished ones are cached, the latest of them: one whose refinement was stopped would not be built so again.
    """

    def __init__(self) -> None:
        self._partitions: dict[int, RegionPartition] = {}
        self._trials: dict[int, Trial] = {}
        self._category_penalties: dict[int, float] = {}
        self._seconds: list[float] = []
        self.simplified: PartitionCache | None = None
        """The cache of the same requests without long searches, once these were tried."""

    @property
    def median_seconds(self) -> float | None:
        """Return the median seconds of building a partition; None if none was built."""
        return median(self._seconds) if self._seconds else None

    def get_partition(self, sites: int, build: Callable[[], RegionPartition]) -> RegionPartition:
        """Return the cached partition, or build and cache it."""
        cached = self._partitions.get(sites)
        if cached is not None:
            return cached
        started = perf_counter()
        partition = build()
        if not partition.stopped:
            self._seconds.append(perf_counter() - started)
            self._partitions[sites] = partition
            for oldest in list(self._partitions)[:-_MAX_CACHED]:
                self._partitions.pop(oldest, None)
        return partition

    def get_trial(self, sites: int, release: Callable[[], Trial]) -> Trial:
        """Return the cached trial, or compute it with ``release``."""
        return self._get(self._trials, sites, release)

    def get_category_penalties(self, sites: int, add_up: Callable[[], float]) -> float:
        """Return the cached sum of category penalties, or compute it with ``add_up``."""
        return self._get(self._category_penalties, sites, add_up)

    def _get(self, results: dict[int, T], sites: int, compute: Callable[[], T]) -> T:
        result = results.get(sites)
        if result is None:
            result = compute()
            if sites in self._partitions:
                results[sites] = result
        return result


@dataclass(frozen=True, eq=False)
class PartitionBuilder:
    """Builds the partition of one request for any number of sites, each number once.

    ``cache`` may hold what other requests built of the same context; findings and trials are of this request alone.
    """

    request: Request
    context: Context
    cache: PartitionCache = field(default_factory=PartitionCache, repr=False)
    _partitions: dict[int, RegionPartition] = field(default_factory=dict, repr=False)
    _suppressed: dict[int, int] = field(default_factory=dict, repr=False)

    @property
    def findings(self) -> tuple[Finding, ...]:
        """Collect the findings on the partitions, each once."""
        partitions = (self._partitions[sites] for sites in sorted(self._partitions))
        return tuple(
            dict.fromkeys(finding for partition in partitions for finding in partition.findings)
        )

    @property
    def tried(self) -> Mapping[int, int]:
        """Return the suppressed records of each number of sites that was tried."""
        return self._suppressed

    @property
    def stopped(self) -> bool:
        """Test whether the user cancelled a refinement."""
        return any(partition.stopped for partition in self._partitions.values())

    @property
    def trials(self) -> PartitionBuilder:
        """Return the builder without long searches that trials use; itself if there are no long searches."""
        return self._simplified or self

    @cached_property
    def _simplified(self) -> PartitionBuilder | None:
        location = self.request.site_location.without_search
        refinement = None if self.request.refinement is None else self.request.refinement.without_search
        if location is self.request.site_location and refinement is self.request.refinement:
            return None
        if self.cache.simplified is None:
            self.cache.simplified = PartitionCache()
        simpler = replace(self.request, site_location=location, refinement=refinement)
        return PartitionBuilder(simpler, self.context, self.cache.simplified)

    @cached_property
    def constraints(self) -> ResolvedConstraints | None:
        """Resolve the constraints of the request."""
        return resolve_constraints(self.request)

    @cached_property
    def _zones(self) -> Zones | None:
        return None if self.constraints is None else Zones(self.constraints, self.context)

    @property
    def _n_regions(self) -> int:
        return len(self.context.regions)

    @property
    def in_tiers(self) -> bool:
        """Test whether there may be fallback areas above the aggregated regions."""
        return self.request.tiers is not None and self.request.tiers.metadata.name != NOTHING

    @property
    def least_sites(self) -> int:
        """Return the smallest possible number of sites: one per zone."""
        return 1 if self._zones is None else self._zones.least_sites

    def list_site_numbers(self, sites: int) -> tuple[int, ...]:
        """List the numbers of sites that a run tries around this one."""
        request = self.request
        if request.construction.count_regions(self.context) is not None:
            return (sites,)
        settings = request.settings
        numbers = list_site_counts(
            sites, settings.range_step_percent, settings.range_reach, self._n_regions
        )
        return tuple(dict.fromkeys(max(int(number), self.least_sites) for number in numbers))

    def build(self, sites: int, progress: Progress) -> RegionPartition:
        """Build the partition with that many sites, or as many as there must be."""
        sites = max(sites, self.least_sites)
        if sites not in self._partitions:
            self._partitions[sites] = self.cache.get_partition(
                sites, partial(self._build, sites, progress)
            )
        return self._partitions[sites]

    def _build(self, sites: int, progress: Progress) -> RegionPartition:
        """Locate, construct and refine in all zones, and add the tiers."""
        merging = SubProgress(progress, 0.0, 0.95)
        if self._zones is None:
            partition = build_zone_partition(self.request, None, self.context, sites, merging)
        else:
            partition = self._build_zones(self._zones, sites, merging)
        self.request.construction.check_result(self.context, partition.owner)
        rest = NO_PROGRESS if partition.stopped else SubProgress(progress, 0.95, 1.0)
        return replace(partition, tiers=self._build_tiers(partition.owner, rest))

    def _build_zones(self, area: Zones, sites: int, progress: Progress) -> RegionPartition:
        """Build the partitions of all zones and combine them.

        After a stop the zones that are left are built without any search, so that the solution is whole; if that takes
        long, there is none.
        """
        partitions = []
        n_done = 0
        grace: DeadlineProgress | None = None
        for zone, number in zip(area.zones, area.apportion_sites(sites), strict=True):
            span = SubProgress(
                progress, n_done / self._n_regions, (n_done + len(zone)) / self._n_regions
            )
            partition = zone.partitions.get(number)
            if partition is None:
                is_plain = grace is not None
                partition = build_zone_partition(
                    self.request, zone, zone.context, number, grace or span, is_plain
                )
                if partition.stopped:
                    grace = DeadlineProgress(_GRACE_SECONDS)
                elif grace is None:
                    zone.partitions[number] = partition
            partitions.append(partition)
            n_done += len(zone)
        return join_partitions(area.zones, partitions, self._n_regions)

    def _build_tiers(self, owner: NDArray[np.int32], progress: Progress) -> Tiers | None:
        approach = self.request.tiers
        if approach is None:
            return None
        membership, used = dense_membership(owner)
        tiers = build_tiers_within(self.constraints, approach, self.context, membership, progress)
        return None if tiers is None else check_tiers(tiers, used.size, approach)

    def count_suppressed(self, sites: int, progress: Progress) -> int:
        """Count the records of the file that are not released with that many sites."""
        sites = max(sites, self.least_sites)
        if sites not in self._suppressed:
            self._suppressed[sites] = self.request.problem.records - self._try(sites, progress).released
        return self._suppressed[sites]

    def compute_penalty(self, sites: int, progress: Progress) -> float:
        """Compute the certainty penalty of what is released with that many sites."""
        sites = max(sites, self.least_sites)
        trial = self._try(sites, progress)
        penalties = 0.0
        if self.context.category_penalties:
            add_up = partial(self._add_category_penalties, sites, progress)
            penalties = self.cache.get_category_penalties(sites, add_up)
        n_columns = 1 + len(self.context.counts.n_categories)
        penalties += trial.place_penalties
        return compute_certainty_penalty(
            penalties, n_columns, trial.released, self.request.problem.records
        )

    def _try(self, sites: int, progress: Progress) -> Trial:
        self.build(sites, progress)
        return self.cache.get_trial(sites, partial(self._release, sites, progress))

    def _release(self, sites: int, progress: Progress) -> Trial:
        aggregation = self._partitions[sites].aggregate(self.context)
        released = count_released(aggregation, progress)
        penalties = sum_region_penalties(zip(aggregation.memberships, released, strict=True))
        return Trial(sum(int(totals.sum()) for totals in released), penalties)

    def _add_category_penalties(self, sites: int, progress: Progress) -> float:
        released = release_classes(self._partitions[sites].aggregate(self.context), progress)
        return sum_category_penalties(released.classes, self.context.category_penalties)


_PARTITION_APPROACHES = ("site_location", "construction", "refinement", "tiers")
"""Approaches that the partition of a given number of sites depends on."""

_NUMBERS_AND_RANKS = {"range_step_percent": 1.0, "range_reach": 0, "pareto_measures": None}
"""Options that decide which numbers are tried and how solutions are ranked, with one value for all."""


class TrialCache:
    """Caches the trials of the latest request, for its estimate, its run and the advice on it."""

    def __init__(self) -> None:
        self._latest: PartitionBuilder | None = None

    def partitions(self, request: Request, progress: Progress = NO_PROGRESS) -> PartitionBuilder:
        """Return the builder of a request, with the cached trials if they apply to it."""
        latest = self._latest
        if latest is None or not _have_equal_partitions(latest.request, request):
            settings = request.settings
            context, _ = build_context(
                request.problem, settings.global_suppression, settings.random_seed, progress
            )
            latest = PartitionBuilder(request, context)
            self._latest = latest
        return PartitionBuilder(request, latest.context, latest.cache)


def _source_of(partition: CrosswalkPartition | None) -> SourceFile | None:
    return None if partition is None else partition.source


def _list_partition_settings(settings: RunSettings) -> dict[str, Any]:
    return list_deciding_settings(settings) | _NUMBERS_AND_RANKS


def _have_equal_partitions(first: Request, second: Request) -> bool:
    """Test whether the same number of sites gives the same partition and loss for both requests."""
    problem = first.problem
    other = second.problem
    return (
        problem.counts is other.counts
        and problem.regions is other.regions
        and problem.records == other.records
        and [id(counts) for counts in problem.sensitive] == [id(counts) for counts in other.sensitive]
        and problem.k == other.k
        and _source_of(problem.given) == _source_of(other.given)
        and all(getattr(first, name) == getattr(second, name) for name in _PARTITION_APPROACHES)
        and _list_partition_settings(first.settings) == _list_partition_settings(second.settings)
    )
