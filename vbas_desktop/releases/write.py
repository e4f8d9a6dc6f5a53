"""Writes a release: the anonymised file with its documents, audited, then published as a whole."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from vbas_desktop.analysis.policy_evaluation import PolicyEvaluation
from vbas_desktop.analysis.risk import find_population_column
from vbas_desktop.background import in_background, run_cancellable
from vbas_desktop.engine.region_map import map_regions
from vbas_desktop.io.documents.policies import find_policy
from vbas_desktop.io.documents.population import read_population
from vbas_desktop.io.documents.run_file import build_run_document
from vbas_desktop.io.output import require_space, staged_folder
from vbas_desktop.model.problem import Problem
from vbas_desktop.model.progress import NO_PROGRESS, Progress, SubProgress
from vbas_desktop.model.records import RecordTable
from vbas_desktop.model.solution import RunResult, Solution
from vbas_desktop.settings.release import ReleaseOptions

from .audited_records import AuditedRecords, write_audited_records
from .documents import (
    DRAWING,
    ReleaseDrawings,
    draw_release,
    find_formulas,
    list_release_files,
    write_documents,
    write_drawings,
)
from .folder import NAMES, ReleaseReport
from .policy_figures import assess_population_risk, judge_release
from .preparation import PreparedRelease, prepare_release, unchanged_records

MARGIN_BYTES = 32 << 20
MAX_REGIONS_DRAWN_MEANWHILE = 250_000
"""The cells of more initial regions take so much memory that they are drawn after the audit, not at the same time."""


@dataclass(frozen=True, eq=False)
class WriteRequest:
    """Ask for the release of one solution.

    table: the records, which must be those that the problem was counted from.
    document: the content of ``run.json`` without the choices of the release; None to make it.
    """

    problem: Problem
    table: RecordTable
    result: RunResult
    solution: Solution
    options: ReleaseOptions
    target: Path
    document: Mapping[str, Any] | None = None


def write_release(request: WriteRequest, progress: Progress = NO_PROGRESS) -> ReleaseReport:
    """Write ``release/``, ``internal/`` and ``run.json``, verify them, then publish them as the folder of the request.

    Raises `InputError`, `VerificationFailed` or `Cancelled`; the target then keeps its earlier content.
    """
    problem = request.problem
    options = request.options.with_secret_drawn()
    table = map_regions(request.table, problem.region_column, problem.regions.mapping)
    _check_options(options, table)
    with unchanged_records(problem, table, options, progress):
        require_space(request.target.parent, estimate_release_bytes(table, options))
        release = prepare_release(problem, table, request.result, request.solution, options, progress)
        document = dict(
            request.document or build_run_document(problem, request.result, {}, request.solution.id)
        )
        policy = _complete_document(document, release, progress)
        with staged_folder(request.target, NAMES) as folder:
            (folder / "release").mkdir()
            (folder / "internal").mkdir(0o700)
            audited, drawings = _write_and_draw(release, folder, SubProgress(progress, 0.0, 0.9))
            drawing_checks = write_drawings(release, drawings, folder, SubProgress(progress, 0.9, 0.9))
            audited = audited.with_checks(drawing_checks)
            document["last_look"] = audited.last_look
            write_documents(
                release, audited, drawings, document, folder, SubProgress(progress, 0.95, 1.0)
            )
            if release.records.engine is not None:
                release.records.engine.check_unchanged()
            progress.update("Putting the release in place", 1.0)
        return _report(request.target, release, audited, document, policy)


def _check_options(options: ReleaseOptions, table: RecordTable) -> None:
    """Refuse an unknown policy and wrong choices of columns before anything else is done."""
    if options.policy is not None:
        find_policy(options.policy)
    options.released_columns(table.file_format.header)


def estimate_release_bytes(table: RecordTable, options: ReleaseOptions) -> int:
    """Estimate the bytes of the released file, of its rows again while they are shuffled, and of the small files."""
    is_packed = table.file_format.compressed or table.file_format.format == "parquet"
    size = table.source.size_bytes * (6 if is_packed else 1)
    per_row = 8
    if options.class_size:
        per_row += 8
    if options.record_key:
        # A key stands in the released file and in the index, which has two numbers more.
        per_row += 56
    copies = 2 if options.shuffle else 1
    return (size + per_row * table.rows) * copies + MARGIN_BYTES


def _complete_document(
    document: dict[str, Any], release: PreparedRelease, progress: Progress
) -> PolicyEvaluation | None:
    """Add the choices of the release and what follows from them to ``run.json``; return how the policy judges it."""
    options = release.options
    document["columns"] = release.coverage.as_dict()
    document["release"] = {"solution": release.plan.solution.id, **options.as_dict()}
    if document.get("options"):
        document["options"] = {**document["options"], "shuffle_seed": options.shuffle_seed}
    document |= _describe_population(release, find_population_column(document), progress)
    if options.policy is None:
        return None
    policy = judge_release(options.policy, release.plan, document)
    document["policy"] = policy.as_dict()
    return policy


def _describe_population(
    release: PreparedRelease, column: str | None, progress: Progress
) -> dict[str, Any]:
    """Return the risks that the numbers of inhabitants show, as an entry of ``run.json``; empty if they are unknown."""
    table = None
    if release.options.population is not None:
        path = Path(release.options.population)
        table = read_population(path, release.plan.problem, SubProgress(progress, 0.0, 0.0))
    risk = assess_population_risk(release.plan, column, table)
    if risk is None:
        return {}
    source = {} if table is None else {"table_sha256": table.source.sha256}
    return {"population": {**risk.as_dict(), **source}}


def _write_and_draw(
    release: PreparedRelease, folder: Path, progress: Progress
) -> tuple[AuditedRecords, ReleaseDrawings]:
    """Write and audit the records; draw the regions at the same time, if the memory is enough for both."""
    drawing = SubProgress(progress, 1.0, 1.0)
    if len(release.plan.problem.regions) > MAX_REGIONS_DRAWN_MEANWHILE:
        audited = write_audited_records(release, folder, progress)
        return audited, run_cancellable(lambda: draw_release(release), drawing, DRAWING)
    with in_background(lambda _: draw_release(release), DRAWING, abandon=True) as drawings:
        audited = write_audited_records(release, folder, progress)
        return audited, drawings.result(drawing)


def _report(
    target: Path,
    release: PreparedRelease,
    audited: AuditedRecords,
    document: Mapping[str, Any],
    policy: PolicyEvaluation | None,
) -> ReleaseReport:
    """Collect the numbers of the published release."""
    plan = release.plan
    return ReleaseReport(
        target=target,
        records=plan.problem.records,
        records_released=plan.records_released,
        records_suppressed=plan.records_suppressed,
        aggregated_regions=len(plan.codes),
        anonymity=plan.anonymity,
        checks=audited.checks,
        files=list_release_files(release, audited, target),
        findings=(
            *release.coverage.findings(),
            *release.findings,
            *find_formulas(release, audited, document),
        ),
        columns=release.coverage,
        policy=policy,
        population=document.get("population"),
        regions_with_records=int(np.count_nonzero(plan.released_by_region)),
        in_tiers=bool(plan.coarser),
        last_look=audited.last_look,
    )
