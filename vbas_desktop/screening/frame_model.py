"""How many people of each group sit in which slot, exactly: for slots that not everybody may use, and tight cases."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from ortools.sat.python import cp_model

from vbas_desktop.model.errors import Finding, InputError
from vbas_desktop.model.progress import Cancelled, Progress
from vbas_desktop.model.words import counted

from .solving import Clock, found, solve
from .task import GroupLimits, Task

LARGEST_MODEL = 200_000
"""Pairs of a bundle and a slot that it may use up to which the model is made."""

_SECONDS = 60.0


def solve_frame(task: Task, limits: GroupLimits, bundle: NDArray[np.int64], progress: Progress) -> NDArray[np.int64]:
    """Find numbers of people by bundle and slot that keep all constraints.

    Raises `InputError` that says which constraint leaves how many people without a seat.
    """
    model = FrameModel(task, limits, bundle)
    model.seat_everybody()
    clock = Clock(_SECONDS)
    status, solver = solve(model.model, clock, progress, "Looking for seats that keep all constraints")
    if found(status):
        return model.read(solver)
    if clock.stopped:
        raise Cancelled
    if status != cp_model.INFEASIBLE:
        message = f"No plan was found within {_SECONDS:.0f} seconds."
        raise InputError(Finding("time-limit", message, "Relax the constraints, or plan fewer people at a time."))
    raise InputError(_explain(task, limits, bundle, progress))


class FrameModel:
    """CP-SAT model over bundles × slots; a bundle is all classes of one group that may use the same slots."""

    def __init__(self, task: Task, limits: GroupLimits, bundle: NDArray[np.int64]) -> None:
        _, first = np.unique(bundle, return_index=True)
        self._group = limits.group[first]
        self._people = np.bincount(bundle, task.people, first.size).astype(np.int64)
        usable = np.ones((first.size, task.seats.size), bool) if task.allowed is None else task.allowed[first]
        if int(usable.sum()) > LARGEST_MODEL:
            message = f"{counted(first.size, 'group')} in {counted(task.seats.size, 'slot')} are too many for one plan."
            raise InputError(Finding("too-large", message, "Plan the regions or dates one by one."))
        self.model = cp_model.CpModel()
        self._in_bundle: list[dict[int, Any]] = [{} for _ in range(first.size)]
        self._in_slot: list[dict[int, Any]] = [{} for _ in range(task.seats.size)]
        for number, slot in np.argwhere(usable).tolist():
            most = int(min(self._people[number], task.seats[slot]))
            cell = self.model.new_int_var(0, most, f"x{number}_{slot}")
            self._in_bundle[number][slot] = cell
            self._in_slot[slot][number] = cell
        for slot, cells in enumerate(self._in_slot):
            self.model.add(sum(cells.values()) <= int(task.seats[slot]))
            self._limit(limits, slot)

    def _limit(self, limits: GroupLimits, slot: int) -> None:
        cells = self._in_slot[slot]
        share = limits.share
        others = sum(cell for number, cell in cells.items() if self._group[number] != limits.majority)
        self.model.add(share.denominator * others <= share.numerator * sum(cells.values()))
        present = []
        for group in sorted(set(self._group.tolist()) - {limits.majority}):
            own = [cell for number, cell in cells.items() if self._group[number] == group]
            if own:
                here = self.model.new_bool_var(f"g{group}_{slot}")
                self.model.add(sum(own) >= 1).only_enforce_if(here)
                self.model.add(sum(own) == 0).only_enforce_if(~here)
                present.append(here)
        for here in present:
            self.model.add(sum(present) >= limits.fewest_groups).only_enforce_if(here)

    def seat_everybody(self) -> None:
        """Demand a seat for everybody."""
        for cells, people in zip(self._in_bundle, self._people.tolist(), strict=True):
            self.model.add(sum(cells.values()) == people)

    def seat_most(self) -> None:
        """Seat as many people as possible."""
        for cells, people in zip(self._in_bundle, self._people.tolist(), strict=True):
            self.model.add(sum(cells.values()) <= people)
        self.model.maximize(sum(cell for cells in self._in_bundle for cell in cells.values()))

    def read(self, solver: cp_model.CpSolver) -> NDArray[np.int64]:
        """Return the solver's numbers of people by bundle and slot."""
        people = np.zeros((len(self._in_bundle), len(self._in_slot)), np.int64)
        for number, cells in enumerate(self._in_bundle):
            for slot, cell in cells.items():
                people[number, slot] = solver.value(cell)
        return people


def _explain(task: Task, limits: GroupLimits, bundle: NDArray[np.int64], progress: Progress) -> list[Finding]:
    """Say which constraint leaves how many people without a seat: each alone, else all together."""
    majority = limits.majority
    share = GroupLimits(limits.group, limits.largest_share, 1, majority)
    groups = GroupLimits(limits.group, 1.0, limits.fewest_groups, majority)
    alone = [
        ("the slots that each class may use", GroupLimits(limits.group, 1.0, 1, majority)),
        (f"at most {limits.percent} of a slot for all groups but the majority together", share),
        (f"at least {counted(limits.fewest_groups, 'other group')} in a slot where there are any", groups),
    ]
    findings = []
    for words, some in alone:
        missing = _unseated(task, some, bundle, progress)
        if missing:
            message = f"With {words}, {counted(missing, 'person finds', 'people find')} no seat."
            findings.append(Finding("infeasible", message, "Relax this constraint."))
            break
    if not findings:
        missing = _unseated(task, limits, bundle, progress)
        message = (
            f"With at most {limits.percent} of a slot for all groups but the majority together and at least "
            f"{limits.fewest_groups} of them where there are any, {counted(missing, 'person finds', 'people find')} "
            "no seat, although each limit can be kept alone."
        )
        findings.append(Finding("infeasible", message, "Relax one of them."))
    return findings


def _unseated(task: Task, limits: GroupLimits, bundle: NDArray[np.int64], progress: Progress) -> int:
    model = FrameModel(task, limits, bundle)
    model.seat_most()
    status, solver = solve(model.model, Clock(20.0), progress, "Looking for what is in the way")
    return int(task.people.sum()) - round(solver.objective_value) if found(status) else 0
