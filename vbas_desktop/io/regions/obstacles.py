"""Files with shapes besides the regions, in their coordinates: obstacles that ways must go around, and coasts, roads
and the like for orientation.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import shapely
from numpy.typing import NDArray

from vbas_desktop.io.access import check_readable
from vbas_desktop.model.errors import Finding, refusal
from vbas_desktop.model.findings import FindingList
from vbas_desktop.model.records import frozen
from vbas_desktop.model.regions import CoordinateSystem, Obstacles

from .columns import name_column
from .coordinates import moved_shapes
from .geo import ENDINGS, Layer, check_parts, read_layer, source_of
from .raw import finite_shapes

_CONTEXT_KINDS = ("LineString", "Polygon", "Point", "Unknown", "GeometryCollection")
_KINDS = ("Polygon", "LineString", "Unknown", "GeometryCollection")


def load_obstacles(
    paths: Sequence[str], system: CoordinateSystem, points: NDArray[np.float64]
) -> tuple[Obstacles | None, tuple[Finding, ...]]:
    """The obstacles of all files, and remarks on them; None if no file is named."""
    if not paths:
        return None, ()
    shapes, names, sources = [], [], []
    remarks: list[Finding] = []
    for each in paths:
        path = Path(each)
        findings = FindingList(path.name)
        layer = geometry_layer(path, findings, _KINDS, "An obstacle file needs areas or lines.")
        placed = moved_shapes(layer.geometries, layer.definition, system)
        kept = _usable(placed, findings)
        _check_place(placed[kept], points, findings)
        shapes.append(placed[kept])
        names += [name for name, use in zip(_names(layer), kept.tolist(), strict=True) if use]
        sources.append(source_of(path))
        remarks += findings.stop_on_errors()
    return Obstacles(frozen(np.concatenate(shapes)), tuple(names), tuple(sources)), tuple(remarks)


def geometry_layer(path: Path, findings: FindingList, kinds: Sequence[str], needed: str) -> Layer:
    """The features of a local geometry file; ``needed`` says what it should have if it is none."""
    check_readable(path)
    if path.suffix.lower() not in ENDINGS:
        raise refusal("wrong-format", needed, "Choose a GeoJSON, GeoPackage or Shapefile.", file=path.name)
    if path.suffix.lower() == ".shp":
        check_parts(path, findings)
    return read_layer(path, None, findings, kinds)


def _names(layer: Layer) -> list[str]:
    column = name_column(list(layer.columns), "")
    return layer.column(column) if column else [""] * len(layer.geometries)


def _usable(shapes: NDArray[np.object_], findings: FindingList) -> NDArray[np.bool_]:
    """Areas and lines with finite coordinates; each other feature is noted."""
    there = ~(shapely.is_missing(shapes) | shapely.is_empty(shapes))
    fits = there & (shapely.get_dimensions(shapes) > 0)
    fits[fits] = finite_shapes(shapes[fits])
    for row in np.flatnonzero(~fits).tolist():
        findings.warn("no-obstacle", "This is neither an area nor a line; it is left out.", row=row + 1)
    if not fits.any():
        findings.add("no-obstacle", "The file has no areas and no lines.", "Choose a file that has them.")
    return np.asarray(fits)


def _check_place(shapes: NDArray[np.object_], points: NDArray[np.float64], findings: FindingList) -> None:
    if not len(shapes) or not len(points):
        return
    (low_x, low_y), (high_x, high_y) = points.min(axis=0), points.max(axis=0)
    if not shapely.intersects(shapely.box(low_x, low_y, high_x, high_y), shapely.box(*shapely.total_bounds(shapes))):
        findings.warn(
            "obstacles-elsewhere",
            "The obstacles lie nowhere near the regions, so they change nothing.",
            "Check the coordinate systems of both files, or choose --coordinates.",
        )


def load_context(path: str, system: CoordinateSystem) -> NDArray[np.object_]:
    """The shapes of a file; `InputError` says what is wrong with it. What has no place is left out."""
    file = Path(path)
    findings = FindingList(file.name)
    if not file.is_file():
        raise refusal("missing-file", "The file is not there.", "Put it back, or remove it.", file=file.name)
    layer = geometry_layer(file, findings, _CONTEXT_KINDS, "A layer for orientation needs areas, lines or points.")
    findings.stop_on_errors()
    shapes = layer.geometries[~(shapely.is_missing(layer.geometries) | shapely.is_empty(layer.geometries))]
    placed = moved_shapes(shapes, layer.definition, system)
    placed = placed[finite_shapes(placed)]
    if not len(placed):
        raise refusal("no-shapes", "The file has no areas, lines or points.", "Choose another file.", file=file.name)
    return placed
