"""Region files with geometry: GeoJSON, GeoPackage and Shapefile.

Each file is checked to be what its name says before the library that reads geometry sees it.
"""

from __future__ import annotations

import hashlib
import json
import mmap
import os
import re
import shutil
import tempfile
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import shapely
from numpy.typing import NDArray

from vbas_desktop.algorithms.antimeridian import find_cut_of_shapes, unwrap_shapes
from vbas_desktop.algorithms.polygons import apply_in_blocks
from vbas_desktop.model.findings import FindingList, input_error
from vbas_desktop.model.records import SourceFile
from vbas_desktop.model.text import shorten
from vbas_desktop.settings.reading import RegionReading

from ..input_checks import check_readable
from .column_names import find_id_columns, is_latitude, is_longitude
from .coordinates import are_degrees
from .raw_regions import (
    POLYGONAL,
    RawRegions,
    are_finite,
    choose_id_column,
    read_attributes,
    repair_shapes,
)

_SHAPEFILE = (0x270A).to_bytes(4, "big")
_SQLITE = b"SQLite format 3\0"
_GEOPACKAGE = (b"GPKG", b"GP10", b"GP11")
_APPLICATION = slice(68, 72)
_MARK = b"\xef\xbb\xbf"
_POSSIBLE_LINK = re.compile(rb"link|url|\\u00", re.IGNORECASE)

ENDINGS = (".geojson", ".json", ".gpkg", ".shp", ".zip")
"""Files with these endings are taken for geometry; archives are refused with a remedy."""
REGION_KINDS = ("Polygon", "Point", "Unknown", "GeometryCollection")
_KIND_WORDS = {"Polygon": "polygons", "Point": "points", "LineString": "lines"}
_FEATURES_PER_BLOCK = 10_000
SHAPEFILE_PARTS = (".shp", ".dbf", ".shx", ".prj")


@dataclass(frozen=True, eq=False)
class GeometryLayer:
    """The features of one layer: attribute columns, geometries, and the coordinate system as pyproj reads it."""

    columns: dict[str, NDArray[Any]]
    geometries: NDArray[np.object_]
    definition: str | None

    @property
    def header(self) -> list[str]:
        """Return the names of the attribute columns."""
        return list(self.columns)

    @property
    def rows(self) -> NDArray[np.int64]:
        """Return the numbers of the features."""
        return np.arange(1, len(self.geometries) + 1)

    def column(self, name: str) -> list[str]:
        """Return a column as text: whole numbers without a decimal point, missing values empty."""
        return [_as_text(value) for value in self.columns[name].tolist()]


def read_geometry_regions(path: Path, options: RegionReading, findings: FindingList) -> RawRegions:
    """Read the regions of a geometry file. Raises `InputError` if they cannot be read at all."""
    if path.suffix.lower() == ".shp":
        check_shapefile_parts(path, findings)
    layer = read_layer(path, options.layer, findings)
    candidates = find_id_columns(layer.header, options.id_column, findings)
    if not candidates:
        findings.stop_on_errors()
    x_column = options.x_column
    y_column = options.y_column
    attributes = read_attributes(
        layer, choose_id_column(layer, candidates, findings), (x_column, y_column), findings
    )
    named_points = _read_named_points(layer, x_column, y_column, findings)
    degrees, unit = _describe_system(layer.definition, findings)
    cut = _find_date_line_cut(layer.geometries) if degrees else None
    polygons, points = _split_shapes(unwrap_shapes(layer.geometries, cut), layer.rows, findings)
    return RawRegions(
        **attributes,
        points=points if named_points is None else named_points,
        degrees=degrees,
        definition=layer.definition,
        unit=unit,
        polygons=polygons,
        points_given=named_points is not None,
        x_name=x_column,
        y_name=y_column,
        over_date_line=cut is not None,
    )


