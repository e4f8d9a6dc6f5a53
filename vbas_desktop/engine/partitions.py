"""The partitions of one run by number of sites: made once, tried out for the number, rated for the solutions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from statistics import median
from time import perf_counter as clock
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from vbas_desktop.algorithms.aggregation import dense_membership
from vbas_desktop.algorithms.certainty import category_penalty, certainty_penalty, place_penalty
from vbas_desktop.algorithms.site_numbers import MOST_PASSES, allowed_records, most_scanned, range_of_sites
from vbas_desktop.algorithms.suppression import Aggregation, release_classes, released_by_place
from vbas_desktop.approaches.base import Refinement, SiteLocation, Situation
from vbas_desktop.approaches.registry import NOTHING
from vbas_desktop.model.errors import Finding, Severity
from vbas_desktop.model.problem import Request
from vbas_desktop.model.progress import Grace, Progress, Silent, Span
from vbas_desktop.model.records import frozen
from vbas_desktop.model.solution import Unrefined
from vbas_desktop.model.tiers import Tiers
from vbas_desktop.model.words import counted

from .checks import check_all_kept, check_owner, check_sites, check_tiers
from .limits import Limits, limits_of
from .loss import causes_in_words, loss_causes, remedies
from .outcome import aggregation_of
from .parts import Part, Parts, joined_findings, joined_owner, joined_told, tiers_within, to_wishes

T = TypeVar("T")

_STAGE = "Finding the number of sites"

_GRACE = 2.0
"""So many seconds a stopped solution may take to be completed."""

_KEPT = 64
"""Partitions that are kept for others: more than one search for a number makes."""


@dataclass(frozen=True, eq=False)
class Partition:
    """Where the sites are (None: there are none), who owns each initial region, what the approaches tell of how they
    got there, remarks on it, and the larger places above the aggregated regions.

    ``unrefined`` is what the construction made, if a refinement changed it; ``stopped``: the user did not wait for the
    refinement's end. ``detoured`` is as in `Solution`. ``part_sites`` says how many of the places are each part's.
    """

    places: NDArray[np.float64] | None
    owner: NDArray[np.int32]
    told: Mapping[str, Any]
    findings: tuple[Finding, ...] = ()
    tiers: Tiers | None = None
    unrefined: Unrefined | None = None
    stopped: bool = False
    detoured: NDArray[np.bool_] | None = None
    part_sites: tuple[int, ...] = ()

    def aggregation(self, situation: Situation) -> Aggregation:
        """What it merges, with those sensitive columns only that decide something."""
        return aggregation_of(situation, self.owner, self.tiers)[0].judged


@dataclass(frozen=True)
class Trial:
    """What a partition releases: the number of records, and the sum of the penalties of their places."""

    released: int
    place_penalties: float


class _Known:
    """Partitions by number of sites, and what each loses, for all requests that differ in their number of sites alone.

    Only finished ones are kept, the latest of them: one whose refinement was stopped would not be made so again.
    """

    def __init__(self) -> None:
        self._made: dict[int, Partition] = {}
        self._trials: dict[int, Trial] = {}
        self._category_penalties: dict[int, float] = {}
        self._seconds: list[float] = []
        self.trials: _Known | None = None
        """What is known of the same without long searches, once that was tried."""

    @property
    def seconds_of_one(self) -> float | None:
        """How long one of those that were made took, in the middle of all; None if none was."""
        return median(self._seconds) if self._seconds else None

    def made(self, sites: int, make: Callable[[], Partition]) -> Partition:
        """The partition that is kept, or what ``make`` gives."""
        found = self._made.get(sites)
        if found is None:
            started = clock()
            found = make()
            if not found.stopped:
                self._seconds.append(clock() - started)
                self._made[sites] = found
                for oldest in list(self._made)[:-_KEPT]:
                    self._made.pop(oldest, None)
        return found

    def trial(self, sites: int, release: Callable[[], Trial]) -> Trial:
        """The figures that are kept, or what ``release`` gives."""
        return self._kept(self._trials, sites, release)

    def category_penalties(self, sites: int, add_up: Callable[[], float]) -> float:
        """The sum of the penalties of categories that is kept, or what ``add_up`` gives."""
        return self._kept(self._category_penalties, sites, add_up)

    def _kept(self, kept: dict[int, T], sites: int, compute: Callable[[], T]) -> T:
        found = kept.get(sites)
        if found is None:
            found = compute()
            if sites in self._made:
                kept[sites] = found
        return found


@dataclass(frozen=True, eq=False)
class Partitions:
    """The request's approaches with any number of sites; what was made is kept, and no number is made twice.

    ``known`` may hold what other requests made of the same situation; what is told here is of this one alone.
    """

    request: Request
    situation: Situation
    known: _Known = field(default_factory=_Known, repr=False)
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

    @property
    def trials(self) -> Partitions:
        """The same without long searches: what a number of sites is tried out with. Itself if there are none."""
        return self._simplified or self

    @cached_property
    def _simplified(self) -> Partitions | None:
        location = self.request.site_location.without_search
        refinement = None if self.request.refinement is None else self.request.refinement.without_search
        if location is self.request.site_location and refinement is self.request.refinement:
            return None
        if self.known.trials is None:
            self.known.trials = _Known()
        simpler = replace(self.request, site_location=location, refinement=refinement)
        return Partitions(simpler, self.situation, self.known.trials)

    @cached_property
    def limits(self) -> Limits | None:
        """What aggregated regions must keep to."""
        return limits_of(self.request)

    @cached_property
    def _parts(self) -> Parts | None:
        return None if self.limits is None else Parts(self.limits, self.situation)

    @property
    def in_tiers(self) -> bool:
        """Whether there may be larger places above the aggregated regions."""
        return self.request.tiers is not None and self.request.tiers.card.name != NOTHING

    @property
    def least_sites(self) -> int:
        """How many sites there must be at least: one for each part that is solved by itself."""
        return 1 if self._parts is None else self._parts.least_sites

    def around(self, sites: int) -> tuple[int, ...]:
        """The numbers of sites that a run tries around this one."""
        request = self.request
        found = range_of_sites(sites, request.range_step_percent, request.range_reach, self._regions)
        return tuple(dict.fromkeys(max(int(number), self.least_sites) for number in found))

    def make(self, sites: int, progress: Progress) -> Partition:
        """Locations, construction, refinement and tiers with that many sites, or as many as there must be."""
        sites = max(sites, self.least_sites)
        if sites not in self._made:
            self._made[sites] = self.known.made(sites, partial(self._make, sites, progress))
        return self._made[sites]

    def _make(self, sites: int, progress: Progress) -> Partition:
        merging = Span(progress, 0.0, 0.95)
        if self._parts is None:
            made = self._of_part(None, self.situation, sites, merging)
        else:
            made = self._of_parts(self._parts, sites, merging)
        self.request.construction.check_result(self.situation, made.owner)
        rest = Silent() if made.stopped else Span(progress, 0.95, 1.0)
        return replace(made, tiers=self._tiers(made.owner, rest))

    def _of_parts(self, area: Parts, sites: int, progress: Progress) -> Partition:
        """The partitions of all parts as one.

        After a stop the parts that are left are made without any search, so that the solution is whole; if that takes
        long, there is none.
        """
        parts, found, done = area.parts, [], 0
        grace: Grace | None = None
        for part, number in zip(parts, area.sites_of_parts(sites), strict=True):
            span = Span(progress, done / self._regions, (done + len(part)) / self._regions)
            made = part.made.get(number)
            if made is None:
                made = self._of_part(part, part.situation, number, grace or span, plain=grace is not None)
                if made.stopped:
                    grace = Grace(_GRACE)
                elif grace is None:
                    part.made[number] = made
            found.append(made)
            done += len(part)
        return joined(parts, found, self._regions)

    @property
    def _regions(self) -> int:
        return len(self.situation.regions)

    def _of_part(
        self, part: Part | None, situation: Situation, sites: int, progress: Progress, plain: bool = False
    ) -> Partition:
        """Locations, construction and refinement of what may be merged with each other; None: everything.

        ``plain``: sites stay where searches begin, and nothing is refined.
        """
        if part is not None and len(part) == 1:
            point = frozen(situation.points.copy()) if self.request.construction.needs_sites else None
            return Partition(point, frozen(np.zeros(1, np.int32)), {})
        refinement = None if plain else self.request.refinement
        merged = 1.0 if refinement is None else 1.0 - refinement.share
        placed = 0.95 * merged
        location = self.request.site_location.beginning if plain else self.request.site_location
        places, told = self._places(location, situation, sites, Span(progress, 0.0, placed))
        stopped = any(facts.get("stopped") for facts in told.values())
        # The best places until the stop: what follows takes a moment and is done all the same.
        progress = Silent() if stopped else progress
        progress.update("Merging regions", placed)
        given = np.full((sites, 2), np.nan) if places is None else places
        found = self.request.construction.construct_and_tell(situation, given, Span(progress, placed, merged))
        owner = check_owner(found.owner, situation, places, self.request.construction)
        told = {**told, **found.told}
        made = Partition(places, frozen(owner), told, found.findings, stopped=stopped, detoured=found.detoured)
        if part is not None:
            made = _at_wished_sizes(made, part, progress)
        if refinement is not None and not stopped:
            made = self._refined(refinement, made, situation, Span(progress, merged, 1.0))
            if part is not None:
                made = _at_wished_sizes(made, part, Silent() if made.stopped else progress)
        return made

    def _places(
        self, location: SiteLocation, situation: Situation, sites: int, progress: Progress
    ) -> tuple[NDArray[np.float64] | None, Mapping[str, Any]]:
        if not self.request.construction.needs_sites:
            return None, {}
        progress.update("Placing the sites", 0.0)
        located, told = location.locate_and_tell(situation, sites, progress)
        number = len(located) if location.changes_number else sites
        return frozen(check_sites(located, number, location)), told

    @staticmethod
    def _refined(refinement: Refinement, made: Partition, situation: Situation, progress: Progress) -> Partition:
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
        tiers = self.request.tiers
        if tiers is None:
            return None
        membership, used = dense_membership(owner)
        arranged = tiers_within(self.limits, tiers, self.situation, membership, progress)
        return None if arranged is None else check_tiers(arranged, used.size, tiers)

    def suppressed(self, sites: int, progress: Progress) -> int:
        """How many of the file's records are not released with that many sites."""
        sites = max(sites, self.least_sites)
        if sites not in self._suppressed:
            self._suppressed[sites] = self.request.problem.records - self._trial(sites, progress).released
        return self._suppressed[sites]

    def penalty(self, sites: int, progress: Progress) -> float:
        """Compute the certainty penalty of what is released with that many sites."""
        sites = max(sites, self.least_sites)
        trial, penalties = self._trial(sites, progress), 0.0
        if self.situation.category_penalties:
            add_up = partial(self._add_category_penalties, sites, progress)
            penalties = self.known.category_penalties(sites, add_up)
        columns = 1 + len(self.situation.counts.n_categories)
        penalties += trial.place_penalties
        return certainty_penalty(penalties, columns, trial.released, self.request.problem.records)

    def _trial(self, sites: int, progress: Progress) -> Trial:
        self.make(sites, progress)
        return self.known.trial(sites, partial(self._release, sites, progress))

    def _release(self, sites: int, progress: Progress) -> Trial:
        merged = self._made[sites].aggregation(self.situation)
        released = released_by_place(merged, progress)
        penalties = place_penalty(zip(merged.memberships, released, strict=True))
        return Trial(sum(int(totals.sum()) for totals in released), penalties)

    def _add_category_penalties(self, sites: int, progress: Progress) -> float:
        released = release_classes(self._made[sites].aggregation(self.situation), progress)
        return category_penalty(released.classes, self.situation.category_penalties)


