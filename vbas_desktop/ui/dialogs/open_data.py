"""Choosing the two files that a session needs."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtGui import QDragEnterEvent, QDropEvent
from PySide6.QtWidgets import (
    QDialog,
    QDialogButtonBox,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from vbas_desktop.ui.theme import GRID

from .files import RECORD_FILES, REGION_FILES, ask_to_open


class FileField(QWidget):
    """A path with a Browse button; takes a dropped file. `changed` tells of every change."""

    changed = Signal()

    def __init__(self, label: str, kinds: str) -> None:
        super().__init__()
        self._title, self._kinds = label.replace("&", ""), kinds
        self.setAcceptDrops(True)
        self.edit = QLineEdit()
        self.edit.textChanged.connect(self.changed)
        self.edit.setClearButtonEnabled(True)
        # The field itself would insert a dropped file as text; the row takes it as a path.
        self.edit.setAcceptDrops(False)
        caption = QLabel(label)
        caption.setBuddy(self.edit)
        browse = QPushButton("Browse…")
        browse.setAccessibleName(f"Browse for the {self._title.lower()}")
        browse.clicked.connect(self._on_browse)
        row = QHBoxLayout()
        row.addWidget(self.edit, 1)
        row.addWidget(browse)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(GRID // 2)
        layout.addWidget(caption)
        layout.addLayout(row)

    @property
    def path(self) -> Path | None:
        """The path, if anything is entered."""
        text = self.edit.text().strip()
        return Path(text) if text else None

    def set_path(self, path: Path | None) -> None:
        """Show a path."""
        self.edit.setText(str(path) if path else "")

    @Slot()
    def _on_browse(self) -> None:
        ask_to_open(
            self, f"Choose the {self._title.lower()}", self._kinds, self.path and self.path.parent, self._on_chosen
        )

    def _on_chosen(self, path: str) -> None:
        self.edit.setText(path)

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        """Take one local file."""
        urls = event.mimeData().urls()
        if len(urls) == 1 and urls[0].isLocalFile():
            event.acceptProposedAction()

    def dropEvent(self, event: QDropEvent) -> None:
        """Show the dropped file's path."""
        self.edit.setText(event.mimeData().urls()[0].toLocalFile())
        event.acceptProposedAction()


class OpenDataDialog(QDialog):
    """Two file fields; `chosen(records, regions)` once both are confirmed."""

    chosen = Signal(Path, Path)

    def __init__(self, parent: QWidget, records: Path | None = None, regions: Path | None = None) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle("Open data")
        self.setMinimumWidth(560)
        self.records = FileField("&Record file", RECORD_FILES)
        self.regions = FileField("Re&gion file", REGION_FILES)
        self._buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Open | QDialogButtonBox.StandardButton.Cancel)
        note = QLabel(
            "Records as CSV (also compressed) or Parquet, with one column that names the region; regions as CSV, "
            "GeoJSON, GeoPackage or Shapefile."
        )
        note.setProperty("look", "muted")
        note.setWordWrap(True)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(2 * GRID, 2 * GRID, 2 * GRID, 2 * GRID)
        layout.setSpacing(2 * GRID)
        for widget in (self.records, self.regions, note, self._buttons):
            layout.addWidget(widget)
        self._buttons.accepted.connect(self.accept)
        self._buttons.rejected.connect(self.reject)
        self.accepted.connect(self._on_accepted)
        for field, path in ((self.records, records), (self.regions, regions)):
            field.changed.connect(self._on_changed)
            field.set_path(path)
        self._on_changed()

    @Slot()
    def _on_changed(self) -> None:
        both = self.records.path is not None and self.regions.path is not None
        self._buttons.button(QDialogButtonBox.StandardButton.Open).setEnabled(both)

    @Slot()
    def _on_accepted(self) -> None:
        self.chosen.emit(self.records.path, self.regions.path)
