"""A table of the population: how many people live in each region with each combination of quasi-identifier values."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from vbas_desktop.model.findings import FindingList
from vbas_desktop.model.problem import Population, Problem
from vbas_desktop.model.progress import Progress, Silent
from vbas_desktop.model.records import RecordTable
from vbas_desktop.model.words import counted
from vbas_desktop.settings.reading import RecordOptions

from .records.table import load_records

NUMBERS = ("people", "population", "inhabitants", "count")
"""Names that the column with the numbers of people may have."""
REGIONS = ("region", "id")
"""Names that the column with the regions may have, besides that of the records."""
_MOST = 1 << 53
_MOST_DIGITS = 16
_CODE = "population"


def read_population(path: Path, problem: Problem, progress: Progress | None = None) -> Population:
    """Read the table (CSV or Parquet) and put it beside the classes of a problem; what is wrong is told at once."""
    table = load_records(path, RecordOptions(category_counts="no"), progress or Silent())
    findings = FindingList(table.source.path)
    region = _one_of((problem.region_column, *REGIONS), "the regions", table, findings)
    numbers = _one_of(NUMBERS, "the numbers of people", table, findings)
    for name in problem.quasi_identifiers:
        if name not in table.dialect.header:
            message = "The table has no such column, which is a quasi-identifier."
            findings.add(_CODE, message, "Add it.", column=name)
    findings.stop_on_errors()
    people = _people(table, numbers, findings)
    places = _places(table, region, problem.regions.ids, findings)
    codes = [_codes(table, problem, q, findings) for q in range(len(problem.quasi_identifiers))]
    _note_repeated(table, (region, numbers, *problem.quasi_identifiers), findings)
    findings.stop_on_errors()
    kept = places >= 0
    by_region = np.bincount(places[kept], people[kept], minlength=len(problem.regions)).astype(np.int64)
    number = np.zeros(table.rows, np.int64)
    known = kept.copy()
    for code, size in zip(codes, problem.counts.n_categories, strict=True):
        known &= code >= 0
        number = number * size + np.maximum(code, 0)
    classes = problem.counts.combinations
    spot = np.minimum(np.searchsorted(classes, number), max(0, classes.size - 1))
    known &= classes[spot] == number
    return Population(
        table.source, by_region, places[known].astype(np.int64), spot[known].astype(np.int64), people[known]
    )


def _one_of(names: Sequence[str], what: str, table: RecordTable, findings: FindingList) -> str:
    """The first of these columns that the table has."""
    there = next((name for name in names if name in table.dialect.header), "")
    if not there:
        findings.add(_CODE, f"No column has {what}.", f"Call one of them “{'” or “'.join(dict.fromkeys(names))}”.")
    return there


def _values(table: RecordTable, name: str) -> Sequence[str]:
    categories = table.facts(name).categories
    return () if categories is None else categories.values


def _people(table: RecordTable, name: str, findings: FindingList) -> NDArray[np.int64]:
    values = _values(table, name)
    if not values:
        message = "The column has too many different numbers to be a table of the population."
        findings.add(_CODE, message, "Check it.", column=name)
        return np.zeros(0, np.int64)
    found = np.full(len(values), -1, np.int64)
    for code, value in enumerate(values):
        text = value.strip().removesuffix(".0")
        if text.isascii() and text.isdigit() and len(text) <= _MOST_DIGITS and int(text) < _MOST:
            found[code] = int(text)
    bad = found < 0
    if bad.any():
        row = next(iter(table.first_rows(name, bad, 1)), None)
        findings.add(_CODE, "The number of people is no whole number from 0 on.", "Correct it.", row=row, column=name)
    return found[table.codes(name)]


def _places(table: RecordTable, name: str, ids: Sequence[str], findings: FindingList) -> NDArray[np.int32]:
    found, missing = _found(_values(table, name), ids)
    if missing:
        message = f"{counted(missing, 'initial region is', 'initial regions are')} not in the table."
        remedy = "Write the ids as the region file does; 0 people is a number, too."
        findings.add(_CODE, message, remedy, column=name)
        return np.zeros(0, np.int32)
    return found[table.codes(name)]


def _codes(table: RecordTable, problem: Problem, q: int, findings: FindingList) -> NDArray[np.int32]:
    """The category of each row, -1 where the records have none like it; groups are made as for the records."""
    name, categories = problem.quasi_identifiers[q], problem.categories[q].values
    values = _values(table, name)
    for grouping in problem.groupings:
        if grouping.column == name:
            values = [grouping.groups.get(value, value) for value in values]
    found, missing = _found(values, categories)
    if missing:
        some = f"{missing:,} of {counted(len(categories), 'category', 'categories')} of the records"
        message = f"{some} do not occur in the table."
        findings.add(_CODE, message, "Write the values as the records do.", column=name)
        return np.zeros(0, np.int32)
    return found[table.codes(name)]


def _found(values: Sequence[str], known: Sequence[str]) -> tuple[NDArray[np.int32], int]:
    """Which of the known each value is (-1: none), and how many of them no value is."""
    place = {value: code for code, value in enumerate(known)}
    found = np.array([place.get(value, -1) for value in values], np.int32)
    return found, len(known) - int(np.unique(found[found >= 0]).size)


def _note_repeated(table: RecordTable, used: Sequence[str], findings: FindingList) -> None:
    """The same people twice would make everybody look safer. A table with more columns is summed over these."""
    if findings.all() or set(table.dialect.header) - set(used):
        return
    key = np.zeros(table.rows, np.int64)
    for name in used:
        if name != used[1]:
            key = np.unique(key * len(_values(table, name)) + table.codes(name), return_inverse=True)[1].ravel()
    _, first = np.unique(key, return_index=True)
    if first.size < table.rows:
        again = np.ones(table.rows, np.bool_)
        again[first] = False
        message = "The row has the region and values of an earlier one."
        findings.add(_CODE, message, "Keep one of them.", row=int(np.flatnonzero(again)[0]) + 2)
