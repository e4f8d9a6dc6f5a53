"""Lexicographic minimisation with CP-SAT, level by level, in a thread that can be watched and stopped."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from ortools.sat.python import cp_model

from vbas_desktop.model.progress import Cancelled, Progress


@dataclass
class Clock:
    """One time limit over several solves, and whether the user has stopped them."""

    seconds: float
    started: float = field(default_factory=time.perf_counter)
    stopped: bool = False

    @property
    def left(self) -> float:
        """Seconds left; none once stopped."""
        return 0.0 if self.stopped else max(0.0, self.seconds - (time.perf_counter() - self.started))


def solve(model: cp_model.CpModel, clock: Clock, progress: Progress, stage: str) -> tuple[int, cp_model.CpSolver]:
    """Solve within the clock's time; a stop ends the search and is noted on the clock, not raised.

    One search thread: the same solution on one core or two, and on these models as fast as several.
    """
    solver = cp_model.CpSolver()
    solver.parameters.num_workers = 1
    solver.parameters.random_seed = 1
    solver.parameters.max_time_in_seconds = max(clock.left, 0.01)
    outcome: list[Any] = []
    thread = threading.Thread(target=lambda: outcome.append(solver.solve(model)), name="cp-sat")
    thread.start()
    while thread.is_alive():
        thread.join(0.05)
        try:
            progress.update(stage, min(1.0, 1.0 - clock.left / clock.seconds) if clock.seconds else None)
        except Cancelled:
            clock.stopped = True
            solver.stop_search()
            thread.join()
    return int(outcome[0]), solver


def found(status: int) -> bool:
    """Whether the solver has a solution."""
    return status in (cp_model.OPTIMAL, cp_model.FEASIBLE)


@dataclass
class Levels:
    """The outcome of a lexicographic minimisation: the values kept and how many levels are proved."""

    proved: int
    complete: bool


def minimise_levels(
    model: cp_model.CpModel,
    entries: list[Any],
    incumbent: list[int],
    hint: Callable[[cp_model.CpModel], None],
    accept: Callable[[cp_model.CpSolver], list[int]],
    clock: Clock,
    progress: Progress,
) -> Levels:
    """Minimise ``entries[0]``, then ``entries[1]``, …; each is fixed at its minimum before the next.

    ``incumbent`` holds the values of the best solution known; ``accept`` takes a better one over and returns its
    values, ``hint`` tells the model where it is.
    """
    values = incumbent
    for level, entry in enumerate(entries):
        stage = f"Size {level + 1}: at most {values[level]} classes"
        if values[level] > 0:
            if clock.left <= 0:
                return Levels(level, False)
            model.clear_hints()
            hint(model)
            model.add(entry <= values[level])
            model.minimize(entry)
            status, solver = solve(model, clock, progress, stage)
            if found(status):
                candidate = accept(solver)
                if candidate[: level + 1] <= values[: level + 1]:
                    values = candidate
            if status != cp_model.OPTIMAL:
                return Levels(level, False)
        model.add(entry == values[level])
    return Levels(len(entries), True)
