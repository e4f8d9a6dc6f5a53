"""Forms made from declared options: an editor for each, by its type, bounds and choices, with label, unit and tip."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from PySide6.QtCore import QSignalBlocker, Qt, Signal, Slot
from PySide6.QtWidgets import QCheckBox, QComboBox, QDoubleSpinBox, QLineEdit, QSpinBox, QWidget

from vbas_desktop.settings.option import Option, OptionGroup
from vbas_desktop.settings.reading import FIND_OUT

from ..core.theme import GRID
from .column_picker import ColumnComboBox, ColumnPicker, narrow_combo_box
from .fields import Field
from .layouts import grid_layout, vbox, with_properties
from .plain_text import set_tool_tip

ITEM_SEPARATOR = "; "
"""Between the items of an option that can be given several times, where they stand in one field."""

_LARGEST_INTEGER = 2**31 - 1
_LARGEST_NUMBER = 1e9
_DECIMALS = 1
_USUAL_NUMBER = "100,000"

Sources = Mapping[str, Sequence[str]]
"""What can be chosen, by the name that options give in ``choices_from``."""


class OptionForm(QWidget):
    """One editor per option of a group, from left to right in columns.

    names: only these options, in this order. first: these in this order, then all others, except those in without.

    `edited(name, value)`: a valid value was entered; `rejected(name, message)`: one that is not allowed. The form shows
    what `show_group` gives it. ``is_live``: texts are read while they are typed. ``subject``: the file that the options
    are about, where a page has such a form for each of two; the declaration calls it "the records".
    """

    edited = Signal(str, object)
    rejected = Signal(str, str)

    def __init__(
        self,
        group: type[OptionGroup],
        parent: QWidget | None = None,
        columns: int = 2,
        names: Sequence[str] | None = None,
        first: Sequence[str] = (),
        without: Collection[str] = (),
        alignment: Qt.AlignmentFlag = Qt.AlignmentFlag.AlignTop,
        is_live: bool = False,
        subject: str = "",
    ) -> None:
        super().__init__(parent)
        if names is None:
            in_order = dict.fromkeys((*first, *(option.name for option in group.options())))
            names = [name for name in in_order if name not in without]
        self.options = tuple(_about(group.option(name), subject) for name in names)
        self.editors: dict[str, QWidget] = {}
        self.fields: dict[str, Field] = {}
        """The editors with label and message; a box to tick has its label itself."""
        self._in_force: dict[str, Any] = {option.name: option.default for option in self.options}
        self._shows_research = False
        grid = grid_layout(within=self, margins=0, across=2 * GRID, down=GRID, shares=(1,) * columns)
        column = 0
        row = 0
        for option in self.options:
            editor = _make_editor(option, self)
            self.editors[option.name] = editor
            _connect(editor, partial(self._on_edited, option), is_live)
            is_wide = isinstance(editor, QCheckBox | OptionalTextEditor)
            if column and (is_wide or column == columns):
                column = 0
                row += 1
            grid.addWidget(
                self._wrap(option, editor), row, column, 1, columns if is_wide else 1, alignment
            )
            column += columns if is_wide else 1

    def _wrap(self, option: Option, editor: QWidget) -> QWidget:
        tip = option.help.removesuffix(".")
        if isinstance(editor, QCheckBox | OptionalTextEditor):
            set_tool_tip(editor, tip)
            return editor
        field = Field(option.label, editor, tip)
        field.caption.setWordWrap(True)
        self.fields[option.name] = field
        return field

    def show_group(self, values: OptionGroup, sources: Sources | None = None) -> None:
        """Show the values in force, and offer what can be chosen; options without effect are disabled."""
        effective_values = {option.name: values.value_of(option.name) for option in self.options}
        for option in self.options:
            editor = self.editors[option.name]
            value = effective_values[option.name]
            self._in_force[option.name] = value
            with QSignalBlocker(editor):
                _show_value(editor, option, value)
                if option.choices_from and sources is not None:
                    _offer(editor, sources.get(option.choices_from, ()))
            editor.setEnabled(option.is_effective(effective_values))
        self._hide_options()

    def show_research(self, is_shown: bool) -> None:
        """Show the options for research, or only those of them that are not left at their default."""
        self._shows_research = is_shown
        self._hide_options()

    def _hide_options(self) -> None:
        for option in self.options:
            is_hidden = option.is_for_research and not self._shows_research
            wrapper = self.fields.get(option.name, self.editors[option.name])
            wrapper.setHidden(is_hidden and self._in_force[option.name] == option.default)

    def show_error(self, name: str, message: str) -> None:
        """Show what is wrong with the value of an option; an empty message takes it away."""
        self.fields[name].show_error(message)

    @Slot()
    def _on_edited(self, option: Option) -> None:
        field = self.fields.get(option.name)
        try:
            value = _read_value(self.editors[option.name], option)
        except ValueError as error:
            message = str(error)
            if field is not None:
                field.show_rejected(
                    f"{message[:1].upper()}{message[1:]}.", option.format(self._in_force[option.name])
                )
            self.rejected.emit(option.name, message)
            return
        if field is not None:
            field.show_error("")
        self._in_force[option.name] = value
        self.edited.emit(option.name, value)


class GroupForm(OptionForm):
    """A form that holds the values that were entered, for a page's own settings; ``changed`` when one of them did."""

    changed = Signal()

    def __init__(self, group: type[OptionGroup], columns: int = 1, **details: Any) -> None:
        super().__init__(group, columns=columns, is_live=True, **details)
        self._values = group()
        self._sources: Sources = {}
        self.show_group(self._values)
        self.edited.connect(self._on_value)

    def values(self) -> Any:
        """Return the entered values. Raises `InputError` if they do not go together."""
        return type(self._values)(**dict(self._values))

    def show_values(self, sources: Sources | None = None, **values: Any) -> None:
        """Show other values by the names of their options, and offer what can be chosen."""
        if sources is not None:
            self._sources = sources
        self._values = self._values.replaced(**values)
        self.show_group(self._values, self._sources)

    @Slot(str, object)
    def _on_value(self, name: str, value: object) -> None:
        # Checked when they are asked for: a name can be empty while it is typed.
        self._values = self._values.model_copy(update={name: value})
        self.show_group(self._values, self._sources)
        self.changed.emit()


