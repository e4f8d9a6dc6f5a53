"""The instant planner's rule compiled, for slots of usual size: one queue of slots for each number of free seats."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from vbas_desktop.algorithms.compiled import compiled
from vbas_desktop.domain.progress import Progress

LARGEST_BUCKET = 1 << 14
"""Slots with more seats are left to the general planner: here, looking for a fitting size costs up to so many steps."""

_CHUNK = 20_000
Cells = tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]


def seat_all(people: NDArray[np.int64], free: NDArray[np.int64], progress: Progress) -> Cells:
    """Class, slot and people of every cell; largest classes first, ties in input order. Every slot may be used."""
    head, tail, follow = _queues(free)
    order = np.argsort(-people, kind="stable")
    # A cell ends either its class or its slot, so there are no more than both together.
    cells = np.empty((people.size + free.size, 3), np.int64)
    used = 0
    for start in range(0, order.size, _CHUNK):
        progress.update("Seating classes", start / order.size)
        used = _seat(order[start : start + _CHUNK], people, head, tail, follow, cells, used)
    return cells[:used, 0], cells[:used, 1], cells[:used, 2]


def _queues(free: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    head, tail = np.full(int(free.max()) + 1, -1), np.full(int(free.max()) + 1, -1)
    follow = np.full(free.size, -1)
    _fill(free, head, tail, follow)
    return head, tail, follow


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
def _seat(
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
