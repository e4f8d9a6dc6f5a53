"""Read any CSV back and say whether it is k-anonymous.

Counts the records of every region and combination of quasi-identifier values with a reader of its own. The answer is
one JSON object; its anonymity_vector tells how many classes there are of each size that occurs. The exit code is 0 if
every combination that occurs has at least k records and meets the criteria for its sensitive values, and no criterion
of the policy is missed, if one is named; else 3.
"""

from __future__ import annotations

import argparse
import json

from vbas_desktop.model.words import agreeing, counted
from vbas_desktop.settings.declaration import setting_of
from vbas_desktop.settings.forms import names_in
from vbas_desktop.settings.release import ReleaseOptions
from vbas_desktop.settings.run import Columns
from vbas_desktop.settings.sensitive import Harm, check_sensitive, sensitive_columns

from .arguments import Once, add_setting, add_settings, group_of, whole
from .options import add_reading_options, reading_of, say_policy
from .terminal import TerminalProgress, say, say_findings, show

EXAMPLE = """Example:
  vbas verify result/release/anonymized.csv --quasi-identifiers age,sex --region-column tract -k 5"""
NOT_ANONYMOUS = 3


def configure(parser: argparse.ArgumentParser) -> None:
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
    parser.add_argument("--region-column", required=True, metavar="NAME", help="the column that names the region")
    parser.add_argument("-k", type=whole(1), default=5, metavar="K", help="the required anonymity (default: 5)")
    add_setting(group_of(parser, "sensitive values"), setting_of(Columns, "sensitive"))
    add_settings(parser, Harm)
    add_setting(parser, setting_of(ReleaseOptions, "policy"))
    add_reading_options(parser, "FILE")
    parser.add_argument("--json", action="store_true", help="print JSON (it always does; kept for scripts)")
    parser.add_argument("--quiet", action="store_true", help="no progress and no sentence, only the JSON object")


def run(options: argparse.Namespace) -> int:
    """Check the file; 0 if it is k-anonymous, 3 if not."""
    from vbas_desktop.io.databases.address import record_place
    from vbas_desktop.jobs.verify import VerifyJob

    names = names_in(options.quasi_identifiers)
    harm, columns = Harm.from_options(vars(options)), tuple(options.sensitive)
    check_sensitive(columns, harm)
    sensitive = sensitive_columns(columns, harm)
    place, how = record_place(options.file), reading_of(options)
    job = VerifyJob(place, names, options.region_column, options.k, how, sensitive, options.policy)
    with TerminalProgress(options.quiet) as progress:
        found = job.execute(progress)
    if not options.quiet:
        say_findings(found.findings, hints=True)
    show(json.dumps(found.as_dict()))
    if not options.quiet:
        too_few = f"{counted(found.violating_records, 'record is', 'records are')} in classes that are too small"
        too_small = f"not {options.k}-anonymous: {too_few}."
        say(f"{options.file} is {f'{options.k}-anonymous.' if not found.violating_records else too_small}")
        for each in found.found.sensitive:
            for criterion, (classes, records) in each.missing.items():
                lacking = (
                    f"{counted(records, 'record is', 'records are')} in {counted(classes, 'class', 'classes')} that"
                )
                miss = "no class misses" if not classes else f"{lacking} {agreeing(classes, 'misses', 'miss')}"
                say(f"{each.column}: {miss} {criterion}.")
        if found.policy is not None:
            say_policy(found.policy)
    return 0 if found.ok else NOT_ANONYMOUS
