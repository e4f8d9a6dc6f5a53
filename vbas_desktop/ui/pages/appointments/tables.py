"""The class table and the slot table: before planning what is to be planned, afterwards how it turned out."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QPersistentModelIndex, Qt

from vbas_desktop.screening.inputs import People
from vbas_desktop.screening.slots import SlotTable
from vbas_desktop.session.appointments import Planned

Index = QModelIndex | QPersistentModelIndex
_TOP = QModelIndex()


class _Table(QAbstractTableModel):
    """Rows of texts and numbers made when they come into sight."""

    def __init__(self) -> None:
        super().__init__()
        self._heads: tuple[str, ...] = ()
        self._tips: tuple[str, ...] = ()
        self._texts = 0
        self.planned: Planned | None = None

    def rowCount(self, parent: Index = _TOP) -> int:
        """How many rows there are."""
        return 0 if parent.isValid() else self.count()

    def columnCount(self, parent: Index = _TOP) -> int:
        """How many columns there are."""
        return 0 if parent.isValid() else len(self._heads)

    def count(self) -> int:
        """How many rows there are."""
        raise NotImplementedError

    def text(self, row: int, column: int) -> str:
        """What a cell shows."""
        raise NotImplementedError

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """Heads and tips."""
        if orientation is not Qt.Orientation.Horizontal or not 0 <= section < len(self._heads):
            return None
        if role == Qt.ItemDataRole.ToolTipRole and section >= self._texts:
            return self._tips[section - self._texts]
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return _side(section >= self._texts)
        return self._heads[section] if role == Qt.ItemDataRole.DisplayRole else None

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """One cell."""
        if role == Qt.ItemDataRole.DisplayRole:
            return self.text(index.row(), index.column())
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return _side(index.column() >= self._texts)
        return None


def _side(number: bool) -> Qt.AlignmentFlag:
    return (Qt.AlignmentFlag.AlignRight if number else Qt.AlignmentFlag.AlignLeft) | Qt.AlignmentFlag.AlignVCenter


class ClassesModel(_Table):
    """One row per class: its values, its people, and after planning its slots and its smallest group."""

    def __init__(self) -> None:
        super().__init__()
        self.people: People | None = None

    def show_people(self, people: People | None, planned: Planned | None = None) -> None:
        """Show these classes, with a plan if there is one."""
        self.beginResetModel()
        self.people, self.planned = people, planned
        names = people.names if people is not None else ()
        after = ("Slots", "Smallest") if planned is not None else ()
        self._heads, self._texts = (*names, "People", *after), len(names)
        self._tips = ("People of the class", "Slots that they share", "Fewest of them in one slot")
        self.endResetModel()

    def count(self) -> int:
        """Number of classes."""
        return len(self.people.labels) if self.people is not None else 0

    def text(self, row: int, column: int) -> str:
        """Values and numbers."""
        assert self.people is not None
        if column < self._texts:
            return self.people.labels[row][column]
        if column == self._texts:
            return f"{self.people.sizes[row]:,}"
        assert self.planned is not None
        numbers = (self.planned.slots_of_class, self.planned.smallest_group)[column - self._texts - 1]
        return f"{numbers[row]:,}"


class SlotsModel(_Table):
    """One row per slot: centre, time, seats, and after planning the free ones."""

    def __init__(self) -> None:
        super().__init__()
        self.slots: SlotTable | None = None

    def show_slots(self, slots: SlotTable | None, planned: Planned | None = None) -> None:
        """Show these slots, with a plan if there is one."""
        self.beginResetModel()
        self.slots, self.planned = slots, planned
        region = ("Region",) if slots is not None and slots.regions is not None else ()
        after = ("Free",) if planned is not None else ()
        self._heads, self._texts = ("Centre", "Time", *region, "Seats", *after), 2 + len(region)
        self._tips = ("Seats of the slot", "Seats that nobody has")
        self.endResetModel()

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
