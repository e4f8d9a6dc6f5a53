"""The class table and the slot table, before planning and afterwards; and other slots for one who cannot attend."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PySide6.QtWidgets import QHeaderView, QTableWidget, QWidget

from vbas_desktop.screening.inputs import People
from vbas_desktop.screening.slots import SlotTable
from vbas_desktop.session.appointments import Alternatives, Planned, short_vector
from vbas_desktop.ui.widgets.building import in_column
from vbas_desktop.ui.widgets.dialog import CLOSE, Dialog
from vbas_desktop.ui.widgets.fields import muted, told
from vbas_desktop.ui.widgets.tables import Heading, TableModel, cell, set_up_table

_LISTED = 200
_NONE = np.zeros(0, int)


class LabelsModel(TableModel):
    """Rows of labels under ``names``, each with its ``numbers`` behind."""

    _numbers: Sequence[NDArray[Any]] = ()

    def show_rows(
        self, names: Sequence[str], labels: Sequence[Sequence[str]], *numbers: tuple[Heading, NDArray[Any]]
    ) -> None:
        """Show another table."""
        with self.anew():
            self.rows, self._numbers = labels, [values for _, values in numbers]
            self.heads = (*map(Heading, names), *(heading for heading, _ in numbers))

    def text(self, row: int, column: int) -> str:
        """Labels and numbers."""
        labels = len(self.heads) - len(self._numbers)
        return str(self.rows[row][column]) if column < labels else f"{self._numbers[column - labels][row]:,}"


def show_classes(model: LabelsModel, people: People | None, planned: Planned | None = None) -> None:
    """One row per class: its values, its people, and after planning its slots and its fewest people in one."""
    names, labels, sizes = ((), (), _NONE) if people is None else (people.names, people.labels, people.sizes)
    numbers = [(Heading("People", "People of the class", "right"), sizes)]
    if planned is not None:
        numbers.append((Heading("Slots", "Slots that they share", "right"), planned.slots_of_class))
        numbers.append((Heading("Smallest", "Fewest of them in one slot", "right"), planned.smallest_group))
    model.show_rows(names, labels, *numbers)


def show_slots(model: LabelsModel, slots: SlotTable | None, planned: Planned | None = None) -> None:
    """One row per slot: centre, time, seats, and after planning the free ones."""
    names: tuple[str, ...] = ("Centre", "Time")
    labels: Sequence[Sequence[str]] = () if slots is None else slots.labels
    if slots is not None and slots.regions is not None:
        names = (*names, "Region")
        labels = [(*label, region) for label, region in zip(labels, slots.regions, strict=True)]
    numbers = [(Heading("Seats", "Seats of the slot", "right"), _NONE if slots is None else slots.seats)]
    if planned is not None:
        numbers.append((Heading("Free", "Seats that nobody has", "right"), planned.free_seats))
    model.show_rows(names, labels, *numbers)


class AlternativesDialog(Dialog):
    """Lists the free slots in the order of the vectors that would result."""

    def __init__(self, found: Alternatives, parent: QWidget) -> None:
        super().__init__(parent, "Cannot attend", CLOSE)
        text = f"{found.who}." if found.who else found.problem
        if found.who and not found.options:
            text = f"{text} No other slot that this class may use has a free seat."
        self.headline = told(text)
        self.table = QTableWidget(min(len(found.options), _LISTED), 4)
        set_up_table(self.table, "Other slots, best first")
        self.table.setHorizontalHeaderLabels(["Slot", "Free seats", "Smallest class", "Anonymity vector"])
        self.table.horizontalHeader().setSectionResizeMode(3, QHeaderView.ResizeMode.Stretch)
        for row, option in enumerate(found.options[:_LISTED]):
            numbers = (cell(f"{option.free:,}", "right"), cell(f"{option.vector.k}", "right"))
            cells = (cell(option.slot), *numbers, cell(short_vector(option.vector.counts)))
            for column, item in enumerate(cells):
                self.table.setItem(row, column, item)
        self.table.resizeColumnToContents(0)
        best = muted("Best first: fewer classes of one person, then of two, and so on.")
        in_column(self.headline, (self.table, 1), best, self.buttons, within=self)
        for widget in (self.table, best):
            widget.setVisible(bool(found.options))
        self.resize(560, 380 if found.options else 120)
