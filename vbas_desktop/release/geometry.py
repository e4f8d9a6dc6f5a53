"""The shapes of the aggregated regions as files that maps can show."""

from __future__ import annotations

import io
import json
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import shapely
from numpy.typing import NDArray

from vbas_desktop.algorithms.cells import aggregated_shapes
from vbas_desktop.domain.regions import CoordinateKind, CoordinateSystem

from .plan import Plan
from .tables import code_order

Shapes = NDArray[np.object_]

LAYER = "aggregated_regions"
NO_DATE = "2000-01-01T00:00:00.000Z"
_DATE = threading.Lock()


def shapes_of(plan: Plan) -> Shapes:
    """One shape per aggregated region, in the coordinates of the computation.

    Made from the initial regions alone, never from the sites: a site that was chosen or moved by the counts of small
    classes would show in the borders of its cell.
    """
    return aggregated_shapes(plan.problem.regions, plan.membership)


def geojson(plan: Plan, shapes: Shapes) -> bytes:
    """The shapes with codes and counts; in longitude and latitude (WGS 84) where the coordinate system is known."""
    placed = as_longitude_latitude(shapes, plan.problem.regions.system)
    features = [
        {
            "type": "Feature",
            "properties": _properties(plan, number),
            "geometry": json.loads(shapely.to_geojson(placed[number])),
        }
        for number in code_order(plan)
    ]
    lines = ",\n".join(json.dumps(feature, separators=(",", ":")) for feature in features)
    return f'{{"type":"FeatureCollection","features":[\n{lines}\n]}}\n'.encode()


def as_longitude_latitude(shapes: Shapes, system: CoordinateSystem) -> Shapes:
    """The shapes in WGS 84, rounded to about a decimetre; planes of unknown place stay as they are."""
    if system.kind is CoordinateKind.DEGREES:
        return _rounded(shapely.transform(shapes, lambda points: points[:, ::-1]), 1e-6)
    if system.definition is None:
        return shapes
    from pyproj import Transformer

    to_degrees = Transformer.from_crs(system.definition, "EPSG:4326", always_xy=True)
    placed = shapely.transform(shapes, lambda points: np.column_stack(to_degrees.transform(points[:, 0], points[:, 1])))
    return _rounded(placed, 1e-6)


def _rounded(shapes: Shapes, grid: float) -> Shapes:
    digits = round(-np.log10(grid))
    return shapely.orient_polygons(shapely.transform(shapes, lambda points: np.round(points, digits)))


def geopackage(plan: Plan, shapes: Shapes) -> bytes:
    """The shapes as a GeoPackage, in the coordinates of the computation."""
    import pyogrio.raw

    order = code_order(plan)
    rows = [_properties(plan, number) for number in order]
    fields = {
        "aggregated_region": np.array([row["aggregated_region"] for row in rows], object),
        "initial_regions": np.array([row["initial_regions"] for row in rows], np.int64),
        "records": np.array([row["records"] for row in rows], np.int64),
    }
    system = plan.problem.regions.system
    multi = [shapely.multipolygons(shapely.get_parts(shapes[number])) for number in order]
    # Made in memory: what a disk refuses is then an error of the disk, not one of the format.
    made = io.BytesIO()
    with _without_date(), warnings.catch_warnings():
        # A plane of unknown place has no coordinate system to tell, which pyogrio warns of.
        warnings.filterwarnings("ignore", "'crs' was not provided")
        pyogrio.raw.write(
            made,
            geometry=shapely.to_wkb(np.array(multi, object)),
            field_data=list(fields.values()),
            fields=list(fields),
            geometry_type="MultiPolygon",
            crs=system.definition if system.kind is not CoordinateKind.DEGREES else None,
            layer=LAYER,
            driver="GPKG",
        )
    return made.getvalue()


@contextmanager
def _without_date() -> Iterator[None]:
    """Let GeoPackages have the same bytes whenever they are written.

    The setting holds for the whole program, in which one that was stopped may still be writing: one after the other.
    """
    import pyogrio

    with _DATE:
        pyogrio.set_gdal_config_options({"OGR_CURRENT_DATE": NO_DATE})
        try:
            yield
        finally:
            pyogrio.set_gdal_config_options({"OGR_CURRENT_DATE": None})


def _properties(plan: Plan, number: int) -> dict[str, Any]:
    return {
        "aggregated_region": plan.codes[number],
        "initial_regions": int(plan.members_by_region[number]),
        "records": int(plan.released_by_region[number]),
    }
