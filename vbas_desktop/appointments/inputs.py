"""Read people and slots, group people into classes, and find the slots that each class may use."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from vbas_desktop.algorithms.composite_keys import make_row_keys, number_values
from vbas_desktop.io.databases.loading import load_records_at
from vbas_desktop.io.delimited_text import sniff_delimiter
from vbas_desktop.io.hashing import require_unchanged
from vbas_desktop.io.regions.coordinates import from_lon_lat
from vbas_desktop.io.text_files import read_text_file
from vbas_desktop.model.findings import Finding, FindingList, InputError
from vbas_desktop.model.progress import Progress
from vbas_desktop.model.records import CodedRecords
from vbas_desktop.model.regions import CoordinateKind, Regions
from vbas_desktop.model.text import format_count
from vbas_desktop.settings.reading import RecordReading

from .plan import AppointmentTask, GroupLimits

_MOST_DIGITS = 12
"""A number of people with more digits is a mistake; sums of such numbers could overflow."""


DEFAULT_OTHERS_SHARE = 0.15
DEFAULT_OTHER_GROUPS = 3
"""Default limits beside a majority: source 004, section 9, E2."""


@dataclass(frozen=True)
class PeopleColumns:
    """Roles of the columns of the people file; with ``count``, a row is a class and not a person."""

    quasi_identifiers: tuple[str, ...]
    id: str | None = None
    region: str | None = None
    count: str | None = None


@dataclass(frozen=True)
class SideConstraints:
    """Side constraints as the user states them.

    ``same_region``: only slots of the person's own region. ``within_km``: only slots within this distance of the
    region's point. ``group_column``, ``largest_share``, ``fewest_groups``: see `GroupLimits`. ``majority``: the value
    of that column whose people are not limited; the limits are then those of all others together.
    """

    same_region: bool = False
    within_km: float | None = None
    group_column: str | None = None
    largest_share: float = 1.0
    fewest_groups: int = 1
    majority: str | None = None


@dataclass(frozen=True, eq=False)
class PeopleTable:
    """People by class: ``class_of[p]`` is the class of person p (empty for a table of classes).

    ``labels[c]`` are the values of class c in the columns ``names``, ``sizes[c]`` its number of people.
    """

    table: CodedRecords
    columns: PeopleColumns
    class_of: NDArray[np.int64]
    labels: tuple[tuple[str, ...], ...]
    sizes: NDArray[np.int64]
    names: tuple[str, ...] = field(default=())


def load_people(
    path: str | Path, columns: PeopleColumns, options: RecordReading, progress: Progress
) -> PeopleTable:
    """Read the people from a file or an address and form the classes; the region, where given, is part of the class.

    Raises `InputError` without quasi-identifiers, for repeated people and for counts that are not numbers.
    """
    if not columns.quasi_identifiers:
        raise InputError(
            Finding(
                "no-quasi-identifier",
                "No quasi-identifier is chosen.",
                "Name at least one column.",
                file=str(path),
            )
        )
    table = load_records_at(path, options, progress)
    require_unchanged(table.source)
    return group_people(table, columns)


def group_people(table: CodedRecords, columns: PeopleColumns) -> PeopleTable:
    """Form the classes of a people table that is loaded."""
    names = columns.quasi_identifiers + ((columns.region,) if columns.region else ())
    class_of, labels = _number_classes(table, names)
    if columns.count is None:
        _refuse_duplicate_people(table, columns.id)
        sizes = np.bincount(class_of, minlength=len(labels)).astype(np.int64)
        return PeopleTable(table, columns, class_of, labels, sizes, names)
    sizes = np.bincount(class_of, _read_counts(table, columns.count), len(labels)).astype(np.int64)
    return PeopleTable(table, columns, np.zeros(0, np.int64), labels, sizes, names)


def _number_classes(
    table: CodedRecords, names: Sequence[str]
) -> tuple[NDArray[np.int64], tuple[tuple[str, ...], ...]]:
    """Number the classes in the order of their first row; return the class of each row and the labels of each class."""
    columns = []
    for name in names:
        categories = table.facts(name).categories
        assert categories is not None
        columns.append((categories, table.codes(name)))
    keys = make_row_keys([(codes, len(categories.values)) for categories, codes in columns], table.rows)
    class_of, first = number_values(keys)
    labels = [
        [categories.label(code) for code in codes[first].tolist()] for categories, codes in columns
    ]
    return class_of, tuple(zip(*labels, strict=True))


def _refuse_duplicate_people(table: CodedRecords, column: str | None) -> None:
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
                f"{format_count(int(repeated.sum()), 'person is', 'people are')} listed more than once{where}.",
                "List everybody once, or name another id column.",
                file=table.source.path,
                row=rows[0] if rows else None,
                column=column,
            )
        )


def _is_count(value: str) -> bool:
    text = value.strip()
    return text.isascii() and text.isdigit() and len(text) <= _MOST_DIGITS


def _read_counts(table: CodedRecords, column: str) -> NDArray[np.int64]:
    categories = table.facts(column).categories
    assert categories is not None or table.codes(column) is not None
    is_invalid = (
        np.array([not _is_count(value) for value in categories.values])
        if categories
        else np.zeros(0, bool)
    )
    if is_invalid.any():
        rows = table.first_rows(column, is_invalid, 1)
        raise InputError(
            Finding(
                "not-a-count",
                "This is no whole number of people.",
                f"Enter 0, 1, 2, … with up to {_MOST_DIGITS} digits.",
                file=table.source.path,
                row=rows[0] if rows else None,
                column=column,
            )
        )
    assert categories is not None
    return np.array([int(value) for value in categories.values], np.int64)[table.codes(column)]


def build_task(
    people: PeopleTable, slots: SlotTable, constraints: SideConstraints, regions: Regions | None = None
) -> AppointmentTask:
    """Build the task with its side constraints.

    Raises `InputError` if a constraint lacks a column or coordinates, or leaves people without any slot.
    """
    allowed = None
    if constraints.same_region:
        allowed = _allow_same_region(people, slots)
    if constraints.within_km is not None:
        near = _allow_within(people, slots, constraints.within_km, regions)
        allowed = near if allowed is None else allowed & near
    limits = None
    if constraints.group_column is not None:
        column = _find_column(people, constraints.group_column)
        names, groups = np.unique([label[column] for label in people.labels], return_inverse=True)
        majority = _find_majority(names.tolist(), constraints)
        limits = GroupLimits(
            groups.astype(np.int64), constraints.largest_share, constraints.fewest_groups, majority
        )
    task = AppointmentTask(people.sizes, slots.seats, people.labels, slots.labels, allowed, limits)
    if allowed is not None:
        _refuse_people_without_slots(people, task)
    return task


def _find_column(people: PeopleTable, column: str) -> int:
    """Find the position of a column among those that make the classes. Raises `InputError`."""
    if column not in people.names:
        choices = ", ".join(people.names)
        raise InputError(
            Finding(
                "group-column",
                f"“{column}” is not one of the planned columns.",
                f"Choose one of: {choices}.",
            )
        )
    return people.names.index(column)


def _find_majority(names: list[str], constraints: SideConstraints) -> int | None:
    """Find the number of the majority group; None if none is named. Raises `InputError` if nobody belongs to it."""
    if constraints.majority is None:
        return None
    if constraints.majority not in names:
        message = "Nobody has the value that is named as the majority."
        raise InputError(
            Finding(
                "majority", message, "Write it exactly as in the file.", column=constraints.group_column
            )
        )
    return names.index(constraints.majority)


def _allow_same_region(people: PeopleTable, slots: SlotTable) -> NDArray[np.bool_]:
    """Allow each class the slots of its own region: classes × slots."""
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
                "regions-differ",
                "No slot is in a region that occurs in the people file.",
                "Check the region names.",
            )
        )
    return np.asarray(own[:, None] == np.array(slots.regions)[None, :])


def _allow_within(
    people: PeopleTable, slots: SlotTable, km: float, regions: Regions | None
) -> NDArray[np.bool_]:
    """Allow each class the slots within ``km`` of its region's point: classes × slots."""
    if people.columns.region is None or slots.points is None or regions is None:
        raise InputError(
            Finding(
                "no-places",
                "A distance limit needs the people's region column, a region file, and x and y of the slots.",
                "Add what is missing, or leave the distance limit out.",
            )
        )
    index = {name: number for number, name in enumerate(regions.ids)}
    regions_of_classes = [index.get(label[-1]) for label in people.labels]
    n_unknown = sum(
        int(size)
        for size, region in zip(people.sizes, regions_of_classes, strict=True)
        if region is None
    )
    if n_unknown:
        raise InputError(
            Finding(
                "unknown-region",
                f"{format_count(n_unknown, 'person lives', 'people live')} in regions that are not in the region file.",
                "Complete the region file.",
                file=people.table.source.path,
                column=people.columns.region,
            )
        )
    points = regions.points[np.array([region for region in regions_of_classes if region is not None])]
    distance_m = np.hypot(*(points[:, None, :] - slots.points[None, :, :]).transpose(2, 0, 1))
    return np.asarray(distance_m <= km * 1000.0)


