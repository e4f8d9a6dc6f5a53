"""Fields of what is written besides: a random key of each record, and sensitive values as one value per class."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from PySide6.QtCore import Signal, Slot
from PySide6.QtWidgets import QCheckBox, QComboBox, QLineEdit, QWidget

from vbas_desktop.settings.declaration import Settings, setting_of
from vbas_desktop.settings.forms import names_in
from vbas_desktop.settings.release import ReleaseOptions
from vbas_desktop.settings.writing import RECORD_KEY, USUAL_AGGREGATION
from vbas_desktop.ui.theme import GRID
from vbas_desktop.ui.widgets.building import dress, in_column, in_row, offer
from vbas_desktop.ui.widgets.fields import setting_field
from vbas_desktop.ui.widgets.names_edit import NamesEdit
from vbas_desktop.ui.widgets.plain_text import set_tool_tip

_CLASSES = (("Classes of fewer than 10 records", USUAL_AGGREGATION), ("All classes", "all"))


class ReleaseFields(QWidget):
    """`changed` when something else is chosen. ``sensitive`` columns are suggested for aggregation.

    ``settings`` declares them; ``is_narrow``: the fields are one below the other.
    """

    changed = Signal()

    def __init__(
        self, sensitive: Sequence[str] = (), settings: type[Settings] = ReleaseOptions, is_narrow: bool = False
    ) -> None:
        super().__init__()
        declared = setting_of(settings, "record_key")
        self.has_key = QCheckBox(declared.label)
        set_tool_tip(self.has_key, declared.help)
        self.key_name = dress(QLineEdit(RECORD_KEY), accessibleName="Name of the column of keys", enabled=False)
        set_tool_tip(self.key_name, declared.help)
        suggested = ", ".join(sensitive)
        self.aggregate = dress(NamesEdit(), placeholderText=f"none (such as {suggested})" if suggested else "none")
        self.classes = QComboBox()
        offer(self.classes, _CLASSES)
        aggregate = setting_field(setting_of(settings, "aggregate"), self.aggregate)
        classes = setting_field(setting_of(settings, "aggregate_classes"), self.classes)
        keys = (self.has_key, self.key_name)
        values = (aggregate, classes)
        rows = (*keys, *values) if is_narrow else (in_row((keys[0], 1), keys[1]), in_row((values[0], 1), values[1]))
        in_column(*rows, within=self, margins=(0, 0, 0, 0), spacing=GRID)
        self.has_key.toggled.connect(self._on_changed)
        self.key_name.textChanged.connect(self._on_changed)
        self.aggregate.textChanged.connect(self._on_changed)
        self.classes.currentIndexChanged.connect(self._on_changed)
        self.classes.setEnabled(False)

    @Slot()
    def _on_changed(self) -> None:
        self.key_name.setEnabled(self.has_key.isChecked())
        self.classes.setEnabled(bool(self.aggregate.text().strip()))
        self.changed.emit()

    def values(self) -> dict[str, Any]:
        """Return what is chosen, by the names of the options of a release."""
        columns = [name for name in names_in(self.aggregate.text()) if name]
        return {
            "record_key": self.key_name.text().strip() if self.has_key.isChecked() else None,
            "aggregate": tuple(dict.fromkeys(columns)),
            "aggregate_classes": self.classes.currentData(),
        }

    def take_up(self, options: ReleaseOptions) -> None:
        """Show the choices of an earlier order."""
        self.key_name.setText(options.record_key or RECORD_KEY)
        self.has_key.setChecked(options.record_key is not None)
        self.aggregate.setText(setting_of(ReleaseOptions, "aggregate").form.text(options.aggregate))
        self.classes.setCurrentIndex(max(0, self.classes.findData(options.aggregate_classes)))
