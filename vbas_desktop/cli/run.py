"""Run one combination of approaches over its range of site numbers and rate the solutions.

Without --json a table goes to the output; with --out the release of one solution goes to a folder.
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vbas_desktop.domain.errors import Severity
from vbas_desktop.domain.progress import Progress, Span
from vbas_desktop.domain.words import counted

from . import options as shared
from .argument_types import whole
from .choices import Chooser, add_approach_options, chosen_names
from .errors import UsageError
from .release_options import add_release_options, release_options, say_release
from .requirement_options import add_requirement_options, none_suitable, requirement_of, verdict_lines
from .terminal import TerminalProgress, say, show

if TYPE_CHECKING:
    from vbas_desktop.domain.solution import RunResult, Solution
    from vbas_desktop.release import ReleaseReport

EXAMPLE = """Example:
  vbas run sample_data/records.csv sample_data/regions.geojson --region-column tract \\
      --quasi-identifiers age,sex --identifiers health_number -k 5 --site-location adc --out result"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    shared.add_data_options(parser)
    shared.add_run_options(parser)
    add_approach_options(parser)
    add_release_options(parser)
    shared.add_output_options(parser)
    parser.add_argument(
        "--solution",
        metavar="N",
        type=whole(1),
        help="id of the solution to release (default: the one at the approximated number of sites)",
    )
    add_requirement_options(parser, "marks the solutions that meet it, and chooses among them")


def run(options: argparse.Namespace) -> int:
    """Load, run, show, and write what was asked for."""
    from vbas_desktop.assessment.representability.solution import marked
    from vbas_desktop.engine.run import run as run_engine
    from vbas_desktop.files.hashing import require_unchanged
    from vbas_desktop.files.runfile import as_text, run_document

    complete(options)
    requirement = requirement_of(options)
    components = approaches_of(options)
    if options.out:
        from vbas_desktop.release import check_target

        check_target(Path(options.out))
        release_options(options)
    progress = TerminalProgress(options.quiet)
    report: ReleaseReport | None = None
    try:
        loaded = shared.load(options, Span(progress, 0.0, 0.5), releasing=bool(options.out))
        request = shared.request_of(options, loaded.problem, **components)
        result = run_engine(request, Span(progress, 0.5, 0.7 if options.out else 1.0))
        if requirement is not None:
            columns = release_options(options).released_columns(loaded.table.dialect.header)
            released = [name for name, _ in columns]
            result = marked(result, loaded.problem, requirement, released)
            if options.suitable_only and not any(each.is_suitable for each in result.solutions):
                raise none_suitable(len(result.solutions))
        solution = chosen_solution(result, options.solution)
        require_unchanged(loaded.table.source)
        document = run_document(loaded.problem, result, shared.in_force(options), solution.id)
        if solution.requirement is not None:
            document["requirement_check"] = [dict(row) for row in solution.requirement.criteria]
        if options.out:
            report = write_results(loaded, result, solution, document, options, Span(progress, 0.7, 1.0))
    finally:
        progress.close()
    if not options.quiet:
        for finding in dict.fromkeys((*loaded.problem.findings, *result.findings)):
            if finding.severity is not Severity.HINT:
                say(f"{finding.severity}: {finding}")
        if solution.requirement is not None and not solution.requirement.met:
            say(f"warning: Solution {solution.id} does not meet the requirement.")
        if report is not None:
            say_release(report)
    if options.suitable_only:
        kept = tuple(each for each in result.solutions if each.is_suitable)
        result, ids = replace(result, solutions=kept), {each.id for each in kept}
        document = {**document, "solutions": [each for each in document["solutions"] if each["id"] in ids]}
    show(as_text(document).rstrip("\n") if options.json else results_text(loaded, result, solution))
    return 0


def complete(options: argparse.Namespace) -> None:
    """Fill in the approaches that were not named, so that every option in force is known and kept."""
    for component, name in chosen_names(options).items():
        setattr(options, component, name)


def approaches_of(options: argparse.Namespace) -> dict[str, Any]:
    """The approach of each component with its parameters; remarks on options that nothing reads."""
    chooser = Chooser(options)
    made = {component: chooser.make(component, name) for component, name in chosen_names(options).items()}
    chooser.refuse_unused_assignments()
    for option in chooser.unused_options():
        if not options.quiet:
            say(f"warning: {option} has no effect on the chosen approaches.")
    return made


def chosen_solution(result: RunResult, id: int | None) -> Solution:
    """The solution that was asked for, or the one nearest to the approximated number of sites.

    If a requirement was given and solutions meet it, the choice is among these.
    """
    if id is None:
        suitable = [each for each in result.solutions if each.is_suitable]
        return replace(result, solutions=tuple(suitable)).chosen if suitable else result.chosen
    ids = [solution.id for solution in result.solutions]
    if id not in ids:
        raise UsageError(f"--solution {id}: this run has the solutions {ids[0]} to {ids[-1]}.")
    return result.solution(id)


def write_results(
    loaded: shared.Loaded,
    result: RunResult,
    solution: Solution,
    document: dict[str, Any],
    options: argparse.Namespace,
    progress: Progress,
) -> ReleaseReport:
    """Write the target folder, all of it or nothing; ``document`` gets the choices of the release."""
    from vbas_desktop.release import write_release

    chosen = release_options(options).settled()
    document["release"] = {"solution": solution.id, **chosen.as_dict()}
    document["options"]["shuffle_seed"] = chosen.shuffle_seed
    return write_release(loaded.problem, loaded.table, result, solution, chosen, Path(options.out), progress, document)


def results_text(loaded: shared.Loaded, result: RunResult, solution: Solution) -> str:
    """The results for people: what was computed, and a table with a star for each solution worth keeping."""
    from .table import MARKS, solutions_table

    problem = loaded.problem
    head = (
        f"{counted(problem.records, 'record')} · {counted(len(problem.regions), 'region')} · "
        f"{counted(problem.counts.equivalence_classes, 'class')} ({result.classes_present:,} present) · "
        f"k = {problem.k}\n"
        f"Globally suppressed: {result.globally_suppressed_records:,} · "
        f"approximated number of sites: {result.approximated_sites:,} · {result.seconds:.2f} s without loading"
    )
    table = solutions_table(result.solutions, solution, problem.regions.system.unit)
    tail = "\n".join([*same_text(result), MARKS])
    return "\n\n".join([head, table, *requirement_text(solution), tail])


def same_text(result: RunResult) -> list[str]:
    """Which solutions are not listed, because they merge the regions as others do."""
    same = [f"{each.id} is {each.same_as}" for each in result.solutions if each.same_as is not None]
    return [f"The same partition again: solution {', '.join(same)}."] if same else []


def requirement_text(solution: Solution) -> list[str]:
    """How the chosen solution fares by criterion, if a requirement was given."""
    rows = () if solution.requirement is None else solution.requirement.criteria
    return ["\n".join([f"Solution {solution.id} and the requirement:", *verdict_lines(rows)])] if rows else []
