"""The categories of one column with their numbers of records, as bars."""

from __future__ import annotations

from typing import Any

import numpy as np
from PySide6.QtCore import QAbstractTableModel, QModelIndex, QPersistentModelIndex, QRect, Qt
from PySide6.QtGui import QColor, QPainter
from PySide6.QtWidgets import QStyledItemDelegate, QStyleOptionViewItem

from vbas_desktop.domain.records import ColumnFacts

Index = QModelIndex | QPersistentModelIndex

_MOST = 500
"""More categories are not shown: nobody reads them, and the largest come first."""

SHARE = Qt.ItemDataRole.UserRole
_HEADS = ("Category", "Records", "")
_TOP = QModelIndex()


class FrequenciesModel(QAbstractTableModel):
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

    def rowCount(self, parent: Index = _TOP) -> int:
        """Number of categories shown."""
        return 0 if parent.isValid() else len(self._rows)

    def columnCount(self, parent: Index = _TOP) -> int:
        """Category, number, bar."""
        return 0 if parent.isValid() else len(_HEADS)

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """The heads."""
        if orientation is Qt.Orientation.Horizontal and role == Qt.ItemDataRole.DisplayRole:
            return _HEADS[section]
        return None

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """Texts and shares."""
        label, number = self._rows[index.row()]
        if role == Qt.ItemDataRole.DisplayRole:
            return (label, f"{number:,}", "")[index.column()]
        if role == Qt.ItemDataRole.TextAlignmentRole and index.column() == 1:
            return Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
        if role == SHARE:
            return number / self._largest
        return None


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
