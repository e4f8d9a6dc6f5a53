"""Is a geometry file what its name says? Looked at before the library that reads geometry sees it."""

from __future__ import annotations

import json
import mmap
import os
import re
from pathlib import Path
from typing import Any

from vbas_desktop.domain.errors import Finding, InputError
from vbas_desktop.files.access import check_readable

_SHAPEFILE = (0x270A).to_bytes(4, "big")
_SQLITE = b"SQLite format 3\0"
_GEOPACKAGE = (b"GPKG", b"GP10", b"GP11")
_APPLICATION = slice(68, 72)
_MARK = b"\xef\xbb\xbf"
_PERHAPS_A_LINK = re.compile(rb"link|url|\\u00", re.IGNORECASE)


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
    raise InputError(Finding("wrong-format", message, remedy, file=path.name))
