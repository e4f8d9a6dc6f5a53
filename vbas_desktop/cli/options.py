"""The options that `run` and `compare` share: which files, how to read them, and how to run."""

from __future__ import annotations

import argparse
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from vbas_desktop.domain.progress import Progress, Span

from .argument_types import delimiter_of, names, numbers, percent, sets_of_names, whole
from .errors import UsageError
from .reading_options import add_reading_options, reading_of

if TYPE_CHECKING:
    from vbas_desktop.domain.problem import Problem, Request
    from vbas_desktop.domain.records import Grouping
    from vbas_desktop.domain.regions import Regions
    from vbas_desktop.files.records import RecordTable

_NOT_SETTINGS = {"command", "debug", "quiet", "json", "out", "solution", "requirement", "suitable_only"}


@dataclass(frozen=True, eq=False)
class Loaded:
    """Both files, read, and the problem made of them."""

    table: RecordTable
    problem: Problem


def add_data_options(parser: argparse.ArgumentParser, several: bool = False) -> None:
    """The two files, how to read them, and which columns are what; with ``several`` sets of quasi-identifiers."""
    parser.add_argument("records", metavar="RECORDS", help="the record file (CSV, also compressed, or Parquet)")
    parser.add_argument("regions", metavar="REGIONS", help="the region file (CSV, GeoJSON, GeoPackage or Shapefile)")
    columns = parser.add_argument_group("columns")
    columns.add_argument(
        "--region-column", metavar="NAME", required=True, help="column of the records that names the region"
    )
    _add_quasi_identifiers(columns, several)
    columns.add_argument(
        "--identifiers", metavar="A,B", type=names, default=[], help="columns that are dropped from the release"
    )
    columns.add_argument("--id-column", metavar="NAME", help="id column of the regions (default: guessed)")
    columns.add_argument("--x-column", metavar="NAME", help="x or longitude column of the regions (default: guessed)")
    columns.add_argument("--y-column", metavar="NAME", help="y or latitude column of the regions (default: guessed)")
    reading = parser.add_argument_group("reading")
    add_reading_options(reading)
    reading.add_argument(
        "--coordinates",
        choices=("auto", "planar", "degrees", "geographic"),
        default="auto",
        help="how the regions' coordinates are taken (default: %(default)s)",
    )
    reading.add_argument(
        "--unknown-regions",
        choices=("stop", "suppress"),
        default="stop",
        help="what happens to records whose region is not in the region file (default: %(default)s)",
    )
    reading.add_argument("--regions-delimiter", metavar="CHAR", help="delimiter of the regions")
    reading.add_argument("--regions-encoding", metavar="NAME", help="encoding of the regions")
    reading.add_argument(
        "--regions-decimal",
        choices=("auto", "point", "comma"),
        default="auto",
        help="decimal sign of the regions' coordinates in a text file (default: %(default)s)",
    )
    reading.add_argument("--layer", metavar="NAME", help="layer of a GeoPackage (default: the first with polygons)")


def _add_quasi_identifiers(group: Any, several: bool) -> None:
    if several:
        group.add_argument(
            "--quasi-identifiers",
            metavar="A,B",
            type=sets_of_names,
            action="extend",
            required=True,
            help="columns that make up the classes; repeat it, or use semicolons (A,B;A,C), for several sets",
        )
    else:
        group.add_argument(
            "--quasi-identifiers", metavar="A,B", type=names, required=True, help="columns that make up the classes"
        )
    group.add_argument(
        "--generalise",
        metavar="FILE",
        action="append",
        default=[],
        help="categories that are taken together: a file with column,value,group, or COLUMN=FILE:LEVEL for a level of "
        "a hierarchy (value;level1;level2…); repeatable",
    )


def add_run_options(parser: argparse.ArgumentParser, several: bool = False) -> None:
    """k, the range of site numbers, suppression, seed: what is the same for every combination."""
    group = parser.add_argument_group("run")
    least = "the least size of a released class"
    if several:
        group.add_argument(
            "-k", metavar="K,K", type=numbers(1), default=[5], help=f"{least}; several with commas (default: 5)"
        )
    else:
        group.add_argument("-k", metavar="K", type=whole(1), default=5, help=f"{least} (default: %(default)s)")
    group.add_argument(
        "--range-step",
        metavar="PERCENT",
        type=percent,
        default=10.0,
        help="distance of the site numbers from each other, in percent of the approximated one (default: 10)",
    )
    group.add_argument(
        "--range-reach",
        metavar="N",
        type=whole(0),
        default=2,
        help="how many site numbers to each side; 0 = only the approximated one (default: %(default)s)",
    )
    group.add_argument(
        "--no-global-suppression",
        action="store_true",
        help="keep classes that are below k in the whole file until the regions are made",
    )
    group.add_argument(
        "--pareto",
        metavar="A,B",
        type=names,
        default=[],
        help="measures that decide about dominance, or the name of a preset: usual (suppression and place) or thesis "
        "(default: usual)",
    )
    group.add_argument(
        "--random-seed", metavar="N", type=whole(0), default=0, help="seed of all random draws (default: %(default)s)"
    )
    group.add_argument(
        "--workers", metavar="N", type=whole(0), default=0, help="threads; 0 = as many as pay (default: %(default)s)"
    )


