"""Region files as text: an id and two coordinates on each line."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vbas_desktop.io.dialect import check_column_number, check_line_ends, other_delimiter, sniff_delimiter
from vbas_desktop.io.whole_text import whole_text
from vbas_desktop.model.findings import FindingList
from vbas_desktop.model.names import NO_NAMES
from vbas_desktop.settings.reading import RegionOptions

from .columns import Axes, check_repeated, find_axes, find_id
from .coordinates import degrees_fit, from_lon_lat, projection_for
from .numbers import numbers_of
from .raw import RawRegions, attributes, choose_id

AGREEING_M = 30.0
"""Plane coordinates agree with longitudes and latitudes if half of them are not farther than this from each other."""


@dataclass(frozen=True)
class TextTable:
    """The fields of a delimited text file. ``rows[i]`` is the line on which row i begins, counted from 1."""

    header: tuple[str, ...]
    fields: list[list[str]]
    rows: NDArray[np.int64]

    def column(self, name: str) -> list[str]:
        """All fields of the first column with this name."""
        place = self.header.index(name)
        return [row[place] for row in self.fields]

    def begins_with_record(self) -> bool:
        """Tell whether line 1 may be a record: a name is also a value of its column."""
        names = enumerate(self.header)
        return any(name and any(row[number].strip() == name for row in self.fields) for number, name in names)


def read_raw_csv(path: Path, options: RegionOptions, findings: FindingList) -> RawRegions:
    """The regions of a text file; raises `InputError` if nothing more can be found out."""
    table = read_table(path, options, findings)
    lacking = FindingList(findings.file)
    candidates = find_id(table.header, options.id_column, lacking)
    axes = find_axes(table.header, options.x_column, options.y_column, options.coordinates, lacking)
    if axes is None or not candidates:
        other = other_delimiter(table.header, options.delimiter, "--regions-delimiter") if options.delimiter else None
        if other is not None:
            findings.add("missing-column", *other, row=1)
            findings.stop_on_errors()
        if table.begins_with_record():
            findings.add("missing-column", "No names of columns tell where the regions lie.", NO_NAMES, row=1)
            findings.stop_on_errors()
    for finding in lacking.all():
        findings.note(finding)
    if axes is None or not candidates:
        findings.stop_on_errors()
        raise AssertionError("a missing column is an error")
    id_name = choose_id(table, candidates, findings)
    check_repeated(table.header, (id_name, axes.x, axes.y), findings)
    known = attributes(table, id_name, (axes.x, axes.y), findings)
    degrees = axes.named_degrees if options.coordinates == "auto" else options.coordinates != "planar"
    points = _points(table, axes, options.decimal, degrees, findings)
    definition, unit = _plane(table, axes, points, options.decimal)
    return RawRegions(
        **known,
        points=points,
        degrees=axes.named_degrees,
        definition=definition,
        unit=unit,
        x_name=axes.x,
        y_name=axes.y,
    )


def read_table(path: Path, options: RegionOptions, findings: FindingList) -> TextTable:
    """All fields of the file, ragged lines noted and left out."""
    lines, delimiter = _lines(path, options)
    header: tuple[str, ...] = ()
    fields: list[list[str]] = []
    rows: list[int] = []
    start = 1
    try:
        for row in lines:
            here, start = start, lines.line_num + 1
            if not row or row == [""]:
                continue
            if not header:
                check_line_ends(path, "".join(row).encode())
                check_column_number(path, len(row))
                header = _names(row)
            elif len(row) != len(header):
                _note_ragged(row, header, delimiter, here, findings)
            else:
                fields.append(row)
                rows.append(here)
    except csv.Error:
        findings.add("not-csv", "The line cannot be split into fields.", "Check the quotes.", row=lines.line_num)
    if header and not fields and not any(finding.code == "ragged-row" for finding in findings.all()):
        findings.add("empty-file", "The file has column names but no regions.", "Choose a file with regions.")
    if not header:
        findings.add("empty-file", "The file is empty.", "Choose a file with regions.")
        findings.stop_on_errors()
    return TextTable(header, fields, np.array(rows, np.int64))


def read_header(path: Path, options: RegionOptions) -> tuple[str, ...]:
    """The names of the columns, without a look at what is below them."""
    lines, _ = _lines(path, options)
    return next((_names(row) for row in lines if row and row != [""]), ())


def _lines(path: Path, options: RegionOptions) -> tuple[Any, str]:
    """The rows of the file one after the other, and what separates their fields."""
    text = whole_text(path, options.encoding)
    delimiter = options.delimiter or sniff_delimiter(text.encode())
    return csv.reader(io.StringIO(text, newline=""), delimiter=delimiter), delimiter


def _names(row: Sequence[str]) -> tuple[str, ...]:
    return tuple(name.strip() for name in row)


def _note_ragged(row: list[str], header: tuple[str, ...], delimiter: str, line: int, findings: FindingList) -> None:
    remedy = "Add or remove fields, or put fields that contain the delimiter in quotes."
    if delimiter == "," and len(row) > len(header):
        remedy += " If the numbers have decimal commas, use points or another delimiter."
    findings.add("ragged-row", f"The row has {len(row)} fields instead of {len(header)}.", remedy, row=line)


def _points(table: TextTable, axes: Axes, decimal: str, degrees: bool, findings: FindingList) -> NDArray[np.float64]:
    columns = {name: table.column(name) for name in (axes.x, axes.y)}
    numbers = numbers_of(columns, table.rows, decimal, findings, degrees=degrees)
    return np.column_stack([numbers[0], numbers[-1]])


def _plane(table: TextTable, axes: Axes, points: NDArray[np.float64], decimal: str) -> tuple[str | None, str]:
    """System and unit of plane coordinates: known if the file has longitude and latitude too and they agree."""
    if axes.named_degrees:
        return None, "degree"
    unit = "m" if axes.metres else "unit"
    others = find_axes(table.header, None, None, "geographic", FindingList(""))
    if others is None or not others.named_degrees:
        return None, unit
    lon_lat = _points(table, others, decimal, True, FindingList(""))
    if not len(points) or not np.isfinite(points).all() or not degrees_fit(np.hstack([lon_lat, lon_lat])).all():
        return None, unit
    definition = projection_for(lon_lat)
    away = np.abs(from_lon_lat(lon_lat, definition) - points).max(axis=1)
    return (definition, "m") if float(np.median(away)) < AGREEING_M else (None, unit)
