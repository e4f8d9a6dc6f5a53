"""One value for all records of a class: the mean of numbers, the most frequent category."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction

_MORE_DECIMALS = 2
_MOST_DECIMALS = 10
"""More decimals of a value are not counted, so that 1e-300 does not give hundreds of digits."""


def mean_text(values: Sequence[tuple[str, int]]) -> str:
    """Return the mean of numbers with their frequencies, cut after two decimals more than the numbers have.

    Missing values do not count; without any number it is empty. Zeros at the end are left out.
    """
    known = [(Decimal(text), int(number)) for text, number in values if text]
    total = sum(number for _, number in known)
    if not total:
        return ""
    decimals = max(-int(value.as_tuple().exponent) for value, _ in known)
    digits = min(max(decimals, 0), _MOST_DECIMALS) + _MORE_DECIMALS
    mean = sum((Fraction(value) * number for value, number in known), Fraction()) / total
    scaled = int(abs(mean) * 10**digits)
    whole, part = divmod(scaled, 10**digits)
    text = f"{whole}.{part:0{digits}d}".rstrip("0").rstrip(".")
    return f"-{text}" if mean < 0 and scaled else text


def most_frequent(values: Sequence[tuple[str, int]]) -> str:
    """Return the most frequent category, of equal ones the first by code point; missing values do not count."""
    known = [(-int(number), text) for text, number in values if text]
    return min(known)[1] if known else ""
