"""Handle the k-outliers of a file: classes of records that share their quasi-identifiers with fewer than k.

They are deleted, generalised by hierarchies, merged with the nearest class, or filled up with made-up records. The
rows of the written file are shuffled, and it is read back and counted before it takes its place. Which rows were made
up, and which record has which key, is in files next to it, which must stay in the organisation. Without --out the
outliers are counted.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from vbas_desktop.model.errors import UsageError
from vbas_desktop.settings.forms import names_in, pairs_in
from vbas_desktop.settings.writing import HandledColumns, Writing

from .arguments import Once, add_settings, whole
from .options import add_reading_options, add_replace_option, check_output_file, reading_of
from .representability import add_distance_option, add_hierarchy_options, coding_of
from .terminal import TerminalProgress, say, say_findings, show

if TYPE_CHECKING:
    from vbas_desktop.assessment.representability.first_step import FirstStep

EXAMPLE = """Example:
  vbas outliers sample_data/people.csv --quasi-identifiers postcode,sex,age -k 3 --handle merge --out merged.csv"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    from vbas_desktop.assessment.representability.handling import handlings
    from vbas_desktop.assessment.representability.made_up import MEAN, METHODS

    parser.add_argument("file", metavar="FILE", help="the record file (CSV, also compressed, or Parquet)")
    parser.add_argument(
        "--quasi-identifiers", action=Once, metavar="A,B", required=True, help="columns, separated by commas"
    )
    parser.add_argument("-k", type=whole(1), default=5, help="a class of fewer records is an outlier (default: 5)")
    _add_first_step_options(parser)
    reasons = ". ".join(f"{name}: {' '.join(kind.reasons)[:-1]}" for name, kind in handlings().items())
    parser.add_argument(
        "--handle",
        choices=list(handlings()),
        default="delete",
        help=f"what to do (default: delete). What speaks for each: {reasons}",
    )
    parser.add_argument("--everywhere", action="store_true", help="generalise a column in every record or in none")
    parser.add_argument(
        "--with-closest",
        action="store_true",
        help="generalise each small class together with the semantically closest class of at least k records, instead "
        "of small classes among themselves first",
    )
    parser.add_argument(
        "--smallest-sample", metavar="N", type=int, default=1, help="delete: refuse if fewer records would remain"
    )
    parser.add_argument(
        "--sensitive",
        action=Once,
        metavar="A,B",
        default="",
        help="fabricate: columns that get the values of --fill in made-up records",
    )
    parser.add_argument(
        "--fill",
        choices=METHODS,
        default=MEAN,
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
    parser.add_argument("--key", metavar="NAME", help="fabricate: column that gets a new key for every made-up record")
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
    add_settings(parser, Writing, HandledColumns)
    add_hierarchy_options(parser)
    add_distance_option(parser)
    add_reading_options(parser, "FILE")
    parser.add_argument(
        "--out", metavar="FILE", help="the file to write: CSV, or Parquet with text columns if it ends in .parquet"
    )
    add_replace_option(parser)
    parser.add_argument("--quiet", action="store_true", help="no progress")


def _add_first_step_options(parser: argparse.ArgumentParser) -> None:
    from vbas_desktop.assessment.representability.first_step import MODES

    parser.add_argument(
        "--first-step",
        choices=list(MODES),
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
        type=whole(1),
        help="records of a class that is large enough for the first step (default: 2 if it is partial, k − 1 if it is "
        "non-surjective)",
    )


def _first_step_of(options: argparse.Namespace) -> FirstStep:
    from vbas_desktop.assessment.representability.first_step import BIJECTIVE, SURJECTIVE, FirstStep

    message = "“{}” gives no start level."
    levels = pairs_in(options.start_level, int, message, "Write COLUMN=1.", "start-level")
    mode = options.first_step or (SURJECTIVE if levels else BIJECTIVE)
    return FirstStep(mode, options.first_step_size or 0, levels)


def _check_fabrication(options: argparse.Namespace) -> None:
    """Refuse options of made-up records where none are made up."""
    from vbas_desktop.assessment.representability.first_step import NON_SURJECTIVE
    from vbas_desktop.assessment.representability.made_up import MEAN, POPULATION

    makes_up = options.handle == "fabricate" or options.first_step == NON_SURJECTIVE
    if options.population and not (makes_up and options.sensitive):
        raise UsageError("--population goes with --handle fabricate and --sensitive")
    if (options.fill != MEAN or options.fill_value) and not (makes_up and options.sensitive):
        raise UsageError("--fill and --fill-value go with --handle fabricate and --sensitive")
    if options.fill == POPULATION and not options.population:
        raise UsageError("--fill population needs --population FILE")


def run(options: argparse.Namespace) -> int:
    """Load, handle, write, verify."""
    from vbas_desktop.assessment.representability.handled_columns import class_counts_file, index_file
    from vbas_desktop.assessment.representability.handling import handlings
    from vbas_desktop.assessment.representability.made_up import Filling
    from vbas_desktop.assessment.representability.outlier_file import companion_files, custody_file
    from vbas_desktop.assessment.representability.vector import Choices
    from vbas_desktop.jobs.any_file import OutlierJob

    settings = {
        "delete": {"smallest_sample": options.smallest_sample},
        "generalise": {"everywhere": options.everywhere, "with_closest": options.with_closest},
    }
    if options.everywhere and options.with_closest:
        raise UsageError("--everywhere and --with-closest exclude each other")
    _check_fabrication(options)
    values = pairs_in(options.fill_value, str, "“{}” gives no value.", "Write COLUMN=VALUE.", "fill-value")
    added = HandledColumns.from_options(vars(options))
    if options.out:
        for path in (Path(options.out), *companion_files(Path(options.out), added)):
            check_output_file(options, path)
    columns, sensitive = names_in(options.quasi_identifiers), names_in(options.sensitive)
    job = OutlierJob(
        Path(options.file),
        Choices(options.k, options.key or "", columns, sensitive),
        handlings()[options.handle](**settings.get(options.handle, {})),
        Path(options.out) if options.out else None,
        coding_of(options),
        Writing.from_options(vars(options)),
        reading_of(options),
        Path(options.population) if options.population else None,
        options.replace,
        _first_step_of(options),
        Filling(options.fill, values),
        Path(options.keep_records) if options.keep_records else None,
        Path(options.drop_records) if options.drop_records else None,
        added,
    )
    with TerminalProgress(options.quiet) as progress:
        found = job.execute(progress)
    say_findings(found.findings)
    show(found.text)
    if found.treated is not None:
        show(f"{options.out}: {found.treated.in_words()}")
        if found.treated.added:
            say(f"Which rows were made up is listed in {custody_file(Path(options.out))}. Do not hand that on.")
        if added.record_key is not None:
            say(f"Which record has which key is listed in {index_file(Path(options.out))}. Do not hand that on.")
        if added.aggregate:
            say(f"The number of records of each class is listed in {class_counts_file(Path(options.out))}.")
    return 0
