"""Coordinate systems: what the numbers of a region file mean, and metres made of longitudes and latitudes.

``planar`` takes x and y as they are, ``degrees`` computes in raw degrees with x = latitude and y = longitude,
``geographic`` projects longitude and latitude to metres by a Lambert conformal conic projection: Statistics Canada's
(EPSG:3347) if all of it lies within Canada, else one centred on the data. ``auto`` is geographic if the file claims
longitude and latitude and the values fit, else planar. Longitudes on both sides of ±180° are counted on over it: the
date line parts nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import shapely
from numpy.typing import NDArray

from vbas_desktop.algorithms.antimeridian import (
    find_cut_of_points,
    find_cut_of_shapes,
    unwrap_longitudes,
    wrap_longitudes,
)
from vbas_desktop.algorithms.polygons import apply_in_blocks
from vbas_desktop.model.findings import FindingList
from vbas_desktop.model.regions import CoordinateKind, CoordinateSystem

from .raw_regions import RawRegions

CHOICES = ("auto", "planar", "degrees", "geographic")
CANADA = "EPSG:3347"
WGS84 = "EPSG:4326"
EARTH_ROUND_M = 4.01e7
"""No true distance is longer; a projection that yields more was used where it does not work."""
NEAREST = 1e-100
"""If all places are nearer to each other than this, squares of distances are too small for the computer's numbers."""

FARTHEST = 1e12
"""Farther from the origin than anything on Earth in any unit; squares of distances stay exact enough."""
WIDEST_LONGITUDES = 180.0
POLE_MARGIN = 0.3
"""The area of points reaches beyond them by less than this share of its diameter, also if they are few."""

SLACK_DEGREES = 1e-6
"""Rounding in files may carry a coordinate this far beyond ±180 or ±90."""

_CANADA_OUTLINE = (
    (-141.1, 84.0), (-141.1, 60.2), (-137.5, 58.8), (-135.5, 59.6), (-133.3, 58.3), (-130.0, 55.8), (-130.4, 54.7),
    (-134.0, 54.5), (-134.0, 50.0), (-125.2, 48.3), (-123.7, 48.2), (-123.1, 48.5), (-123.2, 48.95), (-95.3, 48.95),
    (-94.6, 48.6), (-93.0, 48.5), (-91.4, 48.0), (-89.6, 47.95), (-88.3, 48.1), (-84.9, 46.7), (-84.4, 46.45),
    (-83.6, 45.8), (-82.5, 45.3), (-82.4, 43.0), (-83.2, 42.1), (-82.6, 41.6), (-81.0, 42.1), (-79.0, 42.75),
    (-78.9, 43.5), (-76.6, 43.9), (-75.0, 44.9), (-71.6, 44.95), (-70.4, 45.8), (-70.1, 46.5), (-69.3, 47.4),
    (-68.3, 47.3), (-67.8, 47.0), (-67.8, 45.6), (-67.1, 44.9), (-66.9, 44.3), (-66.5, 43.0), (-59.5, 43.3),
    (-52.0, 46.3), (-52.0, 53.0), (-59.0, 62.0), (-60.0, 68.0), (-73.0, 76.0), (-60.0, 82.0), (-60.0, 84.0),
)  # fmt: skip
"""A rough outline of Canada with its coastal waters: close to the land border, generous at sea."""


_TOO_WIDE = "The points reach over more than half of all longitudes, or around or close to a pole."
_SPLIT = (
    "Split the file, for example by continent; or project the points with a GIS program, and give x and y in metres "
    "(--coordinates planar)."
)


def project_regions(
    raw: RawRegions, choice: str, findings: FindingList
) -> tuple[NDArray[np.float64], NDArray[np.object_] | None, CoordinateSystem]:
    """Project the points and polygons of the regions to the system in which everything is computed."""
    kind = _choose_kind(raw, choice, findings)
    findings.stop_on_errors()
    if kind is CoordinateKind.PLANAR:
        believed = not raw.degrees or choice == "planar"
        system = CoordinateSystem(
            kind, raw.definition if believed else None, raw.unit if believed else "unit"
        )
        return _with_inner_points(raw, raw.points, raw.polygons, system)
    points, polygons = raw.points, raw.polygons
    if raw.definition is not None and not raw.degrees:
        points, polygons = _transform(points, polygons, _transformer(raw.definition, WGS84))
    if kind is CoordinateKind.DEGREES:
        cut = find_cut_of_points(points[:, 0]) if polygons is None else find_cut_of_shapes(polygons)
        points, polygons = _transform(points, polygons, lambda x, y: (y, unwrap_longitudes(x, cut)))
        if polygons is None and float(np.ptp(points[:, 1])) > WIDEST_LONGITUDES:
            findings.add("not-projectable", _TOO_WIDE, _SPLIT)
            findings.stop_on_errors()
        return _with_inner_points(raw, points, polygons, CoordinateSystem(kind, WGS84, "degree"))
    definition = choose_projection(points)
    declared = raw.definition if raw.definition is not None and raw.degrees else WGS84
    degrees = points
    points, polygons = _transform(points, polygons, _transformer(declared, definition))
    if not bool((np.abs(points) < EARTH_ROUND_M).all()):
        findings.add(
            "not-projectable",
            "The regions reach too far over the globe to be projected to metres.",
            _SPLIT,
        )
    elif polygons is None and _surrounds_pole(degrees, points, definition):
        # Their shapes would have no outline in longitude and latitude.
        findings.add("not-projectable", _TOO_WIDE, _SPLIT)
    findings.stop_on_errors()
    return _with_inner_points(raw, points, polygons, CoordinateSystem(kind, definition, "m"))


