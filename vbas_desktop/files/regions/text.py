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

from vbas_desktop.files.dialect import sniff_delimiter
from vbas_desktop.files.findings import FindingList
from vbas_desktop.files.whole_text import whole_text

from .columns import Axes, check_repeated, find_axes, find_id, name_column
from .coordinates import degrees_fit, from_lon_lat, projection_for
from .numbers import numbers_of
from .raw import RawRegions, check_ids, number_columns, shared_values, text_columns

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


def read_raw_csv(
    path: Path,
    id_column: str | None,
    x_column: str | None,
    y_column: str | None,
    coordinates: str,
    delimiter: str | None,
    encoding: str | None,
    decimal: str,
    findings: FindingList,
) -> RawRegions:
    """The regions of a text file; raises `InputError` if nothing more can be found out."""
    table = read_table(path, delimiter, encoding, findings)
    candidates = find_id(table.header, id_column, findings)
    axes = find_axes(table.header, x_column, y_column, coordinates, findings)
    if axes is None or not candidates:
        findings.stop_on_errors()
        raise AssertionError("a missing column is an error")
    columns = {name: table.column(name) for name in candidates}
    id_name = choose_id(candidates, columns, findings)
    check_repeated(table.header, (id_name, axes.x, axes.y), findings)
    ids = columns[id_name]
    check_ids(ids, table.rows, id_name, findings)
    name = name_column(table.header, id_name)
    degrees = coordinates in ("degrees", "geographic") or (coordinates == "auto" and axes.named_degrees)
    points = _points(table, axes, decimal, degrees, findings)
    definition, unit = _plane(table, axes, points, decimal)
    others = [(each, table.column(each)) for each in table.header if each not in (id_name, axes.x, axes.y)]
    return RawRegions(
        ids=tuple(ids),
        rows=table.rows,
        points=points,
        degrees=axes.named_degrees,
        definition=definition,
        unit=unit,
        names=tuple(table.column(name)) if name else None,
        x_name=axes.x,
        y_name=axes.y,
        labels=shared_values(others),
        numbers=number_columns(others),
        columns=text_columns([(id_name, ids), *others]),
    )


def choose_id(candidates: Sequence[str], columns: dict[str, list[str]], findings: FindingList) -> str:
    """The first candidate without empty or repeated values, else the likeliest; says so if there was a choice."""
    complete = [name for name in candidates if all(columns[name]) and len(set(columns[name])) == len(columns[name])]
    chosen = (complete or list(candidates))[0]
    if len(complete) > 1:
        others = ", ".join(f"“{name}”" for name in complete if name != chosen)
        findings.hint(
            "id-guessed",
            f"Taken as region id; {others} could be it too.",
            "Choose with --id-column if it is another.",
            column=chosen,
        )
    return chosen


def read_table(path: Path, delimiter: str | None, encoding: str | None, findings: FindingList) -> TextTable:
    """All fields of the file, ragged lines noted and left out."""
    lines, delimiter = _lines(path, delimiter, encoding)
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
        findings.add("empty-file", "The file has no content.", "Choose a file with regions.")
        findings.stop_on_errors()
    return TextTable(header, fields, np.array(rows, np.int64))


def read_header(path: Path, delimiter: str | None, encoding: str | None) -> tuple[str, ...]:
    """The names of the columns, without a look at what is below them."""
    lines, _ = _lines(path, delimiter, encoding)
    return next((_names(row) for row in lines if row and row != [""]), ())


def _lines(path: Path, delimiter: str | None, encoding: str | None) -> tuple[Any, str]:
    """The rows of the file one after the other, and what separates their fields."""
    text = whole_text(path, encoding)
    delimiter = delimiter or sniff_delimiter(text.encode(), complete=True)
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
