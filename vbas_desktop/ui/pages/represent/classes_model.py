"""The classes of a version as Qt's table model."""

from __future__ import annotations

import math
from typing import Any

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt

Index = QModelIndex | QPersistentModelIndex
SORT_ROLE = int(Qt.ItemDataRole.UserRole)
_NOWHERE = QModelIndex()


class ClassesModel(QAbstractTableModel):
    """Rows of values; numbers stand at the right, grouped; unknown ones are a dash."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.headings: tuple[str, ...] = ()
        self.rows: tuple[tuple[Any, ...], ...] = ()

    def show_rows(self, headings: tuple[str, ...], rows: tuple[tuple[Any, ...], ...]) -> None:
        """Show another table."""
        self.beginResetModel()
        self.headings, self.rows = headings, rows
        self.endResetModel()

    def rowCount(self, parent: Index = _NOWHERE) -> int:
        """How many classes there are."""
        return 0 if parent.isValid() else len(self.rows)

    def columnCount(self, parent: Index = _NOWHERE) -> int:
        """How many columns there are."""
        return 0 if parent.isValid() else len(self.headings)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """What a cell shows."""
        if not index.isValid():
            return None
        value = self.rows[index.row()][index.column()]
        number = value is None or isinstance(value, int | float)
        if role == Qt.ItemDataRole.DisplayRole:
            return _text(value) if number else value
        if role == SORT_ROLE:
            return -math.inf if value is None or value != value else value
        if role == Qt.ItemDataRole.TextAlignmentRole:
            side = Qt.AlignmentFlag.AlignRight if number else Qt.AlignmentFlag.AlignLeft
            return side | Qt.AlignmentFlag.AlignVCenter
        return None

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """What a column is called."""
        if orientation != Qt.Orientation.Horizontal or not 0 <= section < len(self.headings):
            return None
        return self.headings[section] if role == Qt.ItemDataRole.DisplayRole else None


def _text(value: float | int | None) -> str:
    if value is None or not math.isfinite(value):
        return "–"
    if float(value).is_integer() and abs(value) >= 2:
        return f"{value:,.0f}"
    return f"{value:,}" if isinstance(value, int) else f"{value:,.4f}" if abs(value) <= 1 else f"{value:,.1f}"
