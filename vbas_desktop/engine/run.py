"""Runs one combination of approaches over its range of site numbers and rates what comes of it.

The stages: global suppression → number of sites → for each number: locations → construction → refinement →
local suppression → tiers → rating, representability → Pareto. What does not depend on the number of sites is computed
once.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from vbas_desktop.approaches.base import Approach, Measure, Outcome
from vbas_desktop.approaches.registry import DEFAULTS, approaches, make, usual_among
from vbas_desktop.model.errors import Finding, Severity
from vbas_desktop.model.problem import Request
from vbas_desktop.model.progress import SILENT, Progress, Silent, Span
from vbas_desktop.model.records import frozen
from vbas_desktop.model.solution import RunResult, Solution
from vbas_desktop.model.words import agreeing, counted

from .advice import KeptTrials
from .checks import check_request, unused_files
from .dominance import SECONDS, marked
from .limits import unmet_findings, with_limits_told
from .outcome import outcome_of
from .parallel import in_order, workers_for
from .partitions import Partition, Partitions, decide_sites
from .place import with_representability

_TRIED = 0.6
"""The share of the work after which the number of sites is known, if it is found by trying."""


def run(
    request: Request,
    progress: Progress = SILENT,
    on_solution: Callable[[Solution], None] | None = None,
    kept: KeptTrials | None = None,
) -> RunResult:
    """All solutions of the request, rated, with the Pareto set marked.

    ``on_solution`` gets each solution in the order of the ids as soon as it is there, from the calling thread and
    before Pareto marks are known; what it got stays valid if the run is stopped. The same request gives the same
    solutions whatever the number of workers, and whatever is ``kept`` of a look ahead; only ``seconds`` differ.
    """
    started = time.perf_counter()
    progress.update("Checking what is asked for", 0.0)
    check_request(request)
    partitions = (kept or KeptTrials()).partitions(request, progress)
    situation = partitions.situation
    approximated, findings = decide_sites(partitions, Span(progress, 0.0, _TRIED))
    plan = _Plan(partitions, measures_of(request), approximated, time.perf_counter() - started)
    solutions: list[Solution] = []
    jobs = [partial(plan.solve, id, sites) for id, sites in enumerate(partitions.around(approximated), start=1)]
    rest = Span(progress, _TRIED if partitions.tried else 0.0, 1.0)
    with closing(in_order(jobs, rest, workers_for(request.workers, len(jobs), situation.counts))) as finished:
        for solution in finished:
            solutions.append(solution)
            if on_solution is not None:
                on_solution(solution)
    if partitions.stopped:
        # The solution that was under way is kept, and the run was stopped nevertheless.
        progress.update("Stopping")
    own = request.site_number.allowed_loss()
    allowed = request.allowed_loss_percent if own is None else own
    chosen = min(solutions, key=lambda solution: abs(solution.site_count - approximated))
    findings += [
        *unused_files(request),
        *partitions.findings,
        *unmet_findings(chosen),
        *_nothing_released(solutions, request.problem.k),
        *spread_places(solutions),
    ]
    return RunResult(
        solutions=tuple(marked(solutions, request.pareto_measures or usual_among(plan.measures), allowed)),
        approximated_sites=approximated,
        globally_suppressed_records=request.problem.counts.records - situation.records,
        classes_present=int(np.count_nonzero(request.problem.counts.combination_totals)),
        findings=tuple(findings),
        seconds=time.perf_counter() - started,
        allowed_loss_percent=allowed,
    )


def measures_of(request: Request) -> tuple[Measure, ...]:
    """The measures that were asked for; all that say something if none was."""
    known: Mapping[str, Any] = approaches("rating")
    sensitive = bool(request.problem.sensitive)
    return request.measures or tuple(kind() for kind in known.values() if sensitive or not kind.of_sensitive_values)


@dataclass(frozen=True, eq=False)
class _Plan:
    """What all site numbers of a run share."""

    partitions: Partitions
    measures: tuple[Measure, ...]
    approximated: int
    shared_seconds: float

    def solve(self, id: int, sites: int, progress: Progress) -> Solution:
        """One solution: locations, construction, refinement, local suppression, tiers, rating."""
        started = time.perf_counter()
        request = self.partitions.request
        partition = self.partitions.make(sites, Span(progress, 0.0, 0.9))
        # What a refinement had found when it was stopped is rated all the same: that takes a moment.
        progress = Silent() if partition.stopped else progress
        outcome = outcome_of(
            request.problem,
            self.partitions.situation,
            partition.owner,
            partition.places,
            Span(progress, 0.9, 0.98),
            partition.tiers,
        )
        solution = self._rate(id, sites, partition, outcome, started, Span(progress, 0.9, 0.98))
        solution = with_limits_told(request.problem, self.partitions.limits, solution, partition.part_sites)
        return with_representability(request.problem, solution, Span(progress, 0.98, 1.0), outcome.release)

    def _rate(
        self, id: int, sites: int, partition: Partition, outcome: Outcome, started: float, progress: Progress
    ) -> Solution:
        """Rate what a partition releases."""
        request, situation, tiers = self.partitions.request, self.partitions.situation, partition.tiers
        progress.update("Rating the solutions", 1.0)
        measures: dict[str, float | int | None] = {each.card.name: each.rate(outcome) for each in self.measures}
        seconds = self.shared_seconds + time.perf_counter() - started
        released = outcome.released_records
        return Solution(
            id=id,
            approaches=names_of(request),
            parameters=settings_of(request),
            approximated_sites=self.approximated,
            site_count=sites,
            sites=partition.places,
            owner=partition.owner,
            measures={**measures, SECONDS: seconds},
            seconds=seconds,
            suppressed_global=request.problem.counts.records - situation.records,
            suppressed_local=situation.records - released,
            released_records=released,
            anonymity=_anonymity(outcome),
            regions_without_release=int(np.count_nonzero(outcome.released.region_totals == 0)),
            told=partition.told,
            unrefined=partition.unrefined,
            detoured=None if partition.detoured is None else frozen(partition.detoured),
            tiers=tiers,
            released_by_tier=() if tiers is None else tuple(outcome.released_by_tier.sum(axis=1).tolist()),
            sensitive=outcome.sensitive,
            suppressed_sensitive=outcome.suppressed_sensitive,
        )


def _anonymity(outcome: Outcome) -> int | None:
    """The size of the smallest released class."""
    smallest = [int(sizes.min()) for _, released in outcome.places() if (sizes := released.sizes).size]
    return min(smallest, default=None)


def names_of(request: Request) -> dict[str, str]:
    """The name of each component's approach, and of the approaches that are parameters (``adc_seeding``)."""
    names: dict[str, str] = {}
    for component, approach in used_approaches(request).items():
        names[component] = approach.card.name
        for declared in approach.parameters():
            value = getattr(approach, declared.name)
            if isinstance(value, Approach):
                key = (declared.option or f"{approach.card.name}-{declared.name}").lstrip("-").replace("-", "_")
                names[key] = value.card.name
    return names


