"""Describe columns: the excluded ones (A^e) and the included quasi-identifiers (A^q), by type, range, aim and reason.

Source 002, mrm-3 and mrm-4. Type and range are computed, aim and reason are the custodian's words.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from vbas_desktop.io.records.rows import read_coded_texts
from vbas_desktop.model.records import CodedRecords, finite_number

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
    """Find the type and the range of values that may be reported; a blank is no value."""
    present = [value for value in dict.fromkeys(values) if value != ""]
    numbers = [finite_number(value) for value in present]
    finite = [number for number in numbers if number is not None]
    if ordinal or len(finite) < len(numbers) or not finite:
        kind = ORDINAL if ordinal else BINARY if len(present) == 2 else NOMINAL
        return ValueRange(kind, {"categories": len(present)} if present else None)
    kind = DISCRETE if all(number.is_integer() for number in finite) else CONTINUOUS
    return ValueRange(kind, {"from": _simplify(min(finite)), "to": _simplify(max(finite))})


def describe_column(table: CodedRecords, column: str, k: int, ordinal: bool = False) -> ValueRange:
    """Find the type and the range of a column from the values that at least k records have.

    Where no value is held by so many, the type is that of all values and there is no range.
    """
    codes, distinct = read_coded_texts(table, column)
    counts = np.bincount(codes, minlength=distinct.size)
    frequent = [str(value) for value in distinct[counts >= k] if value != ""]
    if frequent:
        return describe_values(frequent, ordinal)
    all_values = describe_values([str(value) for value in distinct[counts > 0]], ordinal)
    # The number of the values would be a fact about few records.
    return ValueRange(NOMINAL if all_values.type == BINARY else all_values.type, None)


def build_attribute_row(
    name: str, use: str, values: ValueRange | None, aims: Mapping[str, str], reasons: Mapping[str, str]
) -> dict[str, Any]:
    """Build the row of a column in the element "attributes". ``use`` is "excluded" or "quasi-identifier"."""
    return {
        "name": name,
        "use": use,
        "type": None if values is None else values.type,
        "range": None if values is None else values.range,
        "aim": aims.get(name, ""),
        "reason": reasons.get(name, ""),
    }


def format_range(values: Mapping[str, float | int] | None) -> str:
    """Format the range of a column: from and to of numbers, or the number of categories."""
    if values is None:
        return "not stated"
    if "categories" in values:
        number = int(values["categories"])
        return f"{number:,} categories" if number != 1 else "1 category"
    return f"{values['from']:,} to {values['to']:,}"


def _simplify(number: float) -> float | int:
    """Return a whole number as an integer."""
    return int(number) if number.is_integer() else number
