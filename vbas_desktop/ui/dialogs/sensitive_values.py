"""What must hold for the values of sensitive columns: which do no harm, and the criteria of released classes."""

from __future__ import annotations

from dataclasses import replace

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtWidgets import QComboBox, QDoubleSpinBox, QListWidget, QTableView, QWidget

from vbas_desktop.model.criteria import TITLES, Criterion, SensitiveColumn
from vbas_desktop.model.records import MISSING, ColumnFacts, finite_number

from ..core.theme import GRID
from ..presentation.tables import make_category_columns
from ..widgets.dialog import CANCEL, OK, Dialog
from ..widgets.fields import Field, hint_label, shorten_name
from ..widgets.layouts import button, hbox, set_items, vbox, with_properties
from ..widgets.tables import TableModel, set_up_table, stretch_column

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


_BENIGN = frozenset(
    (
        "none", "no", "nothing", "healthy", "well", "normal", "negative", "no diagnosis", "no disease", "no illness",
        "no condition", "no finding", "no findings", "not ill",
    )
)  # fmt: skip
"""Values that usually say that a person has nothing."""

_NAMED = 3


def looks_benign(text: str) -> bool:
    """Tell whether a value or its label says that nothing was found, such as “none” or “healthy”."""
    return text.strip().casefold() in _BENIGN


