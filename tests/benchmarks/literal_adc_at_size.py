"""The literal algorithm of the tests with its parts vectorised as far as they go: what ADC is raced against.

Still everything is recomputed for every candidate: the owners of all points and the class sizes of all regions.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from scipy.sparse import csr_array
from scipy.spatial import Delaunay

sys.path.insert(0, str(Path(__file__).parents[1] / "unit" / "algorithms"))

from literal_adc import LiteralAdc, polygon_of

from vbas_desktop.algorithms.nearest_site import find_nearest_sites


class LiteralAdcAtSize(LiteralAdc):
    """Owners by a k-d tree, sums by a sparse product, stars from a triangulation, polygons by arrays."""

    def aggregate(self, sites) -> tuple[np.ndarray, np.ndarray]:
        """The nearest site of each point, and the class sizes of each site's region."""
        owner = find_nearest_sites(self.points, sites)
        summing = csr_array(
            (np.ones(len(owner), np.int64), (owner, np.arange(len(owner)))), (len(sites), len(owner))
        )
        return owner, summing @ self.counts

    def neighbourhood(self, sites, owner, site: int) -> list[int]:
        """The points in the cell or in the polygon; sites are taken to be in general position."""
        corners, bounded = self._star(sites, site)
        inside = owner == site
        polygon = np.array(polygon_of(corners, bounded, (float(sites[site, 0]), float(sites[site, 1]))))
        if polygon.size:
            near = np.flatnonzero(
                ((self.points >= polygon.min(axis=0)) & (self.points <= polygon.max(axis=0))).all(axis=1)
                & ~inside
            )
            inside[near] = _in_polygon(self.points[near], polygon)
        return np.flatnonzero(inside).tolist()

    def _star(self, sites, site: int) -> tuple[list[tuple[float, float]], bool]:
        triangulation = Delaunay(sites)
        start, neighbours = triangulation.vertex_neighbor_vertices
        adjacent = sites[neighbours[start[site] : start[site + 1]]]
        turned = np.argsort(np.arctan2(adjacent[:, 1] - sites[site, 1], adjacent[:, 0] - sites[site, 0]))
        return [(float(x), float(y)) for x, y in adjacent[turned]], site not in triangulation.convex_hull


def _in_polygon(points, polygon) -> np.ndarray:
    inside, corner = np.zeros(len(points), bool), np.zeros(len(points), bool)
    for (ax, ay), (bx, by) in zip(polygon, np.roll(polygon, -1, axis=0), strict=True):
        side = (bx - ax) * (points[:, 1] - ay) - (by - ay) * (points[:, 0] - ax)
        crosses = (ay > points[:, 1]) != (by > points[:, 1])
        inside ^= crosses & ((side > 0) == (by > ay))
        corner |= (points == (ax, ay)).all(axis=1)
    return inside | corner
