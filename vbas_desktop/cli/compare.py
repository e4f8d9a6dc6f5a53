"""Run many combinations of approaches on the same records and write one table of all solutions.

Every list option takes several values with commas; every combination of them is run. Finished combinations are kept in
a folder beside --out (DIR.combinations): a comparison that was stopped goes on where it ended, and one that is extended
runs only what is new.
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vbas_desktop.approaches.base import Approach
from vbas_desktop.approaches.registry import DEFAULTS, approach, named
from vbas_desktop.domain.errors import Severity
from vbas_desktop.domain.progress import Span

from . import options as shared
from .choices import Chooser, add_approach_options, chosen_names, named_parameters
from .errors import UsageError
from .requirement_options import add_requirement_options, none_suitable, requirement_of
from .terminal import TerminalProgress, say, show

if TYPE_CHECKING:
    from vbas_desktop.assessment.representability.requirement import Requirement
    from vbas_desktop.comparison.plan import Plan
    from vbas_desktop.comparison.run import Comparison
    from vbas_desktop.domain.records import Grouping
    from vbas_desktop.domain.solution import Solution
    from vbas_desktop.files.records import RecordTable

EXAMPLE = """Example:
  vbas compare sample_data/records.csv sample_data/regions.geojson --region-column tract -k 5,10 \\
      --quasi-identifiers age,sex --quasi-identifiers age,housing \\
      --site-number maxcombs,entropy --site-location all --adc-seeding all --out comparison"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    shared.add_data_options(parser, several=True)
    parser.add_argument(
        "--generalised",
        choices=("no", "yes", "both"),
        help="whether the groups of --generalise are used, not used, or both (default: both if there are any)",
    )
    shared.add_run_options(parser, several=True)
    add_approach_options(parser, several=True)
    shared.add_output_options(parser)
    add_requirement_options(parser, "marks the solutions that meet it")
    parser.add_argument("--dry-run", action="store_true", help="only say how many aggregations it makes and how long")


def run(options: argparse.Namespace) -> int:
    """Load, count, run what is missing, write."""
    from vbas_desktop.comparison.run import count_scenarios, prepare, run_prepared
    from vbas_desktop.comparison.store import Memory, Store
    from vbas_desktop.files.generalise import check_values
    from vbas_desktop.files.hashing import require_unchanged
    from vbas_desktop.release.comparison import check_comparison_target, store_beside, write_comparison
    from vbas_desktop.session.comparing import prepared_in_words

    plan = plan_of(options)
    requirement = requirement_of(options)
    only = _suitable if options.suitable_only else None
    keeper: Store | Memory = Memory()
    if options.out:
        check_comparison_target(Path(options.out))
        keeper = Store(store_beside(Path(options.out)))
    progress = TerminalProgress(options.quiet)
    try:
        used = [name for names in options.quasi_identifiers for name in names]
        table, regions = shared.read(options, Span(progress, 0.0, 0.2), {options.region_column, *used})
        problems = count_scenarios(plan, table, regions, Span(progress, 0.2, 0.3))
        prepared = prepare(plan, problems, keeper, progress)
        if options.dry_run:
            show(prepared_in_words(prepared))
            return 0
        if not options.quiet:
            say(prepared_in_words(prepared))
        comparison = run_prepared(prepared, keeper, Span(progress, 0.3, 1.0))
        # No table is written of records that were changed while they were read.
        require_unchanged(table.source)
        if requirement is not None:
            comparison = _marked(comparison, requirement, table, options)
        summary = write_comparison(comparison, Path(options.out), only) if options.out else None
    finally:
        progress.close()
    if not options.quiet:
        for finding in dict.fromkeys((*comparison.findings, *check_values(plan.groupings, table, used))):
            if finding.severity is not Severity.HINT:
                say(f"{finding.severity}: {finding}")
    show(_result_text(comparison, options, summary))
    return 0


def _marked(
    comparison: Comparison, requirement: Requirement, table: RecordTable, options: argparse.Namespace
) -> Comparison:
    """Every solution says whether it meets the requirement; if only such are wanted, there must be one."""
    from vbas_desktop.assessment.representability.solution import marked

    released = [name for name in table.dialect.header if name not in options.identifiers]
    finished = tuple(
        replace(one, result=marked(one.result, one.problem, requirement, released)) for one in comparison.finished
    )
    found = replace(comparison, finished=finished)
    if options.suitable_only and not any(solution.is_suitable for _, solution in found.solutions):
        raise none_suitable(len(found.solutions))
    return found


