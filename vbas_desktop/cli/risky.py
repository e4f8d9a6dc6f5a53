"""Find the combinations of values that fewer than k records share, and coarsen columns until none is left.

For tables without geography, and to find out which columns are quasi-identifiers at all. Values are hidden unless
asked for. With --apply, the columns are coarsened step by step and the result is written to --out and verified.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from vbas_desktop.model.errors import UsageError, VerificationFailed
from vbas_desktop.model.words import counted
from vbas_desktop.settings.forms import names_in
from vbas_desktop.settings.writing import Writing

from .arguments import Once, add_settings, whole
from .options import (
    add_reading_options,
    add_replace_option,
    check_output_file,
    check_output_folder,
    reading_of,
)
from .terminal import TerminalProgress, say, say_findings, show

if TYPE_CHECKING:
    from vbas_desktop.assessment.risky.found import Search
    from vbas_desktop.assessment.risky.loop import Coarsener
    from vbas_desktop.assessment.risky.table import Table
    from vbas_desktop.model.records import RecordTable

EXAMPLE = """Examples:
  vbas risky sample_data/records.csv --columns age,sex,marital_status,diagnosis -k 3
  vbas risky sample_data/records.csv --columns age,sex,marital_status,diagnosis -k 3 --apply --out coarsened"""

_STRATEGY_HELP = (
    "gentle: suppress few records or group values, one change a step, and empty a column last; cover: coarsen few "
    "columns that hit every combination; paper: all that occur in one (default: %(default)s)"
)
_NUMBERS_HELP = (
    "numbers without a rule: null empties the column, pairs joins neighbouring values (default: null with the strategy "
    "paper, otherwise pairs)"
)
_GENTLY_SUPPRESSED = 0.01


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("file", metavar="FILE", help="the file to search (CSV, also compressed), or an address")
    parser.add_argument(
        "--columns",
        action=Once,
        metavar="A,B",
        default="",
        help="columns to search, separated by commas (default: all)",
    )
    parser.add_argument("-k", type=whole(1), default=3, help="fewer records than this single people out (default: 3)")
    parser.add_argument(
        "--max-size", type=whole(1), metavar="M", help="search combinations of at most M columns (default: all sizes)"
    )
    parser.add_argument("--domain-rules", metavar="F", help="CSV feature,type,option: combinations that may stay")
    parser.add_argument("--filter-rules", metavar="F", help="CSV feature,rule: how a column is coarsened, in order")
    parser.add_argument(
        "--reference",
        action="append",
        metavar="F",
        default=[],
        help="public table (file or address): values that are rare there are risky, too (repeatable: rare in any)",
    )
    parser.add_argument("--strategy", choices=("gentle", "cover", "paper"), default="gentle", help=_STRATEGY_HELP)
    parser.add_argument(
        "--suppress",
        type=float,
        metavar="SHARE",
        help="share of the records, such as 0.02, that may be suppressed rather than empty a column "
        f"(default: {_GENTLY_SUPPRESSED} with the strategy gentle, otherwise 0)",
    )
    parser.add_argument(
        "--trim-divisor",
        type=whole(1),
        metavar="N",
        default=3,
        help="without a rule, texts lose the length of the shortest one divided by N (default: 3)",
    )
    parser.add_argument("--numbers", choices=("null", "pairs"), help=_NUMBERS_HELP)
    parser.add_argument("--apply", action="store_true", help="coarsen until nothing risky is left")
    parser.add_argument(
        "--allow-exempted",
        action="store_true",
        help="write the result even if domain rules leave it less than k-anonymous",
    )
    add_settings(parser, Writing)
    parser.add_argument("--show-values", action="store_true", help="list the values as well (they may identify people)")
    parser.add_argument(
        "--codebook",
        metavar="F",
        help="table column,value,label: what codes mean, told with --show-values",
    )
    parser.add_argument("--most", type=int, default=200, metavar="N", help="list at most N combinations (default: 200)")
    parser.add_argument(
        "--scores", metavar="F", help="write in how many of them each record is (CSV record,combinations)"
    )
    add_reading_options(parser, "FILE")
    parser.add_argument("--out", metavar="DIR", help="folder for the coarsened file and its log (with --apply)")
    add_replace_option(parser)
    parser.add_argument("--json", action="store_true", help="print the result as JSON")
    parser.add_argument("--quiet", action="store_true", help="no progress")


def run(options: argparse.Namespace) -> int:
    """Search, and coarsen where asked."""
    from vbas_desktop.assessment.risky.loop import Plan
    from vbas_desktop.assessment.risky.rules import read_domain_rules, read_filter_rules, unknown_features
    from vbas_desktop.io.databases.records import load_records_at
    from vbas_desktop.jobs.risky import RiskyJob

    if options.suppress is None:
        options.suppress = _GENTLY_SUPPRESSED if options.strategy == "gentle" else 0.0
    _check(options)
    progress = TerminalProgress(options.quiet)
    records = load_records_at(options.file, reading_of(options), progress)
    dropped = Writing.from_options(vars(options)).identifiers
    for name in dropped:
        records.check_name(name)
    columns = names_in(options.columns) or tuple(name for name in records.dialect.header if name not in dropped)
    domain = read_domain_rules(options.domain_rules) if options.domain_rules else ()
    filters = read_filter_rules(options.filter_rules) if options.filter_rules else ()
    for name in unknown_features([*domain, *filters], columns):
        say(f"hint: there is no column “{name}”; its rules do nothing.")
    plan = Plan(
        options.k,
        options.strategy,
        domain,
        filters,
        options.suppress,
        trim_divisor=options.trim_divisor,
        numbers=options.numbers,
    )
    references = tuple(map(Path, options.reference))
    coarsener = RiskyJob(records, columns, plan, references).execute(progress)
    say_findings(records.findings)
    if options.apply:
        _coarsen(options, coarsener, records, progress)
    else:
        _search(options, coarsener, progress)
    return 0


def _check(options: argparse.Namespace) -> None:
    from vbas_desktop.assessment.risky.output import COARSENED
    from vbas_desktop.io.databases.address import is_address

    if options.out and not options.apply:
        raise UsageError("--out goes with --apply")
    if options.scores and is_address(options.file):
        raise UsageError("--scores needs a record file: records behind an address have no numbers")
    if options.scores and options.apply:
        raise UsageError("--scores goes without --apply")
    if options.codebook and not options.show_values:
        raise UsageError("--codebook goes with --show-values")
    if not 0.0 <= options.suppress < 1.0:
        raise UsageError("--suppress is a share from 0 to below 1, such as 0.02")
    if options.scores:
        check_output_file(options, Path(options.scores))
    check_output_folder(options, COARSENED)


def _search(options: argparse.Namespace, coarsener: Coarsener, progress: TerminalProgress) -> None:
    from vbas_desktop.assessment.risky.found import write_scores
    from vbas_desktop.assessment.risky.output import search_dict
    from vbas_desktop.io.generalise import read_codebook

    labels = read_codebook(options.codebook) if options.codebook else None
    table, plan = coarsener.state.table, coarsener.plan
    search = coarsener.search(progress, options.max_size, first_level_only=False)
    if options.scores:
        write_scores(Path(options.scores), table, search, progress)
    progress.close()
    if options.json:
        found = search_dict(table, plan.k, search, options.show_values, labels=labels)
        show(json.dumps(found, ensure_ascii=False))
    else:
        _show_search(table, plan.k, search, options.show_values, options.most, labels)


def _coarsen(
    options: argparse.Namespace, coarsener: Coarsener, records: RecordTable, progress: TerminalProgress
) -> None:
    from vbas_desktop.assessment.risky.output import NotVerified, log_dict, write_coarsened

    coarsener.run(progress)
    log = log_dict(coarsener)
    if options.out:
        if not log["k_anonymous"] and not options.allow_exempted:
            passed = counted(log["exempted"], "risky combination")
            why = f"domain rules let {passed} pass, so the searched columns would not be {coarsener.plan.k}-anonymous"
            raise VerificationFailed(f"Nothing was written: {why}. --allow-exempted writes them all the same.")
        form = Writing.from_options(vars(options))
        try:
            log = write_coarsened(coarsener, records, Path(options.out), form, progress)
        except NotVerified as error:
            raise VerificationFailed(str(error)) from None
        progress.close()
        _warn_of_unsearched(records.dialect.header, {*coarsener.state.table.columns, *form.identifiers})
    progress.close()
    if options.json:
        show(json.dumps(log, ensure_ascii=False))
    else:
        _show_log(coarsener, options.out)
    if not options.out:
        say("Nothing was written. Name a folder for the coarsened file with --out.")


def _warn_of_unsearched(header: Sequence[str], covered: Collection[str]) -> None:
    """Say which columns were written that k does not cover."""
    if unsearched := [name for name in header if name not in covered]:
        say(
            f"warning: written without having been searched: {', '.join(unsearched)}. With these, people may still "
            "stand out. Search them too (--columns), or leave them out (--identifiers)."
        )


def _show_search(
    table: Table, k: int, search: Search, values: bool, most: int, labels: Mapping[str, Mapping[str, str]] | None
) -> None:
    from vbas_desktop.assessment.risky.found import occurrences
    from vbas_desktop.assessment.risky.output import search_dict

    result = search_dict(table, k, search, values, most, labels)
    show(f"{counted(result['records'], 'record')}, k = {k}, smallest class over all columns: {result['anonymity']}")
    for level in search.levels:
        show(f"size {level.size}: {counted(level.number, 'minimal risky combination')}")
    if search.number:
        occurs = occurrences(found for level in search.levels for found in level.found).most_common()
        show("columns by how often they occur: " + ", ".join(f"{table.columns[c]} {n:,}" for c, n in occurs))
        hit = result["records_in_combinations"]
        most_of_all = int(search.scores.max())
        show(f"{counted(hit, 'record is', 'records are')} in at least one of them, at most in {most_of_all:,}")
    elif not search.exempted and search.complete:
        show(f"No combination of values is shared by fewer than {counted(k, 'record')}.")
    for each in result["combinations"]:
        shown = each.get("labelled") or each.get("values", ["·"] * each["size"])
        pairs = " + ".join(
            f"{name}={value}" if values else name for name, value in zip(each["columns"], shown, strict=True)
        )
        show(f"  {each['count']:>6,}  {pairs}")
    if search.number > most:
        show(f"  … and {search.number - most:,} more (--most, or --json for all)")
    if search.exempted:
        say(f"warning: domain rules let {counted(search.exempted, 'risky combination')} pass.")
    if search.thresholds is not None and search.thresholds.limitation:
        say(f"warning: {search.thresholds.limitation}.")
    if not search.complete:
        say(f"warning: the search is not complete: {search.why_incomplete}.")


def _show_detail(coarsener: Coarsener) -> None:
    """Show how much detail is left, column by column."""
    from vbas_desktop.assessment.risky.detail import measure_detail

    detail = measure_detail(coarsener.start.table, coarsener.state.table)
    lost = f"{100 * detail.information_loss:.0f} % of the information is lost"
    show(f"{lost} (mean over the columns); distinct values before → after:")
    for column in detail.columns:
        show(f"  {column.in_words()}")


def _show_log(coarsener: Coarsener, out: str | None) -> None:
    from vbas_desktop.assessment.risky.output import log_dict

    log = log_dict(coarsener)
    for number, step in enumerate(coarsener.steps, 1):
        show(f"{number}. {counted(step.combinations, 'risky combination')} of {counted(step.size, 'column')}")
        for change in step.changes:
            what = (
                f"{change.column}: {change.words}, {change.values_before:,} → {counted(change.values_after, 'value')}"
            )
            show(f"   {what}" if change.column else f"   {counted(change.records, 'record')} suppressed")
    show(f"smallest class in the searched columns: {log['anonymity']}")
    _show_detail(coarsener)
    if log["suppressed_records"]:
        show(f"{counted(log['suppressed_records'], 'record')} suppressed in all")
    if not log["k_anonymous"]:
        passed = counted(log["exempted"], "risky combination")
        say(f"warning: the searched columns are NOT {coarsener.plan.k}-anonymous: domain rules let {passed} pass.")
    if out:
        say(f"Written to {out}, read back and recounted. Hand on anonymized.csv alone: internal/ stays.")
