"""The initial regions that changed owner between two solutions, as a table."""

from __future__ import annotations

from typing import Any

import numpy as np
from PySide6.QtCore import QAbstractTableModel, QModelIndex, QPersistentModelIndex, Qt

from .pair import Pair

TITLES = ("Initial region", "Records", "Left", "Right")
REGION_ROLE = Qt.ItemDataRole.UserRole
"""The place of the row's region in the region file."""

_Index = QModelIndex | QPersistentModelIndex


class ChangedModel(QAbstractTableModel):
    """Makes texts when a row is seen: there may be tens of thousands."""

    def __init__(self) -> None:
        super().__init__()
        self._pair: Pair | None = None
        self._regions = np.zeros(0, np.int64)

    def show_pair(self, pair: Pair | None) -> None:
        """List another comparison."""
        self.beginResetModel()
        self._pair = pair
        changed = pair.changed if pair is not None else None
        self._regions = np.zeros(0, np.int64) if changed is None else np.flatnonzero(changed)
        self.endResetModel()

    def rowCount(self, parent: _Index = QModelIndex()) -> int:  # noqa: B008
        """One row per changed region."""
        return 0 if parent.isValid() else int(self._regions.size)

    def columnCount(self, parent: _Index = QModelIndex()) -> int:  # noqa: B008
        """Id, records, and the number of its aggregated region on either side."""
        return 0 if parent.isValid() else len(TITLES)

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """Titles, over numbers on the right."""
        if orientation is not Qt.Orientation.Horizontal:
            return None
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return _alignment(section)
        return TITLES[section] if role == Qt.ItemDataRole.DisplayRole else None

    def data(self, index: _Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """A text, its alignment, or the region."""
        if self._pair is None or not index.isValid():
            return None
        region = int(self._regions[index.row()])
        if role == Qt.ItemDataRole.DisplayRole:
            return self._text(self._pair, region, index.column())
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return _alignment(index.column())
        return region if role == REGION_ROLE else None

    def _text(self, pair: Pair, region: int, column: int) -> str:
        base = pair.left.geometry.base
        if column == 0:
            return base.regions.ids[region]
        if column == 1:
            return "" if base.records is None else f"{int(base.records[region]):,}"
        shown = pair.left if column == 2 else pair.right
        return f"{int(shown.solution.membership[region]) + 1:,}"


def _alignment(column: int) -> Qt.AlignmentFlag:
    side = Qt.AlignmentFlag.AlignLeft if column == 0 else Qt.AlignmentFlag.AlignRight
    return side | Qt.AlignmentFlag.AlignVCenter
