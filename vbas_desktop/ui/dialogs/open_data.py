"""Choosing what a session needs: two files, or a table of a database in place of the records."""

from __future__ import annotations

import threading
from pathlib import Path

from PySide6.QtCore import Qt, QUrl, Signal, Slot
from PySide6.QtWidgets import QLineEdit, QListWidget, QListWidgetItem, QWidget

from vbas_desktop.io.databases.address import record_place
from vbas_desktop.io.databases.listing import has_tables, tables_of, with_table
from vbas_desktop.model.errors import InputError
from vbas_desktop.model.names import escape_controls
from vbas_desktop.model.progress import Silent
from vbas_desktop.ui.theme import GRID
from vbas_desktop.ui.widgets.building import button, dress, in_column, in_row
from vbas_desktop.ui.widgets.dialog import CANCEL, OK, OPEN, Dialog
from vbas_desktop.ui.widgets.fields import muted, set_look, told
from vbas_desktop.ui.widgets.file_dialogs import RECORD_FILES, REGION_FILES, ask_for_folder, ask_to_open, typed_path
from vbas_desktop.ui.widgets.file_row import DropPlace
from vbas_desktop.ui.widgets.plain_text import Label, set_tool_tip

_GEOMETRY = {".geojson", ".gpkg", ".shp"}


