"""Read tables of the population: people by region and combination of quasi-identifier values."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from vbas_desktop.model.findings import FindingList
from vbas_desktop.model.problem import Population, Problem
from vbas_desktop.model.progress import NO_PROGRESS, Progress
from vbas_desktop.model.records import CodedRecords
from vbas_desktop.model.text import format_count
from vbas_desktop.settings.reading import RecordReading

from ..records.loading import load_records

NUMBERS = ("people", "population", "inhabitants", "count")
"""Possible names of the column with the numbers of people."""
REGIONS = ("region", "id")
"""Possible names of the column with the regions, besides that of the records."""
_MAX_PEOPLE = 1 << 53
_MAX_DIGITS = 16
_CODE = "population"


def read_population(path: Path, problem: Problem, progress: Progress | None = None) -> Population:
    """Read the table (CSV or Parquet) and count people by the classes of a problem.

    Raises `InputError` with all problems together.
    """
    table = load_records(path, RecordReading(category_counts="no"), progress or NO_PROGRESS)
    findings = FindingList(table.source.path)
    region = _find_column((problem.region_column, *REGIONS), "the regions", table, findings)
    numbers = _find_column(NUMBERS, "the numbers of people", table, findings)
    for name in problem.quasi_identifiers:
        if name not in table.file_format.header:
            message = "The table has no such column, which is a quasi-identifier."
            findings.add(_CODE, message, "Add it.", column=name)
    findings.stop_on_errors()
    people = _read_people(table, numbers, findings)
    regions = _read_regions(table, region, problem.regions.ids, findings)
    codes = [_read_codes(table, problem, q, findings) for q in range(len(problem.quasi_identifiers))]
    _note_repeated(table, (region, numbers, *problem.quasi_identifiers), findings)
    findings.stop_on_errors()
    has_region = regions >= 0
    by_region = np.bincount(
        regions[has_region], people[has_region], minlength=len(problem.regions)
    ).astype(np.int64)
    number = np.zeros(table.rows, np.int64)
    occurs = has_region.copy()
    for code, size in zip(codes, problem.counts.n_categories, strict=True):
        occurs &= code >= 0
        number = number * size + np.maximum(code, 0)
    classes = problem.counts.combinations
    spot = np.minimum(np.searchsorted(classes, number), max(0, classes.size - 1))
    occurs &= classes[spot] == number
    return Population(
        table.source,
        by_region,
        regions[occurs].astype(np.int64),
        spot[occurs].astype(np.int64),
        people[occurs],
    )


def _find_column(names: Sequence[str], what: str, table: CodedRecords, findings: FindingList) -> str:
    """Find the first of these columns that the table has."""
    present = next((name for name in names if name in table.file_format.header), "")
    if not present:
        findings.add(
            _CODE, f"No column has {what}.", f"Call one of them “{'” or “'.join(dict.fromkeys(names))}”."
        )
    return present


def _values(table: CodedRecords, name: str) -> Sequence[str]:
    categories = table.facts(name).categories
    return () if categories is None else categories.values


def _read_people(table: CodedRecords, name: str, findings: FindingList) -> NDArray[np.int64]:
    values = _values(table, name)
    if not values:
        message = "The column has too many different numbers to be a table of the population."
        findings.add(_CODE, message, "Check it.", column=name)
        return np.zeros(0, np.int64)
    people_of_code = np.full(len(values), -1, np.int64)
    for code, value in enumerate(values):
        text = value.strip().removesuffix(".0")
        if text.isascii() and text.isdigit() and len(text) <= _MAX_DIGITS and int(text) < _MAX_PEOPLE:
            people_of_code[code] = int(text)
    bad = people_of_code < 0
    if bad.any():
        row = next(iter(table.first_rows(name, bad, 1)), None)
        findings.add(
            _CODE,
            "The number of people is no whole number from 0 on.",
            "Correct it.",
            row=row,
            column=name,
        )
    return people_of_code[table.codes(name)]


def _read_regions(
    table: CodedRecords, name: str, ids: Sequence[str], findings: FindingList
) -> NDArray[np.int32]:
    region_of_code, missing = _find_values(_values(table, name), ids)
    if missing:
        message = (
            f"{format_count(missing, 'initial region is', 'initial regions are')} not in the table."
        )
        remedy = "Write the ids as the region file does; 0 people is a number, too."
        findings.add(_CODE, message, remedy, column=name)
        return np.zeros(0, np.int32)
    return region_of_code[table.codes(name)]


def _read_codes(
    table: CodedRecords, problem: Problem, q: int, findings: FindingList
) -> NDArray[np.int32]:
    """Return the category of each row, -1 where the records have none like it; groups are made as for the records."""
    name = problem.quasi_identifiers[q]
    categories = problem.categories[q].values
    values = _values(table, name)
    for grouping in problem.groupings:
        if grouping.column == name:
            values = [grouping.groups.get(value, value) for value in values]
    code_of_value, missing = _find_values(values, categories)
    if missing:
        some = f"{missing:,} of {format_count(len(categories), 'category', 'categories')} of the records"
        message = f"{some} do not occur in the table."
        findings.add(_CODE, message, "Write the values as the records do.", column=name)
        return np.zeros(0, np.int32)
    return code_of_value[table.codes(name)]


def _find_values(values: Sequence[str], targets: Sequence[str]) -> tuple[NDArray[np.int32], int]:
    """Return the position of each value among the targets (-1: none), and how many targets no value is."""
    position = {value: code for code, value in enumerate(targets)}
    position_of = np.array([position.get(value, -1) for value in values], np.int32)
    return position_of, len(targets) - int(np.unique(position_of[position_of >= 0]).size)


def _note_repeated(table: CodedRecords, used: Sequence[str], findings: FindingList) -> None:
    """Note repeated rows, which would count people twice. A table with more columns is summed over these."""
    if findings.all() or set(table.file_format.header) - set(used):
        return
    key = np.zeros(table.rows, np.int64)
    for name in used:
        if name != used[1]:
            key = np.unique(key * len(_values(table, name)) + table.codes(name), return_inverse=True)[
                1
            ].ravel()
    _, first = np.unique(key, return_index=True)
    if first.size < table.rows:
        again = np.ones(table.rows, np.bool_)
        again[first] = False
        message = "The row has the region and values of an earlier one."
        findings.add(_CODE, message, "Keep one of them.", row=int(np.flatnonzero(again)[0]) + 2)
