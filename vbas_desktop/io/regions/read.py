"""Region files of every kind become `Regions`.

A text file has an id and two coordinates per line; GeoJSON, GeoPackage and Shapefile have a polygon or point per
feature. Polygons are kept, and the point of a region is the centroid of its polygon, or where that lies outside a
point on its surface.
"""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from vbas_desktop.io.access import IS_FOLDER, NO_SUCH_FILE, check_is_table, check_local, check_readable
from vbas_desktop.model.errors import Finding, InputError
from vbas_desktop.model.findings import FindingList
from vbas_desktop.model.progress import Progress, Silent
from vbas_desktop.model.records import frozen
from vbas_desktop.model.regions import Regions
from vbas_desktop.settings.reading import RegionOptions

from .coordinates import CHOICES, place
from .earlier import load_earlier
from .geo import ENDINGS, layer_names, layer_numbers, read_raw_layer, source_of
from .mapping import load_region_map
from .numbers import DECIMALS, numbers_of
from .obstacles import load_obstacles
from .raw import RawRegions, check_identical
from .text import read_header, read_raw_csv, read_table

__all__ = ["RegionOptions", "load_regions", "source_of"]


def load_regions(
    path: str | Path,
    options: RegionOptions = RegionOptions(),  # noqa: B008
    progress: Progress = Silent(),  # noqa: B008
) -> Regions:
    """The regions of a file, ready to be computed with; everything wrong with it comes in one `InputError`."""
    path = Path(path)
    findings = FindingList(path.name)
    progress.update("Reading regions", 0.0)
    _check_options(path, options, findings)
    check_is_table(path, shapes_too=True)
    raw = _read(path, options, findings)
    progress.update("Reading regions", 0.5)
    points, polygons, system = place(raw, options.coordinates, findings)
    check_identical(points, raw.rows, findings)
    progress.update("Reading regions", 0.7)
    obstacles, remarks = load_obstacles(options.obstacles, system, points)
    progress.update("Reading regions", 0.8)
    regions = Regions(
        ids=raw.ids,
        points=frozen(points),
        system=system,
        polygons=None if polygons is None else frozen(polygons),
        source=source_of(path),
        names=raw.names,
        labels=raw.labels,
        numbers=raw.numbers,
        columns=raw.columns,
        findings=(*findings.stop_on_errors(), *remarks),
        obstacles=obstacles,
        earlier=load_earlier(options.coarsen_from, raw.ids),
        mapping=load_region_map(options.region_map, raw.ids),
    )
    progress.update("Reading regions", 1.0)
    return regions


def _check_options(path: Path, options: RegionOptions, findings: FindingList) -> None:
    for name, chosen, known in (("coordinates", options.coordinates, CHOICES), ("decimal", options.decimal, DECIMALS)):
        if chosen not in known:
            findings.add(f"unknown-{name}", f"“{chosen}” is not known.", f"Use one of {', '.join(known)}.")
    check_local(path)
    if not path.exists():
        findings.note(Finding("missing-file", NO_SUCH_FILE, "Check the path.", file=str(path)))
    elif path.is_dir():
        findings.note(Finding("missing-file", IS_FOLDER, "Choose a file in it.", file=str(path)))
    elif not path.is_file():
        check_readable(path)
    elif path.stat().st_size == 0:
        findings.add("empty-file", "The file is empty.", "Choose a file with regions.")
    findings.stop_on_errors()


def _read(path: Path, options: RegionOptions, findings: FindingList) -> RawRegions:
    read = read_raw_layer if path.suffix.lower() in ENDINGS else read_raw_csv
    return read(path, options, findings)


def region_numbers(
    path: Path,
    columns: Sequence[str],
    options: RegionOptions = RegionOptions(),  # noqa: B008
) -> dict[str, NDArray[np.float64]]:
    """The named columns in file order; raises `InputError` if one is missing or not all numbers."""
    findings = FindingList(path.name)
    if not columns:
        return {}
    if path.suffix.lower() in ENDINGS:
        found = layer_numbers(path, columns, options.layer, findings)
    else:
        table = read_table(path, options, findings)
        texts = {name: table.column(name) for name in columns if name in table.header}
        found = dict(zip(texts, numbers_of(texts, table.rows, options.decimal, findings), strict=True))
    for name in columns:
        if name not in found:
            findings.add("missing-column", f"There is no column “{name}”.", "Check the name.")
    findings.stop_on_errors()
    return found


def region_names(path: Path, options: RegionOptions) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """What can be chosen of a region file: its columns and, if it is a geometry file, its layers.

    Nothing of a file that cannot be read: what is wrong with it is told when it is loaded.
    """
    if not path.is_file():
        return (), ()
    try:
        if path.suffix.lower() in ENDINGS:
            return layer_names(path, options.layer)
        return read_header(path, options), ()
    except (InputError, OSError, ValueError, RuntimeError, csv.Error):
        return (), ()
