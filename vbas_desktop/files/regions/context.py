"""Files with coasts, roads, districts and the like: drawn for orientation, in the coordinates of the regions."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import shapely
from numpy.typing import NDArray

from vbas_desktop.domain.errors import Finding, InputError
from vbas_desktop.domain.regions import CoordinateSystem
from vbas_desktop.files.findings import FindingList

from .coordinates import moved_shapes
from .obstacles import geometry_layer
from .raw import finite_shapes

_KINDS = ("LineString", "Polygon", "Point", "Unknown", "GeometryCollection")


def load_context(path: str, system: CoordinateSystem) -> NDArray[np.object_]:
    """The shapes of a file; `InputError` says what is wrong with it. What has no place is left out."""
    file = Path(path)
    findings = FindingList(file.name)
    if not file.is_file():
        raise InputError(
            Finding("missing-file", "The file is not there.", "Put it back, or remove it.", file=file.name)
        )
    layer = geometry_layer(file, findings, _KINDS, "A layer for orientation needs areas, lines or points.")
    findings.stop_on_errors()
    shapes = layer.geometries[~(shapely.is_missing(layer.geometries) | shapely.is_empty(layer.geometries))]
    placed = moved_shapes(shapes, layer.definition, system)
    placed = placed[finite_shapes(placed)]
    if not len(placed):
        raise InputError(
            Finding("no-shapes", "The file has no areas, lines or points.", "Choose another file.", file=file.name)
        )
    return placed