class OptionalTextEditor(QWidget):
    """A tick, and the text that counts while it is set: for an option with a usual value that is off at first."""

    edited = Signal()

    def __init__(self, option: Option, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._usual = option.bare_value or ""
        self.box = QCheckBox(option.label)
        self.text = with_properties(
            QLineEdit(self._usual),
            accessibleName=f"Name: {option.title}",
            toolTip="The name of the added column",
            enabled=False,
        )
        vbox(self.box, self.text, within=self, margins=0, spacing=GRID // 2)
        self.box.toggled.connect(self.text.setEnabled)
        self.box.toggled.connect(self.edited)
        self.text.textChanged.connect(self.edited)

    @property
    def value(self) -> str | None:
        """The text; None while there is no tick."""
        return self.text.text().strip() if self.box.isChecked() else None

    def show_value(self, value: str | None) -> None:
        """Show a value."""
        if value != self.value:
            self.box.setChecked(value is not None)
            self.text.setText(self._usual if value is None else value)


def _about(option: Option, subject: str) -> Option:
    """Name another file than "the records" in label and help."""
    if not subject:
        return option
    label = option.label.replace("the records", subject)
    if label == option.label:
        label = f"{label} ({subject})"
    return replace(option, label=label, help=option.help.replace("the records", subject))


def _make_editor(option: Option, parent: QWidget) -> QWidget:
    """Make the editor for the type of an option."""
    if option.value_type is bool:
        return QCheckBox(option.label, parent)
    if option.bare_value is not None:
        return OptionalTextEditor(option, parent)
    if option.value_type is int and not option.choices:
        return _make_integer_box(option)
    if option.titles or option.choices:
        return narrow_combo_box(
            option.titles or {choice: str(choice).capitalize() for choice in option.choices}
        )
    if option.choices_from:
        if option.value_type is tuple:
            return with_properties(ColumnPicker(), placeholderText=_describe_unset(option))
        return ColumnComboBox(_describe_unset(option))
    if option.value_type is float:
        return _make_number_box(option)
    return with_properties(QLineEdit(parent), placeholderText=_describe_unset(option))


def _describe_unset(option: Option) -> str:
    if option.unset_text:
        return option.unset_text
    if option.value_type is tuple or not option.choices_from or option.default_text == "none":
        return "None"
    return option.default_text.capitalize() if option.default_text == "all alike" else FIND_OUT


def _make_integer_box(option: Option) -> QSpinBox:
    low = int(option.low or 0) + (1 if option.excludes_low else 0)
    high = option.soft_max if option.soft_max is not None else option.high
    box = with_properties(
        QSpinBox(),
        minimum=low - 1 if option.default is None else low,
        maximum=_LARGEST_INTEGER if high is None else int(high),
        suffix=f" {option.unit}" if option.unit else "",
    )
    box.setGroupSeparatorShown(True)
    _let_be_narrow(box)
    if option.default is None or low in option.titles:
        box.setSpecialValueText(option.titles.get(low, option.unset_text or "Any"))
    return box


def _make_number_box(option: Option) -> QDoubleSpinBox:
    step = 10.0**-_DECIMALS
    low = option.low or 0.0
    high = option.soft_max if option.soft_max is not None else option.high
    box = with_properties(
        QDoubleSpinBox(),
        decimals=_DECIMALS,
        minimum=low + step if option.excludes_low else low,
        maximum=(100.0 if option.unit == "%" else _LARGEST_NUMBER) if high is None else high,
        suffix=f" {option.unit}" if option.unit else "",
    )
    _let_be_narrow(box)
    if option.default is None:
        box.setSpecialValueText(option.unset_text or "Any")
    return box


def _let_be_narrow(box: QSpinBox | QDoubleSpinBox) -> None:
    """Let a box be narrower than its largest number, with room for usual ones and the arrows in the font in force."""
    box.setMinimumWidth(box.fontMetrics().horizontalAdvance(f"{_USUAL_NUMBER}{box.suffix()}") + 3 * GRID)


def _connect(editor: QWidget, slot: Callable[[], None], is_live: bool) -> None:
    if isinstance(editor, OptionalTextEditor):
        editor.edited.connect(slot)
    elif isinstance(editor, QCheckBox):
        editor.clicked.connect(lambda: slot())
    elif isinstance(editor, QComboBox):
        editor.activated.connect(lambda: slot())
    elif isinstance(editor, QSpinBox | QDoubleSpinBox):
        editor.valueChanged.connect(lambda: slot())
    elif isinstance(editor, QLineEdit) and is_live:
        editor.textChanged.connect(lambda: slot())
    elif isinstance(editor, ColumnPicker):
        editor.textEdited.connect(lambda: slot())
    elif isinstance(editor, QLineEdit):
        editor.editingFinished.connect(lambda: slot())


def _offer(editor: QWidget, names: Iterable[str]) -> None:
    if isinstance(editor, ColumnComboBox | ColumnPicker):
        editor.offer(names)


def _show_value(editor: QWidget, option: Option, value: Any) -> None:
    if isinstance(editor, OptionalTextEditor):
        editor.show_value(value)
    elif isinstance(editor, QCheckBox):
        editor.setCheckState(Qt.CheckState.Checked if value else Qt.CheckState.Unchecked)
    elif isinstance(editor, ColumnComboBox):
        editor.choose(value)
    elif isinstance(editor, QComboBox):
        editor.setCurrentIndex(max(0, editor.findData(value)))
    elif isinstance(editor, QSpinBox):
        editor.setValue(editor.minimum() if value is None else int(value))
    elif isinstance(editor, QDoubleSpinBox):
        editor.setValue(editor.minimum() if value is None else float(value))
    elif isinstance(editor, QLineEdit):
        text = ITEM_SEPARATOR.join(value) if option.form.is_repeated else option.format(value)
        if text != editor.text() and not _is_typed(editor, option, value):
            editor.setText(text)


def _is_typed(editor: QLineEdit, option: Option, value: Any) -> bool:
    """Tell whether somebody types what stands for the value: "age," must not turn into "age" under the fingers."""
    if not (editor.hasFocus() and editor.text().strip()):
        return False
    try:
        return bool(_read_value(editor, option) == value)
    except ValueError:
        return False


def _read_value(editor: QWidget, option: Option) -> Any:
    """Return the entered value. Raises `ValueError` if it is not allowed."""
    if isinstance(editor, OptionalTextEditor):
        return editor.value
    if isinstance(editor, QCheckBox):
        return editor.isChecked()
    if isinstance(editor, QComboBox):
        return editor.currentData()
    if isinstance(editor, QSpinBox | QDoubleSpinBox):
        return None if option.default is None and editor.value() == editor.minimum() else editor.value()
    assert isinstance(editor, QLineEdit)
    text = editor.text().strip()
    if option.form.is_repeated:
        items = (item.strip() for item in text.split(ITEM_SEPARATOR.strip()))
        return tuple(option.parse_item(item) for item in items if item)
    return option.parse(text) if text else option.default
