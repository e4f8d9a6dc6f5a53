"""Run one configuration of approaches: count, run, check what a researcher requires, choose a solution."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from time import perf_counter
from typing import Any

from vbas_desktop.analysis.representability.requirement import Requirement
from vbas_desktop.analysis.representability.solution_check import check_solutions
from vbas_desktop.approaches.construction.given import GivenConstruction
from vbas_desktop.approaches.interface import Approach
from vbas_desktop.approaches.selection import create_approaches, find_loss_limit
from vbas_desktop.engine import dominance
from vbas_desktop.engine.partitions import TrialCache
from vbas_desktop.engine.request import Request
from vbas_desktop.engine.run import run
from vbas_desktop.engine.site_search import advise, find_alternatives
from vbas_desktop.io.documents.run_file import build_run_document
from vbas_desktop.io.documents.run_options import options_in_force
from vbas_desktop.io.hashing import require_unchanged
from vbas_desktop.io.regions.crosswalk import load_given_partition
from vbas_desktop.model.findings import Finding, InputError, UsageError
from vbas_desktop.model.problem import Problem
from vbas_desktop.model.progress import NO_PROGRESS, Progress, RepeatingProgress, SubProgress
from vbas_desktop.model.records import RecordTable
from vbas_desktop.model.solution import Alternative, RunResult, Solution
from vbas_desktop.settings.release import ReleaseOptions
from vbas_desktop.settings.run import RunSettings, allowed_loss_percent

from .data import CountRequest, LoadedData, count_records


@dataclass(frozen=True, eq=False)
class RunOutcome:
    """A finished run: its settings, the records, the counted problem, and the engine's result."""

    settings: RunSettings
    table: RecordTable
    problem: Problem
    result: RunResult


@dataclass(frozen=True, eq=False)
class RunRequest:
    """Ask for one run.

    problem: the counted problem; None to count it.
    requirement: a researcher's needs; every solution then says whether it meets them.
    released_columns: columns of the release, which the requirement is checked for; None for all.
    is_aggregated: sensitive columns are released as one value per class.
    trials: trials of the same settings, made by an estimate before.
    """

    settings: RunSettings
    data: LoadedData
    problem: Problem | None = None
    requirement: Requirement | None = None
    released_columns: Sequence[str] | None = None
    is_aggregated: bool = False
    trials: TrialCache | None = None


def run_configuration(
    request: RunRequest,
    progress: Progress = NO_PROGRESS,
    on_problem: Callable[[Problem], None] | None = None,
    on_solution: Callable[[Solution], None] | None = None,
) -> RunOutcome:
    """Count unless that is done, run the approaches, and rate the solutions.

    ``on_problem`` gets the counted problem, ``on_solution`` each solution when it is found. Raises `InputError` if the
    record file changed meanwhile.
    """
    started = perf_counter()
    steady = RepeatingProgress(progress)
    trials = request.trials or TrialCache()
    problem = get_problem(request, SubProgress(steady, 0.0, 0.1))
    if on_problem is not None:
        on_problem(problem)
    counted_share = 0.0 if request.problem is not None else 0.1
    engine_request = build_engine_request(request.settings, problem)
    result = run(engine_request, SubProgress(steady, counted_share, 1.0), on_solution, trials)
    solution = _choose_default(result, find_loss_limit(request.settings))
    result = replace(result, advice=advise(engine_request, result, solution, steady.aside(), trials))
    require_unchanged(request.data.table.source)
    result = check_requirement(
        result, problem, request.requirement, request.released_columns, request.is_aggregated
    )
    result = replace(result, total_seconds=request.data.loading_seconds + perf_counter() - started)
    return RunOutcome(request.settings, request.data.table, problem, result)


def get_problem(request: RunRequest, progress: Progress = NO_PROGRESS) -> Problem:
    """Return the problem of a run: the one that the request brings, or counted now."""
    if request.problem is not None:
        return request.problem
    settings = request.settings
    count_request = CountRequest(
        request.data,
        settings.region_column,
        settings.quasi_identifiers,
        settings.k,
        settings.unknown_regions,
        settings.groupings,
        settings.sensitive_columns,
    )
    return count_records(count_request, progress)


