"""Run one combination of approaches over its range of site numbers and rate the solutions.

Without --json a table goes to the output; with --out the release of one solution goes to a folder.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vbas_desktop.model.progress import Span
from vbas_desktop.model.words import counted
from vbas_desktop.settings.release import ReleaseOptions
from vbas_desktop.settings.run import RunSettings
from vbas_desktop.settings.writing import HandingOver

from . import options as shared
from .approach_options import add_approach_options
from .arguments import add_settings, whole
from .terminal import TerminalProgress, say, say_findings, show

if TYPE_CHECKING:
    from vbas_desktop.assessment.representability.requirement import Requirement
    from vbas_desktop.jobs.run import Ran
    from vbas_desktop.model.problem import Problem
    from vbas_desktop.model.progress import Progress
    from vbas_desktop.model.solution import Alternative, RunResult, Solution
    from vbas_desktop.release import ReleaseReport

EXAMPLE = """Example:
  vbas run sample_data/records.csv sample_data/regions.geojson --region-column tract \\
      --quasi-identifiers age,sex --identifiers health_number -k 5 --site-location adc --out result"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    shared.add_files(parser)
    add_settings(parser, RunSettings)
    shared.add_generalise(parser)
    add_approach_options(parser)
    add_settings(parser, ReleaseOptions, without={"identifiers"})
    add_settings(parser, HandingOver)
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
        "--checklist", metavar="F", help="JSON file with a filled-in policy checklist: it goes into the internal report"
    )


def run(options: argparse.Namespace) -> int:
    """Load, run, show, and write what was asked for."""
    from vbas_desktop.io.runfile import as_text
    from vbas_desktop.jobs.handover import check_handover
    from vbas_desktop.jobs.inputs import input_paths
    from vbas_desktop.jobs.release import document_of, with_findings
    from vbas_desktop.jobs.run import AlternativesJob, chosen_solution, none_suitable
    from vbas_desktop.release import check_release_target

    requirement = shared.requirement_of(options)
    settings = shared.settings_of(options)
    release = ReleaseOptions.from_options(vars(options))
    shared.check_judging(release)
    if options.out:
        check_release_target(Path(options.out), input_paths(vars(options)))
        check_handover(HandingOver.from_options(vars(options)), options.records, Path(options.out))
    shared.check_also(options, release.format)
    report: ReleaseReport | None = None
    with TerminalProgress(options.quiet) as progress:
        ran = _ran(options, settings, release, requirement, progress)
        result, problem = ran.result, ran.problem
        if options.suitable_only and not any(each.is_suitable for each in result.solutions):
            raise none_suitable(len(result.solutions))
        solution = chosen_solution(ran, options.solution)
        if options.out:
            # The secret of the rows' order is drawn here, so that what is shown tells it too.
            release = release.settled()
            report = _released(options, ran, solution, release, requirement, Span(progress, 0.7, 1.0))
            ran = with_findings(ran, tuple(shared.loss_findings(report)))
        document = document_of(ran, solution, release)
        if report is not None:
            document["release"] = {"solution": solution.id, **release.as_dict()}
            if report.columns is not None:
                document["columns"] = report.columns.as_dict()
            document["last_look"] = report.last_look
        offer = _in_tiers(problem, solution, progress)
        alternatives = AlternativesJob(settings, problem).execute(progress) if options.alternatives else ()
    if offer is not None:
        document["in_tiers"] = offer
    if alternatives:
        document["alternatives"] = [{**asdict(each), "options": _options_of(each)} for each in alternatives]
    if not options.quiet:
        say_findings((*problem.findings, *result.findings))
        if solution.requirement is not None and not solution.requirement.met:
            say(f"warning: Solution {solution.id} does not meet the requirement.")
    if report is not None:
        shared.say_release(report, options.quiet)
    if options.suitable_only:
        result, document = _suitable_only(result, document)
    if options.json:
        show(as_text(document).rstrip("\n"))
    else:
        show("\n".join([results_text(replace(ran, result=result), solution, offer), *_told(alternatives, problem)]))
    return 0


def _options_of(alternative: Alternative) -> str:
    """Write the options that ask for an alternative."""
    return f"--site-number limit --set limit.aim={alternative.aim} --tiers {alternative.tiers}"


def _told(alternatives: Sequence[Alternative], problem: Problem) -> list[str]:
    """Say what the alternatives would give, and with which options."""
    from vbas_desktop.engine.advice import alternatives_in_words

    sentences = alternatives_in_words(alternatives, problem.records)
    return [f"{text} Use {_options_of(each)}." for text, each in zip(sentences, alternatives, strict=True)]


