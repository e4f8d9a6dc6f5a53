"""Determine how the values of a column must have been written. Shares no code with the writer."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Context, Decimal, InvalidOperation

_DIGITS = frozenset("0123456789")


def expected_values(values: Sequence[str]) -> list[str]:
    """Return what the released file must hold for each value of the released records of a column."""
    bare = [value.strip(" \t") for value in values]
    filled = [value for value in bare if value]
    if filled and all(map(_is_number, filled)):
        rewrite = _as_code if _are_codes(filled) else _as_number
        return [rewrite(value) if value else "" for value in bare]
    parts = [_date_parts(value) for value in filled]
    if filled and all(part is not None for part in parts):
        kinds = {(len(part[0]) == 4, part[3]) for part in parts if part is not None}
        if len({first for first, _ in kinds}) == 1 and (next(iter(kinds))[0] or len(kinds) == 1):
            seconds = any(value.count(":") == 2 for value in filled)
            return [_as_date(value, seconds) if value else "" for value in bare]
    return bare


def alone(value: str) -> str:
    """Return a text that is the same for all values that the released file may hold in one way."""
    bare = value.strip(" \t")
    if bare and _is_number(bare):
        return _as_number(bare)
    return _as_date(bare, seconds=True) if _date_parts(bare) else bare


def expected_forms(value: str) -> set[str]:
    """Return everything that the released file may hold for a value, whatever others are released."""
    bare = value.strip(" \t")
    forms = {value, bare, alone(value)}
    if bare and _is_number(bare):
        forms.add(_as_code(bare))
    if _date_parts(bare):
        forms.add(_as_date(bare, seconds=False))
    return forms


def _is_number(value: str) -> bool:
    digits = value[1:] if value[0] in "+-" else value
    return digits.count(".") <= 1 and digits != "." and bool(digits) and set(digits) <= _DIGITS | {"."}


def _are_codes(values: Sequence[str]) -> bool:
    """Return whether zeros in front are part of the numbers: some have them, and none of these occurs without."""
    padded = {value for value in values if _has_zeros_in_front(value)}
    numbers = {_as_number(value) for value in padded}
    return bool(padded) and not any(
        _as_number(value) in numbers for value in values if value not in padded
    )


def _has_zeros_in_front(value: str) -> bool:
    whole = value.lstrip("+-").split(".")[0]
    return len(whole) > 1 and whole.startswith("0")


def _as_code(value: str) -> str:
    return value[1:] if value.startswith("+") else value


def _as_number(value: str) -> str:
    try:
        number = Decimal(value).normalize(Context(prec=len(value) + 2, Emin=-(10**6), Emax=10**6))
    except InvalidOperation:
        return value
    return format(number, "f") if number else "0"


def _date_parts(value: str) -> tuple[str, str, str, str] | None:
    """Return year, month, day and separator, or the three parts in their order if the year is the last."""
    day = value
    if ":" in value:
        mark = "T" if "T" in value else " "
        day, _, time = value.partition(mark)
        clock = time.split(":")
        if (
            not 2 <= len(clock) <= 3
            or len(clock[0]) not in (1, 2)
            or any(len(part) != 2 for part in clock[1:])
        ):
            return None
        if not set("".join(clock)) <= _DIGITS:
            return None
    separator = next((mark for mark in "-/." if mark in day), "")
    parts = day.split(separator) if separator else []
    if len(parts) != 3 or not set("".join(parts)) <= _DIGITS or not all(parts):
        return None
    if (
        len(parts[0]) == 4
        and len(parts[1]) <= 2
        and len(parts[2]) <= 2
        and _in_calendar(*map(int, parts))
    ):
        return parts[0], parts[1], parts[2], separator
    if len(parts[2]) == 4 and len(parts[0]) <= 2 and len(parts[1]) <= 2 and ":" not in value:
        return parts[0], parts[1], parts[2], separator
    return None


def _in_calendar(year: int, month: int, day: int) -> bool:
    if year < 1 or not 1 <= month <= 12:
        return False
    leap = year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
    lengths = (31, 29 if leap else 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
    return 1 <= day <= lengths[month - 1]


def _as_date(value: str, seconds: bool) -> str:
    parts = _date_parts(value)
    assert parts is not None
    if len(parts[0]) != 4:
        return parts[3].join((parts[0].zfill(2), parts[1].zfill(2), parts[2]))
    day = "-".join((parts[0], parts[1].zfill(2), parts[2].zfill(2)))
    if ":" not in value:
        return day
    clock = value.partition("T" if "T" in value else " ")[2].split(":")
    clock[0] = clock[0].zfill(2)
    return f"{day} {':'.join([*clock, '00'] if seconds and len(clock) == 2 else clock)}"
