"""What several commands have in common: the two files, groups, requirement, output, and what is said of a release."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vbas_desktop.model.findings import Finding, UsageError
from vbas_desktop.model.text import format_count
from vbas_desktop.settings.reading import RecordReading

from .arguments import OptionParser, add_option
from .terminal import print_findings, say

if TYPE_CHECKING:
    from vbas_desktop.analysis.policy_evaluation import PolicyEvaluation
    from vbas_desktop.analysis.representability.requirement import Requirement
    from vbas_desktop.app.data import LoadedData
    from vbas_desktop.model.progress import Progress
    from vbas_desktop.releases.folder import ReleaseReport
    from vbas_desktop.settings.release import ReleaseOptions
    from vbas_desktop.settings.run import RunSettings


def add_files(parser: OptionParser) -> None:
    """Declare the record file and the region file."""
    parser.add_argument(
        "records",
        metavar="RECORDS",
        help="the record file (CSV, also compressed, or Parquet), or the address of a folder, pattern or table",
    )
    parser.add_argument(
        "regions", metavar="REGIONS", help="the region file (CSV, GeoJSON, GeoPackage or Shapefile)"
    )


def add_generalise(parser: OptionParser) -> None:
    """Declare ``--generalise``."""
    parser.section("columns").add_argument(
        "--generalise",
        metavar="FILE",
        action="append",
        default=[],
        help="categories to be grouped: a file with column,value,group, or COLUMN=FILE:LEVEL for a level of "
        "a hierarchy (value;level1;level2…); repeatable",
    )


def add_output_options(parser: OptionParser) -> None:
    """Declare the options for results and progress."""
    group = parser.section("output")
    group.add_argument(
        "--out", metavar="DIR", help="folder for the results; an earlier run in it is replaced"
    )
    group.add_argument("--json", action="store_true", help="print the results as JSON")
    group.add_argument("--quiet", action="store_true", help="hide progress and remarks")


def add_replace_option(parser: Any) -> None:
    """Declare ``--replace``, for commands that write single files."""
    parser.add_argument(
        "--replace", action="store_true", help="replace a file that is there already; never an input"
    )


def check_output_file(options: argparse.Namespace, path: Path) -> None:
    """Refuse a file that must not be written, before anything is computed."""
    from vbas_desktop.app.inputs import input_paths
    from vbas_desktop.io.output import check_target

    check_target(path, inputs=input_paths(vars(options)), replace=options.replace)


def check_output_folder(options: argparse.Namespace, owned: Sequence[str]) -> None:
    """Refuse a folder of ``--out`` that must not be written, before anything is computed."""
    from vbas_desktop.app.inputs import input_paths
    from vbas_desktop.io.output import check_target

    if options.out:
        check_target(Path(options.out), owned, input_paths(vars(options)))


def add_requirement_options(parser: OptionParser, effect: str) -> None:
    """``--requirement`` and ``--suitable-only``."""
    group = parser.section("requirement")
    group.add_argument(
        "--requirement", metavar="F", help=f"JSON file with what a researcher needs: {effect}"
    )
    group.add_argument(
        "--suitable-only", action="store_true", help="show only the solutions that meet the requirement"
    )


def build_settings(options: argparse.Namespace) -> RunSettings:
    """Build the settings of a run, and warn of options without effect."""
    from vbas_desktop.app.data import read_groups
    from vbas_desktop.approaches.selection import settings_from_options
    from vbas_desktop.settings.run import check_columns

    values = {
        **vars(options),
        "groupings": read_groups(options.generalise),
        **_find_earlier_crosswalk(options),
    }
    settings, unused = settings_from_options(values)
    warn_of_unused(unused, options.quiet)
    check_columns(settings)
    return settings


def _find_earlier_crosswalk(options: argparse.Namespace) -> dict[str, str]:
    """Find the crosswalk of an earlier release if its number in the ledger is given instead of a file."""
    text = getattr(options, "coarsen_from", None)
    if not text or not (text.isascii() and text.isdigit()) or Path(text).exists():
        return {}
    from vbas_desktop.app.handover import usual_ledger
    from vbas_desktop.app.ledger import find_crosswalk_of

    ledger = getattr(options, "ledger", None)
    return {
        "coarsen_from": find_crosswalk_of(
            Path(ledger) if ledger else usual_ledger(options.records), int(text)
        )
    }


def warn_of_unused(unused: Iterable[str], quiet: bool) -> None:
    """Warn of options that make no difference."""
    for option in unused:
        if not quiet:
            say(f"warning: {option} has no effect on the chosen approaches.")


def load_inputs(
    options: argparse.Namespace, settings: RunSettings, used: Iterable[str] | None, progress: Progress
) -> LoadedData:
    """Load both files; of the records all columns, or only the region's, the sensitive ones and those that are used."""
    from vbas_desktop.app.data import LoadRequest, load_data
    from vbas_desktop.io.databases.address import parse_address
    from vbas_desktop.io.documents.hierarchies import check_hierarchies

    needed = None if used is None else frozenset({settings.region_column, *used, *settings.sensitive})
    records = parse_address(options.records)
    regions = Path(options.regions)
    request = LoadRequest(
        records, regions, settings.reading, needed, settings.identifiers, settings.region_column
    )
    data = load_data(request, progress)
    for choices in (vars(options).get("generalise"), vars(options).get("ladder")):
        check_hierarchies(choices or (), data.table, set(settings.quasi_identifiers or used or ()))
    return data


