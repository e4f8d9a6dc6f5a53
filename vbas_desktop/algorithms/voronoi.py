"""The Voronoi diagram of points as polygons.

GEOS makes it quickly, but folds cells over where many points lie nearly on circles, as those of a grid of longitudes
and latitudes do once they are projected. Qhull, which merges what is nearly one vertex, takes over then.
"""

from __future__ import annotations

import numpy as np
import shapely
from numpy.typing import NDArray
from scipy.spatial import Voronoi

from .coverage import Shapes

_FAR = 40.0
"""How far (in diagonals) the outer points lie that make every cell of the diagram finite."""

_SAME = 1e-12
"""Vertices nearer to each other than this share of the diagram are one."""


def diagram(points: NDArray[np.float64], low: NDArray[np.float64], high: NDArray[np.float64]) -> Shapes:
    """The cell of each of several distinct points, reaching well beyond the box from ``low`` to ``high``."""
    span = float(np.hypot(*(high - low))) or 1.0
    angle = np.arange(8) * (np.pi / 4) + 0.1
    outer = (low + high) / 2 + _FAR * span * np.column_stack((np.cos(angle), np.sin(angle)))
    everything = np.vstack((points, outer))
    made = shapely.voronoi_polygons(shapely.multipoints(everything), ordered=True)
    cells = shapely.get_parts(made)[: len(points)]
    return cells if _sound(cells, points) else _by_qhull(everything, len(points))


def _sound(cells: Shapes, points: NDArray[np.float64]) -> bool:
    return bool(
        shapely.is_valid(cells).all()
        and shapely.intersects_xy(cells, points[:, 0], points[:, 1]).all()
        and shapely.coverage_is_valid(cells)
    )


def _by_qhull(points: NDArray[np.float64], number: int) -> Shapes:
    """The cells of the first points; vertices in the order of their directions, as cells are convex."""
    middle = points.mean(axis=0)
    made = Voronoi(points - middle)
    vertices, same = _merged(made.vertices, _SAME * float(np.ptp(points)))
    cells = np.empty(number, object)
    for i in range(number):
        corners = vertices[np.unique(same[made.regions[made.point_region[i]]])]
        away = corners - (points[i] - middle)
        ring = corners[np.argsort(np.arctan2(away[:, 1], away[:, 0]))] + middle
        cells[i] = shapely.Polygon(ring) if len(ring) > 2 else shapely.Polygon()
    folded = ~shapely.is_valid(cells)
    cells[folded] = shapely.convex_hull(cells[folded])
    return cells


def _merged(vertices: NDArray[np.float64], width: float) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
    _, first, same = np.unique(np.round(vertices / width), axis=0, return_index=True, return_inverse=True)
    return vertices[first], same.ravel()
