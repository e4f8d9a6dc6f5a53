"""What a plan is handed over as: the plan with its measures, the class × slot counts, and who goes where."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vbas_desktop.io.output import staged_folder
from vbas_desktop.io.records.row_texts import row_texts
from vbas_desktop.model.errors import Finding, InputError
from vbas_desktop.model.listing import defuse_row, defused
from vbas_desktop.model.progress import Progress

from .inputs import People
from .planners import RandomPlan
from .task import Plan, Task, alternatives
from .vectors import AnonymityVector, Improvement, improvement


@dataclass(frozen=True, eq=False)
class Assessment:
    """A plan beside the random one, and how much better it is."""

    task: Task
    plan: Plan
    random: Plan
    improvement: Improvement

    def as_dict(self) -> dict[str, Any]:
        """The content of ``plan.json``."""
        return {
            "people": int(self.task.people.sum()),
            "seats": int(self.task.seats.sum()),
            "classes": int((self.task.people > 0).sum()),
            "slots": int(self.task.seats.size),
            "vector_before": list(self.task.before.counts),
            "vector": list(self.plan.vector.counts),
            "vector_random": list(self.random.vector.counts),
            "k": self.plan.vector.k,
            "improvement": self.improvement.value,
            "improvement_exact": self.improvement.exact,
            "improvement_error": self.improvement.error,
            "planner": self.plan.planner,
            "proof": self.plan.proof,
            "seconds": self.plan.seconds,
            **self._other_groups(),
        }

    def _other_groups(self) -> dict[str, Any]:
        """Return where other groups than the majority are; None without a majority."""
        limits = self.task.limits
        if limits is None or limits.majority is None:
            return {"slots_with_other_groups": None, "largest_other_share": None}
        people = self.plan.people_by_group(self.task, limits)
        others = np.delete(people, limits.majority, axis=0).sum(axis=0)
        shares = others / np.maximum(people.sum(axis=0), 1)
        return {
            "slots_with_other_groups": int((others > 0).sum()),
            "largest_other_share": float(shares.max(initial=0.0)),
        }


def assess(task: Task, plan: Plan, random_seed: int, progress: Progress) -> Assessment:
    """Compare a plan with a random one. Limits on groups do not bind the random plan: it is only a yardstick."""
    free = Task(task.people, task.seats, allowed=task.allowed)
    random = plan if plan.planner == "random" else RandomPlan(random_seed).plan(free, progress)
    progress.update("Rating the plan")
    return Assessment(task, plan, random, improvement(plan.vector, random.vector, task.before))


PLAN_FILES = ("plan.json", "plan.csv", "appointments.csv")
"""What the folder of a plan holds."""


def write_plan(assessment: Assessment, people: People, target: str | Path, progress: Progress) -> None:
    """Write ``plan.json``, ``plan.csv`` and, for a file of people, ``appointments.csv`` as one new folder."""
    with staged_folder(Path(target), PLAN_FILES) as folder:
        text = json.dumps(assessment.as_dict(), indent=2) + "\n"
        (folder / "plan.json").write_text(text, encoding="utf-8")
        _write_counts(assessment, people, folder / "plan.csv")
        if people.class_of.size:
            _write_appointments(assessment, people, folder / "appointments.csv", progress)


def _write_counts(assessment: Assessment, people: People, path: Path) -> None:
    task, plan = assessment.task, assessment.plan
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(defuse_row([*people.names, "centre", "time", "people"]))
        for number, slot, count in zip(plan.classes, plan.slots, plan.counts, strict=True):
            labels = map(_escape, (*task.class_labels[number], *task.slot_labels[slot]))
            writer.writerow([*labels, int(count)])


def _escape(text: str) -> str:
    """Put an apostrophe before what a spreadsheet might run, and before another apostrophe: reading takes one away."""
    return f"'{text}" if text.startswith("'") or defused(text) != text else text


def seat_people(people: People, plan: Plan) -> NDArray[np.int64]:
    """The slot of each person: the people of a class take its seats in the order of the file."""
    seats = np.repeat(plan.slots, plan.counts)  # cells are ordered by class
    slot = np.empty(people.class_of.size, np.int64)
    slot[np.argsort(people.class_of, kind="stable")] = seats
    return slot


def _write_appointments(assessment: Assessment, people: People, path: Path, progress: Progress) -> None:
    slot = seat_people(people, assessment.plan)
    labels = assessment.task.slot_labels
    name = people.columns.id or "row"
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(defuse_row([name, "centre", "time"]))
        for number, (person, place) in enumerate(zip(person_ids(people), slot, strict=True)):
            if number % 10_000 == 0:
                progress.update("Writing appointments", number / slot.size)
            writer.writerow(defuse_row([person, *labels[place]]))


def person_ids(people: People) -> Iterator[str]:
    """The people's ids in file order; the row number where no id column is named."""
    table, column = people.table, people.columns.id
    require_ids(people)
    if column is None:
        return (str(table.row_number(number)) for number in range(table.rows))
    facts = table.facts(column)
    if facts.categorical and facts.categories is not None:
        values = facts.categories.values
        return (values[code] for code in table.codes(column))
    place = table.dialect.header.index(column)
    return (row[place] for row in row_texts(table))


def require_ids(people: People) -> None:
    """Refuse people behind an address without a column of ids: they have no row numbers that could name them."""
    if people.table.source.elsewhere and people.columns.id is None and people.columns.count is None:
        message = "Records behind an address have no row numbers, so nothing names the people."
        raise InputError(Finding("no-id", message, "Name a column of ids.", file=people.table.source.path))


def read_plan(folder: str | Path, task: Task, people: People) -> Plan:
    """The plan of an earlier run, checked against the people and slots of today."""
    path = Path(folder) / "plan.csv"
    classes = {label: number for number, label in enumerate(task.class_labels)}
    slots = {label: number for number, label in enumerate(task.slot_labels)}
    try:
        with path.open(encoding="utf-8", newline="") as stream:
            rows = [[text.removeprefix("'") for text in row] for row in csv.reader(stream)][1:]
        cells = [(classes[tuple(row[:-3])], slots[row[-3], row[-2]], int(row[-1])) for row in rows]
    except (OSError, KeyError, ValueError, IndexError):
        raise _other_plan(path) from None
    table = np.array(cells, np.int64).reshape(-1, 3)
    plan = Plan.from_cells(table[:, 0], table[:, 1], table[:, 2], "earlier", "heuristic")
    if plan.violations(task):
        raise _other_plan(path)
    return plan


def _other_plan(path: Path) -> InputError:
    return InputError(
        Finding(
            "other-plan",
            "This is no plan for these people and slots.",
            "Plan anew, or give the files it was made from.",
            file=str(path),
        )
    )


def cannot_attend(task: Task, people: People, plan: Plan, person: str) -> list[tuple[int, AnonymityVector]]:
    """Other slots for one person, best first."""
    for number, known in enumerate(person_ids(people)):
        if known == person:
            return alternatives(task, plan, int(people.class_of[number]), int(seat_people(people, plan)[number]))
    raise InputError(Finding("unknown-person", "Nobody in the people file has this id.", "Check the id."))
