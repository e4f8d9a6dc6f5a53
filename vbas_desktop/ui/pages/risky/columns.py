"""The columns of the file: which are searched, which are written, and how often each is in a risky combination."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from PySide6.QtCore import QRect, Qt, Signal
from PySide6.QtGui import QPainter
from PySide6.QtWidgets import QStyledItemDelegate, QStyleOptionViewItem

from vbas_desktop.domain.records import ColumnFacts
from vbas_desktop.files.records.table import RecordTable
from vbas_desktop.ui.widgets.frequencies import SHARE
from vbas_desktop.ui.widgets.tables import Heading, Index, TableModel

SEARCH, WRITE, VALUES, NUMBER = range(4)
_HEADINGS = (
    Heading("Search", "Ticked columns are searched and coarsened"),
    Heading("Write", "Columns without a tick are left out of the written file"),
    Heading("Values", "Different values", "right"),
    Heading("Risky", "Minimal risky combinations with this column, and their share of all", "right"),
)


class ColumnTicks(TableModel):
    """One row per column. `ticked()`: another choice of columns to search."""

    ticked = Signal()

    def __init__(self) -> None:
        super().__init__()
        self._columns: tuple[ColumnFacts, ...] = ()
        self._searched: dict[str, bool] = {}
        self._written: dict[str, bool] = {}
        self._numbers: Mapping[str, int] = {}
        self._of = 1

    def show_table(self, table: RecordTable | None, searched: set[str], left_out: set[str]) -> None:
        """Show another file; ``searched`` are ticked, ``left_out`` are not written unless the user says so."""
        self.beginResetModel()
        self._columns = table.columns if table is not None else ()
        self._searched = {facts.name: facts.name in searched and facts.categorical for facts in self._columns}
        self._written = {facts.name: facts.name not in left_out for facts in self._columns}
        self._numbers, self._of = {}, 1
        self.endResetModel()

    def show_numbers(self, numbers: Mapping[str, int], of: int) -> None:
        """Show in how many of the combinations each column is."""
        self._numbers, self._of = numbers, max(of, 1)
        if self._columns:
            self.dataChanged.emit(self.index(0, NUMBER), self.index(len(self._columns) - 1, NUMBER))

    def searched(self) -> tuple[str, ...]:
        """The ticked columns in file order."""
        return tuple(facts.name for facts in self._columns if self._searched[facts.name])

    def dropped(self) -> tuple[str, ...]:
        """The columns that are left out of the written file."""
        return tuple(f.name for f in self._columns if not self._searched[f.name] and not self._written[f.name])

    def unsearched(self) -> tuple[str, ...]:
        """The columns that are written as they are: nobody looked for what they give away."""
        return tuple(f.name for f in self._columns if not self._searched[f.name] and self._written[f.name])

    def name(self, row: int) -> str:
        """The column in a row."""
        return self._columns[row].name

    def headings(self) -> tuple[Heading, ...]:
        """The columns of the table."""
        return _HEADINGS

    def count(self) -> int:
        """Number of columns of the file."""
        return len(self._columns)

    def flags(self, index: Index) -> Qt.ItemFlag:
        """What can be ticked: columns with too many values cannot be searched, searched ones are always written."""
        usual = super().flags(index)
        facts = self._columns[index.row()]
        if index.column() == SEARCH:
            return usual | Qt.ItemFlag.ItemIsUserCheckable if facts.categorical else usual & ~Qt.ItemFlag.ItemIsEnabled
        if index.column() == WRITE and not self._searched[facts.name]:
            return usual | Qt.ItemFlag.ItemIsUserCheckable
        return usual

    def text(self, row: int, column: int) -> str:
        """A name or a number; ticks stand alone."""
        facts = self._columns[row]
        if column == SEARCH:
            return facts.name
        if column == VALUES:
            return f"{facts.distinct:,}" if facts.categorical else "many"
        number = self._numbers.get(facts.name) if column == NUMBER else None
        return "" if number is None else f"{number:,}"

    def more(self, row: int, column: int, role: int) -> Any:
        """Ticks, bars and tips."""
        facts = self._columns[row]
        if role == Qt.ItemDataRole.CheckStateRole and column in (SEARCH, WRITE):
            on = self._searched[facts.name] or (column == WRITE and self._written[facts.name])
            return Qt.CheckState.Checked if on else Qt.CheckState.Unchecked
        if role == SHARE:
            return self._numbers.get(facts.name, 0) / self._of
        if role == Qt.ItemDataRole.ToolTipRole:
            return facts.name if facts.categorical else "Too many different values to be searched; leave it out"
        return None

    def setData(self, index: Index, value: Any, role: int = Qt.ItemDataRole.EditRole) -> bool:
        """A tick was set or taken away."""
        if role != Qt.ItemDataRole.CheckStateRole or not self.flags(index) & Qt.ItemFlag.ItemIsUserCheckable:
            return False
        name, on = self._columns[index.row()].name, Qt.CheckState(value) is Qt.CheckState.Checked
        if index.column() == WRITE:
            self._written[name] = on
        else:
            self._searched[name] = on
            self.ticked.emit()
        self.dataChanged.emit(self.index(index.row(), SEARCH), self.index(index.row(), WRITE))
        return True


class ShareDelegate(QStyledItemDelegate):
    """A number with its share as a thin bar below."""

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        """Number and bar."""
        super().paint(painter, option, index)
        room: QRect = option.rect.adjusted(3, 0, -3, -2)  # type: ignore[attr-defined]
        room.setTop(room.bottom() - 2)
        share = float(index.data(SHARE) or 0)
        if share > 0:
            room.setLeft(room.right() - max(1, round(room.width() * share)))
            painter.fillRect(room, option.palette.highlight())  # type: ignore[attr-defined]
