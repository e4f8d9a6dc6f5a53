"""Ways to take categories together: intervals of neighbours, named groups."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

_START = re.compile(r"\s*(-?\d+(?:\.\d+)?)")
_RANGE = re.compile(r"\s*-?\d+(?:\.\d+)?\s*(?:-|–|to)\s*(-?\d+(?:\.\d+)?)\s*\Z")
_OPEN = re.compile(r"\s*-?\d+(?:\.\d+)?(\s*\+|\s+and\s+(?:over|above|more|older))\s*\Z")
_NUMBER = re.compile(r"\s*-?\d+(?:\.\d+)?\s*\Z")


def intervals(values: Sequence[str], size: int) -> dict[str, str]:
    """Each ``size`` neighbouring categories as one group, the last one perhaps smaller; missing values stay apart."""
    present = [value for value in values if value != ""]
    groups = {}
    for start in range(0, len(present), max(1, size)):
        members = present[start : start + max(1, size)]
        name = interval_name(members[0], members[-1])
        groups.update(dict.fromkeys(members, name))
    return groups


def interval_name(first: str, last: str) -> str:
    """What the categories from one to another are called together: "0-4" and "5-9" make "0-9"."""
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


def starts_with_number(name: str) -> bool:
    """Whether a category is a number or an interval, so that its neighbours mean something."""
    return _START.match(name) is not None


def number_of_groups(values: Sequence[str], groups: Mapping[str, str]) -> int:
    """How many categories remain."""
    return len({groups.get(value, value) for value in values})
