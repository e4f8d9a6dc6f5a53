"""Find the columns of a region file: by usual names, or as the user names them."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

from vbas_desktop.model.findings import FindingList
from vbas_desktop.model.text import list_first_line

from ..delimited_text import suggest_columns

ID_NAMES = (
    "id", "dauid", "geoid", "geoid10", "geoid20", "geoidfq", "tractid", "tract", "tractce", "tractce10", "tractce20",
    "regionid", "region", "areakey", "areaid", "daid", "da", "geouid", "geocode", "geographycode", "blockgroup",
    "ctuid", "csduid", "cduid", "dbuid", "fsa", "cfsauid",
    "postcode", "postalcode", "zip", "zipcode", "zcta", "zcta5", "zcta5ce10", "zcta5ce20", "lsoacd", "msoacd", "oacd",
    "nutsid", "ags", "insee", "code", "regioncode", "areacode", "aggregatedregion", "uid", "gid", "fid", "objectid",
)  # fmt: skip
LONGITUDE_NAMES = (
    "longitude", "lon", "long", "lng", "longitud", "longitudes", "intptlon", "intptlon10", "intptlon20", "darplong",
    "dalong", "langengrad",
)  # fmt: skip
LATITUDE_NAMES = (
    "latitude", "lat", "latitud", "latitudes", "intptlat", "intptlat10", "intptlat20", "darplat", "dalat",
    "breitengrad",
)  # fmt: skip
X_NAMES = (
    "x", "xm", "xmetres", "xmeters", "xlambert", "easting", "eastings", "xcoord", "xcoordinate", "pointx", "coordx",
    "darpx",
)  # fmt: skip
Y_NAMES = (
    "y", "ym", "ymetres", "ymeters", "ylambert", "northing", "northings", "ycoord", "ycoordinate", "pointy", "coordy",
    "darpy",
)  # fmt: skip
NAME_NAMES = (
    "name", "areaname", "regionname", "csdname", "ctname", "namelsad", "municipality", "town", "place", "label",
    "nom", "title",
)  # fmt: skip
METRE_NAMES = (
    "xm", "xmetres", "xmeters", "xlambert", "easting", "eastings",
)  # fmt: skip
_YEARED_CODE = re.compile(r"(lsoa|msoa|oa|wd|lad)\d\dcd")


def normalise_name(name: str) -> str:
    """Return a column name without case, accents, blanks and punctuation, for comparing it with usual names."""
    return re.sub(r"[\W_]+", "", unicodedata.normalize("NFKD", name.casefold()))


def _split_words(name: str) -> set[str]:
    """Split a column name such as ``centroid_lon`` into words."""
    return set(re.split(r"[\W_]+", name.casefold()))


def is_longitude(name: str) -> bool:
    """Tell whether a column is named like a longitude."""
    return normalise_name(name) in LONGITUDE_NAMES or bool(
        _split_words(name) & {"longitude", "lon", "lng"}
    )


def is_latitude(name: str) -> bool:
    """Tell whether a column is named like a latitude."""
    return normalise_name(name) in LATITUDE_NAMES or bool(_split_words(name) & {"latitude", "lat"})


def find_id_candidates(header: Sequence[str]) -> list[str]:
    """List the columns named like an id, likeliest first."""
    name_of = {normalise_name(name): name for name in reversed(header)}
    return [name_of[name] for name in ID_NAMES if name in name_of] + [
        name for name in header if _YEARED_CODE.fullmatch(normalise_name(name))
    ]


def find_name_column(header: Sequence[str], id_column: str) -> str | None:
    """Find the column with readable names of the regions, other than ``id_column``; None if there is none."""
    name_of = {normalise_name(name): name for name in reversed(header) if name != id_column}
    return next((name_of[name] for name in NAME_NAMES if name in name_of), None)


@dataclass(frozen=True)
class CoordinateColumns:
    """The two coordinate columns. If ``named_degrees`` x is the longitude and y the latitude, whatever their order."""

    x: str
    y: str
    named_degrees: bool
    metres: bool = False


def find_coordinate_columns(
    header: Sequence[str],
    x_column: str | None,
    y_column: str | None,
    coordinates: str,
    findings: FindingList,
) -> CoordinateColumns | None:
    """Find the coordinate columns; return None after noting which one is missing.

    A file with both kinds of columns is taken by longitude and latitude, because their position on Earth is known; with
    ``planar`` by x and y.
    """
    degrees = (
        _find_first(header, LONGITUDE_NAMES) or next(filter(is_longitude, header), None),
        _find_first(header, LATITUDE_NAMES) or next(filter(is_latitude, header), None),
    )
    plane = _find_first(header, X_NAMES), _find_first(header, Y_NAMES)
    pairs = (plane, degrees) if coordinates == "planar" else (degrees, plane)
    guess = next(
        (pair for pair in pairs if all(pair)), (pairs[0][0] or pairs[1][0], pairs[0][1] or pairs[1][1])
    )
    x = _find_requested(header, x_column, findings) if x_column else guess[0]
    y = _find_requested(header, y_column, findings) if y_column else guess[1]
    if x is None and not x_column:
        _note_missing(header, findings, "x or a longitude", "--x-column")
    if y is None and not y_column:
        _note_missing(header, findings, "y or a latitude", "--y-column")
    if x is None or y is None:
        return None
    if is_latitude(x) and is_longitude(y):
        return (
            CoordinateColumns(y, x, True) if coordinates != "planar" else CoordinateColumns(x, y, True)
        )
    return CoordinateColumns(x, y, is_longitude(x) and is_latitude(y), normalise_name(x) in METRE_NAMES)


def find_id_columns(header: Sequence[str], id_column: str | None, findings: FindingList) -> list[str]:
    """List the columns that may hold the ids, likeliest first; empty after noting that there is none."""
    if id_column:
        name = _find_requested(header, id_column, findings)
        return [name] if name is not None else []
    candidates = find_id_candidates(header)
    if not candidates:
        _note_missing(header, findings, "a region id", "--id-column")
    return candidates


def check_repeated_names(header: Sequence[str], used: Sequence[str], findings: FindingList) -> None:
    """Note columns that share a name: an error if the column is needed, since nobody can say which is meant."""
    for name in dict.fromkeys(name for name in header if name and header.count(name) > 1):
        message = f"{header.count(name)} columns have this name."
        if name in used:
            findings.add(
                "duplicate-column", message, "Rename all but the right one.", row=1, column=name
            )
        else:
            findings.warn("duplicate-column", message, "The column is not used.", row=1, column=name)


def _find_first(header: Sequence[str], names: Sequence[str]) -> str | None:
    name_of = {normalise_name(name): name for name in reversed(header)}
    return next((name_of[name] for name in names if name in name_of), None)


def _find_requested(header: Sequence[str], requested: str, findings: FindingList) -> str | None:
    if requested in header:
        return requested
    alike = [name for name in header if name.casefold().strip() == requested.casefold().strip()]
    if alike:
        return alike[0]
    findings.add(
        "missing-column", f"There is no column “{requested}”.", suggest_columns(requested, header), row=1
    )
    return None


def _note_missing(header: Sequence[str], findings: FindingList, what: str, option: str) -> None:
    findings.add(
        "missing-column",
        f"No column is named like {what}.",
        f"Name it with {option}. {list_first_line(header)}",
        row=1,
    )
