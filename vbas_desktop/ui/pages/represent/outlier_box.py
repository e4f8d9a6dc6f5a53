"""Being rid of the small classes of a file: how, and where the new file goes."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Signal, Slot
from PySide6.QtWidgets import QComboBox, QLabel, QPushButton, QVBoxLayout, QWidget

from vbas_desktop.assessment.representability.handling import Handling, handlings
from vbas_desktop.domain.errors import InputError
from vbas_desktop.ui.theme import GRID
from vbas_desktop.ui.widgets.fields import Field, clear, muted, title
from vbas_desktop.ui.widgets.file_dialogs import ask_to_save
from vbas_desktop.ui.widgets.parameters import ParameterField
from vbas_desktop.ui.widgets.record_options import WritingFields


class OutlierBox(QWidget):
    """`handling_wanted(Handling, Path)`: write the original without small classes to this file."""

    handling_wanted = Signal(object, Path)

    def __init__(self) -> None:
        super().__init__()
        self.how = QComboBox()
        for name, kind in handlings().items():
            self.how.addItem(kind.card.title, name)
        self.summary = muted()
        self.fields: dict[str, ParameterField] = {}
        self._form = QVBoxLayout()
        self._form.setSpacing(GRID)
        self.problem = QLabel()
        self.problem.setProperty("look", "error")
        self.problem.setWordWrap(True)
        self.problem.hide()
        self.writing = WritingFields()
        self.write = QPushButton("Handle and e&xport…")
        self.write.setToolTip("Write the original without classes below k; the new file becomes the anonymised one")
        column = QVBoxLayout(self)
        column.setContentsMargins(0, GRID, 0, 0)
        column.setSpacing(GRID)
        column.addWidget(title("Small classes of the original"))
        column.addWidget(Field("How", self.how, "What becomes of classes with fewer than k records"))
        column.addWidget(self.summary)
        column.addLayout(self._form)
        column.addWidget(self.writing)
        column.addWidget(self.problem)
        column.addWidget(self.write)
        self.how.currentIndexChanged.connect(self._on_how)
        self.write.clicked.connect(self._on_write)
        self._on_how()

    @property
    def kind(self) -> type[Handling]:
        """The way that is chosen."""
        return handlings()[self.how.currentData()]

    @Slot()
    def _on_how(self) -> None:
        self.summary.setText(self.kind.card.summary)
        clear(self._form)
        self.fields = {}
        for declared in self.kind.parameters():
            field = ParameterField(declared, self.kind.component, self.kind.card.name)
            field.show_value(declared.default)
            self.fields[declared.name] = field
            self._form.addWidget(field)
        self.problem.hide()

    def handling(self) -> Handling | None:
        """What is entered; None, with what is wrong beside it, if that cannot be."""
        try:
            made = self.kind.from_texts({name: field.value() for name, field in self.fields.items()})
        except InputError as error:
            self.problem.setText(str(error.findings[0]))
            self.problem.show()
            return None
        self.problem.hide()
        return made

    @Slot()
    def _on_write(self) -> None:
        if self.handling() is not None:
            suggested = Path(f"{self.kind.card.name}.csv")
            kinds = "Records (*.csv);;Parquet (*.parquet)"
            ask_to_save(self, "Write without small classes", kinds, suggested, self._on_target)

    def _on_target(self, chosen: str) -> None:
        made = self.handling()
        if made is not None:
            self.handling_wanted.emit(made, Path(chosen))