def _at_wished_sizes(made: Partition, part: Part, progress: Progress) -> Partition:
    """The same with groups that hold what is wished; what was before a refinement is told only if nothing changed."""
    owner, places = to_wishes(part, made.owner, made.places, progress)
    if np.array_equal(dense_membership(owner)[0], dense_membership(made.owner)[0]):
        return made
    return replace(made, owner=frozen(owner), places=places, unrefined=None)


def joined(parts: Sequence[Part], made: Sequence[Partition], regions: int) -> Partition:
    """The partitions of parts as one of all regions."""

    def together(each: Sequence[Unrefined | Partition], places: Sequence[NDArray[np.float64] | None]) -> Unrefined:
        counts = [int(one.owner.max()) + 1 if own is None else len(own) for one, own in zip(each, places, strict=True)]
        owner = joined_owner(parts, [one.owner for one in each], counts, regions)
        known = [own for own in places if own is not None]
        return Unrefined(owner, frozen(np.concatenate(known)) if known else None)

    whole = together(made, [one.places for one in made])
    unrefined = None
    if any(one.unrefined is not None for one in made):
        before = [one.unrefined or Unrefined(one.owner, one.places) for one in made]
        unrefined = together(before, [one.sites for one in before])
    detoured = None
    if any(one.detoured is not None for one in made):
        detoured = np.zeros(regions, np.bool_)
        for part, one in zip(parts, made, strict=True):
            detoured[part.members] = False if one.detoured is None else one.detoured
    return Partition(
        whole.sites,
        whole.owner,
        joined_told([(len(part), one.told) for part, one in zip(parts, made, strict=True)]),
        joined_findings(finding for one in made for finding in one.findings),
        unrefined=unrefined,
        stopped=any(one.stopped for one in made),
        detoured=detoured,
        part_sites=tuple(len(one.places) for one in made if one.places is not None),
    )


