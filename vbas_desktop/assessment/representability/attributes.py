"""Describe columns: the excluded ones (A^e) and the included quasi-identifiers (A^q), by type, range, aim and reason.

Source 002, mrm-3 and mrm-4. Type and range are computed, aim and reason are the custodian's words.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from vbas_desktop.io.records.row_texts import coded_texts
from vbas_desktop.model.records import RecordTable, finite_number

DISCRETE = "discrete number"
CONTINUOUS = "continuous number"
ORDINAL = "ordinal category"
NOMINAL = "nominal category"
BINARY = "binary category"
REGION = "aggregated region"


@dataclass(frozen=True)
class ValueRange:
    """Type of a column's values and their range: ``from`` and ``to`` of numbers, otherwise the number of categories.

    None: no value is held by enough records.
    """

    type: str
    range: dict[str, float | int] | None


def describe_values(values: Sequence[str], ordinal: bool = False) -> ValueRange:
    """Find the type and the range of values that may be told; a blank is no value."""
    present = [value for value in dict.fromkeys(values) if value != ""]
    numbers = [finite_number(value) for value in present]
    known = [number for number in numbers if number is not None]
    if ordinal or len(known) < len(numbers) or not known:
        kind = ORDINAL if ordinal else BINARY if len(present) == 2 else NOMINAL
        return ValueRange(kind, {"categories": len(present)} if present else None)
    kind = DISCRETE if all(number.is_integer() for number in known) else CONTINUOUS
    return ValueRange(kind, {"from": _plain(min(known)), "to": _plain(max(known))})


def describe_column(table: RecordTable, column: str, k: int, ordinal: bool = False) -> ValueRange:
    """Find the type and the range of a column from the values that at least k records have.

    Where no value is held by so many, the type is that of all values and there is no range.
    """
    codes, distinct = coded_texts(table, column)
    counts = np.bincount(codes, minlength=distinct.size)
    frequent = [str(value) for value in distinct[counts >= k] if value != ""]
    if frequent:
        return describe_values(frequent, ordinal)
    every = describe_values([str(value) for value in distinct[counts > 0]], ordinal)
    # That there are two values would be told of few records.
    return ValueRange(NOMINAL if every.type == BINARY else every.type, None)


def attribute_row(
    name: str, use: str, values: ValueRange | None, aims: Mapping[str, str], reasons: Mapping[str, str]
) -> dict[str, Any]:
    """Put what is known of a column together. ``use`` is "excluded" or "quasi-identifier"."""
    return {
        "name": name,
        "use": use,
        "type": None if values is None else values.type,
        "range": None if values is None else values.range,
        "aim": aims.get(name, ""),
        "reason": reasons.get(name, ""),
    }


def range_in_words(values: Mapping[str, float | int] | None) -> str:
    """Say in which range the values of a column are."""
    if values is None:
        return "not told"
    if "categories" in values:
        number = int(values["categories"])
        return f"{number:,} categories" if number != 1 else "1 category"
    return f"{values['from']:,} to {values['to']:,}"


def _plain(number: float) -> float | int:
    return int(number) if number.is_integer() else number
