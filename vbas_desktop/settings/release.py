"""What the person who releases may choose, checked before anything is written."""

from __future__ import annotations

import secrets
from collections import Counter
from collections.abc import Collection, Sequence
from typing import Annotated, ClassVar, Literal, Self, get_args

from pydantic import BeforeValidator, model_validator

from vbas_desktop.model.findings import Finding, InputError
from vbas_desktop.model.text import escape_formula

from .codecs import NAMES, Delimiter, NameList, RenameMap, Secret, TextByColumn, as_tuple
from .option import OptionGroup, option
from .writing import (
    RECORD_KEY,
    check_record_additions,
    declare_aggregated_classes,
    declare_escaping,
    size_below,
)

ReleaseFormat = Literal["csv", "parquet"]
GeometryFormat = Literal["geojson", "gpkg"]
ShapeKind = Literal["union", "cells"]

FORMATS = get_args(ReleaseFormat)

CLASS_SIZE = "class_size"
"""The usual name of the added column with the number of released records that share the row's values."""


SECRET_BYTES = 16


class ReleaseOptions(OptionGroup):
    """The choices of one release.

    ``columns`` are kept, in this order (None: all but ``identifiers``, in the order of the file); ``allow_columns`` are
    released even if they tell of person or place; ``renames`` maps a column to its name in the release. ``reasons``,
    ``aims`` and ``meanings`` are words on columns for the recipient. ``class_size``
    and ``record_key`` name the added columns (None: not added). ``release_delimiter`` None keeps that of the file.
    ``shuffle_seed`` is the secret of the rows' order and of the records' keys, in hexadecimal digits (None: drawn when
    the release is written). ``policy`` is the id of a shipped policy or the path of one, ``population`` the path of a
    table of the population.
    """

    title: ClassVar[str] = "Release"
    columns: NameList | None = option(
        None,
        label="Columns",
        help="Columns to release, in this order.",
        default_text="all",
    )
    identifiers: NameList = option(
        (),
        label="Identifiers",
        help="Columns to drop.",
    )
    allow_columns: NameList = option(
        (),
        label="Allowed",
        help="Columns, or pairs as A+B and triples as A+B+C, that are released although they reveal a person, a place "
        "or a category; repeatable.",
        flag="--allow-column",
        is_repeatable=True,
    )
    pair_tests: bool = option(
        True,
        label="Test pairs and triples of columns in the &written file",
        help="Test pairs and triples of columns in the written file, not only single columns.",
        default_text="yes",
    )
    renames: RenameMap = option(
        {},
        label="Names in the release",
        help="Another name for a column; repeatable.",
        flag="--rename",
    )
    reasons: TextByColumn = option(
        {},
        label="Left out or included, because",
        help="Why a column is left out of the release, or why a quasi-identifier is in it, for representability.json.",
        command_help="why a column is left out of the release, or why a quasi-identifier is in it; repeatable",
        flag="--reason",
    )
    aims: TextByColumn = option(
        {},
        label="Aim of collection",
        help="Why a column was collected, for representability.json.",
        command_help="why a left out column or a quasi-identifier was collected; repeatable",
        flag="--aim",
    )
    meanings: TextByColumn = option(
        {},
        label="Meaning of the values",
        help="What the values of a quasi-identifier mean, in your own words, for representability.json.",
        command_help="what the values of a quasi-identifier mean, in your own words; repeatable",
        flag="--meaning",
    )
    shuffle: bool = option(
        True,
        label="S&huffle the records (their order can identify people)",
        help="Put the rows into random order, since order can identify.",
        default_text="yes",
    )
    shuffle_seed: Secret | None = option(
        None,
        label="Shuffle seed",
        help="Hexadecimal digits. If empty, every release gets a random order of its own that nobody can repeat.",
        unset_text="Random",
        command_help="a given secret for the order of the rows, in hexadecimal digits; @FILE names a file that holds "
        "it (default: a new one for every release)",
    )
    class_size: str | None = option(
        None,
        label="&Add a column with the size of each record's class",
        help="Add a column with the number of records that share the row's values.",
        bare_value=CLASS_SIZE,
    )
    record_key: str | None = option(
        None,
        label="Add a column with a random key of each record",
        help="Add a column with a random key of each record, another one in every release; which record has which key "
        "is listed in internal/record_index.csv, which must stay in the organisation.",
        bare_value=RECORD_KEY,
    )
    aggregate: NameList = option(
        (),
        label="Aggregated columns",
        help="Sensitive columns that are released as one value per class: the mean of numbers, the most frequent value "
        "of categories. The number of records of each class is listed in class_counts.csv.",
        default_text="none",
        choices_from="record columns",
    )
    aggregate_classes: str = declare_aggregated_classes()
    release_delimiter: Delimiter | None = option(
        None,
        label="Deli&miter",
        help="Between the fields of the released CSV file.",
        command_help="delimiter of the released CSV file (default: as in the records)",
        titles={None: "As in the records", ",": "Comma", ";": "Semicolon", "\t": "Tab"},
    )
    escape_formulas: bool = declare_escaping()
    exceed_loss: bool = option(
        False,
        label="Release it although it loses more than is allowed",
        help="Write the release although it loses more records than the allowed loss that is in force.",
    )
    format: ReleaseFormat = option(
        "csv",
        label="&Format",
        help="Format of the released records.",
        titles={"csv": "CSV", "parquet": "Parquet"},
    )
    policy: str | None = option(
        None,
        label="Polic&y",
        help="Id of a policy, or a file with one: the reports say criterion by criterion whether the release meets it.",
        command_help="judge the release by this policy, criterion by criterion: an id (vbas policies list) or a file",
        metavar="ID|FILE",
    )
    population: str | None = option(
        None,
        label="Table of the population",
        help="A CSV file with the number of people by region and quasi-identifiers: the risk among all inhabitants is "
        "exact then.",
        metavar="FILE",
        default_text="none",
    )
    geometry: Annotated[tuple[GeometryFormat, ...], BeforeValidator(as_tuple), NAMES] = option(
        ("geojson",),
        label="Regions as &GeoPackage too",
        help="Formats of the shapes: geojson, gpkg.",
        default_text="geojson",
    )
    shapes: ShapeKind = option(
        "union",
        label="Sha&pes",
        help="Shapes of the released regions: “union” of their initial regions, or the Voronoi “cells” of the sites, "
        "clipped to the study area, so that every place on the map belongs to the region of its nearest site.",
        titles={"union": "Union of the initial regions", "cells": "Cells of the sites"},
    )
    confirm_sites: bool = option(
        False,
        label="Release the cells although they reveal sites that were placed by the records",
        help="With --shapes cells: release the cells although they reveal sites that were placed by the records.",
    )
    name_column: str | None = option(
        None,
        label="&Names of regions from",
        help="Column of the region file after which aggregated regions are named, such as “Cortland + 10”; the names "
        "are added to crosswalk, table, shapes and reports.",
        default_text="no names",
        unset_text="No names",
        choices_from="region columns",
    )
    pdf: bool = option(
        True,
        label="Reports as P&DF too",
        help="The reports as PDF too.",
        default_text="yes",
    )

    @model_validator(mode="after")
    def _check(self) -> Self:
        findings = check_record_additions(self.record_key, self.aggregate_classes)
        delimiter = self.release_delimiter
        if delimiter is not None and (len(delimiter) != 1 or delimiter in '"\r\n' + chr(0)):
            findings.append(_wrong("The delimiter must be one character, not a quote or a line end."))
        elif delimiter is not None and not delimiter.isascii():
            findings.append(
                _wrong("The delimiter must be an ASCII character.", "Usual: comma, semicolon, tab.")
            )
        if self.class_size is not None and not self.class_size.strip():
            remedy = "Write a name behind --class-size, or nothing."
            findings.append(_wrong("The added column with the size of each class has no name.", remedy))
        if findings:
            raise InputError(findings)
        return self

    @property
    def aggregate_below(self) -> int | None:
        """Return the size below which the sensitive values of a class are aggregated; None: in every class."""
        return size_below(self.aggregate_classes)

    def class_columns(self, header: Sequence[str], used: Collection[str]) -> tuple[str, ...]:
        """Return the columns that have one value in every class, and so tell nothing that the class does not.

        There are none unless all of ``used``, the region column and the quasi-identifiers, are released.
        """
        released = {column for column, _ in self.released_columns(header)}
        return self.aggregate if self.aggregate_below is None and released.issuperset(used) else ()

    @property
    def uses_secret(self) -> bool:
        """Tell whether the order of the rows or the keys of the records come from a secret."""
        return self.shuffle or self.record_key is not None

    @property
    def added_columns(self) -> tuple[str, ...]:
        """Return the names of the columns that are added behind those of the records, in their order."""
        return tuple(name for name in (self.class_size, self.record_key) if name)

    def with_secret_drawn(self) -> ReleaseOptions:
        """Return the same with a secret, drawn if none was given and the order of rows or their keys depend on it."""
        if not self.uses_secret or self.shuffle_seed is not None:
            return self
        return self.replaced(shuffle_seed=secrets.token_hex(SECRET_BYTES))

    def released_columns(self, header: Sequence[str]) -> tuple[tuple[str, str], ...]:
        """List the released columns as (column of the file, its name in the release), in the order of the release.

        Raises `InputError` for columns that do not exist, equal names, and a release without columns.
        """
        there = set(header)
        dropped = set(self.identifiers)
        allowed = [name for name in self.allow_columns if not _is_combination(name, there)]
        words = (*self.reasons, *self.aims, *self.meanings)
        named = [*(self.columns or ()), *self.identifiers, *allowed, *self.renames, *words]
        unknown = [name for name in dict.fromkeys(named) if name not in there]
        if unknown:
            raise InputError(
                [
                    _wrong("The record file has no such column.", "Check the spelling.", column=name)
                    for name in unknown
                ]
            )
        chosen = header if self.columns is None else dict.fromkeys(self.columns)
        written = escape_formula if self.escape_formulas else str
        released = [
            (name, written(self.renames.get(name, name))) for name in chosen if name not in dropped
        ]
        names = [*(name for _, name in released), *self.added_columns]
        if not released:
            raise InputError(_wrong("No column is left to release.", "Choose at least one column."))
        twice = sorted(name for name, times in Counter(names).items() if times > 1)
        if twice:
            raise InputError(
                [
                    _wrong("Two released columns would have the same name.", "Rename one.", column=name)
                    for name in twice
                ]
            )
        missing = [name for name in self.aggregate if name not in [column for column, _ in released]]
        if missing:
            message = "A column that is aggregated has to be released."
            raise InputError(
                [_wrong(message, "Check the spelling, or release it.", column=name) for name in missing]
            )
        if self.record_key in there:
            # Also where that column is not released: a key must not pass for it.
            raise InputError(
                _wrong(
                    "A column of the records has this name.",
                    "Choose another name.",
                    column=self.record_key,
                )
            )
        return tuple(released)


def _is_combination(name: str, there: Collection[str], most: int = 3) -> bool:
    """Tell whether a name is that of two or three columns, joined by plus signs."""
    for at, sign in enumerate(name):
        first = name[:at]
        rest = name[at + 1 :]
        if (
            sign == "+"
            and first in there
            and (rest in there or (most > 2 and _is_combination(rest, there, most - 1)))
        ):
            return True
    return False


def _wrong(message: str, remedy: str = "", column: str | None = None) -> Finding:
    return Finding("release-option", message, remedy, column=column)
