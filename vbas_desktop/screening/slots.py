"""The slots file: centre, time, capacity, and where the centre is."""

from __future__ import annotations

import csv
import io
import math
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from vbas_desktop.io.dialect import sniff_delimiter
from vbas_desktop.io.regions.coordinates import from_lon_lat
from vbas_desktop.io.whole_text import whole_text
from vbas_desktop.model.findings import FindingList
from vbas_desktop.model.regions import CoordinateKind, Regions

MOST_SEATS = 1_000_000_000
"""No slot has more seats; sums of larger numbers would leave the range of the computer's whole numbers."""

_NEEDED = ("centre", "time", "capacity")
_SYNONYMS = {"center": "centre", "center_nr": "centre", "hour": "time", "date": "time", "seats": "capacity"}


@dataclass(frozen=True, eq=False)
class SlotTable:
    """All slots in file order. ``points`` are in the coordinates of the region file."""

    labels: tuple[tuple[str, str], ...]
    seats: NDArray[np.int64]
    regions: tuple[str, ...] | None = None
    points: NDArray[np.float64] | None = None
    source: str = ""


def load_slots(path: str | Path) -> SlotTable:
    """Read a slots file; all its problems are raised together."""
    path = Path(path)
    findings = FindingList(str(path))
    text = whole_text(path)
    rows: list[list[str]] = []
    lines = csv.reader(io.StringIO(text, newline=""), delimiter=sniff_delimiter(text.encode()))
    try:
        rows += lines
    except csv.Error:
        findings.add("not-csv", "The line cannot be split into fields.", "Check the quotes.", row=lines.line_num)
        findings.stop_on_errors()
    names = [_SYNONYMS.get(name.strip().lower(), name.strip().lower()) for name in rows[0]] if rows else []
    for needed in _NEEDED:
        if needed not in names:
            findings.add("missing-column", f"There is no column “{needed}”.", "Add it to line 1.", row=1, column=needed)
    if len(rows) < 2:
        findings.add("no-slots", "The file has no slots.", "Add a line for each slot.")
    findings.stop_on_errors()
    read = [_slot(row, number, names, findings) for number, row in enumerate(rows[1:], 2) if row]
    table = [slot for slot in read if slot is not None]
    _refuse_repeated(table, findings)
    findings.stop_on_errors()
    points = [(float(slot["x"]), float(slot["y"])) for slot in table] if {"x", "y"} <= set(names) else None
    return SlotTable(
        labels=tuple((slot["centre"], slot["time"]) for slot in table),
        seats=np.array([int(slot["capacity"]) for slot in table], np.int64),
        regions=tuple(slot["region"] for slot in table) if "region" in names else None,
        points=None if points is None else np.array(points),
        source=str(path),
    )


def _slot(row: list[str], number: int, names: list[str], findings: FindingList) -> dict[str, str] | None:
    if len(row) != len(names):
        findings.add(
            "ragged", f"The row has {len(row)} fields instead of {len(names)}.", "Complete the row.", row=number
        )
        return None
    slot = {name: value.strip() for name, value in zip(names, row, strict=True)}
    capacity = slot["capacity"]
    if capacity.startswith("-") and capacity[1:].isdigit():
        findings.add(
            "negative-capacity", "The capacity is negative.", "Enter 0 or more.", row=number, column="capacity"
        )
        return None
    if not (capacity.isascii() and capacity.isdigit()):
        findings.add("capacity", "The capacity is no whole number.", "Enter 0, 1, 2, …", row=number, column="capacity")
        return None
    if len(capacity.lstrip("0")) > len(str(MOST_SEATS)) or int(capacity) > MOST_SEATS:
        message = f"The capacity is above {MOST_SEATS:,}."
        findings.add("capacity", message, "Enter the number of seats.", row=number, column="capacity")
        return None
    for axis in ("x", "y"):
        if axis in slot and not _is_number(slot[axis]):
            findings.add("coordinate", "This is no coordinate.", "Enter a number.", row=number, column=axis)
            return None
    return slot | {"row": str(number)}


def _refuse_repeated(table: list[dict[str, str]], findings: FindingList) -> None:
    seen: set[tuple[str, str]] = set()
    for slot in table:
        key = (slot["centre"], slot["time"])
        if key in seen:
            findings.add(
                "duplicate-slot",
                "The same centre and time were listed before.",
                "List every slot once, with all its seats.",
                row=int(slot["row"]),
            )
        seen.add(key)


def _is_number(text: str) -> bool:
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False


def place_slots(slots: SlotTable, regions: Regions | None) -> SlotTable:
    """The slots with their points in the coordinates of the regions: longitude and latitude are projected alike."""
    if slots.points is None or regions is None or regions.system.kind is not CoordinateKind.GEOGRAPHIC:
        return slots
    assert regions.system.definition is not None
    return replace(slots, points=from_lon_lat(slots.points, regions.system.definition))