class _Asked:
    """What a site number approach may ask; each trial moves the progress on by its part of the most there can be."""

    def __init__(self, partitions: Partitions, progress: Progress) -> None:
        self._partitions, self._progress = partitions, progress
        self._most = most_scanned(len(partitions.situation.regions))

    @property
    def records(self) -> int:
        return self._partitions.request.problem.records

    @property
    def in_tiers(self) -> bool:
        return self._partitions.in_tiers

    @property
    def is_simplified(self) -> bool:
        return self._partitions.trials is not self._partitions

    @property
    def expected_share(self) -> float:
        request = self._partitions.request
        left_by_refinement = 1.0 if request.refinement is None else request.refinement.remaining_loss
        return float(request.site_location.remaining_loss * left_by_refinement)

    def suppressed(self, sites: int) -> int:
        return self._partitions.trials.suppressed(sites, self._part())

    def penalty(self, sites: int) -> float:
        return self._partitions.trials.penalty(sites, self._part())

    def refined_suppressed(self, sites: int) -> int:
        return self._partitions.suppressed(sites, self._part())

    def refined_penalty(self, sites: int) -> float:
        return self._partitions.penalty(sites, self._part())

    def _part(self) -> Progress:
        """Give the next trial its share: a long search counts as much as all trials without one."""
        if not self.is_simplified:
            done, most = len(self._partitions.tried), self._most
        else:
            begun = bool(self._partitions.tried)
            done = self._most * len(self._partitions.tried) + (0 if begun else len(self._partitions.trials.tried))
            most = self._most * (1 + MOST_PASSES)
        done = min(done, most - 1)
        return _Named(Span(self._progress, done / most, (done + 1) / most))


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
    number = int(request.site_number.decide(partitions.situation, _Asked(partitions, progress)))
    if number > regions:
        return regions, [_cut_back(number, regions)]
    findings = []
    if number < partitions.least_sites:
        findings = [_raised(number, partitions.least_sites)] if number > 1 else []
        number = partitions.least_sites
    allowed = request.site_number.allowed_loss()
    if allowed is None or partitions.suppressed(number, progress) <= allowed_records(request.problem.records, allowed):
        return number, findings
    return number, [*findings, _out_of_reach(partitions, allowed, number, progress)]


