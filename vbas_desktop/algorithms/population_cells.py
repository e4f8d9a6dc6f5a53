"""Points in a line cut into ranges of about equal population: rows of an area, and cells of a row."""

from __future__ import annotations

from typing import Any

import numpy as np

from .compiled import compiled


@compiled
def walk(running: Any, begin: int, finish: int, ideal: int, most: int, ends: Any) -> int:
    """Consecutive ranges of the points ``begin … finish − 1`` that reach the ideal population; how many there are.

    ``running`` are the sums of the populations, from 0; ``ends`` gets where each range ends. There are at most
    ``most``: the last takes all that is left. A point is added while the range stays below the ideal. The point that
    reaches it stays if after − ideal ≤ ideal − before, else it starts the next range; a range keeps at least one point.
    """
    start, number = begin, 0
    while start < finish:
        end = finish
        if number < most - 1:
            target = running[start] + ideal
            reached = start + 1
            while reached <= finish and running[reached] < target:
                reached += 1
            if reached <= finish:
                stays = running[reached] - target <= target - running[reached - 1]
                end = reached if stays or reached - 1 == start else reached - 1
        ends[number] = start = end
        number += 1
    return number


@compiled
def label_cells(running: Any, rows: Any, cells: Any, label: Any) -> None:
    """Number the cells of all rows, ``rows[i]`` to ``rows[i + 1]``, one row after the other.

    Each row is walked along; if that makes too few cells, the most populous ones are split in two. Cells of a row are
    numbered in the order of the walk, then of the splits.
    """
    low, high = np.empty(label.size, np.int64), np.empty(label.size, np.int64)
    waiting = np.empty(label.size, np.bool_)
    first = 0
    for row in range(cells.size):
        begin, finish, wanted = rows[row], rows[row + 1], cells[row]
        total = running[finish] - running[begin]
        found = walk(running, begin, finish, (2 * total + wanted) // (2 * wanted), wanted, high)
        low[0] = begin
        low[1:found] = high[: found - 1]
        while found < wanted:
            for cell in range(found):
                waiting[cell] = high[cell] - low[cell] > 1
            number, cell = found, _largest(running, low, high, waiting[:found])
            while cell >= 0 and found < wanted:
                waiting[cell] = False
                low[found], high[found] = _even_cut(running, low[cell], high[cell]), high[cell]
                high[cell] = low[found]
                found += 1
                cell = _largest(running, low, high, waiting[:number])
        for cell in range(found):
            label[low[cell] : high[cell]] = first + cell
        first += wanted


@compiled
def _largest(running: Any, low: Any, high: Any, waiting: Any) -> int:
    """The first of the most populous cells that wait to be split; −1 if none does."""
    best, most = -1, -1
    for cell in range(waiting.size):
        size = running[high[cell]] - running[low[cell]]
        if waiting[cell] and size > most:
            best, most = cell, size
    return best


@compiled
def _even_cut(running: Any, start: int, end: int) -> int:
    """Where the two halves' populations are closest; the first such cut."""
    best = start + 1
    for cut in range(start + 2, end):
        if _unevenness(running, start, cut, end) < _unevenness(running, start, best, end):
            best = cut
    return best


@compiled
def _unevenness(running: Any, start: int, cut: int, end: int) -> int:
    return abs(2 * running[cut] - running[start] - running[end])  # type: ignore[no-any-return]


def rehearse() -> None:
    """Cut a handful of points once."""
    running, rows, cells = np.arange(6), np.array([0, 2, 5]), np.array([1, 2])
    walk(running, 0, 5, 3, 2, np.empty(5, np.int64))
    label_cells(running, rows, cells, np.empty(5, np.int64))
