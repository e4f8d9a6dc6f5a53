"""The left side of the page: the file, the columns, k, the strategy, and the rules."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from PySide6.QtCore import QRect, Qt, Signal
from PySide6.QtGui import QPainter
from PySide6.QtWidgets import (
    QComboBox,
    QDoubleSpinBox,
    QHeaderView,
    QSpinBox,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTableView,
)

from vbas_desktop.assessment.risky.loop import GENTLE, NULL_NUMBERS, NUMBERS, PAIRED_NUMBERS, STRATEGIES, TRIM_DIVISOR
from vbas_desktop.io.databases.address import folder_beside
from vbas_desktop.model.records import RecordTable, Role
from vbas_desktop.model.words import counted
from vbas_desktop.session.risky import Listing, RiskySetup
from vbas_desktop.ui.context import Context
from vbas_desktop.ui.dialogs.records_row import RecordsRow
from vbas_desktop.ui.theme import GRID
from vbas_desktop.ui.widgets.building import dress, offer
from vbas_desktop.ui.widgets.fields import in_pairs, title
from vbas_desktop.ui.widgets.file_row import FileListRow, SidePanel
from vbas_desktop.ui.widgets.parameters import WritingFields
from vbas_desktop.ui.widgets.plain_text import set_tool_tip
from vbas_desktop.ui.widgets.tables import SHARE, Heading, Index, TableModel, set_up_table

from .rule_grid import DOMAIN, FILTER, RuleGrid

SEARCH, WRITE, VALUES, NUMBER = range(4)
_HEADINGS = (
    Heading("Search", "Ticked columns are searched and coarsened"),
    Heading("Write", "Columns without a tick are left out of the written file"),
    Heading("Values", "Different values", "right"),
    Heading("Risky", "Minimal risky combinations with this column, and their share of all", "right"),
)

_STRATEGY_TITLES = {GENTLE: "Gently", "cover": "Few columns", "paper": "Every column"}

_NUMBERS_CHOICES = (
    ("by strategy", None, "Emptied with “Every column”, otherwise joined in pairs."),
    ("emptied", NULL_NUMBERS, NUMBERS[NULL_NUMBERS]),
    ("in pairs", PAIRED_NUMBERS, NUMBERS[PAIRED_NUMBERS]),
)


class SettingsPanel(SidePanel):
    """`changed()`: another setting; `file_chosen(Path)`: a file of the page's own; `column_wanted(str)`: a filter."""

    changed = Signal()
    file_chosen = Signal(Path)
    file_cleared = Signal()
    column_wanted = Signal(str)

    def __init__(self, context: Context) -> None:
        super().__init__()
        self.table: RecordTable | None = None
        theme = context.theme
        about = "The record file that is loaded, or any other table, with or without regions"
        self.file = RecordsRow("File t&o search", about, theme, clearable=True)
        public = "Values that are rare in any of these public tables count as risky, too"
        self.references = FileListRow("&Public tables", public, theme)
        self.writing = WritingFields(with_identifiers=False)
        self.columns = ColumnTicks()
        self.view = QTableView()
        self.k = dress(QSpinBox(), minimum=1, maximum=1_000_000, value=3)
        self.max_size = dress(QSpinBox(), minimum=0, maximum=100, specialValueText="all")
        self.share = dress(QDoubleSpinBox(), minimum=0.0, maximum=99.0, decimals=1, suffix=" %", value=1.0)
        self.strategy = QComboBox()
        self.trim_divisor = dress(QSpinBox(), minimum=1, maximum=1_000, value=TRIM_DIVISOR)
        self.numbers = QComboBox()
        self.domain, self.filters = RuleGrid(context, DOMAIN), RuleGrid(context, FILTER)
        self._set_up_table()
        self._build()
        self._connect()

    def _build(self) -> None:
        offer(self.strategy, ((_STRATEGY_TITLES.get(name, name), name, tip) for name, tip in STRATEGIES.items()))
        size = "Most columns in a listed combination; coarsening looks at all"
        coarsen = (
            "Gently: few records go or values are grouped, one change a step; a column is emptied last. Few columns: "
            "a smallest set that hits every risky combination. Every column: all that occur in one"
        )
        share = "Share of the records that may go instead of emptying a column"
        trim = "Texts without a rule lose the length of the shortest one divided by this"
        numbers_help = (
            "Columns of numbers without a rule: emptied, or neighbouring numbers joined in pairs. By strategy: emptied "
            "with “Every column”, otherwise in pairs"
        )
        offer(self.numbers, _NUMBERS_CHOICES)
        numbers = in_pairs(
            ("k", self.k, "Values that fewer records share are risky"),
            ("Largest size", self.max_size, size),
            ("Coarsen", self.strategy, coarsen),
            ("May be suppressed", self.share, share),
            ("Trim divisor", self.trim_divisor, trim),
            ("Numbers", self.numbers, numbers_help),
        )
        written = (title("The written file"), self.writing)
        self.hold(self.file, title("Columns"), self.view, numbers, self.domain, self.filters, self.references, *written)

    def _set_up_table(self) -> None:
        view = self.view
        view.setModel(self.columns)
        set_up_table(view, "Columns to search")
        view.setItemDelegateForColumn(NUMBER, ShareDelegate(view))
        set_tool_tip(view, "Double-click a column to list only its combinations")
        header, metrics = view.horizontalHeader(), view.fontMetrics()
        for column, text in ((WRITE, "Write"), (VALUES, "Values"), (NUMBER, "00,000")):
            view.setColumnWidth(column, metrics.horizontalAdvance(text) + 14)
        header.setSectionResizeMode(SEARCH, QHeaderView.ResizeMode.Stretch)
        header.setMinimumSectionSize(4 * GRID)
        self._fit()

    def _fit(self) -> None:
        rows = min(max(self.columns.rowCount(), 3), 10)
        height = (
            self.view.horizontalHeader().sizeHint().height() + rows * self.view.verticalHeader().defaultSectionSize()
        )
        self.view.setFixedHeight(height + 4)

    def _connect(self) -> None:
        self.file.chosen.connect(self.file_chosen)
        self.file.cleared.connect(self.file_cleared)
        spins = (self.k, self.max_size, self.share, self.trim_divisor)
        for spin in spins:
            spin.valueChanged.connect(self.changed)
        for other in (self.strategy.activated, self.numbers.activated, self.domain.changed, self.filters.changed):
            other.connect(self.changed)
        self.columns.ticked.connect(self.changed)
        self.references.changed.connect(self.changed)
        self.view.doubleClicked.connect(lambda index: self.column_wanted.emit(self.columns.name(index.row())))

    def show_table(self, table: RecordTable | None, roles: dict[str, Role], own: bool) -> None:
        """Another file; roles of its columns where they are known."""
        self.table = table
        people = {name for name, role in roles.items() if role is Role.IDENTIFIER}
        wanted = {role_name for role_name, role in roles.items() if role is Role.QUASI_IDENTIFIER}
        names = {facts.name for facts in table.columns} if table is not None else set()
        unfit = {f.name for f in table.columns if not f.categorical or f.distinct == table.rows} if table else set()
        searched = wanted if len(wanted) > 1 else names - people - unfit
        self.columns.show_table(table, searched, people | unfit)
        facts = f"{counted(table.rows, 'record')} · {counted(len(table.columns), 'column')}" if table else ""
        self.file.show_file(Path(table.source.path) if table is not None else None, facts)
        self.file.clear.setVisible(own)
        offered = [facts.name for facts in table.columns if facts.categorical] if table is not None else []
        for grid in (self.domain, self.filters):
            grid.offer(offered)
        self._fit()
        self.changed.emit()

    def setup(self) -> RiskySetup | None:
        """What is chosen; None without a file or columns."""
        columns = self.columns.searched()
        if self.table is None or not columns:
            return None
        return RiskySetup(
            records=self.table,
            columns=columns,
            k=self.k.value(),
            max_size=self.max_size.value() or None,
            strategy=self.strategy.currentData(),
            suppression_share=self.share.value() / 100,
            domain_rules=self.domain.rows(),
            filter_rules=self.filters.rows(),
            folder=self.filters.folder or folder_beside(self.table.source.path) or Path(),
            references=self.references.paths,
            trim_divisor=self.trim_divisor.value(),
            numbers=self.numbers.currentData(),
        )


