"""Arrays become painter paths and polygons without a loop over their points."""

from __future__ import annotations

import numpy as np
import pyqtgraph as pg
from numpy.typing import NDArray
from pyqtgraph import functions
from PySide6.QtGui import QPainterPath, QPolygonF

from .geometry import Rings


def path_of(rings: Rings, shapes: NDArray[np.integer] | None = None) -> QPainterPath:
    """One path (odd-even fill) of all shapes, or of some."""
    xy, joined = (rings.xy, rings.joined) if shapes is None else rings.of(shapes)
    if len(xy) == 0:
        return QPainterPath()
    path: QPainterPath = pg.arrayToQPath(
        np.ascontiguousarray(xy[:, 0]), np.ascontiguousarray(xy[:, 1]), joined, finiteCheck=False
    )
    return path


def paths_by_class(rings: Rings, classes: NDArray[np.integer], number: int) -> list[QPainterPath]:
    """One path per class (a colour); shapes of a negative class are left out."""
    return [path_of(rings, np.flatnonzero(classes == each)) for each in range(number)]


def points_polygon(points: NDArray[np.float64]) -> QPolygonF:
    """Points as Qt draws them in one call."""
    polygon: QPolygonF = functions.create_qpolygonf(len(points))
    if len(points):
        functions.ndarray_from_qpolygonf(polygon)[:] = points
    return polygon
