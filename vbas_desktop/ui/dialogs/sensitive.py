"""What must hold for the values of sensitive columns: which do no harm, and the criterion of released classes."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtWidgets import (
    QAbstractItemView,
    QComboBox,
    QDialog,
    QDialogButtonBox,
    QDoubleSpinBox,
    QHBoxLayout,
    QHeaderView,
    QTableWidget,
    QTableWidgetItem,
    QVBoxLayout,
    QWidget,
)

from vbas_desktop.domain.criteria import TITLES, Criterion, Sensitive
from vbas_desktop.domain.records import MISSING, ColumnFacts, finite_number
from vbas_desktop.ui.theme import GRID, tabular
from vbas_desktop.ui.widgets.fields import Field, muted

_ONLY_TOLD = "Report only, suppress nothing"
_LIMITS = {
    "share": ("At most, percent", 1.0, 99.0, 50.0, 1),
    "distinct": ("L, different values", 2.0, 999.0, 3.0, 0),
    "entropy": ("L, values", 1.1, 999.0, 2.0, 2),
    "recursive": ("L, values", 2.0, 999.0, 2.0, 0),
    "closeness": ("T, from 0 to 1", 0.01, 0.99, 0.3, 2),
    "ordered-closeness": ("T, from 0 to 1", 0.01, 0.99, 0.2, 2),
}
"""Of each kind how its limit is called, its bounds, what is usual and its decimals."""

_EXPLAINED = {
    "": "How far released classes give values away is told in results, map and internal report.",
    "share": "In every released class at most that share has the commonest harmful value.",
    "distinct": "Every released class has at least L different values, however few records have each.",
    "entropy": "Values are spread in every released class as evenly as L equally frequent ones, or more so.",
    "recursive": "The commonest harmful value is less than C times as frequent as what is left once the L − 1 "
    "commonest are ruled out.",
    "closeness": "Harmful values are at most T more frequent in a released class than in all released records.",
    "ordered-closeness": "Numbers lie in a released class at most T of the whole scale away from all released records.",
}
_VALUE, _RECORDS = range(2)


class SensitiveDialog(QDialog):
    """`chosen(Sensitive)` for each column whose settings the user confirms."""

    chosen = Signal(object)

    def __init__(self, columns: list[tuple[ColumnFacts, Sensitive]], parent: QWidget) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle("Sensitive values")
        self.setMinimumSize(520, 560)
        self._facts = {facts.name: facts for facts, _ in columns}
        self._now = {each.column: each for _, each in columns}
        self._before = dict(self._now)
        self._shown = ""
        self.column, self.kind = QComboBox(), QComboBox()
        self.limit, self.factor = QDoubleSpinBox(), QDoubleSpinBox()
        self.values = QTableWidget(0, 2)
        self.explained = muted()
        self._buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Ok | QDialogButtonBox.StandardButton.Cancel)
        self._build()
        self._connect()
        self._on_column()

    def _build(self) -> None:
        for name in self._now:
            self.column.addItem(name, name)
        self.factor.setRange(0.1, 999.0)
        self.factor.setValue(2.0)
        self.values.setHorizontalHeaderLabels(["Value; ticked ones are benign", "Records"])
        self.values.setAccessibleName("Values; ticked ones are benign")
        self.values.setFont(tabular(self.values.font()))
        self.values.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.values.setTabKeyNavigation(False)
        self.values.verticalHeader().hide()
        self.values.horizontalHeader().setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
        self.values.horizontalHeader().setSectionResizeMode(_VALUE, QHeaderView.ResizeMode.Stretch)
        self.limit_field = Field("&Limit", self.limit, "See below what it means")
        self.factor_field = Field("&C, times", self.factor, "See below what it means")
        top = Qt.AlignmentFlag.AlignTop
        row = QHBoxLayout()
        row.setSpacing(2 * GRID)
        row.addWidget(
            Field("&Released classes must have", self.kind, "Records are suppressed until this holds"), 2, top
        )
        row.addWidget(self.factor_field, 1, top)
        row.addWidget(self.limit_field, 1, top)
        layout = QVBoxLayout(self)
        layout.setSpacing(GRID)
        layout.addWidget(Field("Sensitive colu&mn", self.column, "The columns with the role “sensitive” in Input"))
        layout.addLayout(row)
        layout.addWidget(self.explained)
        layout.addWidget(muted("Tick the values that do no harm if they are learned, such as “none” or “healthy”:"))
        layout.addWidget(self.values, 1)
        layout.addWidget(self._buttons)

    def _connect(self) -> None:
        self.column.activated.connect(self._on_column)
        self.kind.activated.connect(self._on_kind)
        self._buttons.accepted.connect(self._on_accepted)
        self._buttons.rejected.connect(self.reject)

    def show_column(self, name: str) -> None:
        """Turn to another column; what was set for the one before is kept until OK or Cancel."""
        self.column.setCurrentIndex(self.column.findData(name))
        self._on_column()

    @Slot()
    def _on_column(self) -> None:
        if self._shown:
            self._now[self._shown] = self._read()
        self._shown = self.column.currentData()
        chosen, facts = self._now[self._shown], self._facts[self._shown]
        self._fill_kinds(facts)
        self._fill_values(facts, chosen)
        criterion = chosen.criteria[0] if chosen.criteria else None
        self.kind.setCurrentIndex(max(0, self.kind.findData(criterion.kind if criterion else "")))
        self._on_kind()
        if criterion is not None:
            self.limit.setValue(criterion.limit)
            self.factor.setValue(criterion.factor or 2.0)

    def _fill_kinds(self, facts: ColumnFacts) -> None:
        values = facts.categories.values if facts.categories is not None else ()
        ordered = bool(values) and all(finite_number(value) is not None for value in values)
        self.kind.clear()
        self.kind.addItem(_ONLY_TOLD, "")
        for kind in _LIMITS:
            if ordered or kind != "ordered-closeness":
                self.kind.addItem(TITLES[kind], kind)
                self.kind.setItemData(self.kind.count() - 1, _EXPLAINED[kind], Qt.ItemDataRole.ToolTipRole)

    def _fill_values(self, facts: ColumnFacts, chosen: Sensitive) -> None:
        assert facts.categories is not None
        values = facts.categories.values
        self.values.setRowCount(len(values))
        for row, value in enumerate(values):
            records = int(facts.frequencies[row]) if facts.frequencies is not None else 0
            name = QTableWidgetItem(facts.categories.label(row))
            name.setFlags(Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable | Qt.ItemFlag.ItemIsUserCheckable)
            name.setCheckState(Qt.CheckState.Checked if chosen.is_benign(value) else Qt.CheckState.Unchecked)
            number = QTableWidgetItem(f"{records:,}")
            number.setFlags(Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable)
            number.setTextAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
            self.values.setItem(row, _VALUE, name)
            self.values.setItem(row, _RECORDS, number)

    @Slot()
    def _on_kind(self) -> None:
        kind = self.kind.currentData()
        self.explained.setText(_EXPLAINED[kind])
        self.limit_field.setVisible(bool(kind))
        self.factor_field.setVisible(kind == "recursive")
        if kind:
            label, low, high, usual, decimals = _LIMITS[kind]
            self.limit_field.caption.setText(f"&{label}")
            self.limit.setDecimals(decimals)
            self.limit.setRange(low, high)
            self.limit.setSingleStep(10**-decimals if decimals == 2 else 1.0)
            self.limit.setValue(usual)

    def _read(self) -> Sensitive:
        """What is set for the column that is shown."""
        name, kind = self._shown, self.kind.currentData()
        categories = self._facts[name].categories
        assert categories is not None
        benign = tuple(
            value or MISSING
            for row, value in enumerate(categories.values)
            if (item := self.values.item(row, _VALUE)) is not None and item.checkState() is Qt.CheckState.Checked
        )
        factor = round(self.factor.value(), 2) if kind == "recursive" else 0.0
        criteria = (Criterion(kind, round(self.limit.value(), 2), factor, name),) if kind else ()
        return Sensitive(name, benign, criteria)

    @Slot()
    def _on_accepted(self) -> None:
        self._now[self._shown] = self._read()
        for name, each in self._now.items():
            if each != self._before[name]:
                self.chosen.emit(each)
        self.accept()