def settings_of(request: Request) -> dict[str, dict[str, Any]]:
    """The parameters of each component's approach as plain data."""
    return {component: approach.settings() for component, approach in used_approaches(request).items()}


def used_approaches(request: Request) -> dict[str, Approach]:
    """The chosen approaches that have a part in the result: without sites there is nothing to locate."""
    unused = () if request.construction.needs_sites else ("site_location",)
    return {name: approach for name, approach in chosen_approaches(request).items() if name not in unused}


def chosen_approaches(request: Request) -> dict[str, Approach]:
    """The approach of each component of which one is chosen."""
    given = {component: getattr(request, component) for component in DEFAULTS}
    return {name: approach if approach is not None else make(name, DEFAULTS[name]) for name, approach in given.items()}


def _nothing_released(solutions: list[Solution], k: int) -> Iterator[Finding]:
    for solution in solutions:
        if solution.released_records == 0:
            yield Finding(
                "nothing-released",
                f"Solution {solution.id} ({counted(solution.site_count, 'site')}) releases no record: no class of any "
                f"aggregated region reaches k = {k}.",
                "Choose fewer quasi-identifiers, broader categories, fewer sites or a smaller k.",
                severity=Severity.WARNING,
            )


def spread_places(solutions: list[Solution]) -> Iterator[Finding]:
    """Of each tier once: places that lie in several larger ones were given to one of them."""
    said: set[str] = set()
    for solution in solutions:
        for tier, number in enumerate(() if solution.tiers is None else solution.tiers.assigned):
            below, above = solution.tiers.titles[tier : tier + 2]  # type: ignore[union-attr]
            if number and above not in said:
                said.add(above)
                yield Finding(
                    "tiers-spread",
                    f"{counted(number, 'place')} of the kind “{below}” in solution {solution.id} "
                    f"{agreeing(number, 'lies', 'lie')} in several places of “{above}”; each counts to the one with "
                    "most of its initial regions.",
                    "The crosswalk shows how regions were taken together.",
                    severity=Severity.WARNING,
                )
