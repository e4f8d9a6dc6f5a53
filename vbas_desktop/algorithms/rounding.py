"""Coordinates on a grid, so that shapes side by side stay valid and stay side by side.

Rounding every vertex by itself lets thin parts fold over. Where that happens the borders of all shapes are rounded
together: wherever they meet or cross on the grid they get a common vertex, and the shapes are put together again from
the faces between them.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import shapely

from .coverage import Shapes, dissolve, object_array

_CHANGE = 1e-3
"""A grid is fine enough if it changes no shape's area by more than this share of it."""


def on_grid(shapes: Shapes, digits: Sequence[int]) -> tuple[Shapes, float]:
    """The shapes on the first of the decimal grids that is fine enough for all of them, and the width of that grid.

    If none is, the shapes as they are and 0.
    """
    before = shapely.area(shapes)
    for number in digits:
        grid = 10.0**-number
        rounded = _vertex_by_vertex(shapes, number)
        if not _sound(rounded):
            rounded = _together(shapes, number)
        if _whole(rounded) and bool((np.abs(shapely.area(rounded) - before) <= _CHANGE * before).all()):
            return shapely.orient_polygons(rounded), grid
    return shapely.orient_polygons(shapes), 0.0


def without_hairlines(shapes: Shapes) -> Shapes:
    """The shapes as they are if they are sound, else on a grid of a billionth of their extent."""
    if _sound(shapes):
        return shapes
    low_x, low_y, high_x, high_y = shapely.total_bounds(shapes).tolist()
    size = max(high_x - low_x, high_y - low_y)
    # Below that the grid itself would be no number.
    return on_grid(shapes, (9 - int(np.floor(np.log10(size))),))[0] if size > 1e-200 else shapes


def _whole(shapes: Shapes) -> bool:
    return bool(shapely.is_valid(shapes).all() and not shapely.is_empty(shapes).any())


def _sound(shapes: Shapes) -> bool:
    return _whole(shapes) and bool(shapely.coverage_is_valid(shapes))


def _vertex_by_vertex(shapes: Shapes, digits: int) -> Shapes:
    return shapely.transform(shapes, lambda points: np.round(points, digits))


def _together(shapes: Shapes, digits: int) -> Shapes:
    """All borders noded on the grid, and each shape made of the faces that lie in it for the most part."""
    borders = shapely.union_all(shapely.boundary(shapes), grid_size=10.0**-digits)
    faces = shapely.get_parts(shapely.polygonize([borders]))
    faces = faces[~shapely.is_empty(faces)]
    # By area, not by a point inside: that may lie in the very hairline which the grid has closed.
    inside, shape = shapely.STRtree(shapes).query(faces, predicate="intersects")
    shared = shapely.area(shapely.intersection(faces[inside], shapes[shape])) > 0.5 * shapely.area(faces[inside])
    inside, shape = inside[shared], shape[shared]
    order = np.argsort(shape, kind="stable")
    groups = np.split(inside[order], np.searchsorted(shape[order], np.arange(1, len(shapes))))
    made = [dissolve(faces[np.sort(members)], True) if members.size else shapely.Polygon() for members in groups]
    return _vertex_by_vertex(object_array(made), digits)
