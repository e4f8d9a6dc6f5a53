"""The small tables of a release: the crosswalk, the aggregated regions, the checksums."""

from __future__ import annotations

import csv
import hashlib
import io
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vbas_desktop.algorithms.date_line import within_half_turn
from vbas_desktop.model.crosswalk import CROSSWALK, NAME
from vbas_desktop.model.listing import defuse_row, defused
from vbas_desktop.model.regions import CoordinateKind, CoordinateSystem
from vbas_desktop.model.tiers import FIRST_TIER

from .folder import ReleasedFile
from .plan import Partition, Plan

AGGREGATED = ("aggregated_region", "x", "y", "initial_regions", "records")
TIERS = ("tier", "parent", "kind", "name")
"""What is told of each code besides, if there are tiers."""

INTERNAL = (*AGGREGATED, "suppressed_records", "anonymity", "pieces")


def crosswalk(partition: Partition, escape: bool = False) -> bytes:
    """Which aggregated region each initial region went into, and which place of each tier, in the order of the file;
    at the end the name of the aggregated region, if it has one.

    ``escape``: ids that a spreadsheet might run get an apostrophe.
    """
    ids = map(defused, partition.regions.ids) if escape else partition.regions.ids
    codes = [[tier.codes[number] for number in tier.membership.tolist()] for tier in partition.tiers]
    names = (*CROSSWALK, *(f"tier_{number}" for number in range(1, len(partition.tiers))))
    if partition.names:
        names = (*names, NAME)
        codes.append([partition.names[number] for number in partition.membership.tolist()])
    return _csv(names, zip(ids, *codes, strict=True))


def aggregated_regions(partition: Partition, escape: bool = False) -> bytes:
    """One line per code in their order, tier by tier; ``records`` are those released with it: at least k, or none.

    ``escape``: names that a spreadsheet might run get an apostrophe.
    """
    names = (*AGGREGATED, *(TIERS if partition.coarser else (NAME,) if partition.names else ()))
    rows: list[tuple[Any, ...]] = []
    for number, tier in enumerate(partition.tiers):
        more = tier_columns(tier, number) if partition.coarser else name_column(tier)
        names_told = map(defuse_row, more) if escape else more
        rows += [(*row, *rest) for row, rest in zip(_rows(tier), names_told, strict=True)]
    return _csv(names, rows)


def name_column(partition: Partition) -> list[tuple[str, ...]]:
    """The name of each aggregated region in the order of the codes, or nothing."""
    return [(partition.names[number],) if partition.names else () for number in code_order(partition)]


def tier_columns(tier: Partition, number: int) -> list[tuple[Any, ...]]:
    """Tier, parent, kind and name of each place of a tier, in the order of the codes."""
    title = getattr(tier, "title", FIRST_TIER)
    names = tier.names or [""] * len(tier.codes)
    return [(number, tier.parents[place], title, names[place]) for place in code_order(tier)]


def aggregated_regions_internal(plan: Plan, pieces: NDArray[np.integer], escape: bool = False) -> bytes:
    """The same with what was suppressed, the smallest released class and the number of pieces."""
    lost = plan.suppressed_by_region
    more = ((lost[number], plan.anonymity_by_region[number] or "", pieces[number]) for number in code_order(plan))
    rows = zip(_rows(plan), more, map(defuse_row, name_column(plan)) if escape else name_column(plan), strict=True)
    return _csv((*INTERNAL, NAME) if plan.names else INTERNAL, ((*row, *rest, *name) for row, rest, name in rows))


def code_order(partition: Partition) -> list[int]:
    """The numbers of the aggregated regions in the order of their codes."""
    return sorted(range(len(partition.codes)), key=partition.codes.__getitem__)


def file_coordinates(points: NDArray[np.float64], system: CoordinateSystem) -> NDArray[np.float64]:
    """Points in the coordinates of the region file: longitude and latitude where these were projected for computing."""
    if system.kind is CoordinateKind.DEGREES:
        return np.column_stack((points[:, 0], within_half_turn(points[:, 1])))
    if system.kind is not CoordinateKind.GEOGRAPHIC or system.definition is None or not len(points):
        return points
    return np.column_stack(to_degrees(system.definition)(points[:, 0], points[:, 1]))


@lru_cache(2)
def to_degrees(definition: Any) -> Callable[..., tuple[NDArray[np.float64], NDArray[np.float64]]]:
    """What makes longitude and latitude of the coordinates of a system; each tier asks for it again."""
    from pyproj import Transformer

    transform: Callable[..., Any] = Transformer.from_crs(definition, "EPSG:4326", always_xy=True).transform
    return transform


def checksums(files: Iterable[ReleasedFile]) -> bytes:
    """The lines of ``SHA256SUMS``, as ``sha256sum --check`` reads them."""
    return "".join(f"{file.sha256}  {file.path}\n" for file in files).encode()


def listed(folder: Path, known: Mapping[str, str]) -> tuple[ReleasedFile, ...]:
    """Every file below a folder with its size and SHA-256; ``known`` has hashes that need not be computed again."""
    paths = sorted(path for path in folder.rglob("*") if path.is_file())
    names = [path.relative_to(folder).as_posix() for path in paths]
    return tuple(
        ReleasedFile(name, path.stat().st_size, known.get(name) or _hash(path))
        for name, path in zip(names, paths, strict=True)
    )


def _hash(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _rows(partition: Partition) -> Iterable[tuple[Any, ...]]:
    places = file_coordinates(partition.centres, partition.regions.system)
    for number in code_order(partition):
        x, y = places[number]
        members, released = partition.members_by_region[number], partition.released_by_region[number]
        yield partition.codes[number], f"{x:.10g}", f"{y:.10g}", int(members), int(released)


def _csv(names: Sequence[str], rows: Iterable[Sequence[Any]]) -> bytes:
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(names)
    writer.writerows(rows)
    return text.getvalue().encode()
