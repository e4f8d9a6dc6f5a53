"""Settings for reading the two files; “automatic” lets the program find out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from .codecs import Delimiter, TextList
from .option import OptionGroup, option

FIND_OUT = "Automatic"
COORDINATES = {
    "auto": FIND_OUT,
    "planar": "Planar",
    "degrees": "Raw degrees",
    "geographic": "Geographic",
}
_DELIMITERS = {None: FIND_OUT, ",": "Comma", ";": "Semicolon", "\t": "Tab", "|": "Pipe |"}
_ENCODINGS = {
    None: FIND_OUT,
    "utf-8": "UTF-8",
    "cp1252": "Windows (Western)",
    "latin-1": "Latin-1",
    "utf-16": "UTF-16",
}


class RecordReading(OptionGroup):
    """Settings for reading a record file; None and ``auto`` let the program find out."""

    title: ClassVar[str] = "Reading"

    delimiter: Delimiter | None = option(
        None,
        label="Delimiter of the records",
        help="What separates the fields of the records, such as ; or tab.",
        titles=_DELIMITERS,
    )
    encoding: str | None = option(
        None,
        label="Encoding of the records",
        help="How the characters of the records are encoded, such as latin-1.",
        titles=_ENCODINGS,
    )
    category_counts: Literal["auto", "yes", "no"] = option(
        "auto",
        label="Second line has category numbers",
        help="Whether line 2 of the records is the number of response categories.",
        titles={"auto": FIND_OUT, "yes": "Yes", "no": "No"},
    )


@dataclass(frozen=True)
class RegionReading:
    """Settings for reading a region file; None and ``auto`` let the program find out.

    layer: layer of a GeoPackage. decimal: the decimal sign of a text file. obstacles: files with the lakes and rivers
    that ways between regions must go around. coarsen_from: crosswalk of an earlier release. region_map: file with the
    regions that the ids of the records stand for.
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


class ReadingSettings(RecordReading):
    """Settings for reading both files."""

    id_column: str | None = option(
        None,
        label="Region id column",
        help="Column of the region file that names the region.",
        choices_from="region columns",
        default_text="guessed",
    )
    x_column: str | None = option(
        None,
        label="x or longitude column",
        help="Column of the region file with x or longitude.",
        choices_from="region columns",
        default_text="guessed",
    )
    y_column: str | None = option(
        None,
        label="y or latitude column",
        help="Column of the region file with y or latitude.",
        choices_from="region columns",
        default_text="guessed",
    )
    coordinates: Literal["auto", "planar", "degrees", "geographic"] = option(
        "auto",
        label="Coordinates",
        help="How the regions' coordinates are taken: geographic ones are projected to metres, planar ones are taken "
        "as they are, raw degrees computes with x = latitude.",
        titles=COORDINATES,
    )
    regions_delimiter: Delimiter | None = option(
        None,
        label="Delimiter of the regions",
        help="What separates the fields of the region file.",
        titles=_DELIMITERS,
    )
    regions_encoding: str | None = option(
        None,
        label="Encoding of the regions",
        help="How the characters of the region file are encoded.",
        titles=_ENCODINGS,
    )
    regions_decimal: Literal["auto", "point", "comma"] = option(
        "auto",
        label="Decimal sign of the regions",
        help="What separates the decimals of coordinates in a region file that is text.",
        titles={"auto": FIND_OUT, "point": "Point", "comma": "Comma"},
    )
    layer: str | None = option(
        None,
        label="Layer",
        help="Layer of a GeoPackage.",
        choices_from="region layers",
        default_text="the first with polygons",
    )

    codebook: str | None = option(
        None,
        label="Codebook",
        help="File that says what codes mean: column, value and label on each line.",
        default_text="none",
    )
    keep_records: str | None = option(
        None,
        label="Required combinations",
        help="A table with names of columns on line 1 and a combination of values on each further line: only records "
        "that have one of these combinations are considered.",
        metavar="FILE",
        default_text="all records",
    )
    drop_records: str | None = option(
        None,
        label="Unwanted combinations",
        help="A table like that of the required combinations: records that have one of these combinations are not "
        "considered.",
        metavar="FILE",
        default_text="none",
    )
    obstacles: TextList = option(
        (),
        label="Obstacle files",
        help="Lakes, coasts, rivers and the like, for the construction “Obstacles”: areas and lines in a GeoJSON, "
        "GeoPackage or Shapefile.",
        metavar="FILE",
    )
    coarsen_from: str | None = option(
        None,
        label="Earlier crosswalk",
        help="For the construction “Coarsen”: the crosswalk.csv of an earlier release, or the folder of its run.",
        command_help="for the construction coarsen: the crosswalk.csv of an earlier release, the folder of its run, or "
        "its number in the ledger",
        metavar="FILE|N",
        default_text="none",
    )
    region_map: str | None = option(
        None,
        label="Region map",
        help="CSV file with the columns from,to and optionally share: which regions of the region file the ids in the "
        "records stand for. Records of an id with several regions are split evenly, or by share.",
        metavar="FILE",
        default_text="none",
    )

    @property
    def reading(self) -> ReadingSettings:
        """Return the reading settings without the others that a subclass has; if they change, files are read again."""
        return ReadingSettings(**_values_of(self, ReadingSettings))

    @property
    def of_records(self) -> RecordReading:
        """Return the settings for the record file."""
        return RecordReading(**_values_of(self, RecordReading))

    @property
    def of_regions(self) -> RegionReading:
        """Return the settings for the region file."""
        others = {item.name for item in RecordReading.options()} | {
            "codebook",
            "keep_records",
            "drop_records",
        }
        own = {
            name: value
            for name, value in _values_of(self, ReadingSettings).items()
            if name not in others
        }
        return RegionReading(**{name.removeprefix("regions_"): value for name, value in own.items()})


def _values_of(settings: OptionGroup, group: type[OptionGroup]) -> dict[str, Any]:
    return {item.name: settings.value_of(item.name) for item in group.options()}
