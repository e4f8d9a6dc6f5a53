"""What several commands have in common: the two files, groups, requirement, output, and what is said of a release."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vbas_desktop.model.errors import Finding, UsageError
from vbas_desktop.model.words import counted
from vbas_desktop.settings import declaration
from vbas_desktop.settings.reading import RecordOptions

from .arguments import add_setting, group_of
from .terminal import say, say_findings

if TYPE_CHECKING:
    from vbas_desktop.assessment.policies import Judgement
    from vbas_desktop.assessment.representability.requirement import Requirement
    from vbas_desktop.jobs.data import Data
    from vbas_desktop.model.progress import Progress
    from vbas_desktop.release import ReleaseReport
    from vbas_desktop.settings.release import ReleaseOptions
    from vbas_desktop.settings.run import RunSettings


def add_files(parser: argparse.ArgumentParser) -> None:
    """The two files."""
    parser.add_argument(
        "records",
        metavar="RECORDS",
        help="the record file (CSV, also compressed, or Parquet), or the address of a folder, pattern or table",
    )
    parser.add_argument("regions", metavar="REGIONS", help="the region file (CSV, GeoJSON, GeoPackage or Shapefile)")


def add_generalise(parser: argparse.ArgumentParser) -> None:
    """``--generalise``."""
    group_of(parser, "columns").add_argument(
        "--generalise",
        metavar="FILE",
        action="append",
        default=[],
        help="categories to be grouped: a file with column,value,group, or COLUMN=FILE:LEVEL for a level of "
        "a hierarchy (value;level1;level2…); repeatable",
    )


def add_output_options(parser: argparse.ArgumentParser) -> None:
    """Where results and progress go."""
    group = parser.add_argument_group("output")
    group.add_argument("--out", metavar="DIR", help="folder for the results; an earlier run in it is replaced")
    group.add_argument("--json", action="store_true", help="print the results as JSON")
    group.add_argument("--quiet", action="store_true", help="no progress and no remarks")


def add_replace_option(parser: Any) -> None:
    """``--replace``, for commands that write single files."""
    parser.add_argument("--replace", action="store_true", help="replace a file that is there already; never an input")


def check_output_file(options: argparse.Namespace, path: Path) -> None:
    """Refuse a file that must not be written, before anything is computed."""
    from vbas_desktop.io.output import check_target
    from vbas_desktop.jobs.inputs import input_paths

    check_target(path, inputs=input_paths(vars(options)), replace=options.replace)


def check_output_folder(options: argparse.Namespace, owned: Sequence[str]) -> None:
    """Refuse a folder of ``--out`` that must not be written, before anything is computed."""
    from vbas_desktop.io.output import check_target
    from vbas_desktop.jobs.inputs import input_paths

    if options.out:
        check_target(Path(options.out), owned, input_paths(vars(options)))


def add_requirement_options(parser: argparse.ArgumentParser, effect: str) -> None:
    """``--requirement`` and ``--suitable-only``."""
    group = parser.add_argument_group("requirement")
    group.add_argument("--requirement", metavar="F", help=f"JSON file with what a researcher needs: {effect}")
    group.add_argument("--suitable-only", action="store_true", help="show only the solutions that meet the requirement")


def settings_of(options: argparse.Namespace) -> RunSettings:
    """The settings of a run; remarks on options that nothing reads."""
    from vbas_desktop.jobs.data import read_groups
    from vbas_desktop.settings.approaches import run_settings
    from vbas_desktop.settings.command import check_columns

    given = {**vars(options), "groupings": read_groups(options.generalise), **_earlier(options)}
    settings, unused = run_settings(given)
    say_unused(unused, options.quiet)
    check_columns(settings)
    return settings


def _earlier(options: argparse.Namespace) -> dict[str, str]:
    """The crosswalk of the release whose number in the ledger is given instead of a file."""
    place = getattr(options, "coarsen_from", None)
    if not place or not (place.isascii() and place.isdigit()) or Path(place).exists():
        return {}
    from vbas_desktop.jobs.handover import usual_ledger
    from vbas_desktop.jobs.ledger import crosswalk_of

    named = getattr(options, "ledger", None)
    return {"coarsen_from": crosswalk_of(Path(named) if named else usual_ledger(options.records), int(place))}


def say_unused(unused: Iterable[str], quiet: bool) -> None:
    """Warn of options that make no difference."""
    for option in unused:
        if not quiet:
            say(f"warning: {option} has no effect on the chosen approaches.")


def loaded(options: argparse.Namespace, settings: RunSettings, used: Iterable[str] | None, progress: Progress) -> Data:
    """Both files; of the records all columns, or only the region's, the sensitive ones and those that are used."""
    from vbas_desktop.io.databases.address import record_place
    from vbas_desktop.io.generalise import check_hierarchies
    from vbas_desktop.jobs.data import LoadJob

    needed = None if used is None else frozenset({settings.region_column, *used, *settings.sensitive})
    place, regions = record_place(options.records), Path(options.regions)
    job = LoadJob(place, regions, settings.reading, needed, settings.identifiers, settings.region_column)
    data = job.execute(progress)
    for choices in (vars(options).get("generalise"), vars(options).get("ladder")):
        check_hierarchies(choices or (), data.table, set(settings.quasi_identifiers or used or ()))
    return data


