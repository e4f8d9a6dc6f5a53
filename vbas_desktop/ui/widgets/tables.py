"""What all tables have in common: the model that makes texts when they are seen, quiet looks, copying, saving."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QPersistentModelIndex, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QAbstractItemView, QTableView, QWidget

from vbas_desktop.domain.progress import Progress
from vbas_desktop.files.atomic import write_text
from vbas_desktop.ui.context import Context
from vbas_desktop.ui.theme import GRID, tabular
from vbas_desktop.ui.widgets.file_dialogs import ask_to_save

_SAMPLED_ROWS = 60
_WIDEST = 170


def set_up_table(table: QTableView, name: str) -> None:
    """Rows are chosen as a whole, figures have equal width, rows are low."""
    table.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
    table.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
    table.setAlternatingRowColors(True)
    table.setShowGrid(False)
    table.setWordWrap(False)
    # The arrows walk through the cells; the tab key goes on to what comes after the table.
    table.setTabKeyNavigation(False)
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


def copy_rows(rows: list[list[str]]) -> None:
    """Put rows on the clipboard the way spreadsheets take them."""
    QGuiApplication.clipboard().setText("\n".join("\t".join(row) for row in rows) + "\n")


def offer_to_save_rows(context: Context, parent: QWidget, rows: list[list[str]], name: str) -> None:
    """Ask where rows are to go and write them there as CSV in the background."""

    def save(chosen: str) -> None:
        def job(progress: Progress) -> Path:
            progress.update("Saving the table")
            text = io.StringIO()
            csv.writer(text, lineterminator="\n").writerows(rows)
            write_text(Path(chosen), text.getvalue())
            return Path(chosen)

        context.runner.start("Saving the table", job, lambda path: context.say(f"Saved {path}."))

    ask_to_save(parent, "Save table", "CSV table (*.csv)", Path(name), save)


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
