"""Releasing one solution of a run, now or from the folder that an earlier run left behind, and putting it into another
place, too: a table, a file or a folder.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vbas_desktop.io.databases.address import record_place
from vbas_desktop.io.databases.targets import Target, target_of
from vbas_desktop.io.output import refuse_inputs
from vbas_desktop.model.errors import Finding, InputError, Severity, UsageError
from vbas_desktop.model.progress import Progress, Silent, Span
from vbas_desktop.model.solution import Solution
from vbas_desktop.settings.approaches import run_settings
from vbas_desktop.settings.command import options_in_force
from vbas_desktop.settings.reading import RecordOptions
from vbas_desktop.settings.release import ReleaseOptions
from vbas_desktop.settings.writing import HandingOver

from .data import LoadJob
from .inputs import input_paths, local_paths
from .run import Ran, RunJob, checked, chosen_solution

if TYPE_CHECKING:
    from vbas_desktop.assessment.representability.requirement import Requirement
    from vbas_desktop.audit.copies import Original
    from vbas_desktop.model.problem import Problem
    from vbas_desktop.model.records import RecordTable
    from vbas_desktop.release import ReleaseReport
    from vbas_desktop.release.column_coverage import ColumnCoverage
    from vbas_desktop.release.ledger import Entry


@dataclass(frozen=True, eq=False)
class Stopped:
    """Why nothing was released; ``earlier`` is the release beside which people would be singled out.

    ``similar`` is the audience in the ledger that has nearly the same name.
    """

    findings: tuple[Finding, ...]
    earlier: Entry | None = None
    similar: str | None = None

    @classmethod
    def by(cls, error: InputError, codes: Collection[str]) -> Stopped | None:
        """Describe a refusal that a person decides about; None if other findings are among these."""
        if any(finding.code not in codes for finding in error.findings):
            return None
        return cls(tuple(error.findings), getattr(error, "earlier", None), getattr(error, "known", None))


@dataclass(frozen=True, eq=False)
class ReleaseJob:
    """Write the release of one solution of a run to a folder. ``policy`` is the filled-in checklist of the custodian.

    ``earlier`` is the ``run.json`` of the run that is repeated: where its files lay and how long it took stay as told.
    If there is a ledger, the release must single nobody out beside those that the audience has.
    ``loss_limit_percent`` is an allowed loss that is in force in place of the run's own. ``replaces``: an earlier
    release in the target may be replaced, unless the ledger records it.
    """

    ran: Ran
    solution: int
    options: ReleaseOptions
    target: Path
    requirement: Requirement | None = None
    policy: Mapping[str, Any] | None = None
    earlier: Mapping[str, Any] | None = None
    handing: HandingOver = field(default_factory=HandingOver)
    loss_limit_percent: float | None = None
    replaces: bool = True

    def execute(self, progress: Progress = Silent()) -> ReleaseReport:  # noqa: B008 (Silent has no state)
        """Write, verify by reading back, put in place."""
        from vbas_desktop.engine.region_map import map_regions
        from vbas_desktop.io.hashing import require_unchanged
        from vbas_desktop.release import check_release_target, write_release

        from .handover import check_handover, check_unoccupied
        from .ledger import ledger_used, missing_ledger, nothing_compared

        check_release_target(self.target, self.inputs)
        check_handover(self.handing, self.ran.table.source.path, self.target)
        if not self.replaces:
            check_unoccupied(self.target)
        ran, loss = self._checked_loss(progress)
        ran = replace(ran, table=map_regions(ran.table, ran.problem.region_column, ran.problem.regions.mapping))
        require_unchanged(ran.table.source)
        if ran.problem.regions.mapping is not None:
            require_unchanged(ran.problem.regions.mapping.source)
        also = self._also(progress)
        # The secret of the rows' order is drawn here, so that it is among the options that are kept.
        options = self.options.settled()
        released = [name for name, _ in options.released_columns(ran.table.dialect.header)]
        ran = replace(ran, result=checked(ran.result, ran.problem, self.requirement, released, bool(options.aggregate)))
        solution = ran.result.solution(self.solution)
        document = self._document(ran, solution, options)
        missing = missing_ledger(self.handing)
        document |= {} if missing is None else {"ledger_missing": str(missing)}
        document |= self._checked(ran, solution, options, Span(progress, 0.0, 0.1))
        rest = Span(progress, 0.1, 1.0 if also is None else 0.8)
        report = write_release(ran.problem, ran.table, ran.result, solution, options, self.target, rest, document)
        if also is not None:
            self._put(also, options, Span(progress, 0.8, 1.0))
        told = ledger_used(self.handing, ran.table.source.path) if missing is None else (nothing_compared(missing),)
        return replace(report, findings=(*report.findings, *told, *loss))

    def _checked_loss(self, progress: Progress) -> tuple[Ran, tuple[Finding, ...]]:
        """The run with a remark on the loss of the solution, if it is large, and that remark; `InputError` if it is
        larger than is allowed and nobody agreed to that.
        """
        loss = check_loss(self.ran, self.solution, self.options.exceed_loss, self.loss_limit_percent, progress)
        return with_findings(self.ran, loss), loss

    @property
    def inputs(self) -> list[Path]:
        """List the files that the run and the release read."""
        sources = (self.ran.problem.records_source, self.ran.problem.regions_source)
        files = [source.path if source is not None else "" for source in sources]
        options = options_in_force(self.ran.settings, self.options, *files)
        return input_paths({**options, "generalise": [], "ledger": self.handing.ledger})

    def _also(self, progress: Progress) -> TargetJob | None:
        """The place that gets the records besides the folder, if there is one; refused at once if it cannot."""
        if not self.handing.also:
            return None
        job = TargetJob(self.handing.also, self.options.format)
        job.check(self.inputs, progress)
        return job

    def _put(self, also: TargetJob, options: ReleaseOptions, progress: Progress) -> None:
        """Copy the records that are in the folder; what goes wrong does not undo the release."""
        from vbas_desktop.audit.coded_file import encoding_of_release
        from vbas_desktop.audit.copies import Original

        dialect, problem = self.ran.table.dialect, self.ran.problem
        named = dict(options.released_columns(dialect.header))
        used = (problem.region_column, *problem.quasi_identifiers)
        original = Original(
            self.target / "release" / f"anonymized.{options.format}",
            tuple(named[name] for name in used if name in named),
            problem.k,
            options.delimiter or dialect.delimiter or ",",
            encoding_of_release(dialect.encoding),
        )
        try:
            also.execute(original, progress)
        except InputError as error:
            *others, last = error.findings
            remedy = f"{last.remedy} The release itself is complete: {self.target}."
            raise InputError([*others, replace(last, remedy=remedy)]) from None

    def execute_or_tell(self, progress: Progress = Silent()) -> ReleaseReport | Stopped:  # noqa: B008
        """The same; what the release would tell is handed back, since the person who releases decides about it."""
        from vbas_desktop.engine.loss import LOSS
        from vbas_desktop.release import TELLTALE
        from vbas_desktop.release.cells import SITES
        from vbas_desktop.release.ledger import DIFFERENCING

        from .handover import AUDIENCE, OCCUPIED, RECORDED

        try:
            return self.execute(progress)
        except InputError as error:
            stopped = Stopped.by(error, (TELLTALE, DIFFERENCING, LOSS, SITES, AUDIENCE, RECORDED, OCCUPIED))
            if stopped is None:
                raise
            return stopped

    def _checked(self, ran: Ran, solution: Solution, options: ReleaseOptions, progress: Progress) -> dict[str, Any]:
        """What the ledger says of this release, for run.json; refused if it would single people out."""
        from .ledger import check_before_release

        found = check_before_release(self.handing, ran.problem, ran.table, solution, options, progress)
        return {} if found is None else {"ledger_check": found}

    def _document(self, ran: Ran, solution: Solution, options: ReleaseOptions) -> dict[str, Any]:
        document = document_of(ran, solution, options)
        if self.policy is not None:
            document["policy_checklist"] = dict(self.policy)
        if self.requirement is not None:
            document["requirement"] = self.requirement.as_dict()
        return document if self.earlier is None else _as_earlier(document, self.earlier)


def check_loss(
    ran: Ran,
    solution_id: int,
    exceed_loss: bool,
    limit_percent: float | None = None,
    progress: Progress = Silent(),  # noqa: B008 (Silent has no state)
) -> tuple[Finding, ...]:
    """Refuse a solution that loses more than the allowed loss in force, unless ``exceed_loss``; the remark on a loss
    that is larger than is allowed or usual. ``limit_percent`` is in force in place of the run's own limit.
    """
    from vbas_desktop.engine.loss import EXCEED_HINT, exceeds_loss, loss_finding

    solution = ran.result.solution(solution_id)
    limit = ran.settings.loss_limit_percent if limit_percent is None else limit_percent
    percent = ran.result.allowed_loss_percent if limit is None else limit
    if not exceeds_loss(ran.problem, solution, percent):
        return ()
    found = loss_finding(ran.problem, ran.result, solution, percent, limit is not None, progress)
    if limit is None or exceed_loss:
        return (found,)
    message = f"Nothing was written. {found.message}"
    remedy = f"{found.remedy} Or allow a larger loss (--allowed-loss).{EXCEED_HINT}"
    raise InputError(replace(found, message=message, remedy=remedy, severity=Severity.ERROR))


def with_findings(ran: Ran, findings: tuple[Finding, ...]) -> Ran:
    """The same run with more remarks."""
    return replace(ran, result=replace(ran.result, findings=(*ran.result.findings, *findings)))


def document_of(ran: Ran, solution: Solution, options: ReleaseOptions) -> dict[str, Any]:
    """The content of ``run.json``: what was run with which settings, and what came of it."""
    from vbas_desktop.io.runfile import run_document

    sources = (ran.problem.records_source, ran.problem.regions_source)
    files = [source.path if source is not None else "" for source in sources]
    document = run_document(ran.problem, ran.result, options_in_force(ran.settings, options, *files), solution.id)
    if ran.table.rows_hash:
        # By this the ledger knows the same records again in another order.
        document["rows_hash"] = ran.table.rows_hash
    if solution.requirement is not None:
        document["requirement_check"] = [dict(row) for row in solution.requirement.criteria]
    return document


@dataclass(frozen=True, eq=False)
class CoverageJob:
    """Say for which columns of a release k would hold, and count the records that all of them together single out."""

    problem: Problem
    table: RecordTable
    solution: Solution
    options: ReleaseOptions

    def execute(self, progress: Progress = Silent()) -> ColumnCoverage:  # noqa: B008 (Silent has no state)
        """Count, before anything is written."""
        from vbas_desktop.engine.region_map import map_regions
        from vbas_desktop.release.column_coverage import expect_coverage
        from vbas_desktop.release.plan import make_plan

        table = map_regions(self.table, self.problem.region_column, self.problem.regions.mapping)
        return expect_coverage(make_plan(self.problem, self.solution), table, self.options, progress)


@dataclass(frozen=True)
class ExportJob:
    """Repeat an earlier run from its folder and release one of its solutions (None: the one of the run).

    ``changes`` are options of the release that differ from those of the run, by the names of the command line;
    ``records`` and ``regions`` say where files are that were moved. ``replaces``: as in `ReleaseJob`.
    """

    folder: Path
    target: Path
    solution: int | None = None
    changes: Mapping[str, Any] = field(default_factory=dict)
    records: str | Path | None = None
    regions: Path | None = None
    handing: HandingOver = field(default_factory=HandingOver)
    replaces: bool = True

    def execute_or_tell(self, progress: Progress = Silent()) -> ReleaseReport | Stopped:  # noqa: B008
        """Release; what a person has to decide before is handed back."""
        from .handover import AUDIENCE, OCCUPIED

        try:
            return self.execute(progress)
        except InputError as error:
            stopped = Stopped.by(error, (AUDIENCE, OCCUPIED))
            if stopped is None:
                raise
            return stopped

    def execute(self, progress: Progress = Silent()) -> ReleaseReport:  # noqa: B008
        """Read, run, compare with what was kept, release."""
        from vbas_desktop.io.policies import find_policy
        from vbas_desktop.io.runfile import check_named_inputs, read_run_file
        from vbas_desktop.release import check_release_target

        from .handover import check_handover, check_unoccupied

        document = read_run_file(self.folder)
        kept = document.get("options") or {}
        if "region_column" not in kept:
            message = "The run file lacks the options of the run."
            raise InputError(Finding("run-file", message, "Run it again with `vbas run --out`."))
        with _undamaged():
            settings, _ = run_settings({**kept, **self.changes})
            # Consent to a loss beyond what is allowed, or to revealed sites, is given for one release at a time.
            options = ReleaseOptions.from_options({**kept, "exceed_loss": None, "confirm_sites": None, **self.changes})
            repeated = _repeated(document, options)
        inputs = self._inputs(kept)
        check_release_target(self.target, inputs)
        moved = {"records": self.records, "regions": self.regions}
        named_again = {*self.changes, *(name for name, path in moved.items() if path)}
        check_named_inputs(self.folder, kept, named_again)
        check_handover(self.handing, self.records or kept["records"], self.target)
        if not self.replaces:
            check_unoccupied(self.target)
        if self.handing.also:
            TargetJob(self.handing.also, options.format).check(inputs, progress)
        if options.policy is not None:
            find_policy(options.policy)
        load = LoadJob(
            record_place(self.records or kept["records"]),
            Path(self.regions or kept["regions"]),
            settings.reading,
            named=settings.identifiers,
            region_column=settings.region_column,
        )
        data = load.execute(Span(progress, 0.0, 0.4))
        mapping = data.regions.mapping
        mapped = {} if mapping is None else {"region_map": mapping.source}
        _refuse_other_files(document, {"records": data.table.source, "regions": data.regions.source, **mapped})
        _refuse_other_filters(document, data.table)
        ran = RunJob(settings, data).execute(Span(progress, 0.4, 0.6))
        solution = chosen_solution(ran, self.solution or document.get("chosen_solution"))
        with _undamaged():
            _refuse_other_result(document, solution.as_dict())
        if "shuffle_seed" not in self.changes and repeated != solution.id:
            # Every other release has an order of its own, so that rows that are in both cannot be told by their places.
            options = replace(options, shuffle_seed=None)
        more = _requirement(document), document.get("policy_checklist"), document, self.handing
        job = ReleaseJob(ran, solution.id, options, self.target, *more)
        return job.execute(Span(progress, 0.6, 1.0))

    def _inputs(self, kept: Mapping[str, Any]) -> list[Path]:
        """List the files that are read, among them the one that says how the run was made."""
        given = {name: value for name in ("records", "regions") if (value := getattr(self, name))}
        named: dict[str, Any] = {"run_folder": self.folder, "ledger": self.handing.ledger, "generalise": []}
        return input_paths({**kept, **self.changes, **given, **named})


def _as_earlier(document: dict[str, Any], earlier: Mapping[str, Any]) -> dict[str, Any]:
    """The document of a run that was repeated: what only the first time knows is taken from there."""
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
    """A filled-in checklist as a release keeps it."""
    import jsonschema

    from vbas_desktop.io.runfile import CHECKLIST_SCHEMA

    try:
        found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        jsonschema.validate(found, CHECKLIST_SCHEMA)
    except (ValueError, RecursionError, jsonschema.ValidationError):
        message = "This is not a checklist that a release keeps."
        raise InputError(
            Finding("checklist", message, "Name the checklist.json of a release.", file=str(path))
        ) from None
    return found


def _requirement(document: Mapping[str, Any]) -> Requirement | None:
    from vbas_desktop.assessment.representability.requirement import requirement_from

    return requirement_from(document["requirement"]) if document.get("requirement") else None


def _repeated(document: Mapping[str, Any], chosen: ReleaseOptions) -> int | None:
    """The solution of which this would be the release that the run wrote, once more; None if of none."""
    kept = document.get("release") or {}
    before = ReleaseOptions.from_dict(kept)
    return kept.get("solution") if replace(before, shuffle_seed=chosen.shuffle_seed) == chosen else None


@contextmanager
def _undamaged() -> Iterator[None]:
    """What an earlier run kept is understood as it is; what cannot be was damaged."""
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
        raise InputError(Finding("input-changed", message, "Restore the files of the run, or run again."))


def _refuse_other_result(document: Mapping[str, Any], solution: Mapping[str, Any]) -> None:
    """A run that cannot be repeated (another program version, say) must not be released under its name."""
    before = next((entry for entry in document["solutions"] if entry["id"] == solution["id"]), None)
    if before is None:
        raise UsageError(f"The run has no solution {solution['id']}.")
    same = all(before.get(name) == solution[name] for name in ("sites", "aggregated_regions"))
    name = "suppressed_records"
    if not same or before["measures"].get(name) != solution["measures"].get(name):
        raise InputError(
            Finding(
                "not-repeatable",
                "Repeating the run gave another solution than the one that was kept.",
                "Run again with this version of the program and release the new result.",
            )
        )


@dataclass(frozen=True)
class TargetJob:
    """Copy a released file to the place that a text names; it gets its name there when it was read back."""

    address: str
    format: str

    @property
    def target(self) -> Target:
        """The place, if it takes such a file."""
        found = target_of(self.address)
        if self.format not in found.formats:
            message = f"This target takes no {self.format.upper()} file, since it has types."
            raise InputError(
                Finding("release-option", message, "Choose the format parquet for the release.", file=self.address)
            )
        return found

    def check(self, inputs: Iterable[Path] = (), progress: Progress = Silent()) -> None:  # noqa: B008
        """Refuse a target that would be refused in the end, before anything is computed."""
        target = self.target
        for path in local_paths(self.address):
            refuse_inputs(path, inputs)
        target.check(progress)

    def execute(self, original: Original, progress: Progress = Silent()) -> int:  # noqa: B008
        """Copy, read back, put in place; the number of rows."""
        from vbas_desktop.audit.copies import check_copy
        from vbas_desktop.io.databases.table import open_engine

        reading = RecordOptions(original.delimiter, original.encoding, "no")
        with self.target.staged(original.file, Span(progress, 0.0, 0.5)) as address:
            engine = open_engine(address, reading, Span(progress, 0.5, 0.6))
            try:
                with engine.steady(progress):
                    return check_copy(engine, original, Span(progress, 0.6, 1.0))
            finally:
                engine.close()
