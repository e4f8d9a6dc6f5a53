"""What all tables have in common: the model that makes texts when they are seen, looks, choices, copying, saving."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from PySide6.QtCore import (
    QAbstractItemModel,
    QAbstractTableModel,
    QItemSelectionModel,
    QLocale,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    QRect,
    Qt,
    Slot,
)
from PySide6.QtGui import QColor, QGuiApplication, QPainter, QResizeEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QComboBox,
    QHeaderView,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTableView,
    QTableWidget,
    QTableWidgetItem,
    QWidget,
)

from vbas_desktop.io.output import write_text
from vbas_desktop.jobs.inputs import check_saved_file
from vbas_desktop.model.listing import defuse_row
from vbas_desktop.model.names import escape_lines
from vbas_desktop.model.progress import Progress
from vbas_desktop.model.records import ColumnFacts
from vbas_desktop.ui.context import Context
from vbas_desktop.ui.theme import GRID, tabular
from vbas_desktop.ui.widgets.file_dialogs import ask_to_save
from vbas_desktop.ui.widgets.plain_text import set_tool_tip, tool_tip

from .building import dress, offer

_MOST = 500
"""More categories are not shown: nobody reads them, and the largest come first."""

SHARE = Qt.ItemDataRole.UserRole

Choices = Callable[[], Sequence[tuple[str, ...]]]
"""What can be chosen now: short form, words, and perhaps a tip."""

_SAMPLED_ROWS = 60
_WIDEST = 170
_LEAST_SHARE = 0.6
"""So much of its width a column of words keeps."""


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


def set_up_sorted(table: QTableView, model: QAbstractItemModel, column: int, name: str) -> None:
    """A table of a model that is sorted, by a column at first, and that asks for menus."""
    table.setModel(model)
    table.setSortingEnabled(True)
    table.sortByColumn(column, Qt.SortOrder.AscendingOrder)
    set_up_table(table, name)
    for widget in (table, table.horizontalHeader()):
        widget.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)


def choose_row(table: QTableView, index: QModelIndex) -> None:
    """Choose the row of an index and bring it into sight; with an invalid index, choose none."""
    if index.isValid() and index.row() == table.currentIndex().row():
        return
    flags = QItemSelectionModel.SelectionFlag
    choice = flags.ClearAndSelect | flags.Rows if index.isValid() else flags.Clear
    table.selectionModel().setCurrentIndex(index, choice)
    if index.isValid():
        table.scrollTo(index)


def fit_columns(table: QTableView) -> list[int]:
    """Make each column as wide as its title and its first rows need; returns the widths, hidden columns included."""
    widths = []
    model = table.model()
    rows = min(_SAMPLED_ROWS, model.rowCount())
    for column in range(model.columnCount()):
        texts = [str(model.index(row, column).data() or "") for row in range(rows)]
        widths.append(max(_title_width(table, column), min(_WIDEST, _width_of(table, texts))))
        table.setColumnWidth(column, widths[-1])
    return widths


def _title_width(table: QTableView, column: int) -> int:
    return _width_of(table, str(table.model().headerData(column, Qt.Orientation.Horizontal) or "").split("\n"))


def _width_of(table: QTableView, texts: Sequence[str]) -> int:
    return max(map(table.fontMetrics().horizontalAdvance, texts), default=0) + 2 * GRID - 2


class SqueezedTable(QTableView):
    """A column of words gives way where there is little room, so that the numbers are in sight; until somebody sets
    the width of a column by hand. Words that are cut are told in full by their tips; titles are never cut. Of several
    such columns too little would be left: they are shown in full, and the table is scrolled.
    """

    def __init__(self) -> None:
        super().__init__()
        self._own_widths, self._squeezing = False, False
        self._natural: list[int] = []
        # Widths are measured from the rows in sight: measuring all of them takes 1 ms for each listed solution.
        self.horizontalHeader().setResizeContentsPrecision(0)
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
        """Qt reports hiding and showing a column as a change of its width, too."""
        self._own_widths = self._own_widths or not (self._squeezing or before == 0 or now == 0)

    def squeeze(self) -> None:
        """Share the room among the columns that are shown."""
        if self._own_widths or len(self._natural) != self.model().columnCount():
            return
        seen = [column for column in range(len(self._natural)) if not self.isColumnHidden(column)]
        words = [column for column in seen if self._of_words(column)]
        missing = sum(self._natural[column] for column in seen) - self.viewport().width()
        self._squeezing = True
        for column in words:
            whole = self._natural[column]
            least = max(_title_width(self, column), round(_LEAST_SHARE * whole)) if len(words) == 1 else whole
            self.setColumnWidth(column, max(least, min(whole, whole - missing)))
        self._squeezing = False

    def grow(self, columns: Iterable[int]) -> None:
        """Give columns the room that their rows in sight need by now, unless widths were set by hand."""
        if self._own_widths or len(self._natural) != self.model().columnCount():
            return
        self._squeezing = True
        for column in columns:
            if not self.isColumnHidden(column):
                self._natural[column] = max(self._natural[column], self.sizeHintForColumn(column))
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
        save_rows(context, "Saving the table", rows, Path(chosen))

    ask_to_save(parent, "Save table", "CSV table (*.csv)", Path(name), save)


def save_rows(context: Context, title: str, rows: Sequence[Sequence[str]], path: Path) -> None:
    """Write rows as CSV in the background, and say where they are; no file that is read is written over.

    Cells that a spreadsheet might run get an apostrophe.
    """
    inputs = context.session.named_inputs()

    def job(progress: Progress) -> None:
        progress.update(title)
        check_saved_file(path, inputs)
        text = io.StringIO()
        csv.writer(text, lineterminator="\n").writerows(map(defuse_row, rows))
        write_text(path, text.getvalue())

    context.runner.start(title, job, lambda _: context.say(f"Saved {path}."))


def cell(
    text: str = "", side: str = "left", ticked: bool | None = None, editable: bool = False, tip: str = ""
) -> QTableWidgetItem:
    """A cell of a table that is filled cell by cell: read, with a tick if it has one, or to be typed in."""
    item = QTableWidgetItem(text if editable else escape_lines(text))
    item.setTextAlignment(_SIDES[side])
    set_tool_tip(item, tip)
    if not editable:
        item.setFlags(Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable)
    if ticked is not None:
        item.setFlags(item.flags() | Qt.ItemFlag.ItemIsUserCheckable)
        item.setCheckState(Qt.CheckState.Checked if ticked else Qt.CheckState.Unchecked)
    return item


def frequency_cells(
    facts: ColumnFacts, ticked: Callable[[str], bool] | None = None
) -> list[tuple[QTableWidgetItem, QTableWidgetItem]]:
    """A row of cells for each category of a column: its name, perhaps with a tick, and its records."""
    assert facts.categories is not None
    records = np.zeros(len(facts.categories.values), int) if facts.frequencies is None else facts.frequencies
    return [
        (
            cell(facts.categories.label(row), ticked=None if ticked is None else ticked(value)),
            cell(f"{number:,}", "right"),
        )
        for row, (value, number) in enumerate(zip(facts.categories.values, records.tolist(), strict=True))
    ]


def fill_table(
    table: QTableWidget,
    name: str,
    heads: Sequence[str],
    rows: Sequence[Sequence[QTableWidgetItem]],
    wide: int,
) -> None:
    """Show these cells; the ``wide`` column gets what room the others leave."""
    table.setColumnCount(len(heads))
    table.setHorizontalHeaderLabels(list(heads))
    table.setRowCount(len(rows))
    for row, cells in enumerate(rows):
        for column, item in enumerate(cells):
            table.setItem(row, column, item)
    table.setFont(tabular(table.font()))
    dress(table, accessibleName=name, tabKeyNavigation=False)
    table.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
    table.verticalHeader().hide()
    table.horizontalHeader().setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
    table.horizontalHeader().setSectionResizeMode(wide, QHeaderView.ResizeMode.Stretch)


def ticked_rows(table: QTableWidget, column: int) -> list[int]:
    """The rows whose cell in a column is ticked."""
    items = ((row, table.item(row, column)) for row in range(table.rowCount()))
    return [row for row, item in items if item is not None and item.checkState() is Qt.CheckState.Checked]


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
    """A table of texts. Subclasses say what the columns are (``heads``), what stands behind each row (``rows``: what
    has a length) and what a cell shows.
    """

    heads: Sequence[Heading] = ()
    rows: Any = ()

    @contextmanager
    def anew(self) -> Iterator[None]:
        """Within it, other rows and columns are put in place of those that are shown."""
        self.beginResetModel()
        yield
        self.endResetModel()

    def text(self, row: int, column: int) -> str:
        """What a cell shows."""
        raise NotImplementedError

    def side(self, row: int, column: int) -> str:
        """On which side a cell stands."""
        return self.heads[column].side

    def more(self, row: int, column: int, role: int) -> Any:
        """What a cell has besides its text: a tip, a value to sort by, a tick; None: nothing of this role."""
        return None

    def rowCount(self, parent: Index = TOP) -> int:
        """How many rows there are."""
        return 0 if parent.isValid() else len(self.rows)

    def columnCount(self, parent: Index = TOP) -> int:
        """How many columns there are."""
        return 0 if parent.isValid() else len(self.heads)

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """A column's title, tip and side; rows have no heads."""
        if orientation is not Qt.Orientation.Horizontal or not 0 <= section < len(self.heads):
            return None
        heading = self.heads[section]
        if role == Qt.ItemDataRole.ToolTipRole:
            return tool_tip(heading.tip) or None
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return _SIDES[heading.side]
        return escape_lines(heading.title) if role == Qt.ItemDataRole.DisplayRole else None

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """What a cell shows, on which side, and what it has besides."""
        if not index.isValid():
            return None
        if role == Qt.ItemDataRole.DisplayRole:
            return escape_lines(self.text(index.row(), index.column()))
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return _SIDES[self.side(index.row(), index.column())]
        more = self.more(index.row(), index.column(), role)
        return tool_tip(more) if role == Qt.ItemDataRole.ToolTipRole and more else more