def _refuse_people_without_slots(people: PeopleTable, task: AppointmentTask) -> None:
    assert task.allowed is not None
    stranded = ~task.allowed.any(axis=1) & (task.people > 0)
    if stranded.any():
        n_unseated = int(task.people[stranded].sum())
        raise InputError(
            Finding(
                "no-slot",
                f"{format_count(n_unseated, 'person')} of {format_count(int(stranded.sum()), 'class')} may use no "
                "slot at all.",
                "Add slots for their regions, or widen the limit.",
                file=people.table.source.path,
            )
        )


MAX_SEATS = 1_000_000_000
"""Largest capacity of a slot: sums of larger numbers could overflow 64 bits."""

_NEEDED = ("centre", "time", "capacity")
_SYNONYMS = {
    "center": "centre",
    "center_nr": "centre",
    "hour": "time",
    "date": "time",
    "seats": "capacity",
}


@dataclass(frozen=True, eq=False)
class SlotTable:
    """All slots in file order: ``labels`` are centre and time. ``points`` are in the coordinates of the region file."""

    labels: tuple[tuple[str, str], ...]
    seats: NDArray[np.int64]
    regions: tuple[str, ...] | None = None
    points: NDArray[np.float64] | None = None
    source: str = ""


def load_slots(path: str | Path) -> SlotTable:
    """Read a slots file. Raises `InputError` with all its problems together."""
    path = Path(path)
    findings = FindingList(str(path))
    text = read_text_file(path)
    rows: list[list[str]] = []
    lines = csv.reader(io.StringIO(text, newline=""), delimiter=sniff_delimiter(text.encode()))
    try:
        rows += lines
    except csv.Error:
        findings.add(
            "not-csv", "The line cannot be split into fields.", "Check the quotes.", row=lines.line_num
        )
        findings.stop_on_errors()
    names = (
        [_SYNONYMS.get(name.strip().lower(), name.strip().lower()) for name in rows[0]] if rows else []
    )
    for name in _NEEDED:
        if name not in names:
            findings.add(
                "missing-column",
                f"There is no column “{name}”.",
                "Add it to line 1.",
                row=1,
                column=name,
            )
    if len(rows) < 2:
        findings.add("no-slots", "The file has no slots.", "Add a line for each slot.")
    findings.stop_on_errors()
    parsed = [_parse_slot(row, number, names, findings) for number, row in enumerate(rows[1:], 2) if row]
    table = [slot for slot in parsed if slot is not None]
    _check_repeated(table, findings)
    findings.stop_on_errors()
    points = (
        [(float(slot["x"]), float(slot["y"])) for slot in table] if {"x", "y"} <= set(names) else None
    )
    return SlotTable(
        labels=tuple((slot["centre"], slot["time"]) for slot in table),
        seats=np.array([int(slot["capacity"]) for slot in table], np.int64),
        regions=tuple(slot["region"] for slot in table) if "region" in names else None,
        points=None if points is None else np.array(points),
        source=str(path),
    )


