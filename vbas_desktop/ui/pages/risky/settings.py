"""The left side of the page: the file, the columns, k, the strategy, and the rules."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtWidgets import (
    QComboBox,
    QDoubleSpinBox,
    QGridLayout,
    QHeaderView,
    QSpinBox,
    QTableView,
    QVBoxLayout,
    QWidget,
)

from vbas_desktop.assessment.risky.loop import GENTLE, STRATEGIES
from vbas_desktop.domain.records import Role
from vbas_desktop.domain.words import counted
from vbas_desktop.files.records.table import RecordTable
from vbas_desktop.session.risky import RiskySetup
from vbas_desktop.ui.context import Context
from vbas_desktop.ui.theme import GRID
from vbas_desktop.ui.widgets.fields import Field, title
from vbas_desktop.ui.widgets.file_row import FileRow, SidePanel
from vbas_desktop.ui.widgets.record_options import WritingFields
from vbas_desktop.ui.widgets.tables import set_up_table

from .columns import NUMBER, SEARCH, VALUES, WRITE, ColumnTicks, ShareDelegate
from .rule_grid import RuleGrid
from .rule_kinds import DOMAIN, FILTER

_STRATEGY_TITLES = {GENTLE: "Gently", "cover": "Few columns", "paper": "Every column"}


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
        self.file = FileRow(
            "File t&o search",
            "The record file that is loaded, or any other table, with or without regions",
            theme,
            True,
        )
        self.reference = FileRow(
            "&Public table", "Values that are rare in this public table count as risky, too", theme, clearable=True
        )
        self.reference.show_file(None)
        self.writing = WritingFields(with_identifiers=False)
        self.columns = ColumnTicks()
        self.view = QTableView()
        self.k, self.max_size, self.share = QSpinBox(), QSpinBox(), QDoubleSpinBox()
        self.strategy = QComboBox()
        self.domain, self.filters = RuleGrid(context, DOMAIN), RuleGrid(context, FILTER)
        self._set_up_numbers()
        self._set_up_table()
        self._build()
        self._connect()

    def _set_up_numbers(self) -> None:
        self.k.setRange(1, 1_000_000)
        self.k.setValue(3)
        self.max_size.setRange(0, 100)
        self.max_size.setSpecialValueText("all")
        self.share.setRange(0.0, 99.0)
        self.share.setDecimals(1)
        self.share.setSuffix(" %")
        self.share.setValue(1.0)
        for name, summary in STRATEGIES.items():
            self.strategy.addItem(_STRATEGY_TITLES.get(name, name), name)
            self.strategy.setItemData(self.strategy.count() - 1, summary, Qt.ItemDataRole.ToolTipRole)

    def _set_up_table(self) -> None:
        view = self.view
        view.setModel(self.columns)
        set_up_table(view, "Columns to search")
        view.setItemDelegateForColumn(NUMBER, ShareDelegate(view))
        view.setToolTip("Double-click a column to list only its combinations")
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

    def _build(self) -> None:
        numbers = QGridLayout()
        numbers.setHorizontalSpacing(GRID)
        numbers.setVerticalSpacing(GRID // 2)
        fields = (
            Field("k", self.k, "Values that fewer records share are risky"),
            Field("Largest size", self.max_size, "Most columns in a listed combination; coarsening looks at all"),
            Field("Coarsen", self.strategy, "Gently: few records go or values are grouped, one change a step; a column "
                  "is emptied last. Few columns: a smallest set that hits every risky combination. Every column: all "
                  "that occur in one"),
            Field("May be suppressed", self.share, "Share of the records that may go instead of emptying a column"),
        )  # fmt: skip
        for place, field in enumerate(fields):
            field.widget.setMinimumWidth(1)
            field.caption.setMinimumWidth(1)
            numbers.addWidget(field, place // 2, place % 2)
            numbers.setColumnStretch(place % 2, 1)
        inner = QWidget()
        layout = QVBoxLayout(inner)
        layout.setContentsMargins(GRID, 0, GRID, GRID)
        layout.setSpacing(GRID)
        layout.addWidget(self.file)
        layout.addWidget(title("Columns"))
        layout.addWidget(self.view)
        layout.addLayout(numbers)
        for widget in (self.domain, self.filters, self.reference, title("The written file"), self.writing):
            layout.addWidget(widget)
        layout.addStretch(1)
        self.hold(inner)

    def _connect(self) -> None:
        self.file.chosen.connect(self.file_chosen)
        self.file.cleared.connect(self.file_cleared)
        self.reference.chosen.connect(self._on_reference)
        for signal in (self.k.valueChanged, self.max_size.valueChanged, self.share.valueChanged):
            signal.connect(self._on_changed)
        for other in (self.strategy.activated, self.domain.changed, self.filters.changed):
            other.connect(self._on_changed)
        self.columns.ticked.connect(self._on_changed)
        self.reference.cleared.connect(self._on_changed)
        self.view.doubleClicked.connect(lambda index: self.column_wanted.emit(self.columns.name(index.row())))

    @Slot()
    def _on_changed(self) -> None:
        self.changed.emit()

    @Slot(Path)
    def _on_reference(self, path: Path) -> None:
        self.reference.show_file(path)
        self.changed.emit()

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
            folder=self.filters.folder or Path(self.table.source.path).parent,
            reference=self.reference.path,
        )
