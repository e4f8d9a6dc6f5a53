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

from vbas_desktop.model.findings import FindingList
from vbas_desktop.model.text import NO_NAMES
from vbas_desktop.settings.reading import RegionReading

from ..delimited_text import check_column_count, check_line_ends, sniff_delimiter, suggest_delimiter
from ..text_files import read_text_file
from .column_names import (
    CoordinateColumns,
    check_repeated_names,
    find_coordinate_columns,
    find_id_columns,
)
from .coordinates import are_degrees, choose_projection, from_lon_lat
from .numbers import parse_numbers
from .raw_regions import RawRegions, choose_id_column, read_attributes

AGREEING_M = 30.0
"""Plane coordinates agree with longitudes and latitudes if half of them are not farther than this from each other."""


@dataclass(frozen=True)
class TextTable:
    """The fields of a delimited text file. ``rows[i]`` is the line on which row i begins, counted from 1."""

    header: tuple[str, ...]
    fields: list[list[str]]
    rows: NDArray[np.int64]

    def column(self, name: str) -> list[str]:
        """Return all fields of the first column with this name."""
        position = self.header.index(name)
        return [row[position] for row in self.fields]

    def begins_with_record(self) -> bool:
        """Tell whether line 1 may be a record: a name is also a value of its column."""
        names = enumerate(self.header)
        return any(
            name and any(row[number].strip() == name for row in self.fields) for number, name in names
        )


def read_text_regions(path: Path, options: RegionReading, findings: FindingList) -> RawRegions:
    """Read the regions of a text file. Raises `InputError` if they cannot be read at all."""
    table = read_text_table(path, options, findings)
    lacking = FindingList(findings.file)
    candidates = find_id_columns(table.header, options.id_column, lacking)
    axes = find_coordinate_columns(
        table.header, options.x_column, options.y_column, options.coordinates, lacking
    )
    if axes is None or not candidates:
        other = (
            suggest_delimiter(table.header, options.delimiter, "--regions-delimiter")
            if options.delimiter
            else None
        )
        if other is not None:
            findings.add("missing-column", *other, row=1)
            findings.stop_on_errors()
        if table.begins_with_record():
            findings.add(
                "missing-column", "No column is named like an id or a coordinate.", NO_NAMES, row=1
            )
            findings.stop_on_errors()
    for finding in lacking.all():
        findings.note(finding)
    if axes is None or not candidates:
        findings.stop_on_errors()
        raise AssertionError("a missing column is an error")
    id_name = choose_id_column(table, candidates, findings)
    check_repeated_names(table.header, (id_name, axes.x, axes.y), findings)
    attributes = read_attributes(table, id_name, (axes.x, axes.y), findings)
    degrees = axes.named_degrees if options.coordinates == "auto" else options.coordinates != "planar"
    points = _read_points(table, axes, options.decimal, degrees, findings)
    definition, unit = _find_plane_system(table, axes, points, options.decimal)
    return RawRegions(
        **attributes,
        points=points,
        degrees=axes.named_degrees,
        definition=definition,
        unit=unit,
        x_name=axes.x,
        y_name=axes.y,
    )


def read_text_table(path: Path, options: RegionReading, findings: FindingList) -> TextTable:
    """Read all fields of the file; ragged lines are noted and left out."""
    lines, delimiter = _iterate_rows(path, options)
    header: tuple[str, ...] = ()
    fields: list[list[str]] = []
    rows: list[int] = []
    start = 1
    try:
        for row in lines:
            first_line = start
            start = lines.line_num + 1
            if not row or row == [""]:
                continue
            if not header:
                check_line_ends(path, "".join(row).encode())
                check_column_count(path, len(row))
                header = _names(row)
            elif len(row) != len(header):
                _note_ragged(row, header, delimiter, first_line, findings)
            else:
                fields.append(row)
                rows.append(first_line)
    except csv.Error:
        findings.add(
            "not-csv", "The line cannot be split into fields.", "Check the quotes.", row=lines.line_num
        )
    if header and not fields and not any(finding.code == "ragged-row" for finding in findings.all()):
        findings.add(
            "empty-file", "The file has column names but no regions.", "Choose a file with regions."
        )
    if not header:
        findings.add("empty-file", "The file is empty.", "Choose a file with regions.")
        findings.stop_on_errors()
    return TextTable(header, fields, np.array(rows, np.int64))


def read_header(path: Path, options: RegionReading) -> tuple[str, ...]:
    """Read the names of the columns only."""
    lines, _ = _iterate_rows(path, options)
    return next((_names(row) for row in lines if row and row != [""]), ())


def _iterate_rows(path: Path, options: RegionReading) -> tuple[Any, str]:
    """Return an iterator over the rows of the file, and the delimiter of their fields."""
    text = read_text_file(path, options.encoding)
    delimiter = options.delimiter or sniff_delimiter(text.encode())
    return csv.reader(io.StringIO(text, newline=""), delimiter=delimiter), delimiter


def _names(row: Sequence[str]) -> tuple[str, ...]:
    return tuple(name.strip() for name in row)


def _note_ragged(
    row: list[str], header: tuple[str, ...], delimiter: str, line: int, findings: FindingList
) -> None:
    remedy = "Add or remove fields, or put fields that contain the delimiter in quotes."
    if delimiter == "," and len(row) > len(header):
        remedy += " If the numbers have decimal commas, use points or another delimiter."
    findings.add(
        "ragged-row", f"The row has {len(row)} fields instead of {len(header)}.", remedy, row=line
    )


def _read_points(
    table: TextTable, axes: CoordinateColumns, decimal: str, degrees: bool, findings: FindingList
) -> NDArray[np.float64]:
    columns = {name: table.column(name) for name in (axes.x, axes.y)}
    numbers = parse_numbers(columns, table.rows, decimal, findings, degrees=degrees)
    return np.column_stack([numbers[0], numbers[-1]])


def _find_plane_system(
    table: TextTable, axes: CoordinateColumns, points: NDArray[np.float64], decimal: str
) -> tuple[str | None, str]:
    """Find system and unit of plane coordinates: known if the file has longitude and latitude too and they agree."""
    if axes.named_degrees:
        return None, "degree"
    unit = "m" if axes.metres else "unit"
    others = find_coordinate_columns(table.header, None, None, "geographic", FindingList(""))
    if others is None or not others.named_degrees:
        return None, unit
    lon_lat = _read_points(table, others, decimal, True, FindingList(""))
    if (
        not len(points)
        or not np.isfinite(points).all()
        or not are_degrees(np.hstack([lon_lat, lon_lat])).all()
    ):
        return None, unit
    definition = choose_projection(lon_lat)
    distances = np.abs(from_lon_lat(lon_lat, definition) - points).max(axis=1)
    return (definition, "m") if float(np.median(distances)) < AGREEING_M else (None, unit)
