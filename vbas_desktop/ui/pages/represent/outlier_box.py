"""Being rid of the small classes of a file: how, and where the new file goes."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Signal, Slot
from PySide6.QtWidgets import QComboBox, QPushButton, QVBoxLayout, QWidget

from vbas_desktop.assessment.representability.handling import handlings
from vbas_desktop.ui.dialogs.files import ask_to_save
from vbas_desktop.ui.panel.fields import Field, muted, title
from vbas_desktop.ui.theme import GRID


class OutlierBox(QWidget):
    """`handling_wanted(name, Path)`: write the original without small classes to this file."""

    handling_wanted = Signal(str, Path)

    def __init__(self) -> None:
        super().__init__()
        self.how = QComboBox()
        for name, kind in handlings().items():
            self.how.addItem(kind.card.title, name)
        self.summary = muted()
        self.write = QPushButton("Handle and write…")
        self.write.setToolTip("Write the original without classes below k; the new file becomes the anonymised one")
        column = QVBoxLayout(self)
        column.setContentsMargins(0, GRID, 0, 0)
        column.setSpacing(GRID)
        column.addWidget(title("Small classes of the original"))
        column.addWidget(Field("How", self.how, "What becomes of classes with fewer than k records"))
        column.addWidget(self.summary)
        column.addWidget(self.write)
        self.how.currentIndexChanged.connect(self._on_how)
        self.write.clicked.connect(self._on_write)
        self._on_how()

    @Slot()
    def _on_how(self) -> None:
        self.summary.setText(handlings()[self.how.currentData()].card.summary)

    @Slot()
    def _on_write(self) -> None:
        suggested = Path(f"{self.how.currentData()}.csv")
        ask_to_save(self, "Write without small classes", "Records (*.csv)", suggested, self._on_target)

    def _on_target(self, chosen: str) -> None:
        self.handling_wanted.emit(self.how.currentData(), Path(chosen))
