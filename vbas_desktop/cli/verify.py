"""Read any CSV back and say whether it is k-anonymous.

Counts the records of every region and combination of quasi-identifier values with a reader of its own. The answer is
one JSON object; its anonymity_vector tells how many classes there are of each size that occurs. The exit code is 0 if
every combination that occurs has at least k records, else 3.
"""

from __future__ import annotations

import argparse
import json

from vbas_desktop.domain.errors import Finding, InputError
from vbas_desktop.domain.words import counted

from .argument_types import delimiter_of, whole
from .reading_options import add_reading_options, reading_of
from .terminal import TerminalProgress, say, show

EXAMPLE = """Example:
  vbas verify result/release/anonymized.csv --quasi-identifiers age,sex --region-column tract -k 5"""
NOT_ANONYMOUS = 3


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("file", metavar="FILE", help="the CSV file to check (may be compressed with gzip)")
    parser.add_argument(
        "--quasi-identifiers", required=True, metavar="A,B", help="the columns that others may know of a person"
    )
    parser.add_argument("--region-column", required=True, metavar="NAME", help="the column that names the region")
    parser.add_argument("-k", type=whole(1), default=5, metavar="K", help="the required anonymity (default: 5)")
    add_reading_options(parser, "FILE")
    parser.add_argument("--json", action="store_true", help="print JSON (it always does; kept for scripts)")
    parser.add_argument("--quiet", action="store_true", help="no progress and no sentence, only the JSON object")


def run(options: argparse.Namespace) -> int:
    """Check the file; 0 if it is k-anonymous, 3 if not."""
    from vbas_desktop.audit.recount import recount
    from vbas_desktop.files.records.table import line_two

    names = [name.strip() for name in options.quasi_identifiers.split(",") if name.strip()]
    _check(names, options)
    progress = TerminalProgress(options.quiet)
    try:
        category_line, said = line_two(options.file, reading_of(options), progress)
        found = recount(
            options.file,
            names,
            options.region_column,
            delimiter=delimiter_of(options.delimiter),
            encoding=options.encoding,
            category_line=category_line,
            progress=progress,
        )
    finally:
        progress.close()
    for finding in () if options.quiet else said:
        say(f"{finding.severity}: {finding}")
    violating = found.violating_records(options.k)
    show(
        json.dumps(
            {
                "k": options.k,
                "anonymity": found.anonymity,
                "records": found.records,
                "violating_records": violating,
                "ok": violating == 0,
                "regions": found.regions,
                "classes": found.classes,
                "violating_classes": found.violating_classes(options.k),
                "anonymity_vector": {str(size): number for size, number in sorted(found.vector.items())},
            }
        )
    )
    if not options.quiet:
        too_few = f"{counted(violating, 'record is', 'records are')} in classes that are too small"
        too_small = f"not {options.k}-anonymous: {too_few}."
        say(f"{options.file} is {too_small if violating else f'{options.k}-anonymous.'}")
    return 0 if violating == 0 else NOT_ANONYMOUS


def _check(names: list[str], options: argparse.Namespace) -> None:
    if not names:
        raise InputError(Finding("no-quasi-identifier", "No quasi-identifier is named.", "Name at least one column."))
    if options.region_column in names:
        message = "The region column cannot be a quasi-identifier too."
        raise InputError(Finding("region-as-quasi-identifier", message, "Name it once.", column=options.region_column))
