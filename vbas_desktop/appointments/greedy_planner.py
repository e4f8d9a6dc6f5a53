"""Greedy planner: whole classes into fitting slots, largest first; and its improvement by exchanges of people."""

from __future__ import annotations

import time
from bisect import bisect_left, bisect_right, insort
from collections import deque
from collections.abc import Iterator
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from vbas_desktop.approaches.interface import Metadata, option
from vbas_desktop.model.progress import Cancelled, Progress

from .majority import seat_groups
from .plan import AppointmentPlan, AppointmentTask, Planner, seat_everyone

CLOSEST = "closest"
LISTING = "listing"
LARGEST = "largest"
FILLS = (CLOSEST, LISTING, LARGEST)
"""Rules for the slot that a class fills first if it fits into none: see `GreedyPlanner`."""


class _FreeSeats:
    """Slots by their number of free seats; among equals, the one that came first is used first."""

    def __init__(self, seats: NDArray[np.int64], slots: NDArray[np.int64]) -> None:
        self._buckets: dict[int, deque[int]] = {}
        order = slots[np.argsort(seats[slots], kind="stable")]
        sizes, starts = np.unique(seats[order], return_index=True)
        for size, members in zip(sizes.tolist(), np.split(order, starts)[1:], strict=True):
            if size > 0:
                self._buckets[size] = deque(members.tolist())
        self._sizes = sorted(self._buckets)

    def choose_size(self, people: int, fill: str = CLOSEST) -> int:
        """Choose the free seats of the next slot: an exact fit, else the largest slot for all, else one to fill.

        ``fill`` says which slot is filled (see `GreedyPlanner`).
        """
        if people in self._buckets:
            return people
        if self._sizes[-1] > people or fill == LARGEST:
            return self._sizes[-1]
        if fill == LISTING:
            n_below = bisect_right(self._sizes, people / 2)
            return self._sizes[max(n_below - 1, 0)]
        position = bisect_left(self._sizes, people / 2)
        neighbours = self._sizes[max(position - 1, 0) : position + 1]
        return min(neighbours, key=lambda size: (abs(2 * size - people), -size))

    def take(self, size: int) -> int:
        """Remove a slot with that many free seats and return it."""
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


class GreedyPlanner(Planner):
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

    metadata: ClassVar[Metadata] = Metadata(
        name="heuristic",
        title="Instant",
        summary="Seats whole classes together, largest first; a million people in less than a second.",
        complexity="O(Q log Q + (Q + R) log C)",
        when="For a first look, and for very large programmes.",
        order=10,
    )
    fill: Literal["closest", "listing", "largest"] = option(
        CLOSEST,
        label="Split classes",
        help="Which slot a class fills first if it fits into none. “closest”: the one closest to half of the class; "
        "“listing”: the largest with at most half; “largest”: the largest.",
    )

    def build_plan(self, task: AppointmentTask, progress: Progress) -> AppointmentPlan:
        """Seat class by class, largest first (ties: input order)."""
        if task.has_majority:
            cells = seat_groups(
                task, lambda people, seats: seat_freely(people, seats, progress, self.fill), progress
            )
            return AppointmentPlan.from_table(cells, self.metadata.name, "heuristic")
        if task.allowed is None:
            return AppointmentPlan.from_table(
                seat_freely(task.people, task.seats, progress, self.fill),
                self.metadata.name,
                "heuristic",
            )
        free = task.seats.astype(np.int64).copy()
        seated: list[tuple[int, int, int]] = []
        for number in _iterate_largest_first(task.people, progress):
            slots = _FreeSeats(free, np.flatnonzero(task.allowed[number]))
            seated_cells = _seat_class(number, int(task.people[number]), slots, self.fill)
            for _, slot, people in seated_cells:
                free[slot] -= people
            seated += seated_cells
        table = np.array(seated, np.int64).reshape(-1, 3)
        if table[:, 2].sum() < task.people.sum():
            return AppointmentPlan.from_matrix(
                seat_everyone(task, table), self.metadata.name, "heuristic"
            )
        return AppointmentPlan.from_cells(
            table[:, 0], table[:, 1], table[:, 2], self.metadata.name, "heuristic"
        )


def seat_freely(
    people: NDArray[np.int64], seats: NDArray[np.int64], progress: Progress, fill: str = CLOSEST
) -> NDArray[np.int64]:
    """Seat classes where every slot may be used; return rows of class, slot and people."""
    slots = _FreeSeats(seats.astype(np.int64), np.arange(seats.size))
    cells: list[tuple[int, int, int]] = []
    sizes = people.tolist()
    for number in _iterate_largest_first(people, progress):
        cells += _seat_class(number, sizes[number], slots, fill)
    return np.array(cells, np.int64).reshape(-1, 3)


def _iterate_largest_first(people: NDArray[np.int64], progress: Progress) -> Iterator[int]:
    """Yield the classes by descending size, equal ones in input order, and report progress."""
    order = np.argsort(-people, kind="stable").tolist()
    for done, number in enumerate(order):
        if done % 256 == 0:
            progress.update("Seating classes", done / len(order))
        yield number


