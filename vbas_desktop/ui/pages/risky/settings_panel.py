"""The left side of the page: the file, the columns, k, the strategy, and the rules."""

from __future__ import annotations

from operator import attrgetter
from pathlib import Path

from PySide6.QtCore import QObject, QRect, Qt, Signal
from PySide6.QtGui import QPainter
from PySide6.QtWidgets import (
    QHeaderView,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTableView,
)

from vbas_desktop.analysis.minimal_uniques.settings import RecodingSettings
from vbas_desktop.io.databases.address import containing_folder
from vbas_desktop.model.records import ColumnFacts, RecordTable, Role
from vbas_desktop.model.text import format_count
from vbas_desktop.settings.writing import RecordWriting

from ...core.context import UiContext
from ...core.theme import GRID
from ...dialogs.records_row import RecordsRow
from ...presentation.tables import TableColumn
from ...state.risky import CombinationListing, RiskySetup
from ...widgets.fields import heading_label
from ...widgets.file_field import FileListField, SidePanel
from ...widgets.option_form import GroupForm
from ...widgets.plain_text import set_tool_tip
from ...widgets.tables import SHARE, Index, TableModel, set_up_table
from .rule_table import DOMAIN, FILTER, RuleTable

SEARCH, WRITE, VALUES, NUMBER = range(4)
_SEARCH_TIP = "Ticked columns are searched and coarsened"
_WRITE_TIP = "Columns without a tick are left out of the written file"
_NUMBER_TIP = "Minimal risky combinations with this column, and their share of all"


class SettingsPanel(SidePanel):
    """`changed()`: another setting; `file_chosen(Path)`: a file of the page's own; `column_requested(str)`: filter."""

    changed = Signal()
    file_chosen = Signal(Path)
    file_cleared = Signal()
    column_requested = Signal(str)

    def __init__(self, context: UiContext) -> None:
        super().__init__()
        self.table: RecordTable | None = None
        theme = context.theme
        about = "The record file that is loaded, or any other table, with or without regions"
        self.file = RecordsRow("File t&o search", about, theme, clearable=True)
        public = "Values that are rare in any of these public tables count as risky, too"
        self.references = FileListField("&Public tables", public, theme)
        self.writing = GroupForm(RecordWriting, names=("shuffle_seed", "escape_formulas"))
        self.columns = SearchedColumnsModel(self)
        self.view = QTableView()
        self.form = GroupForm(RecodingSettings, columns=2)
        self.domain = RuleTable(context, DOMAIN)
        self.filters = RuleTable(context, FILTER)
        self._set_up_table()
        self._build()
        self._connect()

    def _build(self) -> None:
        written = (heading_label("The written file"), self.writing)
        self.hold(
            self.file,
            heading_label("Columns"),
            self.view,
            self.form,
            self.domain,
            self.filters,
            self.references,
            *written,
        )

    def _set_up_table(self) -> None:
        view = self.view
        view.setModel(self.columns)
        set_up_table(view, "Columns to search")
        view.setItemDelegateForColumn(NUMBER, ShareDelegate(view))
        set_tool_tip(view, "Double-click a column to list only its combinations")
        header = view.horizontalHeader()
        metrics = view.fontMetrics()
        for column, text in ((WRITE, "Write"), (VALUES, "Values"), (NUMBER, "00,000")):
            view.setColumnWidth(column, metrics.horizontalAdvance(text) + 14)
        header.setSectionResizeMode(SEARCH, QHeaderView.ResizeMode.Stretch)
        header.setMinimumSectionSize(4 * GRID)
        self._fit()

    def _fit(self) -> None:
        rows = min(max(self.columns.rowCount(), 3), 10)
        height = (
            self.view.horizontalHeader().sizeHint().height()
            + rows * self.view.verticalHeader().defaultSectionSize()
        )
        self.view.setFixedHeight(height + 4)

    def _connect(self) -> None:
        self.file.chosen.connect(self.file_chosen)
        self.file.cleared.connect(self.file_cleared)
        for part in (self.form, self.domain, self.filters):
            part.changed.connect(self.changed)
        self.columns.ticked.connect(self.changed)
        self.references.changed.connect(self.changed)
        self.view.doubleClicked.connect(
            lambda index: self.column_requested.emit(self.columns.row_at(index.row()).name)
        )

    def show_table(self, table: RecordTable | None, roles: dict[str, Role], own: bool) -> None:
        """Another file; roles of its columns where they are known."""
        self.table = table
        people = {name for name, role in roles.items() if not role.is_released}
        quasi_identifiers = {
            role_name for role_name, role in roles.items() if role is Role.QUASI_IDENTIFIER
        }
        names = {facts.name for facts in table.columns} if table is not None else set()
        unfit = (
            {f.name for f in table.columns if not f.categorical or f.distinct == table.rows}
            if table
            else set()
        )
        searched = quasi_identifiers if len(quasi_identifiers) > 1 else names - people - unfit
        self.columns.show_table(table, searched, people | unfit)
        facts = (
            f"{format_count(table.rows, 'record')} · {format_count(len(table.columns), 'column')}"
            if table
            else ""
        )
        self.file.show_file(Path(table.source.path) if table is not None else None, facts)
        self.file.clear.setVisible(own)
        offered = (
            [facts.name for facts in table.columns if facts.categorical] if table is not None else []
        )
        for grid in (self.domain, self.filters):
            grid.offer(offered)
        self._fit()
        self.changed.emit()

    def setup(self) -> RiskySetup | None:
        """Return the settings, or None without a file or columns."""
        columns = self.columns.searched()
        if self.table is None or not columns:
            return None
        chosen = self.form.values()
        return RiskySetup(
            records=self.table,
            columns=columns,
            k=chosen.k,
            max_size=chosen.max_size,
            strategy=chosen.strategy,
            suppression_share=chosen.suppression_percent / 100,
            domain_rules=self.domain.rows(),
            filter_rules=self.filters.rows(),
            folder=self.filters.folder or containing_folder(self.table.source.path) or Path(),
            references=self.references.paths,
            trim_divisor=chosen.trim_divisor,
            numbers=chosen.numbers,
        )


