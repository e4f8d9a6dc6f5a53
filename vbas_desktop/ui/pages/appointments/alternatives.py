"""The dialog "cannot attend": other slots for one person, the one that keeps people most anonymous first."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QDialog,
    QDialogButtonBox,
    QHeaderView,
    QLabel,
    QTableWidget,
    QTableWidgetItem,
    QVBoxLayout,
    QWidget,
)

from vbas_desktop.session.appointments import Alternatives, short_vector
from vbas_desktop.ui.widgets.fields import muted
from vbas_desktop.ui.widgets.tables import set_up_table

_LISTED = 200


class AlternativesDialog(QDialog):
    """Lists the free slots in the order of the vectors that would result."""

    def __init__(self, found: Alternatives, parent: QWidget) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle("Cannot attend")
        headline = QLabel(f"{found.who}." if found.who else found.problem)
        headline.setWordWrap(True)
        headline.setTextFormat(Qt.TextFormat.PlainText)
        if found.who and not found.options:
            headline.setText(f"{found.who}. No other slot that this class may use has a free seat.")
        self.table = QTableWidget(min(len(found.options), _LISTED), 4)
        set_up_table(self.table, "Other slots, best first")
        self.table.setHorizontalHeaderLabels(["Slot", "Free seats", "k", "Anonymity vector"])
        self.table.horizontalHeader().setSectionResizeMode(3, QHeaderView.ResizeMode.Stretch)
        for row, option in enumerate(found.options[:_LISTED]):
            texts = (option.slot, f"{option.free:,}", f"{option.vector.k}", short_vector(option.vector.counts))
            for column, text in enumerate(texts):
                item = QTableWidgetItem(text)
                if column in (1, 2):
                    item.setTextAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
                self.table.setItem(row, column, item)
        self.table.resizeColumnToContents(0)
        self.table.setVisible(bool(found.options))
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
        buttons.rejected.connect(self.reject)
        layout = QVBoxLayout(self)
        layout.addWidget(headline)
        layout.addWidget(self.table, 1)
        if found.options:
            layout.addWidget(muted("Best first: fewer classes of one person, then of two, and so on."))
        layout.addWidget(buttons)
        self.headline = headline
        self.resize(560, 380 if found.options else 120)
