"""What all tables of the thesis share: rows as text, and published rows that stand beside them."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TypeVar

Value = float | int | None
Values = Mapping[str, Value]
"""The measures and seconds of a row; what was left out or is undefined is None."""

Row = TypeVar("Row")

PAIR_NOTE = " A cell has our figure / the published one (their ratio)."
"""Explains the cells that `format_pair` writes."""


def compute_ratio(mine: Values, theirs: Values | None, name: str) -> float | None:
    """Divide our value by the published one; None where either is missing or the published one is zero."""
    own = mine[name]
    published = None if theirs is None else theirs[name]
    return own / published if own is not None and published else None


def list_paired_columns(measures: Iterable[str]) -> list[str]:
    """List the names of the columns that `pair_with_published` fills."""
    return [head for name in measures for head in (name, f"{name}_published", f"{name}_ratio")]


def pair_with_published(mine: Values, theirs: Values | None, measures: Iterable[str]) -> Iterator[Value]:
    """Yield each measure of ours, the published one, and their ratio."""
    for name in measures:
        yield from (
            mine[name],
            None if theirs is None else theirs[name],
            compute_ratio(mine, theirs, name),
        )


def describe_median_ratios(
    pairs: Sequence[tuple[Values, Values | None]], measures: Iterable[str]
) -> Iterator[str]:
    """Describe the median ratio of each measure that has any."""
    for name in measures:
        ratios = [
            ratio for mine, theirs in pairs if (ratio := compute_ratio(mine, theirs, name)) is not None
        ]
        if ratios:
            yield f"{name.replace('_', ' ')} {statistics.median(ratios):.2f}"


def format_value(name: str, value: Value) -> str:
    """Format a value of a measure for people."""
    if value is None:
        return "–"
    digits = 4 if "distance" in name or name == "precision_loss" else 2 if name == "seconds" else 0
    return f"{value:,.{digits}f}"


def format_pair(name: str, mine: Values, theirs: Values | None) -> str:
    """Show a measure of ours for people, with the published one and their ratio where it was published."""
    published = None if theirs is None else theirs[name]
    if published is None:
        return format_value(name, mine[name])
    ratio = compute_ratio(mine, theirs, name)
    quotient = "" if ratio is None else f" ({ratio:.2f})"
    return f"{format_value(name, mine[name])} / {format_value(name, published)}{quotient}"
