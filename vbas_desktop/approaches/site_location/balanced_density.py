"""Sites in cells of about equal population, row by row (balanced density)."""

from __future__ import annotations

import heapq
import math
from bisect import bisect_left
from dataclasses import dataclass
from itertools import accumulate
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from vbas_desktop.approaches.base import Card, SiteLocation, Situation, parameter
from vbas_desktop.domain.progress import Progress


@dataclass(frozen=True)
class BalancedDensitySiteLocation(SiteLocation):
    """Rows of about equal population from low y to high y, cells of about equal population along x in each row.

    c = floor(sqrt(s)); rows = c + 1 if c(c + 1) ≤ s else c. A row is filled in the order of y until it reaches the
    ideal population round(n / rows); the point that reaches it stays if that is no farther from the ideal. Each row
    gets round(s · its population / n) cells, corrected where the rounding error is largest until there are s; within a
    row the same walk along x makes the cells. A site is the mean of its cell's points. O(r log r + s log r).

    References
    ----------
    The Voronoi-Based Aggregation System, site locations by balanced density.
    """

    card: ClassVar[Card] = Card(
        name="balanced-density",
        title="Balanced density",
        summary="Cuts the area into rows and cells with about the same number of records and puts a site into each.",
        formula="rows ≈ √s;  cells of a row = round(s · row population / n);  site = mean of the cell's points",
        complexity="O(r log r + s log r)",
        when="The first choice: regions of even population, so that few classes fall below k.",
        order=10,
    )

    variant: str = parameter(
        "thesis",
        label="Variant",
        help="“thesis”: a fixed number of rows, the last one takes the rest. “paper”: as many rows as the walk needs; "
        "a rest below half a row joins the row before.",
        choices=("thesis", "paper"),
    )

    def locate(self, situation: Situation, sites: int, progress: Progress) -> NDArray[np.float64]:
        """The means of the cells, row by row from low y, in a row in the order of its list of cells."""
        by_y: NDArray[np.int64] = situation.remember(
            "points by y", lambda: np.argsort(situation.points[:, 1], kind="stable")
        )
        population = situation.populations[by_y].tolist()
        progress.update("Making rows of equal population")
        rows = self._rows(population, sites, situation.records)
        per_row = _cells_per_row(rows, population, sites, situation.records)
        label = np.empty(len(by_y), np.int64)
        first = 0
        for number, ((start, end), cells) in enumerate(zip(rows, per_row, strict=True)):
            progress.update("Making cells of equal population", number / len(rows))
            row = by_y[start:end]
            row = row[np.lexsort((row, situation.points[row, 0]))]
            for cell, (low, high) in enumerate(_cells(situation.populations[row].tolist(), cells)):
                label[row[low:high]] = first + cell
            first += cells
        return _means(situation.points, label, sites)

    def _rows(self, population: list[int], sites: int, records: int) -> list[tuple[int, int]]:
        if self.variant == "thesis":
            root = math.isqrt(sites)
            rows = root + 1 if root * (root + 1) <= sites else root
            return walk(population, _half_up(records, rows), rows)
        ideal = _half_up(records, (math.isqrt(4 * sites) + 1) // 2)
        found = walk(population, ideal, sites)
        start, end = found[-1]
        if len(found) > 1 and 2 * sum(population[start:end]) < ideal:
            found[-2:] = [(found[-2][0], end)]
        return found


def walk(population: list[int], ideal: int, most: int) -> list[tuple[int, int]]:
    """Consecutive ranges that reach the ideal population, at most so many; the last takes all that is left.

    A point is added while the range stays below the ideal. The point that reaches it stays if after − ideal ≤
    ideal − before, else it starts the next range; a range keeps at least one point.
    """
    running = [0, *accumulate(population)]
    points, start = len(population), 0
    ranges: list[tuple[int, int]] = []
    while start < points:
        end = points
        if len(ranges) < most - 1:
            target = running[start] + ideal
            reached = bisect_left(running, target, start + 1)
            if reached <= points:
                stays = running[reached] - target <= target - running[reached - 1]
                end = reached if stays or reached - 1 == start else reached - 1
        ranges.append((start, end))
        start = end
    return ranges


def _half_up(number: int, parts: int) -> int:
    """round(number / parts), half up, in whole numbers."""
    return (2 * number + parts) // (2 * parts)


def _cells_per_row(rows: list[tuple[int, int]], population: list[int], sites: int, records: int) -> list[int]:
    """round(s · row population / n) within 1 … points of the row, corrected where the rounding error is largest."""
    whole = max(1, records)
    points = [end - start for start, end in rows]
    wanted = [sites * sum(population[start:end]) for start, end in rows]
    cells = [min(most, max(1, _half_up(want, whole))) for want, most in zip(wanted, points, strict=True)]
    missing = sites - sum(cells)
    step = 1 if missing > 0 else -1
    # A heap of (−error, row): errors are whole numbers (in units of 1/n of a cell), equal ones go by row.
    heap = [(-step * (want - have * whole), row) for row, (want, have) in enumerate(zip(wanted, cells, strict=True))]
    heapq.heapify(heap)
    while missing:
        error, row = heapq.heappop(heap)
        if cells[row] == (points[row] if step > 0 else 1):
            continue
        cells[row] += step
        missing -= step
        heapq.heappush(heap, (error + whole, row))
    return cells


def _cells(population: list[int], cells: int) -> list[tuple[int, int]]:
    """The cells of one row: the walk along x, and splits of the most populous ones if it made too few."""
    found = walk(population, _half_up(sum(population), cells), cells)
    running = [0, *accumulate(population)]
    while len(found) < cells:
        sizes = [running[end] - running[start] for start, end in found]
        for index in sorted(range(len(found)), key=lambda cell: -sizes[cell]):
            start, end = found[index]
            if end - start > 1 and len(found) < cells:
                cut = _even_cut(running, start, end)
                found[index] = (start, cut)
                found.append((cut, end))
    return found


def _even_cut(running: list[int], start: int, end: int) -> int:
    """Where the two halves' populations are closest; the first such cut."""
    total = running[start] + running[end]
    # |left − right| falls and then rises with the cut, so only the two cuts around the middle can be closest.
    after = min(bisect_left(running, -(-total // 2), start + 1, end), end - 1)
    before = max(after - 1, start + 1)
    best = before if abs(2 * running[before] - total) <= abs(2 * running[after] - total) else after
    return bisect_left(running, running[best], start + 1, end)


def _means(points: NDArray[np.float64], label: NDArray[np.int64], sites: int) -> NDArray[np.float64]:
    """The unweighted mean of each cell's points, summed in file order."""
    number = np.bincount(label, minlength=sites)
    return np.column_stack([np.bincount(label, weights=points[:, axis], minlength=sites) / number for axis in (0, 1)])
