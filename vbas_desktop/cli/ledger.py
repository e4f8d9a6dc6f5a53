"""Keep a ledger of what was handed to whom, and check a release against it.

Two releases that are each k-anonymous can single people out together. The ledger knows what was handed over, as hashes
and numbers; no value of a record is in it. `record` enters the release of a run, `check` compares one with what an
audience has (exit code 3 if people could be singled out), `list` shows the ledger, `remove` takes an entry out.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vbas_desktop.model.words import counted

from .arguments import whole
from .terminal import TerminalProgress, say, show

if TYPE_CHECKING:
    from vbas_desktop.jobs.ledger import CheckJob, RecordJob
    from vbas_desktop.release.ledger import Entry

EXAMPLE = """Example:
  vbas ledger record result --audience "University of Albany" --ledger releases.json
  vbas ledger check result --audience "University of Albany" --ledger releases.json"""
UNSAFE = 3
_SHOWN = (
    *("id", "date", "audience", "records", "aggregated_regions", "places", "k", "quasi_identifiers", "columns"),
    *("note", "override", "compared_k", "k_reason", "folder"),
)
_CALLED = {"id": "number", "places": "places_by_tier"}
_USUAL = (
    "the ledger (default: vbas-ledger.json beside the records of the run, if the folder of the run is there, too; "
    "of a server, one among your own files)"
)


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the actions and their options."""
    actions = parser.add_subparsers(title="actions", metavar="ACTION", required=True, dest="action")
    record = actions.add_parser("record", help="enter the release of a run as handed over")
    record.add_argument("run_folder", metavar="RUN_DIR", help="the folder that `vbas run --out` wrote")
    record.add_argument("--audience", metavar="NAME", required=True, help="who got it; “public” is everybody")
    record.add_argument("--date", metavar="DATE", help="when, as 2026-05-31 (default: today)")
    record.add_argument("--note", metavar="TEXT", default="", help="a note to remember it by")
    check = actions.add_parser("check", help="compare the release of a run with what an audience has")
    check.add_argument("run_folder", metavar="RUN_DIR", help="the folder that `vbas run --out` wrote")
    check.add_argument("--audience", metavar="NAME", default="", help="who gets it (default: anybody)")
    check.add_argument("--records", metavar="FILE", help="where the record file (or address) is now, if it was moved")
    check.add_argument("--regions", metavar="FILE", help="where the region file is now, if it was moved")
    check.add_argument(
        "--ledger-k", metavar="N", type=whole(2), help="least number of people in groups (default: the largest k)"
    )
    for each in (record, check):
        each.add_argument("--new-audience", action="store_true", help="it is not the audience with a similar name")
    listing = actions.add_parser("list", help="show what was handed over")
    remove = actions.add_parser("remove", help="remove an entry, for example one that was entered by mistake")
    remove.add_argument("number", metavar="N", type=whole(1), help="the number of the entry")
    for each, required in ((record, False), (check, False), (listing, True), (remove, True)):
        each.add_argument("--ledger", metavar="FILE", required=required, help="the ledger" if required else _USUAL)
        each.add_argument("--json", action="store_true", help="print JSON")
        each.add_argument("--quiet", action="store_true", help="no progress and no remarks")


def run(options: argparse.Namespace) -> int:
    """Do what was asked for; 0 done, 3 people could be singled out."""
    actions = {"record": _record, "check": _check, "list": _list, "remove": _remove}
    return actions[options.action](options)


def _record(options: argparse.Namespace) -> int:
    from vbas_desktop.jobs.ledger import RecordJob

    given = {"date": options.date} if options.date else {}
    more = {"note": options.note, "new_audience": options.new_audience}
    job = RecordJob(Path(options.run_folder), _path(options), options.audience, **given, **more)
    _say_ledger(job, options.quiet)
    with TerminalProgress(options.quiet) as progress:
        entry = job.execute(progress)
    if options.json:
        show(json.dumps(_told(entry), ensure_ascii=False))
    elif not options.quiet:
        say(f"Entered as {entry.title}: {counted(entry.records, 'record')}.")
    return 0


def _check(options: argparse.Namespace) -> int:
    from vbas_desktop.jobs.ledger import CheckJob
    from vbas_desktop.release.ledger import refuse

    regions = Path(options.regions) if options.regions else None
    job = CheckJob(
        Path(options.run_folder), _path(options), options.audience, options.records, regions,
        k=options.ledger_k, new_audience=options.new_audience,
    )  # fmt: skip
    _say_ledger(job, options.quiet)
    with TerminalProgress(options.quiet) as progress:
        verdict = job.execute(progress)
    if options.json:
        show(json.dumps(verdict.as_dict(), ensure_ascii=False))
    elif verdict.safe:
        show("\n".join(each.text for each in verdict.against) or "This audience has nothing yet.")
    else:
        show(str(refuse(verdict)))
    return 0 if verdict.safe else UNSAFE


def _say_ledger(job: RecordJob | CheckJob, quiet: bool) -> None:
    """Print which ledger is used, since it may not be the one that the user has in mind."""
    path = job.find_ledger()
    if not quiet:
        say(f"Ledger: {path}")


def _list(options: argparse.Namespace) -> int:
    from vbas_desktop.release.ledger import read_ledger

    ledger = read_ledger(Path(options.ledger))
    if options.json:
        show(json.dumps([_told(entry) for entry in ledger], indent=2, ensure_ascii=False))
        return 0
    head = ("number", "date", "audience", "records", "regions", "k", "quasi-identifiers", "note")
    rows = [
        (
            str(entry.id), entry.date, entry.audience, f"{entry.records:,}", entry.places_in_words,
            str(entry.k), ", ".join(entry.quasi_identifiers),
            entry.remark,
        )
        for entry in ledger
    ]  # fmt: skip
    widths = [max(len(row[place]) for row in (head, *rows)) for place in range(len(head))]
    lines = ("  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)) for row in (head, *rows))
    show("\n".join(line.rstrip() for line in lines))
    return 0


def _remove(options: argparse.Namespace) -> int:
    from vbas_desktop.jobs.ledger import RemoveJob

    ledger = RemoveJob(Path(options.ledger), options.number).execute()
    if options.json:
        show(json.dumps([_told(entry) for entry in ledger], indent=2, ensure_ascii=False))
    elif not options.quiet:
        say(f"Release {options.number} was removed. What was handed over stays handed over.")
    return 0


def _path(options: argparse.Namespace) -> Path | None:
    return Path(options.ledger) if options.ledger else None


def _told(entry: Entry) -> dict[str, Any]:
    return {_CALLED.get(name, name): getattr(entry, name) for name in _SHOWN}
