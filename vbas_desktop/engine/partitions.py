"""The partitions of one run by number of sites: made once, tried out for the number, rated for the solutions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vbas_desktop.algorithms.grouping import aggregate, dense_membership, without_small_classes
from vbas_desktop.algorithms.limit import allowed_records, most_trials
from vbas_desktop.algorithms.tier_release import tiers_of_classes
from vbas_desktop.approaches.base import Situation
from vbas_desktop.domain.errors import Finding, Severity
from vbas_desktop.domain.problem import Request
from vbas_desktop.domain.progress import Progress, Silent, Span
from vbas_desktop.domain.records import frozen
from vbas_desktop.domain.solution import Unrefined
from vbas_desktop.domain.tiers import NOWHERE, Tiers
from vbas_desktop.domain.words import counted

from .checks import check_all_kept, check_owner, check_sites, check_tiers

_STAGE = "Finding the number of sites"


@dataclass(frozen=True, eq=False)
class Partition:
    """Where the sites are (None: there are none), who owns each initial region, what the approaches tell of how they
    got there, remarks on it, and the larger places above the aggregated regions.

    ``unrefined`` is what the construction made, if a refinement changed it; ``stopped``: the user did not wait for the
    refinement's end.
    """

    places: NDArray[np.float64] | None
    owner: NDArray[np.int32]
    told: Mapping[str, Any]
    findings: tuple[Finding, ...] = ()
    tiers: Tiers | None = None
    unrefined: Unrefined | None = None
    stopped: bool = False


@dataclass(frozen=True, eq=False)
class Partitions:
    """The request's approaches with any number of sites; what was made is kept, and no number is made twice."""

    request: Request
    situation: Situation
    _made: dict[int, Partition] = field(default_factory=dict, repr=False)
    _suppressed: dict[int, int] = field(default_factory=dict, repr=False)

    @property
    def findings(self) -> tuple[Finding, ...]:
        """Remarks on what was made, each once."""
        made = (self._made[sites] for sites in sorted(self._made))
        return tuple(dict.fromkeys(finding for partition in made for finding in partition.findings))

    @property
    def tried(self) -> Mapping[int, int]:
        """The numbers of sites that were tried out, and how many records each of them loses."""
        return self._suppressed

    @property
    def stopped(self) -> bool:
        """Whether the user did not wait for the end of a refinement."""
        return any(partition.stopped for partition in self._made.values())

    def make(self, sites: int, progress: Progress) -> Partition:
        """Locations, construction, refinement and tiers with that many sites."""
        if sites not in self._made:
            self._made[sites] = self._make(sites, progress)
        return self._made[sites]

    def _make(self, sites: int, progress: Progress) -> Partition:
        request, situation = self.request, self.situation
        merged = 0.95 if request.refinement is None else 0.95 * (1.0 - request.refinement.share)
        placed = 0.95 * merged
        places, told = self._places(sites, Span(progress, 0.0, placed))
        stopped = any(facts.get("stopped") for facts in told.values())
        # The best places until the stop: what follows takes a moment and is done all the same.
        progress = Silent() if stopped else progress
        progress.update("Merging regions", placed)
        given = np.full((sites, 2), np.nan) if places is None else places
        found = request.construction.construct_and_tell(situation, given, Span(progress, placed, merged))
        owner = check_owner(found.owner, situation, places, request.construction)
        made = Partition(places, frozen(owner), {**told, **found.told}, found.findings, stopped=stopped)
        made = made if stopped else self._refined(made, Span(progress, merged, 0.95))
        rest = Silent() if made.stopped else Span(progress, 0.95, 1.0)
        return replace(made, tiers=self._tiers(made.owner, rest))

    def _places(self, sites: int, progress: Progress) -> tuple[NDArray[np.float64] | None, Mapping[str, Any]]:
        if not self.request.construction.needs_sites:
            return None, {}
        progress.update("Placing the sites", 0.0)
        located, told = self.request.site_location.locate_and_tell(self.situation, sites, progress)
        return frozen(check_sites(located, sites, self.request.site_location)), told

    def _refined(self, made: Partition, progress: Progress) -> Partition:
        refinement, situation = self.request.refinement, self.situation
        if refinement is None:
            return made
        found = refinement.refine(situation, made.owner, made.places, progress)
        places = made.places
        if places is not None and found.sites is not None:
            places = frozen(check_sites(found.sites, len(places), refinement))
        owner = check_owner(found.owner, situation, places, refinement)
        check_all_kept(made.owner, owner, refinement)
        unchanged = np.array_equal(owner, made.owner) and (places is None or np.array_equal(places, made.places))  # type: ignore[arg-type]
        unrefined = None if unchanged else Unrefined(made.owner, made.places)
        told = {**made.told, **found.told}
        return replace(made, places=places, owner=frozen(owner), told=told, unrefined=unrefined, stopped=found.stopped)

    def _tiers(self, owner: NDArray[np.int32], progress: Progress) -> Tiers | None:
        if self.request.tiers is None:
            return None
        membership, used = dense_membership(owner)
        arranged = self.request.tiers.arrange(self.situation, membership, progress)
        return None if arranged is None else check_tiers(arranged, used.size, self.request.tiers)

    def suppressed(self, sites: int, progress: Progress) -> int:
        """How many of the file's records are not released with that many sites."""
        if sites not in self._suppressed:
            partition, k = self.make(sites, progress), self.situation.k
            membership, used = dense_membership(partition.owner)
            aggregated = aggregate(self.situation.counts, membership, used.size, progress)
            if partition.tiers is None:
                released = without_small_classes(aggregated, k).records
            else:
                tier_of = tiers_of_classes(aggregated, partition.tiers, k, progress)
                released = int(aggregated.rows[2][tier_of != NOWHERE].sum())
            self._suppressed[sites] = self.request.problem.records - released
        return self._suppressed[sites]


