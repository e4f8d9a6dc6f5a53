"""Run many combinations of approaches on the same records and write one table of all solutions.

Every list option takes several values with commas; every combination of them is run. Finished combinations are kept in
a hidden folder beside --out (.DIR.combinations) until the tables are written: a comparison that was stopped goes on
where it ended. Then the folder is removed.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vbas_desktop.approaches.base import Approach
from vbas_desktop.approaches.registry import approach, named
from vbas_desktop.model.errors import UsageError
from vbas_desktop.model.progress import Span
from vbas_desktop.settings.approaches import (
    Chooser,
    chosen_names,
    named_parameters,
    option_key,
    spelled,
    with_allowed_loss,
)
from vbas_desktop.settings.command import check_columns
from vbas_desktop.settings.declaration import settings_of as declared_settings
from vbas_desktop.settings.run import COMPONENTS, GENERALISED, RunSettings

from . import options as shared
from .approach_options import add_approach_options
from .arguments import add_setting, group_of, numbers, sets_of_names
from .terminal import TerminalProgress, say, say_findings, show

if TYPE_CHECKING:
    from vbas_desktop.comparison.plan import Plan
    from vbas_desktop.comparison.run import Comparison

_SEVERAL: dict[str, dict[str, Any]] = {
    "quasi_identifiers": {
        "type": sets_of_names,
        "action": "extend",
        "help": "columns that make up the classes; repeat it, or use semicolons (A,B;A,C), for several sets",
    },
    "k": {
        "metavar": "K,K",
        "type": numbers(1),
        "default": [5],
        "help": "the smallest size of a released class; several with commas (default: 5)",
    },
}
"""The settings of a run of which a comparison takes several."""

EXAMPLE = """Example:
  vbas compare sample_data/records.csv sample_data/regions.geojson --region-column tract -k 5,10 \\
      --quasi-identifiers age,sex --quasi-identifiers age,housing \\
      --site-number maxcombs,entropy --site-location all --adc-seeding all --out comparison"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    shared.add_files(parser)
    for declared in declared_settings(RunSettings):
        add_setting(group_of(parser, declared.group), declared, **_SEVERAL.get(declared.name, {}))
    shared.add_generalise(parser)
    parser.add_argument(
        "--generalised",
        choices=tuple(GENERALISED),
        help="whether the groups of --generalise are used, not used, or both (default: both if there are any)",
    )
    add_approach_options(parser, several=True)
    shared.add_output_options(parser)
    shared.add_requirement_options(parser, "marks the solutions that meet it")
    parser.add_argument("--dry-run", action="store_true", help="only say how many aggregations it makes and how long")


def run(options: argparse.Namespace) -> int:
    """Load, count, run what is missing, write."""
    from vbas_desktop.comparison.words import prepared_in_words
    from vbas_desktop.io.generalise import check_values
    from vbas_desktop.jobs.compare import CompareJob
    from vbas_desktop.jobs.inputs import input_paths
    from vbas_desktop.release.comparison import check_comparison_target

    settings, plan = _plan(options)
    requirement = shared.requirement_of(options)
    target = Path(options.out) if options.out else None
    inputs = tuple(input_paths(vars(options)))
    if target is not None:
        check_comparison_target(target, inputs)
    used = [name for names in options.quasi_identifiers for name in names]
    with TerminalProgress(options.quiet) as progress:
        data = shared.loaded(options, settings, used, Span(progress, 0.0, 0.2))
        job = CompareJob(plan, data, target, requirement, settings.identifiers, options.suitable_only, inputs)
        if options.dry_run:
            show(prepared_in_words(job.look_ahead(Span(progress, 0.2, 0.3))))
            return 0
        tell = None if options.quiet else lambda prepared: say(prepared_in_words(prepared))
        compared = job.execute(Span(progress, 0.2, 1.0), on_prepared=tell)
    if not options.quiet:
        say_findings((*compared.comparison.findings, *check_values(plan.groupings, data.table, used)))
    show(_result_text(compared.comparison, options, compared.text))
    return 0


def _plan(options: argparse.Namespace) -> tuple[RunSettings, Plan]:
    """The settings that are the same for every combination, and the plan that the options describe."""
    from vbas_desktop.jobs.compare import plan_of
    from vbas_desktop.jobs.data import read_groups

    given = {name: value for name, value in vars(options).items() if name not in ("quasi_identifiers", "k")}
    settings = RunSettings(
        **RunSettings.values_from(given),
        parameters=with_allowed_loss({}, given),
        groupings=read_groups(options.generalise),
    )
    for names in options.quasi_identifiers:
        check_columns(replace(settings, quasi_identifiers=tuple(names)))
    sets = tuple(dict.fromkeys(tuple(names) for names in options.quasi_identifiers))
    made, groups = several_approaches(options), bool(settings.groupings)
    return settings, plan_of(settings, sets, tuple(options.k), made, _generalised(options.generalised, groups))


def several_approaches(options: argparse.Namespace) -> dict[str, tuple[Approach, ...]]:
    """All approaches of each component, one for each combination of the parameters that were listed."""
    given = {key: value for key in named_parameters() if (value := vars(options).get(key)) is not None}
    names = {component: _as_list(name) for component, name in chosen_names(vars(options)).items()}
    made: dict[str, list[Approach]] = {component: [] for component in COMPONENTS}
    unused, choosers = set(map(spelled, given)), []
    for values in product(*(_as_list(value) for value in given.values())):
        single = {**vars(options), **dict(zip(given, values, strict=True))}
        chooser = Chooser(single)
        for component, chosen in names.items():
            made[component] += [
                chooser.make(component, name) for name in chosen if not _starts_from_itself(component, name, single)
            ]
        unused &= set(chooser.unused_options())
        choosers.append(chooser)
    choosers[0].refuse_unused_assignments()
    shared.say_unused(sorted(unused), options.quiet)
    return {component: tuple(dict.fromkeys(found)) for component, found in made.items()}


def _starts_from_itself(component: str, name: str, options: Mapping[str, Any]) -> bool:
    """`--adc-seeding all` names ADC too, which cannot be its own start."""
    declared = approach(component, named(component, name)[0]).parameters()
    return any(each.kind == "approach" and options.get(option_key(each)) == name for each in declared)


def _as_list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _generalised(wanted: str | None, groups: bool) -> str:
    if wanted in ("yes", "both") and not groups:
        raise UsageError(f"--generalised {wanted} needs --generalise FILE: which categories are taken together?")
    return wanted or ("both" if groups else "no")


def _result_text(comparison: Comparison, options: argparse.Namespace, summary: str) -> str:
    from vbas_desktop.comparison.summary import summarise
    from vbas_desktop.comparison.table import rows_of
    from vbas_desktop.comparison.words import summary_lines
    from vbas_desktop.io.runfile import as_text

    suitable = [number for number, (_, each) in enumerate(comparison.solutions, 1) if each.is_suitable]
    if options.json:
        return as_text({"solutions": rows_of(comparison, options.suitable_only)}).rstrip("\n")
    text = summary or "\n".join(summary_lines(summarise(comparison)))
    if options.requirement:
        numbers = ", ".join(map(str, suitable)) or "none"
        text = f"{text.rstrip()}\n\nSolutions that meet the requirement: {numbers} (of {len(comparison.solutions):,})"
    where = f"\n\nWritten to {options.out}: comparison.csv, summary.html, summary.txt, charts" if options.out else ""
    return text.rstrip("\n") + where
