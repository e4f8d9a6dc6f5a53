"""CP-SAT models of plans: who sits where (`SeatingModel`), and only how classes are cut (`PiecesModel`).

`SeatingModel` counts the people of each row (a class, or several that count alike) in each slot, which side constraints
need. `PiecesModel` leaves out who sits where, so that it solves programmes of thousands of people: classes are cut into
pieces, slots hold patterns of pieces. Which class a piece belongs to does not matter to a slot: two pieces of one class
in one slot would merge into a larger class, which is never worse. So only the number of pieces of each size has to
match between classes and slots.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from ortools.sat.python import cp_model

from vbas_desktop.model.findings import Finding, InputError
from vbas_desktop.model.progress import Cancelled, Progress
from vbas_desktop.model.text import format_count

from .cp_solver import TimeLimit, has_solution, solve
from .plan import AppointmentTask, GroupLimits

_EXPLAIN_SECONDS = 20.0
"""Time for each question which constraint leaves people without a seat."""


class SeatingModel:
    """CP-SAT model of the number of people of each row in each slot, with seats and side constraints.

    ``cells[row, slot]`` is this number, for the slots that a row may use.
    """

    def __init__(self, task: AppointmentTask) -> None:
        self.model = cp_model.CpModel()
        self.task = task
        self.cells: dict[tuple[int, int], Any] = {}
        self._rows_of_slot: list[list[int]] = [[] for _ in range(task.seats.size)]
        self._slots_of_row: list[list[int]] = [[] for _ in range(task.people.size)]
        usable = (
            np.ones((task.people.size, task.seats.size), bool) if task.allowed is None else task.allowed
        )
        for row, slot in np.argwhere(usable).tolist():
            most = int(min(task.people[row], task.seats[slot]))
            if most:
                self.cells[row, slot] = self._add_cell(row, slot, most)
                self._rows_of_slot[slot].append(row)
                self._slots_of_row[row].append(slot)
        for slot, seats in enumerate(task.seats.tolist()):
            self.model.add(sum(self._list_people(slot)) <= seats)
        if task.limits is not None and task.limits.active:
            for slot in range(task.seats.size):
                if task.limits.majority is None:
                    self._limit_each_group(slot, task.limits)
                else:
                    self._limit_other_groups(slot, task.limits, task.limits.majority)

    def _add_cell(self, row: int, slot: int, most: int) -> Any:
        """Add the number of people of a row in a slot, 0 … ``most``."""
        return self.model.new_int_var(0, most, f"x{row}_{slot}")

    def _list_people(self, slot: int, groups: Iterable[int] | None = None) -> list[Any]:
        """List the numbers of people in a slot, of all rows or of those of some groups."""
        rows = self._rows_of_slot[slot]
        if groups is not None:
            assert self.task.limits is not None
            chosen = set(groups)
            rows = [row for row in rows if int(self.task.limits.group[row]) in chosen]
        return [self.cells[row, slot] for row in rows]

    def _add_presence(self, name: str, people: list[Any]) -> cp_model.IntVar:
        """Add a flag that holds if there are any of these people."""
        is_present = self.model.new_bool_var(name)
        self.model.add(sum(people) >= 1).only_enforce_if(is_present)
        self.model.add(sum(people) == 0).only_enforce_if(~is_present)
        return is_present

    def _limit_each_group(self, slot: int, limits: GroupLimits) -> None:
        """Limit the share of the seats for each group, and require several groups if the slot is used."""
        most = math.floor(limits.largest_share * int(self.task.seats[slot]) + 1e-9)
        present = []
        for group in range(limits.number_of_groups):
            people = self._list_people(slot, [group])
            if not people:
                continue
            if limits.largest_share < 1.0:
                self.model.add(sum(people) <= most)
            if limits.fewest_groups > 1:
                present.append(self._add_presence(f"g{group}_{slot}", people))
        self._require_groups(present, limits)

    def _limit_other_groups(self, slot: int, limits: GroupLimits, majority: int) -> None:
        """Limit all groups but the majority together to their share of the people, and require several of them."""
        groups = [group for group in range(limits.number_of_groups) if group != majority]
        share = limits.share
        others = sum(self._list_people(slot, groups))
        self.model.add(share.denominator * others <= share.numerator * sum(self._list_people(slot)))
        by_group = ((group, self._list_people(slot, [group])) for group in groups)
        present = [
            self._add_presence(f"g{group}_{slot}", people) for group, people in by_group if people
        ]
        self._require_groups(present, limits)

    def _require_groups(self, present: list[cp_model.IntVar], limits: GroupLimits) -> None:
        for is_present in present:
            self.model.add(sum(present) >= limits.fewest_groups).only_enforce_if(is_present)

    def seat_everybody(self) -> None:
        """Require a seat for everybody."""
        for row, people in enumerate(self.task.people.tolist()):
            self.model.add(sum(self.cells[row, slot] for slot in self._slots_of_row[row]) == people)

    def seat_most(self) -> None:
        """Maximise the number of people who have a seat."""
        for row, people in enumerate(self.task.people.tolist()):
            self.model.add(sum(self.cells[row, slot] for slot in self._slots_of_row[row]) <= people)
        self.model.maximize(sum(self.cells.values()))

    def find_plan(self, limit: TimeLimit, progress: Progress) -> NDArray[np.int64]:
        """Find any plan that keeps all constraints: rows × slots.

        Raises `InputError` with the constraints in the way if there is none, or if none is found in time; `Cancelled`
        if the user stopped the search.
        """
        status, solver = solve(
            self.model, limit, progress, "Looking for a plan that keeps all constraints"
        )
        if has_solution(status):
            return self.read(solver)
        if limit.stopped:
            raise Cancelled
        if status == cp_model.INFEASIBLE:
            raise InputError(_explain_infeasibility(self.task, progress))
        message = f"No plan was found within {limit.seconds:g} seconds."
        raise InputError(
            Finding("time-limit", message, "Raise the time limit, relax the constraints, or plan fewer.")
        )

    def read(self, solver: cp_model.CpSolver) -> NDArray[np.int64]:
        """Read the solver's numbers of people: rows × slots."""
        people = np.zeros((self.task.people.size, self.task.seats.size), np.int64)
        for (row, slot), cell in self.cells.items():
            people[row, slot] = solver.value(cell)
        return people


