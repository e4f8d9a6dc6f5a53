"""Forms for the parameters of an approach, made from their declarations and checked where they are typed."""

from __future__ import annotations

from collections.abc import Container, Iterable
from typing import Any

from PySide6.QtCore import Signal, Slot
from PySide6.QtWidgets import QCheckBox, QComboBox, QLineEdit, QWidget

from vbas_desktop.approaches.registry import list_approaches
from vbas_desktop.model.findings import InputError
from vbas_desktop.model.regions import Regions
from vbas_desktop.settings.option import Option

from ..core.theme import GRID
from ..state.app_state import AppState
from .column_picker import ColumnPicker
from .fields import Field, clear_layout
from .layouts import grid_layout, set_items


class ParameterField(Field):
    """One parameter. `edited(name, value)` tells of valid values only: while the field holds anything else, the last
    valid value stays in force and the message below says so.
    """

    edited = Signal(str, object)

    def __init__(self, declared: Option, component: str, chosen: str) -> None:
        self._declared = declared
        self.in_force: Any = declared.default
        """The last valid value."""
        super().__init__(declared.label, self._editor(declared, component, chosen), declared.help)
        editor = self.widget
        if isinstance(editor, QCheckBox):
            editor.clicked.connect(self._on_edited)
        elif isinstance(editor, QComboBox):
            editor.activated.connect(self._on_edited)
        elif isinstance(editor, QLineEdit):
            editor.textEdited.connect(self._on_edited)

    def _editor(self, declared: Option, component: str, chosen: str) -> QWidget:
        if declared.value_type is bool:
            return QCheckBox("Yes")
        if declared.is_nested:
            others = (name for name in list_approaches(component) if name != chosen)
            return _list((list_approaches(component)[name].metadata.title, name) for name in others)
        if declared.choices:
            return _list((choice[:1].upper() + choice[1:], choice) for choice in declared.choices)
        return ColumnPicker() if declared.choices_from else QLineEdit()

    def offer(self, regions: Regions | None) -> None:
        """Offer the columns of the region file with shared values, if the parameter is one of them."""
        if isinstance(self.widget, ColumnPicker) and regions is not None:
            self.widget.offer(regions.labels)
            self.widget.setPlaceholderText("" if regions.labels else "No column with shared values")

    def _entered(self) -> Any:
        editor = self.widget
        if isinstance(editor, QCheckBox):
            return editor.isChecked()
        if isinstance(editor, QComboBox):
            return editor.currentData()
        assert isinstance(editor, QLineEdit)
        return editor.text().strip()

    def show_value(self, value: Any) -> None:
        """Show the value in force; what an opened project has may be wrong, which is said below."""
        self.in_force = value
        editor = self.widget
        if isinstance(editor, QCheckBox):
            editor.setChecked(bool(value))
        elif isinstance(editor, QComboBox):
            name = value.get("name") if isinstance(value, dict) else value
            editor.setCurrentIndex(max(0, editor.findData(name)))
        # While somebody types, "1." must not turn into "1" under the fingers.
        elif isinstance(editor, QLineEdit) and not (
            editor.hasFocus() and self._same(editor.text(), value)
        ):
            editor.setText(self._as_text(value))
        self.show_error(self._why_wrong(value))

    @staticmethod
    def _as_text(value: Any) -> str:
        return f"{value:g}" if isinstance(value, float) and abs(value) < 1e6 else str(value)

    def _same(self, text: str, value: Any) -> bool:
        try:
            return bool(self._declared.read(text.strip()) == value)
        except InputError:
            return text.strip() == value

    def _why_wrong(self, value: Any) -> str:
        """Explain what is wrong with a value; empty if it is valid."""
        try:
            self._declared.read(value)
        except InputError as error:
            return error.findings[0].message
        return ""

    @Slot()
    def _on_edited(self) -> None:
        entered = self._entered()
        wrong = self._why_wrong(entered)
        if wrong:
            self.show_rejected(wrong, self._as_text(self.in_force))
            return
        self.show_error("")
        self.in_force = self._declared.read(entered)
        self.edited.emit(self._declared.name, self.in_force)


class ParameterForm(QWidget):
    """The parameters of the approach that is chosen for one component, but for those that stand elsewhere."""

    def __init__(self, component: str, state: AppState, without: Container[str] = ()) -> None:
        super().__init__()
        self._component = component
        self._state = state
        self._without = without
        self._shown: str | None = None
        self.fields: dict[str, ParameterField] = {}
        self._arranged: list[ParameterField] = []
        self._grid = grid_layout(
            within=self, margins=(2 * GRID, 0, 0, 0), across=2 * GRID, down=GRID, shares=(1, 1)
        )
        self.refresh()

    def refresh(self) -> None:
        """Show the parameters of the chosen approach and their values."""
        chosen = self._state.choices.approaches[self._component]
        kind = list_approaches(self._component).get(chosen)
        every = kind.options() if kind is not None else ()
        declared = tuple(parameter for parameter in every if parameter.name not in self._without)
        if chosen != self._shown:
            self._rebuild(chosen, declared)
        given = self._state.choices.values_of(self._component, chosen)
        values = {parameter.name: given.get(parameter.name, parameter.default) for parameter in declared}
        for parameter in declared:
            field = self.fields[parameter.name]
            field.offer(self._state.regions)
            field.show_value(values[parameter.name])
            is_hidden = parameter.is_for_research and not self._state.shows_research
            is_default = values[parameter.name] == parameter.default
            field.setVisible(parameter.is_effective(values) and not (is_hidden and is_default))
        self._arrange()
        self.setVisible(bool(declared))

    def _rebuild(self, chosen: str, declared: tuple[Option, ...]) -> None:
        self._shown = chosen
        clear_layout(self._grid)
        self.fields = {}
        for parameter in declared:
            field = ParameterField(parameter, self._component, chosen)
            field.setParent(self)
            field.edited.connect(self._on_edited)
            self.fields[parameter.name] = field

    def _arrange(self) -> None:
        """Two beside each other, without gaps where fields are hidden."""
        shown = [field for field in self.fields.values() if not field.isHidden()]
        if shown != self._arranged:
            self._arranged = shown
            for field in self.fields.values():
                self._grid.removeWidget(field)
            for index, field in enumerate(shown):
                self._grid.addWidget(field, index // 2, index % 2)

    @Slot(str, object)
    def _on_edited(self, name: str, value: Any) -> None:
        assert self._shown is not None
        choices = self._state.choices.with_parameter(self._component, self._shown, name, value)
        self._state.change(choices, merge=f"{self._component}.{self._shown}.{name}")


def _list(entries: Iterable[tuple[str, str]]) -> QComboBox:
    combo = QComboBox()
    set_items(combo, entries)
    return combo
