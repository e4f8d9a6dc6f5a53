"""Recording a release as handed over: to whom, when, and a note to remember it by."""

from __future__ import annotations

from datetime import date
from pathlib import Path

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QLabel, QLineEdit, QVBoxLayout, QWidget

from vbas_desktop.jobs.ledger import RecordJob
from vbas_desktop.ui.theme import GRID
from vbas_desktop.ui.widgets.fields import Field, muted, set_look


class RecordDialog(QDialog):
    """`order_made(RecordJob)` when the user confirms."""

    order_made = Signal(object)

    def __init__(self, folder: Path, ledger: Path, audience: str, parent: QWidget) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle("Record as handed over")
        self.setMinimumWidth(480)
        self._folder, self._ledger = folder, ledger
        self.audience, self.date, self.note = QLineEdit(audience), QLineEdit(date.today().isoformat()), QLineEdit()
        self.problem = QLabel()
        self.problem.setProperty("look", "muted")
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Cancel)
        self.record = buttons.addButton("&Record", QDialogButtonBox.ButtonRole.AcceptRole)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(2 * GRID, 2 * GRID, 2 * GRID, 2 * GRID)
        layout.setSpacing(GRID)
        layout.addWidget(Field("A&udience", self.audience, "Who got it. “public” is everybody"))
        layout.addWidget(Field("&Date", self.date, "As 2026-05-31"))
        layout.addWidget(Field("&Note", self.note, "A note to remember it by"))
        told = "Later exports from these records are compared with it. The ledger holds no value of any record:"
        layout.addWidget(muted(f"{told} {ledger}"))
        layout.addWidget(self.problem)
        layout.addWidget(buttons)
        buttons.accepted.connect(self._on_accepted)
        buttons.rejected.connect(self.reject)
        for field in (self.audience, self.date):
            field.textChanged.connect(self._on_changed)
        self._on_changed()

    def _what_is_wrong(self) -> str:
        if not self.audience.text().strip():
            return "Say who got it."
        try:
            date.fromisoformat(self.date.text().strip())
        except ValueError:
            return "Write the date as 2026-05-31."
        return ""

    @Slot()
    def _on_changed(self) -> None:
        wrong = self._what_is_wrong()
        self.problem.setText(wrong)
        # Nobody has done anything wrong who has not yet said anything.
        set_look(self.problem, "error" if wrong and self.audience.text().strip() else "muted")
        self.record.setEnabled(not wrong)

    @Slot()
    def _on_accepted(self) -> None:
        self.order_made.emit(
            RecordJob(
                self._folder, self._ledger, self.audience.text(), self.date.text().strip(), self.note.text().strip()
            )
        )
        self.accept()
