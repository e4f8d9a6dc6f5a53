"""Region files with geometry: GeoJSON, GeoPackage and Shapefile. Whether a file is what its name says is looked at
before the library that reads geometry sees it.
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

from vbas_desktop.algorithms.date_line import cut_of_shapes, unwrapped
from vbas_desktop.algorithms.shape_blocks import apply_in_blocks
from vbas_desktop.io.access import check_readable
from vbas_desktop.model.errors import refusal
from vbas_desktop.model.findings import FindingList
from vbas_desktop.model.names import shorten
from vbas_desktop.model.source import Source
from vbas_desktop.settings.reading import RegionOptions

from .columns import find_id, is_latitude, is_longitude
from .coordinates import degrees_fit
from .raw import POLYGONAL, RawRegions, attributes, choose_id, finite_shapes, repaired

_SHAPEFILE = (0x270A).to_bytes(4, "big")
_SQLITE = b"SQLite format 3\0"
_GEOPACKAGE = (b"GPKG", b"GP10", b"GP11")
_APPLICATION = slice(68, 72)
_MARK = b"\xef\xbb\xbf"
_PERHAPS_A_LINK = re.compile(rb"link|url|\\u00", re.IGNORECASE)

ENDINGS = (".geojson", ".json", ".gpkg", ".shp", ".zip")
"""Files with these endings are taken for geometry; of archives it is told what to do."""
REGION_KINDS = ("Polygon", "Point", "Unknown", "GeometryCollection")
_KIND_WORDS = {"Polygon": "polygons", "Point": "points", "LineString": "lines"}
SHAPEFILE_PARTS = (".shp", ".dbf", ".shx", ".prj")


@dataclass(frozen=True, eq=False)
class Layer:
    """The features of one layer: attribute columns, geometries, and the coordinate system in words of pyproj."""

    columns: dict[str, NDArray[Any]]
    geometries: NDArray[np.object_]
    definition: str | None

    @property
    def header(self) -> list[str]:
        """The names of the attribute columns."""
        return list(self.columns)

    @property
    def rows(self) -> NDArray[np.int64]:
        """The numbers of the features."""
        return np.arange(1, len(self.geometries) + 1)

    def column(self, name: str) -> list[str]:
        """A column as text: whole numbers without a decimal point, nothing for what is missing."""
        return [_as_text(value) for value in self.columns[name].tolist()]


def read_raw_layer(path: Path, options: RegionOptions, findings: FindingList) -> RawRegions:
    """The regions of a geometry file; raises `InputError` if nothing more can be found out."""
    if path.suffix.lower() == ".shp":
        check_parts(path, findings)
    layer = read_layer(path, options.layer, findings)
    candidates = find_id(layer.header, options.id_column, findings)
    if not candidates:
        findings.stop_on_errors()
    x_column, y_column = options.x_column, options.y_column
    known = attributes(layer, choose_id(layer, candidates, findings), (x_column, y_column), findings)
    given = _given_points(layer, x_column, y_column, findings)
    degrees, unit = _nature(layer.definition, findings)
    cut = _date_line_cut(layer.geometries) if degrees else None
    polygons, points = _split(unwrapped(layer.geometries, cut), layer.rows, findings)
    return RawRegions(
        **known,
        points=points if given is None else given,
        degrees=degrees,
        definition=layer.definition,
        unit=unit,
        polygons=polygons,
        points_given=given is not None,
        x_name=x_column,
        y_name=y_column,
        over_date_line=cut is not None,
    )


def check_parts(path: Path, findings: FindingList) -> None:
    """Note the parts of a Shapefile that are missing."""
    there = {part for part in SHAPEFILE_PARTS if shapefile_part(path, part) is not None}
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


def shapefile_part(path: Path, ending: str) -> Path | None:
    """The file beside ``path`` with this ending in lower or upper case, if it is there."""
    for candidate in (path.with_suffix(ending), path.with_suffix(ending.upper())):
        if candidate.exists():
            return candidate
    return None


def source_of(path: Path) -> Source:
    """Size and SHA-256 of a file; of a Shapefile, of its .shp, .dbf, .shx and .prj one after the other."""
    files: Sequence[Path] = [path]
    if path.suffix.lower() == ".shp":
        parts = (shapefile_part(path, part) for part in SHAPEFILE_PARTS[1:])
        files = [path, *(part for part in parts if part is not None)]
    digest = hashlib.sha256()
    for file in files:
        with file.open("rb") as stream:
            hashlib.file_digest(stream, lambda: digest)
    return Source(str(path), sum(file.stat().st_size for file in files), digest.hexdigest())


def read_layer(path: Path, layer_name: str | None, findings: FindingList, kinds: Sequence[str] = REGION_KINDS) -> Layer:
    """The features of the wanted layer, or of the first with one of these kinds of geometry."""
    place = checked_geometry_file(path)
    import pyogrio
    from pyogrio.errors import CRSError, DataLayerError, DataSourceError
    from pyogrio.raw import read

    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        try:
            chosen = _choose_layer(pyogrio.list_layers(place), layer_name, findings, kinds)
            try:
                meta, _, geometry, fields = read(place, layer=chosen, encoding=_encoding(path))
            except CRSError:
                if path.suffix.lower() != ".shp":
                    raise
                with _without_system(place) as copy:
                    meta, _, geometry, fields = read(copy, layer=chosen, encoding=_encoding(path))
        except (DataSourceError, DataLayerError, ValueError, UnicodeDecodeError):
            findings.add(
                "unreadable", "The file cannot be read as geometry.", "Export it again as GeoJSON or GeoPackage."
            )
            findings.stop_on_errors()
            raise
    _note_faults([str(warning.message) for warning in said], findings)
    if meta["crs"] is None and shapefile_part(path, ".prj") is not None and path.suffix.lower() == ".shp":
        message = f"The file {path.stem}.prj with the coordinate system is damaged; taken as plane coordinates."
        findings.warn("broken-part", message, "Get a fresh copy of it, or choose --coordinates.")
    names = [str(name) for name in meta["fields"]]
    if geometry is None or not len(geometry):
        findings.add("empty-file", "The layer has no regions.", "Choose a file with regions.")
        findings.stop_on_errors()
    with np.errstate(invalid="ignore"):  # a vertex that is no number is told of by its row
        shapes = apply_in_blocks(_read_shapes, geometry)
    return Layer(dict(zip(names, fields, strict=True)), shapes, meta["crs"])


def _read_shapes(geometry: NDArray[np.object_]) -> NDArray[np.object_]:
    """Make shapes of well-known binary text; what cannot be read is None."""
    return shapely.force_2d(shapely.from_wkb(geometry, on_invalid="ignore"))


@contextmanager
def _without_system(path: Path) -> Iterator[Path]:
    """Hand out a copy of a Shapefile without the .prj, which the reader cannot pass over."""
    with tempfile.TemporaryDirectory(prefix="vbas-") as folder:
        for ending in (".shp", ".dbf", ".shx", ".cpg"):
            part = shapefile_part(path, ending)
            if part is not None:
                shutil.copyfile(part, Path(folder) / (path.stem + ending))
        yield Path(folder) / (path.stem + ".shp")


def _note_faults(remarks: Sequence[str], findings: FindingList) -> None:
    """Note what the library that reads geometry passed over."""
    for text in dict.fromkeys(remark.strip().partition("\n")[0] for remark in remarks):
        message = f"The file has a fault that was passed over: “{shorten(text)}”."
        findings.warn("geometry-reader", message, "Look at the regions on the map, or export the file again.")


def layer_names(path: Path, layer_name: str | None) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The columns of the wanted layer, or of the one that would be read, and the names of all layers."""
    place = checked_geometry_file(path)
    import pyogrio

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        layers = pyogrio.list_layers(place)
        names = tuple(str(name) for name, _ in layers)
        wanted = layer_name if layer_name in names else None
        chosen = _choose_layer(layers, wanted, FindingList(path.name), REGION_KINDS)
        fields = pyogrio.read_info(place, layer=chosen, encoding=_encoding(path))["fields"]
    return tuple(str(name) for name in fields), names


