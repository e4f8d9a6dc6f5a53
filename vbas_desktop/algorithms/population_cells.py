"""Cut points in a line into ranges of about equal population: rows of an area, and cells of a row."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray


def cut_ranges(running: Sequence[int], begin: int, finish: int, ideal: int, most: int) -> list[int]:
    """Cut the points ``begin … finish − 1`` into consecutive ranges that reach the ideal population.

    ``running`` are the sums of the populations, from 0. Returns where each range ends. There are at most ``most``
    ranges: the last takes all that is left. A point is added while the range stays below the ideal. The point that
    reaches it stays if after − ideal ≤ ideal − before, else it starts the next range; a range keeps at least one point.
    """
    ends: list[int] = []
    start = begin
    while start < finish:
        end = finish
        if len(ends) < most - 1:
            target = running[start] + ideal
            reached = bisect_left(running, target, start + 1, finish + 1)
            if reached <= finish:
                stays = running[reached] - target <= target - running[reached - 1]
                end = reached if stays or reached - 1 == start else reached - 1
        ends.append(end)
        start = end
    return ends


def label_cells(
    running: Sequence[int], rows: NDArray[np.int64], cells_per_row: Sequence[int], label: NDArray[np.int64]
) -> None:
    """Number the cells of all rows, ``rows[i]`` to ``rows[i + 1]``, one row after the other, into ``label``.

    Each row is cut into ranges; if these are too few, the most populous ones are split in two, round by round. Cells of
    a row are numbered in the order of the ranges, then of the splits.
    """
    first = 0
    for (begin, finish), wanted in zip(pairwise(rows.tolist()), cells_per_row, strict=True):
        total = running[finish] - running[begin]
        ends = cut_ranges(running, begin, finish, (2 * total + wanted) // (2 * wanted), wanted)
        cells = list(pairwise([begin, *ends]))
        while len(cells) < wanted:
            _split_largest(running, cells, wanted - len(cells))
        for number, (low, high) in enumerate(cells, first):
            label[low:high] = number
        first += wanted


def _split_largest(running: Sequence[int], cells: list[tuple[int, int]], most: int) -> None:
    """Split up to ``most`` cells of several points, the most populous first; the second halves are appended."""
    divisible = [number for number, (low, high) in enumerate(cells) if high - low > 1]
    divisible.sort(key=lambda number: running[cells[number][0]] - running[cells[number][1]])
    for number in divisible[:most]:
        low, high = cells[number]
        cut = _even_cut(running, low, high)
        cells[number] = (low, cut)
        cells.append((cut, high))


def _even_cut(running: Sequence[int], start: int, end: int) -> int:
    """Find the first cut between ``start`` and ``end`` where the populations of both halves are closest."""
    both = running[start] + running[end]
    above = bisect_left(running, (both + 1) // 2, start + 1, end)
    if above == start + 1:
        return above
    below = running[above - 1]
    if above < end and 2 * running[above] - both < both - 2 * below:
        return above
    return bisect_left(running, below, start + 1, above)
