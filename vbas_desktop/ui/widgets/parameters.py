"""Forms made from declarations: the parameters of an approach, checked where they are typed, and how a file of a page's
own is read and written.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from PySide6.QtCore import Signal, Slot
from PySide6.QtWidgets import QCheckBox, QComboBox, QLineEdit, QWidget

from vbas_desktop.approaches.base import Parameter
from vbas_desktop.approaches.registry import approaches
from vbas_desktop.model.errors import InputError
from vbas_desktop.model.regions import Regions
from vbas_desktop.session.session import Session
from vbas_desktop.settings.declaration import setting_of, settings_of
from vbas_desktop.settings.reading import RecordOptions
from vbas_desktop.settings.writing import Writing
from vbas_desktop.ui.theme import GRID

from .building import dress, in_column, in_grid, offer
from .fields import Field, clear, setting_field
from .names_edit import NamesEdit, narrow_list


class ParameterField(Field):
    """One parameter. `edited(name, value)` tells of valid values only: while the field holds anything else, the last
    valid value stays in force and the message below says so.
    """

    edited = Signal(str, object)

    def __init__(self, declared: Parameter, component: str, chosen: str) -> None:
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

    def _editor(self, declared: Parameter, component: str, chosen: str) -> QWidget:
        if declared.kind is bool:
            return QCheckBox("Yes")
        if declared.kind == "approach":
            others = (name for name in approaches(component) if name != chosen)
            return _list((approaches(component)[name].card.title, name) for name in others)
        if declared.choices:
            return _list((choice[:1].upper() + choice[1:], choice) for choice in declared.choices)
        return NamesEdit() if declared.region_columns else QLineEdit()

    def offer(self, regions: Regions | None) -> None:
        """The names that can be chosen if this is about columns of the region file."""
        if isinstance(self.widget, NamesEdit) and regions is not None:
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
        elif isinstance(editor, QLineEdit) and not (editor.hasFocus() and self._same(editor.text(), value)):
            editor.setText(self._as_text(value))
        self.say(self._why_wrong(value))

    @staticmethod
    def _as_text(value: Any) -> str:
        return f"{value:g}" if isinstance(value, float) and abs(value) < 1e6 else str(value)

    def _same(self, text: str, value: Any) -> bool:
        try:
            return bool(self._declared.parse(text.strip()) == value)
        except InputError:
            return text.strip() == value

    def _why_wrong(self, value: Any) -> str:
        """What is wrong about a value; empty if it is valid."""
        try:
            self._declared.parse(value)
        except InputError as error:
            return error.findings[0].message
        return ""

    @Slot()
    def _on_edited(self) -> None:
        entered = self._entered()
        wrong = self._why_wrong(entered)
        if wrong:
            self.say_refused(wrong, self._as_text(self.in_force))
            return
        self.say("")
        self.in_force = self._declared.parse(entered)
        self.edited.emit(self._declared.name, self.in_force)


class ParameterForm(QWidget):
    """All parameters of the approach that is chosen for one component."""

    def __init__(self, component: str, session: Session) -> None:
        super().__init__()
        self._component, self._session = component, session
        self._shown: str | None = None
        self.fields: dict[str, ParameterField] = {}
        self._arranged: list[ParameterField] = []
        self._grid = in_grid(within=self, margins=(2 * GRID, 0, 0, 0), across=2 * GRID, down=GRID, shares=(1, 1))
        self.refresh()

    def refresh(self) -> None:
        """Show the parameters of the chosen approach and their values."""
        chosen = self._session.choices.approaches[self._component]
        kind = approaches(self._component).get(chosen)
        declared = kind.parameters() if kind is not None else ()
        if chosen != self._shown:
            self._rebuild(chosen, declared)
        given = self._session.choices.values_of(self._component, chosen)
        values = {parameter.name: given.get(parameter.name, parameter.default) for parameter in declared}
        for parameter in declared:
            field = self.fields[parameter.name]
            field.offer(self._session.regions)
            field.show_value(values[parameter.name])
            field.setVisible(parameter.has_effect(values))
        self._arrange()
        self.setVisible(bool(declared))

    def _rebuild(self, chosen: str, declared: tuple[Parameter, ...]) -> None:
        self._shown = chosen
        clear(self._grid)
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
            for place, field in enumerate(shown):
                self._grid.addWidget(field, place // 2, place % 2)

    @Slot(str, object)
    def _on_edited(self, name: str, value: Any) -> None:
        assert self._shown is not None
        choices = self._session.choices.with_parameter(self._component, self._shown, name, value)
        self._session.change(choices, merge=f"{self._component}.{self._shown}.{name}")


class ReadingFields(QWidget):
    """Delimiter, encoding and second line of a record file; ``what`` names it in the labels."""

    changed = Signal()

    def __init__(self, what: str) -> None:
        super().__init__()
        self.combos: dict[str, QComboBox] = {}
        column = in_column(within=self, margins=0, spacing=GRID)
        for declared in settings_of(RecordOptions):
            combo = self.combos[declared.name] = narrow_list(declared.titles)
            combo.activated.connect(self.changed)
            label = declared.label.replace("of the records", "").strip()
            help = declared.help.replace("the records", what).removesuffix(".")
            field = Field(f"{label} of {what}" if "line" not in label else f"{label} ({what})", combo, help)
            field.caption.setWordWrap(True)
            column.addWidget(field)

    def value(self) -> RecordOptions:
        """What is chosen."""
        return RecordOptions(**{name: combo.currentData() for name, combo in self.combos.items()})


class WritingFields(QWidget):
    """The seed of the order and the escaping of formulas; ``with_identifiers``: also what is not written."""

    def __init__(self, with_identifiers: bool = True) -> None:
        super().__init__()
        self.identifiers = dress(NamesEdit(), placeholderText="name, phone")
        self.seed = dress(QLineEdit(), placeholderText="drawn anew")
        escape = setting_of(Writing, "escape_formulas")
        tip = escape.help.removesuffix(".")
        self.formulas = dress(QCheckBox("Escape formulas"), toolTip=tip, accessibleName=escape.title)
        seed = setting_field(setting_of(Writing, "shuffle_seed"), self.seed)
        column = in_column(seed, self.formulas, within=self, margins=0, spacing=GRID)
        if with_identifiers:
            column.insertWidget(0, setting_field(setting_of(Writing, "identifiers"), self.identifiers))

    def value(self, identifiers: tuple[str, ...]) -> Writing:
        """What is entered, with these columns left out."""
        return Writing(identifiers, self.seed.text().strip() or None, self.formulas.isChecked())


def _list(entries: Iterable[tuple[str, str]]) -> QComboBox:
    combo = QComboBox()
    offer(combo, entries)
    return combo
