"""What the reports of a release draw on, and what both say in the same words."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vbas_desktop.engine.place import PlaceVector
from vbas_desktop.model.crosswalk import NAME
from vbas_desktop.model.errors import Check, Finding
from vbas_desktop.model.records import RecordTable
from vbas_desktop.model.solution import RunResult
from vbas_desktop.release.column_coverage import ColumnCoverage
from vbas_desktop.release.disclosure import Told
from vbas_desktop.release.folder import ReleasedFile
from vbas_desktop.release.plan import Partition, Plan
from vbas_desktop.release.records import WrittenFile
from vbas_desktop.release.tables import code_order
from vbas_desktop.settings.release import ReleaseOptions

from .blocks import LONGEST, Block, Pairs, Paragraph, Table, left_out
from .figures import Maps
from .wording import WHAT_FILES_ARE


def why_safe(
    quasi_identifiers: Sequence[str],
    k: int,
    anonymity: int | None,
    in_tiers: bool = False,
    judged: Sequence[str] = (),
) -> list[Block]:
    """What the release protects against, and what it does not; ``judged`` are the sensitive columns with criteria."""
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
    return [Paragraph(safe), Paragraph(checked), Paragraph(_limits(judged), quiet=True)]


def _limits(judged: Sequence[str]) -> str:
    """What the release does not protect against."""
    against = "This protects against recognising people by the quasi-identifiers and the region."
    if not judged:
        return (
            f"{against} It says nothing about the other columns: if they can be known to outsiders, or if all records "
            "of a class share a sensitive value, further protection is needed."
        )
    names = ", ".join(f"“{name}”" for name in judged)
    return (
        f"{against} Every released class also meets the criteria for {names}; see Sensitive values. Nothing is said "
        "of the other columns: if they can be known to outsiders, or are sensitive, further protection is needed."
    )


def column_blocks(k: int, counted: Sequence[str], others: Sequence[str]) -> Iterator[Block]:
    """Name the released columns for which k holds, and those for which it does not."""
    yield Pairs(
        [
            (f"Counted: every combination has at least {k:,} records", ", ".join(counted)),
            ("Not counted: released as they are", ", ".join(others) or "none"),
        ]
    )


def files_table(files: Sequence[ReleasedFile]) -> Table:
    """The files of the release with their checksums."""
    rows = [
        (Path(file.path).name, WHAT_FILES_ARE.get(Path(file.path).name, ""), f"{file.size_bytes:,}", file.sha256)
        for file in files
    ]
    return Table(("file", "what it is", "bytes", "SHA-256"), rows, 2, 3)


def region_table(
    partition: Partition, order: Sequence[int], columns: Mapping[str, Callable[[int], str]], caption: str = ""
) -> Table:
    """The aggregated regions in this order: code, name if they have any, and what each column says of a number."""
    names = partition.names
    told: dict[str, Callable[[int], str]] = {"aggregated region": partition.codes.__getitem__}
    if names is not None:
        told[NAME] = names.__getitem__
    every = {**told, **columns}
    rows = [[text(number) for text in every.values()] for number in order[:LONGEST]]
    return Table(tuple(every), rows, len(told), caption=caption)


def counts(numbers: NDArray[np.integer]) -> Callable[[int], str]:
    """A column of `region_table` with the number of each region."""
    return lambda region: f"{numbers[region]:,}"


def region_blocks(partition: Partition, columns: Mapping[str, Callable[[int], str]]) -> Iterator[Block]:
    """All aggregated regions with their initial regions and released records, and more of each for the file."""
    own = {
        "initial regions": counts(partition.members_by_region),
        "records released": counts(partition.released_by_region),
    }
    order = code_order(partition)
    yield region_table(partition, order, {**own, **columns})
    yield from left_out(len(order), "aggregated_regions.csv")


def map_caption(partition: Partition) -> str:
    """What the map shows."""
    polygons = partition.regions.polygons is not None
    made = "the polygons of the region file" if polygons else "cells around the points"
    if partition.cell_sites is not None:
        made = "the Voronoi cells of their sites, clipped to the study area"
    return f"The {len(partition.codes):,} aggregated regions, drawn from {made}. Colours only tell neighbours apart."


@dataclass(frozen=True, eq=False)
class Facts:
    """Everything that the report for the file may draw on."""

    plan: Plan
    table: RecordTable
    result: RunResult
    options: ReleaseOptions
    written: WrittenFile
    checks: tuple[Check, ...]
    files: tuple[ReleasedFile, ...]
    maps: Maps
    pieces: NDArray[np.integer]
    document: Mapping[str, Any]
    place: PlaceVector
    told: Told
    telltales: tuple[Finding, ...]
    columns: ColumnCoverage | None = None
