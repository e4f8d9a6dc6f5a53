"""The class table and the slot table, before planning and afterwards; and other slots for one who cannot attend."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PySide6.QtWidgets import QTableView, QWidget

from vbas_desktop.appointments.inputs import PeopleTable, SlotTable

from ...presentation.tables import TableColumn
from ...state.appointments import AlternativeSlot, AlternativeSlots, PlannedAppointments, format_vector
from ...widgets.dialog import CLOSE, Dialog
from ...widgets.fields import hint_label, message_label
from ...widgets.layouts import vbox
from ...widgets.tables import TableModel, set_up_table, stretch_column

_LISTED = 200


def make_class_rows(
    people: PeopleTable | None, planned: PlannedAppointments | None = None
) -> tuple[range, list[TableColumn[int]]]:
    """Make the rows and columns of the classes: values, people, and after planning slots and fewest people in one."""
    names: Sequence[str] = () if people is None else people.names
    labels: Sequence[Sequence[str]] = () if people is None else people.labels
    columns = _make_label_columns(names, labels)
    columns.append(
        _make_count_column(
            "People", "People of the class", np.zeros(0, int) if people is None else people.sizes
        )
    )
    if planned is not None:
        columns.append(_make_count_column("Slots", "Slots that they share", planned.slots_of_class))
        columns.append(
            _make_count_column("Smallest", "Fewest of them in one slot", planned.smallest_group)
        )
    return range(len(labels)), columns


def make_slot_rows(
    slots: SlotTable | None, planned: PlannedAppointments | None = None
) -> tuple[range, list[TableColumn[int]]]:
    """Make the rows and columns of the slots: centre, time, seats, and after planning the free ones."""
    labels: Sequence[Sequence[str]] = () if slots is None else slots.labels
    seats = np.zeros(0, int) if slots is None else slots.seats
    columns = _make_label_columns(("Centre", "Time"), labels)
    if slots is not None and slots.regions is not None:
        columns.append(TableColumn("Region", "Region", slots.regions.__getitem__))
    columns.append(_make_count_column("Seats", "Seats of the slot", seats))
    if planned is not None:
        columns.append(_make_count_column("Free", "Seats that nobody has", planned.free_seats))
    return range(len(labels)), columns


def _make_label_columns(names: Sequence[str], labels: Sequence[Sequence[str]]) -> list[TableColumn[int]]:
    def get_label(position: int, row: int) -> str:
        return str(labels[row][position])

    return [TableColumn(name, name, partial(get_label, position)) for position, name in enumerate(names)]


def _make_count_column(title: str, tip: str, counts: NDArray[Any]) -> TableColumn[int]:
    return TableColumn(title, title, lambda row: int(counts[row]), tip, side="right")


def make_plan_rows(planned: PlannedAppointments | None) -> tuple[range, list[TableColumn[int]]]:
    """Make the rows and columns of the plan: class, slot and people of every cell that has any."""
    if planned is None:
        return range(0), []
    plan = planned.assessment.plan
    task = planned.assessment.task

    def name_class(row: int) -> str:
        return ", ".join(task.class_labels[plan.classes[row]])

    def name_slot(row: int) -> str:
        return " ".join(task.slot_labels[plan.slots[row]])

    columns = [
        TableColumn("class", "Class", name_class, "Values of the quasi-identifiers"),
        TableColumn("slot", "Slot", name_slot, "Centre and time"),
        _make_count_column("People", "People of the class in the slot", plan.counts),
    ]
    return range(plan.classes.size), columns


_ALTERNATIVE_COLUMNS: tuple[TableColumn[AlternativeSlot], ...] = (
    TableColumn("slot", "Slot", lambda option: option.slot),
    TableColumn("free", "Free seats", lambda option: option.free, side="right"),
    TableColumn("smallest", "Smallest class", lambda option: option.vector.k, side="right"),
    TableColumn("vector", "Anonymity vector", lambda option: format_vector(option.vector.counts)),
)


class AlternativesDialog(Dialog):
    """Lists the free slots in the order of the vectors that would result."""

    def __init__(self, alternatives: AlternativeSlots, parent: QWidget) -> None:
        super().__init__(parent, "Cannot attend", CLOSE)
        text = f"{alternatives.who}." if alternatives.who else alternatives.problem
        if alternatives.who and not alternatives.options:
            text = f"{text} No other slot that this class may use has a free seat."
        self.headline = message_label(text)
        self.table = QTableView()
        model: TableModel[AlternativeSlot] = TableModel(_ALTERNATIVE_COLUMNS, self)
        model.set_rows(alternatives.options[:_LISTED])
        self.table.setModel(model)
        set_up_table(self.table, "Other slots, best first")
        stretch_column(self.table, 3)
        best = hint_label("Best first: fewer classes of one person, then of two, and so on.")
        vbox(self.headline, (self.table, 1), best, self.buttons, within=self)
        for widget in (self.table, best):
            widget.setVisible(bool(alternatives.options))
        letter = self.fontMetrics().averageCharWidth()
        self.resize(90 * letter, 60 * letter if alternatives.options else 20 * letter)
