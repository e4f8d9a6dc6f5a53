"""Exact planner: the best possible anonymity vector, with a proof as far as the time allows."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import numpy as np
from numpy.typing import NDArray

from vbas_desktop.approaches.interface import Metadata, option
from vbas_desktop.model.progress import Progress

from .greedy_planner import GreedyPlanner
from .plan import AppointmentPlan, AppointmentTask, Planner

if TYPE_CHECKING:
    from .cp_solver import LevelProof, TimeLimit


class ExactPlanner(Planner):
    """Minimises the number of classes of size 1, then 2, and so on, each level proved before the next.

    Notes
    -----
    Without side constraints the classes are cut into pieces and the slots filled with patterns of pieces, which
    leaves out who sits where; with them, the model has a variable for each class in each slot. Starts from the instant
    plan. Stopping, or the end of the time, keeps the best plan so far and tells which levels are proved.
    """

    metadata: ClassVar[Metadata] = Metadata(
        name="optimal",
        title="Optimal",
        summary="Finds the best possible anonymity vector and proves it, as far as the time limit allows.",
        complexity="exponential in the worst case",
        when="For up to about 2,000 people, or about 100 with side constraints.",
        order=30,
    )
    obeys_limits: ClassVar[bool] = True
    time_limit: float = option(
        60.0, label="Time limit", help="Seconds for all levels.", ge=0.1, le=86_400.0
    )

    def build_plan(self, task: AppointmentTask, progress: Progress) -> AppointmentPlan:
        """Find the best plan and state what is proved of it."""
        # The solver takes a while to load, which only those wait for who use it.
        from .cp_solver import TimeLimit

        limit = TimeLimit(self.time_limit)
        if task.constrained:
            matrix, levels = self._solve_direct(task, limit, progress)
        else:
            matrix = GreedyPlanner().build_plan(task, progress).matrix(task)
            if _fills_every_slot_with_one_class(task, matrix):
                return AppointmentPlan.from_matrix(matrix, self.metadata.name, "optimal")
            matrix, levels = _solve_pieces(task, matrix, limit, progress)
        return AppointmentPlan.from_matrix(matrix, self.metadata.name, _describe_proof(levels))

    def _solve_direct(
        self, task: AppointmentTask, limit: TimeLimit, progress: Progress
    ) -> tuple[NDArray[np.int64], LevelProof]:
        """Minimise level by level with a variable for each class in each slot."""
        from .cp_models import SizedSeatingModel
        from .cp_solver import minimise_levels

        is_limited = task.limits is not None and task.limits.active and not task.has_majority
        model = SizedSeatingModel(task)
        if is_limited:
            model.best = model.find_plan(limit, progress)
        else:
            model.best = GreedyPlanner().build_plan(task, progress).matrix(task)
        levels = minimise_levels(
            model.model,
            model.entries,
            model.values(model.best),
            model.hint,
            model.accept,
            limit,
            progress,
        )
        return model.best, levels


def _solve_pieces(
    task: AppointmentTask, start: NDArray[np.int64], limit: TimeLimit, progress: Progress
) -> tuple[NDArray[np.int64], LevelProof]:
    """Minimise level by level over sizes of pieces, without regard to who sits where."""
    from .cp_models import PiecesModel
    from .cp_solver import minimise_levels

    model = PiecesModel(task, start)
    levels = minimise_levels(
        model.model, model.entries, model.values(), model.hint, model.accept, limit, progress
    )
    return model.build_matrix(), levels


def _fills_every_slot_with_one_class(task: AppointmentTask, matrix: NDArray[np.int64]) -> bool:
    """Say whether no seat is free and every slot holds one class: every other plan splits these classes further."""
    full = bool((matrix.sum(axis=0) == task.seats).all())
    return full and bool(((matrix > 0).sum(axis=0) <= 1).all())


def _describe_proof(levels: LevelProof) -> str:
    if levels.complete:
        return "optimal"
    if levels.proved == 0:
        return "heuristic"
    return "level 1 proved" if levels.proved == 1 else f"levels 1–{levels.proved} proved"