class ChoiceCells(QStyledItemDelegate):
    """``typed``: something that is not in the list may be typed as well; ``words`` says it in words. ``unfolded``: the
    list is open at once.
    """

    def __init__(
        self,
        choices: Choices,
        parent: QObject,
        typed: bool = False,
        words: Callable[[str], str] | None = None,
        unfolded: bool = False,
    ) -> None:
        super().__init__(parent)
        self._choices, self._typed, self._words, self._unfolded = choices, typed, words, unfolded

    def displayText(self, value: object, locale: QLocale | QLocale.Language) -> str:
        """The words of what is chosen."""
        text = str(value)
        known = {short: words for short, words, *_ in self._choices()}
        return known.get(text) or (self._words(text) if self._words is not None else "") or text

    def createEditor(self, parent: QWidget, option: QStyleOptionViewItem, index: Index) -> QWidget:
        """The list."""
        combo = dress(QComboBox(parent), editable=self._typed)
        offer(combo, ((words, short, *tip) for short, words, *tip in self._choices()))
        combo.activated.connect(lambda: self._chosen(combo))
        return combo

    def setEditorData(self, editor: QWidget, index: Index) -> None:
        """Begin with what is chosen."""
        assert isinstance(editor, QComboBox)
        text = str(index.data(Qt.ItemDataRole.EditRole) or "")
        place = editor.findData(text)
        editor.setCurrentIndex(place)
        if place < 0 and self._typed:
            editor.setEditText(text)
        if self._unfolded:
            editor.showPopup()

    def setModelData(self, editor: QWidget, model: object, index: Index) -> None:
        """Keep the short form."""
        assert isinstance(editor, QComboBox)
        place = editor.currentIndex()
        typed = self._typed and editor.currentText() != editor.itemText(place)
        if typed or place >= 0:
            text = editor.currentText().strip() if typed else editor.itemData(place)
            model.setData(index, text)  # type: ignore[attr-defined]

    def _chosen(self, combo: QComboBox) -> None:
        self.commitData.emit(combo)
        self.closeEditor.emit(combo)


class FrequenciesModel(TableModel):
    """Categories by falling number of records."""

    heads = (Heading("Category"), Heading("Records", side="right"), Heading(""))
    _largest = 1

    def show_column(self, facts: ColumnFacts | None) -> int:
        """Show a column's categories; returns how many were left out."""
        with self.anew():
            self.rows, left_out = [], 0
            if facts is not None and facts.categories is not None and facts.frequencies is not None:
                numbers = facts.frequencies
                order = np.argsort(-numbers, kind="stable")[:_MOST]
                self.rows = [(facts.categories.label(int(code)), int(numbers[code])) for code in order]
                left_out = max(0, len(numbers) - _MOST)
            self._largest = max((number for _, number in self.rows), default=1) or 1
        return left_out

    def text(self, row: int, column: int) -> str:
        """Category and number."""
        label, number = self.rows[row]
        return (label, f"{number:,}", "")[column]

    def more(self, row: int, column: int, role: int) -> Any:
        """The share that is drawn as a bar."""
        return self.rows[row][1] / self._largest if role == SHARE else None


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
