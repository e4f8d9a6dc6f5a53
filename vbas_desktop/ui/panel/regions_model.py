"""The aggregated regions as Qt's table model."""

from __future__ import annotations

import math
from typing import Any

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, QSortFilterProxyModel, Qt

from vbas_desktop.ui.map.figures import Figure, figure_named
from vbas_desktop.ui.map.preparer import Shown

Index = QModelIndex | QPersistentModelIndex
SORT_ROLE = int(Qt.ItemDataRole.UserRole)
REGION_ROLE = SORT_ROLE + 1
_NOWHERE = QModelIndex()

_HEADERS = {
    "records": "Records",
    "suppressed": "Suppressed\nrecords",
    "share_suppressed": "Share\nsuppressed",
    "share_of_loss": "Share of\nthe loss",
    "anonymity_before": "Anonymity\nbefore",
    "anonymity": "Anonymity\nafter",
    "initial_regions": "Initial\nregions",
    "compactness": "Compactness",
    "pieces": "Pieces",
}
_TIPS = {
    "records": "Records of the file in this aggregated region",
    "suppressed": "Records lost here, because their class was below k in the whole file or in this region",
    "share_of_loss": "Its share in all suppressed records",
    "anonymity_before": "Size of the smallest class before suppression",
    "anonymity": "Size of the smallest class that is released",
    "compactness": "4π · area / perimeter²: 1 for a disc, towards 0 for ragged shapes",
    "pieces": "Into how many pieces it falls",
}


class RegionsModel(QAbstractTableModel):
    """One row per aggregated region: its number, then its figures."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.shown: Shown | None = None

    def show_solution(self, shown: Shown | None) -> None:
        """List the aggregated regions of another solution."""
        self.beginResetModel()
        self.shown = shown
        self.endResetModel()

    def figure(self, column: int) -> Figure | None:
        """The figure of a column; the first column has none."""
        figures = self.shown.figures if self.shown is not None else ()
        return figures[column - 1] if 1 <= column <= len(figures) else None

    def title(self, column: int) -> str:
        """The full title of a column."""
        figure = self.figure(column)
        return "Aggregated region" if figure is None else figure.title

    def rowCount(self, parent: Index = _NOWHERE) -> int:
        """How many aggregated regions there are."""
        return 0 if parent.isValid() or self.shown is None else len(self.shown.geometry.shapes)

    def columnCount(self, parent: Index = _NOWHERE) -> int:
        """How many columns there are."""
        return 0 if parent.isValid() or self.shown is None else 1 + len(self.shown.figures)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """What a cell shows."""
        if not index.isValid():
            return None
        figure, row = self.figure(index.column()), index.row()
        if role == Qt.ItemDataRole.DisplayRole:
            return f"{row + 1:,}" if figure is None else figure.format(float(figure.values[row]), unit=False)
        if role == SORT_ROLE:
            value = float(row if figure is None else figure.values[row])
            return None if math.isnan(value) else value
        if role == REGION_ROLE:
            return row
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
        return None

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """What a column is called."""
        if orientation != Qt.Orientation.Horizontal:
            return None
        figure = self.figure(section)
        if role == Qt.ItemDataRole.DisplayRole:
            return "Region" if figure is None else _HEADERS.get(figure.name, figure.title)
        if role == Qt.ItemDataRole.ToolTipRole:
            return "Number of the aggregated region" if figure is None else _TIPS.get(figure.name, figure.title)
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
        return None


class RegionsFilter(QSortFilterProxyModel):
    """Sorts by value (unknown ones last) and may leave out regions that lost nothing."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._only_losses = False

    def show_only_losses(self, on: bool) -> None:
        """Leave out regions without losses, or show all."""
        self.beginFilterChange()
        self._only_losses = on
        self.endFilterChange()

    def filterAcceptsRow(self, row: int, parent: Index) -> bool:
        """Whether a region is listed."""
        model = self.sourceModel()
        assert isinstance(model, RegionsModel)
        lost = figure_named(model.shown.figures, "suppressed") if model.shown is not None else None
        return not self._only_losses or lost is None or bool(lost.values[row] > 0)

    def lessThan(self, left: Index, right: Index) -> bool:
        """Smaller values first; unknown ones last in either direction."""
        one, other = left.data(SORT_ROLE), right.data(SORT_ROLE)
        if one is None or other is None:
            ascending = self.sortOrder() == Qt.SortOrder.AscendingOrder
            return (other is None) == ascending if one is not other else False
        return bool(one < other)
