"""The ledger of releases: record one, check one, before it is written and after."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import date as Date
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vbas_desktop.domain.errors import Finding, InputError
from vbas_desktop.domain.problem import Problem
from vbas_desktop.domain.progress import Progress, Silent, Span
from vbas_desktop.domain.solution import Solution
from vbas_desktop.settings.approaches import run_settings
from vbas_desktop.settings.handing_over import HandingOver
from vbas_desktop.settings.release import ReleaseOptions

from .data import LoadJob

if TYPE_CHECKING:
    from vbas_desktop.files.records.table import RecordTable
    from vbas_desktop.release.ledger import Entry, Ledger, Verdict


def usual_ledger(records: Path) -> Path:
    """Where the ledger is unless somebody says otherwise: beside the record file."""
    from vbas_desktop.release.ledger import LEDGER_FILE

    return records.parent / LEDGER_FILE


def check_before_release(
    handing: HandingOver,
    problem: Problem,
    table: RecordTable,
    solution: Solution,
    options: ReleaseOptions,
    progress: Progress,
) -> dict[str, Any] | None:
    """The result of the check as run.json keeps it; None without a ledger; refused if people would be singled out."""
    from vbas_desktop.release.ledger import Subject, check, entry_of_plan, read_ledger, refuse
    from vbas_desktop.release.plan import make_plan

    path = Path(handing.ledger) if handing.ledger else usual_ledger(Path(table.source.path))
    ledger = read_ledger(path, must_be=False)
    audience, reason = handing.audience or "", (handing.despite or "").strip()
    if not ledger.shared_with(audience):
        return None
    entry = entry_of_plan(make_plan(problem, solution), table, options, ledger.key, audience)
    verdict = check(ledger, Subject(entry, table, problem.regions, problem), audience, progress)
    if not verdict.safe and not reason:
        raise refuse(verdict)
    return verdict.as_dict(reason)


@dataclass(frozen=True)
class ReadLedgerJob:
    """Read a ledger; one that is not there is empty."""

    path: Path

    def execute(self, progress: Progress = Silent()) -> Ledger:  # noqa: B008
        """The ledger."""
        from vbas_desktop.release.ledger import read_ledger

        progress.update("Reading the ledger")
        return read_ledger(self.path, must_be=False)


@dataclass(frozen=True)
class RemoveJob:
    """Take an entry out of a ledger."""

    path: Path
    number: int

    def execute(self, progress: Progress = Silent()) -> Ledger:  # noqa: B008
        """The ledger without it, written."""
        from vbas_desktop.release.ledger import read_ledger, write_ledger

        progress.update("Writing the ledger")
        ledger = read_ledger(self.path).without(self.number)
        write_ledger(self.path, ledger)
        return ledger


@dataclass(frozen=True, eq=False)
class CompareJob:
    """Compare a solution, released with all its columns, with what an audience has; nothing is written or refused."""

    path: Path
    audience: str
    problem: Problem
    table: RecordTable
    solution: Solution

    def execute(self, progress: Progress = Silent()) -> Verdict:  # noqa: B008
        """The result of the check."""
        from vbas_desktop.release.ledger import Subject, check, entry_of_plan, read_ledger
        from vbas_desktop.release.plan import make_plan

        ledger = read_ledger(self.path, must_be=False)
        plan = make_plan(self.problem, self.solution)
        entry = entry_of_plan(plan, self.table, ReleaseOptions(), ledger.key, self.audience)
        return check(ledger, Subject(entry, self.table, self.problem.regions, self.problem), self.audience, progress)


@dataclass(frozen=True)
class CheckJob:
    """Check the release in the folder of a run against a ledger (None: the one beside the record file).

    ``records`` and ``regions`` say where files are that were moved.
    """

    folder: Path
    ledger: Path | None = None
    audience: str = ""
    records: Path | None = None
    regions: Path | None = None

    def execute(self, progress: Progress = Silent()) -> Verdict:  # noqa: B008 (Silent has no state)
        """Read the release and the record file, and compare."""
        from vbas_desktop.files.runfile import read_run_file
        from vbas_desktop.release.ledger import Subject, check, entry_of_folder, read_ledger

        kept = read_run_file(self.folder).get("options") or {}
        records = Path(self.records or kept["records"])
        ledger = read_ledger(self.ledger or usual_ledger(records))
        entry = entry_of_folder(self.folder, ledger.key, self.audience, "", Span(progress, 0.0, 0.3))
        settings, _ = run_settings(kept)
        load = LoadJob(records, Path(self.regions or kept["regions"]), settings.reading)
        data = load.execute(Span(progress, 0.3, 0.8))
        if data.table.source.sha256 != entry.source:
            message = "This is not the file of the run: its content differs."
            raise InputError(Finding("input-changed", message, "Name the file of the run.", file=str(records)))
        subject = Subject(entry, data.table, data.regions)
        return check(ledger, subject, self.audience, Span(progress, 0.8, 1.0))


@dataclass(frozen=True)
class RecordJob:
    """Enter the release in the folder of a run into a ledger as handed over."""

    folder: Path
    ledger: Path | None = None
    audience: str = ""
    date: str = field(default_factory=lambda: Date.today().isoformat())
    note: str = ""

    def execute(self, progress: Progress = Silent()) -> Entry:  # noqa: B008
        """Read the release, add it, write the ledger."""
        from vbas_desktop.files.runfile import read_run_file
        from vbas_desktop.release.ledger import entry_of_folder, read_ledger, write_ledger

        kept = read_run_file(self.folder).get("options") or {}
        path = self.ledger or usual_ledger(Path(kept.get("records") or self.folder))
        if not self.audience.strip():
            raise InputError(Finding("ledger", "Who gets the release is not told.", "Name the audience."))
        _check_date(self.date)
        ledger = read_ledger(path, must_be=False)
        entry = entry_of_folder(self.folder, ledger.key, self.audience.strip(), self.date, progress)
        _refuse_twice(ledger.entries, entry)
        # Another program may have recorded something while the release was read.
        ledger = replace(read_ledger(path, must_be=False), key=ledger.key)
        ledger, added = ledger.with_entry(replace(entry, note=self.note.strip()))
        write_ledger(path, ledger)
        return added


def _check_date(text: str) -> None:
    try:
        Date.fromisoformat(text)
    except ValueError:
        message = f"“{text}” is not a date."
        raise InputError(Finding("ledger", message, "Write it as 2026-05-31.")) from None


def _refuse_twice(entries: tuple[Entry, ...], entry: Entry) -> None:
    for each in entries:
        if each.released == entry.released and each.audience.casefold() == entry.audience.casefold():
            message = f"This release is in the ledger already: {each.title}."
            raise InputError(Finding("ledger", message, "Nothing has to be done."))
