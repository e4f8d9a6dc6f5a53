"""Sites at the peaks of the density of records."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import ClassVar

import numpy as np
import scipy
from numpy.typing import NDArray

from vbas_desktop.model.progress import Progress

from ..interface import Context, Metadata, SiteLocation, option

_NUMBERS = 1_000_000
"""Neighbours that are asked for at a time, at most."""

_KEPT_NUMBERS = 64_000_000
"""Neighbours that are kept for other numbers of sites, at most: 256 MB."""

_STAGE = "Measuring the density of records"


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

    metadata: ClassVar[Metadata] = Metadata(
        name="density-peaks",
        title="Density peaks",
        summary="Puts the sites where records are dense and no denser place is near.",
        formula="the s points with the largest density · (distance to the nearest denser point)²",
        complexity="O(r · (r/s + log r)) in practice",
        when="Regions should lie around towns, and every site should attract something: distances are shorter than "
        "with balanced density, but with many sites somewhat more records are suppressed.",
        order=27,
    )

    width: float = option(
        0.25,
        label="Width",
        help="Over how many regions the density is measured, as a multiple of the r / s that a site attracts on "
        "average; never fewer than two.",
        ge=0.01,
        le=100.0,
    )

    def locate(self, context: Context, sites: int, progress: Progress) -> NDArray[np.float64]:
        """Return the points of the regions with the highest peaks, highest first."""
        points = context.points
        regions = len(context.regions)
        progress.update(_STAGE, 0.0)
        tree = context.cached("tree of the points", lambda: scipy.spatial.cKDTree(points))
        nearest = context.cached("nearest regions", lambda: _NearestRegions(tree))
        near = min(regions, max(2, round(self.width * regions / sites)))
        density = nearest.densities(context.populations, near, progress)
        rank = np.empty(regions, np.int64)
        rank[np.argsort(-density, kind="stable")] = np.arange(regions)
        peaks = density * _separations(tree, rank, progress) ** 2
        return points[np.lexsort((rank, -peaks))[:sites]].copy()


class _NearestRegions:
    """The nearest regions of each region, kept for other numbers of sites: fewer of them are the first of more."""

    def __init__(self, tree: scipy.spatial.cKDTree) -> None:
        self._tree = tree
        self._lock = threading.Lock()
        self._nearest = np.empty((tree.n, 0), np.int32)

    def densities(
        self, records: NDArray[np.int64], near: int, progress: Progress
    ) -> NDArray[np.float64]:
        """Compute the density at each region: records of the ``near`` nearest / squared distance of the last."""
        with self._lock:
            if near > self._nearest.shape[1] and near * self._tree.n <= _KEPT_NUMBERS:
                more = np.empty((self._tree.n, near), np.int32)
                for rows, _, neighbours in self._query(near, progress):
                    more[rows] = neighbours
                self._nearest = more
            nearest = self._nearest
        density = np.empty(self._tree.n)
        if near > nearest.shape[1]:
            for rows, distance, neighbours in self._query(near, progress):
                density[rows] = self._density(records, distance[:, -1], neighbours)
            return density
        step = max(1, _NUMBERS // near)
        for start in range(0, self._tree.n, step):
            progress.update(_STAGE, 0.5 * start / self._tree.n)
            rows = slice(start, start + step)
            density[rows] = self._density(
                records, self._distance(nearest, rows, near - 1), nearest[rows, :near]
            )
        self._settle_ties(density, records, nearest, near)
        return density

    def _settle_ties(
        self,
        density: NDArray[np.float64],
        records: NDArray[np.int64],
        nearest: NDArray[np.int32],
        near: int,
    ) -> None:
        """Ask again where the last region that counts and the next one are equally far: either may be the last."""
        if near == nearest.shape[1]:
            return
        everything = slice(0, self._tree.n)
        last, following = (
            self._distance(nearest, everything, position) for position in (near - 1, near)
        )
        tied = np.flatnonzero(following <= last * (1 + 1e-12))
        step = max(1, _NUMBERS // near)
        for start in range(0, tied.size, step):
            rows = tied[start : start + step]
            distance, neighbours = self._tree.query(self._tree.data[rows], k=np.arange(1, near + 1))
            density[rows] = self._density(records, distance[:, -1], neighbours)

    def _query(
        self, near: int, progress: Progress
    ) -> Iterator[tuple[slice, NDArray[np.float64], NDArray[np.intp]]]:
        points = self._tree.data
        step = max(1, _NUMBERS // near)
        for start in range(0, self._tree.n, step):
            progress.update(_STAGE, 0.5 * start / self._tree.n)
            rows = slice(start, start + step)
            yield rows, *self._tree.query(points[rows], k=np.arange(1, near + 1))

    def _distance(self, nearest: NDArray[np.int32], rows: slice, position: int) -> NDArray[np.float64]:
        away = self._tree.data[rows] - self._tree.data[nearest[rows, position]]
        return np.asarray(np.sqrt((away**2).sum(axis=1)))

    def _density(
        self, records: NDArray[np.int64], distance: NDArray[np.float64], neighbours: NDArray[np.integer]
    ) -> NDArray[np.float64]:
        # Points at one place: as dense as can be, and still a number.
        least = 1e-18 * (float(np.ptp(self._tree.data, axis=0).max()) or 1.0) ** 2
        return np.asarray(records[neighbours].sum(axis=1) / np.maximum(distance**2, least))


def _separations(
    tree: scipy.spatial.cKDTree, rank: NDArray[np.int64], progress: Progress
) -> NDArray[np.float64]:
    """Compute the distance of each point to the nearest one of lower rank; of the first, to the farthest point."""
    points = tree.data
    away = np.empty(tree.n)
    near = 8
    first = int(rank.argmin())
    away[first] = np.hypot(*(points - points[first]).T).max()
    left = np.flatnonzero(rank > 0)
    while left.size:
        near = min(near, tree.n)
        rest = []
        step = max(1, _NUMBERS // near)
        for start in range(0, left.size, step):
            progress.update("Looking for the nearest denser region", 1.0 - 0.5 * left.size / tree.n)
            some = left[start : start + step]
            distance, neighbours = tree.query(points[some], k=np.arange(1, near + 1))
            denser = rank[neighbours] < rank[some, None]
            away[some] = np.where(denser, distance, np.inf).min(axis=1)
            rest.append(some[~denser.any(axis=1)])
        left = np.concatenate(rest)
        near *= 4
    return away
