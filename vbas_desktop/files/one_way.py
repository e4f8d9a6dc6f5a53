"""One way of writing for every value of a column: blanks, numbers and dates, by the rules of docs/release.md."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from datetime import date
from typing import Any

_BLANKS = " \t"
_NUMBER = re.compile(r"([+-]?)([0-9]*)(?:\.([0-9]*))?")
_YEAR_FIRST = re.compile(r"([0-9]{4})([-/.])([0-9]{1,2})\2([0-9]{1,2})(?:[ T]([0-9]{1,2}):([0-9]{2})(?::([0-9]{2}))?)?")
_YEAR_LAST = re.compile(r"([0-9]{1,2})([-/.])([0-9]{1,2})\2([0-9]{4})")


def is_text(schema: Any, column: str) -> bool:
    """Whether a column holds what somebody typed; with a schema its other types have one way of writing already."""
    if schema is None:
        return True
    import pyarrow as pa

    kind = schema.field(column).type
    kind = kind.value_type if pa.types.is_dictionary(kind) else kind
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def canonical_values(values: Sequence[str]) -> tuple[str, ...] | None:
    """What is written for each value of a column; None if that is the value itself throughout."""
    bare = [value.strip(_BLANKS) for value in values]
    filled = [value for value in bare if value]
    rewrite = _numbers(filled) or _dates(filled)
    written = tuple(rewrite(value) if rewrite is not None and value else value for value in bare)
    return None if written == tuple(values) else written


def _numbers(values: Sequence[str]) -> Callable[[str], str] | None:
    """How numbers are written, if all values are numbers and none is a code whose zeros belong to it."""
    widths, padded = set(), False
    for value in values:
        found = _NUMBER.fullmatch(value)
        if found is None or not (found[2] or found[3]):
            return None
        widths.add(len(found[2]))
        padded = padded or (len(found[2]) > 1 and found[2][0] == "0")
    return None if padded and len(widths) == 1 else _number


def _number(value: str) -> str:
    found = _NUMBER.fullmatch(value)
    assert found is not None
    whole, part = found[2].lstrip("0") or "0", (found[3] or "").rstrip("0")
    text = f"{whole}.{part}" if part else whole
    return f"-{text}" if found[1] == "-" and text != "0" else text


def _dates(values: Sequence[str]) -> Callable[[str], str] | None:
    """How dates are written, if all values are dates of one order (and, with the year last, one separator)."""
    if not values:
        return None
    if _YEAR_FIRST.fullmatch(values[0]) is not None:
        matches = [_YEAR_FIRST.fullmatch(value) for value in values]
        if not all(found is not None and _is_date(found[1], found[3], found[4]) for found in matches):
            return None
        seconds = any(found is not None and found[7] is not None for found in matches)
        return lambda value: _year_first(value, seconds)
    last = [_YEAR_LAST.fullmatch(value) for value in values]
    if any(found is None for found in last) or len({found[2] for found in last if found is not None}) > 1:
        return None
    return _year_last


def _is_date(year: str, month: str, day: str) -> bool:
    try:
        date(int(year), int(month), int(day))
    except ValueError:
        return False
    return True


def _year_first(value: str, seconds: bool) -> str:
    found = _YEAR_FIRST.fullmatch(value)
    assert found is not None
    day = f"{found[1]}-{found[3]:0>2}-{found[4]:0>2}"
    if found[5] is None:
        return day
    return f"{day} {found[5]:0>2}:{found[6]}" + (f":{found[7] or '00'}" if seconds else "")


def _year_last(value: str) -> str:
    found = _YEAR_LAST.fullmatch(value)
    assert found is not None
    return f"{found[1]:0>2}{found[2]}{found[3]:0>2}{found[2]}{found[4]}"
