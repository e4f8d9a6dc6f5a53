"""The instant planner: whole classes into fitting slots, largest first."""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from vbas_desktop.approaches.base import Card, parameter
from vbas_desktop.model.progress import Progress

from .majority import seat_groups
from .planners import Planner
from .task import Plan, Task, complete

CLOSEST = "closest"
LISTING = "listing"
LARGEST = "largest"
FILLS = (CLOSEST, LISTING, LARGEST)
"""Which slot a class that fits into none fills first: see `Heuristic`."""


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
        if task.has_majority:
            cells = seat_groups(task, lambda people, seats: seat_freely(people, seats, progress, self.fill), progress)
            return Plan.from_table(cells, self.card.name, "heuristic")
        if task.allowed is None:
            return Plan.from_table(
                seat_freely(task.people, task.seats, progress, self.fill), self.card.name, "heuristic"
            )
        free = task.seats.astype(np.int64).copy()
        seated: list[tuple[int, int, int]] = []
        for number in _largest_first(task.people, progress):
            slots = _FreeSeats(free, np.flatnonzero(task.allowed[number]))
            placed = _seat(number, int(task.people[number]), slots, self.fill)
            for _, slot, people in placed:
                free[slot] -= people
            seated += placed
        table = np.array(seated, np.int64).reshape(-1, 3)
        if table[:, 2].sum() < task.people.sum():
            return Plan.from_matrix(complete(task, table), self.card.name, "heuristic")
        return Plan.from_cells(table[:, 0], table[:, 1], table[:, 2], self.card.name, "heuristic")


def seat_freely(
    people: NDArray[np.int64], seats: NDArray[np.int64], progress: Progress, fill: str = CLOSEST
) -> NDArray[np.int64]:
    """Seat classes where every slot may be used: cells of class, slot and people."""
    slots = _FreeSeats(seats.astype(np.int64), np.arange(seats.size))
    cells: list[tuple[int, int, int]] = []
    sizes = people.tolist()
    for number in _largest_first(people, progress):
        cells += _seat(number, sizes[number], slots, fill)
    return np.array(cells, np.int64).reshape(-1, 3)


def _largest_first(people: NDArray[np.int64], progress: Progress) -> Iterator[int]:
    """Yield the classes by descending size, equal ones in input order, and tell how far the planner is."""
    order = np.argsort(-people, kind="stable").tolist()
    for done, number in enumerate(order):
        if done % 256 == 0:
            progress.update("Seating classes", done / len(order))
        yield number


def _seat(number: int, people: int, slots: _FreeSeats, fill: str) -> list[tuple[int, int, int]]:
    """Seat as many people of a class as there are seats for: cells of class, slot and people."""
    cells = []
    while people and slots:
        size = slots.best_size(people, fill)
        slot = slots.take(size)
        seated = min(size, people)
        cells.append((number, slot, seated))
        slots.give_back(slot, size - seated)
        people -= seated
    return cells
