"""What must hold: k, suppression, sensitive values, and what happens to records of unknown regions."""

from __future__ import annotations

from PySide6.QtCore import Qt, Slot
from PySide6.QtWidgets import QCheckBox, QComboBox, QHBoxLayout, QPushButton, QSpinBox, QVBoxLayout, QWidget

from vbas_desktop.domain.criteria import Sensitive
from vbas_desktop.domain.records import ColumnFacts
from vbas_desktop.session.ready import why_not_k
from vbas_desktop.session.session import Session
from vbas_desktop.settings.declaration import setting_of
from vbas_desktop.settings.run import Protection
from vbas_desktop.ui.dialogs.sensitive import SensitiveDialog
from vbas_desktop.ui.theme import GRID
from vbas_desktop.ui.widgets.fields import muted, setting_field, title

_K, _UNKNOWN, _SUPPRESSION = (setting_of(Protection, name) for name in ("k", "unknown_regions", "global_suppression"))


class PrivacySection(QWidget):
    """k, unknown regions, global suppression, criteria for sensitive values."""

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
        self.sensitive, self.told = QPushButton("Sensitive values…"), muted()
        self.sensitive.setToolTip("What released classes may tell of columns that must not be learned of a person")
        self.sensitive.clicked.connect(self.open_sensitive)
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
        for widget in (self.suppression, self.told, self.sensitive):
            layout.addWidget(widget)

    def refresh(self) -> None:
        """Show what is chosen."""
        chosen = self._session.choices
        self.k.setValue(chosen.k)
        self.k_field.say(why_not_k(self._session.table, chosen.k) or "")
        self.unknown.setCurrentIndex(self.unknown.findData(chosen.unknown_regions))
        self.suppression.setChecked(chosen.global_suppression)
        columns = self._usable()
        for widget in (self.sensitive, self.told):
            widget.setVisible(bool(columns))
        self.told.setText("Sensitive: " + "; ".join(_in_words(each) for _, each in columns) + ".")

    def _usable(self) -> list[tuple[ColumnFacts, Sensitive]]:
        """The sensitive columns that have few enough values to be judged."""
        table = self._session.table
        if table is None:
            return []
        known = {facts.name: facts for facts in table.columns}
        chosen = [
            (known[each.column], each) for each in self._session.choices.sensitive_columns if each.column in known
        ]
        return [(facts, each) for facts, each in chosen if facts.categories is not None]

    @Slot()
    def open_sensitive(self) -> None:
        """Ask what must hold for sensitive values."""
        dialog = SensitiveDialog(self._usable(), self.window())
        dialog.chosen.connect(self._on_sensitive)
        dialog.open()

    @Slot(object)
    def _on_sensitive(self, chosen: Sensitive) -> None:
        self._session.change(self._session.choices.with_sensitive(chosen))

    @Slot(int)
    def _on_k(self, value: int) -> None:
        self._session.change_fields("k", k=value)

    @Slot(int)
    def _on_unknown(self, index: int) -> None:
        self._session.change_fields(unknown_regions=self.unknown.itemData(index))

    @Slot(bool)
    def _on_suppression(self, checked: bool) -> None:
        self._session.change_fields(global_suppression=checked)


def _in_words(chosen: Sensitive) -> str:
    """A sensitive column and what is asked of it, in a few words."""
    demands = " and ".join(each.in_words for each in chosen.criteria) or "report only"
    benign = (
        f"; benign: {', '.join(chosen.benign[:3])}{' …' if len(chosen.benign) > 3 else ''}" if chosen.benign else ""
    )
    return f"{chosen.column} ({demands}{benign})"