def _encoding(path: Path) -> str | None:
    """UTF-8 for a Shapefile that does not name its code page but is UTF-8; GDAL would take it as Latin-1."""
    table = shapefile_part(path, ".dbf")
    if path.suffix.lower() != ".shp" or shapefile_part(path, ".cpg") or table is None:
        return None
    data = table.read_bytes()
    try:
        data[int.from_bytes(data[8:10], "little") :].decode("utf-8")
    except UnicodeDecodeError:
        return None
    return "UTF-8"


def _choose_layer(
    layers: NDArray[np.object_], wanted: str | None, findings: FindingList, kinds_wanted: Sequence[str]
) -> str:
    names = [str(name) for name, _ in layers]
    listed = ", ".join(f"“{name}”" for name in names)
    if wanted is not None:
        if wanted not in names:
            findings.add("missing-layer", f"There is no layer “{wanted}”.", f"The layers are {listed}.")
            findings.stop_on_errors()
        return wanted
    kinds = [str(kind or "") for _, kind in layers]
    for word in kinds_wanted:
        fitting = [name for name, kind in zip(names, kinds, strict=True) if word in kind]
        if fitting:
            if len(fitting) > 1:
                findings.hint("several-layers", f"Layer “{fitting[0]}” is used; the layers are {listed}.")
            return fitting[0]
    wanted_kinds = " or ".join(_KIND_WORDS[kind] for kind in kinds_wanted if kind in _KIND_WORDS)
    findings.add("no-regions", f"No layer has {wanted_kinds}.", "Choose a file that has them.")
    findings.stop_on_errors()
    raise AssertionError("a layer without regions is an error")