def add_output_options(parser: argparse.ArgumentParser) -> None:
    """Where results and progress go."""
    group = parser.add_argument_group("output")
    group.add_argument("--out", metavar="DIR", help="folder for the results; an earlier run in it is replaced")
    group.add_argument("--json", action="store_true", help="print the results as JSON")
    group.add_argument("--quiet", action="store_true", help="no progress and no remarks")


def load(options: argparse.Namespace, progress: Progress, releasing: bool = True) -> Loaded:
    """Read both files and count the classes. ``releasing``: all columns are needed, not only those that are counted."""
    from vbas_desktop.files.generalise import as_plain, check_values, relevant
    from vbas_desktop.files.problem import build_problem

    check_columns(options)
    groupings = read_groupings(options)
    needed = None if releasing else {options.region_column, *options.quasi_identifiers}
    table, regions = read(options, Span(progress, 0.0, 0.9), needed)
    used = relevant(groupings, options.quasi_identifiers)
    problem = build_problem(
        table,
        regions,
        region_column=options.region_column,
        quasi_identifiers=tuple(options.quasi_identifiers),
        k=options.k,
        unknown_regions=options.unknown_regions,
        groupings=used,
        progress=Span(progress, 0.9, 1.0),
    )
    # The groups themselves are kept, so that the run can be repeated without the file that named them.
    options.groupings = as_plain(used)
    remarks = check_values(groupings, table, options.quasi_identifiers)
    return Loaded(table, replace(problem, findings=(*problem.findings, *remarks)))


def read_groupings(options: argparse.Namespace) -> tuple[Grouping, ...]:
    """The groupings that the options name, or those that an earlier run kept."""
    from vbas_desktop.files.generalise import from_plain, read_generalisation

    kept = getattr(options, "groupings", None)
    if kept is not None:
        return from_plain(kept)
    return tuple(grouping for choice in getattr(options, "generalise", []) for grouping in read_generalisation(choice))


def read(
    options: argparse.Namespace, progress: Progress, columns: Collection[str] | None = None
) -> tuple[RecordTable, Regions]:
    """Read both files, of the records these columns or all; the small one first, so that its mistakes show at once."""
    from vbas_desktop.files.records import load_records
    from vbas_desktop.files.regions import RegionOptions, load_regions

    region_options = RegionOptions(
        id_column=options.id_column,
        x_column=options.x_column,
        y_column=options.y_column,
        coordinates=options.coordinates,
        delimiter=delimiter_of(options.regions_delimiter),
        encoding=options.regions_encoding,
        layer=options.layer,
        # Runs that were kept before this option was there do not tell it.
        decimal=getattr(options, "regions_decimal", "auto"),
    )
    record_options = reading_of(options)
    regions = load_regions(options.regions, region_options, Span(progress, 0.0, 0.1))
    table = load_records(options.records, record_options, Span(progress, 0.1, 1.0), columns)
    if columns is not None and not {*columns, *options.identifiers} <= {*table.dialect.header}:
        # A wrong name, or a file without names? All columns are needed to tell.
        table = load_records(options.records, record_options, Span(progress, 0.1, 1.0))
    for name in options.identifiers:
        table.check_name(name)
    return table, regions


def check_columns(options: argparse.Namespace) -> None:
    """No column can have two roles."""
    roles = {"--quasi-identifiers": options.quasi_identifiers, "--identifiers": options.identifiers}
    for option, chosen in roles.items():
        if options.region_column in chosen:
            raise UsageError(f"“{options.region_column}” is the region column; take it out of {option}.")
    both = [name for name in options.identifiers if name in options.quasi_identifiers]
    if both:
        raise UsageError(f"“{both[0]}” is both a quasi-identifier and an identifier; choose one.")


def request_of(options: argparse.Namespace, problem: Problem, **approaches: Any) -> Request:
    """One combination of approaches, by component, with the options that are the same for all."""
    from vbas_desktop.domain.problem import Request

    return Request(
        problem=problem,
        **approaches,
        pareto_measures=pareto_measures(options),
        allowed_loss_percent=allowed_loss_of(options),
        global_suppression=not options.no_global_suppression,
        range_step_percent=options.range_step,
        range_reach=options.range_reach,
        random_seed=options.random_seed,
        workers=options.workers,
    )


def pareto_measures(options: argparse.Namespace) -> tuple[str, ...]:
    """The measures that decide about dominance; the name of a preset stands for those in it."""
    from vbas_desktop.approaches.presets import PRESETS, preset

    found = (name for given in options.pareto for name in (preset(given) if given in PRESETS else (given,)))
    return tuple(dict.fromkeys(found))


def allowed_loss_of(options: argparse.Namespace) -> float:
    """The share of the records that may be suppressed, in percent; of several the first."""
    from vbas_desktop.approaches.site_number.limit import LimitSiteNumber
    from vbas_desktop.domain.errors import InputError

    declared = next(each for each in LimitSiteNumber.parameters() if each.name == "allowed_loss_percent")
    given = getattr(options, "allowed_loss", None)
    given = given[0] if isinstance(given, list) else given
    try:
        return float(declared.default if given is None else declared.parse(given))
    except InputError as error:
        raise UsageError(str(error)) from None


def in_force(options: argparse.Namespace) -> dict[str, Any]:
    """Every option that decides about the result, as plain data by the names of the command line."""
    return {name: value for name, value in sorted(vars(options).items()) if name not in _NOT_SETTINGS}


def restored(settings: Mapping[str, Any]) -> argparse.Namespace:
    """The options of an earlier run from what `in_force` kept: enough to load and run again."""
    return argparse.Namespace(**settings)
