"""Run one configuration over its range of site numbers, rate and rank the solutions.

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

from vbas_desktop.approaches.interface import AggregationOutcome, Approach, Measure
from vbas_desktop.approaches.registry import DEFAULTS, create_approach, list_approaches, usual_among
from vbas_desktop.model.findings import Finding, Severity
from vbas_desktop.model.progress import NO_PROGRESS, Progress, SubProgress
from vbas_desktop.model.records import as_readonly
from vbas_desktop.model.solution import RunResult, Solution
from vbas_desktop.model.text import format_count, inflect
from vbas_desktop.settings.run import allowed_loss_percent

from .constraints import find_unmet_targets, with_constraint_diagnostics
from .dominance import mark_solutions
from .figures import SECONDS
from .geographic_representability import with_representability
from .outcome import RegionPartition, suppress_partition
from .parallel import choose_worker_count, run_ordered
from .partitions import PartitionBuilder, TrialCache
from .request import Request
from .site_search import choose_site_count
from .validation import check_request, find_unused_files

_TRIED = 0.6
"""The share of the work after which the number of sites is known, if it is found by trying."""


def run(
    request: Request,
    progress: Progress = NO_PROGRESS,
    on_solution: Callable[[Solution], None] | None = None,
    trials: TrialCache | None = None,
) -> RunResult:
    """Compute all solutions of the request, rated and ranked.

    ``on_solution`` gets each solution in the order of the ids as soon as it is there, from the calling thread and
    before Pareto marks are known; what it got stays valid if the run is stopped. The same request gives the same
    solutions whatever the number of workers, and whatever ``trials`` have of a look ahead; only ``seconds`` differ.
    """
    started = time.perf_counter()
    progress.update("Checking what is asked for", 0.0)
    check_request(request)
    partitions = (trials or TrialCache()).partitions(request, progress)
    context = partitions.context
    approximated, findings = choose_site_count(partitions, SubProgress(progress, 0.0, _TRIED))
    plan = _Plan(partitions, list_measures(request), approximated, time.perf_counter() - started)
    solutions: list[Solution] = []
    jobs = [
        partial(plan.solve, id, sites)
        for id, sites in enumerate(partitions.list_site_numbers(approximated), start=1)
    ]
    rest = SubProgress(progress, _TRIED if partitions.tried else 0.0, 1.0)
    with closing(
        run_ordered(jobs, rest, choose_worker_count(request.settings.workers, len(jobs), context.counts))
    ) as finished:
        for solution in finished:
            solutions.append(solution)
            if on_solution is not None:
                on_solution(solution)
    if partitions.stopped:
        # The solution that was under way is kept, and the run was stopped nevertheless.
        progress.update("Stopping")
    own = request.site_number.allowed_loss()
    allowed = allowed_loss_percent(request.settings.parameters) if own is None else own
    chosen = min(solutions, key=lambda solution: abs(solution.site_count - approximated))
    findings += [
        *find_unused_files(request),
        *partitions.findings,
        *find_unmet_targets(chosen),
        *_nothing_released(solutions, request.problem.k),
        *find_spread_regions(solutions),
    ]
    return RunResult(
        solutions=tuple(
            mark_solutions(solutions, request.pareto_measures or usual_among(plan.measures), allowed)
        ),
        approximated_sites=approximated,
        globally_suppressed_records=request.problem.counts.records - context.records,
        classes_present=int(np.count_nonzero(request.problem.counts.combination_totals)),
        findings=tuple(findings),
        seconds=time.perf_counter() - started,
        allowed_loss_percent=allowed,
    )


def list_measures(request: Request) -> tuple[Measure, ...]:
    """List the requested measures; all that apply to the problem if none was requested."""
    measures: Mapping[str, Any] = list_approaches("rating")
    sensitive = bool(request.problem.sensitive)
    return request.measures or tuple(
        kind() for kind in measures.values() if sensitive or not kind.requires_sensitive
    )


@dataclass(frozen=True, eq=False)
class _Plan:
    """Rates the solutions of one run; what all site numbers share is computed once."""

    partitions: PartitionBuilder
    measures: tuple[Measure, ...]
    approximated: int
    shared_seconds: float

    def solve(self, id: int, sites: int, progress: Progress) -> Solution:
        """Compute one solution: locations, construction, refinement, local suppression, tiers, rating."""
        started = time.perf_counter()
        request = self.partitions.request
        partition = self.partitions.build(sites, SubProgress(progress, 0.0, 0.9))
        # What a refinement had found when it was stopped is rated all the same: that takes a moment.
        progress = NO_PROGRESS if partition.stopped else progress
        outcome = suppress_partition(
            request.problem,
            self.partitions.context,
            partition.owner,
            partition.sites,
            SubProgress(progress, 0.9, 0.98),
            partition.tiers,
        )
        solution = self._rate(id, sites, partition, outcome, started, SubProgress(progress, 0.9, 0.98))
        solution = with_constraint_diagnostics(
            request.problem, self.partitions.constraints, solution, partition.zone_sites
        )
        return with_representability(
            request.problem, solution, outcome.release, SubProgress(progress, 0.98, 1.0)
        )

    def _rate(
        self,
        id: int,
        sites: int,
        partition: RegionPartition,
        outcome: AggregationOutcome,
        started: float,
        progress: Progress,
    ) -> Solution:
        """Rate what a partition releases."""
        request = self.partitions.request
        context = self.partitions.context
        tiers = partition.tiers
        progress.update("Rating the solutions", 1.0)
        measures: dict[str, float | int | None] = {
            measure.metadata.name: measure.rate(outcome) for measure in self.measures
        }
        seconds = self.shared_seconds + time.perf_counter() - started
        released = outcome.released_records
        return Solution(
            id=id,
            approaches=name_approaches(request),
            parameters=collect_parameters(request),
            approximated_sites=self.approximated,
            site_count=sites,
            sites=partition.sites,
            owner=partition.owner,
            measures={**measures, SECONDS: seconds},
            seconds=seconds,
            suppressed_global=request.problem.counts.records - context.records,
            suppressed_local=context.records - released,
            released_records=released,
            anonymity=_anonymity(outcome),
            regions_without_release=int(np.count_nonzero(outcome.released.region_totals == 0)),
            diagnostics=partition.diagnostics,
            unrefined=partition.unrefined,
            detoured=None if partition.detoured is None else as_readonly(partition.detoured),
            tiers=tiers,
            released_by_tier=()
            if tiers is None
            else tuple(outcome.released_by_tier.sum(axis=1).tolist()),
            sensitive=outcome.sensitive,
            suppressed_sensitive=outcome.suppressed_sensitive,
        )


def _anonymity(outcome: AggregationOutcome) -> int | None:
    """Return the size of the smallest released class; None if nothing is released."""
    smallest = [int(sizes.min()) for _, released in outcome.places() if (sizes := released.sizes).size]
    return min(smallest, default=None)


def name_approaches(request: Request) -> dict[str, str]:
    """Name each component's approach, and the approaches that are parameters (``adc_seeding``)."""
    names: dict[str, str] = {}
    for component, approach in list_effective_approaches(request).items():
        names[component] = approach.metadata.name
        for declared in approach.options():
            value = getattr(approach, declared.name)
            if isinstance(value, Approach):
                key = (
                    (declared.flag or f"{approach.metadata.name}-{declared.name}")
                    .lstrip("-")
                    .replace("-", "_")
                )
                names[key] = value.metadata.name
    return names


