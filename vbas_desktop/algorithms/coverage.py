"""Coverages: polygons side by side without overlaps, cleaned where they are not, and merged."""

from __future__ import annotations

import numpy as np
import shapely
from numpy.typing import NDArray
from shapely import MultiPolygon, Polygon

Shapes = NDArray[np.object_]
Rings = list[list[list[float]]]
"""The rings of a polygon as lists of points, the outer one first."""

_HAIRLINE = 1e-9
"""Gaps narrower than this share of the extent come from the last digits of coordinates, not from geography."""


def clean_coverage(polygons: Shapes) -> tuple[Shapes, bool]:
    """The polygons without overlaps, and whether they are a valid coverage now. Missing ones stay missing."""
    present = np.flatnonzero(~(shapely.is_missing(polygons) | shapely.is_empty(polygons)))
    if shapely.coverage_is_valid(polygons[present], gap_width=_HAIRLINE * _extent(polygons[present])):
        return polygons, True
    cleaned = polygons.copy()
    cleaned[present] = _cleaned(polygons[present])
    return cleaned, bool(shapely.coverage_is_valid(cleaned[present]))


def _extent(polygons: Shapes) -> float:
    low_x, low_y, high_x, high_y = shapely.total_bounds(polygons).tolist() if polygons.size else (0.0,) * 4
    return max(high_x - low_x, high_y - low_y)


def polygonal(shape: shapely.Geometry) -> Polygon | MultiPolygon:
    """The polygons of a geometry without the points and lines that clipping may leave over."""
    if shape.geom_type in ("Polygon", "MultiPolygon"):
        return shape
    parts = [part for part in shapely.get_parts(shape) if part.geom_type in ("Polygon", "MultiPolygon")]
    polygons = [polygon for part in parts for polygon in shapely.get_parts(part)]
    return polygons[0] if len(polygons) == 1 else MultiPolygon(polygons)


def _cleaned(polygons: Shapes) -> Shapes:
    """Polygons without overlaps; one that cleaning would make vanish (it equals another) stays as it was."""
    valid = object_array([polygonal(shape) for shape in shapely.make_valid(polygons)])
    cleaned = shapely.coverage_clean(valid)
    cleaned = object_array([polygonal(shape) for shape in cleaned])
    return np.where(shapely.is_empty(cleaned), valid, cleaned)


def dissolve(polygons: Shapes, coverage: bool) -> Polygon | MultiPolygon:
    """The union of polygons; ``coverage`` says that they are a valid one, which makes it quick."""
    if polygons.size == 1:
        return polygonal(polygons[0])
    if coverage:
        return polygonal(shapely.coverage_union_all(polygons))
    return polygonal(shapely.union_all(shapely.make_valid(polygons)))


def object_array(shapes: list[Polygon | MultiPolygon]) -> Shapes:
    """Shapes as an array, which numpy would not make of them by itself."""
    array = np.empty(len(shapes), object)
    array[:] = shapes
    return array


def polygon_rings(shapes: Shapes) -> list[list[Rings]]:
    """The rings of each polygon of each shape; the last point of a ring is its first."""
    parts, shape_of_part = shapely.get_parts(shapes, return_index=True)
    rings, part_of_ring = shapely.get_rings(parts, return_index=True)
    places, ring_of_place = shapely.get_coordinates(rings, return_index=True)
    points, ends = places.tolist(), np.cumsum(np.bincount(ring_of_place, minlength=len(rings)))
    polygons: list[Rings] = [[] for _ in parts]
    start = 0
    for part, end in zip(part_of_ring.tolist(), ends.tolist(), strict=True):
        polygons[part].append(points[start:end])
        start = end
    found: list[list[Rings]] = [[] for _ in shapes]
    for shape, polygon in zip(shape_of_part.tolist(), polygons, strict=True):
        found[shape].append(polygon)
    return found
