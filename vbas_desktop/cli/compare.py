"""Run many combinations of approaches on the same records and write one table of all solutions.

Every list option takes several values with commas; every combination of them is run. Finished combinations are kept in
a hidden folder beside --out (.DIR.combinations) until the tables are written: a comparison that was stopped goes on
where it ended. Then the folder is removed.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vbas_desktop.app.compare import CompareRequest, compare_combinations, estimate_comparison, plan_of
from vbas_desktop.app.data import read_groups
from vbas_desktop.app.inputs import input_paths
from vbas_desktop.approaches.interface import Approach
from vbas_desktop.approaches.registry import get_approach, resolve_name
from vbas_desktop.approaches.selection import (
    ApproachResolver,
    choose_names,
    format_flag,
    list_flag_parameters,
    option_key,
    with_allowed_loss,
)
from vbas_desktop.engine.comparison.summary import (
    describe_comparison,
    describe_estimate,
    list_solution_rows,
    summarise_comparison,
)
from vbas_desktop.io.documents.hierarchies import check_groupings
from vbas_desktop.io.documents.run_file import format_document
from vbas_desktop.model.findings import UsageError
from vbas_desktop.model.progress import SubProgress
from vbas_desktop.releases.comparison import check_comparison_target
from vbas_desktop.settings.run import COMPONENTS, GENERALISED, RunSettings, check_columns

from . import options as shared
from .approach_options import add_approach_options
from .arguments import OptionParser, add_option, numbers, sets_of_names
from .terminal import TerminalProgress, print_findings, say, show

if TYPE_CHECKING:
    from vbas_desktop.engine.comparison.plan import ComparisonPlan
    from vbas_desktop.engine.comparison.run import Comparison

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


def configure(parser: OptionParser) -> None:
    """Declare the options."""
    shared.add_files(parser)
    for declared in RunSettings.options():
        add_option(parser.section(declared.section), declared, **_SEVERAL.get(declared.name, {}))
    shared.add_generalise(parser)
    parser.add_argument(
        "--generalised",
        choices=tuple(GENERALISED),
        help="whether the groups of --generalise are used, not used, or both (default: both if there are any)",
    )
    add_approach_options(parser, several=True)
    shared.add_output_options(parser)
    shared.add_requirement_options(parser, "marks the solutions that meet it")
    parser.add_argument(
        "--dry-run", action="store_true", help="only say how many aggregations it makes and how long"
    )


def run(options: argparse.Namespace) -> int:
    """Load, count, run what is missing, write."""
    settings, plan = _plan(options)
    requirement = shared.read_named_requirement(options)
    target = Path(options.out) if options.out else None
    inputs = tuple(input_paths(vars(options)))
    if target is not None:
        check_comparison_target(target, inputs)
    used = [name for names in options.quasi_identifiers for name in names]
    with TerminalProgress(options.quiet) as progress:
        data = shared.load_inputs(options, settings, used, SubProgress(progress, 0.0, 0.2))
        request = CompareRequest(
            plan, data, target, requirement, settings.identifiers, options.suitable_only, inputs
        )
        if options.dry_run:
            show(describe_estimate(estimate_comparison(request, SubProgress(progress, 0.2, 0.3))))
            return 0
        tell = None if options.quiet else lambda prepared: say(describe_estimate(prepared))
        compared = compare_combinations(request, SubProgress(progress, 0.2, 1.0), on_prepared=tell)
    if not options.quiet:
        print_findings(
            (*compared.comparison.findings, *check_groupings(plan.groupings, data.table, used))
        )
    show(_format_result(compared.comparison, options, compared.text))
    return 0


def _plan(options: argparse.Namespace) -> tuple[RunSettings, ComparisonPlan]:
    """Read the settings that all combinations share, and build the plan that the options describe."""
    given = {
        name: value for name, value in vars(options).items() if name not in ("quasi_identifiers", "k")
    }
    settings = RunSettings(
        **RunSettings.from_dict(given).option_values(),
        parameters=with_allowed_loss({}, given),
        groupings=read_groups(options.generalise),
    )
    for names in options.quasi_identifiers:
        check_columns(settings.replaced(quasi_identifiers=tuple(names)))
    sets = tuple(dict.fromkeys(tuple(names) for names in options.quasi_identifiers))
    made, groups = several_approaches(options), bool(settings.groupings)
    return settings, plan_of(
        settings, sets, tuple(options.k), made, _choose_generalised(options.generalised, groups)
    )


def several_approaches(options: argparse.Namespace) -> dict[str, tuple[Approach, ...]]:
    """Create all approaches of each component, one for each combination of the parameters that were listed."""
    given = {
        key: value for key in list_flag_parameters() if (value := vars(options).get(key)) is not None
    }
    names = {component: _as_list(name) for component, name in choose_names(vars(options)).items()}
    made: dict[str, list[Approach]] = {component: [] for component in COMPONENTS}
    unused, choosers = set(map(format_flag, given)), []
    for values in product(*(_as_list(value) for value in given.values())):
        single = {**vars(options), **dict(zip(given, values, strict=True))}
        resolver = ApproachResolver(single)
        for component, chosen in names.items():
            made[component] += [
                resolver.create(component, name)
                for name in chosen
                if not _starts_from_itself(component, name, single)
            ]
        unused &= set(resolver.unused_options())
        choosers.append(resolver)
    choosers[0].refuse_unused_assignments()
    shared.warn_of_unused(sorted(unused), options.quiet)
    return {component: tuple(dict.fromkeys(found)) for component, found in made.items()}


def _starts_from_itself(component: str, name: str, options: Mapping[str, Any]) -> bool:
    """`--adc-seeding all` names ADC too, which cannot be its own start."""
    declared = get_approach(component, resolve_name(component, name)[0]).options()
    return any(each.is_nested and options.get(option_key(each)) == name for each in declared)


def _as_list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _choose_generalised(wanted: str | None, groups: bool) -> str:
    """Choose no, yes or both: what was wanted, else both if there are groups. Raises `UsageError`."""
    if wanted in ("yes", "both") and not groups:
        raise UsageError(
            f"--generalised {wanted} needs --generalise FILE: which categories are taken together?"
        )
    return wanted or ("both" if groups else "no")


def _format_result(comparison: Comparison, options: argparse.Namespace, summary: str) -> str:
    suitable = [number for number, (_, each) in enumerate(comparison.solutions, 1) if each.is_suitable]
    if options.json:
        return format_document(
            {"solutions": list_solution_rows(comparison, options.suitable_only)}
        ).rstrip("\n")
    text = summary or "\n".join(describe_comparison(summarise_comparison(comparison)))
    if options.requirement:
        numbers = ", ".join(map(str, suitable)) or "none"
        text = f"{text.rstrip()}\n\nSolutions that meet the requirement: {numbers} (of {len(comparison.solutions):,})"
    where = (
        f"\n\nWritten to {options.out}: comparison.csv, summary.html, summary.txt, charts"
        if options.out
        else ""
    )
    return text.rstrip("\n") + where