def collect_parameters(request: Request) -> dict[str, dict[str, Any]]:
    """Collect the parameters of each component's approach as plain data."""
    return {
        component: approach.settings()
        for component, approach in list_effective_approaches(request).items()
    }


def list_effective_approaches(request: Request) -> dict[str, Approach]:
    """List the chosen approaches that affect the result: without sites there is nothing to locate."""
    unused = () if request.construction.needs_sites else ("site_location",)
    return {
        name: approach
        for name, approach in list_chosen_approaches(request).items()
        if name not in unused
    }


def list_chosen_approaches(request: Request) -> dict[str, Approach]:
    """List the approach of each component of which one is chosen."""
    chosen = {component: getattr(request, component) for component in DEFAULTS}
    return {
        name: approach if approach is not None else create_approach(name, DEFAULTS[name])
        for name, approach in chosen.items()
    }


def _nothing_released(solutions: list[Solution], k: int) -> Iterator[Finding]:
    for solution in solutions:
        if solution.released_records == 0:
            yield Finding(
                "nothing-released",
                f"Solution {solution.id} ({format_count(solution.site_count, 'site')}) releases no record: no "
                "class of any "
                f"aggregated region reaches k = {k}.",
                "Choose fewer quasi-identifiers, broader categories, fewer sites or a smaller k.",
                severity=Severity.WARNING,
            )


def find_spread_regions(solutions: list[Solution]) -> Iterator[Finding]:
    """Warn once per tier of regions that lie in several areas above and were given to one of them."""
    reported: set[str] = set()
    for solution in solutions:
        for tier, number in enumerate(() if solution.tiers is None else solution.tiers.assigned):
            below, above = solution.tiers.titles[tier : tier + 2]  # type: ignore[union-attr]
            if number and above not in reported:
                reported.add(above)
                yield Finding(
                    "tiers-spread",
                    f"{format_count(number, 'place')} of the kind “{below}” in solution {solution.id} "
                    f"{inflect(number, 'lies', 'lie')} in several places of “{above}”; each counts to the one with "
                    "most of its initial regions.",
                    "The crosswalk shows how regions were taken together.",
                    severity=Severity.WARNING,
                )
