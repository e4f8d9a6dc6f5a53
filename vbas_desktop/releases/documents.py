"""Everything that a release consists of besides the records: tables, shapes, reports, run.json and format_checksums."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vbas_desktop.algorithms.polygons import Shapes
from vbas_desktop.algorithms.region_graph import count_pieces, region_neighbours
from vbas_desktop.background import run_cancellable
from vbas_desktop.engine.geographic_representability import (
    GeographicRepresentability,
    measure_geographic_representability,
)
from vbas_desktop.io.documents import hierarchies
from vbas_desktop.io.documents.run_file import format_document, write_run_file
from vbas_desktop.io.documents.run_options import GROUPS_FILE, SEED_FILE, files_to_repeat
from vbas_desktop.io.output import make_private
from vbas_desktop.model.findings import Check, Finding, Severity
from vbas_desktop.model.progress import Progress, SubProgress
from vbas_desktop.model.text import count_formulas, describe_formulas

from . import recipient_vector
from .audited_records import AuditedRecords
from .folder import ReleasedFile
from .geometry import WRITERS, ProjectedShapes, build_shapes, build_tier_shapes, project_shapes
from .preparation import PreparedRelease
from .recipient_facts import RecipientFacts, collect_recipient_facts
from .reports import (
    InternalFacts,
    RecipientReportFacts,
    build_internal_report,
    build_recipient_report,
    render_html,
)
from .reports.blocks import Report
from .reports.choices import describe_file
from .reports.maps import Maps, make_maps
from .shapes_check import check_shapes
from .tables import aggregated_regions, format_checksums, list_files, list_regions_internally

DRAWING = "Drawing the aggregated regions"
_WRITING_REPORTS = "Writing the reports"
_ESCAPED = "They were written with an apostrophe in front."
_ESCAPE = "Let them be escaped if the recipient opens the file with a spreadsheet program."


@dataclass(frozen=True, eq=False)
class ReleaseDrawings:
    """All that does not depend on how the records are written.

    pieces: number of connected parts of each aggregated region.
    shapes: those of each tier by kind of file. files: content by path in the folder of the release.
    """

    maps: Maps
    pieces: NDArray[np.int32]
    geography: GeographicRepresentability
    recipient_facts: RecipientFacts
    vector: dict[str, Any]
    shapes: dict[str, list[ProjectedShapes]]
    files: dict[str, bytes]


def draw_release(release: PreparedRelease) -> ReleaseDrawings:
    """Draw the aggregated regions, and collect what the recipient may know of them."""
    plan = release.plan
    options = release.options
    shapes = build_shapes(plan)
    neighbours = region_neighbours(plan.problem.regions)
    pieces = count_pieces(plan.problem.regions, plan.membership, neighbours)
    geography = measure_geographic_representability(plan.problem, plan.solution)
    facts = collect_recipient_facts(plan, geography, options, release.header)
    vector = recipient_vector.build_recipient_vector(facts, options, release.header)
    files = {
        "release/aggregated_regions.csv": aggregated_regions(facts, options.escape_formulas),
        "internal/aggregated_regions.csv": list_regions_internally(plan, pieces, escape=True),
        f"release/{recipient_vector.FILE}": recipient_vector.format_vector(vector).encode(),
    }
    projected: dict[str, list[ProjectedShapes]] = {}
    for kind in WRITERS:
        if kind in options.geometry:
            projected[kind] = _project_tiers(release, kind, shapes)
    for kind, tiers in projected.items():
        files[f"release/aggregated_regions.{kind}"] = WRITERS[kind](facts, tiers)
    maps = make_maps(plan, shapes, neighbours)
    return ReleaseDrawings(maps, pieces, geography, facts, vector, projected, files)


def _project_tiers(release: PreparedRelease, kind: str, shapes: Shapes) -> list[ProjectedShapes]:
    plan = release.plan
    are_cells = plan.cell_sites is not None
    tiers = build_tier_shapes(plan, shapes)
    return [project_shapes(kind, tier, plan.problem.regions, are_cells) for tier in tiers]


def write_drawings(
    release: PreparedRelease, drawings: ReleaseDrawings, folder: Path, progress: Progress
) -> tuple[Check, ...]:
    """Write the tables and shapes of the regions, and read the shapes back. Raises `VerificationFailed`."""
    for path, content in drawings.files.items():
        (folder / path).write_bytes(content)

    def check() -> tuple[Check, ...]:
        table = folder / "release" / "aggregated_regions.csv"
        checks: list[Check] = []
        for kind, tiers in drawings.shapes.items():
            checks += check_shapes(release.plan, tiers, table.with_suffix(f".{kind}"), table)
        return tuple(checks)

    return run_cancellable(check, progress, DRAWING)


def write_documents(
    release: PreparedRelease,
    audited: AuditedRecords,
    drawings: ReleaseDrawings,
    document: Mapping[str, Any],
    folder: Path,
    progress: Progress,
) -> None:
    """Write reports, format_checksums, run.json and what a repetition reads."""
    _write_files_to_repeat(release, document, folder / "internal")
    known_hashes = {release.file_name: audited.written.sha256}
    files = list_files(folder / "release", known_hashes)
    facts = InternalFacts(
        release.plan,
        release.table,
        release.result,
        release.options,
        audited.written,
        audited.checks,
        files,
        drawings.maps,
        drawings.pieces,
        document,
        drawings.geography,
        drawings.recipient_facts,
        release.findings,
        release.coverage,
    )
    recipient_report = partial(_build_recipient_report, release, facts, drawings.vector)
    _write_report(release, recipient_report, folder / "release", SubProgress(progress, 0.0, 0.5))
    _write_report(
        release,
        partial(build_internal_report, facts),
        folder / "internal",
        SubProgress(progress, 0.5, 1.0),
    )
    (folder / "release" / "SHA256SUMS").write_bytes(
        format_checksums(list_files(folder / "release", known_hashes))
    )
    write_run_file(folder, document)
    make_private(folder / "internal")


def _write_report(
    release: PreparedRelease, build_report: Callable[[], Report], folder: Path, progress: Progress
) -> None:
    """Write one report as HTML and, if chosen, as PDF."""

    def render() -> tuple[str, bytes | None]:
        report = build_report()
        html = render_html(report)
        if not release.options.pdf:
            return html, None
        from .reports.pdf import render_pdf

        return html, render_pdf(report)

    html, pdf = run_cancellable(render, progress, _WRITING_REPORTS, fraction=0.0)
    (folder / "report.html").write_text(html, encoding="utf-8")
    if pdf is not None:
        (folder / "report.pdf").write_bytes(pdf)


def _build_recipient_report(
    release: PreparedRelease, facts: InternalFacts, vector: dict[str, Any]
) -> Report:
    options = release.options
    has_formulas = bool(facts.written.formulas or find_name_formulas(release))
    return build_recipient_report(
        RecipientReportFacts(
            facts.recipient_facts,
            vector,
            facts.checks,
            facts.files,
            facts.maps.regions,
            describe_file(release.table.file_format, options, facts.written.encoding),
            facts.document.get("policy"),
            facts.document.get("population"),
            with_formulas=has_formulas and not options.escape_formulas,
        )
    )


def _write_files_to_repeat(
    release: PreparedRelease, document: Mapping[str, Any], internal: Path
) -> None:
    """Write what the command that repeats the release reads besides the two files."""
    files = files_to_repeat(document)
    if "--generalise" in files:
        groups = hierarchies.groupings_from_json(document["options"]["groupings"])
        (internal / GROUPS_FILE).write_text(
            hierarchies.format_groups(groups), encoding="utf-8", newline=""
        )
    if "--shuffle-seed" in files:
        (internal / SEED_FILE).write_text(f"{release.options.shuffle_seed}\n", encoding="utf-8")
    for option, name in (("--requirement", "requirement"), ("--checklist", "policy_checklist")):
        if option in files:
            (internal / files[option]).write_text(format_document(document[name]), encoding="utf-8")


def list_release_files(
    release: PreparedRelease, audited: AuditedRecords, target: Path
) -> tuple[ReleasedFile, ...]:
    """List all files of a published release with their sizes and hashes."""
    return list_files(target, {f"release/{release.file_name}": audited.written.sha256})


def find_formulas(
    release: PreparedRelease, audited: AuditedRecords, document: Mapping[str, Any]
) -> list[Finding]:
    """Warn of formulas in the cells, the header, the ids and the names of a release, and in what is read back."""
    is_escaped = release.options.escape_formulas
    severity = Severity.HINT if is_escaped else Severity.WARNING
    remedy = _ESCAPED if is_escaped else _ESCAPE
    findings = [
        Finding("formula", describe_formulas(count, "cell"), remedy, severity, column=column)
        for column, count in audited.written.formulas.items()
    ]
    findings += find_name_formulas(release)
    if "--generalise" in files_to_repeat(document):
        groups = hierarchies.groupings_from_json(document["options"]["groupings"])
        findings += hierarchies.find_formulas(f"internal/{GROUPS_FILE}", groups)
    return findings


def find_name_formulas(release: PreparedRelease) -> list[Finding]:
    """Warn of formulas among the names of columns, the ids and the names of regions; none are left once escaped."""
    if release.options.escape_formulas:
        return []
    columns = [name for _, name in release.released_columns]
    names = [name for tier in release.plan.tiers for name in tier.names or ()]
    ids = release.plan.regions.ids
    findings = _find_formulas_in(
        f"release/{release.file_name}", "name of a column", "names of columns", columns
    )
    findings += _find_formulas_in("release/crosswalk.csv", "id of a region", "ids of regions", ids)
    findings += _find_formulas_in(
        "release/aggregated_regions.csv", "name of a region", "names of regions", names
    )
    return findings


def _find_formulas_in(file: str, singular: str, plural: str, texts: Sequence[str]) -> list[Finding]:
    count = count_formulas(texts)
    if not count:
        return []
    return [
        Finding(
            "formula", describe_formulas(count, singular, plural), _ESCAPE, Severity.WARNING, file=file
        )
    ]
