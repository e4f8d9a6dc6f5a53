"""Districts that grow: the smallest joins its nearest neighbour until each has enough records; large ones are split."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import NDArray

from vbas_desktop.domain.progress import SILENT, Progress
from vbas_desktop.domain.regions import Regions

from .adjacency import Pairs, known_neighbours, point_neighbours
from .agglomeration import connected
from .districts import merge_small, numbered, split_large

_STAGE = "Growing districts"


@dataclass(frozen=True, eq=False)
class Ground:
    """What districts grow on: which initial regions are neighbours; ``bridges`` of these pairs join islands."""

    pairs: Pairs
    bridges: int


def ground_of(regions: Regions) -> Ground:
    """Polygons with a common border, or the Gabriel graph of the points; islands are joined to the nearest coast."""
    whole = regions.polygons is not None
    found = known_neighbours(regions) if whole else gabriel(regions.points)
    joined = connected(regions.points, found)
    return Ground(joined, len(joined) - len(found))


def gabriel(points: NDArray[np.float64]) -> Pairs:
    """Pairs of points with no other point inside the circle that has the two as its diameter. O(r log r)."""
    pairs = point_neighbours(points)
    middle = (points[pairs[:, 0]] + points[pairs[:, 1]]) / 2
    radius = np.hypot(*(points[pairs[:, 0]] - points[pairs[:, 1]]).T) / 2
    nearest, _ = scipy.spatial.cKDTree(points).query(middle)
    # The two ends themselves are at the radius, give or take a rounding.
    return pairs[nearest >= radius * (1 - 1e-9)]


def grow(
    points: NDArray[np.float64],
    population: NDArray[np.int64],
    pairs: Pairs,
    cutoff: int,
    progress: Progress = SILENT,
    weight: NDArray[np.float64] | None = None,
) -> NDArray[np.int32]:
    """The district of each initial region, numbered by their first regions: contiguous, none below the cutoff.

    ``pairs`` must join all regions; middles are means of the points by ``weight`` (None: all alike). If all of them
    together have fewer records, there is one district. O(r log r) steps, each with the neighbours of one district.
    """
    progress.update(_STAGE)
    people = population[:, None].astype(np.float64)
    weight = np.ones(len(points)) if weight is None else weight
    least, most = np.array([float(cutoff)]), np.array([np.inf])
    district = merge_small(points, weight, people, least, most, pairs, progress, _STAGE)

    def too_large(held: NDArray[np.float64]) -> int | None:
        return 0 if held[0] >= 2 * cutoff else None

    return numbered(split_large(points, people, pairs, district, too_large, least, progress, _STAGE))
