"""Plan appointments as the page “Appointments” asks for it, and prepare views of a plan."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from vbas_desktop.app.appointments import PlanRequest, plan_appointments
from vbas_desktop.appointments.anonymity_vector import AnonymityVector
from vbas_desktop.appointments.greedy_planner import CLOSEST
from vbas_desktop.appointments.inputs import (
    PeopleColumns,
    PeopleTable,
    SideConstraints,
    SlotTable,
    group_people,
    load_slots,
)
from vbas_desktop.appointments.outputs import PLAN_FILES, PlanAssessment, find_alternatives, write_plan
from vbas_desktop.appointments.plan import list_alternatives
from vbas_desktop.io.output import check_target
from vbas_desktop.model.findings import InputError
from vbas_desktop.model.progress import Progress
from vbas_desktop.model.records import CodedRecords
from vbas_desktop.model.regions import Regions


@dataclass(frozen=True)
class PlanSetup:
    """Files, columns, constraints and planner that are chosen on the page."""

    people: CodedRecords
    slots: SlotTable
    columns: PeopleColumns
    constraints: SideConstraints = field(default_factory=SideConstraints)
    regions: Regions | None = None
    planner: str = "heuristic"
    time_limit: float = 10.0
    random_seed: int = 0
    fill: str = CLOSEST


@dataclass(frozen=True, eq=False)
class PlannedAppointments:
    """A plan with its ratings, and the people it was made for.

    free_seats: by slot. smallest_group: by class, number of its people in the slot where they are fewest (0: none).
    slots_of_class: number of slots of each class.
    """

    setup: PlanSetup
    people: PeopleTable
    assessment: PlanAssessment
    free_seats: NDArray[np.int64]
    smallest_group: NDArray[np.int64]
    slots_of_class: NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class PlanClasses:
    """The classes of the people file; or None, and the ``problem`` with the chosen columns."""

    people: PeopleTable | None
    problem: str = ""


def form_classes(table: CodedRecords, columns: PeopleColumns, progress: Progress) -> PlanClasses:
    """Form the classes, so that they can be looked at before planning."""
    progress.update("Forming classes")
    if not columns.quasi_identifiers:
        return PlanClasses(None, "Tick at least one quasi-identifier.")
    try:
        return PlanClasses(group_people(table, columns))
    except InputError as error:
        return PlanClasses(None, "\n".join(str(finding) for finding in error.findings))


def read_slots(path: Path, progress: Progress) -> SlotTable:
    """Load a slots file."""
    progress.update("Reading slots")
    return load_slots(path)


def make_plan(setup: PlanSetup, progress: Progress) -> PlannedAppointments:
    """Plan and rate the plan. If planning is cancelled, the best plan so far is rated."""
    progress.update("Forming classes")
    people = group_people(setup.people, setup.columns)
    request = PlanRequest(
        people,
        setup.slots,
        setup.constraints,
        setup.regions,
        setup.planner,
        setup.time_limit,
        setup.random_seed,
        {"fill": setup.fill},
    )
    assessment = plan_appointments(request, progress)
    task = assessment.task
    plan = assessment.plan
    smallest = np.full(task.people.size, np.iinfo(np.int64).max)
    np.minimum.at(smallest, plan.classes, plan.counts)
    used = np.bincount(plan.classes, minlength=task.people.size)
    return PlannedAppointments(
        setup, people, assessment, plan.free_seats(task), np.where(used > 0, smallest, 0), used
    )


def export_plan(planned: PlannedAppointments, target: Path, progress: Progress) -> Path:
    """Write the plan as a folder."""
    check_target(target, PLAN_FILES, [Path(planned.setup.people.source.path)])
    write_plan(planned.assessment, planned.people, target, progress)
    return target


# Views of a plan


@dataclass(frozen=True)
class PlanSection:
    """A section of classes × slots, from the first up to and without the last."""

    first_class: int
    last_class: int
    first_slot: int
    last_slot: int


@dataclass(frozen=True, eq=False)
class HeatBlocks:
    """People by class and slot in a section; where there are many, blocks of several classes or slots are summed.

    Block (i, j) covers the classes ``class_edges[i] … class_edges[i + 1] − 1`` and the slots alike.
    """

    section: PlanSection
    class_edges: NDArray[np.int64]
    slot_edges: NDArray[np.int64]
    people: NDArray[np.int64]

    def block(self, row: int, column: int) -> PlanSection:
        """Return what a block covers."""
        classes = self.class_edges
        slots = self.slot_edges
        return PlanSection(
            int(classes[row]), int(classes[row + 1]), int(slots[column]), int(slots[column + 1])
        )


def select_everything(planned: PlannedAppointments) -> PlanSection:
    """Return the section of all classes and slots."""
    return PlanSection(0, planned.assessment.task.people.size, 0, planned.assessment.task.seats.size)


def count_blocks(
    planned: PlannedAppointments,
    section: PlanSection,
    most_rows: int,
    most_columns: int,
    progress: Progress,
) -> HeatBlocks:
    """Count the people in each block of a section, with at most so many rows and columns."""
    progress.update("Drawing the plan")
    plan = planned.assessment.plan
    class_edges = _divide(section.first_class, section.last_class, most_rows)
    slot_edges = _divide(section.first_slot, section.last_slot, most_columns)
    inside = (plan.classes >= section.first_class) & (plan.classes < section.last_class)
    inside &= (plan.slots >= section.first_slot) & (plan.slots < section.last_slot)
    rows = np.searchsorted(class_edges, plan.classes[inside], side="right") - 1
    columns = np.searchsorted(slot_edges, plan.slots[inside], side="right") - 1
    people = np.zeros((class_edges.size - 1, slot_edges.size - 1), np.int64)
    np.add.at(people, (rows, columns), plan.counts[inside])
    return HeatBlocks(section, class_edges, slot_edges, people)


def _divide(first: int, last: int, most: int) -> NDArray[np.int64]:
    blocks = max(1, min(last - first, most))
    return first + np.arange(blocks + 1, dtype=np.int64) * (last - first) // blocks


@dataclass(frozen=True)
class VectorBar:
    """Classes of one size (or of all larger ones) before, planned and at random."""

    label: str
    before: int
    planned: int
    random: int


def list_vector_bars(assessment: PlanAssessment, most: int = 24) -> list[VectorBar]:
    """List the entries of the three anonymity vectors by size, sizes above ``most`` as one bar."""
    vectors = (assessment.task.before, assessment.plan.vector, assessment.random.vector)
    longest = max(len(vector.counts) for vector in vectors)
    bars = [
        VectorBar(f"{size}", *(sum(vector.counts[size - 1 : size]) for vector in vectors))
        for size in range(1, min(longest, most) + 1)
    ]
    if longest > most:
        bars.append(VectorBar(f"> {most}", *(sum(vector.counts[most:]) for vector in vectors)))
    return bars


def format_vector(counts: Sequence[int], most: int = 10) -> str:
    """Format a vector in brackets, cut off after ``most`` entries."""
    numbers = ", ".join(f"{count:,}" for count in counts[:most])
    return f"({numbers}{', …' if len(counts) > most else ''})"


@dataclass(frozen=True)
class AlternativeSlot:
    """Another slot for somebody: its free seats, and the anonymity vector after the change."""

    slot: str
    free: int
    vector: AnonymityVector


@dataclass(frozen=True)
class AlternativeSlots:
    """Who cannot attend what, and the slots where they could go instead, best first; or the ``problem``."""

    who: str
    options: tuple[AlternativeSlot, ...] = ()
    problem: str = ""


def find_alternatives_for_class(
    planned: PlannedAppointments, class_number: int, slot: int, progress: Progress
) -> AlternativeSlots:
    """Find other slots for one person of a class."""
    progress.update("Looking for other slots")
    task = planned.assessment.task
    who = f"Somebody of {', '.join(task.class_labels[class_number])} cannot attend {' '.join(task.slot_labels[slot])}"
    return _list_options(
        planned, who, list_alternatives(task, planned.assessment.plan, class_number, slot)
    )


def find_alternatives_for_person(
    planned: PlannedAppointments, person: str, progress: Progress
) -> AlternativeSlots:
    """Find other slots for one person by id."""
    progress.update("Looking for other slots")
    if not planned.people.class_of.size:
        return AlternativeSlots(
            "", problem="The file lists classes, not people: choose a cell of the plan instead."
        )
    try:
        options = find_alternatives(
            planned.assessment.task, planned.people, planned.assessment.plan, person
        )
    except InputError as error:
        return AlternativeSlots("", problem=str(error.findings[0]))
    return _list_options(planned, f"{person} cannot attend", options)


def _list_options(
    planned: PlannedAppointments, who: str, options: list[tuple[int, AnonymityVector]]
) -> AlternativeSlots:
    labels = planned.assessment.task.slot_labels
    free = planned.free_seats
    slots = [
        AlternativeSlot(" ".join(labels[slot]), int(free[slot]), vector) for slot, vector in options
    ]
    return AlternativeSlots(who, tuple(slots))


def list_slots_of_class(
    planned: PlannedAppointments, class_number: int, most: int
) -> list[tuple[int, str, int]]:
    """List the first ``most`` slots of a class: number of the slot, its name, and people."""
    plan = planned.assessment.plan
    labels = planned.assessment.task.slot_labels
    first, last = np.searchsorted(plan.classes, [class_number, class_number + 1])
    positions = range(int(first), min(int(last), int(first) + most))
    return [
        (int(plan.slots[i]), " ".join(labels[plan.slots[i]]), int(plan.counts[i])) for i in positions
    ]
