"""The ledger of releases: record one, check one, before it is written and after."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import date as Date
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vbas_desktop.io.databases.address import record_place
from vbas_desktop.io.places import kept_for_user
from vbas_desktop.model.errors import Finding, InputError, Severity
from vbas_desktop.model.problem import Problem
from vbas_desktop.model.progress import Progress, Silent, Span
from vbas_desktop.model.solution import Solution
from vbas_desktop.settings.approaches import run_settings
from vbas_desktop.settings.release import ReleaseOptions
from vbas_desktop.settings.writing import HandingOver

from .data import LoadJob
from .handover import (
    SimilarAudience,
    check_audience,
    ledger_behind,
    ledger_of_records,
    ledger_of_run,
    usual_ledger,
)

if TYPE_CHECKING:
    from vbas_desktop.model.records import RecordTable
    from vbas_desktop.release.ledger import Entry, Ledger, Verdict


NO_LEDGER, LEDGER_USED = "no-ledger", "ledger-used"
"""The codes of the remarks that there is no ledger where one was named, and which ledger was used."""


def missing_ledger(handing: HandingOver) -> Path | None:
    """The path that was named as that of the ledger, if no file is there."""
    path = ledger_behind(Path(handing.ledger)) if handing.ledger else None
    return None if path is None or path.exists() else path


def nothing_compared(path: Path) -> Finding:
    """The remark that there is no ledger at a path, so that a slip does not pass for a check."""
    message = f"There is no ledger at {path} yet, so nothing was compared."
    remedy = "If there should be one, check the path; otherwise it is created when a release is recorded in it."
    return Finding(NO_LEDGER, message, remedy, Severity.HINT)


def ledger_used(handing: HandingOver, records: str | Path) -> tuple[Finding, ...]:
    """Make the remark which ledger a release was compared with; none if there is no ledger."""
    path = ledger_of_records(handing, records)
    if not path.exists():
        return ()
    return (Finding(LEDGER_USED, f"The ledger is {path}.", severity=Severity.HINT),)


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

    ledger = read_ledger(ledger_of_records(handing, table.source.path), must_be=False)
    audience, reason = handing.audience or "", (handing.despite or "").strip()
    if not ledger.shared_with(audience):
        return None
    entry = entry_of_plan(make_plan(problem, solution), table, options, ledger.key, audience)
    verdict = check(ledger, Subject(entry, table, problem.regions, problem), audience, progress, handing.compared_k)
    if not verdict.safe and not reason:
        raise refuse(verdict)
    return verdict.as_dict(reason, k_reason=(handing.k_reason or "").strip())


@dataclass(frozen=True)
class ReuseJob:
    """Find out how an earlier release was made, so that its regions and quasi-identifiers are used once more."""

    entry: Entry

    def execute(self, progress: Progress = Silent()) -> Earlier:  # noqa: B008
        """What has to be chosen; `InputError` if its folder is gone."""
        from vbas_desktop.io.regions.earlier import crosswalk_in
        from vbas_desktop.io.runfile import read_run_file

        progress.update("Reading the earlier release")
        walk = crosswalk_in(Path(self.entry.folder))
        if not self.entry.folder or not walk.is_file():
            message = f"The folder of {self.entry.title} is not there any more."
            remedy = "Put it back where it was, or name its crosswalk.csv."
            raise InputError(Finding("ledger", message, remedy, file=self.entry.folder or None))
        kept = read_run_file(Path(self.entry.folder)).get("options") or {}
        records = next(walk.parent.glob("anonymized.*"), None)
        return Earlier(self.entry, walk, records, kept.get("groupings") or {})


@dataclass(frozen=True, eq=False)
class Earlier:
    """An earlier release: its crosswalk, its records if they are there, and the groups of categories."""

    entry: Entry
    crosswalk: Path
    records: Path | None
    groupings: dict[str, dict[str, str]]

    @property
    def regions(self) -> Path:
        """Its aggregated regions as a region file."""
        return self.crosswalk.parent / "aggregated_regions.geojson"


def crosswalk_of(path: Path, number: int) -> str:
    """Where the crosswalk of a release in a ledger is; `InputError` if it is not there any more."""
    from vbas_desktop.release.ledger import read_ledger

    return str(ReuseJob(read_ledger(path).entry(number)).execute().crosswalk)


@dataclass(frozen=True)
class ReadLedgerJob:
    """Read a ledger; one that is not there is empty."""

    path: Path

    def execute(self, progress: Progress = Silent()) -> Ledger:  # noqa: B008
        """The ledger."""
        from vbas_desktop.release.ledger import read_ledger

        progress.update("Reading the ledger")
        return read_ledger(ledger_behind(self.path), must_be=False)


@dataclass(frozen=True)
class RemoveJob:
    """Take an entry out of a ledger."""

    path: Path
    number: int

    def execute(self, progress: Progress = Silent()) -> Ledger:  # noqa: B008
        """The ledger without it, written."""
        from vbas_desktop.release.ledger import alone, read_ledger, write_ledger

        progress.update("Writing the ledger")
        path = ledger_behind(self.path)
        read_ledger(path)
        with alone(path, progress):
            ledger = read_ledger(path).without(self.number)
            write_ledger(path, ledger)
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
        from vbas_desktop.engine.region_map import map_regions
        from vbas_desktop.release.ledger import Subject, check, entry_of_plan, read_ledger
        from vbas_desktop.release.plan import make_plan

        ledger = read_ledger(ledger_behind(self.path), must_be=False)
        plan = make_plan(self.problem, self.solution)
        table = map_regions(self.table, self.problem.region_column, self.problem.regions.mapping)
        entry = entry_of_plan(plan, table, ReleaseOptions(), ledger.key, self.audience)
        return check(ledger, Subject(entry, table, self.problem.regions, self.problem), self.audience, progress)


@dataclass(frozen=True)
class CheckJob:
    """Check the release in the folder of a run against a ledger (None: the one beside the record file).

    ``records`` and ``regions`` say where files are that were moved. ``k`` is demanded of groups in place of the largest
    k of the releases; ``new_audience``: one with a similar name is another one.
    """

    folder: Path
    ledger: Path | None = None
    audience: str = ""
    records: str | Path | None = None
    regions: Path | None = None
    k: int | None = None
    new_audience: bool = False

    def find_ledger(self) -> Path:
        """Find the ledger: the one that is named, else that of the records; see `ledger_of_run`."""
        if self.ledger or self.records:
            return ledger_behind(self.ledger or usual_ledger(self.records or ""))
        from vbas_desktop.io.runfile import check_named_inputs, read_run_file

        kept = read_run_file(self.folder).get("options") or {}
        check_named_inputs(self.folder, kept, {"regions"} if self.regions else set())
        return ledger_of_run(self.folder, kept["records"])

    def execute(self, progress: Progress = Silent()) -> Verdict:  # noqa: B008 (Silent has no state)
        """Read the release and the record file, and compare."""
        from vbas_desktop.engine.region_map import map_regions
        from vbas_desktop.io.runfile import check_named_inputs, read_run_file
        from vbas_desktop.release.ledger import Subject, check, entry_of_folder, read_ledger

        kept = read_run_file(self.folder).get("options") or {}
        moved = {"records": self.records, "regions": self.regions}
        check_named_inputs(self.folder, kept, {name for name, path in moved.items() if path})
        records = self.records or kept["records"]
        ledger = read_ledger(self.find_ledger())
        if not self.new_audience:
            check_audience(self.audience, ledger)
        entry = entry_of_folder(self.folder, ledger.key, self.audience, "", Span(progress, 0.0, 0.3))
        settings, _ = run_settings(kept)
        load = LoadJob(
            record_place(records),
            Path(self.regions or kept["regions"]),
            settings.reading,
            region_column=entry.region_column,
        )
        data = load.execute(Span(progress, 0.3, 0.8))
        if not _is_source(data.table, entry):
            message = "This is not the file of the run: its content differs."
            raise InputError(Finding("input-changed", message, "Name the file of the run.", file=str(records)))
        table = map_regions(data.table, entry.region_column, data.regions.mapping)
        subject = Subject(entry, table, data.regions)
        return check(ledger, subject, self.audience, Span(progress, 0.8, 1.0), self.k)


def _is_source(table: RecordTable, entry: Entry) -> bool:
    """Whether a release was made from these records, in whatever order."""
    same_file = table.source.identity == entry.source
    return same_file or (bool(entry.source_rows) and table.rows_hash == entry.source_rows)


@dataclass(frozen=True)
class RecordJob:
    """Enter the release in the folder of a run into a ledger as handed over."""

    folder: Path
    ledger: Path | None = None
    audience: str = ""
    date: str = field(default_factory=lambda: Date.today().isoformat())
    note: str = ""
    new_audience: bool = False

    def find_ledger(self) -> Path:
        """Find the ledger: the one that is named, else that of the records; see `ledger_of_run`."""
        from vbas_desktop.io.runfile import read_run_file

        kept = read_run_file(self.folder).get("options") or {}
        if self.ledger:
            return ledger_behind(self.ledger)
        return ledger_of_run(self.folder, kept.get("records") or self.folder)

    def execute_or_ask(self, progress: Progress = Silent()) -> Entry | SimilarAudience:  # noqa: B008
        """Enter the release; a name that is nearly known is handed back, since a person decides about it."""
        try:
            return self.execute(progress)
        except SimilarAudience as error:
            return error

    def execute(self, progress: Progress = Silent()) -> Entry:  # noqa: B008
        """Read the release, add it, write the ledger."""
        from vbas_desktop.release.ledger import alone, entry_of_folder, read_ledger, write_ledger

        path = self.find_ledger()
        if not self.audience.strip():
            raise InputError(Finding("ledger", "It is not known who gets the release.", "Name the audience."))
        _check_date(self.date)
        if path.is_relative_to(kept_for_user()):
            path.parent.mkdir(0o700, parents=True, exist_ok=True)
        # From the first look on: two programs that begin a ledger would each draw a key of their own.
        with alone(path, progress):
            ledger = read_ledger(path, must_be=False)
            if not self.new_audience:
                check_audience(self.audience, ledger)
            entry = entry_of_folder(self.folder, ledger.key, self.audience.strip(), self.date, progress)
            _refuse_twice(ledger.entries, entry)
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
    from vbas_desktop.release.ledger import same_audience

    for each in entries:
        if each.released == entry.released and same_audience(each.audience, entry.audience):
            message = f"This release is in the ledger already: {each.title}."
            raise InputError(Finding("ledger", message, "Nothing has to be done."))
