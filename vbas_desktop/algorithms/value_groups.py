"""Groups of categories: intervals of neighbouring values, and one value that stands for all records of a class."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from decimal import Decimal
from fractions import Fraction

_START = re.compile(r"\s*(-?\d+(?:\.\d+)?)")
_RANGE = re.compile(r"\s*-?\d+(?:\.\d+)?\s*(?:-|–|to)\s*(-?\d+(?:\.\d+)?)\s*\Z")
_OPEN = re.compile(r"\s*-?\d+(?:\.\d+)?(\s*\+|\s+and\s+(?:over|above|more|older))\s*\Z")
_NUMBER = re.compile(r"\s*-?\d+(?:\.\d+)?\s*\Z")


def group_into_intervals(values: Sequence[str], size: int) -> dict[str, str]:
    """Group each ``size`` neighbouring categories, the last group perhaps smaller; missing values stay apart."""
    present = [value for value in values if value != ""]
    groups = {}
    for start in range(0, len(present), max(1, size)):
        members = present[start : start + max(1, size)]
        name = name_interval(members[0], members[-1])
        groups.update(dict.fromkeys(members, name))
    return groups


def name_interval(first: str, last: str) -> str:
    """Name the categories from one to another: "0-4" and "5-9" make "0-9"."""
    if first == last:
        return first
    start = _START.match(first)
    if start is not None:
        if (bounded := _RANGE.match(last)) is not None:
            return f"{start[1]}-{bounded[1]}"
        if (unbounded := _OPEN.match(last)) is not None:
            return f"{start[1]}{unbounded[1]}"
        if _NUMBER.match(last):
            return f"{start[1]}-{last.strip()}"
    return f"{first} – {last}"


def count_groups(values: Sequence[str], groups: Mapping[str, str]) -> int:
    """Count the categories that remain."""
    return len({groups.get(value, value) for value in values})


_MORE_DECIMALS = 2
_MOST_DECIMALS = 10
"""More decimals of a value are not counted, so that 1e-300 does not give hundreds of digits."""


def format_mean(values: Sequence[tuple[str, int]]) -> str:
    """Return the mean of numbers with their frequencies, cut after two decimals more than the numbers have.

    Missing values do not count; without any number it is empty. Zeros at the end are left out.
    """
    numbers = [(Decimal(text), int(number)) for text, number in values if text]
    total = sum(number for _, number in numbers)
    if not total:
        return ""
    decimals = max(-int(value.as_tuple().exponent) for value, _ in numbers)
    digits = min(max(decimals, 0), _MOST_DECIMALS) + _MORE_DECIMALS
    mean = sum((Fraction(value) * number for value, number in numbers), Fraction()) / total
    scaled = int(abs(mean) * 10**digits)
    whole, part = divmod(scaled, 10**digits)
    text = f"{whole}.{part:0{digits}d}".rstrip("0").rstrip(".")
    return f"-{text}" if mean < 0 and scaled else text


def find_most_frequent(values: Sequence[tuple[str, int]]) -> str:
    """Return the most frequent category, of equal ones the first by code point; missing values do not count."""
    ranked = [(-int(number), text) for text, number in values if text]
    return min(ranked)[1] if ranked else ""
