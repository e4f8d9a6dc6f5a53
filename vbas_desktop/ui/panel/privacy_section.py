"""What must hold: k, suppression, and what happens to records of unknown regions."""

from __future__ import annotations

from PySide6.QtCore import Qt, Slot
from PySide6.QtWidgets import QCheckBox, QComboBox, QHBoxLayout, QSpinBox, QVBoxLayout, QWidget

from vbas_desktop.session.ready import why_not_k
from vbas_desktop.session.session import Session
from vbas_desktop.settings.declaration import setting_of
from vbas_desktop.settings.run import Protection
from vbas_desktop.ui.theme import GRID
from vbas_desktop.ui.widgets.fields import setting_field, title

_K, _UNKNOWN, _SUPPRESSION = (setting_of(Protection, name) for name in ("k", "unknown_regions", "global_suppression"))


class PrivacySection(QWidget):
    """k, unknown regions, global suppression."""

    def __init__(self, session: Session) -> None:
        super().__init__()
        self._session = session
        self.k = QSpinBox()
        self.k.setRange(1, 1_000_000)
        self.k.valueChanged.connect(self._on_k)
        self.unknown = QComboBox()
        for value, text in _UNKNOWN.titles.items():
            self.unknown.addItem(text, value)
        self.unknown.activated.connect(self._on_unknown)
        self.suppression = QCheckBox(_SUPPRESSION.label)
        self.suppression.setToolTip(_SUPPRESSION.help)
        self.suppression.clicked.connect(self._on_suppression)
        top = Qt.AlignmentFlag.AlignTop
        row = QHBoxLayout()
        row.setSpacing(2 * GRID)
        self.k_field = setting_field(_K, self.k)
        row.addWidget(self.k_field, 1, top)
        row.addWidget(setting_field(_UNKNOWN, self.unknown), 1, top)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(GRID // 2)
        layout.addWidget(title("Protection"))
        layout.addLayout(row)
        layout.addWidget(self.suppression)

    def refresh(self) -> None:
        """Show what is chosen."""
        chosen = self._session.choices
        self.k.setValue(chosen.k)
        self.k_field.say(why_not_k(self._session.table, chosen.k) or "")
        self.unknown.setCurrentIndex(self.unknown.findData(chosen.unknown_regions))
        self.suppression.setChecked(chosen.global_suppression)

    @Slot(int)
    def _on_k(self, value: int) -> None:
        self._session.change_fields("k", k=value)

    @Slot(int)
    def _on_unknown(self, index: int) -> None:
        self._session.change_fields(unknown_regions=self.unknown.itemData(index))

    @Slot(bool)
    def _on_suppression(self, checked: bool) -> None:
        self._session.change_fields(global_suppression=checked)
