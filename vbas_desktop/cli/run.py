"""Run one combination of approaches over its range of site numbers and rate the solutions.

Without --json a table goes to the output; with --out the release of one solution goes to a folder.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vbas_desktop.app.inputs import input_paths
from vbas_desktop.app.run import (
    AlternativesRequest,
    RunOutcome,
    RunRequest,
    add_findings,
    build_document,
    choose_solution,
    no_suitable_solution,
    run_configuration,
    search_alternatives,
)
from vbas_desktop.engine.loss import DEFAULT_TIERS, count_suppressed_in_tiers, describe_gain_of_tiers
from vbas_desktop.engine.site_search import describe_alternatives
from vbas_desktop.io.documents.run_file import format_document
from vbas_desktop.model.progress import Progress, SubProgress
from vbas_desktop.model.text import format_count
from vbas_desktop.releases.folder import ReleaseReport, check_release_target
from vbas_desktop.settings.release import ReleaseOptions
from vbas_desktop.settings.run import RunSettings
from vbas_desktop.settings.writing import RecipientOptions

from . import options as shared
from .approach_options import add_approach_options
from .arguments import OptionParser, add_options, whole
from .table import MARKS, format_solutions
from .terminal import TerminalProgress, print_findings, say, show

if TYPE_CHECKING:
    from vbas_desktop.analysis.representability.requirement import Requirement
    from vbas_desktop.model.problem import Problem
    from vbas_desktop.model.solution import Alternative, RunResult, Solution

EXAMPLE = """Example:
  vbas run sample_data/records.csv sample_data/regions.geojson --region-column tract \\
      --quasi-identifiers age,sex --identifiers health_number -k 5 --site-location adc --out result"""


def configure(parser: OptionParser) -> None:
    """Declare the options."""
    shared.add_files(parser)
    add_options(parser, RunSettings)
    shared.add_generalise(parser)
    add_approach_options(parser)
    add_options(parser, ReleaseOptions, without={"identifiers"})
    add_options(parser, RecipientOptions)
    shared.add_output_options(parser)
    parser.add_argument(
        "--solution",
        metavar="N",
        type=whole(1),
        help="id of the solution to release (default: the best within the allowed loss that is in force, else the "
        "one at the approximated number of sites)",
    )
    parser.add_argument(
        "--alternatives",
        action="store_true",
        help="after the run, also try the other aim of the allowed loss (limit.aim), and both aims with tiers or "
        "without, and say how many sites, lost records and which certainty penalty they would give",
    )
    shared.add_requirement_options(parser, "marks the solutions that meet it, and chooses among them")
    parser.add_argument(
        "--checklist",
        metavar="F",
        help="JSON file with a filled-in policy checklist: it goes into the internal report",
    )


def run(options: argparse.Namespace) -> int:
    """Load, run, show, and write what was asked for."""
    requirement = shared.read_named_requirement(options)
    settings = shared.build_settings(options)
    release = ReleaseOptions.from_dict(vars(options))
    shared.check_policy_files(release)
    if options.out:
        # What only a release needs is not waited for without one.
        from vbas_desktop.app.handover import check_handover

        check_release_target(Path(options.out), input_paths(vars(options)))
        check_handover(RecipientOptions.from_dict(vars(options)), options.records, Path(options.out))
    shared.check_copy_options(options, release.format)
    report: ReleaseReport | None = None
    with TerminalProgress(options.quiet) as progress:
        ran = _load_and_run(options, settings, release, requirement, progress)
        result = ran.result
        problem = ran.problem
        if options.suitable_only and not any(solution.is_suitable for solution in result.solutions):
            raise no_suitable_solution(len(result.solutions))
        solution = choose_solution(ran, options.solution)
        if options.out:
            # The secret of the rows' order is drawn here, so that what is shown tells it too.
            release = release.with_secret_drawn()
            report = _write_release(
                options, ran, solution, release, requirement, SubProgress(progress, 0.7, 1.0)
            )
            ran = add_findings(ran, tuple(shared.select_loss_findings(report)))
        document = build_document(ran, solution, release)
        if report is not None:
            document["release"] = {"solution": solution.id, **release.as_dict()}
            if report.columns is not None:
                document["columns"] = report.columns.as_dict()
            document["last_look"] = report.last_look
        offer = _estimate_in_tiers(problem, solution, progress)
        alternatives = (
            search_alternatives(AlternativesRequest(settings, problem), progress)
            if options.alternatives
            else ()
        )
    if offer is not None:
        document["in_tiers"] = offer
    if alternatives:
        document["alternatives"] = [
            {**asdict(alternative), "options": _format_options(alternative)}
            for alternative in alternatives
        ]
    if not options.quiet:
        print_findings((*problem.findings, *result.findings))
        if solution.requirement is not None and not solution.requirement.is_met:
            say(f"warning: Solution {solution.id} does not meet the requirement.")
    if report is not None:
        shared.print_release(report, options.quiet)
    if options.suitable_only:
        result, document = _keep_suitable(result, document)
    if options.json:
        show(format_document(document).rstrip("\n"))
    else:
        show(
            "\n".join(
                [
                    format_results(replace(ran, result=result), solution, offer),
                    *_describe_alternatives(alternatives, problem),
                ]
            )
        )
    return 0


def _format_options(alternative: Alternative) -> str:
    """Write the options that ask for an alternative."""
    return f"--site-number limit --set limit.aim={alternative.aim} --tiers {alternative.tiers}"


def _describe_alternatives(alternatives: Sequence[Alternative], problem: Problem) -> list[str]:
    """Say what the alternatives would give, and with which options."""
    sentences = describe_alternatives(alternatives, problem.records)
    return [
        f"{sentence} Use {_format_options(alternative)}."
        for sentence, alternative in zip(sentences, alternatives, strict=True)
    ]


def _estimate_in_tiers(
    problem: Problem, solution: Solution, progress: Progress
) -> dict[str, Any] | None:
    """Estimate what the chosen solution would lose in tiers, with the option for them; None if they save nothing."""
    suppressed = count_suppressed_in_tiers(problem, solution, progress)
    if suppressed is None:
        return None
    text = describe_gain_of_tiers(solution.suppressed_records, suppressed, problem.records)
    return {
        "solution": solution.id,
        "suppressed_records": suppressed,
        "text": text,
        "option": f"--tiers {DEFAULT_TIERS}",
    }


def _load_and_run(
    options: argparse.Namespace,
    settings: RunSettings,
    release: ReleaseOptions,
    requirement: Requirement | None,
    progress: Progress,
) -> RunOutcome:
    # A release needs all columns, counting only some.
    used = None if options.out else settings.quasi_identifiers
    data = shared.load_inputs(options, settings, used, SubProgress(progress, 0.0, 0.45))
    released = (
        [name for name, _ in release.released_columns(data.table.file_format.header)]
        if requirement
        else None
    )
    aggregated = bool(release.aggregate)
    request = RunRequest(
        settings, data, requirement=requirement, released_columns=released, is_aggregated=aggregated
    )
    return run_configuration(request, SubProgress(progress, 0.45, 0.7 if options.out else 1.0))


def _write_release(
    options: argparse.Namespace,
    ran: RunOutcome,
    solution: Solution,
    release: ReleaseOptions,
    requirement: Requirement | None,
    progress: Progress,
) -> ReleaseReport:
    from vbas_desktop.app.release import ReleaseRequest, read_checklist, release_solution

    checklist = read_checklist(Path(options.checklist)) if options.checklist else None
    handing = RecipientOptions.from_dict(vars(options))
    request = ReleaseRequest(
        ran, solution.id, release, Path(options.out), requirement, checklist, handing=handing
    )
    return release_solution(request, progress)


def _keep_suitable(result: RunResult, document: dict[str, Any]) -> tuple[RunResult, dict[str, Any]]:
    suitable = tuple(solution for solution in result.solutions if solution.is_suitable)
    ids = {solution.id for solution in suitable}
    entries = [entry for entry in document["solutions"] if entry["id"] in ids]
    return replace(result, solutions=suitable), {**document, "solutions": entries}


def format_results(
    ran: RunOutcome, solution: Solution, in_tiers: Mapping[str, Any] | None = None
) -> str:
    """Format the results: what was computed, and a table of the solutions with their marks."""
    problem = ran.problem
    result = ran.result
    head = (
        f"{format_count(problem.records, 'record')}{_left_out(problem)} · "
        f"{format_count(len(problem.regions), 'region')} · "
        f"{format_count(problem.counts.max_combinations, 'class')} ({result.classes_present:,} present) · "
        f"k = {problem.k}\n"
        f"Globally suppressed: {result.globally_suppressed_records:,} · "
        f"approximated number of sites: {result.approximated_sites:,} · {result.seconds:.2f} s without loading"
    )
    if result.total_seconds is not None:
        head += f", {result.total_seconds:.2f} s from start to finish"
    if "obstacles" in solution.diagnostics:
        from vbas_desktop.releases.reports.choices import describe_changed_regions

        changed = describe_changed_regions(solution.diagnostics["obstacles"], len(problem.regions))
        head += f"\nSolution {solution.id}: {changed}"
    table = format_solutions(result.solutions, solution, problem.regions.system)
    how = (
        " Use them with --site-number limit."
        if result.advice and result.advice.sites is not None
        else ""
    )
    advice = [] if result.advice is None else [f"Advice: {result.advice.text}{how}"]
    offer = (
        []
        if in_tiers is None
        else [f"Solution {solution.id}: {in_tiers['text']} Use {in_tiers['option']}."]
    )
    tail = "\n".join([*describe_equal_solutions(result), MARKS, *advice, *offer])
    return "\n\n".join([head, table, *describe_requirement(solution), tail])


def _left_out(problem: Problem) -> str:
    """Say how many records a filter leaves out, if there is one."""
    return "" if problem.selection is None else f" ({problem.records_left_out:,} left out by filters)"


def describe_equal_solutions(result: RunResult) -> list[str]:
    """Name the solutions that are not listed because they merge the regions as others do."""
    same = [
        f"{solution.id} is {solution.same_as}"
        for solution in result.solutions
        if solution.same_as is not None
    ]
    return [f"The same partition again: solution {', '.join(same)}."] if same else []


def describe_requirement(solution: Solution) -> list[str]:
    """Compare the chosen solution with each criterion of the requirement, if there is one."""
    rows = () if solution.requirement is None else solution.requirement.criteria
    lines = [f"Solution {solution.id} and the requirement:", *shared.format_verdicts(rows)]
    return ["\n".join(lines)] if rows else []
