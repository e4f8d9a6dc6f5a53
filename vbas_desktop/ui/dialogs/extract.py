"""Some columns of a release that was handed over, written once more: which of them, for whom, and where to."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtWidgets import (
    QDialog,
    QDialogButtonBox,
    QLabel,
    QLineEdit,
    QListWidget,
    QListWidgetItem,
    QWidget,
)

from vbas_desktop.jobs.release import ExportJob
from vbas_desktop.release.ledger import Entry, extract_columns
from vbas_desktop.settings.writing import HandingOver
from vbas_desktop.ui.theme import GRID
from vbas_desktop.ui.widgets.building import in_column
from vbas_desktop.ui.widgets.fields import Field, muted

_LONGEST = 9
"""Columns that are shown without scrolling."""


class ExtractDialog(QDialog):
    """`order_made(ExportJob)` when the user confirms."""

    order_made = Signal(object)

    def __init__(self, entry: Entry, ledger: Path, audience: str, parent: QWidget) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle("Only columns of a release")
        self.setMinimumWidth(480)
        self._entry, self._ledger = entry, ledger
        self.columns, self.problem = QListWidget(), muted()
        for name in entry.columns:
            item = QListWidgetItem(name, self.columns)
            item.setCheckState(Qt.CheckState.Checked)
            if name == entry.region_column:
                # Without its places it would be no part of that release.
                item.setFlags(item.flags() & ~Qt.ItemFlag.ItemIsEnabled)
        row = max(self.columns.sizeHintForRow(0), GRID)
        self.columns.setFixedHeight(row * min(_LONGEST, self.columns.count()) + 2 * self.columns.frameWidth() + GRID)
        self.audience = QLineEdit(audience or entry.audience)
        self.audience.setPlaceholderText("anybody")
        self.target = QLineEdit(f"{entry.folder}-columns")
        self._buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Cancel)
        self.export = self._buttons.addButton("&Export", QDialogButtonBox.ButtonRole.AcceptRole)
        self._build()
        self._buttons.accepted.connect(self._on_accepted)
        self._buttons.rejected.connect(self.reject)
        self.columns.itemChanged.connect(self._on_changed)
        self.target.textChanged.connect(self._on_changed)
        self._on_changed()

    def _build(self) -> None:
        told = QLabel(
            f"What was handed over as {self._entry.title} is written once more with fewer columns. Whoever has it "
            "learns nothing new."
        )
        told.setWordWrap(True)
        in_column(
            told,
            Field("&Columns", self.columns, "Those that are ticked are released"),
            Field("A&udience", self.audience, "Who gets it. “public” is everybody"),
            Field("&Target folder", self.target, "A new folder for the release"),
            self.problem,
            self._buttons,
            within=self,
            margins=2 * GRID,
            spacing=GRID,
        )

    @property
    def kept(self) -> list[str]:
        """The columns that are ticked."""
        items = map(self.columns.item, range(self.columns.count()))
        return [item.text() for item in items if item.checkState() == Qt.CheckState.Checked]

    @Slot()
    def _on_changed(self) -> None:
        wrong = "" if self.target.text().strip() else "Choose a target folder."
        if len(self.kept) == len(self._entry.columns):
            wrong = "Untick what shall be left out; with all columns it would be the same release."
        self.problem.setText(wrong)
        self.export.setEnabled(not wrong)

    @Slot()
    def _on_accepted(self) -> None:
        self.order_made.emit(
            ExportJob(
                Path(self._entry.folder),
                Path(self.target.text().strip()).expanduser(),
                changes={"columns": list(extract_columns(self._entry, self.kept))},
                handing=HandingOver(str(self._ledger), self.audience.text().strip() or None),
            )
        )
        self.accept()
