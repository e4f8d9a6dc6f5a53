"""Arrays of polygons: valid coverages, dissolving, decimal grids, and shapely functions applied block by block.

Rounding every vertex by itself lets thin parts fold over. Where that happens the borders of all shapes are rounded
together: wherever they meet or cross on the grid they get a common vertex, and the shapes are put together again from
the faces between them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import shapely
from numpy.typing import NDArray
from shapely import MultiPolygon, Polygon

_BLOCK = 5_000
"""Shapes in one call: about ten milliseconds."""

Taken = Callable[..., tuple[NDArray[Any], NDArray[np.intp]]]


def apply_in_blocks(function: Callable[..., NDArray[Any]], *arrays: NDArray[Any]) -> NDArray[Any]:
    """Apply a function that gives one result for each element of arrays of the same length."""
    number = len(arrays[0])
    if number <= _BLOCK:
        return function(*arrays)
    starts = range(0, number, _BLOCK)
    return np.concatenate(
        [function(*(array[start : start + _BLOCK] for array in arrays)) for start in starts]
    )


def explode_in_blocks(
    function: Taken, shapes: NDArray[np.object_]
) -> tuple[NDArray[Any], NDArray[np.intp]]:
    """Get the parts, rings or coordinates of all shapes, and the number of the shape that each of them belongs to.

    ``function`` is `shapely.get_parts`, `shapely.get_rings` or `shapely.get_coordinates`.
    """
    if len(shapes) <= _BLOCK:
        return function(shapes, return_index=True)
    blocks = []
    owners = []
    for start in range(0, len(shapes), _BLOCK):
        some, owner = function(shapes[start : start + _BLOCK], return_index=True)
        blocks.append(some)
        owners.append(owner + start)
    return np.concatenate(blocks), np.concatenate(owners)


Shapes = NDArray[np.object_]
Rings = list[list[list[float]]]
"""The rings of a polygon as lists of points, the outer one first."""

_HAIRLINE = 1e-9
"""Gaps narrower than this share of the extent come from the last digits of coordinates, not from geography."""


def clean_coverage(polygons: Shapes) -> tuple[Shapes, bool]:
    """Remove overlaps of polygons, and test whether they are a valid coverage now. Missing ones stay missing."""
    present = np.flatnonzero(~(shapely.is_missing(polygons) | shapely.is_empty(polygons)))
    if shapely.coverage_is_valid(polygons[present], gap_width=_HAIRLINE * _extent(polygons[present])):
        return polygons, True
    cleaned = polygons.copy()
    cleaned[present] = _clean(polygons[present])
    return cleaned, bool(shapely.coverage_is_valid(cleaned[present]))


def _extent(polygons: Shapes) -> float:
    low_x, low_y, high_x, high_y = (
        shapely.total_bounds(polygons).tolist() if polygons.size else (0.0,) * 4
    )
    return max(high_x - low_x, high_y - low_y)


def extract_polygons(shape: shapely.Geometry) -> Polygon | MultiPolygon:
    """Extract the polygons of a geometry, without points and lines that clipping may leave over."""
    if shape.geom_type in ("Polygon", "MultiPolygon"):
        return shape
    parts = [part for part in shapely.get_parts(shape) if part.geom_type in ("Polygon", "MultiPolygon")]
    polygons = [polygon for part in parts for polygon in shapely.get_parts(part)]
    return polygons[0] if len(polygons) == 1 else MultiPolygon(polygons)


def _clean(polygons: Shapes) -> Shapes:
    """Remove overlaps of polygons; one that would vanish, because it equals another, stays as it was."""
    valid = make_shape_array([extract_polygons(shape) for shape in shapely.make_valid(polygons)])
    cleaned = shapely.coverage_clean(valid)
    cleaned = make_shape_array([extract_polygons(shape) for shape in cleaned])
    return np.where(shapely.is_empty(cleaned), valid, cleaned)


def dissolve(polygons: Shapes, coverage: bool) -> Polygon | MultiPolygon:
    """Unite polygons; ``coverage`` says that they are a valid one, which makes it quick."""
    if polygons.size == 1:
        return extract_polygons(polygons[0])
    if coverage:
        return extract_polygons(shapely.coverage_union_all(polygons))
    return extract_polygons(shapely.union_all(shapely.make_valid(polygons)))


def make_shape_array(shapes: list[Polygon | MultiPolygon]) -> Shapes:
    """Put shapes into an object array; numpy would not keep them as they are."""
    array = np.empty(len(shapes), object)
    array[:] = shapes
    return array


def list_rings(shapes: Shapes) -> list[list[Rings]]:
    """List the rings of each polygon of each shape; the last point of a ring is its first."""
    parts, shape_of_part = explode_in_blocks(shapely.get_parts, shapes)
    rings, part_of_ring = explode_in_blocks(shapely.get_rings, parts)
    coordinates, ring_of_place = explode_in_blocks(shapely.get_coordinates, rings)
    points = coordinates.tolist()
    ends = np.cumsum(np.bincount(ring_of_place, minlength=len(rings)))
    polygons: list[Rings] = [[] for _ in parts]
    start = 0
    for part, end in zip(part_of_ring.tolist(), ends.tolist(), strict=True):
        polygons[part].append(points[start:end])
        start = end
    rings_by_shape: list[list[Rings]] = [[] for _ in shapes]
    for shape, polygon in zip(shape_of_part.tolist(), polygons, strict=True):
        rings_by_shape[shape].append(polygon)
    return rings_by_shape


_CHANGE = 1e-3
"""A grid is fine enough if it changes no shape's area by more than this share of it."""


