"""What must hold: k, suppression, and what happens to records of unknown regions."""

from __future__ import annotations

from PySide6.QtCore import Qt, Slot
from PySide6.QtWidgets import QCheckBox, QComboBox, QHBoxLayout, QSpinBox, QVBoxLayout, QWidget

from vbas_desktop.session.ready import why_not_k
from vbas_desktop.session.session import Session
from vbas_desktop.ui.theme import GRID

from .fields import Field, title

_UNKNOWN = {"Stop and list them": "stop", "Suppress them": "suppress"}


class PrivacySection(QWidget):
    """k, unknown regions, global suppression."""

    def __init__(self, session: Session) -> None:
        super().__init__()
        self._session = session
        self.k = QSpinBox()
        self.k.setRange(1, 1_000_000)
        self.k.valueChanged.connect(self._on_k)
        self.unknown = QComboBox()
        for text, value in _UNKNOWN.items():
            self.unknown.addItem(text, value)
        self.unknown.activated.connect(self._on_unknown)
        self.suppression = QCheckBox("&Drop combinations rarer than k everywhere first")
        self.suppression.setToolTip(
            "They could not be released in any region; without them the rest needs less merging"
        )
        self.suppression.clicked.connect(self._on_suppression)
        top = Qt.AlignmentFlag.AlignTop
        row = QHBoxLayout()
        row.setSpacing(2 * GRID)
        self.k_field = Field("&k (smallest group)", self.k, "Every released combination occurs at least k times")
        row.addWidget(self.k_field, 1, top)
        row.addWidget(
            Field("Records of unkno&wn regions", self.unknown, "Their region is not in the region file"), 1, top
        )
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
