"""Read region maps: the regions of the region file for which the ids of the records stand."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path

from vbas_desktop.model.findings import Finding, InputError, input_error, stop_on_errors
from vbas_desktop.model.regions import RegionMap

from ..input_checks import check_local, check_readable
from .geometry_files import describe_source

FROM = "from"
TO = "to"
SHARE = "share"
TOLERANCE = Fraction(1, 1000)
"""The shares of an id may differ from 1 in sum by this, because they were rounded; they are scaled to 1 then."""

_REMEDY = "Write a CSV file with the columns from,to and, if records are not split evenly, share."
_MOST_FINDINGS = 20


def load_region_map(file: str | None, ids: Sequence[str]) -> RegionMap | None:
    """Read a region map; None if none is named. ``ids`` are those of the region file.

    Everything that is wrong with the file comes in one `InputError`.
    """
    if not file:
        return None
    path = Path(file)
    check_local(path)
    check_readable(path)
    rows = _read_rows(path)
    findings: list[Finding] = []
    shares = _collect_targets(path, rows, frozenset(ids), findings)
    has_shares = len(rows[0][1]) == 3
    targets = {}
    for source_id, (row, targets_of_id) in shares.items():
        total = sum(targets_of_id.values(), Fraction(0))
        if not has_shares:
            targets[source_id] = tuple(
                (region, Fraction(1, len(targets_of_id))) for region in targets_of_id
            )
        elif abs(total - 1) > TOLERANCE:
            message = f"The shares of the id first listed here add up to {float(total):.6g}, not to 1."
            findings.append(_finding(path, message, "Correct the shares of this id.", row))
        else:
            targets[source_id] = tuple(
                (region, share / total) for region, share in targets_of_id.items() if share
            )
    stop_on_errors(findings[:_MOST_FINDINGS])
    return RegionMap(targets, describe_source(path))


def _read_rows(path: Path) -> list[tuple[int, list[str]]]:
    """Read the rows that are not empty with their numbers; the first has the names."""
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            rows = [(number, row) for number, row in enumerate(csv.reader(file), start=1) if row]
    except (UnicodeDecodeError, csv.Error, IsADirectoryError):
        raise _wrong(path, "This is not a region map: it cannot be read as CSV in UTF-8.") from None
    names = [name.strip().lower() for name in rows[0][1]] if rows else []
    if names not in ([FROM, TO], [FROM, TO, SHARE]):
        raise _wrong(
            path, "This is not a region map: its columns are not from,to or from,to,share.", row=1
        )
    if len(rows) == 1:
        raise _wrong(path, "The region map has no lines below the names.")
    return rows


def _collect_targets(
    path: Path, rows: list[tuple[int, list[str]]], ids: frozenset[str], findings: list[Finding]
) -> dict[str, tuple[int, dict[str, Fraction]]]:
    """Collect the targets of each id with their shares, and the row where the id is first listed."""
    width = len(rows[0][1])
    targets_by_id: dict[str, tuple[int, dict[str, Fraction]]] = {}
    for number, row in rows[1:]:
        if len(row) != width or not row[0] or not row[1]:
            findings.append(_finding(path, "The row does not name an id and a region.", _REMEDY, number))
            continue
        share = _parse_share(row[2]) if width == 3 else Fraction(1)
        _, targets = targets_by_id.setdefault(row[0], (number, {}))
        if row[1] not in ids:
            message = f"“{row[1][:80]}” in the column “{TO}” is not in the region file."
            findings.append(
                _finding(path, message, "Correct the id, or add the region to the region file.", number)
            )
        elif row[1] in targets:
            message = "The pair of ids is listed twice."
            findings.append(_finding(path, message, "Keep one of the two lines.", number))
        elif share is None:
            findings.append(
                _finding(path, "The share is not a number from 0 to 1.", "Write it like 0.25.", number)
            )
        else:
            targets[row[1]] = share
    return targets_by_id


def _parse_share(text: str) -> Fraction | None:
    try:
        share = Fraction(text.strip())
    except (ValueError, ZeroDivisionError):
        return None
    return share if 0 <= share <= 1 else None


def _finding(path: Path, message: str, remedy: str, row: int | None = None) -> Finding:
    return Finding("region-map", message, remedy, file=str(path), row=row)


def _wrong(path: Path, message: str, row: int | None = None) -> InputError:
    return input_error("region-map", message, _REMEDY, file=path, row=row)
