"""Categories that look alike because they differ only by blanks or invisible characters around them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping

_BLANKS = "".join(map(chr, range(0x21))) + "\x7f\x85\xa0\u1680" + "".join(map(chr, range(0x2000, 0x200B)))
_BLANKS += "\u2028\u2029\u202f\u205f\u3000"
_INVISIBLE = "\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b\u200c\u200d\u200e\u200f"
_INVISIBLE += "\u202a\u202b\u202c\u202d\u202e\u2060\u2061\u2062\u2063\u2064\u2066\u2067\u2068\u2069\ufeff"


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
    known = set(values)
    return {value: bare for value, bare in bare_of.items() if bare in known or times[bare] > 1}


def join_groups(values: Collection[str], groups: Mapping[str, str]) -> dict[str, str]:
    """Return the groups of a column's values with those joined that differ only by blanks."""
    grouped = {value: groups.get(value, value) for value in values}
    joined = join_by_blanks(dict.fromkeys(grouped.values()))
    return {value: joined.get(group, group) for value, group in grouped.items()}


def count_joinable(values: Collection[str], groups: Mapping[str, str]) -> int:
    """Count the categories that joining would take away."""
    before = {groups.get(value, value) for value in values}
    return len(before) - len(set(join_groups(values, groups).values()))
