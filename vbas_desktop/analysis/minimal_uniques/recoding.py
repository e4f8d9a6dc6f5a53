"""Recode one column: by its rules in order, then cut, paired or emptied; and measure the detail that is left."""

from __future__ import annotations

import math
import re
from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .distinct_rows import NULL, DistinctRows
from .rules import FilterRule, is_same_column

Transform = Callable[[str], str]


@dataclass(frozen=True)
class Recoding:
    """One change of one column: the new value of each value, a description, and the number of its rules used."""

    column: int
    transform: Transform
    description: str
    rules_used: int = 0

    def apply(self, values: Sequence[str]) -> tuple[str, ...]:
        """Return the new value of each value."""
        return tuple(self.transform(value) for value in values)

    def empties_column(self, values: Sequence[str]) -> bool:
        """Say whether nothing but the missing value is left."""
        return set(self.apply(values)) <= {NULL}


@dataclass(frozen=True)
class RecodingDefaults:
    """Recoding of columns without rules.

    Texts lose the length of the shortest one divided by ``trim_divisor``; ``empty_numbers``: numbers are emptied, not
    joined in pairs; ``join_rare``: before a column is emptied, its rarest values are joined.
    """

    trim_divisor: int = 3
    empty_numbers: bool = False
    join_rare: bool = False


def choose_recoding(
    table: DistinctRows,
    column: int,
    rules: Sequence[FilterRule],
    defaults: RecodingDefaults = RecodingDefaults(),  # noqa: B008 (frozen)
) -> Recoding:
    """Choose the next recoding of a column: its first rule in any case, else the default, else empty it."""
    values = table.values[column]
    own_rules = [rule for rule in rules if is_same_column(rule.feature, table.columns[column])]
    if own_rules:
        transform, description = _recode_by_rule(own_rules[0])
        return Recoding(column, transform, description, 1)
    if defaults.empty_numbers and _all_numbers(_drop_missing(values)):
        return Recoding(column, _empty, "emptied")
    default = _choose_default(values, defaults.trim_divisor)
    if default is None and defaults.join_rare:
        default = _join_rare_values(table, column)
    transform, description = default or (_empty, "emptied")
    return Recoding(column, transform, description)


def _merges_values(transform: Transform, values: Sequence[str]) -> bool:
    return len({transform(value) for value in values}) < len(set(values))


def _recode_by_rule(rule: FilterRule) -> tuple[Transform, str]:
    """Build the transform of a filter rule and its description."""
    if rule.type == "null":
        return _empty, "emptied"
    if rule.type == "cut":
        return _make_cut(rule.cut), _describe_cut(rule.cut)
    groups = dict(rule.groups)
    return (lambda value: groups.get(value, value)), f"grouped by {rule.source}"


def _empty(value: str) -> str:
    return NULL


def _make_cut(characters: int) -> Transform:
    return lambda value: value[:-characters]


def _describe_cut(characters: int) -> str:
    return "last character cut" if characters == 1 else f"last {characters} characters cut"


def _drop_missing(values: Sequence[str]) -> list[str]:
    return [value for value in values if value != NULL]


def _choose_default(values: tuple[str, ...], trim_divisor: int) -> tuple[Transform, str] | None:
    """Choose the recoding of a column without a rule: join neighbouring numbers or cut texts; None if neither helps."""
    present = _drop_missing(values)
    if len(present) > 2:
        return (
            _join_neighbours(present)
            if _all_numbers(present)
            else _shorten(values, min(map(len, present)), trim_divisor)
        )
    return None


_JOINED_SHARE = 3
_NAMED = 3
_LEADING_NUMBER = re.compile(r"-?\d+(\.\d+)?")


def _parse_leading_number(value: str) -> float:
    """Parse the number that a value begins with."""
    match = _LEADING_NUMBER.match(value)
    assert match is not None
    return float(match[0])


