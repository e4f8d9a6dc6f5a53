"""Sites in cells of about equal population, row by row (balanced density)."""

from __future__ import annotations

import heapq
import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from vbas_desktop.algorithms.places import middles
from vbas_desktop.algorithms.population_cells import cut_ranges, label_cells
from vbas_desktop.approaches.base import Card, SiteLocation, Situation, parameter
from vbas_desktop.model.progress import Progress


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
        by_x, by_y = situation.remember(
            "points by x and by y", lambda: [np.argsort(axis, kind="stable") for axis in situation.points.T]
        )
        progress.update("Making rows of equal population")
        rows = self._rows(_running(situation.populations[by_y]), sites)
        per_row = _cells_per_row(situation.populations[by_y], rows, sites, situation.records)
        row_of = np.empty(len(by_y), np.int32)
        row_of[by_y] = np.repeat(np.arange(len(per_row)), np.diff(rows))
        progress.update("Making cells of equal population")
        # By row, in a row by x, equal ones by number.
        order = by_x[np.argsort(row_of[by_x], kind="stable")]
        cell, label = np.empty(len(order), np.int64), np.empty(len(order), np.int64)
        label_cells(_running(situation.populations[order]), rows, per_row, cell)
        label[order] = cell
        return middles(situation.points, label)

    def _rows(self, running: list[int], sites: int) -> NDArray[np.int64]:
        """Where each row begins in the order of y, and where the last one ends."""
        points, records = len(running) - 1, running[-1]
        if self.variant == "thesis":
            root = math.isqrt(sites)
            most = root + 1 if root * (root + 1) <= sites else root
            ideal = _half_up(records, most)
        else:
            most, ideal = sites, _half_up(records, (math.isqrt(4 * sites) + 1) // 2)
        ends = cut_ranges(running, 0, points, ideal, most)
        if self.variant != "thesis" and len(ends) > 1 and 2 * (running[points] - running[ends[-2]]) < ideal:
            del ends[-2]
        return np.array([0, *ends], np.int64)


def _running(population: NDArray[np.int64]) -> list[int]:
    """Sum the populations from the first to each point, beginning with 0; lists are searched faster than arrays."""
    return [0, *np.cumsum(population).tolist()]


def _half_up(number: int, parts: int) -> int:
    """round(number / parts), half up, in whole numbers."""
    return (2 * number + parts) // (2 * parts)


def _cells_per_row(population: NDArray[np.int64], rows: NDArray[np.int64], sites: int, records: int) -> list[int]:
    """round(s · row population / n) within 1 … points of the row, corrected where the rounding error is largest."""
    whole = max(1, records)
    points = np.diff(rows).tolist()
    wanted = [sites * each for each in np.add.reduceat(population, rows[:-1]).tolist()]
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
