"""What all tables have in common: their model, the set-up of their view, widths and selection."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Generic

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import (
    QAbstractItemModel,
    QAbstractTableModel,
    QItemSelectionModel,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    Qt,
)
from PySide6.QtGui import QColor, QFont, QIcon
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHeaderView,
    QTableView,
)

from vbas_desktop.model.text import escape_lines

from ..core.theme import GRID, with_tabular_figures
from ..presentation.tables import Row, TableColumn, sort_rows
from .plain_text import tool_tip

SHARE = Qt.ItemDataRole.UserRole
HEADING = Qt.ItemDataRole.UserRole + 1
BADGE = Qt.ItemDataRole.UserRole + 2
"""Roles of data: share of a bar, heading of a group of rows, word that stands out."""

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
    table.setFont(with_tabular_figures(table.font()))
    table.setAccessibleName(name)
    table.verticalHeader().hide()
    table.verticalHeader().setDefaultSectionSize(table.fontMetrics().height() + GRID)
    table.horizontalHeader().setHighlightSections(False)


def set_up_sorted(table: QTableView, model: QAbstractItemModel, column: int, name: str) -> None:
    """Set up a table of a model that is sorted, by a column at first, and that asks for menus."""
    table.setModel(model)
    table.setSortingEnabled(True)
    table.sortByColumn(column, Qt.SortOrder.AscendingOrder)
    set_up_table(table, name)
    for widget in (table, table.horizontalHeader()):
        widget.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)


def select_row(table: QTableView, index: QModelIndex) -> None:
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
        cells = [model.index(row, column) for row in range(rows)]
        texts = [
            f"{cell.data() or ''}  {cell.data(BADGE)}  " if cell.data(BADGE) else str(cell.data() or "")
            for cell in cells
            if not cell.data(HEADING)
        ]
        widths.append(max(title_width(table, column), min(_WIDEST, _width_of(table, texts))))
        table.setColumnWidth(column, widths[-1])
    return widths


def title_width(table: QTableView, column: int) -> int:
    """Return the width that the title of a column needs."""
    return _width_of(
        table, str(table.model().headerData(column, Qt.Orientation.Horizontal) or "").split("\n")
    )


def _width_of(table: QTableView, texts: Sequence[str]) -> int:
    return max(map(table.fontMetrics().horizontalAdvance, texts), default=0) + 2 * GRID - 4


def stretch_column(table: QTableView, column: int) -> None:
    """Make columns as wide as their contents, and give one of them the room that the others leave."""
    table.horizontalHeader().setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
    table.horizontalHeader().setSectionResizeMode(column, QHeaderView.ResizeMode.Stretch)


Index = QModelIndex | QPersistentModelIndex
TOP = QModelIndex()

_ALIGNMENTS = {
    "left": Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter,
    "right": Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter,
    "centre": Qt.AlignmentFlag.AlignCenter,
}


_MOST_STEPS = 64
"""More insertions and removals than these are one reset of the model."""


class TableModel(QAbstractTableModel, Generic[Row]):
    """Shows rows by columns; sorts and filters them itself, since Qt would ask for each comparison.

    ``rows`` are in the order in which they were given, positions (`row_at`) in the order in which they are listed.
    With `group_by` the rows of each group stand below a heading (`heading_at`), unless only one group is listed.
    """

    def __init__(self, columns: Sequence[TableColumn[Row]] = (), parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.columns: Sequence[TableColumn[Row]] = columns
        self.rows: Sequence[Row] = ()
        self.icons: Mapping[str, QIcon] = {}
        self._listing: NDArray[np.intp] | None = None
        """The listed rows in their order; None: all as they were given, so that rows may be made when they are seen."""
        self.sorted_by: tuple[str, bool] | None = None
        """The name of the column that the rows are sorted by, and whether large values come first."""
        self._sort_request: tuple[int, bool] | None = None
        self._group_of: Callable[[Row], str] | None = None
        self._headings: list[str] = []
        """The headings of all groups there have been: heading n is listed as the row −1 − n."""
        self._group_sizes: dict[str, int] = {}
        self._is_listed: Callable[[Row], bool] | None = None
        self._text_colour: QColor | None = None

    # What is listed

    def set_rows(self, rows: Sequence[Row], columns: Sequence[TableColumn[Row]] | None = None) -> None:
        """Show other rows, and other columns if there are any. Selection and scroll position are lost."""
        self.beginResetModel()
        self.rows = rows
        if columns is not None:
            self.columns = columns
            self._resolve_sort_request()
        self._listing = self._list_rows()
        self.endResetModel()

    def update_rows(self, rows: Sequence[Row], columns: Sequence[TableColumn[Row]]) -> None:
        """Append a few rows to the shown ones, so that selection and scroll position stay; otherwise set all rows."""
        names = [column.name for column in self.columns]
        n_added = len(rows) - len(self.rows)
        is_longer = 0 <= n_added <= _MOST_STEPS and all(
            a is b for a, b in zip(self.rows, rows, strict=False)
        )
        if not is_longer or names != [column.name for column in columns]:
            self.set_rows(rows, columns)
            return
        if self._listing is None:
            self._listing = np.arange(len(self.rows))
        self.rows = rows
        self.columns = columns
        self._list_again()
        self.refresh()

    def show_only(self, is_listed: Callable[[Row], bool] | None) -> None:
        """List only rows for which this is true; None: all."""
        self._is_listed = is_listed
        self._list_again()
        if self._group_of is not None:
            self.refresh()

    def sort(self, column: int, order: Qt.SortOrder = Qt.SortOrder.AscendingOrder) -> None:
        """Sort by a column: smaller values first, or larger ones; unknown ones last in either direction."""
        self._sort_request = (column, order == Qt.SortOrder.DescendingOrder)
        self._resolve_sort_request()
        self._list_again()

    def _resolve_sort_request(self) -> None:
        """Name the column to sort by; a view may ask for it before there are columns."""
        if self._sort_request is not None and 0 <= self._sort_request[0] < len(self.columns):
            column, descending = self._sort_request
            self.sorted_by = (self.columns[column].name, descending)
            self._sort_request = None

    def group_by(self, group_of: Callable[[Row], str]) -> None:
        """List the rows by groups, in the order of the first row of each, below headings."""
        self._group_of = group_of
        self._list_again()

    def refresh(self) -> None:
        """Show the cells again: what the columns tell of the rows changed."""
        if self.rowCount() and self.columns:
            self.dataChanged.emit(
                self.index(0, 0), self.index(self.rowCount() - 1, len(self.columns) - 1)
            )

    def set_text_colour(self, colour: QColor | None) -> None:
        """Write all cells in a colour; None: in that of the view."""
        if colour != self._text_colour:
            self._text_colour = colour
            self.refresh()

    def row_at(self, position: int) -> Row:
        """Return the row that is listed at a position. Raises IndexError at a heading."""
        number = self.number_at(position)
        if number < 0:
            raise IndexError(f"position {position} is a heading")
        return self.rows[number]

    def heading_at(self, position: int) -> str:
        """Return the heading of a group at a position; empty if a row is listed there."""
        number = self.number_at(position)
        return "" if number >= 0 else self._headings[-1 - number]

    def heading_positions(self) -> list[int]:
        """Return the positions at which headings are listed."""
        return [] if self._listing is None else np.flatnonzero(self._listing < 0).tolist()

    def number_at(self, position: int) -> int:
        """Return the number, in ``rows``, of the row that is listed at a position; negative at a heading."""
        return position if self._listing is None else int(self._listing[position])

    def position_of(self, number: int) -> int:
        """Return the position of a row by its number in ``rows``; −1 if it is not listed."""
        if self._listing is None:
            return number if 0 <= number < len(self.rows) else -1
        positions = np.flatnonzero(self._listing == number)
        return int(positions[0]) if positions.size else -1

    def listed_rows(self) -> list[Row]:
        """Return the rows as they are listed now."""
        numbers = map(self.number_at, range(self.rowCount()))
        return [self.rows[number] for number in numbers if number >= 0]

    def column_number(self, name: str) -> int:
        """Return the number of a column by its name."""
        return [column.name for column in self.columns].index(name)

    def _list_rows(self) -> NDArray[np.intp] | None:
        if self.sorted_by is None and self._is_listed is None and self._group_of is None:
            return None
        numbers = np.arange(len(self.rows))
        names = [column.name for column in self.columns]
        if self.sorted_by is not None and self.sorted_by[0] in names:
            name, descending = self.sorted_by
            numbers = sort_rows(self.rows, self.columns[names.index(name)], descending)
        if self._is_listed is not None:
            is_listed = [self._is_listed(self.rows[number]) for number in numbers.tolist()]
            numbers = numbers[np.array(is_listed, bool)]
        return numbers if self._group_of is None else self._insert_headings(numbers, self._group_of)

    def _insert_headings(
        self, numbers: NDArray[np.intp], group_of: Callable[[Row], str]
    ) -> NDArray[np.intp]:
        """Part listed rows into their groups, each below its heading; a single group has none."""
        members: dict[str, list[int]] = {group_of(row): [] for row in self.rows}
        for number in numbers.tolist():
            members[group_of(self.rows[number])].append(number)
        self._group_sizes = {group: len(own) for group, own in members.items() if own}
        if len(self._group_sizes) < 2:
            return numbers
        listing: list[int] = []
        for group in self._group_sizes:
            if group not in self._headings:
                self._headings.append(group)
            listing += [-1 - self._headings.index(group), *members[group]]
        return np.array(listing, np.intp)

    def _list_again(self) -> None:
        """List the rows anew, in few steps if few rows come or go, so that selection and scroll position stay."""
        listing = self._list_rows()
        if listing is None:
            listing = np.arange(len(self.rows))
        before = np.arange(len(self.rows)) if self._listing is None else self._listing
        gone = np.flatnonzero(~np.isin(before, listing))
        new = np.flatnonzero(~np.isin(listing, before))
        if gone.size + new.size > _MOST_STEPS:
            self.beginResetModel()
            self._listing = listing
            self.endResetModel()
            return
        for position in gone[::-1].tolist():
            self.beginRemoveRows(TOP, position, position)
            self._listing = np.delete(before, position)
            before = self._listing
            self.endRemoveRows()
        self._move_rows(listing[np.isin(listing, before)])
        for position in new.tolist():
            self.beginInsertRows(TOP, position, position)
            assert self._listing is not None
            self._listing = np.insert(self._listing, position, listing[position])
            self.endInsertRows()

    def _move_rows(self, listing: NDArray[np.intp]) -> None:
        """List the same rows in another order."""
        if self._listing is not None and np.array_equal(self._listing, listing):
            return
        self.layoutAboutToBeChanged.emit()
        indexes = self.persistentIndexList()
        numbers = [self.number_at(index.row()) for index in indexes]
        self._listing = listing
        moved = [
            self.index(self.position_of(number), index.column())
            for number, index in zip(numbers, indexes, strict=True)
        ]
        self.changePersistentIndexList(indexes, moved)
        self.layoutChanged.emit()

    # What Qt asks

    def rowCount(self, parent: Index = TOP) -> int:
        """Return the number of listed rows."""
        if parent.isValid():
            return 0
        return len(self.rows) if self._listing is None else len(self._listing)

    def columnCount(self, parent: Index = TOP) -> int:
        """Return the number of columns."""
        return 0 if parent.isValid() else len(self.columns)

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> Any:
        """Return the title, tip or alignment of a column; rows have no headers."""
        if orientation is not Qt.Orientation.Horizontal or not 0 <= section < len(self.columns):
            return None
        column = self.columns[section]
        if role == Qt.ItemDataRole.ToolTipRole:
            return tool_tip(column.tip) or None
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return _ALIGNMENTS[column.side]
        return escape_lines(column.header) if role == Qt.ItemDataRole.DisplayRole else None

    def flags(self, index: Index) -> Qt.ItemFlag:
        """Return whether a cell can be edited or ticked."""
        flags = super().flags(index)
        if not index.isValid():
            return flags
        if self.heading_at(index.row()):
            return Qt.ItemFlag.ItemIsEnabled
        column = self.columns[index.column()]
        row = self.row_at(index.row())
        if column.is_enabled is not None and not column.is_enabled(row):
            return flags & ~Qt.ItemFlag.ItemIsEnabled
        if column.edit is not None:
            flags |= Qt.ItemFlag.ItemIsEditable
        if (
            column.check is not None
            and column.is_checked is not None
            and column.is_checked(row) is not None
        ):
            flags |= Qt.ItemFlag.ItemIsUserCheckable
        return flags

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """Return text, alignment, tip, font, colour, icon, tick, value to edit or share of a cell."""
        if not index.isValid():
            return None
        heading = self.heading_at(index.row())
        if heading:
            return self._heading_data(heading, index.column(), role)
        get = _CELL_DATA.get(role)
        if get is not None:
            return get(self.columns[index.column()], self.row_at(index.row()))
        if role == Qt.ItemDataRole.ForegroundRole:
            return self._text_colour
        if role == Qt.ItemDataRole.DecorationRole:
            icon = self.columns[index.column()].icon
            return None if icon is None else self.icons.get(icon(self.row_at(index.row())))
        return None

    def _heading_data(self, heading: str, column: int, role: int) -> Any:
        """Return the text of a heading, for all columns as `HEADING`."""
        text = f"{escape_lines(heading)} ({self._group_sizes.get(heading, 0):,})"
        if role in (HEADING, Qt.ItemDataRole.ToolTipRole):
            return text
        texts = (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.AccessibleTextRole)
        return text if role in texts and column == 0 else None

    def setData(self, index: Index, value: Any, role: int = Qt.ItemDataRole.EditRole) -> bool:
        """Pass what was entered or ticked to the column."""
        column = self.columns[index.column()]
        row = self.row_at(index.row())
        if (
            role == Qt.ItemDataRole.CheckStateRole
            and self.flags(index) & Qt.ItemFlag.ItemIsUserCheckable
        ):
            assert column.check is not None
            column.check(row, Qt.CheckState(value) is Qt.CheckState.Checked)
        elif role == Qt.ItemDataRole.EditRole and self.flags(index) & Qt.ItemFlag.ItemIsEditable:
            assert column.edit is not None
            column.edit(row, value)
        else:
            return False
        self.dataChanged.emit(self.index(index.row(), 0), self.index(index.row(), len(self.columns) - 1))
        return True


def _get_alignment(column: TableColumn[Any], row: Any) -> Qt.AlignmentFlag:
    return _ALIGNMENTS[column.side if column.side_of is None else column.side_of(row)]


def _get_tip(column: TableColumn[Any], row: Any) -> str | None:
    return tool_tip(column.row_tip(row)) or None if column.row_tip is not None else None


def _get_accessible_text(column: TableColumn[Any], row: Any) -> str:
    """Return what a screen reader says of a cell: that a value is bold, too."""
    text = column.text(row) if column.accessible is None else column.accessible(row)
    is_bold = column.is_bold is not None and column.is_bold(row)
    return escape_lines(f"{text}, {column.bold_means}" if is_bold else text)


def _get_font(column: TableColumn[Any], row: Any) -> QFont | None:
    if column.is_bold is None or not column.is_bold(row):
        return None
    font = QFont()
    font.setBold(True)
    return font


def _get_check_state(column: TableColumn[Any], row: Any) -> Qt.CheckState | None:
    is_checked = None if column.is_checked is None else column.is_checked(row)
    if is_checked is None:
        return None
    return Qt.CheckState.Checked if is_checked else Qt.CheckState.Unchecked


_CELL_DATA: dict[int, Callable[[TableColumn[Any], Any], Any]] = {
    Qt.ItemDataRole.DisplayRole: lambda column, row: escape_lines(column.text(row)),
    Qt.ItemDataRole.TextAlignmentRole: _get_alignment,
    Qt.ItemDataRole.ToolTipRole: _get_tip,
    Qt.ItemDataRole.FontRole: _get_font,
    Qt.ItemDataRole.CheckStateRole: _get_check_state,
    Qt.ItemDataRole.EditRole: lambda column, row: (
        None if column.edit_value is None else column.edit_value(row)
    ),
    Qt.ItemDataRole.AccessibleTextRole: _get_accessible_text,
    BADGE: lambda column, row: None if column.badge is None else column.badge(row) or None,
    SHARE: lambda column, row: None if column.share is None else column.share(row),
}
"""What a cell is asked for, by role."""
