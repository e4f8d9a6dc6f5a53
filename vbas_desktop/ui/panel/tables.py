"""How all tables of the panel are set up: dense, quiet, as wide as their contents."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QAbstractItemView, QTableView

from vbas_desktop.ui.theme import GRID, tabular

_SAMPLED_ROWS = 60
_WIDEST = 170


def set_up_table(table: QTableView, name: str) -> None:
    """Rows are chosen as a whole, figures have equal width, rows are low."""
    table.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
    table.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
    table.setAlternatingRowColors(True)
    table.setShowGrid(False)
    table.setWordWrap(False)
    table.setFont(tabular(table.font()))
    table.setAccessibleName(name)
    table.verticalHeader().hide()
    table.verticalHeader().setDefaultSectionSize(table.fontMetrics().height() + GRID)
    table.horizontalHeader().setHighlightSections(False)


def fit_columns(table: QTableView) -> None:
    """Make each column as wide as its title and its first rows need."""
    model, metrics = table.model(), table.fontMetrics()
    rows = min(_SAMPLED_ROWS, model.rowCount())
    for column in range(model.columnCount()):
        lines = str(model.headerData(column, Qt.Orientation.Horizontal) or "").split("\n")
        texts = lines + [str(model.index(row, column).data() or "") for row in range(rows)]
        width = max((metrics.horizontalAdvance(text) for text in texts), default=0)
        table.setColumnWidth(column, min(_WIDEST, width + 3 * GRID - 2))
