"""Which column of a region file is what: guessed from usual names, or as the user says."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

from vbas_desktop.io.dialect import close_matches
from vbas_desktop.model.findings import FindingList
from vbas_desktop.model.names import list_first_line

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


def plain(name: str) -> str:
    """A column name without case, accents, blanks and punctuation, for comparing it with usual names."""
    return re.sub(r"[\W_]+", "", unicodedata.normalize("NFKD", name.casefold()))


def _parts(name: str) -> set[str]:
    """The words of a column name such as ``centroid_lon``."""
    return set(re.split(r"[\W_]+", name.casefold()))


def is_longitude(name: str) -> bool:
    """Whether a column is named like a longitude."""
    return plain(name) in LONGITUDE_NAMES or bool(_parts(name) & {"longitude", "lon", "lng"})


def is_latitude(name: str) -> bool:
    """Whether a column is named like a latitude."""
    return plain(name) in LATITUDE_NAMES or bool(_parts(name) & {"latitude", "lat"})


def id_candidates(header: Sequence[str]) -> list[str]:
    """The columns named like an id, likeliest first."""
    known = {plain(name): name for name in reversed(header)}
    return [known[name] for name in ID_NAMES if name in known] + [
        name for name in header if _YEARED_CODE.fullmatch(plain(name))
    ]


def name_column(header: Sequence[str], taken: str) -> str | None:
    """The column with readable names of the regions, if there is one."""
    known = {plain(name): name for name in reversed(header) if name != taken}
    return next((known[name] for name in NAME_NAMES if name in known), None)


@dataclass(frozen=True)
class Axes:
    """The two coordinate columns. If ``named_degrees`` x is the longitude and y the latitude, whatever their order."""

    x: str
    y: str
    named_degrees: bool
    metres: bool = False


def find_axes(
    header: Sequence[str], x_column: str | None, y_column: str | None, coordinates: str, findings: FindingList
) -> Axes | None:
    """The coordinate columns, or None after noting which one is missing.

    A file with both kinds of columns is taken by longitude and latitude, because their place on Earth is known; with
    ``planar`` by x and y.
    """
    degrees = (
        _first(header, LONGITUDE_NAMES) or next(filter(is_longitude, header), None),
        _first(header, LATITUDE_NAMES) or next(filter(is_latitude, header), None),
    )
    plane = _first(header, X_NAMES), _first(header, Y_NAMES)
    pairs = (plane, degrees) if coordinates == "planar" else (degrees, plane)
    guess = next((pair for pair in pairs if all(pair)), (pairs[0][0] or pairs[1][0], pairs[0][1] or pairs[1][1]))
    x = _named(header, x_column, findings) if x_column else guess[0]
    y = _named(header, y_column, findings) if y_column else guess[1]
    if x is None and not x_column:
        _missing(header, findings, "x or a longitude", "--x-column")
    if y is None and not y_column:
        _missing(header, findings, "y or a latitude", "--y-column")
    if x is None or y is None:
        return None
    if is_latitude(x) and is_longitude(y):
        return Axes(y, x, True) if coordinates != "planar" else Axes(x, y, True)
    return Axes(x, y, is_longitude(x) and is_latitude(y), plain(x) in METRE_NAMES)


def find_id(header: Sequence[str], id_column: str | None, findings: FindingList) -> list[str]:
    """The columns that may hold the ids, likeliest first; empty after noting that there is none."""
    if id_column:
        name = _named(header, id_column, findings)
        return [name] if name is not None else []
    candidates = id_candidates(header)
    if not candidates:
        _missing(header, findings, "a region id", "--id-column")
    return candidates


def check_repeated(header: Sequence[str], used: Sequence[str], findings: FindingList) -> None:
    """Note columns that share a name: an error if the column is needed, since nobody can say which is meant."""
    for name in dict.fromkeys(name for name in header if name and header.count(name) > 1):
        message = f"{header.count(name)} columns have this name."
        if name in used:
            findings.add("duplicate-column", message, "Rename all but the right one.", row=1, column=name)
        else:
            findings.warn("duplicate-column", message, "The column is not used.", row=1, column=name)


def _first(header: Sequence[str], names: Sequence[str]) -> str | None:
    known = {plain(name): name for name in reversed(header)}
    return next((known[name] for name in names if name in known), None)


def _named(header: Sequence[str], wanted: str, findings: FindingList) -> str | None:
    if wanted in header:
        return wanted
    alike = [name for name in header if name.casefold().strip() == wanted.casefold().strip()]
    if alike:
        return alike[0]
    findings.add("missing-column", f"There is no column “{wanted}”.", close_matches(wanted, header), row=1)
    return None


def _missing(header: Sequence[str], findings: FindingList, what: str, option: str) -> None:
    findings.add(
        "missing-column", f"No column is named like {what}.", f"Name it with {option}. {list_first_line(header)}", row=1
    )