def build_engine_request(settings: RunSettings, problem: Problem) -> Request:
    """Build the engine's request: one approach per component, and the settings.

    A crosswalk that the construction names is read here. Raises `InputError` if it is wrong.
    """
    approaches = create_approaches(settings.approaches, settings.parameters)
    return Request(
        problem=with_given_partition(problem, [approaches["construction"]]),
        **approaches,
        settings=settings,
    )


def with_given_partition(problem: Problem, constructions: Iterable[Approach]) -> Problem:
    """Return the problem with the partition of the crosswalk that the construction “Given” names.

    If none of the constructions is “Given”, or it names no file, this is the same problem. Raises `InputError` with the
    rows of the crosswalk that are wrong.
    """
    files = [
        construction.file
        for construction in constructions
        if isinstance(construction, GivenConstruction)
    ]
    if not any(files):
        return problem
    return replace(problem, given=load_given_partition(files[0], problem.regions.ids))


@dataclass(frozen=True, eq=False)
class AlternativesRequest:
    """Ask for alternatives to the solutions of a run; ``trials`` are those that the run made."""

    settings: RunSettings
    problem: Problem
    trials: TrialCache | None = None


def search_alternatives(
    request: AlternativesRequest, progress: Progress = NO_PROGRESS
) -> tuple[Alternative, ...]:
    """Search the number of sites that the other aim of the allowed loss, and tiers, would give."""
    allowed_percent = allowed_loss_percent(request.settings.parameters)
    engine_request = build_engine_request(request.settings, request.problem)
    return find_alternatives(engine_request, allowed_percent, progress, request.trials)


def check_requirement(
    result: RunResult,
    problem: Problem,
    requirement: Requirement | None,
    released_columns: Sequence[str] | None,
    is_aggregated: bool = False,
) -> RunResult:
    """Note with every solution whether it meets the requirement; without one, return the result as it is."""
    if requirement is None:
        return result
    return check_solutions(result, problem, requirement, released_columns, is_aggregated)


def choose_solution(outcome: RunOutcome, solution_id: int | None) -> Solution:
    """Return the solution with this id, or choose one.

    The choice is the best within the allowed loss in force: the finest, or, if that is the aim, the one with the least
    loss of information. If no allowed loss is in force, or no solution is within it, it is the one nearest to the
    approximated number of sites. Solutions that meet the requirement come first, if there are any.
    Raises `UsageError` if there is no solution with this id.
    """
    result = outcome.result
    if solution_id is None:
        suitable = tuple(solution for solution in result.solutions if solution.is_suitable)
        candidates = replace(result, solutions=suitable or result.solutions)
        return _choose_default(candidates, find_loss_limit(outcome.settings))
    ids = [solution.id for solution in result.solutions]
    if solution_id not in ids:
        raise UsageError(f"--solution {solution_id}: this run has the solutions {ids[0]} to {ids[-1]}.")
    return result.solution(solution_id)


def _choose_default(result: RunResult, limit_percent: float | None) -> Solution:
    best = None if limit_percent is None else dominance.choose_solution(result.solutions, limit_percent)
    return result.chosen if best is None else best


def no_suitable_solution(n_solutions: int) -> InputError:
    """Build the error that no solution meets the requirement."""
    message = f"None of the {n_solutions:,} solutions meets the requirement."
    remedy = "Ask for less, widen the range of site numbers, or leave --suitable-only out to see why."
    return InputError(Finding("none-suitable", message, remedy))


def add_findings(ran: RunOutcome, findings: tuple[Finding, ...]) -> RunOutcome:
    """Return the run with more findings."""
    return replace(ran, result=replace(ran.result, findings=(*ran.result.findings, *findings)))


def build_document(ran: RunOutcome, solution: Solution, options: ReleaseOptions) -> dict[str, Any]:
    """Build the content of ``run.json``: the settings of a run and its solutions."""
    sources = (ran.problem.records_source, ran.problem.regions_source)
    files = [source.path if source is not None else "" for source in sources]
    document = build_run_document(
        ran.problem, ran.result, options_in_force(ran.settings, options, *files), solution.id
    )
    if ran.table.rows_hash:
        # By this the ledger knows the same records again in another order.
        document["rows_hash"] = ran.table.rows_hash
    if solution.requirement is not None:
        document["requirement_check"] = [dict(row) for row in solution.requirement.criteria]
    return document
