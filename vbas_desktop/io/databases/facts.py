"""Describes records behind an address: the values of their columns, how many records have each, and what they are."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from vbas_desktop.model.findings import Finding, InputError, Severity, input_error, stop_on_errors
from vbas_desktop.model.progress import Progress
from vbas_desktop.model.records import ColumnFacts, FileFormat, SourceFile

from ..records.category_line import exceeded_number
from ..records.coding import order_categories
from ..records.file_format import USUAL_LIMITS
from ..records.parquet_batches import encode_texts
from .engine import DatabaseEngine, records_changed, values_do_not_fit

FIRST_ROW = 2
"""The row number of the first record: the names are row 1."""
_OUTSIDE = "<value out of range"
"""The text of a date or time that no calendar has begins so."""


@dataclass(frozen=True, eq=False)
class CategoryKeys:
    """The values of a column as the engine takes them back, and the category of each."""

    keys: Any
    codes: NDArray[np.int64]


def describe_column(
    engine: DatabaseEngine, column: int, progress: Progress, is_unlimited: bool = False
) -> tuple[ColumnFacts, CategoryKeys | None]:
    """Ask the engine for the values of a column and their frequencies; the second is None if it has no categories.

    With ``is_unlimited`` it has categories however many values there are.
    """
    name = engine.description.header[column]
    rows = engine.description.rows
    if not has_text_form(engine.description.schema.field(column).type):
        return ColumnFacts(name, 0, engine.count_missing(column, progress), categorical=False), None
    counted = engine.fetch_values(column, rows if is_unlimited else USUAL_LIMITS.distinct, progress)
    if counted is None:
        return ColumnFacts(
            name, USUAL_LIMITS.distinct + 1, engine.count_missing(column, progress), categorical=False
        ), None
    keys, typed, sizes = counted
    numbers = np.asarray(sizes.to_numpy(zero_copy_only=False), np.int64)
    if int(numbers.sum()) != rows:
        raise records_changed(engine.address)
    encoded = encode_column(engine, column, typed)
    indices = np.asarray(encoded.indices, np.int64)
    frequencies = np.bincount(indices, numbers, len(encoded.dictionary)).astype(np.int64)
    declared = engine.category_numbers[column] if engine.category_numbers is not None else None
    facts, code_of = order_categories(name, encoded.dictionary.to_pylist(), frequencies, declared)
    if not is_unlimited and has_too_many_values(facts, rows):
        return replace(facts, categorical=False, categories=None, frequencies=None), None
    return facts, CategoryKeys(keys, code_of[indices])


def encode_column(engine: DatabaseEngine, column: int, values: Any) -> Any:
    """Return values of a column as an Arrow dictionary array of their texts; missing is the empty text."""
    name = engine.description.header[column]
    try:
        encoded = encode_texts(values)
    except InputError as error:
        located = (replace(finding, file=str(engine.address), column=name) for finding in error.findings)
        raise InputError(located) from None
    if pc.any(pc.starts_with(encoded.dictionary, _OUTSIDE)).as_py():
        raise InputError(values_do_not_fit(engine.address, name))
    return encoded


def has_too_many_values(facts: ColumnFacts, rows: int) -> bool:
    """Tell whether a column holds text or identifiers, not categories."""
    is_identifier = facts.distinct > USUAL_LIMITS.identifier_from and 2 * facts.distinct > rows
    return facts.distinct > USUAL_LIMITS.distinct or is_identifier


def has_text_form(value_type: Any) -> bool:
    """Tell whether values of a type have a text that can be a category."""
    plain = value_type.value_type if pa.types.is_dictionary(value_type) else value_type
    if pa.types.is_nested(plain) or pa.types.is_binary(plain) or pa.types.is_large_binary(plain):
        return False
    try:
        pa.nulls(0, plain).cast(pa.string())
    except pa.ArrowException:
        return False
    return True


def describe_records(
    engine: DatabaseEngine, facts: Sequence[ColumnFacts]
) -> tuple[SourceFile, FileFormat, tuple[Finding, ...]]:
    """Describe the source, the format and what was noticed. Raises `InputError` if there are no records."""
    description = engine.description
    file = str(engine.address)
    if not description.rows:
        raise input_error(
            "no-records",
            "There are columns but no records.",
            "Choose another table or folder.",
            file=file,
        )
    findings = list(engine.findings)
    for column in facts:
        declared = None if column.categories is None else column.categories.declared
        present = column.distinct - (column.missing > 0)
        if declared is not None and present > declared:
            findings.append(exceeded_number(column.name, present, declared, FIRST_ROW, file))
        if not column.categorical and not column.distinct:
            message = "The column holds structured or binary values, which cannot be categories."
            findings.append(
                Finding("uncodable-column", message, "", Severity.HINT, file, column=column.name)
            )
    source = SourceFile(
        file,
        description.size_bytes,
        _hash_frequencies(description.header, description.rows, facts),
        elsewhere=True,
    )
    file_format = FileFormat(
        "parquet", header=description.header, category_line=engine.category_numbers is not None
    )
    return source, file_format, stop_on_errors(findings)


def _hash_frequencies(header: Sequence[str], rows: int, facts: Sequence[ColumnFacts]) -> str:
    """Hash the names, the number of records and the frequencies of all values.

    It does not depend on the order of the records nor on the engine, so the same records have it everywhere.
    """
    digest = hashlib.sha256(json.dumps([1, list(header), rows]).encode())
    for column in facts:
        digest.update(json.dumps([column.name, column.distinct, column.missing]).encode())
        if column.categories is not None and column.frequencies is not None:
            for value, number in zip(column.categories.values, column.frequencies.tolist(), strict=True):
                digest.update(
                    f"{len(value.encode('utf-8', 'surrogatepass'))}:{value}:{number}\n".encode(
                        "utf-8", "surrogatepass"
                    )
                )
    return digest.hexdigest()
