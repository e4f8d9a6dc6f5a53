"""Releases one solution of a run, now or from the folder of an earlier run, and copies it to another target."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vbas_desktop.analysis.representability.requirement import Requirement, parse_requirement
from vbas_desktop.approaches.selection import find_loss_limit, settings_from_options
from vbas_desktop.audit.coded_file import encoding_of_release
from vbas_desktop.audit.copies import Original
from vbas_desktop.engine.loss import EXCEED_HINT, LOSS, describe_loss, exceeds_loss
from vbas_desktop.engine.region_map import map_regions
from vbas_desktop.io.databases.address import parse_address
from vbas_desktop.io.documents.policies import find_policy
from vbas_desktop.io.documents.run_file import ChecklistDocument, check_named_inputs, read_run_file
from vbas_desktop.io.documents.run_options import options_in_force
from vbas_desktop.io.hashing import require_unchanged
from vbas_desktop.model.findings import Finding, InputError, Severity, UsageError
from vbas_desktop.model.progress import NO_PROGRESS, Progress, SubProgress
from vbas_desktop.model.solution import Solution
from vbas_desktop.releases.column_coverage import ColumnCoverage, expect_coverage
from vbas_desktop.releases.disclosure_checks import DISCLOSIVE_COLUMN, SITES_REVEALED
from vbas_desktop.releases.folder import ReleaseReport, check_release_target
from vbas_desktop.releases.ledger import DIFFERENCING, LedgerEntry
from vbas_desktop.releases.plan import build_plan
from vbas_desktop.releases.write import WriteRequest, write_release
from vbas_desktop.settings.release import ReleaseOptions
from vbas_desktop.settings.writing import RecipientOptions

from .copies import CopyRequest, check_copy_target, copy_release
from .data import LoadRequest, load_data
from .handover import AUDIENCE, OCCUPIED, RECORDED, check_handover, check_unoccupied
from .inputs import input_paths
from .ledger import check_before_release, describe_ledger_used, find_missing_ledger
from .run import (
    RunOutcome,
    RunRequest,
    add_findings,
    build_document,
    check_requirement,
    choose_solution,
    run_configuration,
)

if TYPE_CHECKING:
    from vbas_desktop.model.problem import Problem
    from vbas_desktop.model.records import RecordTable


@dataclass(frozen=True, eq=False)
class ReleaseRefusal:
    """Why nothing was released, for a person to decide about.

    earlier: the release that would isolate people by differencing with this one.
    similar: the audience in the ledger that has nearly the same name.
    """

    findings: tuple[Finding, ...]
    earlier: LedgerEntry | None = None
    similar: str | None = None

    @classmethod
    def from_error(cls, error: InputError, codes: Collection[str]) -> ReleaseRefusal | None:
        """Describe a refusal that a person decides about; None if other findings are among these."""
        if any(finding.code not in codes for finding in error.findings):
            return None
        return cls(tuple(error.findings), getattr(error, "earlier", None), getattr(error, "known", None))


@dataclass(frozen=True, eq=False)
class ReleaseRequest:
    """Ask for the release of one solution of a run in a folder.

    policy: the filled-in checklist of the custodian.
    earlier: the ``run.json`` of the run that is repeated, whose paths and durations are kept.
    handing: who gets the release; with a ledger, it must isolate nobody by differencing with what the audience has.
    loss_limit_percent: an allowed loss that is in force in place of the run's own.
    replaces: an earlier release in the target may be replaced, unless the ledger records it.
    """

    ran: RunOutcome
    solution: int
    options: ReleaseOptions
    target: Path
    requirement: Requirement | None = None
    policy: Mapping[str, Any] | None = None
    earlier: Mapping[str, Any] | None = None
    handing: RecipientOptions = field(default_factory=RecipientOptions)
    loss_limit_percent: float | None = None
    replaces: bool = True

    @property
    def inputs(self) -> list[Path]:
        """List the files that the run and the release read."""
        sources = (self.ran.problem.records_source, self.ran.problem.regions_source)
        files = [source.path if source is not None else "" for source in sources]
        options = options_in_force(self.ran.settings, self.options, *files)
        return input_paths({**options, "generalise": [], "ledger": self.handing.ledger})


def release_solution(request: ReleaseRequest, progress: Progress = NO_PROGRESS) -> ReleaseReport:
    """Check the release, write and verify it, publish it as the folder of the request, and copy it to its target.

    Raises `InputError`, `VerificationFailed` or `Cancelled`; the folder then keeps its earlier content.
    """
    check_release_target(request.target, request.inputs)
    check_handover(request.handing, request.ran.table.source.path, request.target)
    if not request.replaces:
        check_unoccupied(request.target)
    loss = check_loss(
        request.ran, request.solution, request.options.exceed_loss, request.loss_limit_percent, progress
    )
    ran = add_findings(request.ran, loss)
    ran = replace(
        ran, table=map_regions(ran.table, ran.problem.region_column, ran.problem.regions.mapping)
    )
    require_unchanged(ran.table.source)
    if ran.problem.regions.mapping is not None:
        require_unchanged(ran.problem.regions.mapping.source)
    copy = _check_copy(request, progress)
    # The secret of the rows' order is drawn here, so that it is among the options that are kept.
    options = request.options.with_secret_drawn()
    released = [name for name, _ in options.released_columns(ran.table.file_format.header)]
    result = check_requirement(
        ran.result, ran.problem, request.requirement, released, bool(options.aggregate)
    )
    ran = replace(ran, result=result)
    solution = ran.result.solution(request.solution)
    document = _build_document(request, ran, solution, options)
    missing = find_missing_ledger(request.handing)
    if missing is not None:
        document["ledger_missing"] = str(missing)
    check = check_before_release(
        request.handing, ran.problem, ran.table, solution, options, SubProgress(progress, 0.0, 0.1)
    )
    if check is not None:
        document["ledger_check"] = check
    write_request = WriteRequest(
        ran.problem, ran.table, ran.result, solution, options, request.target, document
    )
    report = write_release(write_request, SubProgress(progress, 0.1, 1.0 if copy is None else 0.8))
    if copy is not None:
        _copy_records(request, copy, options, SubProgress(progress, 0.8, 1.0))
    ledger_findings = describe_ledger_used(request.handing, ran.table.source.path)
    return replace(report, findings=(*report.findings, *ledger_findings, *loss))


def _check_copy(request: ReleaseRequest, progress: Progress) -> CopyRequest | None:
    """Return the request to copy the records to another target, if there is one; raise `InputError` if it cannot be."""
    if not request.handing.also:
        return None
    copy = CopyRequest(request.handing.also, request.options.format)
    check_copy_target(copy, request.inputs, progress)
    return copy


def _copy_records(
    request: ReleaseRequest, copy: CopyRequest, options: ReleaseOptions, progress: Progress
) -> None:
    """Copy the records of the published release; an error does not undo the release."""
    file_format = request.ran.table.file_format
    problem = request.ran.problem
    named = dict(options.released_columns(file_format.header))
    used = (problem.region_column, *problem.quasi_identifiers)
    original = Original(
        request.target / "release" / f"anonymized.{options.format}",
        tuple(named[name] for name in used if name in named),
        problem.k,
        options.release_delimiter or file_format.delimiter or ",",
        encoding_of_release(file_format.encoding),
    )
    try:
        copy_release(copy, original, progress)
    except InputError as error:
        *others, last = error.findings
        remedy = f"{last.remedy} The release itself is complete: {request.target}."
        raise InputError([*others, replace(last, remedy=remedy)]) from None


def _build_document(
    request: ReleaseRequest, ran: RunOutcome, solution: Solution, options: ReleaseOptions
) -> dict[str, Any]:
    """Build the content of ``run.json`` with checklist and requirement."""
    document = build_document(ran, solution, options)
    if request.policy is not None:
        document["policy_checklist"] = dict(request.policy)
    if request.requirement is not None:
        document["requirement"] = request.requirement.as_dict()
    return document if request.earlier is None else _as_earlier(document, request.earlier)


def try_release(
    request: ReleaseRequest | ExportRequest, progress: Progress = NO_PROGRESS
) -> ReleaseReport | ReleaseRefusal:
    """Release a solution or export a run; return a refusal if a person can decide about all that was found."""
    codes: tuple[str, ...] = (AUDIENCE, OCCUPIED)
    if isinstance(request, ReleaseRequest):
        codes = (DISCLOSIVE_COLUMN, DIFFERENCING, LOSS, SITES_REVEALED, AUDIENCE, RECORDED, OCCUPIED)
    try:
        if isinstance(request, ReleaseRequest):
            return release_solution(request, progress)
        return export_run(request, progress)
    except InputError as error:
        refusal = ReleaseRefusal.from_error(error, codes)
        if refusal is None:
            raise
        return refusal


def check_loss(
    ran: RunOutcome,
    solution_id: int,
    exceed_loss: bool,
    limit_percent: float | None = None,
    progress: Progress = NO_PROGRESS,
) -> tuple[Finding, ...]:
    """Refuse a solution that loses more than the allowed loss in force, unless ``exceed_loss``; the remark on a loss
    that is larger than is allowed or usual. ``limit_percent`` is in force in place of the run's own limit.
    """
    solution = ran.result.solution(solution_id)
    limit = find_loss_limit(ran.settings) if limit_percent is None else limit_percent
    percent = ran.result.allowed_loss_percent if limit is None else limit
    if not exceeds_loss(ran.problem, solution, percent):
        return ()
    found = describe_loss(ran.problem, ran.result, solution, percent, limit is not None, progress)
    if limit is None or exceed_loss:
        return (found,)
    message = f"Nothing was written. {found.message}"
    remedy = f"{found.remedy} Or allow a larger loss (--allowed-loss).{EXCEED_HINT}"
    raise InputError(replace(found, message=message, remedy=remedy, severity=Severity.ERROR))


@dataclass(frozen=True, eq=False)
class CoverageRequest:
    """Ask for which columns of a release k would hold, and how many records all of them together single out."""

    problem: Problem
    table: RecordTable
    solution: Solution
    options: ReleaseOptions


def count_coverage(request: CoverageRequest, progress: Progress = NO_PROGRESS) -> ColumnCoverage:
    """Sort the columns of a release by whether k holds for them, before anything is written."""
    table = map_regions(request.table, request.problem.region_column, request.problem.regions.mapping)
    return expect_coverage(
        build_plan(request.problem, request.solution), table, request.options, progress
    )


@dataclass(frozen=True)
class ExportRequest:
    """Ask to repeat an earlier run from its folder and to release one of its solutions (None: the one of the run).

    ``changes`` are options of the release that differ from those of the run, by the names of the command line;
    ``records`` and ``regions`` say where files are that were moved. ``replaces``: as in `ReleaseRequest`.
    """

    folder: Path
    target: Path
    solution: int | None = None
    changes: Mapping[str, Any] = field(default_factory=dict)
    records: str | Path | None = None
    regions: Path | None = None
    handing: RecipientOptions = field(default_factory=RecipientOptions)
    replaces: bool = True


def export_run(request: ExportRequest, progress: Progress = NO_PROGRESS) -> ReleaseReport:
    """Repeat the run, compare it with the earlier one, and release its solution."""
    document = read_run_file(request.folder)
    kept = document.get("options") or {}
    if "region_column" not in kept:
        message = "The run file lacks the options of the run."
        raise InputError(Finding("run-file", message, "Run it again with `vbas run --out`."))
    with _explaining_damage():
        settings, _ = settings_from_options({**kept, **request.changes})
        # Consent to a loss beyond what is allowed, or to revealed sites, is given for one release at a time.
        options = ReleaseOptions.from_dict(
            {**kept, "exceed_loss": None, "confirm_sites": None, **request.changes}
        )
        repeated = _find_repeated_solution(document, options)
    inputs = _list_export_inputs(request, kept)
    check_release_target(request.target, inputs)
    moved = {"records": request.records, "regions": request.regions}
    named_again = {*request.changes, *(name for name, path in moved.items() if path)}
    check_named_inputs(request.folder, kept, named_again)
    check_handover(request.handing, request.records or kept["records"], request.target)
    if not request.replaces:
        check_unoccupied(request.target)
    if request.handing.also:
        check_copy_target(CopyRequest(request.handing.also, options.format), inputs, progress)
    if options.policy is not None:
        find_policy(options.policy)
    load = LoadRequest(
        parse_address(request.records or kept["records"]),
        Path(request.regions or kept["regions"]),
        settings.reading,
        required_columns=settings.identifiers,
        region_column=settings.region_column,
    )
    data = load_data(load, SubProgress(progress, 0.0, 0.4))
    mapping = data.regions.mapping
    mapped = {} if mapping is None else {"region_map": mapping.source}
    _refuse_other_files(
        document, {"records": data.table.source, "regions": data.regions.source, **mapped}
    )
    _refuse_other_filters(document, data.table)
    ran = run_configuration(RunRequest(settings, data), SubProgress(progress, 0.4, 0.6))
    solution = choose_solution(ran, request.solution or document.get("chosen_solution"))
    with _explaining_damage():
        _refuse_other_result(document, solution.as_dict(), solution.diagnostics.get("given"))
    if "shuffle_seed" not in request.changes and repeated != solution.id:
        # Every other release has an order of its own, so that rows that are in both cannot be told by their places.
        options = options.replaced(shuffle_seed=None)
    more = _requirement(document), document.get("policy_checklist"), document, request.handing
    release = ReleaseRequest(ran, solution.id, options, request.target, *more)
    return release_solution(release, SubProgress(progress, 0.6, 1.0))


def _list_export_inputs(request: ExportRequest, kept: Mapping[str, Any]) -> list[Path]:
    """List the files that are read, among them the one that says how the run was made."""
    given = {name: value for name in ("records", "regions") if (value := getattr(request, name))}
    named: dict[str, Any] = {
        "run_folder": request.folder,
        "ledger": request.handing.ledger,
        "generalise": [],
    }
    return input_paths({**kept, **request.changes, **given, **named})


def _as_earlier(document: dict[str, Any], earlier: Mapping[str, Any]) -> dict[str, Any]:
    """Return the document of a repeated run with the paths and times of the earlier one."""
    places = {name: earlier["options"][name] for name in ("records", "regions")}
    before = {solution["id"]: solution for solution in earlier["solutions"]}
    for solution in document["solutions"]:
        kept = before.get(solution["id"], {})
        if "seconds" in kept and "seconds" in kept.get("measures", {}):
            solution["seconds"] = kept["seconds"]
            solution["measures"]["seconds"] = kept["measures"]["seconds"]
    same = {name: earlier[name] for name in ("inputs", "seconds", "total_seconds") if name in earlier}
    return {**document, **same, "options": {**document["options"], **places}}


def read_checklist(path: Path) -> dict[str, Any]:
    """Read the filled-in checklist of a release. Raises `InputError` if it is none."""
    try:
        found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        ChecklistDocument.model_validate(found)
    except (ValueError, RecursionError):
        message = "This is not a checklist that a release keeps."
        raise InputError(
            Finding("checklist", message, "Name the checklist.json of a release.", file=str(path))
        ) from None
    return found


def _requirement(document: Mapping[str, Any]) -> Requirement | None:
    return parse_requirement(document["requirement"]) if document.get("requirement") else None


def _find_repeated_solution(document: Mapping[str, Any], chosen: ReleaseOptions) -> int | None:
    """Return the solution that an earlier run released with these options, whatever the shuffle seed; else None."""
    kept = document.get("release") or {}
    before = ReleaseOptions.from_dict(kept)
    return kept.get("solution") if before.replaced(shuffle_seed=chosen.shuffle_seed) == chosen else None


@contextmanager
def _explaining_damage() -> Iterator[None]:
    """Turn errors in reading what an earlier run wrote into an `InputError` that says it is damaged."""
    try:
        yield
    except (TypeError, ValueError, KeyError, AttributeError):
        message = "The run.json of this run is damaged: an option has a value that none can have."
        raise InputError(Finding("run-file", message, "Run it again with `vbas run --out`.")) from None


def _refuse_other_files(document: Mapping[str, Any], now: Mapping[str, Any]) -> None:
    inputs = document.get("inputs") or {}
    findings = [
        Finding(
            "input-changed",
            "This is not the file of the run: its content differs.",
            "Name the file of the run, or run again.",
            file=source.path,
        )
        for name, source in now.items()
        if source is not None and (inputs.get(name) or {}).get("sha256") != source.sha256
    ]
    if findings:
        raise InputError(findings)


def _refuse_other_filters(document: Mapping[str, Any], table: RecordTable) -> None:
    """Refuse filters of records that are not those of the run."""
    before = (document.get("selection") or {}).get("sha256", "")
    if table.source.selection != before:
        message = "The filters of records are not those of the run: their content differs."
        raise InputError(
            Finding("input-changed", message, "Restore the files of the run, or run again.")
        )


def _refuse_other_result(
    document: Mapping[str, Any], solution: Mapping[str, Any], given: Mapping[str, Any] | None
) -> None:
    """Raise `InputError` if a repeated run gave another solution, for example with another program version.

    given: the file of the partition if the construction is “Given”.
    """
    before = next((entry for entry in document["solutions"] if entry["id"] == solution["id"]), None)
    if before is None:
        raise UsageError(f"The run has no solution {solution['id']}.")
    same = all(before.get(name) == solution[name] for name in ("sites", "aggregated_regions"))
    name = "suppressed_records"
    same = same and (before.get("given") or {}).get("sha256") == (given or {}).get("sha256")
    if not same or before["measures"].get(name) != solution["measures"].get(name):
        raise InputError(
            Finding(
                "not-repeatable",
                "Repeating the run gave another solution than the one that was kept.",
                "Run again with this version of the program and release the new result.",
            )
        )
