"""One way of writing for every value of a column: blanks, numbers and dates, by the rules of docs/release.md."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date
from typing import Any

_BLANKS = " \t"
_NUMBER = re.compile(r"([+-]?)(?=\.?[0-9])([0-9]*)(?:\.([0-9]*))?")
_YEAR_FIRST = re.compile(r"([0-9]{4})([-/.])([0-9]{1,2})\2([0-9]{1,2})(?:[ T]([0-9]{1,2}):([0-9]{2})(?::([0-9]{2}))?)?")
_YEAR_LAST = re.compile(r"([0-9]{1,2})([-/.])([0-9]{1,2})\2([0-9]{4})")


def is_text(schema: Any, column: str) -> bool:
    """Whether a column holds what somebody typed; with a schema its other types have one way of writing already."""
    if schema is None:
        return True
    import pyarrow as pa

    kind = schema.field(column).type
    kind = kind.value_type if pa.types.is_dictionary(kind) else kind
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind))


def canonical_values(values: Sequence[str]) -> tuple[str, ...] | None:
    """What is written for each value of a column; None if that is the value itself throughout."""
    bare = [value.strip(_BLANKS) for value in values]
    filled = [value for value in bare if value]
    rewritten = iter(_numbers(filled) or _dates(filled) or filled)
    written = tuple(next(rewritten) if value else value for value in bare)
    return None if written == tuple(values) else written


def _matches(pattern: re.Pattern[str], values: Sequence[str]) -> list[re.Match[str]]:
    """What the pattern finds in each value; nothing if one of them is not like it."""
    found = []
    for value in values:
        match = pattern.fullmatch(value)
        if match is None:
            return []
        found.append(match)
    return found


def _numbers(values: Sequence[str]) -> list[str]:
    """Numbers as they are written, if all values are numbers and none is a code whose zeros belong to it."""
    found = _matches(_NUMBER, values)
    padded = any(len(match[2]) > 1 and match[2][0] == "0" for match in found)
    return [] if padded and len({len(match[2]) for match in found}) == 1 else [_number(match) for match in found]


def _number(match: re.Match[str]) -> str:
    whole, part = match[2].lstrip("0") or "0", (match[3] or "").rstrip("0")
    text = f"{whole}.{part}" if part else whole
    return f"-{text}" if match[1] == "-" and text != "0" else text


def _dates(values: Sequence[str]) -> list[str]:
    """Dates as they are written, if all values are dates of one order (and, with the year last, one separator)."""
    first, last = _matches(_YEAR_FIRST, values), _matches(_YEAR_LAST, values)
    if first and all(map(_is_date, first)):
        seconds = any(match[7] is not None for match in first)
        return [_year_first(match, seconds) for match in first]
    if len({match[2] for match in last}) > 1:
        return []
    return [f"{match[1]:0>2}{match[2]}{match[3]:0>2}{match[2]}{match[4]}" for match in last]


def _is_date(match: re.Match[str]) -> bool:
    try:
        date(int(match[1]), int(match[3]), int(match[4]))
    except ValueError:
        return False
    return True


def _year_first(match: re.Match[str], seconds: bool) -> str:
    day = f"{match[1]}-{match[3]:0>2}-{match[4]:0>2}"
    if match[5] is None:
        return day
    return f"{day} {match[5]:0>2}:{match[6]}" + (f":{match[7] or '00'}" if seconds else "")
