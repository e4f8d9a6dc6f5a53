"""The exact planner: no plan has a better anonymity vector, and it says so only when it is proved."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from vbas_desktop.approaches.base import Card, parameter
from vbas_desktop.model.progress import Progress

from .direct_model import DirectModel
from .heuristic import Heuristic
from .pieces_model import PiecesModel
from .planners import Planner
from .solving import Clock, Levels, minimise_levels
from .task import Plan, Task


@dataclass(frozen=True)
class Optimal(Planner):
    """Minimises the number of classes of size 1, then 2, and so on, each level proved before the next.

    Notes
    -----
    Without side constraints the classes are cut into pieces and the slots filled with patterns of pieces, which
    leaves out who sits where; with them, the model has a variable for each class in each slot. Starts from the instant
    plan. Stopping, or the end of the time, keeps the best plan so far and tells which levels are proved.
    """

    card: ClassVar[Card] = Card(
        name="optimal",
        title="Optimal",
        summary="Finds the best possible anonymity vector and proves it, as far as the time limit allows.",
        complexity="exponential in the worst case",
        when="For up to about 2,000 people, or about 100 with side constraints.",
        order=30,
    )
    obeys_limits: ClassVar[bool] = True
    time_limit: float = parameter(60.0, label="Time limit", help="Seconds for all levels.", low=0.1, high=86_400.0)

    def make(self, task: Task, progress: Progress) -> Plan:
        """The best plan found, with what is proved of it."""
        clock = Clock(self.time_limit)
        if task.constrained:
            matrix, levels = self._direct(task, clock, progress)
        else:
            matrix = Heuristic().make(task, progress).matrix(task)
            if _is_vector_of_seats(task, matrix):
                return Plan.from_matrix(matrix, self.card.name, "optimal")
            matrix, levels = _pieces(task, matrix, clock, progress)
        return Plan.from_matrix(matrix, self.card.name, _proof(levels))

    def _direct(self, task: Task, clock: Clock, progress: Progress) -> tuple[NDArray[np.int64], Levels]:
        limits = task.limits is not None and task.limits.active and not task.has_majority
        model = DirectModel(task)
        if limits:
            model.best = model.first_plan(clock, progress)
        else:
            model.best = Heuristic().make(task, progress).matrix(task)
        levels = minimise_levels(
            model.model, model.entries, model.values(model.best), model.hint, model.accept, clock, progress
        )
        return model.best, levels


def _pieces(task: Task, start: NDArray[np.int64], clock: Clock, progress: Progress) -> tuple[NDArray[np.int64], Levels]:
    model = PiecesModel(task, start)
    levels = minimise_levels(model.model, model.entries, model.values(), model.hint, model.accept, clock, progress)
    return model.seat(), levels


def _is_vector_of_seats(task: Task, matrix: NDArray[np.int64]) -> bool:
    """No seat is free and every slot holds one class: every other plan splits these classes further."""
    full = bool((matrix.sum(axis=0) == task.seats).all())
    return full and bool(((matrix > 0).sum(axis=0) <= 1).all())


def _proof(levels: Levels) -> str:
    if levels.complete:
        return "optimal"
    if levels.proved == 0:
        return "heuristic"
    return "level 1 proved" if levels.proved == 1 else f"levels 1–{levels.proved} proved"
