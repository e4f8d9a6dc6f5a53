"""Treat the k-outliers of a file and write the result: verified by reading it back before it gets its name."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path

import numpy as np

from vbas_desktop.audit.handled_file import verify_handled_file
from vbas_desktop.io.output import make_private, staged_file, write_text
from vbas_desktop.io.records.loading import load_records
from vbas_desktop.io.records.row_order import INDEX_COLUMNS
from vbas_desktop.model.findings import Finding, InputError, VerificationFailed
from vbas_desktop.model.progress import NO_PROGRESS, Progress, SubProgress
from vbas_desktop.model.records import CodedRecords
from vbas_desktop.settings.reading import RecordReading
from vbas_desktop.settings.writing import AddedColumns

from ..representability.record_classes import RecordClasses, count_outlier_records
from .added_columns import (
    check_added_columns,
    get_class_counts_path,
    get_key_index_path,
)
from .summary import TreatmentReport, count_changes
from .synthetic_keys import warn_of_gapless_keys
from .synthetic_rows import choose_fillings, refuse_disclosive_columns
from .treated_rows import PARQUET, RowCounter, TreatedRows, TreatmentRequest, watch_rows, write_rows


def write_treated_file(
    table: CodedRecords, request: TreatmentRequest, target: Path, progress: Progress = NO_PROGRESS
) -> TreatmentReport:
    """Write the file without k-outliers to ``target``; an earlier file stays until the new one is verified.

    The rows are in random order. A file beside it, which only the user may read, lists those that were made up. Raises
    `InputError` for columns and values that cannot be, and `VerificationFailed`; then nothing is published.
    """
    options = request.options
    _check_columns(table, request)
    classes = RecordClasses.of_records(table, options.quasi_identifiers)
    result = request.steps.apply(classes, options.k, SubProgress(progress, 0.0, 0.4))
    fillings: list[tuple[str, ...]] = []
    findings: list[Finding] = []
    if result.fabricated:
        # A column with one value in every class tells nothing of a record.
        hidden = request.columns.aggregate if request.columns.aggregate_below is None else ()
        filled = (*options.quasi_identifiers, *options.sensitive, *request.keys, *hidden)
        refuse_disclosive_columns(table, filled, request.writing.identifiers)
        fillings = choose_fillings(
            table, options.sensitive, options.k, request.filling, request.population
        )
        for name in request.keys:
            findings += warn_of_gapless_keys(request.all_records or table, name)
    rows = TreatedRows(table, classes, result, request, fillings)
    with ExitStack() as stack:
        # The file that is entered last gets its name first: the main one appears when all others are there.
        path = stack.enter_context(staged_file(target))
        shuffled_rows = rows.shuffle(path.parent, SubProgress(progress, 0.4, 0.6))
        watched_rows = watch_rows(
            shuffled_rows, table.rows, "Writing the records", SubProgress(progress, 0.6, 0.8)
        )
        written = RowCounter(watched_rows)
        write_rows(path, target.suffix.lower() in PARQUET, table, written, request)
        smallest = _count_again(path, table, request, written.number, SubProgress(progress, 0.8, 0.9))
        index = None
        counts = None
        if rows.keys is not None:
            index = stack.enter_context(staged_file(get_key_index_path(target)))
            rows.keys.write_index(index)
            make_private(index)
        if request.columns.aggregate:
            counts = stack.enter_context(staged_file(get_class_counts_path(target)))
            rows.aggregated.write_counts(counts)
        progress.update("Verifying the written file", 0.9)
        verify_handled_file(rows.build_claim(path, target, index, counts))
        row_list = get_synthetic_rows_path(target)
        if result.fabricated:
            lines = "".join(f"{row}\n" for row in written.fabricated_rows)
            write_text(row_list, f"row\n{lines}", private=True)
        else:
            # A list of an earlier file does not hold of this one.
            row_list.unlink(missing_ok=True)
        _remove_outdated(target, request.columns)
    grouped = request.first_step.group(classes, request.hierarchies).classes
    deleted, changed = count_changes(classes, result)
    return TreatmentReport(
        options.k,
        table.rows,
        count_outlier_records(grouped, options.k),
        written.number,
        sum(result.fabricated.values()),
        smallest,
        tuple(findings),
        deleted,
        changed,
    )


def get_synthetic_rows_path(target: Path) -> Path:
    """Return the path of the list of made-up rows of a file. It stays in the organisation."""
    return target.with_name(f"{target.stem}.made-up-rows.csv")


def list_companion_files(target: Path, chosen: AddedColumns) -> list[Path]:
    """List the files that are written beside a file, or that would not hold of it any more."""
    paths = [get_synthetic_rows_path(target)]
    if chosen.record_key is not None:
        paths.append(get_key_index_path(target))
    if chosen.aggregate:
        paths.append(get_class_counts_path(target))
    return paths


def _remove_outdated(target: Path, chosen: AddedColumns) -> None:
    """Remove an index of keys and a list of classes that belong to an earlier file with this name."""
    outdated = {
        get_key_index_path(target): chosen.record_key is None,
        get_class_counts_path(target): not chosen.aggregate,
    }
    for path, is_outdated in outdated.items():
        if is_outdated and target.exists() and path.is_file():
            with path.open("rb") as stream:
                names = stream.readline(1 << 16).decode("utf-8", "replace").rstrip("\n").split(",")
            if names == list(INDEX_COLUMNS) or (
                path != get_key_index_path(target) and names[-1] == "records"
            ):
                path.unlink()


def _check_columns(table: CodedRecords, request: TreatmentRequest) -> None:
    """Raise `InputError` for columns that do not exist or have two uses."""
    options = request.options
    identifiers = request.writing.identifiers
    if not options.quasi_identifiers:
        raise InputError(
            Finding("no-quasi-identifier", "No quasi-identifier is chosen.", "Name at least one.")
        )
    for name in (*options.sensitive, *identifiers, *request.keys):
        table.facts(name)
    used = {*options.quasi_identifiers, *options.sensitive, options.key}
    for name in identifiers:
        if name in used:
            message = "An identifier is not written, so it can be nothing else."
            raise InputError(Finding("two-roles", message, "Name the column once.", column=name))
    check_added_columns(
        table, request.columns, request.writing, (*options.quasi_identifiers, *request.keys)
    )


def _count_again(
    path: Path, table: CodedRecords, request: TreatmentRequest, written: int, progress: Progress
) -> int | None:
    """Read the file back and return the size of its smallest class; None without records.

    Raises `VerificationFailed` if a class is below k, or if a record is missing.
    """
    if not written:
        return None
    reading = RecordReading(
        delimiter=table.file_format.delimiter, encoding="utf-8", category_counts="no"
    )
    reread = load_records(path, reading, progress)
    names = tuple(request.writing.text(name) for name in request.options.quasi_identifiers)
    smallest = int(np.min(RecordClasses.of_records(reread, names).sizes))
    if reread.rows != written or smallest < request.options.k:
        raise VerificationFailed(
            "The written file still has k-outliers, or not all records. Nothing was kept."
        )
    return smallest
