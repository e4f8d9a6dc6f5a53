"""The patient planner: improves the instant plan by exchanging people between two slots."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from vbas_desktop.algorithms.compiled import compiled
from vbas_desktop.approaches.base import Card, parameter
from vbas_desktop.model.progress import Cancelled, Progress

from .heuristic import CLOSEST, FILLS, Heuristic
from .planners import Planner
from .task import Plan, Task

_MATRIX_LIMIT = 40_000_000
"""Cells up to which exchanges are tried: larger plans keep the instant one."""


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
    free = (task.seats - matrix.sum(axis=0))[None, :]
    allowed = task.allowed if task.allowed is not None else np.ones(matrix.shape, bool)
    state = np.vstack([matrix, free])
    may = np.vstack([allowed, np.ones((1, allowed.shape[1]), bool)])
    rules = _rules(task, matrix)
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
        at, made = _sweep(state, may, pieces, at, 2_000_000, *rules)
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


@compiled
def _sweep(
    state: NDArray[np.int64],
    may: NDArray[np.bool_],
    pieces: NDArray[np.int64],
    at: int,
    budget: int,
    group: NDArray[np.int64],
    people: NDArray[np.int64],
    limits: NDArray[np.int64],
) -> tuple[int, int]:
    """Try the pieces from ``at`` on until one exchange was made or the budget of tries is used up."""
    work = 0
    while at < pieces.shape[0] and work < budget:
        i, j = pieces[at, 0], pieces[at, 1]
        made, tries = _improve_piece(state, may, i, j, group, people, limits)
        if made:
            return at, 1
        work += tries
        at += 1
    return at, 0


@compiled
def _improve_piece(
    state: NDArray[np.int64],
    may: NDArray[np.bool_],
    i: int,
    j: int,
    group: NDArray[np.int64],
    people: NDArray[np.int64],
    limits: NDArray[np.int64],
) -> tuple[bool, int]:
    rows, slots = state.shape
    tries = 0
    for other_slot in range(slots):
        if other_slot == j:
            continue
        for other in range(rows):
            if other == i:
                continue
            # People of i leave j for the other slot, or come from there into j.
            for here, there in ((j, other_slot), (other_slot, j)):
                if may[i, there] and may[other, here]:
                    for t in range(min(state[i, here], state[other, there]), 0, -1):
                        tries += 1
                        if _helps(state, i, here, other, there, t, rows - 1):
                            if limits.size:
                                _regroup(group, people, i, here, other, there, t)
                                kept = _keeps(people, limits, here) and _keeps(people, limits, there)
                                if not kept:
                                    _regroup(group, people, i, here, other, there, -t)
                                    continue
                            _move(state, i, here, other, there, t)
                            return True, tries
    return False, tries


@compiled
def _move(state: NDArray[np.int64], i: int, j: int, other: int, other_slot: int, t: int) -> None:
    state[i, j] -= t
    state[i, other_slot] += t
    state[other, other_slot] -= t
    state[other, j] += t


@compiled
def _regroup(
    group: NDArray[np.int64], people: NDArray[np.int64], i: int, j: int, other: int, other_slot: int, t: int
) -> None:
    """Count t people of class i in the other slot instead of j, and t of the other class in j instead of there."""
    people[group[i], j] -= t
    people[group[i], other_slot] += t
    if group[other] >= 0:
        people[group[other], other_slot] -= t
        people[group[other], j] += t


@compiled
def _keeps(people: NDArray[np.int64], limits: NDArray[np.int64], slot: int) -> bool:
    """Say whether a slot keeps the limits beside a majority. O(groups)."""
    others = 0
    groups = 0
    for number in range(people.shape[0]):
        if number != limits[0] and people[number, slot] > 0:
            others += people[number, slot]
            groups += 1
    total = others + people[limits[0], slot]
    return others * limits[2] <= total * limits[1] and (groups == 0 or groups >= limits[3])


@compiled
def _helps(state: NDArray[np.int64], i: int, j: int, other: int, other_slot: int, t: int, free: int) -> bool:
    """Whether moving t of i from j to the other slot, and t of the other class back, makes the vector smaller."""
    sizes = (
        (state[i, j], state[i, j] - t),
        (state[i, other_slot], state[i, other_slot] + t),
        (state[other, other_slot], state[other, other_slot] - t),
        (state[other, j], state[other, j] + t),
    )
    used = 4 if other != free else 2
    last = 0
    while True:
        smallest = 1 << 62
        for n in range(used):
            for size in sizes[n]:
                if last < size < smallest:
                    smallest = size
        if smallest == 1 << 62:
            return False
        balance = 0
        for n in range(used):
            if sizes[n][0] == smallest:
                balance -= 1
            if sizes[n][1] == smallest:
                balance += 1
        if balance:
            return balance < 0
        last = smallest
