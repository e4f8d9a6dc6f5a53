"""Read a record file once and code the columns that are needed, with what was noticed on the way."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from vbas_desktop.io.dialect import wrong_names
from vbas_desktop.model.errors import Finding, InputError, Severity, refusal, stop_on_errors
from vbas_desktop.model.file_format import Dialect
from vbas_desktop.model.progress import Progress
from vbas_desktop.model.records import ColumnFacts
from vbas_desktop.model.source import Source
from vbas_desktop.settings.reading import RecordOptions

from .category_line import ColumnValues, LineTwo, exceeded_number, judge, looks_like_numbers, read_numbers
from .coding import Codes, ColumnCoder, code_batches
from .csv_batches import CsvReader, UnreadableRows
from .file_format import Opening, TextStream, blank_lines, explain_encoding, read_opening
from .limits import ReadLimits
from .parquet_batches import ParquetReader, encode_texts, first_parquet_record, is_codable, is_parquet
from .row_errors import count_blank_lines, find_row_errors

_STAGE = "Reading records"
_PARQUET_FIRST_ROW = 2


@dataclass(frozen=True)
class Request:
    """What to read of a record file.

    ``columns`` are the names of the columns that are needed (None: all), ``unlimited`` of those among them that may
    have any number of values.
    """

    path: Path
    options: RecordOptions
    columns: Collection[str] | None
    unlimited: Collection[str]
    limits: ReadLimits
    progress: Progress

    def is_needed(self, name: str) -> bool:
        """Tell whether a column is needed."""
        return self.columns is None or name in self.columns

    def make_coder(self, encode: Any, *names: str) -> ColumnCoder:
        """Make the coder of a column, by each name that it may have."""
        is_unlimited = any(name in self.unlimited for name in names)
        return ColumnCoder(encode, None if is_unlimited else self.limits.distinct)


@dataclass(frozen=True)
class LoadedRecords:
    """A record file after it was read: columns in the order of the file, with None for codes that do not exist.

    ``first_line`` is the number of the line of the first record if all records have one line each, else None.
    """

    source: Source
    dialect: Dialect
    rows: int
    columns: tuple[tuple[ColumnFacts, Codes | None], ...]
    findings: tuple[Finding, ...]
    first_line: int | None
    block_bytes: int


def read_records(request: Request) -> LoadedRecords:
    """Read a file. All problems of its rows are raised together as `InputError`."""
    if is_parquet(request.path):
        return _read_parquet(request)
    block_bytes = request.limits.block_bytes
    try:
        return _read_csv(request, block_bytes)
    except UnreadableRows:
        stop_on_errors(_find_row_errors(request))
    # No row is wrong, so one is longer than two blocks.
    try:
        return _read_csv(request, max(2 * request.limits.longest_row, block_bytes))
    except UnreadableRows:
        message = "The rows of the file cannot be told apart."
        raise refusal("unreadable-rows", message, "Save the file as CSV (UTF-8) again.", file=request.path) from None


def _find_row_errors(request: Request) -> list[Finding]:
    options = request.options
    return find_row_errors(request.path, options.delimiter, options.encoding, request.limits, request.progress)


def _read_csv(request: Request, block_bytes: int) -> LoadedRecords:
    path = request.path
    choice = request.options.category_counts
    with TextStream(path, request.options.encoding) as stream:
        opening = read_opening(stream, request.options.delimiter, request.limits)
        judged = _judge_csv(request, opening, block_bytes) if choice == "auto" else LineTwo(None)
        has_numbers = judged.declared is not None or (choice == "yes" and opening.second is not None)
        # The encoding is known at the end only: UTF-8 unless a later line contradicts.
        possible = [(name.decode("utf-8", "replace"), name.decode("iso8859-1")) for name in opening.names]
        needed = [place for place, names in enumerate(possible) if any(map(request.is_needed, names))]
        reader = CsvReader(stream, opening, needed, block_bytes)
        coders = [_make_csv_coder(request, *possible[place]) for place in needed]
        with closing(reader.batches(request.progress, _STAGE)) as batches:
            records = _drop_first_row(batches) if has_numbers else batches
            rows = code_batches(records, dict(enumerate(coders)), request.limits.threads)
        source = stream.source()
        checked = reader.checked
        encoding = stream.stated or ("utf-8" if checked.wrong_row is None else "iso8859-1")
        written = stream.mark or stream.encoding or encoding
        written = "latin-1" if written == "iso8859-1" else written
        header = tuple(name.decode(encoding, "replace") for name in opening.names)
        dialect = Dialect(
            "csv", opening.delimiter, written, stream.mark is not None, stream.compressed, has_numbers, header
        )
        findings = _describe_text(request, reader, dialect, stream.stated)
    findings += wrong_names(path, header)
    stop_on_errors(findings)
    verdict = judged
    if choice == "yes":
        second = None if opening.second is None else [value.decode(encoding) for value in opening.second]
        verdict = read_numbers(second, header, opening.lines + 1, str(path))
    findings += verdict.findings
    stop_on_errors([*findings, *_check_rows(path, rows if verdict.declared is not None else reader.rows)])
    columns = []
    for place, coder in zip(needed, coders, strict=True):
        request.progress.update("Ordering categories")
        if request.is_needed(header[place]):
            declared = None if verdict.declared is None else verdict.declared[place]
            columns.append(coder.finish(header[place], rows, encoding, declared, request.limits.identifier_from))
    return LoadedRecords(
        source,
        dialect,
        rows,
        tuple(columns),
        (*findings, *_find_exceeded(columns, verdict, header, opening.lines + 1, path)),
        opening.lines + 1 + has_numbers if checked.lines == reader.rows else None,
        block_bytes,
    )


def _make_csv_coder(request: Request, *names: str) -> ColumnCoder:
    import pyarrow.compute as pc

    return request.make_coder(pc.dictionary_encode, *names)


def _drop_first_row(batches: Iterable[Any]) -> Iterator[Any]:
    is_first = True
    for batch in batches:
        yield batch.slice(1) if is_first else batch
        is_first = False


def _describe_text(request: Request, reader: CsvReader, dialect: Dialect, stated: str | None) -> list[Finding]:
    """Return what is to be said of the text that was read; raise `InputError` for returns outside quotes."""
    checked = reader.checked
    if checked.may_have_stray_returns:
        stop_on_errors(_find_row_errors(request))
    findings = []
    if checked.wrong_row is not None:
        findings.append(explain_encoding(request.path, stated, checked.wrong_row))
    blank = checked.lines - reader.rows
    if checked.has_quotes and blank:
        blank = 0
        if checked.may_have_blank_lines:
            blank = count_blank_lines(request.path, dialect, request.limits, request.progress)
    if blank:
        findings.append(blank_lines(request.path, blank))
    return findings


def _judge_csv(request: Request, opening: Opening, block_bytes: int) -> LineTwo:
    """Judge line 2 by the beginning of the file, or if that leaves a doubt, by all of it."""
    import pyarrow.compute as pc

    second = None if opening.second is None else [value.decode("iso8859-1") for value in opening.second]
    if not looks_like_numbers(second):
        return LineTwo(None)
    places = range(len(opening.names))

    def read(most_rows: int | None) -> LineTwo:
        coders = [ColumnCoder(pc.dictionary_encode, request.limits.distinct) for _ in places]
        with TextStream(request.path, request.options.encoding) as stream:
            reader = CsvReader(stream, read_opening(stream, opening.delimiter, request.limits), places, block_bytes)
            with closing(reader.batches(request.progress, _STAGE)) as batches:
                beginning = batches if most_rows is None else _take_rows(batches, most_rows)
                rows = code_batches(beginning, dict(enumerate(coders)), request.limits.threads)
        return judge(second, [_list_values(coder) for coder in coders], rows, opening.lines + 1, str(request.path))

    return _judge_beginning(read, request.limits.beginning_rows)


def _judge_beginning(read: Any, beginning_rows: int) -> LineTwo:
    verdict: LineTwo = read(beginning_rows)
    return read(None) if verdict.doubtful else verdict


def _take_rows(batches: Iterable[Any], number: int) -> Iterator[Any]:
    for batch in batches:
        yield batch.slice(0, number)
        number -= batch.num_rows
        if number <= 0:
            return


def _list_values(coder: ColumnCoder) -> ColumnValues:
    """Return the values of a column in the order of their first appearance: that of line 2 is the first."""
    values, counts = coder.count_values("iso8859-1")
    if not coder.is_coded:
        return ColumnValues(None, (), coder.distinct, 0)
    return ColumnValues(values, counts.tolist(), coder.distinct, 0)


def _check_rows(path: Path, rows: int) -> list[Finding]:
    if rows:
        return []
    message = "The file has column names but no records."
    return [Finding("no-records", message, "Choose another file.", file=str(path))]


def _find_exceeded(
    columns: Sequence[tuple[ColumnFacts, Codes | None]], verdict: LineTwo, header: Sequence[str], row: int, path: Path
) -> list[Finding]:
    findings = []
    for facts, _ in columns:
        declared = None if verdict.declared is None else verdict.declared[header.index(facts.name)]
        present = facts.distinct - (facts.missing > 0)
        if declared is not None and present > declared:
            findings.append(exceeded_number(facts.name, present, declared, row, str(path)))
    return findings


def _read_parquet(request: Request) -> LoadedRecords:
    import pyarrow as pa

    path = request.path
    try:
        reader = ParquetReader(path)
        header = tuple(reader.schema.names)
        stop_on_errors(wrong_names(path, header))
        verdict = _judge_parquet(request, reader, header)
        coded, rows = _code_parquet(request, reader, [name for name in header if request.is_needed(name)], verdict)
    except (pa.ArrowException, OSError):
        message = "The file is not a readable Parquet file."
        raise refusal("bad-parquet", message, "Get a fresh copy of the file.", file=path) from None
    except InputError as error:
        raise InputError(replace(finding, file=str(path)) for finding in error.findings) from None
    findings = [_uncodable(path, field.name) for field in reader.schema if not is_codable(field.type)]
    findings += verdict.findings
    stop_on_errors([*findings, *_check_rows(path, rows)])
    columns = []
    for name, coder in coded.items():
        request.progress.update("Ordering categories")
        declared = None if verdict.declared is None else verdict.declared[header.index(name)]
        columns.append(coder.finish(name, rows, "utf-8", declared, request.limits.identifier_from))
    return LoadedRecords(
        reader.source,
        Dialect("parquet", header=header, category_line=verdict.declared is not None),
        rows,
        tuple(columns),
        (*findings, *_find_exceeded(columns, verdict, header, _PARQUET_FIRST_ROW, path)),
        _PARQUET_FIRST_ROW + (verdict.declared is not None),
        request.limits.block_bytes,
    )


class _NullCounter:
    """Counts the missing values of a column whose values have no text."""

    def __init__(self) -> None:
        self.missing = 0

    def add(self, array: Any) -> None:
        """Count those of the next batch."""
        self.missing += array.null_count

    def finish(self, name: str, *_: object) -> tuple[ColumnFacts, None]:
        """Return the facts of the column."""
        return ColumnFacts(name, 0, self.missing, categorical=False), None


def _code_parquet(
    request: Request, reader: ParquetReader, names: Sequence[str], verdict: LineTwo, most_rows: int | None = None
) -> tuple[dict[str, Any], int]:
    """Return the coders of the named columns after they have read all records or the first ones, and their number."""
    coders: dict[str, Any] = {}
    for name in names:
        if is_codable(reader.schema.field(name).type):
            coders[name] = request.make_coder(partial(_encode_column, name), name)
        else:
            coders[name] = _NullCounter()
    has_numbers = verdict.declared is not None
    with closing(reader.batches(names, request.progress, _STAGE)) as batches:
        records = _drop_first_row(batches) if has_numbers else batches
        beginning = records if most_rows is None else _take_rows(records, most_rows)
        rows = code_batches(beginning, dict(enumerate(coders.values())), request.limits.threads)
    return coders, rows if names else reader.total_rows - has_numbers


def _encode_column(name: str, array: Any) -> Any:
    try:
        return encode_texts(array)
    except InputError as error:
        raise InputError(replace(finding, column=name) for finding in error.findings) from None


def _judge_parquet(request: Request, reader: ParquetReader, header: Sequence[str]) -> LineTwo:
    """Decide whether the first row is a record, as in a text file."""
    choice = request.options.category_counts
    file = str(request.path)
    if choice == "no":
        return LineTwo(None)
    is_all_codable = all(is_codable(kind) for kind in reader.schema.types)
    first = first_parquet_record(request.path) if is_all_codable else None
    if choice == "yes":
        return read_numbers(first, header, _PARQUET_FIRST_ROW, file)
    if not looks_like_numbers(first):
        return LineTwo(None)

    def read(most_rows: int | None) -> LineTwo:
        coders, rows = _code_parquet(request, reader, header, LineTwo(None), most_rows)
        return judge(first, [_list_values(coder) for coder in coders.values()], rows, _PARQUET_FIRST_ROW, file)

    return _judge_beginning(read, request.limits.beginning_rows)


def _uncodable(path: Path, name: str) -> Finding:
    message = "The column holds structured or binary values, which cannot be categories."
    return Finding("uncodable-column", message, "To use it, write it as text.", Severity.HINT, str(path), column=name)
