"""The class table and the slot table, before planning and afterwards; and other slots for one who cannot attend."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QDialog,
    QDialogButtonBox,
    QHeaderView,
    QLabel,
    QTableWidget,
    QTableWidgetItem,
    QWidget,
)

from vbas_desktop.screening.inputs import People
from vbas_desktop.screening.slots import SlotTable
from vbas_desktop.session.appointments import Alternatives, Planned, short_vector
from vbas_desktop.ui.widgets.building import in_column
from vbas_desktop.ui.widgets.fields import muted
from vbas_desktop.ui.widgets.tables import Heading, TableModel, set_up_table

_LISTED = 200

_OF_CLASSES = (
    Heading("People", "People of the class", "right"),
    Heading("Slots", "Slots that they share", "right"),
    Heading("Smallest", "Fewest of them in one slot", "right"),
)
_OF_SLOTS = (Heading("Seats", "Seats of the slot", "right"), Heading("Free", "Seats that nobody has", "right"))


class ClassesModel(TableModel):
    """One row per class: its values, its people, and after planning its slots and its smallest group."""

    def __init__(self) -> None:
        super().__init__()
        self.show_people(None)

    def show_people(self, people: People | None, planned: Planned | None = None) -> None:
        """Show these classes, with a plan if there is one."""
        with self.anew():
            self.people, self.planned = people, planned
            self.rows = () if people is None else people.labels
            names = map(Heading, () if people is None else people.names)
            self.heads = (*names, *_OF_CLASSES[: 1 if planned is None else 3])

    def text(self, row: int, column: int) -> str:
        """Values and numbers."""
        assert self.people is not None
        texts = len(self.people.names)
        if column < texts:
            return str(self.rows[row][column])
        if column == texts:
            return f"{self.people.sizes[row]:,}"
        assert self.planned is not None
        numbers = (self.planned.slots_of_class, self.planned.smallest_group)[column - texts - 1]
        return f"{numbers[row]:,}"


class SlotsModel(TableModel):
    """One row per slot: centre, time, seats, and after planning the free ones."""

    def __init__(self) -> None:
        super().__init__()
        self.show_slots(None)

    def show_slots(self, slots: SlotTable | None, planned: Planned | None = None) -> None:
        """Show these slots, with a plan if there is one."""
        with self.anew():
            self.slots, self.planned = slots, planned
            self.rows = () if slots is None else slots.labels
            self._texts = 2 if slots is None or slots.regions is None else 3
            names = map(Heading, ("Centre", "Time", "Region")[: self._texts])
            self.heads = (*names, *_OF_SLOTS[: 1 if planned is None else 2])

    def text(self, row: int, column: int) -> str:
        """Names and numbers."""
        assert self.slots is not None
        if column < 2:
            return str(self.rows[row][column])
        if column < self._texts:
            return self.slots.regions[row] if self.slots.regions is not None else ""
        if column == self._texts:
            return f"{self.slots.seats[row]:,}"
        assert self.planned is not None
        return f"{self.planned.free_seats[row]:,}"


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
        layout = in_column(headline, (self.table, 1), within=self)
        if found.options:
            layout.addWidget(muted("Best first: fewer classes of one person, then of two, and so on."))
        layout.addWidget(buttons)
        self.headline = headline
        self.resize(560, 380 if found.options else 120)
