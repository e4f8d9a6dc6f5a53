"""How a record file of a page's own is read and written, as declared for the commands."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QCheckBox, QComboBox, QLineEdit, QVBoxLayout, QWidget

from vbas_desktop.settings.declaration import setting_of, settings_of
from vbas_desktop.settings.reading import RecordOptions
from vbas_desktop.settings.writing import Writing
from vbas_desktop.ui.theme import GRID

from .column_list import narrow_list
from .fields import Field, setting_field
from .names_edit import NamesEdit


class ReadingFields(QWidget):
    """Separator, encoding and second line of a record file; ``what`` names it in the labels."""

    changed = Signal()

    def __init__(self, what: str) -> None:
        super().__init__()
        self.combos: dict[str, QComboBox] = {}
        column = _column(self)
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
        self.identifiers, self.seed = NamesEdit(), QLineEdit()
        self.seed.setPlaceholderText("drawn anew")
        escape = setting_of(Writing, "escape_formulas")
        self.formulas = QCheckBox("Escape formulas")
        self.formulas.setToolTip(escape.help.removesuffix("."))
        self.formulas.setAccessibleName(escape.title)
        column = _column(self)
        if with_identifiers:
            self.identifiers.setPlaceholderText("name, phone")
            column.addWidget(setting_field(setting_of(Writing, "identifiers"), self.identifiers))
        column.addWidget(setting_field(setting_of(Writing, "shuffle_seed"), self.seed))
        column.addWidget(self.formulas)

    def value(self, identifiers: tuple[str, ...]) -> Writing:
        """What is entered, with these columns left out."""
        return Writing(identifiers, self.seed.text().strip() or None, self.formulas.isChecked())


def _column(widget: QWidget) -> QVBoxLayout:
    column = QVBoxLayout(widget)
    column.setContentsMargins(0, 0, 0, 0)
    column.setSpacing(GRID)
    return column