def requirement_of(options: argparse.Namespace) -> Requirement | None:
    """The requirement that was given, if any."""
    from vbas_desktop.assessment.representability.requirement import read_requirement

    if options.requirement:
        return read_requirement(options.requirement)
    if options.suitable_only:
        raise UsageError("--suitable-only needs --requirement F: suitable for what?")
    return None


def check_also(options: argparse.Namespace, format: str) -> None:
    """Refuse a target that cannot be written, before anything is computed."""
    from vbas_desktop.jobs.inputs import input_paths
    from vbas_desktop.jobs.release import TargetJob

    if not options.target:
        return
    if not options.out:
        raise UsageError("--target needs --out DIR for the papers of the release.")
    TargetJob(options.target, format).check(input_paths(vars(options)))


def verdict_lines(rows: Iterable[Mapping[str, str]]) -> list[str]:
    """The check of a requirement, one criterion on each line."""
    return [f"{row['verdict']:<14}{row['criterion']}: required {row['required']}, is {row['actual']}" for row in rows]


def say_release(report: ReleaseReport, quiet: bool = False) -> None:
    """What was released, on stderr; ``quiet``: only that it loses more than is allowed or usual."""
    if quiet:
        say_findings(loss_findings(report))
        return
    say_findings(report.findings, hints=True)
    if report.population is not None:
        say_population(report.population)
    if report.policy is not None:
        say_policy(report.policy)
    say(
        f"Released {report.records_released:,} of {counted(report.records, 'record')} in "
        f"{report.regions_in_words}; read back and verified. "
        f"What may leave the organisation: {report.folder}"
    )
    if report.columns is not None:
        say(report.columns.in_words)


def loss_findings(report: ReleaseReport) -> Iterator[Finding]:
    """Select the remarks on a loss that is larger than is allowed or usual."""
    from vbas_desktop.engine.loss import LOSS

    return (finding for finding in report.findings if finding.code == LOSS)


def say_population(found: Mapping[str, Any]) -> None:
    """What the inhabitants say of the release, on stderr."""
    from vbas_desktop.release.report.policy import population_rows

    say("Risk among the inhabitants:")
    for name, value in population_rows(found):
        say(f"  {name}: {value}")


def say_policy(judged: Judgement) -> None:
    """How a file fares by a policy, criterion by criterion, on stderr."""
    say(f"{'warning: ' if judged.met is False else ''}{judged.in_words}")
    for each in judged.criteria:
        found = f" is {each.actual}" if each.actual and not each.demand.question else ""
        why = each.actual if each.demand.question else each.reason
        say(f"  {each.verdict}: {each.demand.text}{f';{found}' if found else ''}{f' ({why})' if why else ''}")


def check_judging(release: ReleaseOptions) -> None:
    """A policy or a table of the population that cannot be read stops before anything is computed."""
    if release.policy is not None:
        from vbas_desktop.io.policies import find_policy

        find_policy(release.policy)
    if release.population is not None:
        from vbas_desktop.io.access import check_readable

        check_readable(Path(release.population))


def add_reading_options(parser: Any, what: str = "the records", prefix: str = "") -> None:
    """``--category-counts``, ``--delimiter`` and ``--encoding``; with ``prefix`` those of another file."""
    for declared in declaration.settings_of(RecordOptions):
        option = f"--{prefix}{declared.option.removeprefix('--')}"
        add_setting(parser, replace(declared, option=option, help=declared.help.replace("the records", what)))


def reading_of(options: argparse.Namespace, prefix: str = "") -> RecordOptions:
    """How the options say that a record file is read."""
    start = prefix.replace("-", "_")
    given = {name.removeprefix(start): value for name, value in vars(options).items() if name.startswith(start)}
    return RecordOptions.from_options(given)
