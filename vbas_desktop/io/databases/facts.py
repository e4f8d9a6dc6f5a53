"""The facts of a column behind an address: its values and how many records have each."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vbas_desktop.io.records.coding import DISTINCT_LIMIT
from vbas_desktop.io.records.parquet import dictionary_of
from vbas_desktop.io.records.raw import IDENTIFIER_FROM
from vbas_desktop.model.errors import InputError
from vbas_desktop.model.progress import Progress
from vbas_desktop.model.records import Categories, ColumnFacts, category_order

from .engine import DatabaseEngine, changed, no_fit

_OUTSIDE = "<value out of range"
"""How the text of a date or time begins that no calendar has."""


@dataclass(frozen=True, eq=False)
class Values:
    """The values of a column as the engine takes them back, and the category of each."""

    keys: Any
    codes: NDArray[np.int64]


def describe_column(engine: DatabaseEngine, column: int, progress: Progress) -> tuple[ColumnFacts, Values | None]:
    """Ask the engine for the values of a column and their frequencies; the second is None if it has no categories."""
    name = engine.description.header[column]
    rows = engine.description.rows
    if not codable(engine.description.schema.field(column).type):
        return ColumnFacts(name, 0, engine.missing(column, progress), categorical=False), None
    found = engine.values(column, DISTINCT_LIMIT, progress)
    if found is None:
        return ColumnFacts(name, DISTINCT_LIMIT + 1, engine.missing(column, progress), categorical=False), None
    keys, typed, sizes = found
    numbers = np.asarray(sizes.to_numpy(zero_copy_only=False), np.int64)
    if int(numbers.sum()) != rows:
        raise changed(engine.address)
    try:
        indices, texts = dictionary_of(typed)
    except InputError as error:
        located = (replace(finding, file=str(engine.address), column=name) for finding in error.findings)
        raise InputError(located) from None
    if any(text.startswith(_OUTSIDE) for text in texts):
        raise InputError(no_fit(engine.address, name))
    met = np.zeros(len(texts), np.bool_)
    met[indices] = True
    ordered = category_order(sorted({text for text, there in zip(texts, met.tolist(), strict=True) if there}))
    code_of = {text: code for code, text in enumerate(ordered)}
    codes = np.array([code_of.get(text, 0) for text in texts], np.int64)[indices]
    frequencies = np.zeros(len(ordered), np.int64)
    np.add.at(frequencies, codes, numbers)
    missing = int(frequencies[code_of[""]]) if "" in code_of else 0
    many = len(ordered) > DISTINCT_LIMIT or (len(ordered) > IDENTIFIER_FROM and 2 * len(ordered) > rows)
    if many:
        return ColumnFacts(name, len(ordered), missing, categorical=False), None
    declared = engine.category_numbers[column] if engine.category_numbers is not None else None
    categories = Categories(name, tuple(ordered), declared)
    facts = ColumnFacts(name, len(ordered), missing, True, categories, frequencies)
    return facts, Values(keys, codes)


def codable(kind: Any) -> bool:
    """Whether values of a type have a text that can be a category."""
    import pyarrow as pa

    plain = kind.value_type if pa.types.is_dictionary(kind) else kind
    if pa.types.is_nested(plain) or pa.types.is_binary(plain) or pa.types.is_large_binary(plain):
        return False
    try:
        pa.nulls(0, plain).cast(pa.string())
    except pa.ArrowException:
        return False
    return True
