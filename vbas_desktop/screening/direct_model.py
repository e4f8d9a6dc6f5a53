"""The model with a variable for each class in each slot: needed where it matters who sits where."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from ortools.sat.python import cp_model

from vbas_desktop.model.errors import Finding, InputError
from vbas_desktop.model.progress import Cancelled, Progress
from vbas_desktop.model.words import counted

from .solving import Clock, found, solve
from .task import GroupLimits, Task


class DirectModel:
    """CP-SAT model over classes × slots with side constraints; keeps the best plan found so far."""

    def __init__(self, task: Task) -> None:
        self._task = task
        self.model = cp_model.CpModel()
        self._size = _cells(self.model, task)
        for i, f in enumerate(task.people.tolist()):
            self.model.add(sum(t * flag for (c, _, t), flag in self._size.items() if c == i) == f)
        _seat_limits(self.model, task, self._size)
        if task.limits is not None and task.limits.active:
            _group_limits(self.model, task, task.limits, self._size)
        largest = max((t for _, _, t in self._size), default=0)
        self.entries = []
        for t in range(1, largest + 1):
            entry = self.model.new_int_var(0, int(task.people.sum()) // t, f"v{t}")
            self.model.add(entry == sum(flag for (_, _, size), flag in self._size.items() if size == t))
            self.entries.append(entry)
        self.best: NDArray[np.int64] = np.zeros((task.people.size, task.seats.size), np.int64)

    def first_plan(self, clock: Clock, progress: Progress) -> NDArray[np.int64]:
        """Any plan that keeps all constraints; refused with who is in the way where there is none."""
        status, solver = solve(self.model, clock, progress, "Looking for a plan that keeps all constraints")
        if status == cp_model.INFEASIBLE:
            raise InputError(_why_infeasible(self._task, clock, progress))
        if not found(status):
            if clock.stopped:
                raise Cancelled
            raise InputError(
                Finding("time-limit", "No plan was found within the time limit.", "Raise it or relax the constraints.")
            )
        return self._matrix(solver)

    def values(self, matrix: NDArray[np.int64]) -> list[int]:
        """The vector of a plan, padded to the number of levels."""
        counts = np.bincount(matrix[matrix > 0], minlength=len(self.entries) + 1)[1:]
        return [int(count) for count in counts]

    def hint(self, model: cp_model.CpModel) -> None:
        """Tell the solver the best plan so far."""
        for (i, j, t), flag in self._size.items():
            model.add_hint(flag, bool(self.best[i, j] == t))

    def accept(self, solver: cp_model.CpSolver) -> list[int]:
        """Take the solver's plan over as the best one."""
        self.best = self._matrix(solver)
        return self.values(self.best)

    def _matrix(self, solver: cp_model.CpSolver) -> NDArray[np.int64]:
        matrix = np.zeros((self._task.people.size, self._task.seats.size), np.int64)
        for (i, j, t), flag in self._size.items():
            if solver.boolean_value(flag):
                matrix[i, j] = t
        return matrix


_Cells = dict[tuple[int, int, int], cp_model.IntVar]


def _cells(model: cp_model.CpModel, task: Task) -> _Cells:
    """One flag for each possible size of each class in each slot it may use; at most one of them holds."""
    flags: _Cells = {}
    for i, f in enumerate(task.people.tolist()):
        for j, c in enumerate(task.seats.tolist()):
            if task.allowed is not None and not task.allowed[i, j]:
                continue
            sizes = [model.new_bool_var(f"a{i}_{j}_{t}") for t in range(1, min(f, c) + 1)]
            if sizes:
                model.add_at_most_one(sizes)
            flags.update({(i, j, t): flag for t, flag in enumerate(sizes, 1)})
    return flags


def _seat_limits(model: cp_model.CpModel, task: Task, flags: _Cells) -> None:
    for j, c in enumerate(task.seats.tolist()):
        model.add(sum(t * flag for (_, slot, t), flag in flags.items() if slot == j) <= c)


