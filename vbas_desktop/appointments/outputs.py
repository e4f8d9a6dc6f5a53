"""Files of a plan: the plan with its measures, the counts by class and slot, and the appointment of each person."""

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
from vbas_desktop.io.records.rows import read_row_texts
from vbas_desktop.model.findings import Finding, InputError
from vbas_desktop.model.progress import Progress
from vbas_desktop.model.text import escape_formula, escape_formulas

from .anonymity_vector import AnonymityVector, Improvement, compute_improvement
from .inputs import PeopleTable
from .plan import AppointmentPlan, AppointmentTask, list_alternatives
from .planners import RandomPlanner


@dataclass(frozen=True, eq=False)
class PlanAssessment:
    """Plan, random plan for the same task, and the improvement of the one over the other."""

    task: AppointmentTask
    plan: AppointmentPlan
    random: AppointmentPlan
    improvement: Improvement

    def as_dict(self) -> dict[str, Any]:
        """Return the content of ``plan.json``."""
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
            **self._describe_other_groups(),
        }

    def _describe_other_groups(self) -> dict[str, Any]:
        """Describe where other groups than the majority are; None without a majority."""
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


def assess_plan(
    task: AppointmentTask, plan: AppointmentPlan, random_seed: int, progress: Progress
) -> PlanAssessment:
    """Compare a plan with a random one. Limits on groups do not bind the random plan: it is only a baseline."""
    free = AppointmentTask(task.people, task.seats, allowed=task.allowed)
    random = (
        plan if plan.planner == "random" else RandomPlanner(random_seed=random_seed).plan(free, progress)
    )
    progress.update("Rating the plan")
    return PlanAssessment(
        task, plan, random, compute_improvement(plan.vector, random.vector, task.before)
    )


PLAN_FILES = ("plan.json", "plan.csv", "appointments.csv")
"""Files in the folder of a plan."""


def write_plan(
    assessment: PlanAssessment, people: PeopleTable, target: str | Path, progress: Progress
) -> None:
    """Write ``plan.json``, ``plan.csv`` and, for a file of people, ``appointments.csv`` as one new folder."""
    with staged_folder(Path(target), PLAN_FILES) as folder:
        text = json.dumps(assessment.as_dict(), indent=2) + "\n"
        (folder / "plan.json").write_text(text, encoding="utf-8")
        _write_counts(assessment, people, folder / "plan.csv")
        if people.class_of.size:
            _write_appointments(assessment, people, folder / "appointments.csv", progress)


def _write_counts(assessment: PlanAssessment, people: PeopleTable, path: Path) -> None:
    task = assessment.task
    plan = assessment.plan
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(escape_formulas([*people.names, "centre", "time", "people"]))
        for number, slot, count in zip(plan.classes, plan.slots, plan.counts, strict=True):
            labels = map(_escape, (*task.class_labels[number], *task.slot_labels[slot]))
            writer.writerow([*labels, int(count)])


def _escape(text: str) -> str:
    """Put an apostrophe before formulas and before apostrophes; `read_plan` removes one."""
    return f"'{text}" if text.startswith("'") or escape_formula(text) != text else text


def assign_people(people: PeopleTable, plan: AppointmentPlan) -> NDArray[np.int64]:
    """Assign a slot to each person: the people of a class get its seats in the order of the file."""
    seats = np.repeat(plan.slots, plan.counts)  # cells are ordered by class
    slot = np.empty(people.class_of.size, np.int64)
    slot[np.argsort(people.class_of, kind="stable")] = seats
    return slot


def _write_appointments(
    assessment: PlanAssessment, people: PeopleTable, path: Path, progress: Progress
) -> None:
    slot = assign_people(people, assessment.plan)
    labels = assessment.task.slot_labels
    name = people.columns.id or "row"
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(escape_formulas([name, "centre", "time"]))
        for number, (person, slot_number) in enumerate(
            zip(iterate_person_ids(people), slot, strict=True)
        ):
            if number % 10_000 == 0:
                progress.update("Writing appointments", number / slot.size)
            writer.writerow(escape_formulas([person, *labels[slot_number]]))


def iterate_person_ids(people: PeopleTable) -> Iterator[str]:
    """Iterate over the people's ids in file order; row numbers where no id column is named."""
    table = people.table
    column = people.columns.id
    require_ids(people)
    if column is None:
        return (str(table.row_number(number)) for number in range(table.rows))
    facts = table.facts(column)
    if facts.categorical and facts.categories is not None:
        values = facts.categories.values
        return (values[code] for code in table.codes(column))
    position = table.file_format.header.index(column)
    return (row[position] for row in read_row_texts(table))


def require_ids(people: PeopleTable) -> None:
    """Raise `InputError` for people behind an address without an id column: they have no row numbers to name them."""
    if people.table.source.elsewhere and people.columns.id is None and people.columns.count is None:
        message = "Records behind an address have no row numbers, so nothing names the people."
        raise InputError(
            Finding("no-id", message, "Name a column of ids.", file=people.table.source.path)
        )


def read_plan(folder: str | Path, task: AppointmentTask, people: PeopleTable) -> AppointmentPlan:
    """Read the plan of an earlier run. Raises `InputError` if it does not fit the people and slots of the task."""
    path = Path(folder) / "plan.csv"
    classes = {label: number for number, label in enumerate(task.class_labels)}
    slots = {label: number for number, label in enumerate(task.slot_labels)}
    try:
        with path.open(encoding="utf-8", newline="") as stream:
            rows = [[text.removeprefix("'") for text in row] for row in csv.reader(stream)][1:]
        cells = [(classes[tuple(row[:-3])], slots[row[-3], row[-2]], int(row[-1])) for row in rows]
    except (OSError, KeyError, ValueError, IndexError):
        raise _plan_mismatch(path) from None
    table = np.array(cells, np.int64).reshape(-1, 3)
    plan = AppointmentPlan.from_cells(table[:, 0], table[:, 1], table[:, 2], "earlier", "heuristic")
    if plan.violations(task):
        raise _plan_mismatch(path)
    return plan


def _plan_mismatch(path: Path) -> InputError:
    """Make the error about a plan that was made of other people or slots."""
    return InputError(
        Finding(
            "other-plan",
            "This is not a plan for these people and slots.",
            "Plan anew, or give the files it was made from.",
            file=str(path),
        )
    )


def find_alternatives(
    task: AppointmentTask, people: PeopleTable, plan: AppointmentPlan, person: str
) -> list[tuple[int, AnonymityVector]]:
    """List other slots for one person with the resulting vectors, best first.

    Raises `InputError` if nobody has this id.
    """
    for number, person_id in enumerate(iterate_person_ids(people)):
        if person_id == person:
            return list_alternatives(
                task, plan, int(people.class_of[number]), int(assign_people(people, plan)[number])
            )
    raise InputError(
        Finding("unknown-person", "Nobody in the people file has this id.", "Check the id.")
    )
