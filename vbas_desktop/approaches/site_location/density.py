"""Sites in a grid, as many per cell as the density of points asks for."""

from __future__ import annotations

import math
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from vbas_desktop.model.progress import Progress
from vbas_desktop.settings.option import Level

from ..interface import Context, Metadata, SiteLocation, option

POINTS = "points"
DENSITY = "density"


class DensitySiteLocation(SiteLocation):
    """A grid of about s cells over the bounding box; each cell gets sites in proportion to the points in it.

    With w ≥ h: rows = max(1, floor(sqrt(s·h/w))), columns = max(1, floor(s/rows)), the other way round if h > w. A cell
    gets floor(points in it · cells / points) sites; the rest go one per cell in descending order of points, round after
    round; with the remainder “density” in descending order of the density that is left: points in it · cells / points,
    minus the sites that the cell has got (equation 27). In a cell with t sites the same formula shapes a grid for t,
    with a site in each sub-cell's centre. O(r + s log s). Sites are ordered cell by cell, row-major from low y and
    low x.

    References
    ----------
    The Voronoi-Based Aggregation System (thesis), § 3.2.2, equations 24 to 27 (remainder “density”), and § 4.5.2
    (remainder “points”).
    """

    metadata: ClassVar[Metadata] = Metadata(
        name="density",
        title="Density grid",
        summary="Spreads the sites over a regular grid, more where there are more initial regions.",
        formula="sites of a cell = ⌊points in it · cells / points⌋, the rest by rank",
        complexity="O(r + s log s)",
        when="Choose it as a baseline, or if cells should follow a regular grid; it counts regions, not records.",
        order=30,
    )

    uses_records: ClassVar[bool] = False

    remainder: Literal["points", "density"] = option(
        POINTS,
        label="Remaining sites",
        level=Level.RESEARCH,
        help="To which cells the sites go that are left after rounding down. “points”: to those with the most points; "
        "“density”: to those with the highest remaining density.",
    )

    def locate(self, context: Context, sites: int, progress: Progress) -> NDArray[np.float64]:
        """Place the sites at the centres of the sub-cells, cell by cell."""
        progress.update("Laying the grid")
        low = context.points.min(axis=0)
        size = context.points.max(axis=0) - low
        rows, columns = grid_shape(sites, size[0], size[1])
        inside = _points_per_cell(context.points, low, size, rows, columns)
        per_cell = _sites_per_cell(inside, sites, self.remainder)
        cell_size = size / (columns, rows)
        templates = {
            int(number): _sub_cell_centres(int(number), *cell_size) for number in np.unique(per_cell)
        }
        progress.update("Placing the sites")
        offsets = np.concatenate([templates[number] for number in per_cell.tolist()])
        cell = np.repeat(np.arange(rows * columns), per_cell)
        corner = low + np.column_stack((cell % columns, cell // columns)) * cell_size
        return np.asarray(corner + offsets)


def grid_shape(number: int, width: float, height: float) -> tuple[int, int]:
    """Choose rows and columns of a grid of about ``number`` cells that are about square."""
    if width == height == 0:
        return 1, number
    if width >= height:
        rows = max(1, math.floor(math.sqrt(number * height / width)))
        return rows, max(1, number // rows)
    columns = max(1, math.floor(math.sqrt(number * width / height)))
    return max(1, number // columns), columns


def _points_per_cell(
    points: NDArray[np.float64],
    low: NDArray[np.float64],
    size: NDArray[np.float64],
    rows: int,
    columns: int,
) -> NDArray[np.int64]:
    """Count the points in each cell, row-major; points on the far edges are in the last cells."""
    shape = np.array((columns, rows))
    extent = np.where(size > 0, size, 1.0)
    cell = np.minimum(np.floor((points - low) / extent * shape).astype(np.int64), shape - 1)
    return np.bincount(cell[:, 1] * columns + cell[:, 0], minlength=rows * columns)


def _sites_per_cell(inside: NDArray[np.int64], sites: int, remainder: str) -> NDArray[np.int64]:
    """Divide the sites among the cells; ties go to the cell that is first in row-major order."""
    cells = inside.size
    # Densities are multiples of 1 / points, so that whole numbers compare them exactly.
    share, left = np.divmod(inside * cells, inside.sum())
    rounds, rest = divmod(sites - int(share.sum()), cells)
    share += rounds
    rank = left if remainder == DENSITY else inside
    share[np.argsort(-rank, kind="stable")[:rest]] += 1
    return np.asarray(share)


def _sub_cell_centres(number: int, width: float, height: float) -> NDArray[np.float64]:
    """Compute the sites of a cell relative to its low corner, line by line; the first lines have one sub-cell more."""
    if number == 0:
        return np.empty((0, 2))
    rows, columns = grid_shape(number, width, height)
    taller = height > width
    lines = columns if taller else rows
    per_line = np.full(lines, number // lines)
    per_line[: number % lines] += 1
    line = np.repeat(np.arange(lines), per_line)
    first = np.concatenate(([0], np.cumsum(per_line)[:-1]))
    within = np.arange(number) - first[line]
    along = (within + 0.5) / per_line[line]
    across = (line + 0.5) / lines
    relative = np.column_stack((across, along) if taller else (along, across))
    return np.asarray(relative * (width, height))