def read_named_requirement(options: argparse.Namespace) -> Requirement | None:
    """Read the requirement that is named; None if none is."""
    from vbas_desktop.analysis.representability.requirement import read_requirement

    if options.requirement:
        return read_requirement(options.requirement)
    if options.suitable_only:
        raise UsageError("--suitable-only needs --requirement F: suitable for what?")
    return None


def check_copy_options(options: argparse.Namespace, format: str) -> None:
    """Refuse a target that cannot be written, before anything is computed."""
    if not options.also:
        return
    if not options.out:
        raise UsageError("--target needs --out DIR for the documents of the release.")

    from vbas_desktop.app.copies import CopyRequest, check_copy_target
    from vbas_desktop.app.inputs import input_paths

    check_copy_target(CopyRequest(options.also, format), input_paths(vars(options)))


def format_verdicts(rows: Iterable[Mapping[str, str]]) -> list[str]:
    """Format the check of a requirement, one criterion on each line."""
    return [
        f"{row['verdict']:<14}{row['criterion']}: required {row['required']}, is {row['actual']}"
        for row in rows
    ]


def print_release(report: ReleaseReport, quiet: bool = False) -> None:
    """Print what was released, on stderr; with ``quiet`` only that it loses more than is allowed or usual."""
    if quiet:
        print_findings(select_loss_findings(report))
        return
    print_findings(report.findings, hints=True)
    if report.population is not None:
        print_population(report.population)
    if report.policy is not None:
        print_policy(report.policy)
    say(
        f"Released {report.records_released:,} of {format_count(report.records, 'record')} in "
        f"{report.regions_in_words}; read back and verified. "
        f"What may leave the organisation: {report.folder}"
    )
    if report.columns is not None:
        say(report.columns.in_words)


def select_loss_findings(report: ReleaseReport) -> Iterator[Finding]:
    """Select the remarks on a loss that is larger than is allowed or usual."""
    from vbas_desktop.engine.loss import LOSS

    return (finding for finding in report.findings if finding.code == LOSS)


def print_population(risk: Mapping[str, Any]) -> None:
    """Print the risk of the release among all inhabitants, on stderr."""
    from vbas_desktop.releases.reports.protection import population_rows

    say("Population risk:")
    for name, value in population_rows(risk):
        say(f"  {name}: {value}")


def print_policy(evaluation: PolicyEvaluation) -> None:
    """Print how a file compares with each criterion of a policy, on stderr."""
    prefix = "warning: " if evaluation.met is False else ""
    say(f"{prefix}{evaluation.in_words}")
    for criterion in evaluation.criteria:
        demand = criterion.demand
        actual = f"; is {criterion.actual}" if criterion.actual and not demand.question else ""
        reason = criterion.actual if demand.question else criterion.reason
        say(f"  {criterion.verdict}: {demand.text}{actual}{f' ({reason})' if reason else ''}")


def check_policy_files(release: ReleaseOptions) -> None:
    """Refuse a policy or a table of the population that cannot be read, before anything is computed."""
    if release.policy is not None:
        from vbas_desktop.io.documents.policies import find_policy

        find_policy(release.policy)
    if release.population is not None:
        from vbas_desktop.io.input_checks import check_readable

        check_readable(Path(release.population))


def add_reading_options(parser: Any, what: str = "the records", prefix: str = "") -> None:
    """``--category-counts``, ``--delimiter`` and ``--encoding``; with ``prefix`` those of another file."""
    for declared in RecordReading.options():
        flag = f"--{prefix}{declared.flag.removeprefix('--')}"
        name = f"{prefix.replace('-', '_')}{declared.name}"
        help = declared.help.replace("the records", what)
        add_option(parser, replace(declared, name=name, flag=flag, help=help))


def build_reading(options: argparse.Namespace, prefix: str = "") -> RecordReading:
    """Build the settings of reading a record file from the options whose names begin with ``prefix``."""
    start = prefix.replace("-", "_")
    values = {
        name.removeprefix(start): value
        for name, value in vars(options).items()
        if name.startswith(start)
    }
    return RecordReading.from_dict(values)
