"""Minimise with CP-SAT level by level, in a thread that reports progress and can be cancelled."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from ortools.sat.python import cp_model

from vbas_desktop.model.progress import Cancelled, Progress


@dataclass
class TimeLimit:
    """One time limit over several solves; ``stopped`` is set when the user cancels."""

    seconds: float
    started: float = field(default_factory=time.perf_counter)
    stopped: bool = False

    @property
    def left(self) -> float:
        """Seconds left; 0 once stopped."""
        return 0.0 if self.stopped else max(0.0, self.seconds - (time.perf_counter() - self.started))


def solve(
    model: cp_model.CpModel, limit: TimeLimit, progress: Progress, stage: str
) -> tuple[int, cp_model.CpSolver]:
    """Solve within the time limit and return status and solver; cancelling ends the search but raises nothing.

    One search thread: the same solution on any number of cores, and on these models as fast as several.
    """
    solver = cp_model.CpSolver()
    solver.parameters.num_workers = 1
    solver.parameters.random_seed = 1
    solver.parameters.max_time_in_seconds = max(limit.left, 0.01)
    outcome: list[Any] = []
    thread = threading.Thread(target=lambda: outcome.append(solver.solve(model)), name="cp-sat")
    thread.start()
    while thread.is_alive():
        thread.join(0.05)
        try:
            progress.update(stage, min(1.0, 1.0 - limit.left / limit.seconds) if limit.seconds else None)
        except Cancelled:
            limit.stopped = True
            solver.stop_search()
            thread.join()
    return int(outcome[0]), solver


def has_solution(status: int) -> bool:
    """Say whether a status of the solver comes with a solution."""
    return status in (cp_model.OPTIMAL, cp_model.FEASIBLE)


@dataclass
class LevelProof:
    """Number of levels whose minimum is proved, and whether that is all of them."""

    proved: int
    complete: bool


def minimise_levels(
    model: cp_model.CpModel,
    entries: list[Any],
    incumbent: list[int],
    hint: Callable[[cp_model.CpModel], None],
    accept: Callable[[cp_model.CpSolver], list[int]],
    limit: TimeLimit,
    progress: Progress,
) -> LevelProof:
    """Minimise ``entries[0]``, then ``entries[1]``, …; each is fixed at its minimum before the next.

    ``incumbent`` holds the values of the best solution so far; ``accept`` takes a better one over and returns its
    values, ``hint`` passes it to the model.
    """
    values = incumbent
    for level, entry in enumerate(entries):
        stage = f"Size {level + 1}: at most {values[level]} classes"
        if values[level] > 0:
            if limit.left <= 0:
                return LevelProof(level, False)
            model.clear_hints()
            hint(model)
            model.add(entry <= values[level])
            model.minimize(entry)
            status, solver = solve(model, limit, progress, stage)
            if has_solution(status):
                candidate = accept(solver)
                if candidate[: level + 1] <= values[: level + 1]:
                    values = candidate
            if status != cp_model.OPTIMAL:
                return LevelProof(level, False)
        model.add(entry == values[level])
    return LevelProof(len(entries), True)
