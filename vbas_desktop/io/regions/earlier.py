"""The crosswalk of an earlier release: which initial regions it merged."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from vbas_desktop.io.access import check_local, check_readable
from vbas_desktop.model.crosswalk import CROSSWALK as COLUMNS
from vbas_desktop.model.errors import InputError, refusal
from vbas_desktop.model.records import frozen
from vbas_desktop.model.regions import Earlier
from vbas_desktop.model.words import counted

from .geo import source_of

CROSSWALK = "crosswalk.csv"


def load_earlier(place: str | None, ids: Sequence[str]) -> Earlier | None:
    """What the regions with these ids were merged to; None if no crosswalk is named. ``place`` may be a run's folder.

    A region that the earlier release does not know is refused: whatever it is joined to would not be an earlier region.
    """
    if not place:
        return None
    path = crosswalk_in(Path(place))
    into = _merged_to(path)
    unknown = [id for id in ids if id not in into]
    if unknown:
        message = (
            f"{counted(len(unknown), 'initial region is', 'initial regions are')} not in the earlier release, the "
            f"first is “{unknown[0]}”."
        )
        raise _wrong(path, message, "Use the region file of that release.")
    codes = sorted({into[id] for id in ids})
    number = {code: at for at, code in enumerate(codes)}
    return Earlier(frozen(np.array([number[into[id]] for id in ids], np.int32)), tuple(codes), source_of(path))


def crosswalk_in(place: Path) -> Path:
    """The crosswalk of a run, if its folder is named or that of its release."""
    check_local(place)
    for inside in (place / "release" / CROSSWALK, place / CROSSWALK):
        if inside.is_file():
            return inside
    return place


def _merged_to(path: Path) -> dict[str, str]:
    check_readable(path)
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            head, *rows = [row for row in csv.reader(file) if row] or [[]]
    except (UnicodeDecodeError, csv.Error, IsADirectoryError):
        raise _wrong(path, "This is not the crosswalk of a release.", _REMEDY) from None
    if tuple(head[:2]) != COLUMNS:
        raise _wrong(path, "This is not the crosswalk of a release: its columns are others.", _REMEDY)
    into: dict[str, str] = {}
    for at, row in enumerate(rows, start=2):
        if len(row) != len(head) or not row[0] or not row[1]:
            raise _wrong(path, "The row does not name a region and what it was merged to.", _REMEDY, at)
        if row[0] in into:
            raise _wrong(path, f"The region “{row[0]}” is there twice.", _REMEDY, at)
        into[row[0]] = row[1]
    return into


_REMEDY = "Name the crosswalk.csv in the folder “release” of the earlier run, as it was written."


def _wrong(path: Path, message: str, remedy: str, row: int | None = None) -> InputError:
    return refusal("earlier", message, remedy, file=path, row=row)