def choose_projection(lon_lat: NDArray[np.float64]) -> str:
    """Choose the projection for these longitudes and latitudes, and return its definition."""
    lon, lat = lon_lat[:, 0], lon_lat[:, 1]
    if bool(shapely.contains_xy(_canada(), lon, lat).all()):
        return CANADA
    lon = unwrap_longitudes(lon, find_cut_of_points(lon))
    centre_lon = round((float(lon.min()) + float(lon.max())) / 2, 3)
    low, high = float(lat.min()), float(lat.max())
    first, second = round(low + (high - low) / 6, 3), round(high - (high - low) / 6, 3)
    centre_lon -= 360 if centre_lon > 180 else 0
    tail = "+x_0=0 +y_0=0 +datum=WGS84 +units=m +no_defs"
    if abs(first + second) < 0.02:  # the cone becomes a cylinder at the equator
        return f"+proj=merc +lon_0={centre_lon} +lat_ts={abs(first)} {tail}"
    return f"+proj=lcc +lat_0={round((low + high) / 2, 3)} +lon_0={centre_lon} +lat_1={first} +lat_2={second} {tail}"


def _surrounds_pole(degrees: NDArray[np.float64], points: NDArray[np.float64], definition: str) -> bool:
    """Tell whether the area of points would hold a pole, or be torn where a projection is cut open."""
    lon = unwrap_longitudes(degrees[:, 0], find_cut_of_points(degrees[:, 0]))
    if float(np.ptp(lon)) > WIDEST_LONGITUDES:
        return True
    area = shapely.convex_hull(shapely.multipoints(points))
    margin = POLE_MARGIN * float(np.hypot(*np.ptp(points, axis=0)))
    poles = from_lon_lat(np.array([[0.0, -90.0], [0.0, 90.0]]), definition)
    poles = poles[np.isfinite(poles).all(axis=1)]
    return bool((shapely.distance(area, shapely.points(poles)) <= margin).any())


def to_lon_lat(points: NDArray[np.float64], definition: str) -> NDArray[np.float64]:
    """Transform points of a known system to longitude and latitude (WGS 84)."""
    return _transform(points, None, _transformer(definition, WGS84))[0]


def from_lon_lat(points: NDArray[np.float64], definition: str) -> NDArray[np.float64]:
    """Transform longitude and latitude (WGS 84) to points of a known system."""
    return _transform(points, None, _transformer(WGS84, definition))[0]


def _choose_kind(raw: RawRegions, choice: str, findings: FindingList) -> CoordinateKind:
    bounds = (
        np.hstack([raw.points, raw.points]) if raw.polygons is None else shapely.bounds(raw.polygons)
    )
    bounds = np.where(np.isfinite(bounds), bounds, np.hstack([raw.points, raw.points]))
    is_finite = np.isfinite(bounds).all(axis=1)
    if raw.over_date_line:
        bounds[:, ::2] = wrap_longitudes(bounds[:, ::2])
    fits = are_degrees(bounds)
    for i in np.flatnonzero(is_finite & (np.abs(bounds).max(axis=1) > FARTHEST)).tolist():
        findings.add(
            "out-of-range", "The number is too large for a place.", "Correct it.", row=int(raw.rows[i])
        )
    if is_finite.any() and 0.0 < np.ptp(bounds[is_finite].reshape(-1, 2), axis=0).max() < NEAREST:
        message = "All places are practically one point: no distance can be computed."
        findings.add("out-of-range", message, "Give the coordinates in a smaller unit.")
    if choice == "planar" or (choice == "auto" and not raw.degrees):
        if raw.definition is not None and not raw.degrees and is_finite.any() and fits[is_finite].all():
            findings.warn(
                "degrees-declared-as-plane",
                "The file declares plane coordinates, but all of them could be degrees.",
                "If they are longitude and latitude, declare them as such (EPSG:4326), and export the file again.",
            )
        if choice == "auto" and raw.definition is None and is_finite.any() and fits[is_finite].all():
            findings.hint(
                "degrees-perhaps",
                "The coordinates are taken as they are, but all of them could be degrees.",
                "If they are longitude and latitude, choose --coordinates geographic.",
            )
        return CoordinateKind.PLANAR
    projected = raw.definition is not None and not raw.degrees
    if projected or fits[is_finite].all():
        return CoordinateKind.DEGREES if choice == "degrees" else CoordinateKind.GEOGRAPHIC
    swapped = bool(are_degrees(bounds[is_finite][:, [1, 0, 3, 2]]).all())
    if choice == "auto" and not swapped and (is_finite & ~fits).mean() > 0.5:
        findings.warn(
            "not-degrees",
            "The file claims longitude and latitude, but most values are beyond ±180 or ±90; taken as planar.",
            "Choose --coordinates planar to confirm.",
        )
        return CoordinateKind.PLANAR
    _note_misfits(raw, bounds, is_finite & ~fits, swapped, findings)
    return CoordinateKind.GEOGRAPHIC


