"""The patient planner: improves the instant plan by exchanging people between two slots."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from vbas_desktop.approaches.base import Card, parameter
from vbas_desktop.model.progress import Cancelled, Progress

from .heuristic import CLOSEST, FILLS, Heuristic
from .planners import Planner
from .task import Plan, Task

_MATRIX_LIMIT = 40_000_000
"""Cells up to which exchanges are tried: larger plans keep the instant one."""

_TRIES = 2_000_000
"""Exchanges that are tried between two looks at progress."""


@dataclass(frozen=True)
class Better(Planner):
    """Starts from the instant plan and exchanges people of two classes (or free seats) between two slots.

    Notes
    -----
    For each class in each slot, smallest first, all exchanges of t people with another slot are tried; one is made
    when the anonymity vector gets smaller. Ends when no exchange helps, at the time limit, or when stopped; the plan
    at that moment is kept. One round is O(pieces · Q · R · largest piece).
    """

    card: ClassVar[Card] = Card(
        name="better",
        title="Better",
        summary="Improves the instant plan by exchanging people between slots until nothing helps or time is up.",
        complexity="O(pieces · Q · R · largest piece) per round",
        when="For programmes of up to some thousand people, when a few seconds are worth a better vector.",
        order=20,
    )
    time_limit: float = parameter(10.0, label="Time limit", help="Seconds for the exchanges.", low=0.0, high=86_400.0)

    fill: str = parameter(
        CLOSEST,
        label="Split classes",
        help="How the instant plan that is improved splits classes: see there.",
        choices=FILLS,
    )

    def make(self, task: Task, progress: Progress) -> Plan:
        """The instant plan, improved."""
        start = Heuristic(self.fill).make(task, progress)
        if task.people.size * task.seats.size > _MATRIX_LIMIT:
            # The instant plan keeps every constraint.
            return Plan(start.classes, start.slots, start.counts, self.card.name)
        matrix = exchange(task, start.matrix(task), progress, self.time_limit)
        return Plan.from_matrix(matrix, self.card.name, "heuristic")


def exchange(task: Task, matrix: NDArray[np.int64], progress: Progress, seconds: float) -> NDArray[np.int64]:
    """The plan after all helpful exchanges that fit into the time limit. The last row holds the free seats."""
    from vbas_desktop.algorithms.kernels.appointments import sweep
    from vbas_desktop.algorithms.kernels.preparation import prepare

    free = (task.seats - matrix.sum(axis=0))[None, :]
    allowed = task.allowed if task.allowed is not None else np.ones(matrix.shape, bool)
    state = np.vstack([matrix, free])
    may = np.vstack([allowed, np.ones((1, allowed.shape[1]), bool)])
    rules = _rules(task, matrix)
    prepare(progress, sweep, state, may, _pieces(state), 0, _TRIES, *rules)
    started = time.perf_counter()
    exchanges, at = 0, 0
    pieces = _pieces(state)
    while at < len(pieces):
        spent = time.perf_counter() - started
        if spent > seconds:
            break
        try:
            progress.update(f"Exchanging people ({exchanges:,} exchanges)", min(1.0, spent / max(seconds, 1e-9)))
        except Cancelled:
            break
        at, made = sweep(state, may, pieces, at, _TRIES, *rules)
        exchanges += made
        if made:
            pieces, at = _pieces(state), 0
    return state[:-1]


def _rules(task: Task, matrix: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Return the limits beside a majority for the compiled loops.

    The group of each row of the state (−1: free seats), the people of each group in each slot, and majority, numerator
    and denominator of the share and fewest groups; all are empty without such limits.
    """
    limits = task.limits
    if limits is None or not task.has_majority or limits.majority is None:
        return np.zeros(0, np.int64), np.zeros((0, 0), np.int64), np.zeros(0, np.int64)
    people = np.zeros((limits.number_of_groups, task.seats.size), np.int64)
    np.add.at(people, limits.group, matrix)
    share = limits.share
    numbers = [limits.majority, share.numerator, share.denominator, limits.fewest_groups]
    return np.append(limits.group, -1).astype(np.int64), people, np.array(numbers, np.int64)


def _pieces(state: NDArray[np.int64]) -> NDArray[np.int64]:
    classes, slots = np.nonzero(state[:-1])
    order = np.lexsort((slots, classes, state[classes, slots]))
    return np.column_stack([classes[order], slots[order]]).astype(np.int64)
