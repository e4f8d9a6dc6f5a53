"""Crosswalks: CSV files that say to which aggregated region each initial region belongs."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from vbas_desktop.model.findings import Finding, input_error, stop_on_errors
from vbas_desktop.model.records import as_readonly
from vbas_desktop.model.regions import CrosswalkPartition
from vbas_desktop.model.text import format_count
from vbas_desktop.model.tiers import CROSSWALK as COLUMNS

from ..input_checks import check_local, check_readable
from ..output import write_text
from .geometry_files import describe_source

CROSSWALK = "crosswalk.csv"

_EARLIER = "earlier"
_GIVEN = "given"
_EARLIER_REMEDY = "Name the crosswalk.csv in the folder “release” of the earlier run, as it was written."
_GIVEN_REMEDY = (
    f"Write a CSV file with the columns {','.join(COLUMNS)} and one row for each initial region."
)
_MOST_FINDINGS = 20


def load_earlier_partition(crosswalk: str | None, ids: Sequence[str]) -> CrosswalkPartition | None:
    """Load how regions were merged in an earlier release; None if no crosswalk is named. It may be a run's folder.

    A region that the earlier release does not know is refused: whatever it is joined to would not be an earlier region.
    """
    if not crosswalk:
        return None
    path = find_crosswalk(Path(crosswalk))
    merged_into: dict[str, str] = {}
    for number, row in _read_rows(path, _EARLIER, "the crosswalk of a release", _EARLIER_REMEDY):
        if not row:
            message = "The row does not name a region and what it was merged to."
            raise input_error(_EARLIER, message, _EARLIER_REMEDY, file=path, row=number)
        if row[0] in merged_into:
            message = f"The region “{row[0]}” is listed twice."
            raise input_error(_EARLIER, message, _EARLIER_REMEDY, file=path, row=number)
        merged_into[row[0]] = row[1]
    unknown = [id for id in ids if id not in merged_into]
    if unknown:
        message = (
            f"{format_count(len(unknown), 'initial region is', 'initial regions are')} not in the earlier release, the "
            f"first is “{unknown[0]}”."
        )
        raise input_error(_EARLIER, message, "Use the region file of that release.", file=path)
    codes = sorted({merged_into[id] for id in ids})
    number_of_code = {code: position for position, code in enumerate(codes)}
    region = np.array([number_of_code[merged_into[id]] for id in ids], np.int32)
    return CrosswalkPartition(as_readonly(region), tuple(codes), describe_source(path))


def load_given_partition(file: str, ids: Sequence[str]) -> CrosswalkPartition:
    """Load the partition that a crosswalk lists: each initial region of the region file once, and no other.

    Aggregated regions are numbered in the order in which the region file comes to them, so that their codes in the
    crosswalk decide nothing. Everything that is wrong with the file comes in one `InputError`.
    """
    path = Path(file)
    known = frozenset(ids)
    findings: list[Finding] = []
    code_of: dict[str, str] = {}
    row_of: dict[str, int] = {}
    for number, row in _read_rows(path, _GIVEN, "a crosswalk", _GIVEN_REMEDY):
        if not row:
            message = "The row does not name an initial region and its aggregated region."
            findings.append(_find_given(path, message, _GIVEN_REMEDY, number))
        elif row[0] not in known:
            message = f"“{row[0]}” is not in the region file."
            findings.append(_find_given(path, message, "Correct the id, or remove the row.", number))
        elif row[0] in code_of:
            message = f"“{row[0]}” is listed twice: also in row {row_of[row[0]]:,}."
            findings.append(_find_given(path, message, "Keep one of the two rows.", number))
        else:
            code_of[row[0]] = row[1]
            row_of[row[0]] = number
    missing = [id for id in ids if id not in code_of]
    if missing and not findings:
        number_missing = format_count(
            len(missing),
            "initial region of the region file is",
            "initial regions of the region file are",
        )
        message = f"{number_missing} missing, the first is “{missing[0]}”."
        findings.append(_find_given(path, message, "Add a row for each of them.", None))
    stop_on_errors(findings[:_MOST_FINDINGS])
    number_of_code: dict[str, int] = {}
    region = [number_of_code.setdefault(code_of[id], len(number_of_code)) for id in ids]
    return CrosswalkPartition(
        as_readonly(np.array(region, np.int32)), tuple(number_of_code), describe_source(path)
    )


def write_partition(path: Path, ids: Sequence[str], membership: NDArray[np.int32]) -> None:
    """Write a partition as a crosswalk that `load_given_partition` reads; aggregated regions are numbered from 1.

    membership: int32 per initial region, its aggregated region.
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    number_of_region: dict[int, int] = {}
    for id, region in zip(ids, membership.tolist(), strict=True):
        writer.writerow((id, number_of_region.setdefault(region, len(number_of_region) + 1)))
    write_text(path, text.getvalue())


def find_crosswalk(path: Path) -> Path:
    """Find the crosswalk in the folder of a run or of its release; another path is returned as it is."""
    check_local(path)
    for inside in (path / "release" / CROSSWALK, path / CROSSWALK):
        if inside.is_file():
            return inside
    return path


def _read_rows(path: Path, code: str, what: str, remedy: str) -> list[tuple[int, list[str]]]:
    """Read the rows below the names with their numbers; one without a region or what it belongs to is empty."""
    check_readable(path)
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            numbered = [(number, row) for number, row in enumerate(csv.reader(file), start=1) if row]
    except (UnicodeDecodeError, csv.Error, IsADirectoryError):
        raise input_error(code, f"This is not {what}.", remedy, file=path) from None
    head = numbered[0][1] if numbered else []
    if tuple(head[:2]) != COLUMNS:
        raise input_error(code, f"This is not {what}: its columns are others.", remedy, file=path)
    return [
        (number, row if len(row) == len(head) and row[0] and row[1] else [])
        for number, row in numbered[1:]
    ]


def _find_given(path: Path, message: str, remedy: str, row: int | None) -> Finding:
    return Finding(_GIVEN, message, remedy, file=str(path), row=row)
