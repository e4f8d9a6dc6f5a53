"""One notation for every value of a column (blanks, numbers and dates), by the rules of docs/release.md.

Also finds categories that look alike because they differ only by blanks or invisible characters around them.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import date
from typing import Any

BLANKS = " \t"
"""What is removed around a value."""
_NUMBER = re.compile(r"([+-]?)(?=\.?[0-9])([0-9]*)(?:\.([0-9]*))?")
_YEAR_FIRST = re.compile(
    r"([0-9]{4})([-/.])([0-9]{1,2})\2([0-9]{1,2})(?:[ T]([0-9]{1,2}):([0-9]{2})(?::([0-9]{2}))?)?"
)
_YEAR_LAST = re.compile(r"([0-9]{1,2})([-/.])([0-9]{1,2})\2([0-9]{4})")


def is_text(schema: Any, column: str) -> bool:
    """Tell whether a column holds text; with a schema, its other types have one notation already."""
    if schema is None:
        return True
    import pyarrow as pa

    kind = schema.field(column).type
    kind = kind.value_type if pa.types.is_dictionary(kind) else kind
    return bool(
        pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind)
    )


def canonical_values(values: Sequence[str]) -> tuple[str, ...] | None:
    """Return what a release writes for each value of a column, in their order; None if it changes none of them."""
    bare = [value.strip(BLANKS) for value in values]
    filled = [value for value in bare if value]
    rewritten = iter(_unify_numbers(filled) or _unify_dates(filled) or filled)
    written = tuple(next(rewritten) if value else value for value in bare)
    return None if written == tuple(values) else written


def plain_value(value: str) -> str:
    """Return a value in its plainest notation; two values that a release may write alike become equal.

    Removed are blanks around it, plus sign and needless zeros of a number; a date gets two digits for day and month.
    """
    bare = value.strip(BLANKS)
    number = _NUMBER.fullmatch(bare)
    if number:
        return _format_number(number)
    day = _YEAR_FIRST.fullmatch(bare)
    if day and _is_date(day):
        return _format_year_first(day, seconds=True)
    day = _YEAR_LAST.fullmatch(bare)
    return _format_year_last(day) if day else bare


def possible_values(value: str) -> tuple[str, ...]:
    """List everything that a release may write for a value, which depends on the other values; the value is first."""
    bare = value.strip(BLANKS)
    alone = canonical_values([value]) or (value,)
    return tuple(dict.fromkeys((value, bare, _without_plus(bare), *alone, plain_value(value))))


def _match_all(pattern: re.Pattern[str], values: Sequence[str]) -> list[re.Match[str]]:
    """Match all values with a pattern; return nothing if one of them does not match."""
    matches = []
    for value in values:
        match = pattern.fullmatch(value)
        if match is None:
            return []
        matches.append(match)
    return matches


def _unify_numbers(values: Sequence[str]) -> list[str]:
    """Rewrite numbers in one notation; codes keep their zeros. Return an empty list unless all values are numbers.

    Zeros in front are a habit if some number has them in one value and lacks them in another.
    """
    matches = _match_all(_NUMBER, values)
    padded = [len(match[2]) > 1 and match[2][0] == "0" for match in matches]
    plain = [_format_number(match) for match in matches]
    with_zeros = {number for number, zeros in zip(plain, padded, strict=True) if zeros}
    without = {number for number, zeros in zip(plain, padded, strict=True) if not zeros}
    if with_zeros and not with_zeros & without:
        return [_without_plus(value) for value in values]
    return plain


def _without_plus(value: str) -> str:
    return value.removeprefix("+") if _NUMBER.fullmatch(value) else value


def _format_number(match: re.Match[str]) -> str:
    whole = match[2].lstrip("0") or "0"
    fraction = (match[3] or "").rstrip("0")
    text = f"{whole}.{fraction}" if fraction else whole
    return f"-{text}" if match[1] == "-" and text != "0" else text


def _unify_dates(values: Sequence[str]) -> list[str]:
    """Rewrite dates in one notation.

    Return an empty list unless all are dates with the year first, or all with the year last and one separator.
    """
    first = _match_all(_YEAR_FIRST, values)
    last = _match_all(_YEAR_LAST, values)
    if first and all(map(_is_date, first)):
        seconds = any(match[7] is not None for match in first)
        return [_format_year_first(match, seconds) for match in first]
    if len({match[2] for match in last}) > 1:
        return []
    return [_format_year_last(match) for match in last]


def _format_year_last(match: re.Match[str]) -> str:
    return f"{match[1]:0>2}{match[2]}{match[3]:0>2}{match[2]}{match[4]}"


def _is_date(match: re.Match[str]) -> bool:
    try:
        date(int(match[1]), int(match[3]), int(match[4]))
    except ValueError:
        return False
    return True


def _format_year_first(match: re.Match[str], seconds: bool) -> str:
    day = f"{match[1]}-{match[3]:0>2}-{match[4]:0>2}"
    if match[5] is None:
        return day
    return f"{day} {match[5]:0>2}:{match[6]}" + (f":{match[7] or '00'}" if seconds else "")


_BLANKS = (
    "".join(map(chr, range(0x21))) + "\x7f\x85\xa0\u1680" + "".join(map(chr, range(0x2000, 0x200B)))
)
_BLANKS += "\u2028\u2029\u202f\u205f\u3000"
_INVISIBLE = "\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b\u200c\u200d\u200e\u200f"
_INVISIBLE += (
    "\u202a\u202b\u202c\u202d\u202e\u2060\u2061\u2062\u2063\u2064\u2066\u2067\u2068\u2069\ufeff"
)


def without_blanks(value: str) -> str:
    """Return the value without blanks of any kind and invisible characters around it."""
    return value.strip(_BLANKS + _INVISIBLE)


def padded_values(values: Iterable[str]) -> tuple[str, ...]:
    """Return the values that have such characters around them."""
    return tuple(value for value in values if without_blanks(value) != value)


def join_by_blanks(values: Collection[str]) -> dict[str, str]:
    """Return what values become that differ from another one only by blanks around them; the others are left out."""
    bare_of = {value: without_blanks(value) for value in padded_values(values)}
    times = Counter(bare_of.values())
    all_values = set(values)
    return {value: bare for value, bare in bare_of.items() if bare in all_values or times[bare] > 1}


def join_groups(values: Collection[str], groups: Mapping[str, str]) -> dict[str, str]:
    """Return the groups of a column's values with those joined that differ only by blanks."""
    grouped = {value: groups.get(value, value) for value in values}
    joined = join_by_blanks(dict.fromkeys(grouped.values()))
    return {value: joined.get(group, group) for value, group in grouped.items()}


def count_joinable(values: Collection[str], groups: Mapping[str, str]) -> int:
    """Count the categories that joining would take away."""
    before = {groups.get(value, value) for value in values}
    return len(before) - len(set(join_groups(values, groups).values()))
