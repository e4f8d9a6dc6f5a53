"""Choosing what a state needs: two files, or a table of a database in place of the records."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from PySide6.QtCore import Qt, QUrl, Signal, Slot
from PySide6.QtWidgets import QLineEdit, QListWidget, QListWidgetItem, QWidget

from vbas_desktop.io.databases.address import parse_address
from vbas_desktop.io.databases.listing import list_tables, names_database, table_address
from vbas_desktop.model.findings import InputError
from vbas_desktop.model.progress import Progress
from vbas_desktop.model.text import escape_controls

from ..core.theme import GRID
from ..core.worker import Worker
from ..presentation.messages import TaskFailure
from ..widgets.dialog import CANCEL, OK, OPEN, Dialog
from ..widgets.fields import hint_label, message_label, set_variant
from ..widgets.file_dialogs import (
    RECORD_FILES,
    REGION_FILES,
    ask_for_folder,
    ask_to_open,
    parse_typed_path,
)
from ..widgets.file_field import FileDropTarget
from ..widgets.layouts import button, hbox, vbox, with_properties
from ..widgets.plain_text import Label, set_tool_tip

_GEOMETRY = {".geojson", ".gpkg", ".shp"}


class FileField(FileDropTarget):
    """A path with a Browse button; takes a dropped file. `changed` tells of every change.

    ``near`` is where browsing begins as long as nothing is entered.
    """

    changed = Signal()

    def __init__(self, label: str, kinds: str, browse_label: str) -> None:
        super().__init__()
        self._title = label.replace("&", "")
        self._kinds = kinds
        self.near: Path | None = None
        # The field itself would insert a dropped file as text; the row takes it as a path.
        self.edit = with_properties(QLineEdit(), clearButtonEnabled=True, acceptDrops=False)
        self.edit.textChanged.connect(self._on_text_changed)
        self.dropped.connect(lambda path: self.edit.setText(str(path)))
        self._invite("Type or paste a path, drop a file here, or browse")
        caption = Label(label)
        caption.setBuddy(self.edit)
        browse = button(
            browse_label, self._on_browse, accessibleName=f"Browse for the {self._title.lower()}"
        )
        self._row = hbox((self.edit, 1), browse)
        vbox(caption, self._row, within=self, margins=0, spacing=GRID // 2)

    def _invite(self, words: str) -> None:
        with_properties(self.edit, placeholderText=words, toolTip=words)

    @property
    def path(self) -> Path | None:
        """The path, if anything is entered; quotation marks and file:// that came along with it are taken off."""
        text = self.text
        return parse_typed_path(text) if text else None

    @property
    def text(self) -> str:
        """Return the entered path without surrounding characters."""
        text = self.edit.text().strip().strip("\"'").strip()
        return QUrl(text).toLocalFile() if text.startswith("file://") else text

    def set_path(self, path: Path | None) -> None:
        """Show a path, or the address that it stands for."""
        self.edit.setText(str(parse_address(path)) if path else "")

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
    """Field for records: a file, a folder, or a table of a database."""

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
        self.tables.setEnabled(names_database(self.text))

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

    def __init__(
        self, parent: QWidget, records: Path | None = None, regions: Path | None = None
    ) -> None:
        super().__init__(parent, "Open data", OPEN | CANCEL, (660, 0))
        self.records = RecordsField()
        self.regions = FileField("Re&gion file", REGION_FILES, "Bro&wse…")
        self.reason = message_label()
        note = hint_label(
            "Records as CSV (also compressed) or Parquet, with one column that names the region; a folder or pattern "
            "of such files; or a table (file.duckdb#table, postgresql://user@host/database#table). Regions as CSV with "
            "coordinates, GeoJSON, GeoPackage or Shapefile. Delimiters, encoding and columns of coordinates are "
            "recognised; where that fails, set them in Input under “Files and reading options”."
        )
        parts = (self.records, self.regions, note, self.reason, self.buttons)
        vbox(*parts, within=self, margins=2 * GRID, spacing=2 * GRID)
        for field, path in ((self.records, records), (self.regions, regions)):
            field.changed.connect(self._on_changed)
            field.set_path(path)
        self._on_changed()
        (self.regions if records is not None and regions is None else self.records).edit.setFocus()

    @Slot()
    def _on_changed(self) -> None:
        records = self.records.path
        regions = self.regions.path
        self.records.near = regions and regions.parent
        self.regions.near = records and records.parent
        reason = why_not_open(records, regions)
        self.reason.setText(reason)
        set_variant(self.reason, "warning" if records is not None and regions is not None else "muted")
        self.buttons.button(OPEN).setEnabled(not reason)

    def _on_accepted(self) -> None:
        self.chosen.emit(self.records.path, self.regions.path)