def _date_line_cut(shapes: NDArray[np.object_]) -> float | None:
    """Where polygons in longitude and latitude are to be cut open so that the date line does not tear them."""
    polygons = shapes[np.isin(shapely.get_type_id(shapes), POLYGONAL)]
    polygons = polygons[finite_shapes(polygons)]
    return cut_of_shapes(polygons) if polygons.size and bool(degrees_fit(shapely.bounds(polygons)).all()) else None


def _split(
    shapes: NDArray[np.object_], rows: NDArray[np.int64], findings: FindingList
) -> tuple[NDArray[np.object_] | None, NDArray[np.float64]]:
    """Polygons (repaired where needed; None where a region is a point) and points in the file's coordinates."""
    shapes = repaired(shapes, rows, findings)
    kind = shapely.get_type_id(shapes)
    polygonal = np.isin(kind, POLYGONAL)
    pointlike = kind == shapely.GeometryType.POINT
    points = np.full((len(shapes), 2), np.nan)
    usable = (polygonal | pointlike) & ~shapely.is_empty(shapes)
    found = usable & finite_shapes(shapes)
    with np.errstate(over="ignore", invalid="ignore"):  # numbers that are too large are told of by their row
        points[found] = shapely.get_coordinates(apply_in_blocks(shapely.centroid, shapes[found]))
    for i in np.flatnonzero(~usable | ~np.isfinite(points).all(axis=1)).tolist():
        _note_unusable(shapes[i], bool(usable[i]), int(rows[i]), findings)
    if not polygonal.any():
        return None, points
    polygons = shapes.copy()
    polygons[~polygonal] = None
    return polygons, points


def _note_unusable(shape: Any, right_kind: bool, row: int, findings: FindingList) -> None:
    if shape is None:
        findings.add("missing-geometry", "The region has no shape.", "Draw it, or remove the region.", row=row)
    elif shape.is_empty:
        findings.add("invalid-geometry", "The polygon has no area.", "Draw it again.", row=row)
    elif right_kind:
        findings.add("infinite-number", "A coordinate is not finite.", "Correct the shape.", row=row)
    else:
        what = f"The shape is a {shape.geom_type}, neither polygon nor point."
        findings.add("wrong-geometry", what, "Use polygons or points.", row=row)


