"""What must hold: k, suppression, sensitive values, and what happens to records of unknown regions."""

from __future__ import annotations

from PySide6.QtCore import Qt, Slot
from PySide6.QtWidgets import QCheckBox, QComboBox, QPushButton, QSpinBox, QWidget

from vbas_desktop.model.criteria import Sensitive
from vbas_desktop.model.records import ColumnFacts
from vbas_desktop.session.results import why_not_k
from vbas_desktop.session.session import Session
from vbas_desktop.settings.declaration import setting_of
from vbas_desktop.settings.run import Protection
from vbas_desktop.ui.dialogs.sensitive import SensitiveDialog
from vbas_desktop.ui.theme import GRID
from vbas_desktop.ui.widgets.building import dress, in_column, in_row, offer
from vbas_desktop.ui.widgets.fields import muted, setting_field, title
from vbas_desktop.ui.widgets.plain_text import set_tool_tip

_K, _UNKNOWN, _SUPPRESSION = (setting_of(Protection, name) for name in ("k", "unknown_regions", "global_suppression"))


class PrivacySection(QWidget):
    """k, unknown regions, global suppression, criteria for sensitive values."""

    def __init__(self, session: Session) -> None:
        super().__init__()
        self._session = session
        self.k = dress(QSpinBox(), minimum=1, maximum=1_000_000)
        change = session.change_fields
        self.k.valueChanged.connect(lambda value: change("k", k=value))
        self.unknown = QComboBox()
        offer(self.unknown, ((text, value) for value, text in _UNKNOWN.titles.items()))
        self.unknown.activated.connect(lambda place: change(unknown_regions=self.unknown.itemData(place)))
        self.suppression = dress(QCheckBox(_SUPPRESSION.label), toolTip=_SUPPRESSION.help)
        self.suppression.clicked.connect(lambda checked: change(global_suppression=checked))
        self.sensitive, self.told = QPushButton("Sensitive values…"), muted()
        set_tool_tip(self.sensitive, "What released classes may tell of columns that must not be learned of a person")
        self.sensitive.clicked.connect(self.open_sensitive)
        self.k_field = setting_field(_K, self.k)
        fields = (
            (each, 1, Qt.AlignmentFlag.AlignTop) for each in (self.k_field, setting_field(_UNKNOWN, self.unknown))
        )
        parts = (title("Protection"), in_row(*fields, spacing=2 * GRID), self.suppression, self.told, self.sensitive)
        in_column(*parts, within=self, margins=0, spacing=GRID // 2)

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


def _in_words(chosen: Sensitive) -> str:
    """A sensitive column and what is asked of it, in a few words."""
    demands = " and ".join(each.in_words for each in chosen.criteria) or "report only"
    benign = (
        f"; benign: {', '.join(chosen.benign[:3])}{' …' if len(chosen.benign) > 3 else ''}" if chosen.benign else ""
    )
    return f"{chosen.column} ({demands}{benign})"
