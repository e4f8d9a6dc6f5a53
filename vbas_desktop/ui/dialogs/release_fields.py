"""Further columns of a release: a random key of each record."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import Signal, Slot
from PySide6.QtWidgets import QCheckBox, QLineEdit, QWidget

from vbas_desktop.settings.declaration import setting_of
from vbas_desktop.settings.release import RECORD_KEY, ReleaseOptions
from vbas_desktop.ui.theme import GRID
from vbas_desktop.ui.widgets.building import dress, in_column, in_row
from vbas_desktop.ui.widgets.plain_text import set_tool_tip


class ReleaseFields(QWidget):
    """`changed` when something else is chosen."""

    changed = Signal()

    def __init__(self) -> None:
        super().__init__()
        declared = setting_of(ReleaseOptions, "record_key")
        self.has_key = QCheckBox(declared.label)
        set_tool_tip(self.has_key, declared.help)
        self.key_name = dress(QLineEdit(RECORD_KEY), accessibleName="Name of the column of keys", enabled=False)
        in_column(in_row((self.has_key, 1), self.key_name), within=self, spacing=GRID)
        self.has_key.toggled.connect(self._on_changed)
        self.key_name.textChanged.connect(self._on_changed)

    @Slot()
    def _on_changed(self) -> None:
        self.key_name.setEnabled(self.has_key.isChecked())
        self.changed.emit()

    def values(self) -> dict[str, Any]:
        """Return what is chosen, by the names of the options of a release."""
        return {"record_key": self.key_name.text().strip() if self.has_key.isChecked() else None}

    def take_up(self, options: ReleaseOptions) -> None:
        """Show the choices of an earlier order."""
        self.key_name.setText(options.record_key or RECORD_KEY)
        self.has_key.setChecked(options.record_key is not None)
