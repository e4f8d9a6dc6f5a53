"""Layers besides the regions, in their coordinates: obstacles, and coasts or roads for orientation."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import shapely
from numpy.typing import NDArray

from vbas_desktop.model.findings import Finding, FindingList, input_error
from vbas_desktop.model.records import as_readonly
from vbas_desktop.model.regions import CoordinateSystem, Obstacles

from ..input_checks import check_readable
from .column_names import find_name_column
from .coordinates import project_shapes
from .geometry_files import ENDINGS, GeometryLayer, check_shapefile_parts, describe_source, read_layer
from .raw_regions import are_finite

_CONTEXT_KINDS = ("LineString", "Polygon", "Point", "Unknown", "GeometryCollection")
_KINDS = ("Polygon", "LineString", "Unknown", "GeometryCollection")


def load_obstacles(
    paths: Sequence[str], system: CoordinateSystem, points: NDArray[np.float64]
) -> tuple[Obstacles | None, tuple[Finding, ...]]:
    """Load the obstacles of all files, with findings about them; None if no file is named."""
    if not paths:
        return None, ()
    shapes = []
    names: list[str] = []
    sources = []
    remarks: list[Finding] = []
    for name in paths:
        path = Path(name)
        findings = FindingList(path.name)
        layer = read_geometry_layer(path, findings, _KINDS, "An obstacle file needs areas or lines.")
        projected = project_shapes(layer.geometries, layer.definition, system)
        usable = _find_usable(projected, findings)
        _check_extent(projected[usable], points, findings)
        shapes.append(projected[usable])
        names += [
            name
            for name, is_usable in zip(_read_names(layer), usable.tolist(), strict=True)
            if is_usable
        ]
        sources.append(describe_source(path))
        remarks += findings.stop_on_errors()
    return Obstacles(as_readonly(np.concatenate(shapes)), tuple(names), tuple(sources)), tuple(remarks)


def read_geometry_layer(
    path: Path, findings: FindingList, kinds: Sequence[str], needed: str
) -> GeometryLayer:
    """Read the features of a local geometry file; ``needed`` is the message if it is none."""
    check_readable(path)
    if path.suffix.lower() not in ENDINGS:
        raise input_error(
            "wrong-format", needed, "Choose a GeoJSON, GeoPackage or Shapefile.", file=path.name
        )
    if path.suffix.lower() == ".shp":
        check_shapefile_parts(path, findings)
    return read_layer(path, None, findings, kinds)


def _read_names(layer: GeometryLayer) -> list[str]:
    column = find_name_column(list(layer.columns), "")
    return layer.column(column) if column else [""] * len(layer.geometries)


def _find_usable(shapes: NDArray[np.object_], findings: FindingList) -> NDArray[np.bool_]:
    """Find areas and lines with finite coordinates; each other feature is noted."""
    is_present = ~(shapely.is_missing(shapes) | shapely.is_empty(shapes))
    fits = is_present & (shapely.get_dimensions(shapes) > 0)
    fits[fits] = are_finite(shapes[fits])
    for row in np.flatnonzero(~fits).tolist():
        findings.warn("no-obstacle", "This is neither an area nor a line; it is left out.", row=row + 1)
    if not fits.any():
        findings.add(
            "no-obstacle", "The file has no areas and no lines.", "Choose a file that has them."
        )
    return np.asarray(fits)


def _check_extent(
    shapes: NDArray[np.object_], points: NDArray[np.float64], findings: FindingList
) -> None:
    if not len(shapes) or not len(points):
        return
    (low_x, low_y), (high_x, high_y) = points.min(axis=0), points.max(axis=0)
    if not shapely.intersects(
        shapely.box(low_x, low_y, high_x, high_y), shapely.box(*shapely.total_bounds(shapes))
    ):
        findings.warn(
            "obstacles-elsewhere",
            "The obstacles lie nowhere near the regions, so they change nothing.",
            "Check the coordinate systems of both files, or choose --coordinates.",
        )


def load_context_layer(path: str, system: CoordinateSystem) -> NDArray[np.object_]:
    """Load the shapes of a file; those without finite coordinates are left out. Raises `InputError` if none is left."""
    file = Path(path)
    findings = FindingList(file.name)
    if not file.is_file():
        raise input_error(
            "missing-file", "There is no such file.", "Put it back, or remove it.", file=file.name
        )
    layer = read_geometry_layer(
        file, findings, _CONTEXT_KINDS, "A layer for orientation needs areas, lines or points."
    )
    findings.stop_on_errors()
    shapes = layer.geometries[
        ~(shapely.is_missing(layer.geometries) | shapely.is_empty(layer.geometries))
    ]
    projected = project_shapes(shapes, layer.definition, system)
    projected = projected[are_finite(projected)]
    if not len(projected):
        raise input_error(
            "no-shapes",
            "The file has no areas, lines or points.",
            "Choose another file.",
            file=file.name,
        )
    return projected