class ColumnTicks(TableModel):
    """One row per column. `ticked()`: another choice of columns to search."""

    ticked = Signal()
    heads = _HEADINGS

    def __init__(self) -> None:
        super().__init__()
        self._searched: dict[str, bool] = {}
        self._written: dict[str, bool] = {}
        self._numbers: dict[str, int] = {}
        self._of = 1

    def show_table(self, table: RecordTable | None, searched: set[str], left_out: set[str]) -> None:
        """Show another file; ``searched`` are ticked, ``left_out`` are not written unless the user says so."""
        with self.anew():
            self.rows = table.columns if table is not None else ()
            self._searched = {facts.name: facts.name in searched and facts.categorical for facts in self.rows}
            self._written = {facts.name: facts.name not in left_out for facts in self.rows}
            self._numbers, self._of = {}, 1

    def show_listing(self, listing: Listing | None) -> None:
        """Show in how many of the listed combinations each column is."""
        self._numbers, self._of = {}, 1
        if listing is not None:
            self._numbers = dict(zip(listing.table.columns, listing.occurrences.tolist(), strict=True))
            self._of = max(len(listing), 1)
        if self.rows:
            self.dataChanged.emit(self.index(0, NUMBER), self.index(len(self.rows) - 1, NUMBER))

    def searched(self) -> tuple[str, ...]:
        """The ticked columns in file order."""
        return tuple(facts.name for facts in self.rows if self._searched[facts.name])

    def dropped(self) -> tuple[str, ...]:
        """The columns that are left out of the written file."""
        return tuple(f.name for f in self.rows if not self._searched[f.name] and not self._written[f.name])

    def unsearched(self) -> tuple[str, ...]:
        """The columns that are written as they are: nobody looked for what they give away."""
        return tuple(f.name for f in self.rows if not self._searched[f.name] and self._written[f.name])

    def name(self, row: int) -> str:
        """The column in a row."""
        return str(self.rows[row].name)

    def flags(self, index: Index) -> Qt.ItemFlag:
        """What can be ticked: columns with too many values cannot be searched, searched ones are always written."""
        usual = super().flags(index)
        facts = self.rows[index.row()]
        if index.column() == SEARCH:
            return usual | Qt.ItemFlag.ItemIsUserCheckable if facts.categorical else usual & ~Qt.ItemFlag.ItemIsEnabled
        if index.column() == WRITE and not self._searched[facts.name]:
            return usual | Qt.ItemFlag.ItemIsUserCheckable
        return usual

    def text(self, row: int, column: int) -> str:
        """A name or a number; ticks stand alone."""
        facts = self.rows[row]
        if column == SEARCH:
            return facts.name
        if column == VALUES:
            return f"{facts.distinct:,}" if facts.categorical else "many"
        number = self._numbers.get(facts.name) if column == NUMBER else None
        return "" if number is None else f"{number:,}"

    def more(self, row: int, column: int, role: int) -> Any:
        """Ticks, bars and tips."""
        facts = self.rows[row]
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
        name, on = self.rows[index.row()].name, Qt.CheckState(value) is Qt.CheckState.Checked
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