def check_shapefile_parts(path: Path, findings: FindingList) -> None:
    """Note the parts of a Shapefile that are missing."""
    there = {part for part in SHAPEFILE_PARTS if find_shapefile_part(path, part) is not None}
    for part, use in ((".dbf", "the region ids"), (".shx", "the index of the shapes")):
        if part not in there:
            findings.add(
                "missing-part",
                f"The file {path.stem}{part} with {use} is missing.",
                f"Put it beside {path.name}: a Shapefile is several files.",
            )
    if ".prj" not in there:
        findings.warn(
            "missing-part",
            f"The file {path.stem}.prj with the coordinate system is missing; taken as plane coordinates.",
            "Put it beside the others, or choose --coordinates.",
        )
    findings.stop_on_errors()


def find_shapefile_part(path: Path, ending: str) -> Path | None:
    """Find the file beside ``path`` with this ending in lower or upper case; None if there is none."""
    for candidate in (path.with_suffix(ending), path.with_suffix(ending.upper())):
        if candidate.exists():
            return candidate
    return None


def describe_source(path: Path) -> SourceFile:
    """Compute size and SHA-256 of a file; of a Shapefile, of its .shp, .dbf, .shx and .prj one after the other."""
    files: Sequence[Path] = [path]
    if path.suffix.lower() == ".shp":
        parts = (find_shapefile_part(path, part) for part in SHAPEFILE_PARTS[1:])
        files = [path, *(part for part in parts if part is not None)]
    digest = hashlib.sha256()
    for file in files:
        with file.open("rb") as stream:
            hashlib.file_digest(stream, lambda: digest)
    return SourceFile(str(path), sum(file.stat().st_size for file in files), digest.hexdigest())


def read_layer(
    path: Path, layer_name: str | None, findings: FindingList, kinds: Sequence[str] = REGION_KINDS
) -> GeometryLayer:
    """Read the features of the named layer, or of the first with one of these kinds of geometry."""
    checked_path = check_geometry_file(path)
    import pyogrio
    from pyogrio.errors import CRSError, DataLayerError, DataSourceError

    with warnings.catch_warnings(record=True) as caught_warnings:
        warnings.simplefilter("always")
        try:
            chosen = _choose_layer(pyogrio.list_layers(checked_path), layer_name, findings, kinds)
            try:
                meta, geometry, fields = _read_features(checked_path, chosen, _encoding(path))
            except CRSError:
                if path.suffix.lower() != ".shp":
                    raise
                with _without_system(checked_path) as copy:
                    meta, geometry, fields = _read_features(copy, chosen, _encoding(path))
        except (DataSourceError, DataLayerError, ValueError, UnicodeDecodeError):
            findings.add(
                "unreadable",
                "The file cannot be read as geometry.",
                "Export it again as GeoJSON or GeoPackage.",
            )
            findings.stop_on_errors()
            raise
    _note_faults([str(warning.message) for warning in caught_warnings], findings)
    if (
        meta["crs"] is None
        and find_shapefile_part(path, ".prj") is not None
        and path.suffix.lower() == ".shp"
    ):
        message = f"The file {path.stem}.prj with the coordinate system is damaged; taken as plane coordinates."
        findings.warn("broken-part", message, "Get a fresh copy of it, or choose --coordinates.")
    names = [str(name) for name in meta["fields"]]
    if geometry is None or not len(geometry):
        findings.add("empty-file", "The layer has no regions.", "Choose a file with regions.")
        findings.stop_on_errors()
    with np.errstate(invalid="ignore"):  # a vertex that is no number is noted with its row
        shapes = apply_in_blocks(_read_shapes, geometry)
    return GeometryLayer(dict(zip(names, fields, strict=True)), shapes, meta["crs"])


