"""What must hold for the values of sensitive columns: which do no harm, and the criteria of released classes."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtWidgets import QComboBox, QDoubleSpinBox, QListWidget, QTableWidget, QWidget

from vbas_desktop.model.criteria import TITLES, Criterion, Sensitive
from vbas_desktop.model.records import MISSING, ColumnFacts, finite_number
from vbas_desktop.ui.theme import GRID
from vbas_desktop.ui.widgets.building import button, dress, in_column, in_row, offer
from vbas_desktop.ui.widgets.dialog import CANCEL, OK, Dialog
from vbas_desktop.ui.widgets.fields import Field, muted
from vbas_desktop.ui.widgets.tables import fill_table, frequency_cells, ticked_rows

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
    "": "Results, map and internal report show how much released classes reveal; nothing is suppressed for it.",
    "share": "In every released class, at most this share of the records has the most common harmful value.",
    "distinct": "Every released class has at least L different values, however rare each of them is.",
    "entropy": "In every released class, values are spread at least as evenly as L equally frequent ones.",
    "recursive": "The most common harmful value is less than C times as frequent as all values that remain once "
    "the L − 1 most common are excluded.",
    "closeness": "Harmful values are at most T more frequent in a released class than in all released records.",
    "ordered-closeness": "Numbers in a released class are at most T of the whole scale away from all released ones.",
}


class SensitiveDialog(Dialog):
    """`chosen(Sensitive)` for each column whose settings the user confirms."""

    chosen = Signal(object)

    def __init__(self, columns: list[tuple[ColumnFacts, Sensitive]], parent: QWidget) -> None:
        super().__init__(parent, "Sensitive values", OK | CANCEL, (520, 560))
        self._facts = {facts.name: facts for facts, _ in columns}
        self._now = {each.column: each for _, each in columns}
        self._before = dict(self._now)
        self._shown = ""
        self._listed: list[Criterion] = []
        self.column, self.kind = QComboBox(), QComboBox()
        self.limit = QDoubleSpinBox()
        self.factor = dress(QDoubleSpinBox(), minimum=0.1, maximum=999.0, value=2.0)
        about_add = "Add this criterion to the list; released classes must meet all of them"
        self.add = button("&Add", self._on_add, about_add)
        self.remove = button("Remo&ve", self._on_remove, "Remove the chosen criterion from the list")
        self.criteria = dress(
            QListWidget(), accessibleName="Criteria that released classes must meet, all of them", wordWrap=True
        )
        self.values = QTableWidget()
        self.explained = muted()
        offer(self.column, ((name, name) for name in self._now))
        self._build()
        self.column.activated.connect(self._on_column)
        self.kind.activated.connect(self._on_kind)
        self.criteria.currentRowChanged.connect(self._on_listed)
        self._on_column()

    def _build(self) -> None:
        self.limit_field = Field("&Limit", self.limit, "Explained below")
        self.factor_field = Field("&C, times", self.factor, "Explained below")
        top = Qt.AlignmentFlag.AlignTop
        row = in_row(
            (Field("&Released classes must have", self.kind, "Records are suppressed until this holds"), 2, top),
            (self.factor_field, 1, top),
            (self.limit_field, 1, top),
            (self.add, 0, Qt.AlignmentFlag.AlignBottom),
            spacing=2 * GRID,
        )
        self.criteria.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.criteria.setMaximumHeight(4 * self.criteria.fontMetrics().lineSpacing() + GRID)
        listed = in_row((self.criteria, 1), (self.remove, 0, Qt.AlignmentFlag.AlignTop))
        in_column(
            Field("Sensitive colu&mn", self.column, "The columns with the role “sensitive” in Input"),
            row,
            self.explained,
            listed,
            muted("Tick the values that are benign: harmless if others learn them, such as “none” or “healthy”"),
            (self.values, 1),
            self.buttons,
            within=self,
            spacing=GRID,
        )

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
        heads = ("Value; ticked ones are benign", "Records")
        cells = frequency_cells(facts, chosen.is_benign)
        fill_table(self.values, "Values; ticked ones are benign", heads, cells, wide=0)
        # The first is in the fields, the others on the list.
        criterion, *others = chosen.criteria or (None,)
        self.kind.setCurrentIndex(max(0, self.kind.findData(criterion.kind if criterion else "")))
        self._on_kind()
        if criterion is not None:
            self.limit.setValue(criterion.limit)
            self.factor.setValue(criterion.factor or 2.0)
        self._listed = [each for each in others if each is not None]
        self._show_listed()

    def _show_listed(self) -> None:
        self.criteria.clear()
        for each in self._listed:
            self.criteria.addItem(f"and {each.in_words}")
        self.criteria.setVisible(bool(self._listed))
        self.remove.setVisible(bool(self._listed))
        self._on_listed()

    @Slot()
    def _on_listed(self) -> None:
        self.remove.setEnabled(self.criteria.currentRow() >= 0)

    @Slot()
    def _on_add(self) -> None:
        """Put what is in the fields on the list, and make room for another."""
        criterion = self._in_fields()
        if criterion is not None and criterion not in self._listed:
            self._listed.append(criterion)
        self.kind.setCurrentIndex(0)
        self._on_kind()
        self._show_listed()

    @Slot()
    def _on_remove(self) -> None:
        del self._listed[self.criteria.currentRow()]
        self._show_listed()

    def _in_fields(self) -> Criterion | None:
        kind = self.kind.currentData()
        factor = round(self.factor.value(), 2) if kind == "recursive" else 0.0
        return Criterion(kind, round(self.limit.value(), 2), factor, self._shown) if kind else None

    def _fill_kinds(self, facts: ColumnFacts) -> None:
        values = facts.categories.values if facts.categories is not None else ()
        ordered = bool(values) and all(finite_number(value) is not None for value in values)
        kinds = [kind for kind in _LIMITS if ordered or kind != "ordered-closeness"]
        offer(self.kind, [(_ONLY_TOLD, ""), *((TITLES[kind], kind, _EXPLAINED[kind]) for kind in kinds)])

    @Slot()
    def _on_kind(self) -> None:
        kind = self.kind.currentData()
        self.explained.setText(_EXPLAINED[kind])
        self.add.setEnabled(bool(kind))
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
        name = self._shown
        categories = self._facts[name].categories
        assert categories is not None
        benign = tuple(categories.values[row] or MISSING for row in ticked_rows(self.values, 0))
        first = self._in_fields()
        criteria = ([] if first is None else [first]) + self._listed
        return Sensitive(name, benign, tuple(dict.fromkeys(criteria)))

    def _on_accepted(self) -> None:
        self._now[self._shown] = self._read()
        for name, each in self._now.items():
            if each != self._before[name]:
                self.chosen.emit(each)