class SensitiveDialog(Dialog):
    """`chosen(Sensitive)` for each column whose settings the user confirms."""

    chosen = Signal(object)

    def __init__(self, columns: list[tuple[ColumnFacts, SensitiveColumn]], parent: QWidget) -> None:
        super().__init__(parent, "Sensitive values", OK | CANCEL, (520, 560))
        self._facts = {facts.name: facts for facts, _ in columns}
        self._now = {sensitive.column: sensitive for _, sensitive in columns}
        self._before = dict(self._now)
        self._shown = ""
        self._listed: list[Criterion] = []
        self.column = QComboBox()
        self.kind = QComboBox()
        self.limit = QDoubleSpinBox()
        self.factor = with_properties(QDoubleSpinBox(), minimum=0.1, maximum=999.0, value=2.0)
        about_add = "Add this criterion to the list; released classes must meet all of them"
        self.add = button("&Add", self._on_add, about_add)
        self.remove = button("Remo&ve", self._on_remove, "Remove the chosen criterion from the list")
        self.criteria = with_properties(
            QListWidget(),
            accessibleName="Criteria that released classes must meet, all of them",
            wordWrap=True,
        )
        self._benign: set[int] = set()
        about_harmless = "Tick the values that say that nothing was found; look whether that does no harm in your data"
        self.mark_harmless = button("", self._on_mark_harmless, about_harmless)
        self.model: TableModel[int] = TableModel((), self)
        self.values = QTableView()
        self.values.setModel(self.model)
        set_up_table(self.values, "Values; benign if ticked")
        self.explained = hint_label()
        set_items(self.column, ((name, name) for name in self._now))
        self._build()
        self.column.activated.connect(self._on_column)
        self.kind.activated.connect(self._on_kind)
        self.criteria.currentRowChanged.connect(self._on_listed)
        self._on_column()

    def _build(self) -> None:
        self.limit_field = Field("&Limit", self.limit, "Explained below")
        self.factor_field = Field("&C, times", self.factor, "Explained below")
        top = Qt.AlignmentFlag.AlignTop
        row = hbox(
            (
                Field(
                    "&Released classes must have", self.kind, "Records are suppressed until this holds"
                ),
                2,
                top,
            ),
            (self.factor_field, 1, top),
            (self.limit_field, 1, top),
            (self.add, 0, Qt.AlignmentFlag.AlignBottom),
            spacing=2 * GRID,
        )
        self.criteria.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.criteria.setMaximumHeight(4 * self.criteria.fontMetrics().lineSpacing() + GRID)
        listed = hbox((self.criteria, 1), (self.remove, 0, Qt.AlignmentFlag.AlignTop))
        vbox(
            Field("Sensitive colu&mn", self.column, "The columns with the role “sensitive” in Input"),
            row,
            self.explained,
            listed,
            hint_label(
                "Tick the values that are benign: harmless if others learn them, such as “none” or “healthy”"
            ),
            self.mark_harmless,
            (self.values, 1),
            self.buttons,
            within=self,
            spacing=GRID,
        )

    @Slot()
    def _on_column(self) -> None:
        if self._shown:
            self._now[self._shown] = self._read()
        self._shown = self.column.currentData()
        chosen = self._now[self._shown]
        facts = self._facts[self._shown]
        self._fill_kinds(facts)
        assert facts.categories is not None
        values = facts.categories.values
        self._benign = {code for code, value in enumerate(values) if chosen.is_benign(value)}
        columns = make_category_columns(facts)
        columns[0] = replace(
            columns[0],
            title="Benign if ticked",
            is_checked=self._is_benign,
            check=self._set_benign,
        )
        self.model.set_rows(range(len(values)), columns)
        self._show_harmless()
        stretch_column(self.values, 0)
        # The first is in the fields, the others on the list.
        criterion, *others = chosen.criteria or (None,)
        self.kind.setCurrentIndex(max(0, self.kind.findData(criterion.kind if criterion else "")))
        self._on_kind()
        if criterion is not None:
            self.limit.setValue(criterion.limit)
            self.factor.setValue(criterion.factor or 2.0)
        self._listed = [other for other in others if other is not None]
        self._show_listed()

    def _list_harmless(self) -> list[int]:
        """List the values that look benign and are not ticked: they are proposed, never taken for granted."""
        categories = self._facts[self._shown].categories
        assert categories is not None
        return [
            code
            for code, value in enumerate(categories.values)
            if code not in self._benign
            and (looks_benign(value) or looks_benign(categories.labels.get(value, "")))
        ]

    def _show_harmless(self) -> None:
        categories = self._facts[self._shown].categories
        assert categories is not None
        names = [f"“{shorten_name(categories.label(code))}”" for code in self._list_harmless()[:_NAMED]]
        self.mark_harmless.setText(f"Mark {' and '.join(names)} as benign")
        self.mark_harmless.setVisible(bool(names))

    @Slot()
    def _on_mark_harmless(self) -> None:
        self._benign.update(self._list_harmless())
        self.model.refresh()
        self._show_harmless()

    def _is_benign(self, code: int) -> bool:
        return code in self._benign

    def _set_benign(self, code: int, on: bool) -> None:
        if on:
            self._benign.add(code)
        else:
            self._benign.discard(code)
        self._show_harmless()

    def _show_listed(self) -> None:
        self.criteria.clear()
        for criterion in self._listed:
            self.criteria.addItem(f"and {criterion.in_words}")
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
        set_items(
            self.kind, [(_ONLY_TOLD, ""), *((TITLES[kind], kind, _EXPLAINED[kind]) for kind in kinds)]
        )

    @Slot()
    def _on_kind(self) -> None:
        kind = self.kind.currentData()
        self.explained.setText(_EXPLAINED[kind])
        self.add.setEnabled(bool(kind))
        self.limit_field.setVisible(bool(kind))
        self.factor_field.setVisible(kind == "recursive")
        if kind:
            label, low, high, default, decimals = _LIMITS[kind]
            self.limit_field.caption.setText(f"&{label}")
            self.limit.setDecimals(decimals)
            self.limit.setRange(low, high)
            self.limit.setSingleStep(10**-decimals if decimals == 2 else 1.0)
            self.limit.setValue(default)

    def _read(self) -> SensitiveColumn:
        """Return the criteria and benign values of the shown column."""
        name = self._shown
        categories = self._facts[name].categories
        assert categories is not None
        benign = tuple(categories.values[row] or MISSING for row in sorted(self._benign))
        first = self._in_fields()
        criteria = ([] if first is None else [first]) + self._listed
        return SensitiveColumn(name, benign, tuple(dict.fromkeys(criteria)))

    def _on_accepted(self) -> None:
        self._now[self._shown] = self._read()
        for name, sensitive in self._now.items():
            if sensitive != self._before[name]:
                self.chosen.emit(sensitive)