def snap_to_grid(shapes: Shapes, digits: Sequence[int]) -> tuple[Shapes, float]:
    """Put the shapes on the first of the decimal grids that is fine enough for all of them; also return its width.

    If none is, the shapes as they are and 0.
    """
    before = shapely.area(shapes)
    for number in digits:
        grid = 10.0**-number
        rounded = _vertex_by_vertex(shapes, number)
        if not _sound(rounded):
            rounded = _snap_together(shapes, number)
        if _whole(rounded) and bool((np.abs(shapely.area(rounded) - before) <= _CHANGE * before).all()):
            return shapely.orient_polygons(rounded), grid
    return shapely.orient_polygons(shapes), 0.0


def remove_hairlines(shapes: Shapes) -> Shapes:
    """Return the shapes as they are if they are sound, else on a grid of a billionth of their extent."""
    if _sound(shapes):
        return shapes
    size = _extent(shapes)
    # Below that the grid itself would be no number.
    return snap_to_grid(shapes, (9 - int(np.floor(np.log10(size))),))[0] if size > 1e-200 else shapes


def _whole(shapes: Shapes) -> bool:
    return bool(shapely.is_valid(shapes).all() and not shapely.is_empty(shapes).any())


def _sound(shapes: Shapes) -> bool:
    return _whole(shapes) and bool(shapely.coverage_is_valid(shapes))


def _vertex_by_vertex(shapes: Shapes, digits: int) -> Shapes:
    return shapely.transform(shapes, lambda points: np.round(points, digits))


def _snap_together(shapes: Shapes, digits: int) -> Shapes:
    """Node all borders on the grid, and make each shape of the faces that lie in it for the most part."""
    borders = shapely.union_all(shapely.boundary(shapes), grid_size=10.0**-digits)
    faces = shapely.get_parts(shapely.polygonize([borders]))
    faces = faces[~shapely.is_empty(faces)]
    # By area, not by a point inside: that may lie in the very hairline which the grid has closed.
    inside, shape = shapely.STRtree(shapes).query(faces, predicate="intersects")
    shared = shapely.area(shapely.intersection(faces[inside], shapes[shape])) > 0.5 * shapely.area(
        faces[inside]
    )
    inside = inside[shared]
    shape = shape[shared]
    order = np.argsort(shape, kind="stable")
    groups = np.split(inside[order], np.searchsorted(shape[order], np.arange(1, len(shapes))))
    shapes_made = [
        dissolve(faces[np.sort(members)], True) if members.size else shapely.Polygon()
        for members in groups
    ]
    return _vertex_by_vertex(make_shape_array(shapes_made), digits)
