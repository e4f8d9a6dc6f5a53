"""What all tables have in common: headings with tips, numbers at the right, texts made when they are seen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QPersistentModelIndex, Qt

Index = QModelIndex | QPersistentModelIndex
TOP = QModelIndex()

_SIDES = {
    "left": Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter,
    "right": Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter,
    "centre": Qt.AlignmentFlag.AlignCenter,
}


@dataclass(frozen=True)
class Heading:
    """The head of a column: its title, what it means, and on which side its cells stand (numbers: right)."""

    title: str
    tip: str = ""
    side: str = "left"


class TableModel(QAbstractTableModel):
    """A table of texts. Subclasses say what the columns are called, how many rows there are and what a cell shows."""

    def headings(self) -> Sequence[Heading]:
        """The columns."""
        raise NotImplementedError

    def count(self) -> int:
        """How many rows there are."""
        raise NotImplementedError

    def text(self, row: int, column: int) -> str:
        """What a cell shows."""
        raise NotImplementedError

    def more(self, row: int, column: int, role: int) -> Any:
        """What a cell has besides its text: a tip, a value to sort by, a tick; None: nothing of this role."""
        return None

    def rowCount(self, parent: Index = TOP) -> int:
        """How many rows there are."""
        return 0 if parent.isValid() else self.count()

    def columnCount(self, parent: Index = TOP) -> int:
        """How many columns there are."""
        return 0 if parent.isValid() else len(self.headings())

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """A column's title, tip and side; rows have no heads."""
        headings = self.headings()
        if orientation is not Qt.Orientation.Horizontal or not 0 <= section < len(headings):
            return None
        heading = headings[section]
        if role == Qt.ItemDataRole.ToolTipRole:
            return heading.tip or None
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return _SIDES[heading.side]
        return heading.title if role == Qt.ItemDataRole.DisplayRole else None

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """What a cell shows, on which side, and what it has besides."""
        if not index.isValid():
            return None
        if role == Qt.ItemDataRole.DisplayRole:
            return self.text(index.row(), index.column())
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return _SIDES[self.headings()[index.column()].side]
        return self.more(index.row(), index.column(), role)
