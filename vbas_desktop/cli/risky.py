"""Find the combinations of values that fewer than k records share, and coarsen columns until none is left.

For tables without geography, and to find out which columns are quasi-identifiers at all. Values are hidden unless
asked for. With --apply, the columns are coarsened step by step and the result is written to --out and verified.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vbas_desktop.analysis.minimal_uniques.recoding import measure_detail
from vbas_desktop.analysis.minimal_uniques.recoding_loop import RecodingPlan, RecodingSession
from vbas_desktop.analysis.minimal_uniques.results import (
    SearchResult,
    count_column_occurrences,
    write_scores,
)
from vbas_desktop.analysis.minimal_uniques.rules import (
    find_unknown_features,
    read_domain_rules,
    read_filter_rules,
)
from vbas_desktop.analysis.minimal_uniques.write import (
    RECODED_FILES,
    search_as_dict,
    session_as_dict,
    write_recoded,
)
from vbas_desktop.app.risky import RiskyRequest, describe_unsearched_columns, start_recoding
from vbas_desktop.io.databases.address import is_address
from vbas_desktop.io.databases.loading import load_records_at
from vbas_desktop.io.documents.hierarchies import read_codebook
from vbas_desktop.model.findings import UsageError, VerificationFailed
from vbas_desktop.model.text import format_count
from vbas_desktop.settings.codecs import parse_names
from vbas_desktop.settings.writing import RecordWriting

from .arguments import Once, OptionParser, add_options, whole
from .options import (
    add_reading_options,
    add_replace_option,
    build_reading,
    check_output_file,
    check_output_folder,
)
from .terminal import TerminalProgress, print_findings, say, show

if TYPE_CHECKING:
    from vbas_desktop.analysis.minimal_uniques.distinct_rows import DistinctRows
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


def configure(parser: OptionParser) -> None:
    """Declare the options."""
    parser.add_argument(
        "file", metavar="FILE", help="the file to search (CSV, also compressed), or an address"
    )
    parser.add_argument(
        "--columns",
        action=Once,
        metavar="A,B",
        default="",
        help="columns to search, separated by commas (default: all)",
    )
    parser.add_argument(
        "-k", type=whole(1), default=3, help="fewer records than this single people out (default: 3)"
    )
    parser.add_argument(
        "--max-size",
        type=whole(1),
        metavar="M",
        help="search combinations of at most M columns (default: all sizes)",
    )
    parser.add_argument(
        "--domain-rules", metavar="F", help="CSV feature,type,option: combinations that may stay"
    )
    parser.add_argument(
        "--filter-rules", metavar="F", help="CSV feature,rule: how a column is coarsened, in order"
    )
    parser.add_argument(
        "--reference",
        action="append",
        metavar="F",
        default=[],
        help="public table (file or address): values that are rare there are risky, too (repeatable: rare in any)",
    )
    parser.add_argument(
        "--strategy", choices=("gentle", "cover", "paper"), default="gentle", help=_STRATEGY_HELP
    )
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
    add_options(parser, RecordWriting)
    parser.add_argument(
        "--show-values", action="store_true", help="list the values as well (they may identify people)"
    )
    parser.add_argument(
        "--codebook",
        metavar="F",
        help="table column,value,label: what codes mean, shown with --show-values",
    )
    parser.add_argument(
        "--most",
        type=int,
        default=200,
        metavar="N",
        help="list at most N sets of columns, or with --show-values at most N combinations (default: 200)",
    )
    parser.add_argument(
        "--scores",
        metavar="F",
        help="write in how many of them each record is (CSV record,combinations)",
    )
    add_reading_options(parser, "FILE")
    parser.add_argument(
        "--out", metavar="DIR", help="folder for the coarsened file and its log (with --apply)"
    )
    add_replace_option(parser)
    parser.add_argument("--json", action="store_true", help="print the result as JSON")
    parser.add_argument("--quiet", action="store_true", help="hide progress")


def run(options: argparse.Namespace) -> int:
    """Search, and coarsen where asked."""
    if options.suppress is None:
        options.suppress = _GENTLY_SUPPRESSED if options.strategy == "gentle" else 0.0
    _check(options)
    progress = TerminalProgress(options.quiet)
    records = load_records_at(options.file, build_reading(options), progress)
    dropped = RecordWriting.from_dict(vars(options)).identifiers
    for name in dropped:
        records.check_name(name)
    columns = parse_names(options.columns) or tuple(
        name for name in records.file_format.header if name not in dropped
    )
    domain = read_domain_rules(options.domain_rules) if options.domain_rules else ()
    filters = read_filter_rules(options.filter_rules) if options.filter_rules else ()
    for name in find_unknown_features([*domain, *filters], columns):
        say(f"hint: there is no column “{name}”; its rules do nothing.")
    plan = RecodingPlan(
        options.k,
        options.strategy,
        domain,
        filters,
        options.suppress,
        trim_divisor=options.trim_divisor,
        numbers=options.numbers,
    )
    references = tuple(map(Path, options.reference))
    session = start_recoding(RiskyRequest(records, columns, plan, references), progress)
    print_findings(records.findings)
    if options.apply:
        _coarsen(options, session, records, progress)
    else:
        _search(options, session, progress)
    return 0


def _check(options: argparse.Namespace) -> None:
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
    check_output_folder(options, RECODED_FILES)


def _search(options: argparse.Namespace, session: RecodingSession, progress: TerminalProgress) -> None:
    labels = read_codebook(options.codebook) if options.codebook else None
    table = session.state.table
    plan = session.plan
    search = session.search(progress, options.max_size, first_level_only=False)
    if options.scores:
        write_scores(Path(options.scores), table, search, progress)
    progress.close()
    if options.json:
        found = search_as_dict(table, plan.k, search, options.show_values, labels=labels)
        show(json.dumps(found, ensure_ascii=False))
    else:
        _show_search(session, search, options.show_values, options.most, labels)


def _coarsen(
    options: argparse.Namespace,
    session: RecodingSession,
    records: RecordTable,
    progress: TerminalProgress,
) -> None:
    session.run(progress)
    log = session_as_dict(session)
    if options.out:
        if not log["k_anonymous"] and not options.allow_exempted:
            passed = format_count(log["exempted"], "risky combination")
            why = f"domain rules let {passed} pass, so the searched columns would not be {session.plan.k}-anonymous"
            raise VerificationFailed(
                f"Nothing was written: {why}. --allow-exempted writes them all the same."
            )
        form = RecordWriting.from_dict(vars(options))
        log = write_recoded(session, records, Path(options.out), form, progress)
        progress.close()
        covered = {*session.state.table.columns, *form.identifiers}
        if unsearched := describe_unsearched_columns(records.file_format.header, covered):
            say(f"warning: {unsearched}")
    progress.close()
    if options.json:
        show(json.dumps(log, ensure_ascii=False))
    else:
        _print_log(session, options.out)
    if not options.out:
        say("Nothing was written. Name a folder for the coarsened file with --out.")


def _show_search(
    session: RecodingSession,
    search: SearchResult,
    show_values: bool,
    most: int,
    labels: Mapping[str, Mapping[str, str]] | None,
) -> None:
    """Show the result: without values one line for each set of columns, with them one for each combination."""
    table = session.state.table
    k = session.plan.k
    result = search_as_dict(table, k, search, show_values, most, labels)
    show(
        f"{format_count(result['records'], 'record')}, k = {k}, smallest class over all columns: {result['anonymity']}"
    )
    for level in search.levels:
        show(f"size {level.size}: {format_count(level.number, 'minimal risky combination')}")
    if search.number:
        occurrences = count_column_occurrences(search.column_sets).most_common()
        names = ", ".join(f"{table.columns[column]} {number:,}" for column, number in occurrences)
        show(f"columns by how often they occur: {names}")
        exposed = format_count(result["records_in_combinations"], "record is", "records are")
        show(f"{exposed} in at least one of them, at most in {int(search.scores.max())}")
    elif not search.exempted and search.complete:
        show(f"No combination of values is shared by fewer than {format_count(k, 'record')}.")
    if show_values:
        _show_combinations(result["combinations"], search.number, most)
    else:
        _show_column_sets(table, search, most)
    if search.exempted:
        say(f"warning: domain rules let {format_count(search.exempted, 'risky combination')} pass.")
    if search.thresholds is not None and search.thresholds.limitation:
        say(f"warning: {search.thresholds.limitation}.")
    if not search.complete:
        say(f"warning: the search is not complete: {search.why_incomplete}.")


def _show_combinations(combinations: Sequence[Mapping[str, Any]], number: int, most: int) -> None:
    """Show combinations with their values; ``number`` is that of all."""
    for combination in combinations:
        values = combination.get("labelled") or combination["values"]
        pairs = zip(combination["columns"], values, strict=True)
        show(f"  {combination['count']:>6,}  {' + '.join(f'{name}={value}' for name, value in pairs)}")
    if number > most:
        show(f"  … and {number - most:,} more (--most, or --json for all)")


def _show_column_sets(table: DistinctRows, search: SearchResult, most: int) -> None:
    """Show the sets of columns that have risky combinations, with the numbers of combinations and of records."""
    for combinations in search.column_sets[:most]:
        names = " + ".join(table.columns[column] for column in combinations.columns)
        number = format_count(combinations.number, "combination")
        show(f"  {number} of {format_count(combinations.records, 'record')}: {names}")
    n_more = len(search.column_sets) - most
    if n_more > 0:
        sets = format_count(n_more, "more set", "more sets")
        show(f"  … and {sets} of columns (--most, or --json for all combinations)")


def _show_detail(session: RecodingSession) -> None:
    """Show how much detail is left, column by column."""
    detail = measure_detail(session.start.table, session.state.table)
    lost = f"{100 * detail.information_loss:.0f} % of the information is lost"
    show(f"{lost} (mean over the columns); distinct values before → after:")
    for column in detail.columns:
        show(f"  {column.in_words()}")


def _print_log(session: RecodingSession, out: str | None) -> None:
    """Print the steps and their result; ``out`` is the folder that was written, if any."""
    log = session_as_dict(session)
    for number, step in enumerate(session.steps, 1):
        show(
            f"{number}. {format_count(step.combinations, 'risky combination')} of {format_count(step.size, 'column')}"
        )
        for change in step.changes:
            what = (
                f"{change.column}: {change.description}, {change.values_before:,} → "
                f"{format_count(change.values_after, 'value')}"
            )
            show(
                f"   {what}"
                if change.column
                else f"   {format_count(change.records, 'record')} suppressed"
            )
    show(f"smallest class in the searched columns: {log['anonymity']}")
    _show_detail(session)
    if log["suppressed_records"]:
        show(f"{format_count(log['suppressed_records'], 'record')} suppressed in all")
    if not log["k_anonymous"]:
        passed = format_count(log["exempted"], "risky combination")
        say(
            f"warning: the searched columns are NOT {session.plan.k}-anonymous: domain rules let {passed} pass."
        )
    if out:
        say(f"Written to {out}, read back and recounted. Hand on anonymized.csv alone: internal/ stays.")