class _Trials:
    """What a site number approach may ask; each trial moves the progress on by its part of the most there can be."""

    def __init__(self, partitions: Partitions, progress: Progress) -> None:
        self._partitions, self._progress = partitions, progress
        self._most = most_trials(len(partitions.situation.regions))

    @property
    def records(self) -> int:
        return self._partitions.request.problem.records

    def suppressed(self, sites: int) -> int:
        done = min(len(self._partitions.tried), self._most - 1)
        part = Span(self._progress, done / self._most, (done + 1) / self._most)
        return self._partitions.suppressed(sites, _Named(part))


class _Named:
    """Progress under one name: the stages of a trial would flicker."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress

    def update(self, stage: str, fraction: float | None = None) -> None:
        self._progress.update(_STAGE, fraction)


def decide_sites(partitions: Partitions, progress: Progress) -> tuple[int, list[Finding]]:
    """The number of sites within 1 … r, and findings if it is not what was asked for."""
    progress.update(_STAGE, 0.0)
    request, regions = partitions.request, len(partitions.situation.regions)
    number = int(request.site_number.decide(partitions.situation, _Trials(partitions, progress)))
    if number > regions:
        return regions, [_cut_back(number, regions)]
    number = max(1, number)
    allowed = request.site_number.allowed_loss()
    if allowed is None or partitions.suppressed(number, progress) <= allowed_records(request.problem.records, allowed):
        return number, []
    return number, [_out_of_reach(partitions, allowed, number)]


def _cut_back(number: int, regions: int) -> Finding:
    return Finding(
        "more-sites-than-regions",
        f"{number:,} sites were asked for, but the file has only {counted(regions, 'initial region')}: "
        f"{counted(regions, 'site is', 'sites are')} used.",
        severity=Severity.WARNING,
    )


def _out_of_reach(partitions: Partitions, allowed: float, number: int) -> Finding:
    lost, records = partitions.tried[number], partitions.request.problem.records
    return Finding(
        "limit-out-of-reach",
        f"Even {counted(number, 'region')} in all would lose {lost:,} of {counted(records, 'record')} "
        f"({100 * lost / records:.2f} %), more than the {allowed:g} % that are allowed.",
        "Take categories together, use fewer quasi-identifiers or a smaller k, or allow a larger loss.",
        severity=Severity.WARNING,
    )
