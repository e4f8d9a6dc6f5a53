"""The published tables of the thesis: those that come with the program, or a CSV file of the same form."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

from vbas_desktop.engine.reproduction import experiments, island
from vbas_desktop.engine.reproduction.experiments import ThesisRow
from vbas_desktop.engine.reproduction.island import IslandRow
from vbas_desktop.model.findings import input_error

from ..paths import resource_path
from ..text_files import read_text_file

Row = TypeVar("Row")


def read_published_canada(like: str) -> list[ThesisRow]:
    """Read the published rows of one half that come with the program; there are none of central Canada."""
    return read_canada_reference(resource_path("published/canada.csv"), like)


def read_canada_reference(path: Path, like: str) -> list[ThesisRow]:
    """Read the published rows of one half from a CSV file with the columns of `experiments.COLUMNS`.

    An empty field was left out of the publication. Raises `InputError` if a column is missing or a number is wrong.
    """

    def parse(row: Mapping[str, str]) -> ThesisRow | None:
        # A row without a number of sites stands for a combination that was given up.
        return _parse_canada_row(row) if row["region"] == like and row["sites"] else None

    rows = _read_rows(path, experiments.COLUMNS, "", parse)
    site_counts: dict[tuple[int, str], set[int]] = {}
    for row in rows:
        site_counts.setdefault((row.table, row.site_number), set()).add(row.sites)
    # The rank of a number of sites is that among those of its table and number approach.
    return [
        replace(row, rank=sorted(site_counts[row.table, row.site_number]).index(row.sites))
        for row in rows
    ]


def read_published_island() -> list[IslandRow]:
    """Read the published rows of Prince Edward Island that come with the program."""
    return read_island_reference(resource_path("published/island.csv"))


def read_island_reference(path: Path) -> list[IslandRow]:
    """Read the published rows from a CSV file with the columns of `island.COLUMNS`.

    Raises `InputError` if a column is missing or a number is wrong.
    """
    return _read_rows(path, island.COLUMNS, " 19 to 22", _parse_island_row)


def _read_rows(
    path: Path, columns: Sequence[str], tables: str, parse: Callable[[Mapping[str, str]], Row | None]
) -> list[Row]:
    """Parse each row of a CSV file that has these columns; rows for which ``parse`` returns None are left out."""
    reader = csv.DictReader(io.StringIO(read_text_file(path), newline=""))
    try:
        missing = [name for name in columns if name not in (reader.fieldnames or ())]
        if missing:
            remedy = f"Name a file of the published tables{tables}."
            raise input_error("reference", "A column is missing.", remedy, file=path, column=missing[0])
        parsed = [parse(row) for row in reader]
    except (ValueError, TypeError, csv.Error):
        # A row that is too short has None in its last columns.
        message = "A number cannot be read."
        raise input_error(
            "reference", message, "Correct the file.", file=path, row=reader.line_num
        ) from None
    return [row for row in parsed if row is not None]


def _parse_canada_row(row: Mapping[str, str]) -> ThesisRow:
    return ThesisRow(
        int(row["table"]),
        row["site_number"],
        row["site_location"],
        row["adc_seeding"],
        0,
        int(row["sites"]),
        {name: _parse_number(row[name]) for name in (*experiments.MEASURES, "seconds")},
        {name: row[name] for name in experiments.FACTS},
    )


def _parse_number(text: str) -> float | int | None:
    if text == "":
        return None
    number = float(text)
    return int(text) if text.lstrip("-").isdecimal() else number


def _parse_island_row(row: Mapping[str, str]) -> IslandRow:
    method = island.PUBLISHED_AS.get(row["method"], row["method"])
    values = {name: float(row[name]) if row[name] else None for name in (*island.MEASURES, "seconds")}
    return IslandRow(int(row["table"]), row["scenario"], method, int(row["sites"]), values)
