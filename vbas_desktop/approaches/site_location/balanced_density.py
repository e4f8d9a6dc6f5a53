"""Sites in cells of about equal population, row by row (balanced density)."""

from __future__ import annotations

import heapq
import math
from bisect import bisect_left
from collections.abc import Sequence
from itertools import pairwise
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from vbas_desktop.algorithms.nearest_site import weighted_centroids
from vbas_desktop.model.progress import Progress
from vbas_desktop.settings.option import Level

from ..interface import Context, Metadata, SiteLocation, option


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

    metadata: ClassVar[Metadata] = Metadata(
        name="balanced-density",
        title="Balanced density",
        summary="Cuts the area into rows and cells with about the same number of records and puts a site into each.",
        formula="rows ≈ √s;  cells of a row = round(s · row population / n);  site = mean of the cell's points",
        complexity="O(r log r + s log r)",
        when="The first choice: regions of even population, so that few classes fall below k.",
        order=10,
    )

    variant: Literal["thesis", "paper"] = option(
        "thesis",
        label="Variant",
        level=Level.RESEARCH,
        help="“thesis”: a fixed number of rows, the last one takes the rest. “paper”: as many rows as the walk needs; "
        "a rest below half a row joins the row before.",
    )

    def locate(self, context: Context, sites: int, progress: Progress) -> NDArray[np.float64]:
        """Place the sites at the means of the cells, row by row from low y."""
        by_x, by_y = context.cached(
            "points by x and by y",
            lambda: [np.argsort(axis, kind="stable") for axis in context.points.T],
        )
        progress.update("Making rows of equal population")
        rows = self._rows(_cumulate(context.populations[by_y]), sites)
        per_row = _cells_per_row(context.populations[by_y], rows, sites, context.records)
        row_of = np.empty(len(by_y), np.int32)
        row_of[by_y] = np.repeat(np.arange(len(per_row)), np.diff(rows))
        progress.update("Making cells of equal population")
        # By row, in a row by x, equal ones by number.
        order = by_x[np.argsort(row_of[by_x], kind="stable")]
        cell = np.empty(len(order), np.int64)
        label = np.empty(len(order), np.int64)
        label_cells(_cumulate(context.populations[order]), rows, per_row, cell)
        label[order] = cell
        return weighted_centroids(context.points, label)

    def _rows(self, running: list[int], sites: int) -> NDArray[np.int64]:
        """Cut the points, by ascending y, into rows; return the first index of each row and the end of the last one."""
        points = len(running) - 1
        records = running[-1]
        if self.variant == "thesis":
            root = math.isqrt(sites)
            most = root + 1 if root * (root + 1) <= sites else root
            ideal = _half_up(records, most)
        else:
            most = sites
            ideal = _half_up(records, (math.isqrt(4 * sites) + 1) // 2)
        ends = cut_ranges(running, 0, points, ideal, most)
        if (
            self.variant != "thesis"
            and len(ends) > 1
            and 2 * (running[points] - running[ends[-2]]) < ideal
        ):
            del ends[-2]
        return np.array([0, *ends], np.int64)


def _cumulate(population: NDArray[np.int64]) -> list[int]:
    """Sum the populations from the first to each point, beginning with 0; lists are searched faster than arrays."""
    return [0, *np.cumsum(population).tolist()]


def _half_up(number: int, parts: int) -> int:
    """Compute round(number / parts), half up, in whole numbers."""
    return (2 * number + parts) // (2 * parts)


def _cells_per_row(
    population: NDArray[np.int64], rows: NDArray[np.int64], sites: int, records: int
) -> list[int]:
    """Compute round(s · row population / n) for each row, within 1 … its points.

    Where the cells do not add up to s, the rows with the largest rounding errors get one more or less.
    """
    whole = max(1, records)
    points = np.diff(rows).tolist()
    quotas = [sites * row_records for row_records in np.add.reduceat(population, rows[:-1]).tolist()]
    cells = [min(most, max(1, _half_up(want, whole))) for want, most in zip(quotas, points, strict=True)]
    missing = sites - sum(cells)
    step = 1 if missing > 0 else -1
    # A heap of (−error, row): errors are whole numbers (in units of 1/n of a cell), equal ones go by row.
    heap = [
        (-step * (want - have * whole), row)
        for row, (want, have) in enumerate(zip(quotas, cells, strict=True))
    ]
    heapq.heapify(heap)
    while missing:
        error, row = heapq.heappop(heap)
        if cells[row] == (points[row] if step > 0 else 1):
            continue
        cells[row] += step
        missing -= step
        heapq.heappush(heap, (error + whole, row))
    return cells


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
    running: Sequence[int],
    rows: NDArray[np.int64],
    cells_per_row: Sequence[int],
    label: NDArray[np.int64],
) -> None:
    """Number the cells of all rows, ``rows[i]`` to ``rows[i + 1]``, one row after the other, into ``label``.

    Each row is cut into ranges; if these are too few, the most populous ones are split in two, round by round. Cells of
    a row are numbered in the order of the ranges, then of the splits.
    """
    first = 0
    for (begin, finish), n_cells in zip(pairwise(rows.tolist()), cells_per_row, strict=True):
        total = running[finish] - running[begin]
        ends = cut_ranges(running, begin, finish, (2 * total + n_cells) // (2 * n_cells), n_cells)
        cells = list(pairwise([begin, *ends]))
        while len(cells) < n_cells:
            _split_largest(running, cells, n_cells - len(cells))
        for number, (low, high) in enumerate(cells, first):
            label[low:high] = number
        first += n_cells


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
