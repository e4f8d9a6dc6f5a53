"""What all tables of the thesis share: rows as text, and published rows that stand beside them."""

from __future__ import annotations

import csv
import io
import statistics
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

from vbas_desktop.io.whole_text import whole_text
from vbas_desktop.model.errors import refusal
from vbas_desktop.model.listing import defuse_row

Value = float | int | None
Values = Mapping[str, Value]
"""The measures and seconds of a row; what was left out or is undefined is None."""

Row = TypeVar("Row")

BESIDE = " A cell has our figure / the published one (their ratio)."
"""Explains the cells that `shown_beside` writes."""


def read_published(
    path: Path, columns: Sequence[str], which: str, made: Callable[[Mapping[str, str]], Row | None]
) -> list[Row]:
    """The rows of a CSV file with these columns; ``made`` says what becomes of each, None to leave it out."""
    reader = csv.DictReader(io.StringIO(whole_text(path), newline=""))
    try:
        missing = [name for name in columns if name not in (reader.fieldnames or ())]
        if missing:
            remedy = f"Name a file of the published tables{which}."
            raise refusal("reference", "A column is missing.", remedy, file=path, column=missing[0])
        return [row for each in reader if (row := made(each)) is not None]
    except (ValueError, TypeError, csv.Error):
        # A row that is too short has None in its last columns.
        message = "A number cannot be read."
        raise refusal("reference", message, "Correct the file.", file=path, row=reader.line_num) from None


def csv_of(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Rows as CSV under these names; None is an empty field, and what a spreadsheet might run gets an apostrophe."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(map(defuse_row, [columns, *rows]))
    return text.getvalue()


def ratio(mine: Values, theirs: Values | None, name: str) -> float | None:
    """Ours by the published value; None where either is missing or the published one is zero."""
    own, published = mine[name], None if theirs is None else theirs[name]
    return own / published if own is not None and published else None


def beside_heads(measures: Iterable[str]) -> list[str]:
    """The names of the columns that `beside` fills."""
    return [head for name in measures for head in (name, f"{name}_published", f"{name}_ratio")]


def beside(mine: Values, theirs: Values | None, measures: Iterable[str]) -> Iterator[Value]:
    """Each measure of ours, the published one, and their ratio."""
    for name in measures:
        yield from (mine[name], None if theirs is None else theirs[name], ratio(mine, theirs, name))


def medians(pairs: Sequence[tuple[Values, Values | None]], measures: Iterable[str]) -> Iterator[str]:
    """The median of the ratios of each measure that has any, in words."""
    for name in measures:
        ratios = [found for mine, theirs in pairs if (found := ratio(mine, theirs, name)) is not None]
        if ratios:
            yield f"{name.replace('_', ' ')} {statistics.median(ratios):.2f}"


def shown(name: str, value: Value) -> str:
    """A value of a measure for people."""
    if value is None:
        return "–"
    digits = 4 if "distance" in name or name == "precision_loss" else 2 if name == "seconds" else 0
    return f"{value:,.{digits}f}"


def shown_beside(name: str, mine: Values, theirs: Values | None) -> str:
    """Show a measure of ours for people, with the published one and their ratio where it was published."""
    published = None if theirs is None else theirs[name]
    if published is None:
        return shown(name, mine[name])
    found = ratio(mine, theirs, name)
    quotient = "" if found is None else f" ({found:.2f})"
    return f"{shown(name, mine[name])} / {shown(name, published)}{quotient}"
