"""Read, check and change the ledger of releases: before a release is written, and after it was handed over."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import date as Date
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vbas_desktop.approaches.selection import settings_from_options
from vbas_desktop.engine.region_map import map_regions
from vbas_desktop.io.databases.address import parse_address
from vbas_desktop.io.documents.run_file import check_named_inputs, read_run_file
from vbas_desktop.io.paths import user_data_folder
from vbas_desktop.io.regions.crosswalk import find_crosswalk
from vbas_desktop.model.findings import Finding, InputError, Severity
from vbas_desktop.model.problem import Problem
from vbas_desktop.model.progress import NO_PROGRESS, Progress, SubProgress
from vbas_desktop.model.solution import Solution
from vbas_desktop.releases.ledger import (
    Ledger,
    LedgerEntry,
    LedgerVerdict,
    ReleaseCandidate,
    check_candidate,
    differencing_error,
    entry_from_folder,
    entry_from_plan,
    lock_ledger,
    read_ledger,
    same_audience,
    write_ledger,
)
from vbas_desktop.releases.plan import build_plan
from vbas_desktop.settings.release import ReleaseOptions
from vbas_desktop.settings.writing import RecipientOptions

from .data import LoadRequest, load_data
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


NO_LEDGER = "no-ledger"
"""The code of the finding that there is no ledger where one was named."""
LEDGER_USED = "ledger-used"
"""The code of the finding that says which ledger was used."""


def find_missing_ledger(recipient: RecipientOptions) -> Path | None:
    """Return the path that was named as that of the ledger, if no file is there."""
    path = ledger_behind(Path(recipient.ledger)) if recipient.ledger else None
    return None if path is None or path.exists() else path


def describe_ledger_used(recipient: RecipientOptions, records: str | Path) -> tuple[Finding, ...]:
    """Say which ledger a release is compared with; or that a named one does not exist, since that may be a slip."""
    missing = find_missing_ledger(recipient)
    if missing is not None:
        message = f"There is no ledger at {missing} yet, so nothing was compared."
        remedy = "If there should be one, check the path; otherwise it is created when a release is recorded in it."
        return (Finding(NO_LEDGER, message, remedy, Severity.HINT),)
    path = ledger_of_records(recipient, records)
    if not path.exists():
        return ()
    return (Finding(LEDGER_USED, f"The ledger is {path}.", severity=Severity.HINT),)


def check_before_release(
    recipient: RecipientOptions,
    problem: Problem,
    table: RecordTable,
    solution: Solution,
    options: ReleaseOptions,
    progress: Progress,
) -> dict[str, Any] | None:
    """Compare a solution with what the audience has; return the result for run.json, None if it has nothing.

    Raises `DifferencingRisk` if people would be singled out, unless a reason to release it all the same was given.
    """
    ledger = read_ledger(ledger_of_records(recipient, table.source.path), must_exist=False)
    audience = recipient.audience or ""
    if not ledger.list_available_to(audience):
        return None
    entry = entry_from_plan(build_plan(problem, solution), table, options, ledger.key, audience)
    candidate = ReleaseCandidate(entry, table, problem.regions, problem)
    verdict = check_candidate(ledger, candidate, audience, progress, recipient.compared_k)
    override = (recipient.despite or "").strip()
    if not verdict.is_safe and not override:
        raise differencing_error(verdict)
    return verdict.as_dict(override, k_reason=(recipient.k_reason or "").strip())


@dataclass(frozen=True, eq=False)
class RecordedRelease:
    """The files of a recorded release, and the groups of categories that it was made with.

    records: None if the released records no longer exist.
    """

    entry: LedgerEntry
    crosswalk: Path
    records: Path | None
    groupings: dict[str, dict[str, str]]

    @property
    def regions(self) -> Path:
        """The aggregated regions as a region file."""
        return self.crosswalk.parent / "aggregated_regions.geojson"


def find_recorded_release(entry: LedgerEntry, progress: Progress = NO_PROGRESS) -> RecordedRelease:
    """Find the files of a recorded release. Raises `InputError` if its folder is gone."""
    progress.update("Reading the earlier release")
    crosswalk = find_crosswalk(Path(entry.folder))
    if not entry.folder or not crosswalk.is_file():
        message = f"The folder of {entry.title} no longer exists."
        remedy = "Put it back where it was, or name its crosswalk.csv."
        raise InputError(Finding("ledger", message, remedy, file=entry.folder or None))
    options = read_run_file(Path(entry.folder)).get("options") or {}
    records = next(crosswalk.parent.glob("anonymized.*"), None)
    return RecordedRelease(entry, crosswalk, records, options.get("groupings") or {})


def find_crosswalk_of(ledger: Path, number: int) -> str:
    """Find the crosswalk of a release in a ledger. Raises `InputError` if there is no such release or file."""
    return str(find_recorded_release(read_ledger(ledger).entry(number)).crosswalk)


def list_releases(path: Path, progress: Progress = NO_PROGRESS) -> Ledger:
    """Read a ledger; one that does not exist is empty."""
    progress.update("Reading the ledger")
    return read_ledger(ledger_behind(path), must_exist=False)


def remove_release(path: Path, number: int, progress: Progress = NO_PROGRESS) -> Ledger:
    """Remove an entry from a ledger and return the rest. Raises `InputError` if there is no such entry."""
    progress.update("Writing the ledger")
    path = ledger_behind(path)
    read_ledger(path)  # before a lock file is made beside it
    with lock_ledger(path, progress):
        ledger = read_ledger(path).remove(number)
        write_ledger(path, ledger)
    return ledger


@dataclass(frozen=True, eq=False)
class LedgerComparison:
    """A solution to compare, as if it were released with all its columns, with what an audience has."""

    ledger: Path
    audience: str
    problem: Problem
    table: RecordTable
    solution: Solution


def compare_with_ledger(request: LedgerComparison, progress: Progress = NO_PROGRESS) -> LedgerVerdict:
    """Compare a solution with what an audience has; nothing is written or refused."""
    problem = request.problem
    ledger = read_ledger(ledger_behind(request.ledger), must_exist=False)
    table = map_regions(request.table, problem.region_column, problem.regions.mapping)
    plan = build_plan(problem, request.solution)
    entry = entry_from_plan(plan, table, ReleaseOptions(), ledger.key, request.audience)
    candidate = ReleaseCandidate(entry, table, problem.regions, problem)
    return check_candidate(ledger, candidate, request.audience, progress)


@dataclass(frozen=True)
class CheckRequest:
    """A written release to check against a ledger.

    folder: of the run. ledger: None for the one beside the record file.
    records, regions: where files are that were moved.
    k: least number of people in a group; None for the largest k of the releases.
    new_audience: an audience with a similar name is another one.
    """

    folder: Path
    ledger: Path | None = None
    audience: str = ""
    records: str | Path | None = None
    regions: Path | None = None
    k: int | None = None
    new_audience: bool = False

    def find_ledger(self) -> Path:
        """Find the ledger: the named one, otherwise that of the records (`ledger_of_run`)."""
        if self.ledger or self.records:
            return ledger_behind(self.ledger or usual_ledger(self.records or ""))
        options = read_run_file(self.folder).get("options") or {}
        check_named_inputs(self.folder, options, {"regions"} if self.regions else set())
        return ledger_of_run(self.folder, options["records"])


def check_written_release(request: CheckRequest, progress: Progress = NO_PROGRESS) -> LedgerVerdict:
    """Compare a written release with what an audience has.

    Raises `InputError` if a file is missing or changed, or if the audience may be a slip for a recorded one.
    """
    options = read_run_file(request.folder).get("options") or {}
    moved = {"records": request.records, "regions": request.regions}
    check_named_inputs(request.folder, options, {name for name, path in moved.items() if path})
    records = request.records or options["records"]
    ledger = read_ledger(request.find_ledger())
    if not request.new_audience:
        check_audience(request.audience, ledger)
    entry = entry_from_folder(
        request.folder, ledger.key, request.audience, "", SubProgress(progress, 0.0, 0.3)
    )
    settings, _ = settings_from_options(options)
    load = LoadRequest(
        parse_address(records),
        Path(request.regions or options["regions"]),
        settings.reading,
        region_column=entry.region_column,
    )
    data = load_data(load, SubProgress(progress, 0.3, 0.8))
    if not _is_source(data.table, entry):
        message = "This is not the file of the run: its content differs."
        raise InputError(
            Finding("input-changed", message, "Name the file of the run.", file=str(records))
        )
    table = map_regions(data.table, entry.region_column, data.regions.mapping)
    candidate = ReleaseCandidate(entry, table, data.regions)
    return check_candidate(
        ledger, candidate, request.audience, SubProgress(progress, 0.8, 1.0), request.k
    )


def _is_source(table: RecordTable, entry: LedgerEntry) -> bool:
    """Return True if a release was made from these records, in whatever order."""
    same_file = table.source.identity == entry.source_sha256
    return same_file or (bool(entry.source_rows_hash) and table.rows_hash == entry.source_rows_hash)


@dataclass(frozen=True)
class RecordRequest:
    """A written release to record in a ledger as handed over. ``date``: of the handover, as 2026-05-31."""

    folder: Path
    ledger: Path | None = None
    audience: str = ""
    date: str = field(default_factory=lambda: Date.today().isoformat())
    note: str = ""
    new_audience: bool = False

    def find_ledger(self) -> Path:
        """Find the ledger: the named one, otherwise that of the records (`ledger_of_run`)."""
        options = read_run_file(self.folder).get("options") or {}
        if self.ledger:
            return ledger_behind(self.ledger)
        return ledger_of_run(self.folder, options.get("records") or self.folder)


def record_release(request: RecordRequest, progress: Progress = NO_PROGRESS) -> LedgerEntry:
    """Record a release in a ledger, which is created if need be.

    Raises `SimilarAudience` if the audience may be a slip for a recorded one, and `InputError` if the audience or date
    is missing, if the release is recorded already, or if its files are not as they were written.
    """
    path = request.find_ledger()
    audience = request.audience.strip()
    if not audience:
        raise InputError(
            Finding("ledger", "It is not known who gets the release.", "Name the audience.")
        )
    _check_date(request.date)
    if path.is_relative_to(user_data_folder()):
        path.parent.mkdir(0o700, parents=True, exist_ok=True)
    # Locked before it is read: two programs that begin a ledger would each draw a key of their own.
    with lock_ledger(path, progress):
        ledger = read_ledger(path, must_exist=False)
        if not request.new_audience:
            check_audience(request.audience, ledger)
        entry = entry_from_folder(request.folder, ledger.key, audience, request.date, progress)
        _check_not_recorded(ledger, entry)
        ledger, recorded = ledger.add(replace(entry, note=request.note.strip()))
        write_ledger(path, ledger)
    return recorded


def record_release_or_ask(
    request: RecordRequest, progress: Progress = NO_PROGRESS
) -> LedgerEntry | SimilarAudience:
    """Record a release; return `SimilarAudience` instead of raising it, so that a person can be asked."""
    try:
        return record_release(request, progress)
    except SimilarAudience as error:
        return error


def _check_date(text: str) -> None:
    """Raise `InputError` unless the text is a date such as 2026-05-31."""
    try:
        Date.fromisoformat(text)
    except ValueError:
        message = f"“{text}” is not a date."
        raise InputError(Finding("ledger", message, "Write it as 2026-05-31.")) from None


def _check_not_recorded(ledger: Ledger, entry: LedgerEntry) -> None:
    """Raise `InputError` if the ledger has this release for the same audience."""
    for recorded in ledger:
        if recorded.released_sha256 == entry.released_sha256 and same_audience(
            recorded.audience, entry.audience
        ):
            message = f"This release is in the ledger already: {recorded.title}."
            raise InputError(Finding("ledger", message, "Nothing has to be done."))
