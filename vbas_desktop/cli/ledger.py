"""Keep a ledger of what was handed to whom, and check a release against it.

Two releases that are each k-anonymous can single people out together. The ledger knows what was handed over, as hashes
and numbers; no value of a record is in it. `record` enters the release of a run, `check` compares one with what an
audience has (exit code 3 if people could be singled out), `list` shows the ledger, `remove` takes an entry out.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from vbas_desktop.app.ledger import (
    CheckRequest,
    RecordRequest,
    check_written_release,
    record_release,
    remove_release,
)
from vbas_desktop.model.text import format_count
from vbas_desktop.releases.ledger import LedgerEntry, differencing_error, read_ledger

from .arguments import OptionParser, whole
from .terminal import TerminalProgress, say, show

EXAMPLE = """Example:
  vbas ledger record result --audience "University of Albany" --ledger releases.json
  vbas ledger check result --audience "University of Albany" --ledger releases.json"""
UNSAFE = 3
_DEFAULT_LEDGER = (
    "the ledger (default: vbas-ledger.json beside the records of the run, if the folder of the run is there, too; "
    "of a server, one among your own files)"
)


def configure(parser: OptionParser) -> None:
    """Declare the actions and their options."""
    actions = parser.add_subparsers(title="actions", metavar="ACTION", required=True, dest="action")
    record = actions.add_parser("record", help="enter the release of a run as handed over")
    record.add_argument("run_folder", metavar="RUN_DIR", help="the folder that `vbas run --out` wrote")
    record.add_argument(
        "--audience", metavar="NAME", required=True, help="who got it; “public” is everybody"
    )
    record.add_argument("--date", metavar="DATE", help="when, as 2026-05-31 (default: today)")
    record.add_argument("--note", metavar="TEXT", default="", help="a note to remember it by")
    check = actions.add_parser("check", help="compare the release of a run with what an audience has")
    check.add_argument("run_folder", metavar="RUN_DIR", help="the folder that `vbas run --out` wrote")
    check.add_argument("--audience", metavar="NAME", default="", help="who gets it (default: anybody)")
    check.add_argument(
        "--records", metavar="FILE", help="where the record file (or address) is now, if it was moved"
    )
    check.add_argument("--regions", metavar="FILE", help="where the region file is now, if it was moved")
    check.add_argument(
        "--ledger-k",
        metavar="N",
        type=whole(2),
        help="least number of people in groups (default: the largest k)",
    )
    for action in (record, check):
        action.add_argument(
            "--new-audience", action="store_true", help="it is not the audience with a similar name"
        )
    listing = actions.add_parser("list", help="show what was handed over")
    remove = actions.add_parser(
        "remove", help="remove an entry, for example one that was entered by mistake"
    )
    remove.add_argument("number", metavar="N", type=whole(1), help="the number of the entry")
    for action, is_required in ((record, False), (check, False), (listing, True), (remove, True)):
        ledger_help = "the ledger" if is_required else _DEFAULT_LEDGER
        action.add_argument("--ledger", metavar="FILE", required=is_required, help=ledger_help)
        action.add_argument("--json", action="store_true", help="print JSON")
        action.add_argument("--quiet", action="store_true", help="hide progress and remarks")


def run(options: argparse.Namespace) -> int:
    """Run the chosen action; return 0, or 3 if people could be singled out."""
    actions = {"record": _record, "check": _check, "list": _list, "remove": _remove}
    return actions[options.action](options)


def _record(options: argparse.Namespace) -> int:
    """Enter the release of a run into a ledger as handed over."""
    request = RecordRequest(
        Path(options.run_folder),
        Path(options.ledger) if options.ledger else None,
        options.audience,
        note=options.note,
        new_audience=options.new_audience,
        **({"date": options.date} if options.date else {}),
    )
    _print_ledger_path(request, options.quiet)
    with TerminalProgress(options.quiet) as progress:
        entry = record_release(request, progress)
    if options.json:
        show(json.dumps(_summarise(entry), ensure_ascii=False))
    elif not options.quiet:
        say(f"Entered as {entry.title}: {format_count(entry.records, 'record')}.")
    return 0


def _check(options: argparse.Namespace) -> int:
    """Compare the release of a run with what an audience has; return 3 if people could be singled out."""
    request = CheckRequest(
        Path(options.run_folder),
        Path(options.ledger) if options.ledger else None,
        options.audience,
        options.records,
        Path(options.regions) if options.regions else None,
        k=options.ledger_k,
        new_audience=options.new_audience,
    )
    _print_ledger_path(request, options.quiet)
    with TerminalProgress(options.quiet) as progress:
        verdict = check_written_release(request, progress)
    if options.json:
        show(json.dumps(verdict.as_dict(), ensure_ascii=False))
    elif verdict.is_safe:
        texts = [comparison.text for comparison in verdict.comparisons]
        show("\n".join(texts) or "This audience has nothing yet.")
    else:
        show(str(differencing_error(verdict)))
    return 0 if verdict.is_safe else UNSAFE


def _print_ledger_path(request: RecordRequest | CheckRequest, quiet: bool) -> None:
    """Print which ledger is used, since it may not be the one that the user has in mind."""
    path = request.find_ledger()
    if not quiet:
        say(f"Ledger: {path}")


def _list(options: argparse.Namespace) -> int:
    """Print the releases of a ledger as a table or as JSON."""
    ledger = read_ledger(Path(options.ledger))
    if options.json:
        _print_json(ledger)
    else:
        _print_table(ledger)
    return 0


def _remove(options: argparse.Namespace) -> int:
    """Take an entry out of a ledger."""
    ledger = remove_release(Path(options.ledger), options.number)
    if options.json:
        _print_json(ledger)
    elif not options.quiet:
        say(f"Release {options.number} was removed. What was handed over stays handed over.")
    return 0


def _print_table(entries: Iterable[LedgerEntry]) -> None:
    head = ("number", "date", "audience", "records", "regions", "k", "quasi-identifiers", "note")
    rows = [head]
    for entry in entries:
        quasi_identifiers = ", ".join(entry.quasi_identifiers)
        regions = entry.describe_regions()
        numbers = (
            str(entry.id),
            entry.date,
            entry.audience,
            f"{entry.records:,}",
            regions,
            str(entry.k),
        )
        rows.append((*numbers, quasi_identifiers, entry.comment))
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        show("  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip())


def _print_json(entries: Iterable[LedgerEntry]) -> None:
    show(json.dumps([_summarise(entry) for entry in entries], indent=2, ensure_ascii=False))


def _summarise(entry: LedgerEntry) -> dict[str, Any]:
    """Describe an entry as plain data, without its arrays."""
    return {
        "number": entry.id,
        "date": entry.date,
        "audience": entry.audience,
        "records": entry.records,
        "aggregated_regions": entry.aggregated_regions,
        "regions_by_tier": entry.regions_by_tier,
        "k": entry.k,
        "quasi_identifiers": entry.quasi_identifiers,
        "columns": entry.columns,
        "note": entry.note,
        "override": entry.override,
        "compared_k": entry.compared_k,
        "k_reason": entry.k_reason,
        "folder": entry.folder,
    }
