"""How a column is coarsened: by its rules in order, then cut, binned, emptied. Works on distinct values only."""

from __future__ import annotations

import math
import re
from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from .rules import FilterRule, same_name
from .table import NULL, Table

Transform = Callable[[str], str]


@dataclass(frozen=True)
class Coarsening:
    """One change of one column: what becomes of each value, in words, and how many of its rules that uses up."""

    column: int
    transform: Transform
    words: str
    rules_used: int = 0

    def applied(self, values: Sequence[str]) -> tuple[str, ...]:
        """The new value of each value."""
        return tuple(self.transform(value) for value in values)

    def empties(self, values: Sequence[str]) -> bool:
        """Whether nothing but the missing value is left."""
        return set(self.applied(values)) <= {NULL}


@dataclass(frozen=True)
class Defaults:
    """How a column without rules is coarsened.

    Texts lose the length of the shortest one divided by ``trim_divisor``; ``empty_numbers``: numbers are emptied, not
    joined in pairs; ``join_rare``: before a column is emptied, its rarest values are taken together.
    """

    trim_divisor: int = 3
    empty_numbers: bool = False
    join_rare: bool = False


def next_coarsening(
    table: Table,
    column: int,
    rules: Sequence[FilterRule],
    defaults: Defaults = Defaults(),  # noqa: B008 (frozen)
) -> Coarsening:
    """Return the next thing to do to a column: its first rule in any case, else the default, else empty it."""
    values = table.values[column]
    own = [rule for rule in rules if same_name(rule.feature, table.columns[column])]
    if own:
        transform, words = _by_rule(own[0])
        return Coarsening(column, transform, words, 1)
    if defaults.empty_numbers and _all_numbers(_present(values)):
        return Coarsening(column, _empty, "emptied")
    chosen = _default(values, defaults.trim_divisor)
    if chosen is None and defaults.join_rare:
        chosen = _rare_joined(table, column)
    transform, words = chosen or (_empty, "emptied")
    return Coarsening(column, transform, words)


def _merges(transform: Transform, values: Sequence[str]) -> bool:
    return len({transform(value) for value in values}) < len(set(values))


def _by_rule(rule: FilterRule) -> tuple[Transform, str]:
    if rule.type == "null":
        return _empty, "emptied"
    if rule.type == "cut":
        return _cut(rule.cut), _cut_words(rule.cut)
    groups = dict(rule.groups)
    return (lambda value: groups.get(value, value)), f"grouped by {rule.source}"


def _empty(value: str) -> str:
    return NULL


def _cut(characters: int) -> Transform:
    return lambda value: value[:-characters]


def _cut_words(characters: int) -> str:
    return "last character cut" if characters == 1 else f"last {characters} characters cut"


def _present(values: Sequence[str]) -> list[str]:
    return [value for value in values if value != NULL]


def _default(values: tuple[str, ...], trim_divisor: int) -> tuple[Transform, str] | None:
    present = _present(values)
    if len(present) > 2:
        return _bins(present) if _all_numbers(present) else _shortened(values, min(map(len, present)), trim_divisor)
    return None


_JOINED_SHARE = 3
_NAMED = 3
_LEADING = re.compile(r"-?\d+(\.\d+)?")


def _rare_joined(table: Table, column: int) -> tuple[Transform, str] | None:
    """The rarest third of the values (two at least) taken together, or the rarest and its neighbour where values are
    in the order of the numbers they begin with; None if that would leave one value only.
    """
    values = table.values[column]
    records = np.bincount(table.codes[column], table.weights, len(values)).astype(np.int64)
    number_of = {value: int(number) for value, number in zip(values, records, strict=True) if value != NULL}
    if len(number_of) < 3:
        return None
    ranked = sorted(number_of, key=lambda value: (number_of[value], value))
    if all(_LEADING.match(value) for value in ranked):
        ordered = sorted(ranked, key=lambda value: (float(_LEADING.match(value)[0]), value))  # type: ignore[index]
        place = ordered.index(ranked[0])
        beside = [ordered[each] for each in (place - 1, place + 1) if 0 <= each < len(ordered)]
        rare = [ranked[0], min(beside, key=lambda value: number_of[value])]
        together, words = " or ".join(sorted(rare, key=ordered.index)), "the rarest value joined with its neighbour"
    else:
        rare = sorted(ranked[: max(2, len(ranked) // _JOINED_SHARE)])
        together = " or ".join(rare) if len(rare) <= _NAMED else "other"
        words = f"the {len(rare)} rarest values joined"
    return (lambda value: together if value in rare else value), words


def _shortened(values: tuple[str, ...], shortest: int, divisor: int) -> tuple[Transform, str] | None:
    """Cut off a part of the shortest value, as often as it takes to merge something; None if nothing would be left."""
    step = max(1, shortest // divisor)
    for characters in range(step, shortest, step):
        if _merges(_cut(characters), values):
            return _cut(characters), _cut_words(characters)
    return None


def _bins(present: list[str]) -> tuple[Transform, str]:
    """Neighbouring numbers (or intervals of an earlier binning) joined in pairs."""
    ordered = sorted(present, key=lambda value: (_ends(value), value))
    lows, labels, names = [], [], {}
    for start in range(0, len(ordered), 2):
        pair = ordered[start : start + 2]
        low, high = _texts(pair[0])[0], _texts(pair[-1])[1]
        label = low if low == high else f"{low}–{high}"
        lows.append(_ends(pair[0])[0])
        labels.append(label)
        names.update(dict.fromkeys(pair, label))

    def binned(value: str) -> str:
        # Values of a reference table that the subject does not have fall into the interval they lie in.
        if value in names or value == NULL or not _all_numbers([value]):
            return names.get(value, value)
        place = bisect_right(lows, _ends(value)[0]) - 1
        inside = place >= 0 and _ends(value)[1] <= _ends(labels[place])[1]
        return labels[place] if inside else value

    return binned, "neighbouring values joined"


def _all_numbers(values: Sequence[str]) -> bool:
    return all(_is_number(text) for value in values for text in _texts(value))


def _texts(value: str) -> tuple[str, str]:
    low, dash, high = value.partition("–")
    return (low, high) if dash else (value, value)


def _ends(value: str) -> tuple[float, float]:
    low, high = _texts(value)
    return float(low), float(high)


def _is_number(text: str) -> bool:
    try:
        return math.isfinite(float(text)) and "_" not in text
    except ValueError:
        return False