def _join_rare_values(table: DistinctRows, column: int) -> tuple[Transform, str] | None:
    """Join the rarest third of the values (two at least); None if that would leave one value only.

    Where all values begin with numbers, the rarest value is joined with its rarer neighbour in that order instead.
    """
    values = table.values[column]
    records = np.bincount(table.codes[column], table.weights, len(values)).astype(np.int64)
    records_of = {
        value: int(number) for value, number in zip(values, records, strict=True) if value != NULL
    }
    if len(records_of) < 3:
        return None
    ranked = sorted(records_of, key=lambda value: (records_of[value], value))
    if all(_LEADING_NUMBER.match(value) for value in ranked):
        ordered = sorted(ranked, key=lambda value: (_parse_leading_number(value), value))
        position = ordered.index(ranked[0])
        neighbours = ordered[max(position - 1, 0) : position] + ordered[position + 1 : position + 2]
        rare = [ranked[0], min(neighbours, key=lambda value: records_of[value])]
        joined = " or ".join(sorted(rare, key=ordered.index))
        description = "the rarest value joined with its neighbour"
    else:
        rare = sorted(ranked[: max(2, len(ranked) // _JOINED_SHARE)])
        joined = " or ".join(rare) if len(rare) <= _NAMED else "other"
        description = f"the {len(rare)} rarest values joined"
    return (lambda value: joined if value in rare else value), description


def _shorten(values: tuple[str, ...], shortest: int, divisor: int) -> tuple[Transform, str] | None:
    """Cut off a part of the shortest value, repeated until values merge; None if nothing would be left."""
    step = max(1, shortest // divisor)
    for characters in range(step, shortest, step):
        if _merges_values(_make_cut(characters), values):
            return _make_cut(characters), _describe_cut(characters)
    return None


def _join_neighbours(present: list[str]) -> tuple[Transform, str]:
    """Join neighbouring numbers (or intervals of an earlier step) in pairs."""
    ordered = sorted(present, key=lambda value: (_parse_interval(value), value))
    lows = []
    labels = []
    label_of = {}
    for start in range(0, len(ordered), 2):
        pair = ordered[start : start + 2]
        low = _split_interval(pair[0])[0]
        high = _split_interval(pair[-1])[1]
        label = low if low == high else f"{low}–{high}"
        lows.append(_parse_interval(pair[0])[0])
        labels.append(label)
        label_of.update(dict.fromkeys(pair, label))

    def find_bin(value: str) -> str:
        # Values of a reference table that the searched table does not have fall into the interval they lie in.
        if value in label_of or value == NULL or not _all_numbers([value]):
            return label_of.get(value, value)
        position = bisect_right(lows, _parse_interval(value)[0]) - 1
        is_inside = position >= 0 and _parse_interval(value)[1] <= _parse_interval(labels[position])[1]
        return labels[position] if is_inside else value

    return find_bin, "neighbouring values joined"


def _all_numbers(values: Sequence[str]) -> bool:
    return all(_is_number(text) for value in values for text in _split_interval(value))


def _split_interval(value: str) -> tuple[str, str]:
    """Split an interval such as 3–5 into the texts of its ends; a single value is both ends."""
    low, dash, high = value.partition("–")
    return (low, high) if dash else (value, value)


def _parse_interval(value: str) -> tuple[float, float]:
    """Parse the ends of an interval as numbers."""
    low, high = _split_interval(value)
    return float(low), float(high)


def _is_number(text: str) -> bool:
    try:
        return math.isfinite(float(text)) and "_" not in text
    except ValueError:
        return False


@dataclass(frozen=True)
class ColumnDetail:
    """One column before and after coarsening.

    ``information_loss`` is the share of the information that is lost, 0 (nothing) … 1 (all): H(before | after) /
    H(before), where a suppressed record says nothing. None for a column that had one value only.
    """

    column: str
    values_before: int
    values_after: int
    information_loss: float | None

    def as_dict(self) -> dict[str, Any]:
        """Return the figures as plain JSON data."""
        return asdict(self)

    def in_words(self) -> str:
        """Describe the remaining values and the information loss in a phrase."""
        loss = (
            ""
            if self.information_loss is None
            else f" ({100 * self.information_loss:.0f} % of the information lost)"
        )
        return f"{self.column} {self.values_before:,} → {self.values_after:,}{loss}"


@dataclass(frozen=True)
class TableDetail:
    """Remaining detail of all columns, in the order of the table."""

    columns: tuple[ColumnDetail, ...] = ()

    @property
    def information_loss(self) -> float:
        """Mean information loss of the columns that had more than one value; 0 if there are none."""
        losses = [
            column.information_loss for column in self.columns if column.information_loss is not None
        ]
        return sum(losses) / len(losses) if losses else 0.0


def measure_detail(start: DistinctRows, state: DistinctRows) -> TableDetail:
    """Compare a table with its recoded state. O(records + rows · columns)."""
    row_after = _find_recoded_rows(start, state)
    released = row_after >= 0
    columns = []
    for column, name in enumerate(start.columns):
        before = start.codes[column].astype(np.int64)
        after = np.full(before.size, -1, np.int64)
        after[released] = state.codes[column][row_after[released]]
        loss = _compute_information_loss(before, after, start.weights)
        columns.append(
            ColumnDetail(name, _count_distinct(before), _count_distinct(after[released]), loss)
        )
    return TableDetail(tuple(columns))


def _find_recoded_rows(start: DistinctRows, state: DistinctRows) -> NDArray[np.int32]:
    """Find the row of the state that each row of the start became (−1: suppressed); equal records stay together."""
    row_after = np.empty(start.rows, np.int32)
    row_after[start.row_of] = state.row_of
    return row_after


def _count_distinct(codes: NDArray[np.int64]) -> int:
    return int(np.unique(codes).size)


def _compute_information_loss(
    before: NDArray[np.int64], after: NDArray[np.int64], records: NDArray[np.int32]
) -> float | None:
    """Compute the share of the information that is lost: log₂(records of the new value / of the old value) in bits."""
    total = int(records.sum())
    if not total:
        return None
    own_records = np.bincount(before, records)[before]
    bits = float((records * np.log2(total / own_records)).sum())
    if bits <= 0:
        return None
    # Codes of suppressed rows are −1: their new value stands for all records.
    merged = np.bincount(after + 1, records)
    merged[0] = total
    lost_bits = float((records * np.log2(merged[after + 1] / own_records)).sum())
    return min(1.0, max(0.0, lost_bits / bits))
