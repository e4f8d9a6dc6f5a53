"""The model without people in it: classes are cut into pieces, slots take patterns of pieces.

Which class a piece belongs to does not matter to a slot: two pieces of one class in one slot would merge into a larger
class, which is never worse. So only the number of pieces of each size has to match between classes and slots.
"""

from __future__ import annotations

from collections import Counter
from functools import cache

import numpy as np
from numpy.typing import NDArray
from ortools.sat.python import cp_model

from .task import Task

_PATTERN_LIMIT = 20_000
"""Patterns per model up to which they are listed; beyond, slots get a variable per piece size instead."""


class PiecesModel:
    """CP-SAT model over piece sizes; keeps the best cutting and filling found so far."""

    def __init__(self, task: Task, start: NDArray[np.int64]) -> None:
        self.model = cp_model.CpModel()
        self._task = task
        self._largest = int(min(task.people.max(initial=0), task.seats.max(initial=0)))
        sizes = range(1, self._largest + 1)
        self._cut = [
            {t: self.model.new_int_var(0, int(f) // t, f"y{i}_{t}") for t in sizes if t <= f}
            for i, f in enumerate(task.people)
        ]
        for f, row in zip(task.people, self._cut, strict=True):
            self.model.add(sum(t * variable for t, variable in row.items()) == int(f))
        self._slots = _fillings(self.model, task.seats, self._largest)
        self.entries = []
        for t in sizes:
            entry = self.model.new_int_var(0, int(task.people.sum()) // t, f"v{t}")
            self.model.add(entry == sum(row[t] for row in self._cut if t in row))
            self.model.add(entry == sum(slots.pieces(t) for slots in self._slots))
            self.entries.append(entry)
        self._cuts, self._fillings = ([Counter(int(x) for x in row if x) for row in each] for each in (start, start.T))

    def values(self) -> list[int]:
        """The vector of the best solution, padded to the largest possible piece."""
        total: Counter[int] = sum(self._cuts, Counter())
        return [total[t] for t in range(1, self._largest + 1)]

    def hint(self, model: cp_model.CpModel) -> None:
        """Tell the solver the best solution so far."""
        for row, cut in zip(self._cut, self._cuts, strict=True):
            for t, variable in row.items():
                model.add_hint(variable, cut[t])
        for slots in self._slots:
            slots.hint(model, self._fillings)

    def accept(self, solver: cp_model.CpSolver) -> list[int]:
        """Take the solver's solution over as the best one."""
        cuts = [Counter({t: solver.value(variable) for t, variable in row.items()}) for row in self._cut]
        fillings: list[Counter[int]] = [Counter() for _ in range(self._task.seats.size)]
        for slots in self._slots:
            slots.read(solver, fillings)
        self._cuts, self._fillings = [+cut for cut in cuts], fillings
        return self.values()

    def seat(self) -> NDArray[np.int64]:
        """The classes × slots matrix: each wanted piece is given to some class that was cut into such a piece."""
        owners: dict[int, list[int]] = {}
        for number, cut in enumerate(self._cuts):
            for t, count in cut.items():
                owners.setdefault(t, []).extend([number] * count)
        matrix = np.zeros((self._task.people.size, self._task.seats.size), np.int64)
        for slot, filling in enumerate(self._fillings):
            for t in sorted(filling.elements()):
                matrix[owners[t].pop(), slot] += t
        return matrix


class _PatternSlots:
    """All slots of one capacity: how many of them take each pattern."""

    def __init__(self, model: cp_model.CpModel, seats: int, slots: list[int], largest: int) -> None:
        self._slots = slots
        self._patterns = [Counter(pattern) for pattern in _patterns(seats, min(seats, largest))]
        self._uses = [model.new_int_var(0, len(slots), f"w{seats}_{n}") for n in range(len(self._patterns))]
        model.add(sum(self._uses) == len(slots))

    def pieces(self, t: int) -> cp_model.LinearExprT:
        return sum(pattern[t] * use for pattern, use in zip(self._patterns, self._uses, strict=True) if pattern[t])

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
    """One large slot: how many pieces of each size it takes."""

    def __init__(self, model: cp_model.CpModel, seats: int, slot: int, largest: int) -> None:
        self._slot = slot
        top = min(seats, largest)
        self._counts = {t: model.new_int_var(0, seats // t, f"z{slot}_{t}") for t in range(1, top + 1)}
        model.add(sum(t * count for t, count in self._counts.items()) <= seats)

    def pieces(self, t: int) -> cp_model.LinearExprT:
        return self._counts.get(t, 0)

    def hint(self, model: cp_model.CpModel, fillings: list[Counter[int]]) -> None:
        for t, count in self._counts.items():
            model.add_hint(count, fillings[self._slot][t])

    def read(self, solver: cp_model.CpSolver, fillings: list[Counter[int]]) -> None:
        fillings[self._slot] = +Counter({t: solver.value(count) for t, count in self._counts.items()})


def _fillings(model: cp_model.CpModel, seats: NDArray[np.int64], largest: int) -> list[_PatternSlots | _CountedSlot]:
    by_size: dict[int, list[int]] = {}
    for slot, size in enumerate(seats.tolist()):
        by_size.setdefault(size, []).append(slot)
    listed = sum(_number_of_patterns(size, min(size, largest)) for size in by_size)
    if listed <= _PATTERN_LIMIT:
        return [_PatternSlots(model, size, slots, largest) for size, slots in sorted(by_size.items())]
    return [_CountedSlot(model, size, slot, largest) for size, slots in sorted(by_size.items()) for slot in slots]


def _patterns(seats: int, largest: int) -> list[tuple[int, ...]]:
    """All multisets of pieces of at most ``largest`` with a sum of at most ``seats``."""
    result: list[tuple[int, ...]] = [()]
    for t in range(1, min(seats, largest) + 1):
        result += [(*rest, t) for rest in _patterns(seats - t, t)]
    return result


@cache
def _number_of_patterns(seats: int, largest: int) -> int:
    if seats > 60:
        return _PATTERN_LIMIT + 1
    return 1 + sum(_number_of_patterns(seats - t, min(t, seats - t)) for t in range(1, min(seats, largest) + 1))
