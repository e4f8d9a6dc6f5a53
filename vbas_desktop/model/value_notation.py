"""One way of writing for every value of a column: blanks, numbers and dates, by the rules of docs/release.md."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date
from typing import Any

BLANKS = " \t"
"""What is removed around a value."""
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
    """Return what is written for each value of the released records of a column; None if that is always the value."""
    bare = [value.strip(BLANKS) for value in values]
    filled = [value for value in bare if value]
    rewritten = iter(_numbers(filled) or _dates(filled) or filled)
    written = tuple(next(rewritten) if value else value for value in bare)
    return None if written == tuple(values) else written


def plain_value(value: str) -> str:
    """Return the value without any habit of notation: two values that a release may write alike have the same one."""
    bare = value.strip(BLANKS)
    number = _NUMBER.fullmatch(bare)
    if number:
        return _number(number)
    day = _YEAR_FIRST.fullmatch(bare)
    if day and _is_date(day):
        return _year_first(day, seconds=True)
    day = _YEAR_LAST.fullmatch(bare)
    return _year_last(day) if day else bare


def possible_values(value: str) -> tuple[str, ...]:
    """List everything that a release may write for a value, which depends on the other values; the value is first."""
    bare = value.strip(BLANKS)
    alone = canonical_values([value]) or (value,)
    return tuple(dict.fromkeys((value, bare, _without_plus(bare), *alone, plain_value(value))))


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
    """Return the numbers as they are written if all values are numbers; codes keep their zeros.

    Zeros in front are a habit if some number has them in one value and lacks them in another.
    """
    found = _matches(_NUMBER, values)
    padded = [len(match[2]) > 1 and match[2][0] == "0" for match in found]
    plain = [_number(match) for match in found]
    with_zeros = {number for number, zeros in zip(plain, padded, strict=True) if zeros}
    without = {number for number, zeros in zip(plain, padded, strict=True) if not zeros}
    if with_zeros and not with_zeros & without:
        return [_without_plus(value) for value in values]
    return plain


def _without_plus(value: str) -> str:
    return value.removeprefix("+") if _NUMBER.fullmatch(value) else value


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
    return [_year_last(match) for match in last]


def _year_last(match: re.Match[str]) -> str:
    return f"{match[1]:0>2}{match[2]}{match[3]:0>2}{match[2]}{match[4]}"


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