def plan_of(options: argparse.Namespace) -> Plan:
    """The plan that the options describe."""
    from vbas_desktop.comparison.plan import Plan

    for names in options.quasi_identifiers:
        shared.check_columns(argparse.Namespace(**{**vars(options), "quasi_identifiers": names}))
    groupings = shared.read_groupings(options)
    made = several_approaches(options)
    return Plan(
        region_column=options.region_column,
        quasi_identifier_sets=tuple(dict.fromkeys(tuple(names) for names in options.quasi_identifiers)),
        ks=tuple(options.k),
        site_numbers=made["site_number"],
        site_locations=made["site_location"],
        constructions=made["construction"],
        tierings=made["tiers"],
        groupings=groupings,
        generalised=_generalised(options.generalised, groupings),
        unknown_regions=options.unknown_regions,
        global_suppression=not options.no_global_suppression,
        range_step_percent=options.range_step,
        range_reach=options.range_reach,
        random_seed=options.random_seed,
        pareto_measures=shared.pareto_measures(options),
        allowed_loss_percent=shared.allowed_loss_of(options),
        workers=options.workers,
    )


def several_approaches(options: argparse.Namespace) -> dict[str, tuple[Approach, ...]]:
    """All approaches of each component, one for each combination of the parameters that were listed."""
    given = {
        option: value
        for option in (name.replace("-", "_") for name in named_parameters())
        if (value := getattr(options, option, None)) is not None
    }
    names = {component: _as_list(name) for component, name in chosen_names(options).items()}
    made: dict[str, list[Approach]] = {component: [] for component in DEFAULTS}
    unused, choosers = {f"--{option.replace('_', '-')}" for option in given}, []
    for values in product(*(_as_list(value) for value in given.values())):
        single = argparse.Namespace(**{**vars(options), **dict(zip(given, values, strict=True))})
        chooser = Chooser(single)
        for component, chosen in names.items():
            made[component] += [
                chooser.make(component, name) for name in chosen if not _starts_from_itself(component, name, single)
            ]
        unused &= set(chooser.unused_options())
        choosers.append(chooser)
    choosers[0].refuse_unused_assignments()
    for option in sorted(unused):
        if not options.quiet:
            say(f"warning: {option} has no effect on the chosen approaches.")
    return {component: tuple(dict.fromkeys(found)) for component, found in made.items()}


def _starts_from_itself(component: str, name: str, options: argparse.Namespace) -> bool:
    """`--adc-seeding all` names ADC too, which cannot be its own start."""
    for declared in approach(component, named(component, name)[0]).parameters():
        option = (declared.option or "").lstrip("-").replace("-", "_")
        if declared.kind == "approach" and getattr(options, option, None) == name:
            return True
    return False


def _as_list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _suitable(solution: Solution) -> bool:
    return solution.is_suitable


def _generalised(wanted: str | None, groupings: tuple[Grouping, ...]) -> tuple[bool, ...]:
    if wanted in ("yes", "both") and not groupings:
        raise UsageError(f"--generalised {wanted} needs --generalise FILE: which categories are taken together?")
    wanted = wanted or ("both" if groupings else "no")
    return {"no": (False,), "yes": (True,), "both": (False, True)}[wanted]


def _result_text(comparison: Comparison, options: argparse.Namespace, summary: str | None) -> str:
    from vbas_desktop.comparison.summary import summarise
    from vbas_desktop.comparison.table import rows_of
    from vbas_desktop.comparison.words import summary_lines
    from vbas_desktop.files.runfile import as_text

    suitable = [number for number, (_, each) in enumerate(comparison.solutions, 1) if each.is_suitable]
    if options.json:
        only = _suitable if options.suitable_only else None
        return as_text({"solutions": rows_of(comparison, only)}).rstrip("\n")
    text = summary or "\n".join(summary_lines(summarise(comparison)))
    if options.requirement:
        numbers = ", ".join(map(str, suitable)) or "none"
        text = f"{text.rstrip()}\n\nSolutions that meet the requirement: {numbers} (of {len(comparison.solutions):,})"
    where = f"\n\nWritten to {options.out}: comparison.csv, summary.html, summary.txt, charts" if options.out else ""
    return text.rstrip("\n") + where