def _read_features(
    path: Path, layer: str, encoding: str | None
) -> tuple[dict[str, Any], Any, list[NDArray[Any]]]:
    """Read facts, geometries (None: a table without) and fields of a layer; of a large file some features at a time.

    Reading keeps all other threads waiting, that of the window too. Only these formats lead to a feature by its number.
    """
    from pyogrio.raw import read

    is_indexed = path.suffix.lower() in (".gpkg", ".shp")
    meta, _, geometry, fields = read(
        path, layer=layer, encoding=encoding, max_features=_FEATURES_PER_BLOCK if is_indexed else None
    )
    if not is_indexed or geometry is None or len(geometry) < _FEATURES_PER_BLOCK:
        return meta, geometry, fields
    geometries = [geometry]
    values = [fields]
    while len(geometries[-1]) == _FEATURES_PER_BLOCK:
        n_read = len(geometries) * _FEATURES_PER_BLOCK
        _, _, geometry, fields = read(
            path, layer=layer, encoding=encoding, skip_features=n_read, max_features=_FEATURES_PER_BLOCK
        )
        geometries.append(geometry)
        values.append(fields)
    return (
        meta,
        np.concatenate(geometries),
        [np.concatenate(column) for column in zip(*values, strict=True)],
    )


def _read_shapes(geometry: NDArray[np.object_]) -> NDArray[np.object_]:
    """Make shapes of well-known binary text; what cannot be read is None."""
    return shapely.force_2d(shapely.from_wkb(geometry, on_invalid="ignore"))


@contextmanager
def _without_system(path: Path) -> Iterator[Path]:
    """Make a copy of a Shapefile without the .prj, which the reader cannot skip."""
    with tempfile.TemporaryDirectory(prefix="vbas-") as folder:
        for ending in (".shp", ".dbf", ".shx", ".cpg"):
            part = find_shapefile_part(path, ending)
            if part is not None:
                shutil.copyfile(part, Path(folder) / (path.stem + ending))
        yield Path(folder) / (path.stem + ".shp")


def _note_faults(remarks: Sequence[str], findings: FindingList) -> None:
    """Note the faults that the library that reads geometry ignored."""
    for text in dict.fromkeys(remark.strip().partition("\n")[0] for remark in remarks):
        message = f"The file has a fault that was ignored: “{shorten(text)}”."
        findings.warn(
            "geometry-reader", message, "Look at the regions on the map, or export the file again."
        )


