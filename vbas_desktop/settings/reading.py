"""How the two files are read: what the program would find out by itself can be said."""

from __future__ import annotations

from dataclasses import dataclass

from .declaration import Settings, setting, settings_of
from .forms import Delimiter, Form, Texts

FIND_OUT = "Automatic"
COORDINATES = {"auto": FIND_OUT, "planar": "Planar", "degrees": "Raw degrees", "geographic": "Geographic"}
_DELIMITERS = {None: FIND_OUT, ",": "Comma", ";": "Semicolon", "\t": "Tab", "|": "Pipe |"}
_ENCODINGS = {
    None: FIND_OUT,
    "utf-8": "UTF-8",
    "cp1252": "Windows (Western)",
    "latin-1": "Latin-1",
    "utf-16": "UTF-16",
}


@dataclass(frozen=True)
class RecordOptions(Settings, group="reading"):
    """How to read a record file; None or ``auto``: find out. ``category_counts``: is line 2 the category numbers?"""

    delimiter: str | None = setting(
        None,
        label="Delimiter of the records",
        help="What separates the fields of the records, such as ; or tab.",
        form=Delimiter(),
        titles=_DELIMITERS,
    )
    encoding: str | None = setting(
        None,
        label="Encoding of the records",
        help="How the characters of the records are encoded, such as latin-1.",
        titles=_ENCODINGS,
    )
    category_counts: str = setting(
        "auto",
        label="Second line has category numbers",
        help="Whether line 2 of the records is the number of response categories.",
        choices=("auto", "yes", "no"),
        titles={"auto": FIND_OUT, "yes": "Yes", "no": "No"},
    )


@dataclass(frozen=True)
class RegionOptions:
    """How to read a region file; what is None or ``auto`` is found out.

    ``layer`` chooses among the layers of a GeoPackage, ``decimal`` says what parts decimals in a text file.
    ``obstacles`` are files with what ways between regions must go around, ``coarsen_from`` is the crosswalk of an
    earlier release, ``region_map`` says which regions the ids of the records stand for.
    """

    id_column: str | None = None
    x_column: str | None = None
    y_column: str | None = None
    coordinates: str = "auto"
    delimiter: str | None = None
    encoding: str | None = None
    layer: str | None = None
    decimal: str = "auto"
    obstacles: tuple[str, ...] = ()
    coarsen_from: str | None = None
    region_map: str | None = None


@dataclass(frozen=True)
class Reading(RecordOptions, group="reading"):
    """How both files are read."""

    id_column: str | None = setting(
        None,
        label="Region id column",
        help="Column of the region file that names the region.",
        group="columns",
        usual="guessed",
    )
    x_column: str | None = setting(
        None,
        label="x or longitude column",
        help="Column of the region file with x or longitude.",
        group="columns",
        usual="guessed",
    )
    y_column: str | None = setting(
        None,
        label="y or latitude column",
        help="Column of the region file with y or latitude.",
        group="columns",
        usual="guessed",
    )
    coordinates: str = setting(
        "auto",
        label="Coordinates",
        help="How the regions' coordinates are taken: geographic ones are projected to metres, planar ones are taken "
        "as they are, raw degrees computes with x = latitude.",
        choices=tuple(COORDINATES),
        titles=COORDINATES,
    )
    regions_delimiter: str | None = setting(
        None,
        label="Delimiter of the regions",
        help="What separates the fields of the region file.",
        form=Delimiter(),
        titles=_DELIMITERS,
    )
    regions_encoding: str | None = setting(
        None,
        label="Encoding of the regions",
        help="How the characters of the region file are encoded.",
        titles=_ENCODINGS,
    )
    regions_decimal: str = setting(
        "auto",
        label="Decimal sign of the regions",
        help="What separates the decimals of coordinates in a region file that is text.",
        choices=("auto", "point", "comma"),
        titles={"auto": FIND_OUT, "point": "Point", "comma": "Comma"},
    )
    layer: str | None = setting(
        None,
        label="Layer",
        help="Layer of a GeoPackage.",
        usual="the first with polygons",
    )

    codebook: str | None = setting(
        None,
        label="Codebook",
        help="File that says what codes mean: column, value and label on each line.",
        usual="none",
    )
    keep_records: str | None = setting(
        None,
        label="Required combinations",
        help="A table with names of columns on line 1 and a combination of values on each further line: only records "
        "that have one of these combinations are considered.",
        form=Form("FILE"),
        usual="all records",
    )
    drop_records: str | None = setting(
        None,
        label="Unwanted combinations",
        help="A table like that of the required combinations: records that have one of these combinations are not "
        "considered.",
        form=Form("FILE"),
        usual="none",
    )
    obstacles: tuple[str, ...] = setting(
        (),
        label="Obstacle files",
        help="Lakes, coasts, rivers and the like, for the construction “Obstacles”: areas and lines in a GeoJSON, "
        "GeoPackage or Shapefile.",
        form=Texts("FILE"),
    )
    coarsen_from: str | None = setting(
        None,
        label="Earlier crosswalk",
        help="For the construction “Coarsen”: the crosswalk.csv of an earlier release, or the folder of its run.",
        in_command="for the construction coarsen: the crosswalk.csv of an earlier release, the folder of its run, or "
        "its number in the ledger",
        form=Form("FILE|N"),
        usual="none",
    )
    region_map: str | None = setting(
        None,
        label="Region map",
        help="CSV file with the columns from,to and optionally share: which regions of the region file the ids in the "
        "records stand for. Records of an id with several regions are split evenly, or by share.",
        form=Form("FILE"),
        usual="none",
    )

    @property
    def reading(self) -> Reading:
        """These settings alone: files are read again when one of them changes."""
        return Reading(**self.part(Reading))

    @property
    def of_records(self) -> RecordOptions:
        """How the record file is read."""
        return RecordOptions(**self.part(RecordOptions))

    @property
    def of_regions(self) -> RegionOptions:
        """How the region file is read."""
        own = {each.name for each in settings_of(RecordOptions)} | {"codebook", "keep_records", "drop_records"}
        mine = self.part(Reading)
        return RegionOptions(**{n.removeprefix("regions_"): value for n, value in mine.items() if n not in own})
