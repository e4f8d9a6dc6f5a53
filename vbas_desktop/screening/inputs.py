"""From a people file and a slots file to a `Task`: who belongs to which class, and which slots a class may use."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from vbas_desktop.algorithms.composite_keys import make_row_keys, number_values
from vbas_desktop.io.databases.records import load_records_at
from vbas_desktop.io.hashing import require_unchanged
from vbas_desktop.model.errors import Finding, InputError
from vbas_desktop.model.progress import Progress
from vbas_desktop.model.records import RecordTable
from vbas_desktop.model.regions import Regions
from vbas_desktop.model.words import counted
from vbas_desktop.settings.reading import RecordOptions

from .slots import SlotTable
from .task import GroupLimits, Task

_MOST_DIGITS = 12
"""A number of people with more digits is a mistake, and sums of such numbers could overflow."""


OTHERS_SHARE = 0.15
OTHER_GROUPS = 3
"""The usual limits beside a majority: source 004, section 9, E2."""


@dataclass(frozen=True)
class PeopleColumns:
    """Which columns of the people file are what; ``count`` makes it a table of classes instead of people."""

    quasi_identifiers: tuple[str, ...]
    id: str | None = None
    region: str | None = None
    count: str | None = None


@dataclass(frozen=True)
class Constraints:
    """Side constraints in the user's words.

    ``same_region``: only slots of the person's own region. ``within_km``: only slots so near to the region's point.
    ``group_column``, ``largest_share``, ``fewest_groups``: see `GroupLimits`. ``majority``: the value of that column
    whose people are not limited; the limits are then those of all others together.
    """

    same_region: bool = False
    within_km: float | None = None
    group_column: str | None = None
    largest_share: float = 1.0
    fewest_groups: int = 1
    majority: str | None = None


@dataclass(frozen=True, eq=False)
class People:
    """The people file, grouped: ``class_of[p]`` is the class of person p (empty for a table of classes)."""

    table: RecordTable
    columns: PeopleColumns
    class_of: NDArray[np.int64]
    labels: tuple[tuple[str, ...], ...]
    sizes: NDArray[np.int64]
    names: tuple[str, ...] = field(default=())


def load_people(path: str | Path, columns: PeopleColumns, options: RecordOptions, progress: Progress) -> People:
    """Read the people from a file or an address and form the classes; the region, where given, is part of the class."""
    if not columns.quasi_identifiers:
        raise InputError(
            Finding(
                "no-quasi-identifier", "No quasi-identifier is chosen.", "Name at least one column.", file=str(path)
            )
        )
    table = load_records_at(path, options, progress)
    require_unchanged(table.source)
    return people_of(table, columns)


def people_of(table: RecordTable, columns: PeopleColumns) -> People:
    """The classes of a people file that is loaded already."""
    names = columns.quasi_identifiers + ((columns.region,) if columns.region else ())
    class_of, labels = _classes(table, names)
    if columns.count is None:
        _refuse_duplicate_people(table, columns.id)
        sizes = np.bincount(class_of, minlength=len(labels)).astype(np.int64)
        return People(table, columns, class_of, labels, sizes, names)
    sizes = np.bincount(class_of, _numbers(table, columns.count), len(labels)).astype(np.int64)
    return People(table, columns, np.zeros(0, np.int64), labels, sizes, names)


def _classes(table: RecordTable, names: Sequence[str]) -> tuple[NDArray[np.int64], tuple[tuple[str, ...], ...]]:
    """The class of each row and the labels of each class, classes in the order of their first row."""
    columns = []
    for name in names:
        categories = table.facts(name).categories
        assert categories is not None
        columns.append((categories, table.codes(name)))
    keys = make_row_keys([(codes, len(categories.values)) for categories, codes in columns], table.rows)
    class_of, first = number_values(keys)
    labels = [[categories.label(code) for code in codes[first].tolist()] for categories, codes in columns]
    return class_of, tuple(zip(*labels, strict=True))


def _refuse_duplicate_people(table: RecordTable, column: str | None) -> None:
    if column is None or not table.facts(column).categorical:
        return
    codes = table.codes(column)
    repeated = np.bincount(codes) > 1
    if repeated.any():
        rows = table.first_rows(column, repeated, 3)
        where = f" (rows {', '.join(map(str, rows))} …)" if rows else ""
        raise InputError(
            Finding(
                "duplicate-people",
                f"{counted(int(repeated.sum()), 'person is', 'people are')} listed more than once{where}.",
                "List everybody once, or name another id column.",
                file=table.source.path,
                row=rows[0] if rows else None,
                column=column,
            )
        )


def _is_count(value: str) -> bool:
    text = value.strip()
    return text.isascii() and text.isdigit() and len(text) <= _MOST_DIGITS


def _numbers(table: RecordTable, column: str) -> NDArray[np.int64]:
    categories = table.facts(column).categories
    assert categories is not None or table.codes(column) is not None
    wrong = np.array([not _is_count(value) for value in categories.values]) if categories else np.zeros(0, bool)
    if wrong.any():
        row = table.first_rows(column, wrong, 1)
        raise InputError(
            Finding(
                "not-a-count",
                "This is no whole number of people.",
                f"Enter 0, 1, 2, … with up to {_MOST_DIGITS} digits.",
                file=table.source.path,
                row=row[0] if row else None,
                column=column,
            )
        )
    assert categories is not None
    return np.array([int(value) for value in categories.values], np.int64)[table.codes(column)]


def build_task(people: People, slots: SlotTable, constraints: Constraints, regions: Regions | None = None) -> Task:
    """The task with its side constraints; refused where a constraint lacks what it needs."""
    allowed = None
    if constraints.same_region:
        allowed = _same_region(people, slots)
    if constraints.within_km is not None:
        near = _within(people, slots, constraints.within_km, regions)
        allowed = near if allowed is None else allowed & near
    limits = None
    if constraints.group_column is not None:
        place = _place(people, constraints.group_column)
        names, groups = np.unique([label[place] for label in people.labels], return_inverse=True)
        majority = _majority(names.tolist(), constraints)
        limits = GroupLimits(groups.astype(np.int64), constraints.largest_share, constraints.fewest_groups, majority)
    task = Task(people.sizes, slots.seats, people.labels, slots.labels, allowed, limits)
    if allowed is not None:
        _refuse_stranded(people, task)
    return task


def _place(people: People, column: str) -> int:
    if column not in people.names:
        known = ", ".join(people.names)
        raise InputError(
            Finding("group-column", f"“{column}” is not one of the planned columns.", f"Choose one of: {known}.")
        )
    return people.names.index(column)


def _majority(names: list[str], constraints: Constraints) -> int | None:
    """Return the number of the group that is the majority; None if none is named."""
    if constraints.majority is None:
        return None
    if constraints.majority not in names:
        message = "Nobody has the value that is named as the majority."
        raise InputError(
            Finding("majority", message, "Write it exactly as in the file.", column=constraints.group_column)
        )
    return names.index(constraints.majority)


def _same_region(people: People, slots: SlotTable) -> NDArray[np.bool_]:
    if people.columns.region is None or slots.regions is None:
        raise InputError(
            Finding(
                "no-region",
                "Seats in one's own region need a region column in both files.",
                "Name the people's region column and add a column “region” to the slots.",
            )
        )
    own = np.array([label[-1] for label in people.labels])
    unknown = sorted(set(slots.regions) - set(own.tolist()))
    if unknown and not set(slots.regions) & set(own.tolist()):
        raise InputError(
            Finding(
                "regions-differ", "No slot is in a region that occurs in the people file.", "Check the region names."
            )
        )
    return np.asarray(own[:, None] == np.array(slots.regions)[None, :])


def _within(people: People, slots: SlotTable, km: float, regions: Regions | None) -> NDArray[np.bool_]:
    if people.columns.region is None or slots.points is None or regions is None:
        raise InputError(
            Finding(
                "no-places",
                "A distance limit needs the people's region column, a region file, and x and y of the slots.",
                "Add what is missing, or leave the distance limit out.",
            )
        )
    index = {name: number for number, name in enumerate(regions.ids)}
    own = [index.get(label[-1]) for label in people.labels]
    lost = sum(int(size) for size, place in zip(people.sizes, own, strict=True) if place is None)
    if lost:
        raise InputError(
            Finding(
                "unknown-region",
                f"{counted(lost, 'person lives', 'people live')} in regions that the region file does not have.",
                "Complete the region file.",
                file=people.table.source.path,
                column=people.columns.region,
            )
        )
    places = regions.points[np.array([place for place in own if place is not None])]
    distance_m = np.hypot(*(places[:, None, :] - slots.points[None, :, :]).transpose(2, 0, 1))
    return np.asarray(distance_m <= km * 1000.0)


def _refuse_stranded(people: People, task: Task) -> None:
    assert task.allowed is not None
    stranded = ~task.allowed.any(axis=1) & (task.people > 0)
    if stranded.any():
        lost = int(task.people[stranded].sum())
        raise InputError(
            Finding(
                "no-slot",
                f"{counted(lost, 'person')} of {counted(int(stranded.sum()), 'class')} may use no slot at all.",
                "Add slots for their regions, or widen the limit.",
                file=people.table.source.path,
            )
        )
