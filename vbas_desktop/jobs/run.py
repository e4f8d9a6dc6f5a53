"""One run: count, run the chosen approaches, check what is required."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from time import perf_counter
from typing import TYPE_CHECKING

from vbas_desktop.model.errors import Finding, InputError, UsageError
from vbas_desktop.model.problem import Problem, Request
from vbas_desktop.model.progress import Progress, Silent, Span, Steady
from vbas_desktop.model.solution import RunResult, Solution
from vbas_desktop.settings.approaches import made
from vbas_desktop.settings.run import RunSettings, allowed_loss_percent

from .data import CountJob, Data

if TYPE_CHECKING:
    from vbas_desktop.assessment.representability.requirement import Requirement
    from vbas_desktop.engine.advice import KeptTrials
    from vbas_desktop.model.records import RecordTable
    from vbas_desktop.model.solution import Alternative


@dataclass(frozen=True, eq=False)
class Ran:
    """A finished run: its settings, the records, the problem that it solves, and what came of it."""

    settings: RunSettings
    table: RecordTable
    problem: Problem
    result: RunResult


@dataclass(frozen=True, eq=False)
class RunJob:
    """One run of these settings. ``problem`` is None if it is still to be counted.

    With a ``requirement``, every solution says whether it meets it; ``released_columns`` are those of the release,
    of which sensitive ones may have one value per class (``is_aggregated``).
    ``kept`` may know trials of the same settings: those of a look ahead.
    """

    settings: RunSettings
    data: Data
    problem: Problem | None = None
    requirement: Requirement | None = None
    released_columns: Sequence[str] | None = None
    is_aggregated: bool = False
    kept: KeptTrials | None = None

    def count(self, progress: Progress = Silent()) -> Problem:  # noqa: B008 (Silent has no state)
        """The problem, counted now unless it was at hand."""
        if self.problem is not None:
            return self.problem
        chosen = self.settings
        return CountJob(
            self.data,
            chosen.region_column,
            chosen.quasi_identifiers,
            chosen.k,
            chosen.unknown_regions,
            chosen.groupings,
            chosen.sensitive_columns,
        ).execute(progress)

    def request(self, problem: Problem) -> Request:
        """The frozen request for the engine."""
        return request_of(self.settings, problem)

    def execute(
        self,
        progress: Progress = Silent(),  # noqa: B008
        on_problem: Callable[[Problem], None] | None = None,
        on_solution: Callable[[Solution], None] | None = None,
    ) -> Ran:
        """Count if necessary, then run; solutions are handed out as they come."""
        from vbas_desktop.engine.advice import KeptTrials, advice_on
        from vbas_desktop.engine.run import run
        from vbas_desktop.io.hashing import require_unchanged

        started = perf_counter()
        steady, kept = Steady(progress), self.kept or KeptTrials()
        problem = self.count(Span(steady, 0.0, 0.1))
        if on_problem is not None:
            on_problem(problem)
        start = 0.0 if self.problem is not None else 0.1
        request = self.request(problem)
        result = run(request, Span(steady, start, 1.0), on_solution, kept)
        chosen = _choose(result, self.settings.loss_limit_percent)
        result = replace(result, advice=advice_on(request, result, chosen, steady.aside(), kept))
        require_unchanged(self.data.table.source)
        result = checked(result, problem, self.requirement, self.released_columns, self.is_aggregated)
        result = replace(result, total_seconds=self.data.loading_seconds + perf_counter() - started)
        return Ran(self.settings, self.data.table, problem, result)


def request_of(settings: RunSettings, problem: Problem) -> Request:
    """Make the frozen request for the engine."""
    return Request(problem=problem, **made(settings.approaches, settings.parameters), **settings.of_every_run)


@dataclass(frozen=True, eq=False)
class AlternativesJob:
    """Try what the other aim of the allowed loss, and tiers, would give with the settings of a run."""

    settings: RunSettings
    problem: Problem
    kept: KeptTrials | None = None

    def execute(self, progress: Progress = Silent()) -> tuple[Alternative, ...]:  # noqa: B008
        """Search for the number of sites of each alternative."""
        from vbas_desktop.engine.advice import alternatives_to

        allowed = allowed_loss_percent(self.settings.parameters)
        return alternatives_to(request_of(self.settings, self.problem), allowed, progress, self.kept)


def checked(
    result: RunResult,
    problem: Problem,
    requirement: Requirement | None,
    released: Sequence[str] | None,
    is_aggregated: bool = False,
) -> RunResult:
    """The same result; with a requirement, every solution says whether it meets it."""
    from vbas_desktop.assessment.representability.solution import marked

    return result if requirement is None else marked(result, problem, requirement, released, is_aggregated)


def chosen_solution(ran: Ran, id: int | None) -> Solution:
    """The solution that was asked for; else the best within the allowed loss that is in force, or, if none is in force
    or none is within it, the one nearest to the approximated number of sites. The best is the finest, unless the aim
    was the least loss of information.

    If a requirement was given and solutions meet it, the choice is among these.
    """
    result = ran.result
    if id is None:
        suitable = tuple(each for each in result.solutions if each.is_suitable)
        return _choose(replace(result, solutions=suitable or result.solutions), ran.settings.loss_limit_percent)
    ids = [solution.id for solution in result.solutions]
    if id not in ids:
        raise UsageError(f"--solution {id}: this run has the solutions {ids[0]} to {ids[-1]}.")
    return result.solution(id)


def _choose(result: RunResult, limit_percent: float | None) -> Solution:
    from vbas_desktop.engine.dominance import best_within

    best = None if limit_percent is None else best_within(result.solutions, limit_percent)
    return result.chosen if best is None else best


def none_suitable(number: int) -> InputError:
    """What is said if no solution is left to show or to release."""
    message = f"None of the {number:,} solutions meets the requirement."
    remedy = "Ask for less, widen the range of site numbers, or leave --suitable-only out to see why."
    return InputError(Finding("none-suitable", message, remedy))