def _seat_class(number: int, people: int, slots: _FreeSeats, fill: str) -> list[tuple[int, int, int]]:
    """Seat as many people of a class as there are seats for; return rows of class, slot and people."""
    cells = []
    while people and slots:
        size = slots.choose_size(people, fill)
        slot = slots.take(size)
        seated = min(size, people)
        cells.append((number, slot, seated))
        slots.give_back(slot, size - seated)
        people -= seated
    return cells


_MATRIX_LIMIT = 40_000_000
"""Cells (classes × slots) up to which exchanges are tried; larger plans stay as the greedy planner makes them."""

_TRIES = 2_000_000
"""Exchanges that are tried between two updates of the progress."""


class ExchangePlanner(Planner):
    """Starts from the instant plan and exchanges people of two classes (or free seats) between two slots.

    Notes
    -----
    For each class in each slot, smallest first, all exchanges of t people with another slot are tried; one is made
    when the anonymity vector gets smaller. Ends when no exchange helps, at the time limit, or when stopped; the plan
    at that moment is kept. One round is O(pieces · Q · R · largest piece).
    """

    metadata: ClassVar[Metadata] = Metadata(
        name="better",
        title="Better",
        summary="Improves the instant plan by exchanging people between slots until nothing helps or time is up.",
        complexity="O(pieces · Q · R · largest piece) per round",
        when="For programmes of up to some thousand people, when a few seconds are worth a better vector.",
        order=20,
    )
    time_limit: float = option(
        10.0, label="Time limit", help="Seconds for the exchanges.", ge=0.0, le=86_400.0
    )

    fill: Literal["closest", "listing", "largest"] = option(
        CLOSEST,
        label="Split classes",
        help="How the instant plan that is improved splits classes: see there.",
    )

    def build_plan(self, task: AppointmentTask, progress: Progress) -> AppointmentPlan:
        """Build the greedy plan and improve it by exchanges."""
        start = GreedyPlanner(fill=self.fill).build_plan(task, progress)
        if task.people.size * task.seats.size > _MATRIX_LIMIT:
            # The instant plan keeps every constraint.
            return AppointmentPlan(start.classes, start.slots, start.counts, self.metadata.name)
        matrix = exchange_people(task, start.matrix(task), progress, self.time_limit)
        return AppointmentPlan.from_matrix(matrix, self.metadata.name, "heuristic")


def exchange_people(
    task: AppointmentTask, matrix: NDArray[np.int64], progress: Progress, seconds: float
) -> NDArray[np.int64]:
    """Improve a plan (classes × slots) by exchanges until none helps, ``seconds`` are over or the user cancels."""
    from vbas_desktop.algorithms.kernels.appointments import Exchanges, prepare_sweep, sweep

    # The last row of the state holds the free seats, so that moving one person is an exchange too.
    free = (task.seats - matrix.sum(axis=0))[None, :]
    allowed = task.allowed if task.allowed is not None else np.ones(matrix.shape, bool)
    state = np.vstack([matrix, free])
    is_allowed = np.vstack([allowed, np.ones((1, allowed.shape[1]), bool)])
    exchanges = Exchanges(state, is_allowed, *_encode_group_limits(task, matrix))
    pieces = _list_pieces(state)
    prepare_sweep(exchanges, pieces, progress)
    started = time.perf_counter()
    n_exchanges = 0
    position = 0
    while position < len(pieces):
        elapsed = time.perf_counter() - started
        if elapsed > seconds:
            break
        try:
            progress.update(
                f"Exchanging people ({n_exchanges:,} exchanges)", min(1.0, elapsed / max(seconds, 1e-9))
            )
        except Cancelled:
            break
        position, n_made = sweep(exchanges, pieces, position, _TRIES)
        n_exchanges += n_made
        if n_made:
            pieces = _list_pieces(state)
            position = 0
    return state[:-1]


def _encode_group_limits(
    task: AppointmentTask, matrix: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Encode the limits beside a majority for the compiled loops.

    Returns the group of each row of the state (−1: free seats), the people of each group in each slot (groups × slots),
    and majority, numerator and denominator of the share and fewest groups; all are empty without such limits.
    """
    limits = task.limits
    if limits is None or not task.has_majority or limits.majority is None:
        return np.zeros(0, np.int64), np.zeros((0, 0), np.int64), np.zeros(0, np.int64)
    people = np.zeros((limits.number_of_groups, task.seats.size), np.int64)
    np.add.at(people, limits.group, matrix)
    share = limits.share
    numbers = [limits.majority, share.numerator, share.denominator, limits.fewest_groups]
    return np.append(limits.group, -1).astype(np.int64), people, np.array(numbers, np.int64)


def _list_pieces(state: NDArray[np.int64]) -> NDArray[np.int64]:
    """List class and slot of each non-empty cell of the state, smallest cells first."""
    classes, slots = np.nonzero(state[:-1])
    order = np.lexsort((slots, classes, state[classes, slots]))
    return np.column_stack([classes[order], slots[order]]).astype(np.int64)
