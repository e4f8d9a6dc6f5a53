"""What all tables have in common: the model that makes texts when they are seen, quiet looks, copying, saving."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QPersistentModelIndex, Qt, Slot
from PySide6.QtGui import QGuiApplication, QResizeEvent
from PySide6.QtWidgets import QAbstractItemView, QTableView, QWidget

from vbas_desktop.domain.progress import Progress
from vbas_desktop.files.atomic import write_text
from vbas_desktop.ui.context import Context
from vbas_desktop.ui.theme import GRID, tabular
from vbas_desktop.ui.widgets.file_dialogs import ask_to_save

_SAMPLED_ROWS = 60
_WIDEST = 170
_NARROWEST = 40


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


def fit_columns(table: QTableView) -> list[int]:
    """Make each column as wide as its title and its first rows need; tells how wide that is, hidden ones included."""
    widths = []
    model, metrics = table.model(), table.fontMetrics()
    rows = min(_SAMPLED_ROWS, model.rowCount())
    for column in range(model.columnCount()):
        lines = str(model.headerData(column, Qt.Orientation.Horizontal) or "").split("\n")
        texts = lines + [str(model.index(row, column).data() or "") for row in range(rows)]
        width = max((metrics.horizontalAdvance(text) for text in texts), default=0)
        widths.append(min(_WIDEST, width + 2 * GRID - 2))
        table.setColumnWidth(column, widths[-1])
    return widths


class SqueezedTable(QTableView):
    """Columns of words give way where there is little room, so that the numbers are in sight; until somebody sets the
    width of a column by hand. Words that are cut are told in full by their tips.
    """

    def __init__(self) -> None:
        super().__init__()
        self._own_widths, self._squeezing = False, False
        self._natural: list[int] = []
        self.setHorizontalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.horizontalHeader().sectionResized.connect(self._on_section_resized)

    def fit(self) -> None:
        """Choose the widths anew, for other columns."""
        self._squeezing = True
        self._natural = fit_columns(self)
        self._squeezing, self._own_widths = False, False
        self.squeeze()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """There is other room."""
        super().resizeEvent(event)
        self.squeeze()

    @Slot(int, int, int)
    def _on_section_resized(self, column: int, before: int, now: int) -> None:
        """Hiding and showing a column is told as a change of its width, too."""
        self._own_widths = self._own_widths or not (self._squeezing or before == 0 or now == 0)

    def squeeze(self) -> None:
        """Share the room among the columns that are shown."""
        if self._own_widths or len(self._natural) != self.model().columnCount():
            return
        seen = [column for column in range(len(self._natural)) if not self.isColumnHidden(column)]
        words = [column for column in seen if self._of_words(column)]
        missing = sum(self._natural[column] for column in seen) - self.viewport().width()
        give = [max(0, self._natural[column] - _NARROWEST) for column in words]
        share = min(1.0, max(0, missing) / sum(give)) if sum(give) else 0.0
        self._squeezing = True
        for column, most in zip(words, give, strict=True):
            self.setColumnWidth(column, self._natural[column] - math.ceil(share * most))
        self._squeezing = False

    def grow(self, column: int) -> None:
        """Give a column the room that it needs by now, unless widths were set by hand."""
        if self._own_widths or len(self._natural) != self.model().columnCount():
            return
        self._natural[column] = max(self._natural[column], self.sizeHintForColumn(column))
        self._squeezing = True
        self.setColumnWidth(column, self._natural[column])
        self._squeezing = False
        self.squeeze()

    def _of_words(self, column: int) -> bool:
        side = self.model().headerData(column, Qt.Orientation.Horizontal, Qt.ItemDataRole.TextAlignmentRole)
        return bool(Qt.AlignmentFlag(side) & Qt.AlignmentFlag.AlignLeft)


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
