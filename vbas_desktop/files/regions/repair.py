"""Polygons that are not valid, mended where it is clear what they mean."""

from __future__ import annotations

from typing import Any

import numpy as np
import shapely
from numpy.typing import NDArray

from vbas_desktop.files.findings import FindingList

POLYGONAL = (shapely.GeometryType.POLYGON, shapely.GeometryType.MULTIPOLYGON)


def repaired(shapes: NDArray[np.object_], rows: NDArray[np.int64], findings: FindingList) -> NDArray[np.object_]:
    """The shapes with mended polygons, each of which is noted; empty ones are None, and single points are points."""
    single = np.array(
        [shape is not None and shape.geom_type == "MultiPoint" and len(shape.geoms) == 1 for shape in shapes]
    )
    shapes = np.where(shapely.is_empty(shapes), np.array(None, object), shapes)
    shapes[single] = [shape.geoms[0] for shape in shapes[single]]
    finite = finite_shapes(shapes)
    wrong = np.isin(shapely.get_type_id(shapes), POLYGONAL) & finite & ~shapely.is_valid(shapes)
    for i in np.flatnonzero(wrong).tolist():
        shapes[i] = _mended(shapes[i])
        if not shapes[i].is_empty:
            what = "The polygon crosses or touches itself; it was repaired."
            findings.warn("invalid-geometry", what, "Look at it on the map.", row=int(rows[i]))
    return shapes


def finite_shapes(shapes: NDArray[np.object_]) -> NDArray[np.bool_]:
    """Which shapes have finite coordinates only; the box around a shape leaves out what is no number."""
    xy, shape = shapely.get_coordinates(shapes, return_index=True)
    finite = np.ones(len(shapes), np.bool_)
    finite[shape[~np.isfinite(xy).all(axis=1)]] = False
    return finite


def _mended(shape: Any) -> Any:
    """The valid polygon that an invalid one means; a hole takes away from its own shell and adds nothing elsewhere."""
    parts = [
        shapely.difference(_valid(shapely.Polygon(part.exterior)), shapely.union_all([_valid(hole) for hole in holes]))
        for part in shapely.get_parts(shape)
        for holes in [[shapely.Polygon(ring) for ring in part.interiors]]
    ]
    return _polygonal_part(shapely.union_all(parts))


def _valid(shape: Any) -> Any:
    return _polygonal_part(shapely.make_valid(shape, method="structure", keep_collapsed=False))


def _polygonal_part(shape: Any) -> Any:
    if shape.geom_type in ("Polygon", "MultiPolygon"):
        return shape
    return shapely.union_all([part for part in shapely.get_parts(shape) if "Polygon" in part.geom_type])