def _given_points(
    layer: Layer, x_column: str | None, y_column: str | None, findings: FindingList
) -> NDArray[np.float64] | None:
    """The points that the user wants taken from two attribute columns, in the coordinate system of the file."""
    if not x_column and not y_column:
        return None
    values = []
    for name, option in ((x_column, "--x-column"), (y_column, "--y-column")):
        if not name or name not in layer.columns:
            what = f"There is no column “{name}”." if name else "Only one of the two coordinate columns is given."
            findings.add("missing-column", what, f"Name a column of numbers with {option}, or neither of the two.")
            continue
        values.append(_attribute_numbers(layer.columns[name], name, findings))
    if len(values) < 2:
        findings.stop_on_errors()
    if is_latitude(str(x_column)) and is_longitude(str(y_column)):
        values.reverse()
    return np.column_stack(values)


def layer_numbers(
    path: Path, columns: Sequence[str], layer_name: str | None, findings: FindingList
) -> dict[str, NDArray[np.float64]]:
    """Those of the columns that the layer has, as numbers; each field that is none is noted."""
    layer = read_layer(path, layer_name, findings)
    return {name: _attribute_numbers(layer.columns[name], name, findings) for name in columns if name in layer.columns}


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


def _nature(definition: str | None, findings: FindingList) -> tuple[bool, str]:
    """Whether the file's system is longitude and latitude, and its unit."""
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


def checked_geometry_file(path: Path) -> Path:
    """The whole path of a Shapefile, a GeoPackage or GeoJSON; what is none by its first bytes is refused, and so is
    GeoJSON that names an address.
    """
    check_readable(path)
    # From the root on, no part of a path can be taken for an address; an exclamation mark would be for an archive.
    place = Path(os.path.abspath(path))
    if "!" in str(place):
        _refuse(path, "There is an exclamation mark in the path.", "Rename the file or folder that has it.")
    with path.open("rb") as stream:
        opening = stream.read(4096)
    ending = path.suffix.lower()
    if ending == ".zip":
        _refuse(path, "A zip archive is not opened.", "Unpack it, and choose the .shp, .gpkg or .geojson in it.")
    if ending == ".shp" and not opening.startswith(_SHAPEFILE):
        _refuse(path, "This is not a Shapefile, although it is called .shp.")
    if ending == ".gpkg" and not (opening.startswith(_SQLITE) and opening[_APPLICATION] in _GEOPACKAGE):
        _refuse(path, "This is not a GeoPackage, although it is called .gpkg.")
    if ending in (".geojson", ".json"):
        if not opening.removeprefix(_MARK).lstrip().startswith(b"{"):
            _refuse(path, f"This is not a GeoJSON file, although it is called {ending}.")
        _check_coordinate_system(path)
    return place


def _check_coordinate_system(path: Path) -> None:
    """A coordinate system may be given as a link, which would be fetched; most files need no second look."""
    with path.open("rb") as stream, mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ) as content:
        if _PERHAPS_A_LINK.search(content) is None:
            return
        data = content[:]
    try:
        json.loads(data.decode("utf-8-sig"), object_pairs_hook=_checked_pairs)
    except _Linked:
        remedy = "Save the file with a coordinate system that has a name, such as EPSG:4326."
        _refuse(path, "The coordinate system is given as an address on the network, which is not opened.", remedy)
    except (ValueError, RecursionError):
        _refuse(path, "This is no valid GeoJSON.")


class _Linked(Exception):
    """A coordinate system is a link."""


def _checked_pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if "crs" in found:
        for name, value in pairs:
            if name == "crs" and isinstance(value, dict) and str(value.get("type")).lower() in ("link", "url"):
                raise _Linked
    return found


def _refuse(path: Path, message: str, remedy: str = "Choose a GeoJSON, GeoPackage or Shapefile, or a table.") -> None:
    raise refusal("wrong-format", message, remedy, file=path.name)
