"""Load a Parquet file into codes."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa

from vbas_desktop.model.findings import Finding, InputError, Severity, input_error, stop_on_errors
from vbas_desktop.model.records import ColumnFacts, FileFormat

from ..delimited_text import find_wrong_names
from .category_line import LineTwo, judge_line, looks_like_numbers, read_numbers
from .coding import Codes, code_batches
from .load_request import ORDERING, READING, RecordLoadRequest, drop_first_row, list_values, take_rows
from .parquet_batches import ParquetReader, encode_texts, first_parquet_record, is_codable
from .table import CodedTable

_FIRST_ROW = 2
"""The row number of the first record: the names are row 1."""


def load_parquet(request: RecordLoadRequest) -> CodedTable:
    """Load a Parquet file. Raises `InputError` with all problems together."""
    path = request.path
    try:
        reader = ParquetReader(path)
        header = tuple(reader.schema.names)
        stop_on_errors(find_wrong_names(path, header))
        verdict = _judge_first_row(request, reader, header)
        needed = [name for name in header if request.is_needed(name)]
        coders, rows = _code_columns(request, reader, needed, verdict)
    except (pa.ArrowException, OSError):
        message = "The file is not a readable Parquet file."
        raise input_error("bad-parquet", message, "Get a fresh copy of the file.", file=path) from None
    except InputError as error:
        raise InputError(replace(finding, file=str(path)) for finding in error.findings) from None
    findings = [_uncodable(path, field.name) for field in reader.schema if not is_codable(field.type)]
    findings += verdict.findings
    stop_on_errors([*findings, *request.check_rows(rows)])
    columns: list[ColumnFacts] = []
    codes_by_name: dict[str, Codes] = {}
    for name, coder in coders.items():
        request.progress.update(ORDERING)
        declared = None if verdict.declared is None else verdict.declared[header.index(name)]
        facts, codes = coder.finish(name, rows, "utf-8", declared, request.limits.identifier_from)
        columns.append(facts)
        if codes is not None:
            codes_by_name[name] = codes
    has_numbers = verdict.declared is not None
    return CodedTable(
        reader.source,
        rows,
        FileFormat("parquet", header=header, category_line=has_numbers),
        tuple(columns),
        (*findings, *request.find_exceeded(columns, verdict, header, _FIRST_ROW)),
        codes_by_name,
        _FIRST_ROW + has_numbers,
        _block_bytes=request.limits.block_bytes,
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


def _code_columns(
    request: RecordLoadRequest,
    reader: ParquetReader,
    names: Sequence[str],
    verdict: LineTwo,
    number: int | None = None,
) -> tuple[dict[str, Any], int]:
    """Code the named columns of all records, or of the first ``number``; return the coders and how many they read."""
    coders: dict[str, Any] = {}
    for name in names:
        if is_codable(reader.schema.field(name).type):
            coders[name] = request.make_coder(partial(_encode_column, name), name)
        else:
            coders[name] = _NullCounter()
    has_numbers = verdict.declared is not None
    with closing(reader.batches(names, request.progress, READING)) as batches:
        records = drop_first_row(batches) if has_numbers else batches
        rows = code_batches(
            take_rows(records, number), dict(enumerate(coders.values())), request.limits.threads
        )
    return coders, rows if names else reader.total_rows - has_numbers


def _encode_column(name: str, array: Any) -> Any:
    try:
        return encode_texts(array)
    except InputError as error:
        raise InputError(replace(finding, column=name) for finding in error.findings) from None


def _judge_first_row(
    request: RecordLoadRequest, reader: ParquetReader, header: Sequence[str]
) -> LineTwo:
    """Decide whether the first row is a record, as in a text file."""
    choice = request.options.category_counts
    file = str(request.path)
    if choice == "no":
        return LineTwo(None)
    is_all_codable = all(is_codable(column_type) for column_type in reader.schema.types)
    first = first_parquet_record(request.path) if is_all_codable else None
    if choice == "yes":
        return read_numbers(first, header, _FIRST_ROW, file)
    if not looks_like_numbers(first):
        return LineTwo(None)

    def judge_rows(number: int | None) -> LineTwo:
        coders, rows = _code_columns(request, reader, header, LineTwo(None), number)
        return judge_line(first, list(map(list_values, coders.values())), rows, _FIRST_ROW, file)

    return request.judge_beginning(judge_rows)


def _uncodable(path: Path, name: str) -> Finding:
    message = "The column holds structured or binary values, which cannot be categories."
    return Finding(
        "uncodable-column",
        message,
        "To use it, write it as text.",
        Severity.HINT,
        str(path),
        column=name,
    )
