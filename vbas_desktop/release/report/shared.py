"""What the reports of a release draw on, and what both say in the same words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vbas_desktop import __version__
from vbas_desktop.domain.crosswalk import NAME
from vbas_desktop.domain.errors import Check, Finding
from vbas_desktop.domain.solution import RunResult
from vbas_desktop.engine.place import PlaceVector
from vbas_desktop.files.records.table import RecordTable
from vbas_desktop.release.disclosure import Told
from vbas_desktop.release.folder import ReleasedFile
from vbas_desktop.release.plan import Partition, Plan
from vbas_desktop.release.records.writing import Written
from vbas_desktop.settings.release import ReleaseOptions

from .blocks import Block, Paragraph, Table
from .figures import Maps
from .wording import WHAT_FILES_ARE

FOOT = f"Made by VBAS Desktop {__version__}."


def why_safe(quasi_identifiers: Sequence[str], k: int, anonymity: int | None, in_tiers: bool = False) -> list[Block]:
    """What the release protects against, and what it does not."""
    names = ", ".join(f"“{name}”" for name in quasi_identifiers)
    smallest = anonymity or k
    dealt_with = "placed in larger areas or left out" if in_tiers else "left out"
    safe = (
        f"Whoever knows a person’s values of {names} and the place they live in finds at least {k:,} records "
        f"in the released file that fit equally well (the fewest are {smallest:,}), so no record can be tied to a "
        f"person by these columns with a chance above 1 in {smallest:,}. To reach this, small regions were merged "
        f"with their neighbours, and the records that still stood out were {dealt_with}."
    )
    checked = (
        "After writing, the file was read back by code that shares nothing with the one that wrote it, and counted "
        "again; see Verification."
    )
    limits = (
        "This protects against recognising people by the quasi-identifiers and the region. It says nothing about "
        "the other columns: if they can be known to outsiders, or if all records of a class share a sensitive "
        "value, further protection is needed."
    )
    return [Paragraph(safe), Paragraph(checked), Paragraph(limits, quiet=True)]


def files_table(files: Sequence[ReleasedFile]) -> Table:
    """The files of the release with their checksums."""
    rows = [
        (Path(file.path).name, WHAT_FILES_ARE.get(Path(file.path).name, ""), f"{file.size_bytes:,}", file.sha256)
        for file in files
    ]
    return Table(("file", "what it is", "bytes", "SHA-256"), rows, 2, 3)


def code_and_name(partition: Partition, number: int) -> tuple[str, ...]:
    """What an aggregated region is called in a table: its code and, if they have any, its name."""
    return (partition.codes[number], *((partition.names[number],) if partition.names else ()))


def region_rows(
    partition: Partition, headings: Sequence[str], rows: Sequence[Sequence[str]], caption: str = ""
) -> Table:
    """A table of aggregated regions whose rows begin with `code_and_name`."""
    first = ("aggregated region", *((NAME,) if partition.names else ()))
    return Table((*first, *headings), rows, len(first), caption=caption)


def map_caption(partition: Partition) -> str:
    """What the map shows."""
    polygons = partition.regions.polygons is not None
    made = "the polygons of the region file" if polygons else "cells around the points"
    return f"The {len(partition.codes):,} aggregated regions, drawn from {made}. Colours only tell neighbours apart."


@dataclass(frozen=True, eq=False)
class Facts:
    """Everything that the report for the file may draw on."""

    plan: Plan
    table: RecordTable
    result: RunResult
    options: ReleaseOptions
    written: Written
    checks: tuple[Check, ...]
    files: tuple[ReleasedFile, ...]
    maps: Maps
    pieces: NDArray[np.integer]
    document: Mapping[str, Any]
    place: PlaceVector
    told: Told
    telltales: tuple[Finding, ...]
