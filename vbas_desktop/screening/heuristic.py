"""The instant planner: whole classes into fitting slots, largest first."""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from collections import deque
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from vbas_desktop.algorithms.ahead import make_ready
from vbas_desktop.algorithms.compiled import compiled
from vbas_desktop.approaches.base import Card, parameter
from vbas_desktop.model.progress import Progress, Silent

from .majority import seat_groups
from .planners import Planner, planner
from .task import Plan, Task, complete
from .vectors import ExactCounts

REHEARSAL = "vbas_desktop.screening.heuristic:rehearse"
"""What makes the loops of planning ready."""

LARGEST_BUCKET = 1 << 14
"""Slots with more seats are left to the general planner: here, looking for a fitting size costs up to so many steps."""

CLOSEST = "closest"
LISTING = "listing"
LARGEST = "largest"
FILLS = (CLOSEST, LISTING, LARGEST)
"""Which slot a class that fits into none fills first: see `Heuristic`."""

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

    def best_size(self, people: int, fill: str = CLOSEST) -> int:
        """Return an exact fit, else the largest slot with room for all, else the slot to fill (see `Heuristic`)."""
        if people in self._buckets:
            return people
        if self._sizes[-1] > people or fill == LARGEST:
            return self._sizes[-1]
        if fill == LISTING:
            below = bisect_right(self._sizes, people / 2)
            return self._sizes[max(below - 1, 0)]
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
    Source 004, Algorithm 2. While q people of a class remain: a slot with exactly q free seats takes all; else the
    largest slot with more than q takes all; else one slot is filled. ``fill`` says which: “closest”, the one whose
    free seats are closest to q/2 (the text of section 7; ties: the larger one); “listing”, the largest one with at
    most q/2 (the printed listing), or the smallest of all where there is none; “largest”, the largest one, which
    gives the printed plan of section 7 with the vector (2, 3, 1, 1). O(Q log Q + (Q + R) log C) for Q classes,
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
    fill: str = parameter(
        CLOSEST,
        label="Split classes",
        help="Which slot a class fills first if it fits into none. “closest”: the one closest to half of the class; "
        "“listing”: the largest with at most half; “largest”: the largest.",
        choices=FILLS,
    )

    def make(self, task: Task, progress: Progress) -> Plan:
        """Seat class by class, largest first (ties: input order)."""
        make_ready(REHEARSAL, progress)
        if task.has_majority:
            cells = seat_groups(task, lambda people, seats: seat_freely(people, seats, progress, self.fill), progress)
            return Plan.from_table(cells, self.card.name, "heuristic")
        free = task.seats.astype(np.int64).copy()
        if task.allowed is None and free.size and int(free.max()) <= LARGEST_BUCKET:
            cells_of_all = seat_all(task.people, free, progress, self.fill)
            return Plan.from_cells(*cells_of_all, self.card.name, "heuristic")
        shared = _FreeSeats(free, np.arange(free.size))
        seated: list[tuple[int, int, int]] = []
        order = np.argsort(-task.people, kind="stable").tolist()
        for done, number in enumerate(order):
            if done % 256 == 0:
                progress.update("Seating classes", done / len(order))
            seats = shared if task.allowed is None else _FreeSeats(free, np.flatnonzero(task.allowed[number]))
            _seat(number, int(task.people[number]), seats, free, seated, self.fill)
        table = np.array(seated, np.int64).reshape(-1, 3)
        if task.allowed is not None and table[:, 2].sum() < task.people.sum():
            return Plan.from_matrix(complete(task, table), self.card.name, "heuristic")
        return Plan.from_cells(table[:, 0], table[:, 1], table[:, 2], self.card.name, "heuristic")


def seat_freely(
    people: NDArray[np.int64], seats: NDArray[np.int64], progress: Progress, fill: str = CLOSEST
) -> NDArray[np.int64]:
    """Seat classes where every slot may be used: cells of class, slot and people."""
    free = seats.astype(np.int64).copy()
    if free.size and int(free.max()) <= LARGEST_BUCKET:
        return np.column_stack(seat_all(people, free, progress, fill))
    shared = _FreeSeats(free, np.arange(free.size))
    cells: list[tuple[int, int, int]] = []
    for number in np.argsort(-people, kind="stable").tolist():
        _seat(number, int(people[number]), shared, free, cells, fill)
    return np.array(cells, np.int64).reshape(-1, 3)


def _seat(
    number: int,
    people: int,
    seats: _FreeSeats,
    free: NDArray[np.int64],
    cells: list[tuple[int, int, int]],
    fill: str = CLOSEST,
) -> None:
    while people and seats:
        size = seats.best_size(people, fill)
        slot = seats.take(size)
        taken = min(size, people)
        cells.append((number, slot, taken))
        free[slot] -= taken
        seats.give_back(slot, size - taken)
        people -= taken


def seat_all(people: NDArray[np.int64], free: NDArray[np.int64], progress: Progress, fill: str = CLOSEST) -> Cells:
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
        some = order[start : start + _CHUNK]
        used = _seat_classes(some, people, head, tail, follow, cells, used, FILLS.index(fill))
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
    fill: int,
) -> int:
    top = head.size - 1
    for number in order:
        left = people[number]
        while left > 0:
            while top > 0 and head[top] < 0:
                top -= 1
            if top == 0:
                return used
            size = _best_size(left, top, head, fill)
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
def _best_size(people: int, top: int, head: NDArray[np.int64], fill: int) -> int:
    """Return an exact fit, else the largest slot with room for all, else the one that ``FILLS[fill]`` says."""
    if people <= top and head[people] >= 0:
        return people
    if top > people or fill == 2:
        return top
    half = (people + 1) // 2
    above = min(half, top)
    while above < top and head[above] < 0:
        above += 1
    below = min(half - 1, top)
    while below > 0 and head[below] < 0:
        below -= 1
    if fill == 1:
        at_most_half = min(people // 2, top)
        while at_most_half > 0 and head[at_most_half] < 0:
            at_most_half -= 1
        return at_most_half if at_most_half > 0 else above
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
