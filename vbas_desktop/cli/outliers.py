"""Handle the k-outliers of a file: classes of records that share their quasi-identifiers with fewer than k.

They are deleted, generalised by hierarchies, merged with the nearest class, or filled up with made-up records. The
rows of the written file are shuffled, and it is read back and counted before it takes its place. Which rows were made
up is in a file next to it, which must stay in the organisation. Without --out the outliers are counted.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from vbas_desktop.domain.errors import UsageError
from vbas_desktop.settings.forms import names_in
from vbas_desktop.settings.writing import Writing

from .arguments import Once, add_settings, whole
from .options import add_reading_options, add_replace_option, check_output_file, reading_of
from .representability import add_distance_option, add_hierarchy_options, coding_of
from .terminal import TerminalProgress, say, say_findings, show

EXAMPLE = """Example:
  vbas outliers sample_data/people.csv --quasi-identifiers postcode,sex,age -k 3 --handle merge --out merged.csv"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    from vbas_desktop.assessment.representability.handling import handlings

    parser.add_argument("file", metavar="FILE", help="the record file (CSV, also compressed, or Parquet)")
    parser.add_argument(
        "--quasi-identifiers", action=Once, metavar="A,B", required=True, help="columns, separated by commas"
    )
    parser.add_argument("-k", type=whole(1), default=5, help="a class of fewer records is an outlier (default: 5)")
    parser.add_argument("--handle", choices=list(handlings()), default="delete", help="what to do (default: delete)")
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
        help="fabricate: columns filled with the mean or the most frequent value of the whole file",
    )
    parser.add_argument(
        "--population",
        metavar="FILE",
        help="fabricate: record file of a larger population, from which --sensitive values come (default: FILE itself)",
    )
    parser.add_argument("--key", metavar="NAME", help="fabricate: column that gets a new key for every made-up record")
    add_settings(parser, Writing)
    add_hierarchy_options(parser)
    add_distance_option(parser)
    add_reading_options(parser, "FILE")
    parser.add_argument(
        "--out", metavar="FILE", help="the file to write: CSV, or Parquet with text columns if it ends in .parquet"
    )
    add_replace_option(parser)
    parser.add_argument("--quiet", action="store_true", help="no progress")


def run(options: argparse.Namespace) -> int:
    """Load, handle, write, verify."""
    from vbas_desktop.assessment.representability.handling import handlings
    from vbas_desktop.assessment.representability.outlier_file import custody_file
    from vbas_desktop.assessment.representability.vector import Choices
    from vbas_desktop.jobs.any_file import OutlierJob

    settings = {
        "delete": {"smallest_sample": options.smallest_sample},
        "generalise": {"everywhere": options.everywhere, "with_closest": options.with_closest},
    }
    if options.population and (options.handle != "fabricate" or not options.sensitive):
        raise UsageError("--population goes with --handle fabricate and --sensitive")
    if options.out:
        for path in (Path(options.out), custody_file(Path(options.out))):
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
    )
    with TerminalProgress(options.quiet) as progress:
        found = job.execute(progress)
    say_findings(found.findings)
    show(found.text)
    if found.treated is not None:
        show(f"{options.out}: {found.treated.in_words()}")
        if found.treated.added:
            say(f"Which rows were made up is listed in {custody_file(Path(options.out))}. Do not hand that on.")
    return 0
