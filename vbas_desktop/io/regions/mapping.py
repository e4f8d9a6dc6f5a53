"""The region map: which regions of the region file the ids of the records stand for."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path

from vbas_desktop.io.access import check_local, check_readable
from vbas_desktop.model.errors import Finding, InputError, refusal, stop_on_errors
from vbas_desktop.model.regions import RegionMap

from .geo import source_of

FROM, TO, SHARE = "from", "to", "share"
TOLERANCE = Fraction(1, 1000)
"""So much may the shares of an id differ from 1 in sum, because they were rounded; they are scaled to 1 then."""

_REMEDY = "Write a CSV file with the columns from,to and, if records are not split evenly, share."
_MOST_FINDINGS = 20


def load_region_map(place: str | None, ids: Sequence[str]) -> RegionMap | None:
    """Read a region map; None if none is named. ``ids`` are those of the region file.

    Everything that is wrong with the file comes in one `InputError`.
    """
    if not place:
        return None
    path = Path(place)
    check_local(path)
    check_readable(path)
    rows = _read_rows(path)
    findings: list[Finding] = []
    shares = _collect(path, rows, frozenset(ids), findings)
    has_shares = len(rows[0][1]) == 3
    targets = {}
    for source_id, (row, found) in shares.items():
        total = sum(found.values(), Fraction(0))
        if not has_shares:
            targets[source_id] = tuple((region, Fraction(1, len(found))) for region in found)
        elif abs(total - 1) > TOLERANCE:
            message = f"The shares of the id first listed here add up to {float(total):.6g}, not to 1."
            findings.append(_finding(path, message, "Correct the shares of this id.", row))
        else:
            targets[source_id] = tuple((region, share / total) for region, share in found.items() if share)
    stop_on_errors(findings[:_MOST_FINDINGS])
    return RegionMap(targets, source_of(path))


def _read_rows(path: Path) -> list[tuple[int, list[str]]]:
    """Read the rows that are not empty with their numbers; the first has the names."""
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            rows = [(number, row) for number, row in enumerate(csv.reader(file), start=1) if row]
    except (UnicodeDecodeError, csv.Error, IsADirectoryError):
        raise _wrong(path, "This is not a region map: it cannot be read as CSV in UTF-8.") from None
    names = [name.strip().lower() for name in rows[0][1]] if rows else []
    if names not in ([FROM, TO], [FROM, TO, SHARE]):
        raise _wrong(path, "This is not a region map: its columns are not from,to or from,to,share.", row=1)
    if len(rows) == 1:
        raise _wrong(path, "The region map has no lines below the names.")
    return rows


def _collect(
    path: Path, rows: list[tuple[int, list[str]]], ids: frozenset[str], findings: list[Finding]
) -> dict[str, tuple[int, dict[str, Fraction]]]:
    """Collect the targets of each id with their shares, and the row where the id is first listed."""
    width = len(rows[0][1])
    found: dict[str, tuple[int, dict[str, Fraction]]] = {}
    for number, row in rows[1:]:
        if len(row) != width or not row[0] or not row[1]:
            findings.append(_finding(path, "The row does not name an id and a region.", _REMEDY, number))
            continue
        share = _share_of(row[2]) if width == 3 else Fraction(1)
        _, targets = found.setdefault(row[0], (number, {}))
        if row[1] not in ids:
            message = f"“{row[1][:80]}” in the column “{TO}” is not in the region file."
            findings.append(_finding(path, message, "Correct the id, or add the region to the region file.", number))
        elif row[1] in targets:
            message = "The pair of ids is there twice."
            findings.append(_finding(path, message, "Keep one of the two lines.", number))
        elif share is None:
            findings.append(_finding(path, "The share is not a number from 0 to 1.", "Write it like 0.25.", number))
        else:
            targets[row[1]] = share
    return found


def _share_of(text: str) -> Fraction | None:
    try:
        share = Fraction(text.strip())
    except (ValueError, ZeroDivisionError):
        return None
    return share if 0 <= share <= 1 else None


def _finding(path: Path, message: str, remedy: str, row: int | None = None) -> Finding:
    return Finding("region-map", message, remedy, file=str(path), row=row)


def _wrong(path: Path, message: str, row: int | None = None) -> InputError:
    return refusal("region-map", message, _REMEDY, file=path, row=row)
