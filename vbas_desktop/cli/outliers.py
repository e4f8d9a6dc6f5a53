"""Handle the k-outliers of a file: classes of records that share their quasi-identifiers with fewer than k.

They are deleted, generalised by hierarchies, merged with the nearest class, or filled up with made-up records. The
rows of the written file are shuffled, and it is read back and counted before it takes its place. Which rows were made
up, and which record has which key, is in files next to it, which must stay in the organisation. Without --out the
outliers are counted.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from vbas_desktop.analysis.outliers import first_step, synthetic_rows
from vbas_desktop.analysis.outliers.added_columns import get_class_counts_path, get_key_index_path
from vbas_desktop.analysis.outliers.treatments import list_treatments
from vbas_desktop.analysis.outliers.write import get_synthetic_rows_path, list_companion_files
from vbas_desktop.analysis.representability.report import RepresentabilityOptions
from vbas_desktop.app.outliers import OutlierRequest, treat_outliers
from vbas_desktop.model.findings import UsageError
from vbas_desktop.settings.codecs import parse_names, parse_pairs
from vbas_desktop.settings.writing import AddedColumns, RecordWriting

from . import arguments, terminal
from .options import add_reading_options, add_replace_option, build_reading, check_output_file
from .representability import add_distance_option, add_hierarchy_options, build_generalisation

EXAMPLE = """Example:
  vbas outliers sample_data/people.csv --quasi-identifiers postcode,sex,age -k 3 --handle merge --out merged.csv"""


def configure(parser: arguments.OptionParser) -> None:
    """Declare the options."""
    parser.add_argument(
        "file", metavar="FILE", help="the record file (CSV, also compressed, or Parquet)"
    )
    parser.add_argument(
        "--quasi-identifiers",
        action=arguments.Once,
        metavar="A,B",
        required=True,
        help="columns, separated by commas",
    )
    parser.add_argument(
        "-k",
        type=arguments.whole(1),
        default=5,
        help="a class of fewer records is an outlier (default: 5)",
    )
    _add_first_step_options(parser)
    reasons = ". ".join(
        f"{name}: {' '.join(kind.reasons)[:-1]}" for name, kind in list_treatments().items()
    )
    parser.add_argument(
        "--handle",
        choices=list(list_treatments()),
        default="delete",
        help=f"what to do (default: delete). What speaks for each: {reasons}",
    )
    parser.add_argument(
        "--everywhere", action="store_true", help="generalise a column in every record or in none"
    )
    parser.add_argument(
        "--with-closest",
        action="store_true",
        help="generalise each small class together with the semantically closest class of at least k records, instead "
        "of small classes among themselves first",
    )
    parser.add_argument(
        "--smallest-sample",
        metavar="N",
        type=int,
        default=1,
        help="delete: refuse if fewer records would remain",
    )
    parser.add_argument(
        "--sensitive",
        action=arguments.Once,
        metavar="A,B",
        default="",
        help="fabricate: columns that get the values of --fill in made-up records",
    )
    parser.add_argument(
        "--fill",
        choices=synthetic_rows.METHODS,
        default=synthetic_rows.MEAN,
        help="fabricate: sensitive values of made-up records: mean or median of numbers (of other columns the most "
        "frequent value), mode (the most frequent value), or population (those of a random record of --population); of "
        "the whole file or of --population, never of the class (default: mean)",
    )
    parser.add_argument(
        "--fill-value",
        metavar="COLUMN=TEXT",
        action="append",
        default=[],
        help="fabricate: value of a sensitive column in made-up records, such as the central value that published "
        "evidence has for the population; repeatable",
    )
    parser.add_argument(
        "--population",
        metavar="FILE",
        help="fabricate: record file of a larger population, from which --sensitive values come (default: FILE itself)",
    )
    parser.add_argument(
        "--key", metavar="NAME", help="fabricate: column that gets a new key for every made-up record"
    )
    parser.add_argument(
        "--keep-records",
        metavar="FILE",
        help="table of required combinations, with names of columns on line 1: only records that have one of them are "
        "considered (default: all records)",
    )
    parser.add_argument(
        "--drop-records",
        metavar="FILE",
        help="table of unwanted combinations: records that have one of them are not considered (default: none)",
    )
    arguments.add_options(parser, RecordWriting, AddedColumns)
    add_hierarchy_options(parser)
    add_distance_option(parser)
    add_reading_options(parser, "FILE")
    parser.add_argument(
        "--out",
        metavar="FILE",
        help="the file to write: CSV, or Parquet with text columns if it ends in .parquet",
    )
    add_replace_option(parser)
    parser.add_argument("--quiet", action="store_true", help="hide progress")


def _add_first_step_options(parser: arguments.OptionParser) -> None:
    parser.add_argument(
        "--first-step",
        choices=list(first_step.MODES),
        help="what happens before: bijective (nothing), surjective (classes are grouped by --start-level), partial "
        "(classes of fewer than --first-step-size records are left out), non-surjective (classes of at least "
        "--first-step-size records get made-up records) (default: bijective, with --start-level surjective)",
    )
    parser.add_argument(
        "--start-level",
        metavar="COLUMN=N",
        action="append",
        default=[],
        help="level of a column’s hierarchy to start from, in all records; repeatable",
    )
    parser.add_argument(
        "--first-step-size",
        metavar="N",
        type=arguments.whole(1),
        help="records of a class that is large enough for the first step (default: 2 if it is partial, k − 1 if it is "
        "non-surjective)",
    )


def _first_step_of(options: argparse.Namespace) -> first_step.FirstStep:
    message = "“{}” gives no start level."
    levels = parse_pairs(options.start_level, int, message, "Write COLUMN=1.", "start-level")
    mode: Any = options.first_step or (first_step.SURJECTIVE if levels else first_step.BIJECTIVE)
    return first_step.FirstStep(mode=mode, size=options.first_step_size or 0, start_levels=levels)


def _check_fabrication(options: argparse.Namespace) -> None:
    """Refuse options of made-up records where none are made up."""
    makes_up = options.handle == "fabricate" or options.first_step == first_step.NON_SURJECTIVE
    if options.population and not (makes_up and options.sensitive):
        raise UsageError("--population goes with --handle fabricate and --sensitive")
    if (options.fill != synthetic_rows.MEAN or options.fill_value) and not (
        makes_up and options.sensitive
    ):
        raise UsageError("--fill and --fill-value go with --handle fabricate and --sensitive")
    if options.fill == synthetic_rows.POPULATION and not options.population:
        raise UsageError("--fill population needs --population FILE")


def run(options: argparse.Namespace) -> int:
    """Load, handle, write, verify."""
    settings = {
        "delete": {"smallest_sample": options.smallest_sample},
        "generalise": {"everywhere": options.everywhere, "with_closest": options.with_closest},
    }
    if options.everywhere and options.with_closest:
        raise UsageError("--everywhere and --with-closest exclude each other")
    _check_fabrication(options)
    values = parse_pairs(
        options.fill_value, str, "“{}” gives no value.", "Write COLUMN=VALUE.", "fill-value"
    )
    added = AddedColumns.from_dict(vars(options))
    if options.out:
        for path in (Path(options.out), *list_companion_files(Path(options.out), added)):
            check_output_file(options, path)
    columns = parse_names(options.quasi_identifiers)
    sensitive = parse_names(options.sensitive)
    request = OutlierRequest(
        Path(options.file),
        RepresentabilityOptions(options.k, options.key or "", columns, sensitive),
        list_treatments()[options.handle](**settings.get(options.handle, {})),
        Path(options.out) if options.out else None,
        build_generalisation(options),
        RecordWriting.from_dict(vars(options)),
        build_reading(options),
        Path(options.population) if options.population else None,
        options.replace,
        _first_step_of(options),
        synthetic_rows.SensitiveFilling(method=options.fill, values=values),
        Path(options.keep_records) if options.keep_records else None,
        Path(options.drop_records) if options.drop_records else None,
        added,
    )
    with terminal.TerminalProgress(options.quiet) as progress:
        result = treat_outliers(request, progress)
    terminal.print_findings(result.findings)
    terminal.show(result.text)
    if result.report is not None:
        terminal.show(f"{options.out}: {result.report.in_words()}")
        if result.report.fabricated:
            row_list = get_synthetic_rows_path(Path(options.out))
            terminal.say(f"Which rows were made up is listed in {row_list}. Do not hand that on.")
        if added.record_key is not None:
            terminal.say(
                f"Which record has which key is listed in {get_key_index_path(Path(options.out))}. Do not hand that on."
            )
        if added.aggregate:
            terminal.say(
                f"The number of records of each class is listed in {get_class_counts_path(Path(options.out))}."
            )
    return 0