def _majority_limits(model: cp_model.CpModel, task: Task, limits: GroupLimits, flags: _Cells) -> None:
    """Keep all groups but the majority together below their share of the people, and several of them in a slot."""
    share = limits.share
    for j in range(task.seats.size):
        cells = [(int(limits.group[i]), t, flag) for (i, slot, t), flag in flags.items() if slot == j]
        others = sum(t * flag for group, t, flag in cells if group != limits.majority)
        total = sum(t * flag for _, t, flag in cells)
        model.add(share.denominator * others <= share.numerator * total)
        present = []
        for group in sorted({group for group, _, _ in cells if group != limits.majority}):
            here = model.new_bool_var(f"g{group}_{j}")
            model.add_max_equality(here, [flag for own, _, flag in cells if own == group])
            present.append(here)
        for here in present:
            model.add(sum(present) >= limits.fewest_groups).only_enforce_if(here)


def _group_limits(model: cp_model.CpModel, task: Task, limits: GroupLimits, flags: _Cells) -> None:
    if limits.majority is not None:
        _majority_limits(model, task, limits, flags)
        return
    groups = range(int(limits.group.max()) + 1)
    for j, c in enumerate(task.seats.tolist()):
        present = []
        for g in groups:
            cells = [(t, flag) for (i, slot, t), flag in flags.items() if slot == j and limits.group[i] == g]
            if limits.largest_share < 1.0:
                model.add(sum(t * flag for t, flag in cells) <= math.floor(limits.largest_share * c + 1e-9))
            if limits.fewest_groups > 1:
                here = model.new_bool_var(f"g{g}_{j}")
                model.add_max_equality(here, [flag for _, flag in cells] or [0])
                present.append(here)
        if limits.fewest_groups > 1:
            used = model.new_bool_var(f"u{j}")
            model.add_max_equality(used, present)
            model.add(sum(present) >= limits.fewest_groups).only_enforce_if(used)


def _why_infeasible(task: Task, clock: Clock, progress: Progress) -> list[Finding]:
    """Which constraints leave how many people without a seat, each looked at on its own and all together."""
    limits = task.limits
    assert limits is not None
    whole = GroupLimits(limits.group)
    alone = {
        "the slots that each class may use": (task.allowed, whole),
        f"at most {100 * limits.largest_share:.0f} % of a slot for one group": (
            None,
            GroupLimits(limits.group, largest_share=limits.largest_share),
        ),
        f"at least {counted(limits.fewest_groups, 'group')} in a slot": (
            None,
            GroupLimits(limits.group, fewest_groups=limits.fewest_groups),
        ),
    }
    findings = []
    for words, (allowed, one) in alone.items():
        missing = _unseated(task, allowed, one, clock, progress)
        if missing:
            findings.append(
                Finding(
                    "infeasible",
                    f"With {words}, {counted(missing, 'person finds', 'people find')} no seat.",
                    "Relax this constraint.",
                )
            )
    if not findings:
        unseated = counted(_unseated(task, task.allowed, limits, clock, progress), "person")
        findings.append(
            Finding(
                "infeasible",
                f"Each constraint can be kept alone, but together they leave {unseated} without a seat.",
                "Relax one of them.",
            )
        )
    return findings


def _unseated(
    task: Task, allowed: NDArray[np.bool_] | None, limits: GroupLimits, clock: Clock, progress: Progress
) -> int:
    relaxed = Task(task.people, task.seats, allowed=allowed, limits=limits)
    model = cp_model.CpModel()
    flags = _cells(model, relaxed)
    for i, f in enumerate(task.people.tolist()):
        model.add(sum(t * flag for (c, _, t), flag in flags.items() if c == i) <= f)
    _seat_limits(model, relaxed, flags)
    _group_limits(model, relaxed, limits, flags)
    model.maximize(sum(t * flag for (_, _, t), flag in flags.items()))
    _, solver = solve(model, Clock(max(clock.left, 5.0)), progress, "Looking for what is in the way")
    return int(task.people.sum() - round(solver.objective_value))
