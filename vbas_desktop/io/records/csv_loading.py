"""Load a delimited text into codes."""

from __future__ import annotations

from contextlib import closing

import pyarrow.compute as pc

from vbas_desktop.model.findings import Finding, stop_on_errors
from vbas_desktop.model.records import ColumnFacts, FileFormat

from ..delimited_text import find_wrong_names
from .category_line import LineTwo, judge_line, looks_like_numbers, read_numbers
from .coding import Codes, ColumnCoder, code_batches
from .csv_batches import CsvReader
from .file_format import Opening, TextStream, blank_lines, explain_encoding, read_opening
from .load_request import ORDERING, READING, RecordLoadRequest, drop_first_row, list_values, take_rows
from .row_errors import count_blank_lines, find_row_errors
from .table import CodedTable


def load_csv(request: RecordLoadRequest, block_bytes: int) -> CodedTable:
    """Load a delimited text, read in blocks of this size.

    Raises `UnreadableRows` if rows cannot be separated, `InputError` with all other problems together.
    """
    path = request.path
    choice = request.options.category_counts
    with TextStream(path, request.options.encoding) as stream:
        opening = read_opening(stream, request.options.delimiter, request.limits)
        verdict = _judge_line_two(request, opening, block_bytes) if choice == "auto" else LineTwo(None)
        has_numbers = verdict.declared is not None or (choice == "yes" and opening.second is not None)
        # The encoding is known at the end only: UTF-8 unless a later line contradicts.
        possible_names = [
            (name.decode("utf-8", "replace"), name.decode("iso8859-1")) for name in opening.names
        ]
        needed = [
            column for column, names in enumerate(possible_names) if any(map(request.is_needed, names))
        ]
        reader = CsvReader(stream, opening, needed, block_bytes)
        coders = [request.make_coder(pc.dictionary_encode, *possible_names[column]) for column in needed]
        with closing(reader.batches(request.progress, READING)) as batches:
            records = drop_first_row(batches) if has_numbers else batches
            rows = code_batches(records, dict(enumerate(coders)), request.limits.threads)
        source = stream.source()
        encoding = stream.stated or ("utf-8" if reader.checked.wrong_row is None else "iso8859-1")
        file_format = _describe_format(stream, opening, encoding, has_numbers)
        findings = _check_text(request, reader, file_format, stream.stated)
    header = file_format.header
    findings += find_wrong_names(path, header)
    stop_on_errors(findings)
    if choice == "yes":
        second = None if opening.second is None else [value.decode(encoding) for value in opening.second]
        verdict = read_numbers(second, header, opening.lines + 1, str(path))
    findings += verdict.findings
    stop_on_errors(
        [*findings, *request.check_rows(rows if verdict.declared is not None else reader.rows)]
    )
    columns: list[ColumnFacts] = []
    codes_by_name: dict[str, Codes] = {}
    for column, coder in zip(needed, coders, strict=True):
        request.progress.update(ORDERING)
        name = header[column]
        if request.is_needed(name):
            declared = None if verdict.declared is None else verdict.declared[column]
            facts, codes = coder.finish(name, rows, encoding, declared, request.limits.identifier_from)
            columns.append(facts)
            if codes is not None:
                codes_by_name[name] = codes
    has_line_each = reader.checked.lines == reader.rows
    return CodedTable(
        source,
        rows,
        file_format,
        tuple(columns),
        (*findings, *request.find_exceeded(columns, verdict, header, opening.lines + 1)),
        codes_by_name,
        opening.lines + 1 + has_numbers if has_line_each else None,
        _block_bytes=block_bytes,
    )


def _describe_format(
    stream: TextStream, opening: Opening, encoding: str, has_numbers: bool
) -> FileFormat:
    """Describe the text, all of which was read; ``encoding`` is that of the bytes that came out of the stream."""
    written = stream.mark or stream.encoding or encoding
    return FileFormat(
        "csv",
        opening.delimiter,
        "latin-1" if written == "iso8859-1" else written,
        stream.mark is not None,
        stream.compressed,
        has_numbers,
        tuple(name.decode(encoding, "replace") for name in opening.names),
    )


def _check_text(
    request: RecordLoadRequest, reader: CsvReader, file_format: FileFormat, stated: str | None
) -> list[Finding]:
    """Return the findings about the text that was read. Raises `InputError` for returns outside quotes."""
    checked = reader.checked
    if checked.may_have_stray_returns:
        options = request.options
        stop_on_errors(
            find_row_errors(
                request.path, options.delimiter, options.encoding, request.limits, request.progress
            )
        )
    findings = []
    if checked.wrong_row is not None:
        findings.append(explain_encoding(request.path, stated, checked.wrong_row))
    blank = checked.lines - reader.rows
    if checked.has_quotes and blank:
        blank = 0
        if checked.may_have_blank_lines:
            blank = count_blank_lines(request.path, file_format, request.limits, request.progress)
    if blank:
        findings.append(blank_lines(request.path, blank))
    return findings


def _judge_line_two(request: RecordLoadRequest, opening: Opening, block_bytes: int) -> LineTwo:
    """Judge line 2 by the beginning of the file, or if that leaves a doubt, by all of it."""
    second = None if opening.second is None else [value.decode("iso8859-1") for value in opening.second]
    if not looks_like_numbers(second):
        return LineTwo(None)
    columns = range(len(opening.names))

    def judge_rows(number: int | None) -> LineTwo:
        coders = [ColumnCoder(pc.dictionary_encode, request.limits.distinct) for _ in columns]
        with TextStream(request.path, request.options.encoding) as stream:
            reader = CsvReader(
                stream, read_opening(stream, opening.delimiter, request.limits), columns, block_bytes
            )
            with closing(reader.batches(request.progress, READING)) as batches:
                rows = code_batches(
                    take_rows(batches, number), dict(enumerate(coders)), request.limits.threads
                )
        return judge_line(
            second, list(map(list_values, coders)), rows, opening.lines + 1, str(request.path)
        )

    return request.judge_beginning(judge_rows)
