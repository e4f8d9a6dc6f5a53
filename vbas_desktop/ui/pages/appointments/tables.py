"""The class table and the slot table: before planning what is to be planned, afterwards how it turned out."""

from __future__ import annotations

from vbas_desktop.screening.inputs import People
from vbas_desktop.screening.slots import SlotTable
from vbas_desktop.session.appointments import Planned
from vbas_desktop.ui.widgets.tables import Heading, TableModel

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
        self.people: People | None = None
        self.planned: Planned | None = None

    def show_people(self, people: People | None, planned: Planned | None = None) -> None:
        """Show these classes, with a plan if there is one."""
        self.beginResetModel()
        self.people, self.planned = people, planned
        self.endResetModel()

    def headings(self) -> tuple[Heading, ...]:
        """The quasi-identifiers, then numbers."""
        names = map(Heading, self.people.names if self.people is not None else ())
        return (*names, *_OF_CLASSES[: 1 if self.planned is None else 3])

    def count(self) -> int:
        """Number of classes."""
        return len(self.people.labels) if self.people is not None else 0

    def text(self, row: int, column: int) -> str:
        """Values and numbers."""
        assert self.people is not None
        texts = len(self.people.names)
        if column < texts:
            return self.people.labels[row][column]
        if column == texts:
            return f"{self.people.sizes[row]:,}"
        assert self.planned is not None
        numbers = (self.planned.slots_of_class, self.planned.smallest_group)[column - texts - 1]
        return f"{numbers[row]:,}"


class SlotsModel(TableModel):
    """One row per slot: centre, time, seats, and after planning the free ones."""

    def __init__(self) -> None:
        super().__init__()
        self.slots: SlotTable | None = None
        self.planned: Planned | None = None

    def show_slots(self, slots: SlotTable | None, planned: Planned | None = None) -> None:
        """Show these slots, with a plan if there is one."""
        self.beginResetModel()
        self.slots, self.planned = slots, planned
        self.endResetModel()

    @property
    def _texts(self) -> int:
        return 2 if self.slots is None or self.slots.regions is None else 3

    def headings(self) -> tuple[Heading, ...]:
        """Where and when, then numbers."""
        names = map(Heading, ("Centre", "Time", "Region")[: self._texts])
        return (*names, *_OF_SLOTS[: 1 if self.planned is None else 2])

    def count(self) -> int:
        """Number of slots."""
        return len(self.slots.labels) if self.slots is not None else 0

    def text(self, row: int, column: int) -> str:
        """Names and numbers."""
        assert self.slots is not None
        if column < 2:
            return self.slots.labels[row][column]
        if column < self._texts:
            return self.slots.regions[row] if self.slots.regions is not None else ""
        if column == self._texts:
            return f"{self.slots.seats[row]:,}"
        assert self.planned is not None
        return f"{self.planned.free_seats[row]:,}"
