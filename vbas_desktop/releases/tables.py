"""The small tables of a release: the crosswalk, the aggregated regions, the format_checksums."""

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

from vbas_desktop.algorithms.antimeridian import wrap_longitudes
from vbas_desktop.model.regions import CoordinateKind, CoordinateSystem
from vbas_desktop.model.text import escape_formula, escape_formulas
from vbas_desktop.model.tiers import CROSSWALK, FIRST_TIER, NAME

from .folder import ReleasedFile
from .plan import ReleasedPartition, ReleasePlan

AGGREGATED: tuple[str, ...] = ("aggregated_region", "x", "y", "initial_regions", "records")
TIERS = ("tier", "parent", "kind", "name")
"""What is told of each code besides, if there are tiers."""

INTERNAL = (*AGGREGATED, "suppressed_records", "anonymity", "pieces")


def crosswalk(partition: ReleasedPartition, escape: bool = False) -> bytes:
    """Write the aggregated region of each initial region and its area in each tier, in the order of the region file;
    at the end the name of the aggregated region, if it has one.

    ``escape``: ids that a spreadsheet might run get an apostrophe.
    """
    ids = map(escape_formula, partition.regions.ids) if escape else partition.regions.ids
    codes = [[tier.codes[number] for number in tier.membership.tolist()] for tier in partition.tiers]
    names = (*CROSSWALK, *(f"tier_{number}" for number in range(1, len(partition.tiers))))
    if partition.names:
        names = (*names, NAME)
        codes.append([partition.names[number] for number in partition.membership.tolist()])
    return _format_csv(names, zip(ids, *codes, strict=True))


def aggregated_regions(partition: ReleasedPartition, escape: bool = False) -> bytes:
    """Write one line per code, tier by tier; ``records`` are those released with it: at least k, or none.

    ``escape``: names that a spreadsheet might run get an apostrophe.
    """
    names = (*AGGREGATED, *(TIERS if partition.coarser else (NAME,) if partition.names else ()))
    rows: list[tuple[Any, ...]] = []
    for number, tier in enumerate(partition.tiers):
        extra_columns = tier_columns(tier, number) if partition.coarser else name_column(tier)
        written_columns = map(escape_formulas, extra_columns) if escape else extra_columns
        rows += [(*row, *rest) for row, rest in zip(_list_rows(tier), written_columns, strict=True)]
    return _format_csv(names, rows)


def name_column(partition: ReleasedPartition) -> list[tuple[str, ...]]:
    """Return for each code, in their order, a row with the name of its region; empty rows if regions have no names."""
    return [(partition.names[number],) if partition.names else () for number in code_order(partition)]


def tier_columns(tier: ReleasedPartition, number: int) -> list[tuple[Any, ...]]:
    """Tier, parent, kind and name of each place of a tier, in the order of the codes."""
    title = getattr(tier, "title", FIRST_TIER)
    names = tier.names or [""] * len(tier.codes)
    return [(number, tier.parents[region], title, names[region]) for region in code_order(tier)]


def list_regions_internally(
    plan: ReleasePlan, pieces: NDArray[np.integer], escape: bool = False
) -> bytes:
    """Write the table of regions with suppressed records, smallest released class and number of pieces."""
    suppressed = plan.suppressed_by_region
    internal_columns = (
        (suppressed[number], plan.anonymity_by_region[number] or "", pieces[number])
        for number in code_order(plan)
    )
    rows = zip(
        _list_rows(plan),
        internal_columns,
        map(escape_formulas, name_column(plan)) if escape else name_column(plan),
        strict=True,
    )
    return _format_csv(
        (*INTERNAL, NAME) if plan.names else INTERNAL, ((*row, *rest, *name) for row, rest, name in rows)
    )


def code_order(partition: ReleasedPartition) -> list[int]:
    """List the numbers of the aggregated regions in the order of their codes."""
    return sorted(range(len(partition.codes)), key=partition.codes.__getitem__)


def file_coordinates(points: NDArray[np.float64], system: CoordinateSystem) -> NDArray[np.float64]:
    """Convert points to the coordinates of the region file: longitude and latitude where these were projected."""
    if system.kind is CoordinateKind.DEGREES:
        return np.column_stack((points[:, 0], wrap_longitudes(points[:, 1])))
    if system.kind is not CoordinateKind.GEOGRAPHIC or system.definition is None or not len(points):
        return points
    return np.column_stack(to_degrees(system.definition)(points[:, 0], points[:, 1]))


@lru_cache(2)
def to_degrees(definition: Any) -> Callable[..., tuple[NDArray[np.float64], NDArray[np.float64]]]:
    """Return the function that converts coordinates of a system to longitude and latitude; cached for the tiers."""
    from pyproj import Transformer

    transform: Callable[..., Any] = Transformer.from_crs(
        definition, "EPSG:4326", always_xy=True
    ).transform
    return transform


def format_checksums(files: Iterable[ReleasedFile]) -> bytes:
    """Format the lines of ``SHA256SUMS``, as ``sha256sum --check`` reads them."""
    return "".join(f"{file.sha256}  {file.path}\n" for file in files).encode()


def list_files(folder: Path, known_hashes: Mapping[str, str]) -> tuple[ReleasedFile, ...]:
    """List every file below a folder with its size and SHA-256; the hashes in ``known`` are not computed again."""
    paths = sorted(path for path in folder.rglob("*") if path.is_file())
    names = [path.relative_to(folder).as_posix() for path in paths]
    return tuple(
        ReleasedFile(name, path.stat().st_size, known_hashes.get(name) or _hash(path))
        for name, path in zip(names, paths, strict=True)
    )


def _hash(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _list_rows(partition: ReleasedPartition) -> Iterable[tuple[Any, ...]]:
    centres = file_coordinates(partition.centres, partition.regions.system)
    for number in code_order(partition):
        x, y = centres[number]
        members = partition.members_by_region[number]
        released = partition.released_by_region[number]
        yield partition.codes[number], f"{x:.10g}", f"{y:.10g}", int(members), int(released)


def _format_csv(names: Sequence[str], rows: Iterable[Sequence[Any]]) -> bytes:
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(names)
    writer.writerows(rows)
    return text.getvalue().encode()
