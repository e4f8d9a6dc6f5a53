"""The work behind the page "Appointments": frozen settings in, a rated plan and views of it out. No Qt."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from vbas_desktop.io.output import check_target
from vbas_desktop.jobs.appointments import PlanJob
from vbas_desktop.model.errors import InputError
from vbas_desktop.model.progress import Progress
from vbas_desktop.model.records import RecordTable
from vbas_desktop.model.regions import Regions
from vbas_desktop.screening.heuristic import CLOSEST
from vbas_desktop.screening.inputs import Constraints, People, PeopleColumns, people_of
from vbas_desktop.screening.outputs import PLAN_FILES, Assessment, cannot_attend, write_plan
from vbas_desktop.screening.slots import SlotTable, load_slots
from vbas_desktop.screening.task import alternatives
from vbas_desktop.screening.vectors import AnonymityVector


@dataclass(frozen=True)
class PlanSetup:
    """Everything that is chosen on the page."""

    people: RecordTable
    slots: SlotTable
    columns: PeopleColumns
    constraints: Constraints = field(default_factory=Constraints)
    regions: Regions | None = None
    planner: str = "heuristic"
    time_limit: float = 10.0
    random_seed: int = 0
    fill: str = CLOSEST


@dataclass(frozen=True, eq=False)
class Planned:
    """A plan with its ratings, and the people it was made for."""

    setup: PlanSetup
    people: People
    assessment: Assessment
    free_seats: NDArray[np.int64]
    smallest_group: NDArray[np.int64]
    slots_of_class: NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class ClassesFound:
    """The classes of the people file as far as the choices allow: else ``problem`` says why not."""

    people: People | None
    problem: str = ""


def find_classes(table: RecordTable, columns: PeopleColumns, progress: Progress) -> ClassesFound:
    """Form the classes for a look before planning."""
    progress.update("Forming classes")
    if not columns.quasi_identifiers:
        return ClassesFound(None, "Tick at least one quasi-identifier.")
    try:
        return ClassesFound(people_of(table, columns))
    except InputError as error:
        return ClassesFound(None, "\n".join(str(finding) for finding in error.findings))


def read_slots(path: Path, progress: Progress) -> SlotTable:
    """Load a slots file."""
    progress.update("Reading slots")
    return load_slots(path)


def make_plan(setup: PlanSetup, progress: Progress) -> Planned:
    """Plan and rate. Stopped while planning, the best plan so far is kept and rated all the same."""
    progress.update("Forming classes")
    people = people_of(setup.people, setup.columns)
    how = (setup.constraints, setup.regions, setup.planner, setup.time_limit, setup.random_seed)
    assessment = PlanJob(people, setup.slots, *how, {"fill": setup.fill}).execute(progress)
    task, plan = assessment.task, assessment.plan
    smallest = np.full(task.people.size, np.iinfo(np.int64).max)
    np.minimum.at(smallest, plan.classes, plan.counts)
    used = np.bincount(plan.classes, minlength=task.people.size)
    return Planned(setup, people, assessment, plan.free_seats(task), np.where(used > 0, smallest, 0), used)


def export(planned: Planned, target: Path, progress: Progress) -> Path:
    """Write the plan as a folder."""
    check_target(target, PLAN_FILES, [Path(planned.setup.people.source.path)])
    write_plan(planned.assessment, planned.people, target, progress)
    return target


# Views of a plan


@dataclass(frozen=True)
class Window:
    """A part of classes × slots: from … to (not included)."""

    first_class: int
    last_class: int
    first_slot: int
    last_slot: int


@dataclass(frozen=True, eq=False)
class Heat:
    """People by class and slot in a window, blocks of several classes or slots taken together where they are many.

    Block (i, j) covers the classes ``class_edges[i] … class_edges[i + 1] − 1`` and the slots alike.
    """

    window: Window
    class_edges: NDArray[np.int64]
    slot_edges: NDArray[np.int64]
    people: NDArray[np.int64]

    def block(self, row: int, column: int) -> Window:
        """What a block covers."""
        classes, slots = self.class_edges, self.slot_edges
        return Window(int(classes[row]), int(classes[row + 1]), int(slots[column]), int(slots[column + 1]))


def whole(planned: Planned) -> Window:
    """The window that shows all classes and slots."""
    return Window(0, planned.assessment.task.people.size, 0, planned.assessment.task.seats.size)


def heat(planned: Planned, window: Window, most_rows: int, most_columns: int, progress: Progress) -> Heat:
    """The people in each block of a window, with no more rows and columns than can be seen."""
    progress.update("Drawing the plan")
    plan = planned.assessment.plan
    class_edges = _edges(window.first_class, window.last_class, most_rows)
    slot_edges = _edges(window.first_slot, window.last_slot, most_columns)
    inside = (plan.classes >= window.first_class) & (plan.classes < window.last_class)
    inside &= (plan.slots >= window.first_slot) & (plan.slots < window.last_slot)
    rows = np.searchsorted(class_edges, plan.classes[inside], side="right") - 1
    columns = np.searchsorted(slot_edges, plan.slots[inside], side="right") - 1
    people = np.zeros((class_edges.size - 1, slot_edges.size - 1), np.int64)
    np.add.at(people, (rows, columns), plan.counts[inside])
    return Heat(window, class_edges, slot_edges, people)


def _edges(first: int, last: int, most: int) -> NDArray[np.int64]:
    blocks = max(1, min(last - first, most))
    return first + np.arange(blocks + 1, dtype=np.int64) * (last - first) // blocks


@dataclass(frozen=True)
class Bar:
    """Classes of one size (or of all larger ones) before, planned and at random."""

    label: str
    before: int
    planned: int
    random: int


def vector_bars(assessment: Assessment, most: int = 24) -> list[Bar]:
    """The three anonymity vectors side by side, sizes above ``most`` as one bar."""
    vectors = (assessment.task.before, assessment.plan.vector, assessment.random.vector)
    longest = max(len(vector.counts) for vector in vectors)
    bars = [
        Bar(f"{size}", *(sum(vector.counts[size - 1 : size]) for vector in vectors))
        for size in range(1, min(longest, most) + 1)
    ]
    if longest > most:
        bars.append(Bar(f"> {most}", *(sum(vector.counts[most:]) for vector in vectors)))
    return bars


def short_vector(counts: Sequence[int], most: int = 10) -> str:
    """A vector in brackets, cut off after some entries."""
    shown = ", ".join(f"{count:,}" for count in counts[:most])
    return f"({shown}{', …' if len(counts) > most else ''})"


@dataclass(frozen=True)
class Alternative:
    """Another slot for somebody, and what it would mean."""

    slot: str
    free: int
    vector: AnonymityVector


@dataclass(frozen=True)
class Alternatives:
    """Who cannot attend what, and where they could go instead, best first; ``problem`` if that is not known."""

    who: str
    options: tuple[Alternative, ...] = ()
    problem: str = ""


def other_slots(planned: Planned, class_number: int, slot: int, progress: Progress) -> Alternatives:
    """Other slots for one person of a class."""
    progress.update("Looking for other slots")
    task = planned.assessment.task
    who = f"Somebody of {', '.join(task.class_labels[class_number])} cannot attend {' '.join(task.slot_labels[slot])}"
    return _found(planned, who, alternatives(task, planned.assessment.plan, class_number, slot))


def other_slots_of(planned: Planned, person: str, progress: Progress) -> Alternatives:
    """Other slots for one person by id."""
    progress.update("Looking for other slots")
    if not planned.people.class_of.size:
        return Alternatives("", problem="The file lists classes, not people: choose a cell of the plan instead.")
    try:
        options = cannot_attend(planned.assessment.task, planned.people, planned.assessment.plan, person)
    except InputError as error:
        return Alternatives("", problem=str(error.findings[0]))
    return _found(planned, f"{person} cannot attend", options)


def _found(planned: Planned, who: str, options: list[tuple[int, AnonymityVector]]) -> Alternatives:
    labels, free = planned.assessment.task.slot_labels, planned.free_seats
    return Alternatives(who, tuple(Alternative(" ".join(labels[slot]), int(free[slot]), v) for slot, v in options))


def slots_of(planned: Planned, class_number: int, most: int) -> list[tuple[int, str, int]]:
    """Where the people of a class sit: slot, its name, people; the first ``most``."""
    plan, labels = planned.assessment.plan, planned.assessment.task.slot_labels
    first, last = np.searchsorted(plan.classes, [class_number, class_number + 1])
    places = range(int(first), min(int(last), int(first) + most))
    return [(int(plan.slots[i]), " ".join(labels[plan.slots[i]]), int(plan.counts[i])) for i in places]
