"""Count the classes of fewer than k records of a file, and write the file without them."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path

from vbas_desktop.analysis.outliers.first_step import FirstStep
from vbas_desktop.analysis.outliers.summary import (
    TreatmentReport,
    describe_filtered_records,
    describe_outliers,
)
from vbas_desktop.analysis.outliers.synthetic_rows import SensitiveFilling
from vbas_desktop.analysis.outliers.treated_rows import TreatmentRequest
from vbas_desktop.analysis.outliers.treatments import OutlierTreatment
from vbas_desktop.analysis.outliers.write import list_companion_files, write_treated_file
from vbas_desktop.analysis.representability.hierarchy import warn_of_unlisted_values
from vbas_desktop.analysis.representability.record_classes import RecordClasses
from vbas_desktop.analysis.representability.report import RepresentabilityOptions
from vbas_desktop.io.databases.address import Address, parse_address
from vbas_desktop.io.hashing import require_unchanged
from vbas_desktop.io.output import check_target
from vbas_desktop.io.record_filter import filter_records, read_record_filter
from vbas_desktop.io.records.loading import load_records
from vbas_desktop.model.findings import Finding, InputError
from vbas_desktop.model.progress import NO_PROGRESS, Progress, SubProgress
from vbas_desktop.settings.reading import RecordReading
from vbas_desktop.settings.writing import AddedColumns, RecordWriting

from .inputs import check_saved_file, input_paths
from .representability import Generalisation


@dataclass(frozen=True)
class OutlierRequest:
    """A file whose small classes are counted; with a target, the file is written without them.

    ``first_step`` prepares the classes before. ``population`` is a file from which made-up records take their sensitive
    values, instead of from the file itself; ``filling`` says which values.
    ``replace``: what is written beside the file may replace what is there already although the file is not there.
    Only records with a combination of ``keep_records`` and none of ``drop_records`` are considered. ``columns`` are
    added or aggregated.
    """

    file: Path
    options: RepresentabilityOptions
    treatment: OutlierTreatment
    target: Path | None = None
    generalisation: Generalisation = field(default_factory=Generalisation)
    writing: RecordWriting = field(default_factory=RecordWriting)
    reading: RecordReading = field(default_factory=RecordReading)
    population: Path | None = None
    replace: bool = False
    first_step: FirstStep = field(default_factory=FirstStep)
    filling: SensitiveFilling = field(default_factory=SensitiveFilling)
    keep_records: Path | None = None
    drop_records: Path | None = None
    columns: AddedColumns = field(default_factory=AddedColumns)


@dataclass(frozen=True, eq=False)
class OutlierResult:
    """The classes below k as text, the findings, and a report on the written file if there was a target."""

    text: str
    findings: tuple[Finding, ...] = ()
    report: TreatmentReport | None = None


def treat_outliers(request: OutlierRequest, progress: Progress = NO_PROGRESS) -> OutlierResult:
    """Load the file, count its small classes, treat them, write the result, and read it back.

    Raises `InputError` or `VerificationFailed`; nothing is written then.
    """
    if isinstance(parse_address(request.file), Address):
        message = "Small classes are handled in a record file, not behind an address."
        raise InputError(Finding("records-needed", message, "Choose a file.", file=str(request.file)))
    columns = request.options.quasi_identifiers
    k = request.options.k
    _check_target(request)
    generalisation = request.generalisation
    hierarchies = generalisation.read_hierarchies(columns)
    required = None if request.keep_records is None else read_record_filter(request.keep_records)
    unwanted = None if request.drop_records is None else read_record_filter(request.drop_records)
    all_records = load_records(request.file, request.reading, SubProgress(progress, 0.0, 0.5))
    require_unchanged(all_records.source)
    table = filter_records(all_records, required, unwanted).require_codes()
    generalisation.check_complete(table, columns)
    distances = generalisation.read_distances(table, columns, hierarchies)
    progress.update("Handling the small classes", 0.5)
    classes = RecordClasses.of_records(table, columns)
    findings = (*table.findings, *warn_of_unlisted_values(classes, hierarchies))
    grouped = request.first_step.group(classes, hierarchies).classes
    text = describe_outliers(grouped, k) + describe_filtered_records(table, k)
    if request.target is None:
        return OutlierResult(text, findings)
    population = None
    if request.population is not None:
        population = load_records(request.population, RecordReading(category_counts="no"))
    treatment = TreatmentRequest(
        options=replace(request.options, distances=distances),
        treatment=request.treatment,
        hierarchies=hierarchies,
        writing=request.writing,
        population=population,
        first_step=request.first_step,
        filling=request.filling,
        columns=request.columns,
        all_records=all_records,
    )
    report = write_treated_file(table, treatment, request.target, SubProgress(progress, 0.5, 1.0))
    return OutlierResult(text, (*findings, *report.findings), report)


def _check_target(request: OutlierRequest) -> None:
    """Refuse to write over an input; the files beside the target are replaced only together with it."""
    target = request.target
    if target is None:
        return
    inputs = {
        "file": request.file,
        "population": request.population,
        "hierarchies": request.generalisation.hierarchies,
        "distances": request.generalisation.distances,
        "keep_records": request.keep_records,
        "drop_records": request.drop_records,
    }
    check_saved_file(target, inputs)
    may_replace = request.replace or target.exists()
    for path in list_companion_files(target, request.columns):
        check_target(path, inputs=input_paths(inputs), replace=may_replace)