def why_not_open(records: Path | None, regions: Path | None) -> str:
    """Explain what is missing or mixed up, judged by the names alone; empty if nothing is."""
    if records is None:
        return "Choose the file with the records, one line per person or event."
    if records.suffix.lower() in _GEOMETRY:
        return f"{records.name} holds shapes of regions: it belongs in the field “Region file”."
    if regions is None:
        return "Choose the file that says where the regions of these records are."
    try:
        parse_address(records)
    except InputError as error:
        return f"{error.findings[0].message} {error.findings[0].remedy}"
    if records == regions:
        return "Both fields name the same file: records and regions come in a file each."
    return ""


class TablesDialog(Dialog):
    """The tables behind an address; `chosen` tells the address of one of them."""

    chosen = Signal(str)

    def __init__(self, parent: QWidget, address: str) -> None:
        super().__init__(parent, "Choose a table", OK | CANCEL, (460, 420))
        self._address = address
        self._worker = Worker(self)
        self.password = with_properties(
            QLineEdit(),
            echoMode=QLineEdit.EchoMode.Password,
            placeholderText="Only if no password file has it; never stored",
            toolTip="Asked of the server once more with Connect; it is not kept",
        )
        self.connect_button = button("Co&nnect", self.ask)
        self.tables = with_properties(QListWidget(), accessibleName="Tables")
        self.tables.itemSelectionChanged.connect(self._on_selected)
        self.tables.itemDoubleClicked.connect(self.accept)
        self.state = message_label()
        caption = Label("&Password")
        caption.setBuddy(self.password)
        row = hbox((self.password, 1), self.connect_button)
        vbox(
            caption,
            row,
            self.state,
            self.tables,
            self.buttons,
            within=self,
            margins=2 * GRID,
            spacing=GRID,
        )
        self._on_selected()
        self.ask()

    @Slot()
    def ask(self) -> None:
        """Ask for the tables, in the background."""
        self.connect_button.setEnabled(False)
        set_variant(self.state, "muted")
        self.state.setText("Connecting…")
        job = partial(_list_tables, self._address, self.password.text() or None)
        self._worker.start("Connecting", job, self._on_listed, on_failure=self._on_failed)

    def _on_listed(self, tables: list[str]) -> None:
        self.tables.clear()
        for name in tables:
            item = QListWidgetItem(escape_controls(name), self.tables)
            item.setData(Qt.ItemDataRole.UserRole, name)
        if tables:
            self.tables.setCurrentRow(0)
        self._show_state(
            "Choose the table with the records." if tables else "There are no tables.", "muted"
        )

    def _on_failed(self, failure: TaskFailure) -> None:
        self.tables.clear()
        self._show_state(failure.message, "warning")

    def _show_state(self, text: str, variant: str) -> None:
        self.connect_button.setEnabled(True)
        set_variant(self.state, variant)
        self.state.setText(text)

    def done(self, result: int) -> None:
        """Let the thread go when the dialog closes."""
        self._worker.shut_down()
        super().done(result)

    @Slot()
    def _on_selected(self) -> None:
        self.buttons.button(OK).setEnabled(bool(self.tables.selectedItems()))

    def _on_accepted(self) -> None:
        chosen = self.tables.currentItem()
        if chosen is not None:
            self.chosen.emit(table_address(self._address, chosen.data(Qt.ItemDataRole.UserRole)))


def _list_tables(address: str, password: str | None, progress: Progress) -> list[str]:
    return list_tables(address, progress, password)