def read_layer_names(path: Path, layer_name: str | None) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Read the columns of the named layer, or of the one that would be read, and the names of all layers."""
    checked_path = check_geometry_file(path)
    import pyogrio

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        layers = pyogrio.list_layers(checked_path)
        names = tuple(str(name) for name, _ in layers)
        requested = layer_name if layer_name in names else None
        chosen = _choose_layer(layers, requested, FindingList(path.name), REGION_KINDS)
        fields = pyogrio.read_info(checked_path, layer=chosen, encoding=_encoding(path))["fields"]
    return tuple(str(name) for name in fields), names


def _encoding(path: Path) -> str | None:
    """Return UTF-8 for a Shapefile that names no code page but is UTF-8; GDAL would take it as Latin-1."""
    table = find_shapefile_part(path, ".dbf")
    if path.suffix.lower() != ".shp" or find_shapefile_part(path, ".cpg") or table is None:
        return None
    data = table.read_bytes()
    try:
        data[int.from_bytes(data[8:10], "little") :].decode("utf-8")
    except UnicodeDecodeError:
        return None
    return "UTF-8"


def _choose_layer(
    layers: NDArray[np.object_],
    requested: str | None,
    findings: FindingList,
    kinds_wanted: Sequence[str],
) -> str:
    names = [str(name) for name, _ in layers]
    listed = ", ".join(f"“{name}”" for name in names)
    if requested is not None:
        if requested not in names:
            findings.add(
                "missing-layer", f"There is no layer “{requested}”.", f"The layers are {listed}."
            )
            findings.stop_on_errors()
        return requested
    kinds = [str(kind or "") for _, kind in layers]
    for word in kinds_wanted:
        fitting = [name for name, kind in zip(names, kinds, strict=True) if word in kind]
        if fitting:
            if len(fitting) > 1:
                findings.hint(
                    "several-layers", f"Layer “{fitting[0]}” is used; the layers are {listed}."
                )
            return fitting[0]
    wanted_kinds = " or ".join(_KIND_WORDS[kind] for kind in kinds_wanted if kind in _KIND_WORDS)
    findings.add("no-regions", f"No layer has {wanted_kinds}.", "Choose a file that has them.")
    findings.stop_on_errors()
    raise AssertionError("a layer without regions is an error")


def _find_date_line_cut(shapes: NDArray[np.object_]) -> float | None:
    """Find the longitude at which polygons are cut open so that the date line does not tear them."""
    polygons = shapes[np.isin(shapely.get_type_id(shapes), POLYGONAL)]
    polygons = polygons[are_finite(polygons)]
    return (
        find_cut_of_shapes(polygons)
        if polygons.size and bool(are_degrees(shapely.bounds(polygons)).all())
        else None
    )


def _split_shapes(
    shapes: NDArray[np.object_], rows: NDArray[np.int64], findings: FindingList
) -> tuple[NDArray[np.object_] | None, NDArray[np.float64]]:
    """Split shapes into polygons (repaired; None where a region is a point) and points in the file's coordinates."""
    shapes = repair_shapes(shapes, rows, findings)
    kind = shapely.get_type_id(shapes)
    polygonal = np.isin(kind, POLYGONAL)
    pointlike = kind == shapely.GeometryType.POINT
    points = np.full((len(shapes), 2), np.nan)
    usable = (polygonal | pointlike) & ~shapely.is_empty(shapes)
    is_finite = usable & are_finite(shapes)
    with np.errstate(
        over="ignore", invalid="ignore"
    ):  # numbers that are too large are noted with their row
        points[is_finite] = shapely.get_coordinates(apply_in_blocks(shapely.centroid, shapes[is_finite]))
    for i in np.flatnonzero(~usable | ~np.isfinite(points).all(axis=1)).tolist():
        _note_unusable(shapes[i], bool(usable[i]), int(rows[i]), findings)
    if not polygonal.any():
        return None, points
    polygons = shapes.copy()
    polygons[~polygonal] = None
    return polygons, points


def _note_unusable(shape: Any, right_kind: bool, row: int, findings: FindingList) -> None:
    if shape is None:
        findings.add(
            "missing-geometry", "The region has no shape.", "Draw it, or remove the region.", row=row
        )
    elif shape.is_empty:
        findings.add("invalid-geometry", "The polygon has no area.", "Draw it again.", row=row)
    elif right_kind:
        findings.add("infinite-number", "A coordinate is not finite.", "Correct the shape.", row=row)
    else:
        what = f"The shape is a {shape.geom_type}, neither polygon nor point."
        findings.add("wrong-geometry", what, "Use polygons or points.", row=row)


def _read_named_points(
    layer: GeometryLayer, x_column: str | None, y_column: str | None, findings: FindingList
) -> NDArray[np.float64] | None:
    """Read the points from the two attribute columns that the user names; None if there are none."""
    if not x_column and not y_column:
        return None
    values = []
    for name, option in ((x_column, "--x-column"), (y_column, "--y-column")):
        if not name or name not in layer.columns:
            what = (
                f"There is no column “{name}”."
                if name
                else "Only one of the two coordinate columns is given."
            )
            findings.add(
                "missing-column", what, f"Name a column of numbers with {option}, or neither of the two."
            )
            continue
        values.append(_attribute_numbers(layer.columns[name], name, findings))
    if len(values) < 2:
        findings.stop_on_errors()
    if is_latitude(str(x_column)) and is_longitude(str(y_column)):
        values.reverse()
    return np.column_stack(values)


def read_layer_numbers(
    path: Path, columns: Sequence[str], layer_name: str | None, findings: FindingList
) -> dict[str, NDArray[np.float64]]:
    """Read those of the columns that the layer has as numbers; each field that is none is noted."""
    layer = read_layer(path, layer_name, findings)
    return {
        name: _attribute_numbers(layer.columns[name], name, findings)
        for name in columns
        if name in layer.columns
    }


