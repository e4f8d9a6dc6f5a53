"""Writes the records of a release, and has the auditor read them back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from vbas_desktop.audit.claim import AggregationClaim, ReleaseClaim
from vbas_desktop.audit.filters import FilterClaim
from vbas_desktop.audit.last_look import look_at_release
from vbas_desktop.audit.verification import Verification
from vbas_desktop.background import in_background
from vbas_desktop.engine.constraints import list_constrained_regions
from vbas_desktop.io.output import synchronise_file
from vbas_desktop.model.findings import Check
from vbas_desktop.model.progress import Progress, SubProgress
from vbas_desktop.model.records import RecordTable

from .aggregation import CLASS_COUNTS, class_counts
from .disclosure_checks import refuse_disclosures
from .notation import copied_texts, values_of_texts
from .preparation import PreparedRelease
from .tables import crosswalk
from .written_file import WrittenFile

RECORD_INDEX = "record_index.csv"
"""The index that leads from the released key of a record to its row: for the organisation alone."""

_CROSSWALK = "crosswalk.csv"
_SAVING = "Saving to the disk"


@dataclass(frozen=True, eq=False)
class AuditedRecords:
    """The file that was written, the checks that it passed, and what the last look at its columns found."""

    written: WrittenFile
    checks: tuple[Check, ...]
    last_look: Mapping[str, Any]

    def with_checks(self, checks: tuple[Check, ...]) -> AuditedRecords:
        """Add checks of other files of the release."""
        return replace(self, checks=self.checks + checks)


def write_audited_records(release: PreparedRelease, folder: Path, progress: Progress) -> AuditedRecords:
    """Write the released records with their crosswalk to ``folder``, and verify them by reading them back.

    The auditor reads the record file again while they are written. Raises `VerificationFailed`, or `InputError` if
    the written columns disclose too much.
    """
    outside = folder / "release"
    (outside / _CROSSWALK).write_bytes(crosswalk(release.plan, release.options.escape_formulas))
    if release.aggregated:
        (outside / CLASS_COUNTS).write_bytes(class_counts(release.plan, release.options, release.header))
    claim = _build_claim(release, folder)
    with Verification(release.plan.problem, release.table.file_format, claim) as verification:
        written = _write_records(release, folder, SubProgress(progress, 0.0, 0.55))
        # A slow disk takes seconds for a large file; the auditor need not wait for it.
        synchronise = partial(synchronise_file, claim.file)
        with in_background(lambda _: synchronise(), _SAVING, abandon=True) as saving:
            checks = verification.check(SubProgress(progress, 0.55, 0.85), written.sha256)
            last_look = _look_at_columns(release, verification, SubProgress(progress, 0.85, 0.9))
            saving.result(SubProgress(progress, 0.9, 0.9))
    return AuditedRecords(written, checks, last_look)


def _write_records(release: PreparedRelease, folder: Path, progress: Progress) -> WrittenFile:
    writer = release.records.make_writer(release.options, release.notation, release.aggregated)
    with (folder / "release" / release.file_name).open("wb") as file:
        written = writer.write(file, folder, progress)
    if release.options.record_key:
        writer.write_index(folder / "internal" / RECORD_INDEX)
    return written


def _look_at_columns(
    release: PreparedRelease, verification: Verification, progress: Progress
) -> dict[str, Any]:
    """Test the columns of the written file once more."""
    problem = release.plan.problem
    class_columns = release.options.class_columns(
        release.header, (problem.region_column, *problem.quasi_identifiers)
    )
    last_look = look_at_release(verification.files, class_columns, release.options.pair_tests, progress)
    refuse_disclosures(last_look.disclosures, release.options)
    return last_look.as_dict()


def _build_claim(release: PreparedRelease, folder: Path) -> ReleaseClaim:
    """State what the released file will have to be."""
    plan = release.plan
    table = release.table
    options = release.options
    outside = folder / "release"
    mapping = plan.problem.regions.mapping
    judged = values_of_texts(table, plan.problem.judged_columns)
    copied = copied_texts(plan, table, options)
    return ReleaseClaim(
        outside / release.file_name,
        outside / _CROSSWALK,
        release.released_columns,
        options.class_size,
        options.release_delimiter or table.file_format.delimiter or ",",
        options.escape_formulas,
        plan.problem.records,
        plan.records_released,
        {**judged, **copied},
        *list_constrained_regions(plan.solution),
        source=release.records.engine,
        name_column=options.name_column,
        filters=_claim_filters(table),
        record_key=options.record_key,
        record_index=folder / "internal" / RECORD_INDEX if options.record_key else None,
        region_map=None if mapping is None else Path(mapping.source.path),
        aggregated=tuple(AggregationClaim(name, options.aggregate_below) for name in release.aggregated),
        class_counts=outside / CLASS_COUNTS if release.aggregated else None,
        # What an engine orders by a hash of the row has equal rows side by side.
        shuffled=options.shuffle and release.records.engine is None,
    )


def _claim_filters(table: RecordTable) -> tuple[FilterClaim, ...]:
    """Name the filters by which the auditor chooses the records once more."""
    if table.selection is None:
        return ()
    return tuple(
        FilterClaim(file.source.path, file.source.sha256, name == "keep_records")
        for name, file in table.selection.files
    )