class FileField(DropPlace):
    """A path with a Browse button; takes a dropped file. `changed` tells of every change.

    ``near`` is where browsing begins as long as nothing is entered.
    """

    changed = Signal()

    def __init__(self, label: str, kinds: str, browse_label: str) -> None:
        super().__init__()
        self._title, self._kinds = label.replace("&", ""), kinds
        self.near: Path | None = None
        # The field itself would insert a dropped file as text; the row takes it as a path.
        self.edit = dress(QLineEdit(), clearButtonEnabled=True, acceptDrops=False)
        self.edit.textChanged.connect(self._on_text_changed)
        self.dropped.connect(lambda path: self.edit.setText(str(path)))
        self._invite("Type or paste a path, drop a file here, or browse")
        caption = Label(label)
        caption.setBuddy(self.edit)
        browse = button(browse_label, self._on_browse, accessibleName=f"Browse for the {self._title.lower()}")
        self._row = in_row((self.edit, 1), browse)
        in_column(caption, self._row, within=self, margins=0, spacing=GRID // 2)

    def _invite(self, words: str) -> None:
        dress(self.edit, placeholderText=words, toolTip=words)

    @property
    def path(self) -> Path | None:
        """The path, if anything is entered; quotation marks and file:// that came along with it are taken off."""
        text = self.text
        return typed_path(text) if text else None

    @property
    def text(self) -> str:
        """What is entered, without what came along with it."""
        text = self.edit.text().strip().strip("\"'").strip()
        return QUrl(text).toLocalFile() if text.startswith("file://") else text

    def set_path(self, path: Path | None) -> None:
        """Show a path, or the address that it stands for."""
        self.edit.setText(str(record_place(path)) if path else "")

    @Slot()
    def _on_browse(self) -> None:
        start = self.path.parent if self.path is not None else self.near
        ask_to_open(self, f"Choose the {self._title.lower()}", self._kinds, start, self.edit.setText)

    @Slot(str)
    def _on_text_changed(self, text: str) -> None:
        # A long path is read in full where it has no room.
        set_tool_tip(self.edit, text or self.edit.placeholderText())
        self.changed.emit()


class RecordsField(FileField):
    """The same for records, which may also be a folder, or a table of a database."""

    def __init__(self) -> None:
        super().__init__("&Record file or address", RECORD_FILES, "&Browse…")
        folder = "A folder of Parquet or CSV files, read without loading them whole"
        self.folder = button("&Folder…", self._on_folder, folder)
        tables = "The tables of the DuckDB file or PostgreSQL server that is entered"
        self.tables = button("&Tables…", self._on_tables, tables)
        self._row.addWidget(self.folder)
        self._row.addWidget(self.tables)
        self._invite("A path, or an address such as postgresql://user@host/database")
        self.changed.connect(self._on_changed)
        self._on_changed()

    @Slot()
    def _on_changed(self) -> None:
        self.tables.setEnabled(has_tables(self.text))

    @Slot()
    def _on_folder(self) -> None:
        start = self.path.parent if self.path is not None else self.near
        ask_for_folder(self, "Choose the folder of the records", start, self.edit.setText)

    @Slot()
    def _on_tables(self) -> None:
        dialog = TablesDialog(self, self.text)
        dialog.chosen.connect(self.edit.setText)
        dialog.open()


class OpenDataDialog(Dialog):
    """Two file fields; `chosen(records, regions)` once both are confirmed."""

    chosen = Signal(Path, Path)

    def __init__(self, parent: QWidget, records: Path | None = None, regions: Path | None = None) -> None:
        super().__init__(parent, "Open data", OPEN | CANCEL, (660, 0))
        self.records = RecordsField()
        self.regions = FileField("Re&gion file", REGION_FILES, "Bro&wse…")
        self.reason = told()
        note = muted(
            "Records as CSV (also compressed) or Parquet, with one column that names the region; a folder or pattern "
            "of such files; or a table (file.duckdb#table, postgresql://user@host/database#table). Regions as CSV with "
            "coordinates, GeoJSON, GeoPackage or Shapefile. Delimiters, encoding and columns of coordinates are "
            "recognised; where that fails, say them in Input under “Reading options”."
        )
        parts = (self.records, self.regions, note, self.reason, self.buttons)
        in_column(*parts, within=self, margins=2 * GRID, spacing=2 * GRID)
        for field, path in ((self.records, records), (self.regions, regions)):
            field.changed.connect(self._on_changed)
            field.set_path(path)
        self._on_changed()
        (self.regions if records is not None and regions is None else self.records).edit.setFocus()

    @Slot()
    def _on_changed(self) -> None:
        records, regions = self.records.path, self.regions.path
        self.records.near, self.regions.near = regions and regions.parent, records and records.parent
        reason = why_not_open(records, regions)
        self.reason.setText(reason)
        set_look(self.reason, "warning" if records is not None and regions is not None else "muted")
        self.buttons.button(OPEN).setEnabled(not reason)

    def _on_accepted(self) -> None:
        self.chosen.emit(self.records.path, self.regions.path)


def why_not_open(records: Path | None, regions: Path | None) -> str:
    """What is missing or mixed up, as far as the names alone tell; empty if nothing is."""
    if records is None:
        return "Choose the file with the records, one line per person or event."
    if records.suffix.lower() in _GEOMETRY:
        return f"{records.name} holds shapes of regions: it belongs in the field “Region file”."
    if regions is None:
        return "Choose the file that says where the regions of these records are."
    try:
        record_place(records)
    except InputError as error:
        return f"{error.findings[0].message} {error.findings[0].remedy}"
    if records == regions:
        return "Both fields name the same file: records and regions come in a file each."
    return ""


class TablesDialog(Dialog):
    """The tables behind an address; `chosen` tells the address of one of them."""

    chosen = Signal(str)
    _answered = Signal(list, str)

    def __init__(self, parent: QWidget, address: str) -> None:
        super().__init__(parent, "Choose a table", OK | CANCEL, (460, 420))
        self._address = address
        self.password = dress(
            QLineEdit(),
            echoMode=QLineEdit.EchoMode.Password,
            placeholderText="Only if no password file has it; never stored",
            toolTip="Asked of the server once more with Connect; it is not kept",
        )
        self.connect_button = button("Co&nnect", self.ask)
        self.tables = dress(QListWidget(), accessibleName="Tables")
        self.tables.itemSelectionChanged.connect(self._on_selected)
        self.tables.itemDoubleClicked.connect(self.accept)
        self.state = told()
        caption = Label("&Password")
        caption.setBuddy(self.password)
        row = in_row((self.password, 1), self.connect_button)
        in_column(caption, row, self.state, self.tables, self.buttons, within=self, margins=2 * GRID, spacing=GRID)
        self._answered.connect(self._on_answered)
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
        for name in found:
            item = QListWidgetItem(escape_controls(name), self.tables)
            item.setData(Qt.ItemDataRole.UserRole, name)
        set_look(self.state, "warning" if wrong else "muted")
        self.state.setText(wrong or ("Choose the table with the records." if found else "There are no tables."))
        if found:
            self.tables.setCurrentRow(0)

    @Slot()
    def _on_selected(self) -> None:
        self.buttons.button(OK).setEnabled(bool(self.tables.selectedItems()))

    def _on_accepted(self) -> None:
        chosen = self.tables.currentItem()
        if chosen is not None:
            self.chosen.emit(with_table(self._address, chosen.data(Qt.ItemDataRole.UserRole)))
