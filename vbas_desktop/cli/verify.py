"""Read any CSV back and say whether it is k-anonymous.

Counts the records of every region and combination of quasi-identifier values with a reader of its own. The answer is
one JSON object; its anonymity_vector tells how many classes there are of each size that occurs. The exit code is 0 if
every combination that occurs has at least k records and meets the criteria for its sensitive values, and no criterion
of the policy is missed, if one is named; else 3.
"""

from __future__ import annotations

import argparse
import json

from vbas_desktop.app.verify import VerifyRequest, VerifyResult, verify_file
from vbas_desktop.io.databases.address import parse_address
from vbas_desktop.model.text import format_count, inflect
from vbas_desktop.settings.codecs import parse_names
from vbas_desktop.settings.release import ReleaseOptions
from vbas_desktop.settings.run import ColumnRoles
from vbas_desktop.settings.sensitive import SensitiveSettings, check_sensitive, sensitive_columns

from .arguments import Once, OptionParser, add_option, add_options, whole
from .options import add_reading_options, build_reading, print_policy
from .terminal import TerminalProgress, print_findings, say, show

EXAMPLE = """Example:
  vbas verify result/release/anonymized.csv --quasi-identifiers age,sex --region-column tract -k 5"""
NOT_ANONYMOUS = 3


def configure(parser: OptionParser) -> None:
    """Declare the options."""
    parser.add_argument(
        "file", metavar="FILE", help="the CSV file to check (may be compressed with gzip), or an address"
    )
    parser.add_argument(
        "--quasi-identifiers",
        action=Once,
        required=True,
        metavar="A,B",
        help="the columns that others may know about a person",
    )
    parser.add_argument(
        "--region-column", required=True, metavar="NAME", help="the column that names the region"
    )
    parser.add_argument(
        "-k", type=whole(1), default=5, metavar="K", help="the required anonymity (default: 5)"
    )
    add_option(parser.section("sensitive values"), ColumnRoles.option("sensitive"))
    add_options(parser, SensitiveSettings)
    add_option(parser, ReleaseOptions.option("policy"))
    add_reading_options(parser, "FILE")
    parser.add_argument(
        "--json", action="store_true", help="print JSON (it always does; kept for scripts)"
    )
    parser.add_argument("--quiet", action="store_true", help="show only the JSON object")


def run(options: argparse.Namespace) -> int:
    """Verify the file; return 0 if it is k-anonymous, 3 if not."""
    protection = SensitiveSettings.from_dict(vars(options))
    columns = tuple(options.sensitive)
    check_sensitive(columns, protection)
    request = VerifyRequest(
        parse_address(options.file),
        parse_names(options.quasi_identifiers),
        options.region_column,
        options.k,
        build_reading(options),
        sensitive_columns(columns, protection),
        options.policy,
    )
    with TerminalProgress(options.quiet) as progress:
        result = verify_file(request, progress)
    if not options.quiet:
        print_findings(result.findings, hints=True)
    show(json.dumps(result.as_dict()))
    if not options.quiet:
        _print_verdict(options.file, result)
    return 0 if result.ok else NOT_ANONYMOUS


def _print_verdict(file: str, result: VerifyResult) -> None:
    """Say in sentences what holds for the file, its sensitive columns and the policy."""
    if result.violating_records:
        small = format_count(result.violating_records, "record is", "records are")
        say(f"{file} is not {result.k}-anonymous: {small} in classes that are too small.")
    else:
        say(f"{file} is {result.k}-anonymous.")
    for column in result.recount.sensitive:
        for criterion, (n_classes, n_records) in column.missing.items():
            if n_classes:
                records = format_count(n_records, "record is", "records are")
                classes = format_count(n_classes, "class", "classes")
                say(
                    f"{column.column}: {records} in {classes} that {inflect(n_classes, 'misses', 'miss')} {criterion}."
                )
            else:
                say(f"{column.column}: no class misses {criterion}.")
    if result.policy is not None:
        print_policy(result.policy)
