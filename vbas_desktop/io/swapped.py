"""Whether two files were given the wrong way round, or one file twice."""

from __future__ import annotations

import os
from pathlib import Path

from vbas_desktop.model.errors import Finding, InputError, refusal
from vbas_desktop.model.findings import FindingList

from .dialect import SAMPLE_BYTES, sniff_delimiter
from .regions.columns import find_axes

_SHAPES = (".geojson", ".gpkg", ".shp")


def check_two_files(records: Path, regions: Path) -> None:
    """Refuse one file for both."""
    if os.path.realpath(records) == os.path.realpath(regions):
        message = "The same file is given as record file and as region file."
        remedy = "Records and regions come in a file each: choose the other one too."
        raise refusal("one-file-twice", message, remedy, file=records)


def with_swap_told(error: InputError, records: Path, regions: Path) -> InputError:
    """The error of reading ``regions`` as regions; it says so if the record file looks like them instead."""
    if not has_coordinates(records) or has_coordinates(regions):
        return error
    message = f"{records.name}, which was given as record file, has the coordinates that a region file needs."
    told = Finding("swapped-files", message, "Did you swap the two files?", file=str(regions))
    return InputError((told, *error.findings))


def has_coordinates(path: Path) -> bool:
    """Whether a file holds shapes, or has columns that are named like coordinates."""
    if path.suffix.lower() in _SHAPES:
        return True
    try:
        with path.open("rb") as stream:
            start = stream.read(SAMPLE_BYTES)
    except OSError:
        return False
    head = start.decode("utf-8-sig", "replace").partition("\n")[0].strip()
    header = [name.strip().strip('"') for name in head.split(sniff_delimiter(start, len(start) < SAMPLE_BYTES))]
    return find_axes(header, None, None, "auto", FindingList(path.name)) is not None
