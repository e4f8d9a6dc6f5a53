"""Load a record file: read it once and code the columns that are needed."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from vbas_desktop.model.findings import Finding, input_error, stop_on_errors
from vbas_desktop.model.progress import NO_PROGRESS, Progress
from vbas_desktop.model.text import NO_NAMES
from vbas_desktop.settings.reading import RecordReading

from ..input_checks import check_readable, check_text_table
from .category_line import looks_like_numbers
from .csv_batches import UnreadableRows
from .csv_loading import load_csv
from .file_format import USUAL_LIMITS, ReadLimits, TextStream, read_opening
from .load_request import RecordLoadRequest
from .parquet_batches import first_parquet_record, is_parquet
from .parquet_loading import load_parquet
from .row_errors import find_row_errors
from .table import CodedTable, count_names_among_values


def load_records(
    path: str | Path,
    options: RecordReading | None = None,
    progress: Progress | None = None,
    columns: Collection[str] | None = None,
    *,
    unlimited: Collection[str] = (),
    limits: ReadLimits = USUAL_LIMITS,
) -> CodedTable:
    """Read a record file once: CSV (also compressed) or Parquet. All problems found are raised together.

    ``columns``: the names of those that are needed; the others are looked at but not kept. None: all are needed.
    ``unlimited``: the names of those that have categories however many values they have, such as regions.
    """
    path = Path(path)
    options = options or RecordReading()
    _check_options(options)
    check_readable(path)
    check_text_table(path)
    request = RecordLoadRequest(path, options, columns, unlimited, limits, progress or NO_PROGRESS)
    table = load_parquet(request) if is_parquet(path) else _load_csv(request)
    if columns is None:
        _check_first_line(table)
    return table


def _load_csv(request: RecordLoadRequest) -> CodedTable:
    """Load a delimited text, in larger blocks if a row is longer than two of the usual ones."""
    limits = request.limits
    try:
        return load_csv(request, limits.block_bytes)
    except UnreadableRows:
        options = request.options
        stop_on_errors(
            find_row_errors(request.path, options.delimiter, options.encoding, limits, request.progress)
        )
    # No row is wrong, so one is longer than two blocks.
    try:
        return load_csv(request, max(2 * limits.longest_row, limits.block_bytes))
    except UnreadableRows:
        message = "The rows of the file cannot be separated."
        remedy = "Save the file as CSV (UTF-8) again."
        raise input_error("unreadable-rows", message, remedy, file=request.path) from None


def detect_category_line(
    path: str | Path, options: RecordReading, progress: Progress
) -> tuple[bool, tuple[Finding, ...]]:
    """Decide as `load_records` would whether line 2 holds numbers of categories, with the findings about that.

    Of most files a look at line 2 is enough; the others are judged by all their records.
    """
    if options.category_counts != "auto":
        return options.category_counts == "yes", ()
    _check_options(options)
    check_readable(Path(path))
    if _is_certainly_a_record(Path(path), options):
        return False, ()
    table = load_records(path, options, progress, ())
    findings = tuple(finding for finding in table.findings if finding.code == "category-line")
    return table.file_format.category_line, findings


def _is_certainly_a_record(path: Path, options: RecordReading) -> bool:
    """Tell by line 2 alone whether it cannot hold numbers of categories."""
    if is_parquet(path):
        return not looks_like_numbers(first_parquet_record(path))
    with TextStream(path, options.encoding) as stream:
        second = read_opening(stream, options.delimiter, USUAL_LIMITS).second
    return second is not None and not looks_like_numbers([value.decode("iso8859-1") for value in second])


def _check_first_line(table: CodedTable) -> None:
    """Refuse a file without names: as names, the values of its first record would be shown and released."""
    if table.file_format.format == "csv" and 2 * count_names_among_values(table) > max(
        2, len(table.columns)
    ):
        message = "Most fields of line 1 are also values of their columns."
        remedy = f"{NO_NAMES} If the line of names is repeated further down, remove it there."
        raise input_error("no-names", message, remedy, file=table.source.path, row=1)


def _check_options(options: RecordReading) -> None:
    if options.delimiter is not None and (
        len(options.delimiter) != 1 or options.delimiter in '"\r\n' or not options.delimiter.isascii()
    ):
        remedy = "Use a single character such as , ; | or a tab."
        raise input_error("bad-delimiter", f"“{options.delimiter}” cannot be a delimiter.", remedy)
    if options.category_counts not in ("auto", "yes", "no"):
        message = f"“{options.category_counts}” does not say whether line 2 holds category numbers."
        raise input_error("bad-option", message, "Use auto, yes or no.")
