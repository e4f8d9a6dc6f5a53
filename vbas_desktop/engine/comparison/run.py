"""Runs a plan: counts once for each set of quasi-identifiers, runs what is not kept yet, keeps what is finished."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

from vbas_desktop import __version__
from vbas_desktop.approaches.registry import USUAL, preset
from vbas_desktop.model.findings import Finding
from vbas_desktop.model.problem import Problem
from vbas_desktop.model.progress import NO_PROGRESS, Progress, SubProgress
from vbas_desktop.model.regions import Regions
from vbas_desktop.model.solution import RunResult, Solution
from vbas_desktop.settings.run import allowed_loss_percent

from ..constraints import constraint_cache_key
from ..dominance import rank_solutions
from ..parallel import run_ordered
from ..problem import build_problem
from ..request import list_deciding_settings
from ..result_cache import ResultCache, fingerprint_problem
from ..run import run
from .plan import Combination, ComparisonPlan, CostEstimate, Scenario, list_site_numbers

if TYPE_CHECKING:
    from vbas_desktop.model.records import RecordTable

_REDRAWN_SECONDS = 0.05
_STAGE = "Comparing combinations"

FORMAT_VERSION = 1
"""Changes with the meaning of what is cached, so that nothing of another program version is used."""


@dataclass(frozen=True, eq=False)
class FinishedCombination:
    """One combination with its problem and result."""

    combination: Combination
    problem: Problem
    result: RunResult


@dataclass(frozen=True, eq=False)
class Comparison:
    """All combinations of a plan, finished, in its order."""

    plan: ComparisonPlan
    finished: tuple[FinishedCombination, ...]

    @cached_property
    def pareto_measures(self) -> tuple[str, ...]:
        """Return the measures that decide about dominance."""
        return self.plan.pareto_measures or preset(USUAL)

    @cached_property
    def solutions(self) -> tuple[tuple[FinishedCombination, Solution], ...]:
        """Rank every solution among all of its scenario; ``same_as`` is the number in this list, from 1."""
        marked: list[tuple[FinishedCombination, Solution]] = []
        allowed = allowed_loss_percent(self.plan.settings.parameters)
        for scenario in self.plan.scenarios:
            mine = [
                (finished, s)
                for finished in self.finished
                if finished.combination.scenario == scenario
                for s in finished.result.solutions
            ]
            ranks = rank_solutions([s for _, s in mine], self.pareto_measures, allowed)
            before = len(marked) + 1
            marked += [
                (
                    finished,
                    s.with_marks(
                        rank.pareto,
                        rank.recommended,
                        rank.knee,
                        None if rank.same_as is None else before + rank.same_as,
                    ),
                )
                for (finished, s), rank in zip(mine, ranks, strict=True)
            ]
        return tuple(marked)

    @property
    def findings(self) -> tuple[Finding, ...]:
        """Collect the findings on the data, each once."""
        return tuple(
            dict.fromkeys(finding for finished in self.finished for finding in finished.problem.findings)
        )


@dataclass(frozen=True, eq=False)
class WorkEstimate:
    """A plan with everything counted: what it makes, what of it is kept already, and how long the rest will take."""

    plan: ComparisonPlan
    problems: Mapping[Scenario, Problem]
    settings: tuple[dict[str, Any], ...]
    aggregations: tuple[int, ...]
    cached: tuple[bool, ...]
    costs: CostEstimate

    @property
    def seconds_left(self) -> float:
        """Estimate the wall time of what is not cached, in seconds."""
        left = (self.costs.seconds(index) for index, cached in enumerate(self.cached) if not cached)
        return sum(left) / choose_worker_count(self.plan)


def choose_worker_count(plan: ComparisonPlan) -> int:
    """Return how many combinations run at a time."""
    return plan.settings.workers or os.cpu_count() or 1


def count_scenarios(
    plan: ComparisonPlan,
    table: RecordTable,
    regions: Regions,
    progress: Progress = NO_PROGRESS,
) -> dict[Scenario, Problem]:
    """Count the records of each scenario; scenarios that differ in k alone share their counts."""
    counted: dict[Scenario, Problem] = {}
    scenarios = plan.scenarios
    for number, scenario in enumerate(scenarios):
        same = next(
            (counted[other] for other in counted if replace(other, k=scenario.k) == scenario), None
        )
        counted[scenario] = (
            replace(same, k=scenario.k)
            if same
            else build_problem(
                table,
                regions,
                region_column=plan.settings.region_column,
                quasi_identifiers=scenario.quasi_identifiers,
                k=scenario.k,
                unknown_regions=plan.settings.unknown_regions,
                groupings=plan.groupings_for(scenario.quasi_identifiers) if scenario.generalised else (),
                sensitive=plan.settings.sensitive_columns,
                progress=SubProgress(progress, number / len(scenarios), (number + 1) / len(scenarios)),
            )
        )
    return counted


def estimate_work(
    plan: ComparisonPlan,
    problems: Mapping[Scenario, Problem],
    cache: ResultCache[RunResult],
    progress: Progress = NO_PROGRESS,
) -> WorkEstimate:
    """Look what the plan makes and what of it is kept."""
    prints: dict[int, str] = {}
    numbers: dict[tuple[Scenario, str], int] = {}
    settings = []
    aggregations = []
    for combination in plan.combinations:
        progress.update("Looking for finished combinations")
        problem = problems[combination.scenario]
        print_of = prints.setdefault(id(problem.counts), "") or fingerprint_problem(problem)
        prints[id(problem.counts)] = print_of
        settings.append(
            build_cache_key(
                plan, combination, print_of, constraint_cache_key(plan.request(combination, problem))
            )
        )
        key = (combination.scenario, combination.labels[0])
        if key not in numbers:
            numbers[key] = len(list_site_numbers(plan, combination, problem))
        aggregations.append(numbers[key])
    stored = [problems[combination.scenario].counts.table.nnz for combination in plan.combinations]
    costs = CostEstimate(plan.combinations, aggregations, stored)
    cached = tuple(cache.get(setting) is not None for setting in settings)
    return WorkEstimate(plan, problems, tuple(settings), tuple(aggregations), cached, costs)


def build_cache_key(
    plan: ComparisonPlan, combination: Combination, counts: str, limits: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """List everything that decides about the result of a combination, as plain data: the key of its cache.

    counts: fingerprint of the problem. limits: what `constraint_cache_key` returns.
    """
    return {
        "format_version": FORMAT_VERSION,
        "program_version": __version__,
        "counts": counts,
        "k": combination.scenario.k,
        "approaches": combination.settings(),
        "settings": list_deciding_settings(plan.settings),
        "allowed_loss_percent": allowed_loss_percent(plan.settings.parameters),
        **(limits or {}),
    }


def run_comparison(
    prepared: WorkEstimate,
    cache: ResultCache[RunResult],
    progress: Progress = NO_PROGRESS,
    on_finished: Callable[[FinishedCombination], None] | None = None,
) -> Comparison:
    """Run what is missing, and hand out all combinations in the order of the plan.

    ``on_finished`` gets each combination from the calling thread, as soon as it and all before it are there. If the
    work is stopped or killed, what was finished is kept and the next call goes on from there.
    """
    meter = _Meter(prepared, progress)
    jobs = [partial(_run_one, prepared, cache, meter, index) for index in range(len(prepared.settings))]
    finished: list[FinishedCombination] = []
    with closing(
        run_ordered(jobs, meter, min(choose_worker_count(prepared.plan), len(jobs)))
    ) as results:
        for result in results:
            finished.append(result)
            if on_finished is not None:
                on_finished(result)
    return Comparison(prepared.plan, tuple(finished))


def _run_one(
    prepared: WorkEstimate, cache: ResultCache[RunResult], meter: _Meter, index: int, progress: Progress
) -> FinishedCombination:
    combination = prepared.plan.combinations[index]
    problem = prepared.problems[combination.scenario]
    settings = prepared.settings[index]
    result = cache.get(settings)
    if result is None:
        started = time.perf_counter()
        request = prepared.plan.request(combination, problem)
        result = cache.put(settings, run(request, _Share(meter, index, progress)))
        prepared.costs.learn(index, time.perf_counter() - started)
    meter.finish(index)
    return FinishedCombination(combination, problem, result)


class _Meter:
    """Progress by expected time, so that the time left is worth showing; safe to call from all threads."""

    def __init__(self, prepared: WorkEstimate, progress: Progress) -> None:
        self._progress = progress
        self._costs = prepared.costs
        self._fractions = [1.0 if is_cached else 0.0 for is_cached in prepared.cached]
        self._todo = [index for index, is_cached in enumerate(prepared.cached) if not is_cached]
        self._lock = threading.Lock()
        self._computed = 0.0
        self._shown = (_STAGE, 0.0)

    def note(self, index: int, fraction: float | None) -> None:
        if fraction is not None:
            self._fractions[index] = max(self._fractions[index], min(1.0, fraction))

    def finish(self, index: int) -> None:
        self._fractions[index] = 1.0

    def update(self, stage: str, fraction: float | None = None) -> None:
        """Show the share of all combinations, whichever spoke."""
        with self._lock:
            now = time.monotonic()
            # Adding up costs more than most steps between two updates, and nobody reads faster.
            if now - self._computed > _REDRAWN_SECONDS:
                self._computed = now
                self._shown = self._state()
        self._progress.update(*self._shown)

    def _state(self) -> tuple[str, float]:
        seconds = [self._costs.seconds(index) for index in self._todo]
        done = sum(s * self._fractions[index] for s, index in zip(seconds, self._todo, strict=True))
        return _STAGE, done / sum(seconds) if seconds else 1.0


class _Share:
    """The progress of one combination."""

    def __init__(self, meter: _Meter, index: int, part: Progress) -> None:
        self._meter = meter
        self._index = index
        self._part = part

    def update(self, stage: str, fraction: float | None = None) -> None:
        self._meter.note(self._index, fraction)
        self._part.update(stage, fraction)