def _cut_back(number: int, regions: int) -> Finding:
    return Finding(
        "more-sites-than-regions",
        f"{number:,} sites were asked for, but the file has only {counted(regions, 'initial region')}: "
        f"{counted(regions, 'site is', 'sites are')} used.",
        severity=Severity.WARNING,
    )


def _raised(number: int, least: int) -> Finding:
    return Finding(
        "fewer-sites-than-boundaries",
        f"{counted(number, 'site')} were asked for, but boundaries that are not crossed and regions that stay alone "
        f"need {least:,}: so many are used.",
        severity=Severity.WARNING,
    )


def _out_of_reach(partitions: Partitions, allowed: float, number: int, progress: Progress) -> Finding:
    problem, lost = partitions.request.problem, partitions.tried[number]
    merged = partitions.make(number, progress).aggregation(partitions.situation)
    causes = loss_causes(problem, merged, lost, partitions.least_sites > 1, progress)
    help = remedies(causes, lost, allowed_records(problem.records, allowed))
    return Finding(
        "limit-out-of-reach",
        f"Even {counted(number, 'region')} in all would lose {lost:,} of {counted(problem.records, 'record')} "
        f"({100 * lost / problem.records:.2f} %), more than the {allowed:g} % that are allowed: "
        f"{causes_in_words(causes)}.",
        f"{' '.join(help)} Or allow a larger loss.",
        severity=Severity.WARNING,
    )