class SizedSeatingModel(SeatingModel):
    """Seats everybody and counts the cells by size, so that the anonymity vector can be minimised.

    entries: number of cells of each size, from 1 on. best: the best plan so far, classes × slots.
    """

    def __init__(self, task: AppointmentTask) -> None:
        self._flags: dict[tuple[int, int], list[cp_model.IntVar]] = {}
        super().__init__(task)
        self.seat_everybody()
        self.best = np.zeros((task.people.size, task.seats.size), np.int64)
        self.entries = []
        largest = max(map(len, self._flags.values()), default=0)
        for size in range(1, largest + 1):
            entry = self.model.new_int_var(0, int(task.people.sum()) // size, f"v{size}")
            self.model.add(
                entry == sum(flags[size - 1] for flags in self._flags.values() if len(flags) >= size)
            )
            self.entries.append(entry)

    def _add_cell(self, row: int, slot: int, most: int) -> Any:
        """Add a flag for each possible number of people; at most one of them holds."""
        flags = [self.model.new_bool_var(f"a{row}_{slot}_{size}") for size in range(1, most + 1)]
        self.model.add_at_most_one(flags)
        self._flags[row, slot] = flags
        return sum(size * flag for size, flag in enumerate(flags, 1))

    def values(self, matrix: NDArray[np.int64]) -> list[int]:
        """Count the cells of a plan by size, padded to the number of levels."""
        counts = np.bincount(matrix[matrix > 0], minlength=len(self.entries) + 1)[1:]
        return [int(count) for count in counts]

    def hint(self, model: cp_model.CpModel) -> None:
        """Pass the best plan so far to the solver."""
        for cell, flags in self._flags.items():
            for size, flag in enumerate(flags, 1):
                model.add_hint(flag, bool(self.best[cell] == size))

    def accept(self, solver: cp_model.CpSolver) -> list[int]:
        """Take the solver's plan over as the best one and return its values."""
        self.best = self.read(solver)
        return self.values(self.best)


def _explain_infeasibility(task: AppointmentTask, progress: Progress) -> Finding:
    """Find the first constraint that leaves people without a seat, and how many; or all together if none does alone.

    The limits on groups are tried in the slots that each class may use.
    """
    limits = task.limits
    assert limits is not None
    if limits.majority is None:
        share_text = f"at most {limits.percent} of a slot for one group"
        groups_text = f"at least {format_count(limits.fewest_groups, 'group')} in a slot"
    else:
        share_text = f"at most {limits.percent} of a slot for all groups but the majority together"
        groups_text = (
            f"at least {format_count(limits.fewest_groups, 'other group')} in a slot where there are any"
        )
    alone = {
        "the slots that each class may use": replace(limits, largest_share=1.0, fewest_groups=1),
        share_text: replace(limits, fewest_groups=1),
        groups_text: replace(limits, largest_share=1.0),
    }
    for description, limit in alone.items():
        missing = _count_unseated(task, limit, progress)
        if missing:
            message = (
                f"With {description}, {format_count(missing, 'person finds', 'people find')} no seat."
            )
            return Finding("infeasible", message, "Relax this constraint.")
    missing = _count_unseated(task, limits, progress)
    message = (
        f"With {share_text} and {groups_text}, {format_count(missing, 'person finds', 'people find')} no seat, "
        "although each limit can be kept alone."
    )
    return Finding("infeasible", message, "Relax one of them.")


def _count_unseated(task: AppointmentTask, limits: GroupLimits, progress: Progress) -> int:
    """Count the people without a seat under these limits; 0 if that is not found out in time."""
    model = SeatingModel(replace(task, limits=limits))
    model.seat_most()
    status, solver = solve(
        model.model, TimeLimit(_EXPLAIN_SECONDS), progress, "Looking for what is in the way"
    )
    return int(task.people.sum()) - round(solver.objective_value) if has_solution(status) else 0


_PATTERN_LIMIT = 20_000
"""Patterns per model up to which they are listed; above, slots get a variable per piece size instead."""


class PiecesModel:
    """CP-SAT model over piece sizes; keeps the best cutting and filling found so far."""

    def __init__(self, task: AppointmentTask, start: NDArray[np.int64]) -> None:
        self.model = cp_model.CpModel()
        self._task = task
        self._largest = int(min(task.people.max(initial=0), task.seats.max(initial=0)))
        sizes = range(1, self._largest + 1)
        self._cut = [
            {
                size: self.model.new_int_var(0, people // size, f"y{number}_{size}")
                for size in sizes
                if size <= people
            }
            for number, people in enumerate(task.people.tolist())
        ]
        for people, row in zip(task.people.tolist(), self._cut, strict=True):
            self.model.add(sum(size * variable for size, variable in row.items()) == people)
        self._slots = _add_slots(self.model, task.seats, self._largest)
        self.entries = []
        for size in sizes:
            entry = self.model.new_int_var(0, int(task.people.sum()) // size, f"v{size}")
            self.model.add(entry == sum(row[size] for row in self._cut if size in row))
            self.model.add(entry == sum(slots.pieces(size) for slots in self._slots))
            self.entries.append(entry)
        self._cuts = _count_pieces(start)
        self._fillings = _count_pieces(start.T)

    def values(self) -> list[int]:
        """Count the pieces of the best solution by size, padded to the largest possible piece."""
        total: Counter[int] = sum(self._cuts, Counter())
        return [total[size] for size in range(1, self._largest + 1)]

    def hint(self, model: cp_model.CpModel) -> None:
        """Pass the best solution so far to the solver."""
        for row, cut in zip(self._cut, self._cuts, strict=True):
            for size, variable in row.items():
                model.add_hint(variable, cut[size])
        for slots in self._slots:
            slots.hint(model, self._fillings)

    def accept(self, solver: cp_model.CpSolver) -> list[int]:
        """Take the solver's solution over as the best one and return its values."""
        cuts = [
            Counter({size: solver.value(variable) for size, variable in row.items()})
            for row in self._cut
        ]
        fillings: list[Counter[int]] = [Counter() for _ in range(self._task.seats.size)]
        for slots in self._slots:
            slots.read(solver, fillings)
        self._cuts = [+cut for cut in cuts]
        self._fillings = fillings
        return self.values()

    def build_matrix(self) -> NDArray[np.int64]:
        """Build the classes × slots matrix: each piece of a slot goes to some class that was cut into such a piece."""
        owners: dict[int, list[int]] = {}
        for number, cut in enumerate(self._cuts):
            for size, count in cut.items():
                owners.setdefault(size, []).extend([number] * count)
        matrix = np.zeros((self._task.people.size, self._task.seats.size), np.int64)
        for slot, filling in enumerate(self._fillings):
            for size in sorted(filling.elements()):
                matrix[owners[size].pop(), slot] += size
        return matrix


def _count_pieces(matrix: NDArray[np.int64]) -> list[Counter[int]]:
    """Count the cells of each row by size, without empty ones."""
    return [Counter(int(size) for size in row if size) for row in matrix]


class _PatternSlots:
    """All slots of one capacity: the number of them that hold each pattern."""

    def __init__(self, model: cp_model.CpModel, seats: int, slots: list[int], largest: int) -> None:
        self._slots = slots
        self._patterns = [Counter(pattern) for pattern in _list_patterns(seats, min(seats, largest))]
        self._uses = [
            model.new_int_var(0, len(slots), f"w{seats}_{n}") for n in range(len(self._patterns))
        ]
        model.add(sum(self._uses) == len(slots))

    def pieces(self, size: int) -> cp_model.LinearExprT:
        return sum(
            pattern[size] * use
            for pattern, use in zip(self._patterns, self._uses, strict=True)
            if pattern[size]
        )

    def hint(self, model: cp_model.CpModel, fillings: list[Counter[int]]) -> None:
        used = Counter(tuple(sorted(fillings[slot].elements())) for slot in self._slots)
        for pattern, use in zip(self._patterns, self._uses, strict=True):
            model.add_hint(use, used[tuple(sorted(pattern.elements()))])

    def read(self, solver: cp_model.CpSolver, fillings: list[Counter[int]]) -> None:
        slots = iter(self._slots)
        for pattern, use in zip(self._patterns, self._uses, strict=True):
            for _ in range(solver.value(use)):
                fillings[next(slots)] = pattern


class _CountedSlot:
    """One large slot: the number of pieces of each size in it."""

    def __init__(self, model: cp_model.CpModel, seats: int, slot: int, largest: int) -> None:
        self._slot = slot
        top = min(seats, largest)
        self._counts = {
            size: model.new_int_var(0, seats // size, f"z{slot}_{size}") for size in range(1, top + 1)
        }
        model.add(sum(size * count for size, count in self._counts.items()) <= seats)

    def pieces(self, size: int) -> cp_model.LinearExprT:
        return self._counts.get(size, 0)

    def hint(self, model: cp_model.CpModel, fillings: list[Counter[int]]) -> None:
        for size, count in self._counts.items():
            model.add_hint(count, fillings[self._slot][size])

    def read(self, solver: cp_model.CpSolver, fillings: list[Counter[int]]) -> None:
        fillings[self._slot] = +Counter(
            {size: solver.value(count) for size, count in self._counts.items()}
        )


def _add_slots(
    model: cp_model.CpModel, seats: NDArray[np.int64], largest: int
) -> list[_PatternSlots | _CountedSlot]:
    """Add the variables of all slots: patterns where they are few enough, otherwise numbers of pieces."""
    by_size: dict[int, list[int]] = {}
    for slot, size in enumerate(seats.tolist()):
        by_size.setdefault(size, []).append(slot)
    listed = sum(_count_patterns(size, min(size, largest)) for size in by_size)
    if listed <= _PATTERN_LIMIT:
        return [_PatternSlots(model, size, slots, largest) for size, slots in sorted(by_size.items())]
    return [
        _CountedSlot(model, size, slot, largest)
        for size, slots in sorted(by_size.items())
        for slot in slots
    ]


def _list_patterns(seats: int, largest: int) -> list[tuple[int, ...]]:
    """List all multisets of pieces of at most ``largest`` with a sum of at most ``seats``."""
    result: list[tuple[int, ...]] = [()]
    for size in range(1, min(seats, largest) + 1):
        result += [(*rest, size) for rest in _list_patterns(seats - size, size)]
    return result


@cache
def _count_patterns(seats: int, largest: int) -> int:
    """Count the patterns of a slot; more than `_PATTERN_LIMIT` for large slots."""
    if seats > 60:
        return _PATTERN_LIMIT + 1
    return 1 + sum(
        _count_patterns(seats - size, min(size, seats - size))
        for size in range(1, min(seats, largest) + 1)
    )