def _attribute_numbers(column: NDArray[Any], name: str, findings: FindingList) -> NDArray[np.float64]:
    numbers = np.full(len(column), np.nan)
    for i, value in enumerate(column.tolist()):
        try:
            numbers[i] = float(value)
        except (TypeError, ValueError):
            findings.add("not-a-number", "This is not a number.", "Correct it.", row=i + 1, column=name)
            continue
        if not np.isfinite(numbers[i]):
            findings.add("missing-number", "The number is missing.", "Add it.", row=i + 1, column=name)
    return numbers


def _describe_system(definition: str | None, findings: FindingList) -> tuple[bool, str]:
    """Tell whether the file's system is longitude and latitude, and name its unit."""
    if definition is None:
        return False, "unit"
    import pyproj

    system = pyproj.CRS.from_user_input(definition)
    if system.is_geographic:
        return True, "degree"
    unit = system.axis_info[0].unit_name if system.axis_info else "unknown"
    if unit == "metre":
        return False, "m"
    findings.hint("unit", f"The file's coordinates are in the unit “{unit}”; distances are shown in it.")
    return False, "unit"


def _as_text(value: Any) -> str:
    if value is None or value != value:
        return ""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value)


def check_geometry_file(path: Path) -> Path:
    """Return the absolute path of a Shapefile, a GeoPackage or GeoJSON.

    Raises `InputError` for a file that is none by its first bytes, and for GeoJSON that names an address.
    """
    check_readable(path)
    # From the root on, no part of a path can be taken for an address; an exclamation mark would be for an archive.
    absolute_path = Path(os.path.abspath(path))
    if "!" in str(absolute_path):
        _refuse(
            path, "There is an exclamation mark in the path.", "Rename the file or folder that has it."
        )
    with path.open("rb") as stream:
        opening = stream.read(4096)
    ending = path.suffix.lower()
    if ending == ".zip":
        _refuse(
            path,
            "A zip archive is not opened.",
            "Unpack it, and choose the .shp, .gpkg or .geojson in it.",
        )
    if ending == ".shp" and not opening.startswith(_SHAPEFILE):
        _refuse(path, "This is not a Shapefile, although it is called .shp.")
    if ending == ".gpkg" and not (opening.startswith(_SQLITE) and opening[_APPLICATION] in _GEOPACKAGE):
        _refuse(path, "This is not a GeoPackage, although it is called .gpkg.")
    if ending in (".geojson", ".json"):
        if not opening.removeprefix(_MARK).lstrip().startswith(b"{"):
            _refuse(path, f"This is not a GeoJSON file, although it is called {ending}.")
        _check_coordinate_system(path)
    return absolute_path


def _check_coordinate_system(path: Path) -> None:
    """Refuse a coordinate system that is given as a link, which would be fetched; most files need no second look."""
    with path.open("rb") as stream, mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ) as content:
        if _POSSIBLE_LINK.search(content) is None:
            return
        data = content[:]
    try:
        json.loads(data.decode("utf-8-sig"), object_pairs_hook=_check_members)
    except _LinkFound:
        remedy = "Save the file with a coordinate system that has a name, such as EPSG:4326."
        _refuse(
            path,
            "The coordinate system is given as an address on the network, which is not opened.",
            remedy,
        )
    except (ValueError, RecursionError):
        _refuse(path, "This is not valid GeoJSON.")


class _LinkFound(Exception):
    """A coordinate system is a link."""


def _check_members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if "crs" in members:
        for name, value in pairs:
            if (
                name == "crs"
                and isinstance(value, dict)
                and str(value.get("type")).lower() in ("link", "url")
            ):
                raise _LinkFound
    return members


def _refuse(
    path: Path, message: str, remedy: str = "Choose a GeoJSON, GeoPackage or Shapefile, or a table."
) -> None:
    raise input_error("wrong-format", message, remedy, file=path.name)
