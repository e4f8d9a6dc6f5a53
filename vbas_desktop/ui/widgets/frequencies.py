"""The categories of one column with their numbers of records, as bars."""

from __future__ import annotations

from typing import Any

import numpy as np
from PySide6.QtCore import QRect, Qt
from PySide6.QtGui import QColor, QPainter
from PySide6.QtWidgets import QStyledItemDelegate, QStyleOptionViewItem

from vbas_desktop.domain.records import ColumnFacts
from vbas_desktop.ui.widgets.tables import Heading, Index, TableModel

_MOST = 500
"""More categories are not shown: nobody reads them, and the largest come first."""

SHARE = Qt.ItemDataRole.UserRole
_HEADINGS = (Heading("Category"), Heading("Records", side="right"), Heading(""))


class FrequenciesModel(TableModel):
    """Categories by falling number of records."""

    def __init__(self) -> None:
        super().__init__()
        self._rows: list[tuple[str, int]] = []
        self._largest = 1

    def show_column(self, facts: ColumnFacts | None) -> int:
        """Show a column's categories; returns how many were left out."""
        self.beginResetModel()
        self._rows, left_out = [], 0
        if facts is not None and facts.categories is not None and facts.frequencies is not None:
            numbers = facts.frequencies
            order = np.argsort(-numbers, kind="stable")[:_MOST]
            self._rows = [(facts.categories.label(int(code)), int(numbers[code])) for code in order]
            left_out = max(0, len(numbers) - _MOST)
        self._largest = max((number for _, number in self._rows), default=1) or 1
        self.endResetModel()
        return left_out

    def headings(self) -> tuple[Heading, ...]:
        """Category, number, bar."""
        return _HEADINGS

    def count(self) -> int:
        """Number of categories shown."""
        return len(self._rows)

    def text(self, row: int, column: int) -> str:
        """Category and number."""
        label, number = self._rows[row]
        return (label, f"{number:,}", "")[column]

    def more(self, row: int, column: int, role: int) -> Any:
        """The share that is drawn as a bar."""
        return self._rows[row][1] / self._largest if role == SHARE else None


class BarDelegate(QStyledItemDelegate):
    """Draws the share of the largest category as a bar."""

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        """One bar."""
        super().paint(painter, option, index)
        room: QRect = option.rect.adjusted(4, 6, -8, -6)  # type: ignore[attr-defined]
        colour = QColor(option.palette.highlight().color())  # type: ignore[attr-defined]
        colour.setAlpha(140)
        room.setWidth(max(1, round(room.width() * float(index.data(SHARE) or 0))))
        painter.fillRect(room, colour)