def are_degrees(bounds: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Tell for each row (west, south, east, north) whether it can be longitudes and latitudes."""
    within: NDArray[np.bool_] = np.abs(bounds) - np.array([180, 90, 180, 90]) <= SLACK_DEGREES
    return np.asarray(within.all(axis=1))


def _note_misfits(
    raw: RawRegions,
    bounds: NDArray[np.float64],
    misfit: NDArray[np.bool_],
    swapped: bool,
    findings: FindingList,
) -> None:
    remedy = "Correct it, or choose --coordinates planar if the file is not in degrees."
    if swapped:
        remedy = "Longitude and latitude look swapped: exchange --x-column and --y-column, or the columns' names."
    for i in np.flatnonzero(misfit).tolist():
        x, y = np.abs(bounds[i, [0, 2]]).max(), np.abs(bounds[i, [1, 3]]).max()
        row = int(raw.rows[i])
        if x > 180 + SLACK_DEGREES:
            findings.add(
                "out-of-range",
                "The longitude is beyond ±180 degrees.",
                remedy,
                row=row,
                column=raw.x_name,
            )
        if y > 90 + SLACK_DEGREES:
            findings.add(
                "out-of-range", "The latitude is beyond ±90 degrees.", remedy, row=row, column=raw.y_name
            )


def _with_inner_points(
    raw: RawRegions,
    points: NDArray[np.float64],
    polygons: NDArray[np.object_] | None,
    system: CoordinateSystem,
) -> tuple[NDArray[np.float64], NDArray[np.object_] | None, CoordinateSystem]:
    if polygons is not None and not raw.points_given:
        points = find_inner_points(polygons, points)
    return np.ascontiguousarray(points), polygons, system


def find_inner_points(
    polygons: NDArray[np.object_], otherwise: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Find a point inside each polygon: its centroid, or where that lies outside a point on its surface."""
    has_polygon = np.array([polygon is not None for polygon in polygons], bool)
    centre = apply_in_blocks(shapely.centroid, polygons)
    outside = has_polygon & ~shapely.contains(polygons, centre)
    centre[outside] = shapely.point_on_surface(polygons[outside])
    points = otherwise.copy()
    points[has_polygon] = np.column_stack(
        [shapely.get_x(centre[has_polygon]), shapely.get_y(centre[has_polygon])]
    )
    return points


def _transform(
    points: NDArray[np.float64],
    polygons: NDArray[np.object_] | None,
    move: Callable[[Any, Any], tuple[Any, Any]],
) -> tuple[NDArray[np.float64], NDArray[np.object_] | None]:
    new_points = np.column_stack(move(points[:, 0], points[:, 1]))
    if polygons is None:
        return new_points, None

    def move_shapes(shapes: NDArray[np.object_]) -> NDArray[np.object_]:
        return np.asarray(
            shapely.transform(shapes, lambda xy: np.column_stack(move(xy[:, 0], xy[:, 1])))
        )

    return new_points, apply_in_blocks(move_shapes, polygons)


def project_shapes(
    shapes: NDArray[np.object_], definition: str | None, system: CoordinateSystem
) -> NDArray[np.object_]:
    """Project shapes of another file to the system of the regions; in a plane of unknown place they stay."""
    if system.definition is None:
        return shapes
    move = _transformer(definition or WGS84, system.definition)
    order = slice(None, None, -1 if system.kind is CoordinateKind.DEGREES else 1)
    return np.asarray(
        shapely.transform(shapes, lambda xy: np.column_stack(move(xy[:, 0], xy[:, 1])[order]))
    )


def _transformer(source: str, target: str) -> Callable[[Any, Any], tuple[Any, Any]]:
    import pyproj
    from pyproj import network

    network.set_network_enabled(False)  # type: ignore[attr-defined]  # the program never reaches out, whatever the environment says
    transform = pyproj.Transformer.from_crs(source, target, always_xy=True).transform
    return lambda x, y: transform(np.ascontiguousarray(x), np.ascontiguousarray(y))


@cache
def _canada() -> Any:
    outline = shapely.Polygon(_CANADA_OUTLINE).buffer(0.15)
    shapely.prepare(outline)
    return outline
