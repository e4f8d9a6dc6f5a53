"""Pens, and arrays that become painter paths and polygons without a loop over their points."""

from __future__ import annotations

import numpy as np
import pyqtgraph as pg
from numpy.typing import NDArray
from pyqtgraph import functions
from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QColor, QPainterPath, QPen, QPolygonF, QTransform

from ..presentation.map_shapes import Rings, Tiles

Points = NDArray[np.float64]

_LINE_VERTICES = 100
"""So many vertices have the paths of long lines; shorter ones take longer to make than they save."""


def translucent(colour: str, alpha: float) -> QColor:
    """Give a colour an opacity between 0 and 1."""
    result = QColor(colour)
    result.setAlphaF(alpha)
    return result


def hairline(colour: QColor | str, style: Qt.PenStyle = Qt.PenStyle.SolidLine, width: float = 1) -> QPen:
    """Make a pen that is as wide at every zoom."""
    pen = QPen(QColor(colour), width, style)
    pen.setCosmetic(True)
    pen.setJoinStyle(Qt.PenJoinStyle.BevelJoin)
    return pen


def dashed(colour: QColor | str) -> QPen:
    """Make the pen of Voronoi cells, on the map and in its legend: one dash pattern at every zoom."""
    pen = hairline(colour, width=1.5)
    pen.setDashPattern([4.0, 3.0])
    return pen


def rect_of(bounds: tuple[float, float, float, float]) -> QRectF:
    """Smallest and largest coordinates as a rectangle."""
    low_x, low_y, high_x, high_y = bounds
    return QRectF(low_x, low_y, high_x - low_x, high_y - low_y)


def to_scene(transform: QTransform, points: Points) -> Points:
    """Convert points to the pixels of a painter."""
    x, y = points.T
    across = transform.m11() * x + transform.m21() * y + transform.dx()
    return np.column_stack((across, transform.m12() * x + transform.m22() * y + transform.dy()))


def path_of(rings: Rings | None, shapes: NDArray[np.integer] | None = None) -> QPainterPath:
    """Make one path (odd-even fill) of all shapes, or of some."""
    if rings is None:
        return QPainterPath()
    xy, joined = (rings.xy, rings.joined) if shapes is None else rings.of(shapes)
    return _join_vertices(xy, joined)


def split_lines(rings: Rings, shapes: NDArray[np.integer] | None = None) -> list[QPainterPath]:
    """Short paths that together are the lines of all shapes, or of some.

    Qt strokes them many times faster than one path, if they are wide and smooth: 9,500 vertices of 1,500 cells take
    39 ms in place of 165, 24,000 vertices of 40 outlines 19 ms in place of 263. They cannot be filled.
    """
    xy, joined = (rings.xy, rings.joined) if shapes is None else rings.of(shapes)
    starts = range(0, len(xy) - 1, _LINE_VERTICES)
    return [
        _join_vertices(xy[i : i + _LINE_VERTICES + 1], joined[i : i + _LINE_VERTICES + 1])
        for i in starts
    ]


def _join_vertices(xy: Points, joined: NDArray[np.bool_]) -> QPainterPath:
    if len(xy) == 0:
        return QPainterPath()
    path: QPainterPath = pg.arrayToQPath(
        np.ascontiguousarray(xy[:, 0]), np.ascontiguousarray(xy[:, 1]), joined, finiteCheck=False
    )
    return path


def paths_by_class(rings: Rings, classes: NDArray[np.integer], number: int) -> list[QPainterPath]:
    """Make one path per class (a colour); shapes of a negative class are left out."""
    return [path_of(rings, np.flatnonzero(classes == class_)) for class_ in range(number)]


class TiledPath:
    """Shapes in square tiles, whose paths are made when first seen: zooming in draws a few of them, not all."""

    def __init__(self, rings: Rings, tiles: Tiles) -> None:
        self.rings = rings
        self._members = tiles.members
        self._paths: dict[int, QPainterPath] = {}
        self._boxes = [
            rect_of((left, bottom, right, top)) for left, bottom, right, top in tiles.boxes.tolist()
        ]

    def visible(self, view: QRectF) -> list[QPainterPath]:
        """List the paths of the tiles in a part of the map."""
        return [self._path(tile) for tile, box in enumerate(self._boxes) if box.intersects(view)]

    def _path(self, tile: int) -> QPainterPath:
        if tile not in self._paths:
            self._paths[tile] = path_of(self.rings, self._members[tile])
        return self._paths[tile]


def points_polygon(points: NDArray[np.float64]) -> QPolygonF:
    """Make a polygon of points, which Qt draws in one call."""
    polygon: QPolygonF = functions.create_qpolygonf(len(points))
    if len(points):
        functions.ndarray_from_qpolygonf(polygon)[:] = points
    return polygon
