"""Records of a page: a file that is chosen or dropped, or the address of a dataset or table that is typed."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Signal, Slot
from PySide6.QtWidgets import QToolButton, QWidget

from vbas_desktop.io.databases.address import Address, record_place
from vbas_desktop.model.errors import InputError
from vbas_desktop.ui.theme import GRID, Theme
from vbas_desktop.ui.widgets.building import dress, in_column
from vbas_desktop.ui.widgets.dialog import CANCEL, OPEN, Dialog
from vbas_desktop.ui.widgets.fields import muted, told
from vbas_desktop.ui.widgets.file_row import FileRow
from vbas_desktop.ui.widgets.plain_text import set_tool_tip

from .open_data import RecordsField


class RecordsRow(FileRow):
    """A row for a record file or an address; `chosen(Path)` tells both, an address as the path of its text."""

    def __init__(self, label: str, help: str, theme: Theme, clearable: bool = False) -> None:
        super().__init__(label, help, theme, clearable)
        tip = "A folder or pattern of files, or a table of DuckDB, PostgreSQL or Spark"
        name = f"Enter the address of {self._label.lower()}"
        # Optional, so it is reached by the tab key like the button that clears the row.
        self.address = dress(QToolButton(), text="Address…", autoRaise=True, toolTip=tip, accessibleName=name)
        self.address.clicked.connect(self._on_address)
        self._row.addWidget(self.address)

    def show_file(self, path: Path | None, facts: str = "") -> None:
        """Show a file or address and what was understood of it; None: neither."""
        super().show_file(path, facts)
        place = None if path is None else record_place(path)
        if isinstance(place, Address):
            self.name.setText(place.name)
            set_tool_tip(self.name, str(place))

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
        self.reason = told(look="warning")
        note = muted(
            "A folder or pattern of Parquet or CSV files, file.duckdb#table, postgresql://user@host/database#table, "
            "spark-local:/folder or spark://host:port/folder. All records are read into memory."
        )
        in_column(self.records, note, self.reason, self.buttons, within=self, margins=2 * GRID, spacing=2 * GRID)
        self.records.changed.connect(self._on_changed)
        self.records.set_path(path)
        self._on_changed()
        self.records.edit.setFocus()

    @Slot()
    def _on_changed(self) -> None:
        path, reason = self.records.path, ""
        if path is not None:
            try:
                record_place(self.records.text)
            except InputError as error:
                reason = f"{error.findings[0].message} {error.findings[0].remedy}"
        self.reason.setText(reason)
        self.buttons.button(OPEN).setEnabled(path is not None and not reason)

    def _on_accepted(self) -> None:
        self.chosen.emit(self.records.path)
