"""The classes of a version as Qt's table model."""

from __future__ import annotations

import math
from typing import Any

from PySide6.QtCore import QObject, Qt

from vbas_desktop.ui.widgets.tables import Heading, Index, TableModel

SORT_ROLE = int(Qt.ItemDataRole.UserRole)

PLACE_MEASURES = {
    "jaccard": ("Kept together (Jaccard)", "Of the pairs of records alike before or after, the share alike both times"),
    "fowlkes_mallows": (
        "Fowlkes–Mallows",
        "Mean share of the pairs of records that were kept together; 1: nothing merged",
    ),
    "place_distance": ("Distance moved", "How far records are from their initial region to the centre of the new one"),
}
"""What is told of every place, by which the map can be coloured, too: how it is called, and what it says."""
_TIPS = dict(PLACE_MEASURES.values())


class ClassesModel(TableModel):
    """Rows of values; numbers stand at the right, grouped; unknown ones are a dash."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._headings: tuple[Heading, ...] = ()
        self.rows: tuple[tuple[Any, ...], ...] = ()

    def show_rows(self, headings: tuple[str, ...], rows: tuple[tuple[Any, ...], ...]) -> None:
        """Show another table."""
        self.beginResetModel()
        self._headings, self.rows = tuple(Heading(text, _TIPS.get(text, "")) for text in headings), rows
        self.endResetModel()

    def headings(self) -> tuple[Heading, ...]:
        """As they were given, each over cells that stand on their own side."""
        return self._headings

    def count(self) -> int:
        """How many classes there are."""
        return len(self.rows)

    def text(self, row: int, column: int) -> str:
        """What a cell shows."""
        value = self.rows[row][column]
        return _text(value) if _is_number(value) else value

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """As usual; numbers stand at the right, whatever else is in their column."""
        if role == Qt.ItemDataRole.TextAlignmentRole and index.isValid():
            number = _is_number(self.rows[index.row()][index.column()])
            side = Qt.AlignmentFlag.AlignRight if number else Qt.AlignmentFlag.AlignLeft
            return side | Qt.AlignmentFlag.AlignVCenter
        return super().data(index, role)

    def more(self, row: int, column: int, role: int) -> Any:
        """What is sorted by; unknown values come first."""
        value = self.rows[row][column]
        return (-math.inf if value is None or value != value else value) if role == SORT_ROLE else None


def _is_number(value: Any) -> bool:
    return value is None or isinstance(value, int | float)


def _text(value: float | int | None) -> str:
    if value is None or not math.isfinite(value):
        return "–"
    if float(value).is_integer() and abs(value) >= 2:
        return f"{value:,.0f}"
    return f"{value:,}" if isinstance(value, int) else f"{value:,.4f}" if abs(value) <= 1 else f"{value:,.1f}"
