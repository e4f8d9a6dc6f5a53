"""Records of a page: a file that is chosen or dropped, or the address of a dataset or table that is typed."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Signal, Slot
from PySide6.QtWidgets import QToolButton, QWidget

from vbas_desktop.io.databases.address import Address, parse_address
from vbas_desktop.model.findings import InputError

from ..core.theme import GRID, Theme
from ..widgets.dialog import CANCEL, OPEN, Dialog
from ..widgets.fields import hint_label, message_label
from ..widgets.file_field import FileField
from ..widgets.layouts import vbox, with_properties
from ..widgets.plain_text import set_tool_tip
from .open_data import RecordsField


class RecordsRow(FileField):
    """A row for a record file or an address; `chosen(Path)` tells both, an address as the path of its text."""

    def __init__(self, label: str, help: str, theme: Theme, clearable: bool = False) -> None:
        super().__init__(label, help, theme, clearable)
        tip = "A folder or pattern of files, or a table of DuckDB, PostgreSQL or Spark"
        name = f"Enter the address of {self._label.lower()}"
        # Optional, so it is reached by the tab key like the button that clears the row.
        self.address = with_properties(
            QToolButton(), text="Address…", autoRaise=True, toolTip=tip, accessibleName=name
        )
        self.address.clicked.connect(self._on_address)
        self._row.addWidget(self.address)

    def show_file(self, path: Path | None, facts: str = "") -> None:
        """Show a file or address and what was understood of it; None: neither."""
        super().show_file(path, facts)
        address = None if path is None else parse_address(path)
        if isinstance(address, Address):
            self.name.setText(address.name)
            set_tool_tip(self.name, str(address))

    @Slot()
    def _on_address(self) -> None:
        dialog = AddressDialog(self, self._label, self.path)
        dialog.chosen.connect(self.chosen)
        dialog.open()


class AddressDialog(Dialog):
    """Asks for the address of records: `chosen(Path)` once one is confirmed."""

    chosen = Signal(Path)

    def __init__(self, parent: QWidget, title: str, path: Path | None) -> None:
        super().__init__(parent, title, OPEN | CANCEL, (560, 0))
        self.records = RecordsField()
        self.reason = message_label(look="warning")
        note = hint_label(
            "A folder or pattern of Parquet or CSV files, file.duckdb#table, postgresql://user@host/database#table, "
            "spark-local:/folder or spark://host:port/folder. All records are read into memory."
        )
        vbox(
            self.records,
            note,
            self.reason,
            self.buttons,
            within=self,
            margins=2 * GRID,
            spacing=2 * GRID,
        )
        self.records.changed.connect(self._on_changed)
        self.records.set_path(path)
        self._on_changed()
        self.records.edit.setFocus()

    @Slot()
    def _on_changed(self) -> None:
        path = self.records.path
        reason = ""
        if path is not None:
            try:
                parse_address(self.records.text)
            except InputError as error:
                reason = f"{error.findings[0].message} {error.findings[0].remedy}"
        self.reason.setText(reason)
        self.buttons.button(OPEN).setEnabled(path is not None and not reason)

    def _on_accepted(self) -> None:
        self.chosen.emit(self.records.path)
