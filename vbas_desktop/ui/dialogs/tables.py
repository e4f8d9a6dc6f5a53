"""Choosing a table of a database; the window goes on while the server is asked."""

from __future__ import annotations

import threading

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtWidgets import (
    QDialog,
    QDialogButtonBox,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QListWidget,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from vbas_desktop.domain.errors import InputError
from vbas_desktop.domain.progress import Silent
from vbas_desktop.sources.listing import tables_of, with_table
from vbas_desktop.ui.theme import GRID
from vbas_desktop.ui.widgets.fields import set_look


class TablesDialog(QDialog):
    """The tables behind an address; `chosen` tells the address of one of them."""

    chosen = Signal(str)
    _answered = Signal(list, str)

    def __init__(self, parent: QWidget, address: str) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle("Choose a table")
        self.setMinimumSize(460, 420)
        self._address = address
        self.password = QLineEdit()
        self.password.setEchoMode(QLineEdit.EchoMode.Password)
        self.password.setPlaceholderText("Only if no password file has it; never stored")
        self.password.setToolTip("Asked of the server once more with Connect; it is not kept")
        self.connect_button = QPushButton("Co&nnect")
        self.connect_button.clicked.connect(self.ask)
        self.tables = QListWidget()
        self.tables.setAccessibleName("Tables")
        self.tables.itemSelectionChanged.connect(self._on_selected)
        self.tables.itemDoubleClicked.connect(self.accept)
        self.state = QLabel()
        self.state.setWordWrap(True)
        self._buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Ok | QDialogButtonBox.StandardButton.Cancel)
        self._buttons.accepted.connect(self.accept)
        self._buttons.rejected.connect(self.reject)
        caption = QLabel("&Password")
        caption.setBuddy(self.password)
        row = QHBoxLayout()
        row.addWidget(self.password, 1)
        row.addWidget(self.connect_button)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(2 * GRID, 2 * GRID, 2 * GRID, 2 * GRID)
        layout.setSpacing(GRID)
        layout.addWidget(caption)
        layout.addLayout(row)
        for widget in (self.state, self.tables, self._buttons):
            layout.addWidget(widget)
        self._answered.connect(self._on_answered)
        self.accepted.connect(self._on_accepted)
        self._on_selected()
        self.ask()

    @Slot()
    def ask(self) -> None:
        """Ask for the tables, in a thread of its own."""
        self.connect_button.setEnabled(False)
        set_look(self.state, "muted")
        self.state.setText("Connecting…")
        arguments = (self._address, self.password.text() or None)
        threading.Thread(target=self._look, args=arguments, name="vbas-tables", daemon=True).start()

    def _look(self, address: str, password: str | None) -> None:
        try:
            found, wrong = tables_of(address, Silent(), password), ""
        except InputError as error:
            found, wrong = [], " ".join(f"{each.message} {each.remedy}".strip() for each in error.findings)
        try:
            self._answered.emit(found, wrong)
        except RuntimeError:
            # The dialog was closed before the server answered.
            return

    @Slot(list, str)
    def _on_answered(self, found: list[str], wrong: str) -> None:
        self.connect_button.setEnabled(True)
        self.tables.clear()
        self.tables.addItems(found)
        set_look(self.state, "warning" if wrong else "muted")
        self.state.setText(wrong or ("Choose the table with the records." if found else "There are no tables."))
        if found:
            self.tables.setCurrentRow(0)

    @Slot()
    def _on_selected(self) -> None:
        self._buttons.button(QDialogButtonBox.StandardButton.Ok).setEnabled(bool(self.tables.selectedItems()))

    @Slot()
    def _on_accepted(self) -> None:
        chosen = self.tables.currentItem()
        if chosen is not None:
            self.chosen.emit(with_table(self._address, chosen.text()))