class SearchedColumnsModel(TableModel[ColumnFacts]):
    """One row per column. `ticked()`: another choice of columns to search."""

    ticked = Signal()

    def __init__(self, parent: QObject) -> None:
        self._searched: dict[str, bool] = {}
        self._written: dict[str, bool] = {}
        self._occurrences: dict[str, int] = {}
        self._n_combinations = 1
        columns = (
            TableColumn(
                "column",
                "Search",
                attrgetter("name"),
                _SEARCH_TIP,
                row_tip=_describe_column,
                is_checked=lambda facts: self._searched[facts.name],
                check=self._search,
                is_enabled=attrgetter("categorical"),
            ),
            TableColumn(
                "written",
                "Write",
                self._is_written,
                _WRITE_TIP,
                text_of=lambda facts: "",
                row_tip=_describe_column,
                is_checked=self._is_written,
                check=self._write,
            ),
            TableColumn(
                "values",
                "Values",
                attrgetter("distinct"),
                "Different values",
                text_of=lambda facts: f"{facts.distinct:,}" if facts.categorical else "many",
                side="right",
                row_tip=_describe_column,
            ),
            TableColumn(
                "occurrences",
                "Risky",
                lambda facts: self._occurrences.get(facts.name),
                _NUMBER_TIP,
                text_of=lambda facts: (
                    f"{self._occurrences[facts.name]:,}" if facts.name in self._occurrences else ""
                ),
                side="right",
                row_tip=_describe_column,
                share=lambda facts: self._occurrences.get(facts.name, 0) / self._n_combinations,
            ),
        )
        super().__init__(columns, parent)

    def show_table(self, table: RecordTable | None, searched: set[str], left_out: set[str]) -> None:
        """Show another file; ``searched`` are ticked, ``left_out`` are not written unless the user says so."""
        columns = table.columns if table is not None else ()
        self._searched = {facts.name: facts.name in searched and facts.categorical for facts in columns}
        self._written = {facts.name: facts.name not in left_out for facts in columns}
        self._occurrences = {}
        self._n_combinations = 1
        self.set_rows(columns)

    def show_listing(self, listing: CombinationListing | None) -> None:
        """Show in how many of the listed combinations each column is."""
        self._occurrences = {}
        self._n_combinations = 1
        if listing is not None:
            self._occurrences = listing.occurrences
            self._n_combinations = max(len(listing), 1)
        self.refresh()

    def search_all(self) -> None:
        """Tick all columns that can be searched."""
        self._searched = {facts.name: facts.categorical for facts in self.rows}
        self.refresh()
        self.ticked.emit()

    def searched(self) -> tuple[str, ...]:
        """Return the ticked columns in file order."""
        return tuple(facts.name for facts in self.rows if self._searched[facts.name])

    def dropped(self) -> tuple[str, ...]:
        """Return the columns that are left out of the written file."""
        return tuple(facts.name for facts in self.rows if not self._is_written(facts))

    def unsearched(self) -> tuple[str, ...]:
        """Return the columns that are written as they are: nobody looked for what they give away."""
        return tuple(f.name for f in self.rows if not self._searched[f.name] and self._written[f.name])

    def flags(self, index: Index) -> Qt.ItemFlag:
        """Let columns be ticked unless they have too many values to search; searched columns are always written."""
        flags = super().flags(index)
        if index.column() == WRITE and self._searched[self.row_at(index.row()).name]:
            return flags & ~Qt.ItemFlag.ItemIsUserCheckable
        return flags

    def _is_written(self, facts: ColumnFacts) -> bool:
        return self._searched[facts.name] or self._written[facts.name]

    def _search(self, facts: ColumnFacts, on: bool) -> None:
        self._searched[facts.name] = on
        self.ticked.emit()

    def _write(self, facts: ColumnFacts, on: bool) -> None:
        self._written[facts.name] = on


def _describe_column(facts: ColumnFacts) -> str:
    return facts.name if facts.categorical else "Too many different values to be searched; leave it out"


class ShareDelegate(QStyledItemDelegate):
    """A number with its share as a thin bar below."""

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        """Number and bar."""
        super().paint(painter, option, index)
        bar: QRect = option.rect.adjusted(3, 0, -3, -2)  # type: ignore[attr-defined]
        bar.setTop(bar.bottom() - 2)
        share = float(index.data(SHARE) or 0)
        if share > 0:
            bar.setLeft(bar.right() - max(1, round(bar.width() * share)))
            painter.fillRect(bar, option.palette.highlight())  # type: ignore[attr-defined]