def _in_tiers(problem: Problem, solution: Solution, progress: Progress) -> dict[str, Any] | None:
    """What the chosen solution would lose in tiers, and how to get that; None if they save nothing."""
    from vbas_desktop.engine.loss import USUAL_TIERS, in_tiers_in_words, suppressed_in_tiers

    lost = suppressed_in_tiers(problem, solution, progress)
    if lost is None:
        return None
    text = in_tiers_in_words(solution.suppressed_records, lost, problem.records)
    return {"solution": solution.id, "suppressed_records": lost, "text": text, "option": f"--tiers {USUAL_TIERS}"}


def _ran(
    options: argparse.Namespace,
    settings: RunSettings,
    release: ReleaseOptions,
    requirement: Requirement | None,
    progress: Progress,
) -> Ran:
    from vbas_desktop.jobs.run import RunJob

    # A release needs all columns, counting only some.
    used = None if options.out else settings.quasi_identifiers
    data = shared.loaded(options, settings, used, Span(progress, 0.0, 0.45))
    released = [name for name, _ in release.released_columns(data.table.dialect.header)] if requirement else None
    aggregated = bool(release.aggregate)
    job = RunJob(settings, data, requirement=requirement, released_columns=released, is_aggregated=aggregated)
    return job.execute(Span(progress, 0.45, 0.7 if options.out else 1.0))


def _released(
    options: argparse.Namespace,
    ran: Ran,
    solution: Solution,
    release: ReleaseOptions,
    requirement: Requirement | None,
    progress: Progress,
) -> ReleaseReport:
    from vbas_desktop.jobs.release import ReleaseJob, read_checklist

    checklist = read_checklist(Path(options.checklist)) if options.checklist else None
    handing = HandingOver.from_options(vars(options))
    job = ReleaseJob(ran, solution.id, release, Path(options.out), requirement, checklist, handing=handing)
    return job.execute(progress)


def _suitable_only(result: RunResult, document: dict[str, Any]) -> tuple[RunResult, dict[str, Any]]:
    kept = tuple(each for each in result.solutions if each.is_suitable)
    ids = {each.id for each in kept}
    listed = [each for each in document["solutions"] if each["id"] in ids]
    return replace(result, solutions=kept), {**document, "solutions": listed}


def results_text(ran: Ran, solution: Solution, in_tiers: Mapping[str, Any] | None = None) -> str:
    """The results for people: what was computed, and a table with a star for each solution worth keeping."""
    from .table import MARKS, solutions_table

    problem, result = ran.problem, ran.result
    head = (
        f"{counted(problem.records, 'record')}{_left_out(problem)} · {counted(len(problem.regions), 'region')} · "
        f"{counted(problem.counts.max_combinations, 'class')} ({result.classes_present:,} present) · "
        f"k = {problem.k}\n"
        f"Globally suppressed: {result.globally_suppressed_records:,} · "
        f"approximated number of sites: {result.approximated_sites:,} · {result.seconds:.2f} s without loading"
    )
    if result.total_seconds is not None:
        head += f", {result.total_seconds:.2f} s from start to finish"
    if "obstacles" in solution.told:
        from vbas_desktop.release.report.wording import changed_in_words

        head += f"\nSolution {solution.id}: {changed_in_words(solution.told['obstacles'], len(problem.regions))}"
    table = solutions_table(result.solutions, solution, problem.regions.system.unit)
    how = " Use them with --site-number limit." if result.advice and result.advice.sites is not None else ""
    advice = [] if result.advice is None else [f"Advice: {result.advice.text}{how}"]
    offer = [] if in_tiers is None else [f"Solution {solution.id}: {in_tiers['text']} Use {in_tiers['option']}."]
    tail = "\n".join([*same_text(result), MARKS, *advice, *offer])
    return "\n\n".join([head, table, *requirement_text(solution), tail])


def _left_out(problem: Problem) -> str:
    """Say how many records a filter leaves out, if there is one."""
    return "" if problem.selection is None else f" ({problem.records_left_out:,} left out by filters)"


def same_text(result: RunResult) -> list[str]:
    """Which solutions are not listed, because they merge the regions as others do."""
    same = [f"{each.id} is {each.same_as}" for each in result.solutions if each.same_as is not None]
    return [f"The same partition again: solution {', '.join(same)}."] if same else []


def requirement_text(solution: Solution) -> list[str]:
    """How the chosen solution fares by criterion, if a requirement was given."""
    rows = () if solution.requirement is None else solution.requirement.criteria
    told = [f"Solution {solution.id} and the requirement:", *shared.verdict_lines(rows)]
    return ["\n".join(told)] if rows else []
