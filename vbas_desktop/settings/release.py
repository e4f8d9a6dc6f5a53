"""What the person who releases may choose, checked before anything is written."""

from __future__ import annotations

import secrets
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, get_args

from vbas_desktop.model.errors import Finding, InputError
from vbas_desktop.model.listing import defused

from .declaration import Settings, setting, settings_of
from .forms import Delimiter, Digits, Flag, Form, Names, Renames, Switch, WordsByColumn
from .writing import RECORD_KEY, aggregated_classes, check_record_additions, escaping, size_below

ReleaseFormat = Literal["csv", "parquet"]
GeometryFormat = Literal["geojson", "gpkg"]
ShapeKind = Literal["union", "cells"]

FORMATS = get_args(ReleaseFormat)

CLASS_SIZE = "class_size"
"""The usual name of the added column with the number of released records that share the row's values."""


SECRET_BYTES = 16
SEED_IN_WORDS = "Give up to 64 hexadecimal digits (0 to 9, a to f), or none to have a secret drawn."


@dataclass(frozen=True)
class ReleaseOptions(Settings, group="release"):
    """The choices of one release.

    ``columns`` are kept, in this order (None: all but ``identifiers``, in the order of the file); ``allow_columns`` are
    released even if they tell of person or place; ``renames`` maps a column to its name in the release. ``reasons``,
    ``aims`` and ``meanings`` are words on columns for the recipient. ``class_size``
    and ``record_key`` name the added columns (None: not added). ``delimiter`` None keeps that of the file.
    ``shuffle_seed`` is the secret of the rows' order and of the records' keys, in hexadecimal digits (None: drawn when
    the release is written). ``policy`` is the id of a shipped policy or the path of one, ``population`` the path of a
    table of the population.
    """

    columns: tuple[str, ...] | None = setting(
        None,
        label="Columns",
        help="Columns to release, in this order.",
        form=Names(),
        usual="all",
    )
    identifiers: tuple[str, ...] = setting(
        (),
        label="Identifiers",
        help="Columns to drop.",
        group="columns",
        form=Names(),
    )
    allow_columns: tuple[str, ...] = setting(
        (),
        label="Allowed",
        help="Columns, or pairs as A+B and triples as A+B+C, that are released although they reveal a person, a place "
        "or a category; repeatable.",
        option="--allow-column",
        form=Names(),
        repeatable=True,
    )
    pair_tests: bool = setting(
        True,
        label="Test pairs and triples of columns in the &written file",
        help="Test pairs and triples of columns in the written file, not only single columns.",
        form=Switch(),
        usual="yes",
    )
    renames: Mapping[str, str] = setting(
        {},
        label="Names in the release",
        help="Another name for a column; repeatable.",
        option="--rename",
        form=Renames(),
    )
    reasons: Mapping[str, str] = setting(
        {},
        label="Left out or included, because",
        help="Why a column is left out of the release, or why a quasi-identifier is in it, for representability.json.",
        in_command="why a column is left out of the release, or why a quasi-identifier is in it; repeatable",
        option="--reason",
        form=WordsByColumn(),
    )
    aims: Mapping[str, str] = setting(
        {},
        label="Aim of collection",
        help="Why a column was collected, for representability.json.",
        in_command="why a left out column or a quasi-identifier was collected; repeatable",
        option="--aim",
        form=WordsByColumn(),
    )
    meanings: Mapping[str, str] = setting(
        {},
        label="Meaning of the values",
        help="What the values of a quasi-identifier mean, in your own words, for representability.json.",
        in_command="what the values of a quasi-identifier mean, in your own words; repeatable",
        option="--meaning",
        form=WordsByColumn(),
    )
    shuffle: bool = setting(
        True,
        label="S&huffle the records (their order can identify people)",
        help="Put the rows into random order, since order can identify.",
        form=Switch(),
        usual="yes",
    )
    shuffle_seed: str | None = setting(
        None,
        label="Seed of the o&rder",
        help="Hexadecimal digits. Left empty, every release gets an order of its own that nobody can tell.",
        in_command="a given secret for the order of the rows, in hexadecimal digits; @FILE names a file that holds it "
        "(default: a new one for every release)",
        form=Digits(),
    )
    class_size: str | None = setting(
        None,
        label="&Add a column with the size of each record's class",
        help="Add a column with the number of records that share the row's values.",
        without_value=CLASS_SIZE,
    )
    record_key: str | None = setting(
        None,
        label="Add a column with a random key of each record",
        help="Add a column with a random key of each record, another one in every release; which record has which key "
        "is listed in internal/record_index.csv, which must stay in the organisation.",
        without_value=RECORD_KEY,
    )
    aggregate: tuple[str, ...] = setting(
        (),
        label="Aggregated columns",
        help="Sensitive columns that are released as one value per class: the mean of numbers, the most frequent value "
        "of categories. The number of records of each class is listed in class_counts.csv.",
        form=Names(),
        usual="none",
    )
    aggregate_classes: str = aggregated_classes()
    delimiter: str | None = setting(
        None,
        label="Deli&miter",
        help="Between the fields of the released CSV file.",
        in_command="delimiter of the released CSV file (default: as in the records)",
        option="--release-delimiter",
        form=Delimiter(),
        titles={None: "As in the records", ",": "Comma", ";": "Semicolon", "\t": "Tab"},
    )
    escape_formulas: bool = escaping()
    exceed_loss: bool = setting(
        False,
        label="Release it although it loses more than is allowed",
        help="Write the release although it loses more records than the allowed loss that is in force.",
        form=Flag(),
    )
    format: ReleaseFormat = setting(
        "csv",
        label="&Format",
        help="Format of the released records.",
        choices=FORMATS,
        titles={"csv": "CSV", "parquet": "Parquet"},
    )
    policy: str | None = setting(
        None,
        label="Polic&y",
        help="Id of a policy, or a file with one: the reports say criterion by criterion whether the release meets it.",
        in_command="judge the release by this policy, criterion by criterion: an id (vbas policies list) or a file",
        form=Form("ID|FILE"),
    )
    population: str | None = setting(
        None,
        label="Table of the population",
        help="A CSV file with the number of people by region and quasi-identifiers: the risk among all inhabitants is "
        "exact then.",
        form=Form("FILE"),
        usual="none",
    )
    geometry: tuple[GeometryFormat, ...] = setting(
        ("geojson",),
        label="Regions as &GeoPackage too",
        help="Formats of the shapes: geojson, gpkg.",
        form=Names(),
        usual="geojson",
    )
    shapes: ShapeKind = setting(
        "union",
        label="Sha&pes",
        help="Shapes of the released regions: “union” of their initial regions, or the Voronoi “cells” of the sites, "
        "clipped to the study area, so that every place on the map belongs to the region of its nearest site.",
        choices=get_args(ShapeKind),
        titles={"union": "Union of the initial regions", "cells": "Cells of the sites"},
    )
    confirm_sites: bool = setting(
        False,
        label="Release the cells although they reveal sites that were placed by the records",
        help="With --shapes cells: release the cells although they reveal sites that were placed by the records.",
        form=Flag(),
    )
    name_column: str | None = setting(
        None,
        label="&Names of regions from",
        help="Column of the region file after which aggregated regions are named, such as “Cortland + 10”; the names "
        "are added to crosswalk, table, shapes and reports.",
        usual="no names",
    )
    pdf: bool = setting(
        True,
        label="Reports as P&DF too",
        help="The reports as PDF too.",
        form=Switch(),
        usual="yes",
    )

    def __post_init__(self) -> None:
        findings = []
        if self.shuffle_seed is not None:
            # Runs that were kept before secrets were drawn tell a number.
            try:
                object.__setattr__(self, "shuffle_seed", Digits().check(str(self.shuffle_seed)))
            except ValueError:
                findings.append(_wrong("The seed of the rows’ order is not understood.", SEED_IN_WORDS))
        findings += check_record_additions(self.record_key, self.aggregate_classes)
        if self.format not in get_args(ReleaseFormat):
            findings.append(_wrong(f"There is no release format “{self.format}”.", "Choose csv or parquet."))
        if self.delimiter is not None and (len(self.delimiter) != 1 or self.delimiter in '"\r\n' + chr(0)):
            findings.append(_wrong("The delimiter must be one character, not a quote or a line end."))
        elif self.delimiter is not None and not self.delimiter.isascii():
            findings.append(_wrong("The delimiter must be an ASCII character.", "Usual: comma, semicolon, tab."))
        if self.class_size is not None and not self.class_size.strip():
            remedy = "Write a name behind --class-size, or nothing."
            findings.append(_wrong("The added column with the size of each class has no name.", remedy))
        if self.shapes not in get_args(ShapeKind):
            findings.append(_wrong(f"There are no shapes “{self.shapes}”.", "Choose union or cells."))
        findings += [
            _wrong(f"There is no geometry format “{name}”.", "Choose geojson, gpkg or both.")
            for name in self.geometry
            if name not in get_args(GeometryFormat)
        ]
        if findings:
            raise InputError(findings)

    @property
    def aggregate_below(self) -> int | None:
        """The size below which the sensitive values of a class are aggregated; None: in every class."""
        return size_below(self.aggregate_classes)

    def class_columns(self, header: Sequence[str], used: Collection[str]) -> tuple[str, ...]:
        """Return the columns that have one value in every class, and so tell nothing that the class does not.

        There are none unless all of ``used``, the region column and the quasi-identifiers, are released.
        """
        released = {column for column, _ in self.released_columns(header)}
        return self.aggregate if self.aggregate_below is None and released.issuperset(used) else ()

    @property
    def uses_secret(self) -> bool:
        """Whether the order of the rows or the keys of the records come from a secret."""
        return self.shuffle or self.record_key is not None

    @property
    def added_columns(self) -> tuple[str, ...]:
        """The names of the columns that are added behind those of the records, in their order."""
        return tuple(name for name in (self.class_size, self.record_key) if name)

    def settled(self) -> ReleaseOptions:
        """Return the same with a secret, drawn if none was given and the order of rows or their keys depend on it."""
        if not self.uses_secret or self.shuffle_seed is not None:
            return self
        return replace(self, shuffle_seed=secrets.token_hex(SECRET_BYTES))

    def released_columns(self, header: Sequence[str]) -> tuple[tuple[str, str], ...]:
        """(column of the file, its name in the release) in the order of the release; wrong choices are refused."""
        there, dropped = set(header), set(self.identifiers)
        allowed = [name for name in self.allow_columns if not _is_combination(name, there)]
        words = (*self.reasons, *self.aims, *self.meanings)
        named = [*(self.columns or ()), *self.identifiers, *allowed, *self.renames, *words]
        unknown = [name for name in dict.fromkeys(named) if name not in there]
        if unknown:
            raise InputError(
                [_wrong("The record file has no such column.", "Check the spelling.", column=name) for name in unknown]
            )
        wanted = header if self.columns is None else dict.fromkeys(self.columns)
        written = defused if self.escape_formulas else str
        kept = [(name, written(self.renames.get(name, name))) for name in wanted if name not in dropped]
        names = [*(name for _, name in kept), *self.added_columns]
        if not kept:
            raise InputError(_wrong("No column is left to release.", "Choose at least one column."))
        twice = sorted(name for name, times in Counter(names).items() if times > 1)
        if twice:
            raise InputError(
                [_wrong("Two released columns would have the same name.", "Rename one.", column=name) for name in twice]
            )
        missing = [name for name in self.aggregate if name not in [column for column, _ in kept]]
        if missing:
            message = "A column that is aggregated has to be released."
            raise InputError([_wrong(message, "Check the spelling, or release it.", column=name) for name in missing])
        if self.record_key in there:
            # Also where that column is not released: a key must not pass for it.
            raise InputError(
                _wrong("A column of the records has this name.", "Choose another name.", column=self.record_key)
            )
        return tuple(kept)

    def as_dict(self) -> dict[str, Any]:
        """The choices as plain JSON data: the entry ``release`` of ``run.json``."""
        found = {each.name: getattr(self, each.name) for each in settings_of(ReleaseOptions)}
        return {name: list(value) if isinstance(value, tuple) else value for name, value in found.items()}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> ReleaseOptions:
        """The choices from what `as_dict` gave; names that are not known are ignored, missing ones get the default."""
        return cls(**{each.name: each.form.value(data[each.name]) for each in settings_of(cls) if each.name in data})


def _is_combination(name: str, there: Collection[str], most: int = 3) -> bool:
    """Return whether a name is that of two or three columns, joined by plus signs."""
    for at, sign in enumerate(name):
        first, rest = name[:at], name[at + 1 :]
        if sign == "+" and first in there and (rest in there or (most > 2 and _is_combination(rest, there, most - 1))):
            return True
    return False


def _wrong(message: str, remedy: str = "", column: str | None = None) -> Finding:
    return Finding("release-option", message, remedy, column=column)
