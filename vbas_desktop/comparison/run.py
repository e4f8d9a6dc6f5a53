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

from vbas_desktop.approaches.registry import USUAL, preset
from vbas_desktop.engine.dominance import standings
from vbas_desktop.engine.limits import limits_settings
from vbas_desktop.engine.parallel import in_order
from vbas_desktop.engine.place import with_representability
from vbas_desktop.engine.problem import build_problem
from vbas_desktop.engine.run import run
from vbas_desktop.io.hashing import fingerprint
from vbas_desktop.model.errors import Finding
from vbas_desktop.model.problem import Problem
from vbas_desktop.model.progress import Progress, Silent, Span
from vbas_desktop.model.regions import Regions
from vbas_desktop.model.solution import RunResult, Solution

from .plan import Combination, Costs, Plan, Scenario, site_numbers
from .store import Memory, Store, settings_of

if TYPE_CHECKING:
    from vbas_desktop.model.records import RecordTable

_REDRAWN_SECONDS = 0.05
_STAGE = "Comparing combinations"

Keeper = Store | Memory
"""Where finished combinations are kept."""


@dataclass(frozen=True, eq=False)
class Finished:
    """One combination with what came of it."""

    combination: Combination
    problem: Problem
    result: RunResult


@dataclass(frozen=True, eq=False)
class Comparison:
    """All combinations of a plan, finished, in its order."""

    plan: Plan
    finished: tuple[Finished, ...]

    @cached_property
    def pareto_measures(self) -> tuple[str, ...]:
        """The measures that decide about dominance."""
        return self.plan.pareto_measures or preset(USUAL)

    @cached_property
    def solutions(self) -> tuple[tuple[Finished, Solution], ...]:
        """Every solution with its combination and its marks among all of its scenario; ``same_as`` counts from 1."""
        marked: list[tuple[Finished, Solution]] = []
        for scenario in self.plan.scenarios:
            mine = [
                (one, s) for one in self.finished if one.combination.scenario == scenario for s in one.result.solutions
            ]
            found = standings([s for _, s in mine], self.pareto_measures, self.plan.allowed_loss_percent)
            before = len(marked) + 1
            marked += [
                (one, s.marked(at.pareto, at.recommended, at.knee, None if at.same_as is None else before + at.same_as))
                for (one, s), at in zip(mine, found, strict=True)
            ]
        return tuple(marked)

    @property
    def findings(self) -> tuple[Finding, ...]:
        """Remarks on the data, each once."""
        return tuple(dict.fromkeys(finding for one in self.finished for finding in one.problem.findings))


@dataclass(frozen=True, eq=False)
class Prepared:
    """A plan with everything counted: what it makes, what of it is kept already, and how long the rest will take."""

    plan: Plan
    problems: Mapping[Scenario, Problem]
    settings: tuple[dict[str, Any], ...]
    aggregations: tuple[int, ...]
    kept: tuple[bool, ...]
    costs: Costs

    @property
    def seconds_left(self) -> float:
        """The expected wall time of what is not kept yet."""
        left = (self.costs.seconds(index) for index, kept in enumerate(self.kept) if not kept)
        return sum(left) / workers_of(self.plan)


def workers_of(plan: Plan) -> int:
    """How many combinations are run at a time."""
    return plan.workers or os.cpu_count() or 1


def count_scenarios(
    plan: Plan,
    table: RecordTable,
    regions: Regions,
    progress: Progress = Silent(),  # noqa: B008 (Silent has no state)
) -> dict[Scenario, Problem]:
    """The problem of each scenario; scenarios that differ in k alone share their counts."""
    counted: dict[Scenario, Problem] = {}
    scenarios = plan.scenarios
    for number, scenario in enumerate(scenarios):
        same = next((counted[other] for other in counted if replace(other, k=scenario.k) == scenario), None)
        counted[scenario] = (
            replace(same, k=scenario.k)
            if same
            else build_problem(
                table,
                regions,
                region_column=plan.region_column,
                quasi_identifiers=scenario.quasi_identifiers,
                k=scenario.k,
                unknown_regions=plan.unknown_regions,
                groupings=plan.groupings_for(scenario.quasi_identifiers) if scenario.generalised else (),
                sensitive=plan.sensitive,
                progress=Span(progress, number / len(scenarios), (number + 1) / len(scenarios)),
            )
        )
    return counted


