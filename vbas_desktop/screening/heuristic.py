"""The instant planner: whole classes into fitting slots, largest first."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections import deque
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from vbas_desktop.algorithms.ahead import make_ready
from vbas_desktop.algorithms.compiled import compiled
from vbas_desktop.approaches.base import Card
from vbas_desktop.domain.progress import Progress, Silent

from .planners import Planner, planner
from .task import Plan, Task, complete
from .vectors import ExactCounts

REHEARSAL = "vbas_desktop.screening.heuristic:rehearse"
"""What makes the loops of planning ready."""

LARGEST_BUCKET = 1 << 14
"""Slots with more seats are left to the general planner: here, looking for a fitting size costs up to so many steps."""

_CHUNK = 20_000
Cells = tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]


class _FreeSeats:
    """Slots bucketed by their free seats; among equals, the one that came first is taken first."""

    def __init__(self, seats: NDArray[np.int64], slots: NDArray[np.int64]) -> None:
        self._buckets: dict[int, deque[int]] = {}
        order = slots[np.argsort(seats[slots], kind="stable")]
        sizes, starts = np.unique(seats[order], return_index=True)
        for size, members in zip(sizes.tolist(), np.split(order, starts)[1:], strict=True):
            if size > 0:
                self._buckets[size] = deque(members.tolist())
        self._sizes = sorted(self._buckets)

    def best_size(self, people: int) -> int:
        """An exact fit, else the largest slot with room for all, else the slot closest to half (ties: larger)."""
        if people in self._buckets:
            return people
        if self._sizes[-1] > people:
            return self._sizes[-1]
        place = bisect_left(self._sizes, people / 2)
        nearby = self._sizes[max(place - 1, 0) : place + 1]
        return min(nearby, key=lambda size: (abs(2 * size - people), -size))

    def take(self, size: int) -> int:
        """Take a slot with that many free seats out of its bucket."""
        bucket = self._buckets[size]
        slot = bucket.popleft()
        if not bucket:
            del self._buckets[size]
            self._sizes.pop(bisect_left(self._sizes, size))
        return slot

    def give_back(self, slot: int, size: int) -> None:
        """Put a slot back with its remaining free seats."""
        if size <= 0:
            return
        if size not in self._buckets:
            self._buckets[size] = deque()
            insort(self._sizes, size)
        self._buckets[size].append(slot)

    def __bool__(self) -> bool:
        return bool(self._sizes)


@dataclass(frozen=True)
class Heuristic(Planner):
    """Classes by descending size; each goes whole into a slot where it can, else it fills the slot nearest half of it.

    Notes
    -----
    While q people of a class remain: a slot with exactly q free seats takes all; else the largest slot with more than
    q takes all; else the slot whose free seats are closest to q/2 is filled. O(Q log Q + (Q + R) log C) for Q classes,
    R slots and C different capacities. With classes limited to some slots, people who find no seat this way are
    placed by re-seating others.
    """

    card: ClassVar[Card] = Card(
        name="heuristic",
        title="Instant",
        summary="Seats whole classes together, largest first; a million people in less than a second.",
        complexity="O(Q log Q + (Q + R) log C)",
        when="For a first look, and for very large programmes.",
        order=10,
    )

    def make(self, task: Task, progress: Progress) -> Plan:
        """Seat class by class, largest first (ties: input order)."""
        make_ready(REHEARSAL, progress)
        free = task.seats.astype(np.int64).copy()
        if task.allowed is None and free.size and int(free.max()) <= LARGEST_BUCKET:
            return Plan.from_cells(*seat_all(task.people, free, progress), self.card.name, "heuristic")
        shared = _FreeSeats(free, np.arange(free.size))
        cells: list[tuple[int, int, int]] = []
        order = np.argsort(-task.people, kind="stable").tolist()
        for done, number in enumerate(order):
            if done % 256 == 0:
                progress.update("Seating classes", done / len(order))
            seats = shared if task.allowed is None else _FreeSeats(free, np.flatnonzero(task.allowed[number]))
            _seat(number, int(task.people[number]), seats, free, cells)
        table = np.array(cells, np.int64).reshape(-1, 3)
        if task.allowed is not None and table[:, 2].sum() < task.people.sum():
            return Plan.from_matrix(complete(task, table), self.card.name, "heuristic")
        return Plan.from_cells(table[:, 0], table[:, 1], table[:, 2], self.card.name, "heuristic")


def _seat(
    number: int, people: int, seats: _FreeSeats, free: NDArray[np.int64], cells: list[tuple[int, int, int]]
) -> None:
    while people and seats:
        size = seats.best_size(people)
        slot = seats.take(size)
        taken = min(size, people)
        cells.append((number, slot, taken))
        free[slot] -= taken
        seats.give_back(slot, size - taken)
        people -= taken


def seat_all(people: NDArray[np.int64], free: NDArray[np.int64], progress: Progress) -> Cells:
    """The same rule compiled, with one queue of slots for each number of free seats.

    Class, slot and people of every cell; largest classes first, ties in input order. Every slot may be used."""
    head, tail = np.full((2, int(free.max()) + 1), -1)
    follow = np.full(free.size, -1)
    _fill(free, head, tail, follow)
    order = np.argsort(-people, kind="stable")
    # A cell ends either its class or its slot, so there are no more than both together.
    cells = np.empty((people.size + free.size, 3), np.int64)
    used = 0
    for start in range(0, order.size, _CHUNK):
        progress.update("Seating classes", start / order.size)
        used = _seat_classes(order[start : start + _CHUNK], people, head, tail, follow, cells, used)
    return cells[:used, 0], cells[:used, 1], cells[:used, 2]


@compiled
def _fill(free: NDArray[np.int64], head: NDArray[np.int64], tail: NDArray[np.int64], follow: NDArray[np.int64]) -> None:
    for slot in range(free.size):
        if free[slot] > 0:
            _append(slot, free[slot], head, tail, follow)


@compiled
def _append(slot: int, size: int, head: NDArray[np.int64], tail: NDArray[np.int64], follow: NDArray[np.int64]) -> None:
    follow[slot] = -1
    if head[size] < 0:
        head[size] = slot
    else:
        follow[tail[size]] = slot
    tail[size] = slot


@compiled
def _seat_classes(
    order: NDArray[np.int64],
    people: NDArray[np.int64],
    head: NDArray[np.int64],
    tail: NDArray[np.int64],
    follow: NDArray[np.int64],
    cells: NDArray[np.int64],
    used: int,
) -> int:
    top = head.size - 1
    for number in order:
        left = people[number]
        while left > 0:
            while top > 0 and head[top] < 0:
                top -= 1
            if top == 0:
                return used
            size = _best_size(left, top, head)
            slot = head[size]
            head[size] = follow[slot]
            taken = min(size, left)
            cells[used, 0], cells[used, 1], cells[used, 2] = number, slot, taken
            used += 1
            left -= taken
            if size > taken:
                _append(slot, size - taken, head, tail, follow)
    return used


@compiled
def _best_size(people: int, top: int, head: NDArray[np.int64]) -> int:
    """An exact fit, else the largest slot with room for all, else the one closest to half (ties: larger)."""
    if people <= top and head[people] >= 0:
        return people
    if top > people:
        return top
    half = (people + 1) // 2
    above = min(half, top)
    while above < top and head[above] < 0:
        above += 1
    below = min(half - 1, top)
    while below > 0 and head[below] < 0:
        below -= 1
    if half > top or (below > 0 and people - 2 * below < 2 * above - people):
        return below
    return above


def rehearse() -> None:
    """The two planners with compiled loops; the second starts from the first. With and without closed slots.

    And the exact index of a plan.
    """
    people, seats = np.array([4, 4, 5, 2]), np.array([4, 2, 4, 3, 2])
    for allowed in (None, np.ones((4, 5), bool)):
        planner("better").make(Task(people, seats, allowed=allowed), Silent())
    ExactCounts(4).indices([(0, 2)])
