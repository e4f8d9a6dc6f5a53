"""What a table shows, without Qt: its columns, their texts, and the order of rows that are sorted by one of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from vbas_desktop.model.records import ColumnFacts

Row = TypeVar("Row")
UNKNOWN = "–"


def format_value(value: Any) -> str:
    """Format a value of a cell: numbers with grouped digits, an unknown value as a dash."""
    if value is None:
        return UNKNOWN
    return value if isinstance(value, str) else f"{value:,}"


@dataclass(frozen=True)
class TableColumn(Generic[Row]):
    """A column of a table whose rows are objects.

    name: identifies the column in code and in saved files.
    value: what is sorted by and saved; None if it is unknown.
    tip: explains the column, over its title.
    format: text of a known value; ``text_of``, if there is one, makes the text of the whole row instead.
    side: where cells are aligned: left, right (numbers) or centre; ``side_of`` if that differs between rows.
    row_tip, is_bold, share (0 to 1, drawn as a bar), icon (its name): of the cell of a row.
    is_checked: tick of the cell; None if the cell has none. ``check`` is called with another tick.
    edit_value: what editing begins with. ``edit`` is called with what was entered.
    accessible: what a screen reader says of a cell, if not its text. bold_means: what it adds to one that is bold.
    badge: word that stands out after the text of a cell; empty for none.
    is_enabled: False if the cell of the row can be neither edited nor ticked.
    """

    name: str
    title: str
    value: Callable[[Row], Any]
    tip: str = ""
    format: Callable[[Any], str] = format_value
    text_of: Callable[[Row], str] | None = None
    side: str = "left"
    side_of: Callable[[Row], str] | None = None
    row_tip: Callable[[Row], str] | None = None
    is_bold: Callable[[Row], bool] | None = None
    bold_means: str = "best"
    accessible: Callable[[Row], str] | None = None
    badge: Callable[[Row], str] | None = None
    share: Callable[[Row], float] | None = None
    icon: Callable[[Row], str] | None = None
    is_checked: Callable[[Row], bool | None] | None = None
    check: Callable[[Row, bool], None] | None = None
    edit_value: Callable[[Row], str] | None = None
    edit: Callable[[Row, Any], None] | None = None
    is_enabled: Callable[[Row], bool] | None = None

    @property
    def header(self) -> str:
        """The text over the column."""
        return self.title

    def text(self, row: Row) -> str:
        """Return the text of a row; a dash if its value is unknown."""
        if self.text_of is not None:
            return self.text_of(row)
        value = self.value(row)
        return UNKNOWN if value is None else self.format(value)


def sort_rows(
    rows: Sequence[Row], column: TableColumn[Row], descending: bool = False
) -> NDArray[np.intp]:
    """Return the positions of the rows in the order of a column, unknown values last in either direction.

    Equal values keep their order. numpy compares: 20 ms for 17,613 rows.
    """
    values = [column.value(row) for row in rows]
    is_known = np.array([value is not None and value == value for value in values], bool)
    known_values = [value for value, is_value in zip(values, is_known, strict=True) if is_value]
    ranks = np.unique(np.array(known_values), return_inverse=True)[1]
    keys = np.full(len(values), len(values))
    keys[is_known] = -ranks if descending else ranks
    return np.argsort(keys, kind="stable")


def make_category_columns(facts: ColumnFacts) -> list[TableColumn[int]]:
    """Make the columns for the categories of a column, by code: name and number of records."""
    assert facts.categories is not None
    categories = facts.categories
    n_records = [0] * len(categories.values) if facts.frequencies is None else facts.frequencies.tolist()
    return [
        TableColumn("category", "Category", categories.label),
        TableColumn("records", "Records", n_records.__getitem__, side="right"),
    ]