def prepare(
    plan: Plan,
    problems: Mapping[Scenario, Problem],
    keeper: Keeper,
    progress: Progress = Silent(),  # noqa: B008
) -> Prepared:
    """Look what the plan makes and what of it is kept."""
    prints: dict[int, str] = {}
    numbers: dict[tuple[Scenario, str], int] = {}
    settings, aggregations = [], []
    for combination in plan.combinations:
        progress.update("Looking for finished combinations")
        problem = problems[combination.scenario]
        print_of = prints.setdefault(id(problem.counts), "") or fingerprint(problem)
        prints[id(problem.counts)] = print_of
        settings.append(settings_of(plan, combination, print_of, limits_settings(plan.request(combination, problem))))
        key = (combination.scenario, combination.labels[0])
        if key not in numbers:
            numbers[key] = len(site_numbers(plan, combination, problem))
        aggregations.append(numbers[key])
    stored = [problems[combination.scenario].counts.table.nnz for combination in plan.combinations]
    costs = Costs(plan.combinations, aggregations, stored)
    kept = tuple(keeper.get(each) is not None for each in settings)
    return Prepared(plan, problems, tuple(settings), tuple(aggregations), kept, costs)


def run_prepared(
    prepared: Prepared,
    keeper: Keeper,
    progress: Progress = Silent(),  # noqa: B008
    on_finished: Callable[[Finished], None] | None = None,
) -> Comparison:
    """Run what is missing, and hand out all combinations in the order of the plan.

    ``on_finished`` gets each combination from the calling thread, as soon as it and all before it are there. If the
    work is stopped or killed, what was finished is kept and the next call goes on from there.
    """
    meter = _Meter(prepared, progress)
    jobs = [partial(_run_one, prepared, keeper, meter, index) for index in range(len(prepared.settings))]
    finished: list[Finished] = []
    with closing(in_order(jobs, meter, min(workers_of(prepared.plan), len(jobs)))) as results:
        for one in results:
            finished.append(one)
            if on_finished is not None:
                on_finished(one)
    return Comparison(prepared.plan, tuple(finished))


def _run_one(prepared: Prepared, keeper: Keeper, meter: _Meter, index: int, progress: Progress) -> Finished:
    combination = prepared.plan.combinations[index]
    problem = prepared.problems[combination.scenario]
    settings = prepared.settings[index]
    result = keeper.get(settings)
    if result is None:
        started = time.perf_counter()
        request = prepared.plan.request(combination, problem)
        result = keeper.put(settings, run(request, _Share(meter, index, progress)))
        prepared.costs.learn(index, time.perf_counter() - started)
    # Earlier versions kept solutions without all that is measured now.
    complete = tuple(with_representability(problem, each, meter) for each in result.solutions)
    meter.finish(index)
    return Finished(combination, problem, replace(result, solutions=complete))


class _Meter:
    """Progress by expected time, so that the time left is worth showing; safe to call from all threads."""

    def __init__(self, prepared: Prepared, progress: Progress) -> None:
        self._progress, self._costs = progress, prepared.costs
        self._fractions = [1.0 if kept else 0.0 for kept in prepared.kept]
        self._todo = [index for index, kept in enumerate(prepared.kept) if not kept]
        self._lock = threading.Lock()
        self._computed, self._shown = 0.0, (_STAGE, 0.0)

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
                self._computed, self._shown = now, self._state()
        self._progress.update(*self._shown)

    def _state(self) -> tuple[str, float]:
        seconds = [self._costs.seconds(index) for index in self._todo]
        done = sum(s * self._fractions[index] for s, index in zip(seconds, self._todo, strict=True))
        return _STAGE, done / sum(seconds) if seconds else 1.0


class _Share:
    """The progress of one combination."""

    def __init__(self, meter: _Meter, index: int, part: Progress) -> None:
        self._meter, self._index, self._part = meter, index, part

    def update(self, stage: str, fraction: float | None = None) -> None:
        self._meter.note(self._index, fraction)
        self._part.update(stage, fraction)