def _parse_slot(
    row: list[str], number: int, names: list[str], findings: FindingList
) -> dict[str, str] | None:
    if len(row) != len(names):
        findings.add(
            "ragged",
            f"The row has {len(row)} fields instead of {len(names)}.",
            "Complete the row.",
            row=number,
        )
        return None
    slot = {name: value.strip() for name, value in zip(names, row, strict=True)}
    capacity = slot["capacity"]
    if capacity.startswith("-") and capacity[1:].isdigit():
        findings.add(
            "negative-capacity",
            "The capacity is negative.",
            "Enter 0 or more.",
            row=number,
            column="capacity",
        )
        return None
    if not (capacity.isascii() and capacity.isdigit()):
        findings.add(
            "capacity",
            "The capacity is no whole number.",
            "Enter 0, 1, 2, …",
            row=number,
            column="capacity",
        )
        return None
    if len(capacity.lstrip("0")) > len(str(MAX_SEATS)) or int(capacity) > MAX_SEATS:
        message = f"The capacity is above {MAX_SEATS:,}."
        findings.add("capacity", message, "Enter the number of seats.", row=number, column="capacity")
        return None
    for axis in ("x", "y"):
        if axis in slot and not _is_number(slot[axis]):
            findings.add(
                "coordinate", "This is no coordinate.", "Enter a number.", row=number, column=axis
            )
            return None
    return slot | {"row": str(number)}


def _check_repeated(table: list[dict[str, str]], findings: FindingList) -> None:
    earlier: set[tuple[str, str]] = set()
    for slot in table:
        key = (slot["centre"], slot["time"])
        if key in earlier:
            findings.add(
                "duplicate-slot",
                "The same centre and time were listed before.",
                "List every slot once, with all its seats.",
                row=int(slot["row"]),
            )
        earlier.add(key)


def _is_number(text: str) -> bool:
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False


def project_slots(slots: SlotTable, regions: Regions | None) -> SlotTable:
    """Project the slots' points to the coordinates of the regions; longitudes and latitudes are projected alike."""
    if slots.points is None or regions is None or regions.system.kind is not CoordinateKind.GEOGRAPHIC:
        return slots
    assert regions.system.definition is not None
    return replace(slots, points=from_lon_lat(slots.points, regions.system.definition))
