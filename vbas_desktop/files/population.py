"""A table of the population: how many people live in each region with each combination of quasi-identifier values."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from vbas_desktop.domain.errors import Finding, InputError
from vbas_desktop.domain.problem import Population, Problem
from vbas_desktop.domain.progress import Progress, Silent
from vbas_desktop.domain.words import counted
from vbas_desktop.settings.reading import RecordOptions

from .records.table import RecordTable, load_records

NUMBERS = ("people", "population", "inhabitants", "count")
"""Names that the column with the numbers of people may have."""
REGIONS = ("region", "id")
"""Names that the column with the regions may have, besides that of the records."""
_MOST = 1 << 53


def read_population(path: Path, problem: Problem, progress: Progress | None = None) -> Population:
    """Read the table (CSV or Parquet) and put it beside the classes of a problem; what is wrong is told at once."""
    table = load_records(path, RecordOptions(category_counts="no"), progress or Silent())
    wrong = _Wrong(table)
    region = wrong.one_of((problem.region_column, *REGIONS), "the regions")
    numbers = wrong.one_of(NUMBERS, "the numbers of people")
    for name in problem.quasi_identifiers:
        if name not in table.dialect.header:
            wrong.add("The table has no such column, which is a quasi-identifier.", "Add it.", name)
    wrong.stop()
    people = _people(table, numbers, wrong)
    places = _places(table, region, problem.regions.ids, wrong)
    codes = [_codes(table, problem, q, wrong) for q in range(len(problem.quasi_identifiers))]
    wrong.stop()
    _refuse_repeated(table, (region, numbers, *problem.quasi_identifiers), wrong)
    kept = places >= 0
    by_region = np.bincount(places[kept], people[kept], minlength=len(problem.regions)).astype(np.int64)
    number = np.zeros(table.rows, np.int64)
    known = kept.copy()
    for code, size in zip(codes, problem.counts.category_numbers, strict=True):
        known &= code >= 0
        number = number * size + np.maximum(code, 0)
    classes = problem.counts.classes
    spot = np.minimum(np.searchsorted(classes, number), max(0, classes.size - 1))
    known &= classes[spot] == number
    return Population(
        table.source, by_region, places[known].astype(np.int64), spot[known].astype(np.int64), people[known]
    )


def _values(table: RecordTable, name: str) -> Sequence[str] | None:
    categories = table.facts(name).categories
    return None if categories is None else categories.values


def _people(table: RecordTable, name: str, wrong: _Wrong) -> NDArray[np.int64]:
    values = _values(table, name)
    if values is None:
        wrong.add("The column has too many different numbers to be a table of the population.", "Check it.", name)
        return np.zeros(0, np.int64)
    found = np.full(len(values), -1, np.int64)
    for code, value in enumerate(values):
        text = value.strip().removesuffix(".0")
        if text.isascii() and text.isdigit() and int(text) < _MOST:
            found[code] = int(text)
    bad = found < 0
    if bad.any():
        rows = table.first_rows(name, bad, 1)
        wrong.add("The number of people is no whole number from 0 on.", "Correct it.", name, next(iter(rows), None))
    return found[table.codes(name)]


def _places(table: RecordTable, name: str, ids: Sequence[str], wrong: _Wrong) -> NDArray[np.int32]:
    values = _values(table, name) or ()
    index = {region: place for place, region in enumerate(ids)}
    found = np.array([index.get(value, -1) for value in values], np.int32)
    missing = len(ids) - int(np.unique(found[found >= 0]).size)
    if missing:
        some = counted(missing, "initial region is", "initial regions are")
        wrong.add(
            f"{some} not in the table.", "Write the ids as the region file does; 0 people is a number, too.", name
        )
        return np.zeros(0, np.int32)
    return found[table.codes(name)]


def _codes(table: RecordTable, problem: Problem, q: int, wrong: _Wrong) -> NDArray[np.int32]:
    """The category of each row, -1 where the records have none like it; groups are made as for the records."""
    name, categories = problem.quasi_identifiers[q], problem.categories[q].values
    place = {value: code for code, value in enumerate(categories)}
    values = list(_values(table, name) or ())
    for grouping in problem.groupings:
        if grouping.column == name:
            values = [grouping.groups.get(value, value) for value in values]
    found = np.array([place.get(value, -1) for value in values], np.int32)
    missing = len(categories) - int(np.unique(found[found >= 0]).size)
    if missing:
        some = f"{missing:,} of {counted(len(categories), 'category', 'categories')} of the records"
        wrong.add(f"{some} do not occur in the table.", "Write the values as the records do.", name)
        return np.zeros(0, np.int32)
    return found[table.codes(name)]


def _refuse_repeated(table: RecordTable, used: Sequence[str], wrong: _Wrong) -> None:
    """The same people twice would make everybody look safer. A table with more columns is summed over these."""
    if set(table.dialect.header) - set(used):
        return
    key = np.zeros(table.rows, np.int64)
    for name in used:
        if name != used[1]:
            key = np.unique(key * len(_values(table, name) or ()) + table.codes(name), return_inverse=True)[1].ravel()
    _, first = np.unique(key, return_index=True)
    if first.size < table.rows:
        again = np.ones(table.rows, np.bool_)
        again[first] = False
        message = "The row has the region and values of an earlier one."
        wrong.add(message, "Keep one of them.", None, int(np.flatnonzero(again)[0]) + 2)
        wrong.stop()


class _Wrong:
    """What is wrong with the table."""

    def __init__(self, table: RecordTable) -> None:
        self._table, self._findings = table, list[Finding]()

    def add(self, message: str, remedy: str, column: str | None = None, row: int | None = None) -> None:
        finding = Finding("population", message, remedy, file=self._table.source.path, column=column, row=row)
        self._findings.append(finding)

    def one_of(self, names: Sequence[str], what: str) -> str:
        """The first of these columns that the table has."""
        there = next((name for name in names if name in self._table.dialect.header), None)
        if there is None:
            self.add(f"No column has {what}.", f"Call one of them “{'” or “'.join(dict.fromkeys(names))}”.")
        return there or ""

    def stop(self) -> None:
        if self._findings:
            raise InputError(self._findings)
