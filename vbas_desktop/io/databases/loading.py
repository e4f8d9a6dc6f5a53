"""Loads the records behind an address into codes, for what needs every record and not only counts."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from vbas_desktop.model.progress import NO_PROGRESS, Progress
from vbas_desktop.model.records import ColumnFacts
from vbas_desktop.settings.reading import RecordReading

from ..records.coding import Codes, ColumnCoder, code_batches
from ..records.file_format import USUAL_LIMITS
from ..records.loading import load_records
from ..records.table import CodedTable
from .address import parse_address
from .engine import DatabaseEngine, records_changed
from .facts import describe_records, encode_column, has_text_form, has_too_many_values
from .opening import open_engine

_STAGE = "Reading the records"


def load_records_at(
    address: str | Path,
    options: RecordReading | None = None,
    progress: Progress | None = None,
    columns: Collection[str] | None = None,
) -> CodedTable:
    """Load the records of a file or behind an address into codes; ``columns`` are those needed (None: all).

    Records behind an address are in the order of their values, so the same records give the same table on every
    engine. They have no row numbers, and the texts of columns without categories are kept, since nothing is read again.
    """
    source = parse_address(address)
    options = options or RecordReading()
    progress = progress or NO_PROGRESS
    if isinstance(source, Path):
        return load_records(source, options, progress, columns)
    engine = open_engine(source, options, progress)
    try:
        with engine.snapshot(progress):
            table = encode_records(engine, progress, columns)
        engine.check_unchanged()
        return table
    finally:
        engine.close()


def read_column_names(
    address: str | Path, options: RecordReading, progress: Progress
) -> tuple[str, ...]:
    """Read the names of the columns of a record file or behind an address."""
    source = parse_address(address)
    if isinstance(source, Path):
        return load_records(source, options, progress, frozenset()).file_format.header
    engine = open_engine(source, options, progress)
    try:
        return engine.description.header
    finally:
        engine.close()


def encode_records(
    engine: DatabaseEngine, progress: Progress, columns: Collection[str] | None = None
) -> CodedTable:
    """Read the rows of an open engine and code their columns.

    The records are in the order of their values: engines have none, and the same records give the same table on all.
    Columns with too many values for categories keep their texts, since nothing is read again.
    """
    description = engine.description
    needed = [
        column for column, name in enumerate(description.header) if columns is None or name in columns
    ]
    codable = [column for column in needed if has_text_form(description.schema.field(column).type)]
    coded = _code_columns(engine, codable, progress)
    order = (
        np.lexsort([codes for _, codes in reversed(coded.values())]) if coded else np.empty(0, np.int64)
    )
    all_facts: list[ColumnFacts] = []
    codes_by_name: dict[str, Codes] = {}
    texts: dict[str, Any] = {}
    for column in needed:
        name = description.header[column]
        if column not in coded:
            all_facts.append(
                ColumnFacts(name, 0, engine.count_missing(column, progress), categorical=False)
            )
            continue
        facts, codes = coded[column]
        assert facts.categories is not None
        if has_too_many_values(facts, description.rows):
            values = pa.array(facts.categories.values, pa.string())
            texts[name] = pa.DictionaryArray.from_arrays(pa.array(codes[order]), values)
            facts = replace(facts, categorical=False, categories=None, frequencies=None)
        else:
            codes_by_name[name] = codes[order]
        all_facts.append(facts)
    source, file_format, findings = describe_records(engine, all_facts)
    return CodedTable(
        source, description.rows, file_format, tuple(all_facts), findings, codes_by_name, texts=texts
    )


def _code_columns(
    engine: DatabaseEngine, columns: list[int], progress: Progress
) -> dict[int, tuple[ColumnFacts, Codes]]:
    """Code columns of all rows, however many values they have, in the order in which the engine gives the rows."""
    if not columns:
        return {}
    rows = engine.description.rows
    coders = [ColumnCoder(partial(encode_column, engine, column), None) for column in columns]
    batches = engine.read_rows(columns, progress, _STAGE)
    if code_batches(batches, dict(enumerate(coders)), USUAL_LIMITS.threads) != rows:
        raise records_changed(engine.address)
    coded = {}
    for column, coder in zip(columns, coders, strict=True):
        declared = None if engine.category_numbers is None else engine.category_numbers[column]
        facts, codes = coder.finish(engine.description.header[column], rows, "utf-8", declared, 0)
        assert codes is not None
        coded[column] = (facts, codes)
    return coded
