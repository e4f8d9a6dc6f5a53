"""Sites at the peaks of the density of records."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import scipy
from numpy.typing import NDArray

from vbas_desktop.approaches.base import Card, SiteLocation, Situation, parameter
from vbas_desktop.model.progress import Progress

_NUMBERS = 1_000_000
"""Neighbours that are asked for at a time, at most."""


@dataclass(frozen=True)
class DensityPeaksSiteLocation(SiteLocation):
    """The points of the s initial regions that are dense and far from any denser one.

    The density of a region is the number of records of the m nearest regions (itself included) divided by the square of
    the distance to the last of them, m = width · r / s but at least 2. Its separation is the distance to the nearest
    denser region (of equally dense ones the first in the file counts as denser); of the densest one, the distance to
    the farthest region. The s regions with the largest density · separation² get the sites: that is about the number
    of records around a region that no denser one is nearer to. O(r · (m + log r)) in practice.

    References
    ----------
    A. Rodriguez, A. Laio: Clustering by fast search and find of density peaks, Science 344, 2014.
    """

    card: ClassVar[Card] = Card(
        name="density-peaks",
        title="Density peaks",
        summary="Puts the sites where records are dense and no denser place is near.",
        formula="the s points with the largest density · (distance to the nearest denser point)²",
        complexity="O(r · (r/s + log r)) in practice",
        when="Regions should lie around towns, and every site should attract something: distances are shorter than "
        "with balanced density, but with many sites somewhat more records are suppressed.",
        order=27,
    )

    width: float = parameter(
        0.25,
        label="Width",
        help="Over how many regions the density is measured, as a multiple of the r / s that a site attracts on "
        "average; never fewer than two.",
        low=0.01,
        high=100.0,
    )

    def locate(self, situation: Situation, sites: int, progress: Progress) -> NDArray[np.float64]:
        """The chosen regions' points, the highest peaks first."""
        points, regions = situation.points, len(situation.regions)
        progress.update("Measuring the density of records", 0.0)
        tree = situation.remember("tree of the points", lambda: scipy.spatial.cKDTree(points))
        near = min(regions, max(2, round(self.width * regions / sites)))
        density = _densities(tree, situation.populations, near, progress)
        rank = np.empty(regions, np.int64)
        rank[np.argsort(-density, kind="stable")] = np.arange(regions)
        peaks = density * _separations(tree, rank, progress) ** 2
        return points[np.lexsort((rank, -peaks))[:sites]].copy()


def _densities(
    tree: scipy.spatial.cKDTree, records: NDArray[np.int64], near: int, progress: Progress
) -> NDArray[np.float64]:
    """Records of so many nearest regions, by the square of the distance that they need."""
    points, density = tree.data, np.empty(tree.n)
    # Points at one place: as dense as can be, and still a number.
    least = 1e-18 * (float(np.ptp(points, axis=0).max()) or 1.0) ** 2
    step = max(1, _NUMBERS // near)
    for start in range(0, tree.n, step):
        progress.update("Measuring the density of records", 0.5 * start / tree.n)
        distance, found = tree.query(points[start : start + step], k=np.arange(1, near + 1))
        density[start : start + step] = records[found].sum(axis=1) / np.maximum(distance[:, -1] ** 2, least)
    return density


def _separations(tree: scipy.spatial.cKDTree, rank: NDArray[np.int64], progress: Progress) -> NDArray[np.float64]:
    """The distance of each point to the nearest one of lower rank; of the first, to the farthest of all."""
    points, away, near = tree.data, np.empty(tree.n), 8
    first = int(rank.argmin())
    away[first] = np.hypot(*(points - points[first]).T).max()
    left = np.flatnonzero(rank > 0)
    while left.size:
        near, rest = min(near, tree.n), []
        step = max(1, _NUMBERS // near)
        for start in range(0, left.size, step):
            progress.update("Looking for the nearest denser region", 1.0 - 0.5 * left.size / tree.n)
            some = left[start : start + step]
            distance, found = tree.query(points[some], k=np.arange(1, near + 1))
            denser = rank[found] < rank[some, None]
            away[some] = np.where(denser, distance, np.inf).min(axis=1)
            rest.append(some[~denser.any(axis=1)])
        left, near = np.concatenate(rest), near * 4
    return away
