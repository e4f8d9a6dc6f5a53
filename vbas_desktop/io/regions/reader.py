"""Load region files of every kind as `Regions`.

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

from vbas_desktop.model.findings import Finding, FindingList, InputError
from vbas_desktop.model.progress import NO_PROGRESS, Progress
from vbas_desktop.model.records import as_readonly
from vbas_desktop.model.regions import Regions
from vbas_desktop.settings.reading import RegionReading

from .. import input_checks
from . import geometry_files
from .coordinates import CHOICES, project_regions
from .crosswalk import load_earlier_partition
from .map_layers import load_obstacles
from .numbers import DECIMALS, parse_numbers
from .raw_regions import check_distinct_points
from .region_map import load_region_map
from .text_table import read_header, read_text_regions, read_text_table

__all__ = ["RegionReading", "load_regions"]


def load_regions(
    path: str | Path,
    options: RegionReading = RegionReading(),  # noqa: B008
    progress: Progress = NO_PROGRESS,
) -> Regions:
    """Load the regions of a file. Raises `InputError` with all problems together."""
    path = Path(path)
    findings = FindingList(path.name)
    progress.update("Reading regions", 0.0)
    _check_options(path, options, findings)
    input_checks.check_text_table(path, shapes_too=True)
    read = (
        geometry_files.read_geometry_regions
        if path.suffix.lower() in geometry_files.ENDINGS
        else read_text_regions
    )
    raw = read(path, options, findings)
    progress.update("Reading regions", 0.5)
    points, polygons, system = project_regions(raw, options.coordinates, findings)
    check_distinct_points(points, raw.rows, findings)
    progress.update("Reading regions", 0.7)
    obstacles, remarks = load_obstacles(options.obstacles, system, points)
    progress.update("Reading regions", 0.8)
    regions = Regions(
        ids=raw.ids,
        points=as_readonly(points),
        system=system,
        polygons=None if polygons is None else as_readonly(polygons),
        source=geometry_files.describe_source(path),
        names=raw.names,
        labels=raw.labels,
        numbers=raw.numbers,
        columns=raw.columns,
        findings=(*findings.stop_on_errors(), *remarks),
        obstacles=obstacles,
        earlier=load_earlier_partition(options.coarsen_from, raw.ids),
        mapping=load_region_map(options.region_map, raw.ids),
    )
    progress.update("Reading regions", 1.0)
    return regions


def _check_options(path: Path, options: RegionReading, findings: FindingList) -> None:
    for name, chosen, allowed in (
        ("coordinates", options.coordinates, CHOICES),
        ("decimal", options.decimal, DECIMALS),
    ):
        if chosen not in allowed:
            findings.add(
                f"unknown-{name}", f"“{chosen}” is not known.", f"Use one of {', '.join(allowed)}."
            )
    input_checks.check_local(path)
    if not path.exists():
        findings.note(
            Finding("missing-file", input_checks.NO_SUCH_FILE, "Check the path.", file=str(path))
        )
    elif path.is_dir():
        findings.note(
            Finding("missing-file", input_checks.IS_FOLDER, "Choose a file in it.", file=str(path))
        )
    elif not path.is_file():
        input_checks.check_readable(path)
    elif path.stat().st_size == 0:
        findings.add("empty-file", "The file is empty.", "Choose a file with regions.")
    findings.stop_on_errors()


def read_region_numbers(
    path: Path,
    columns: Sequence[str],
    options: RegionReading = RegionReading(),  # noqa: B008
) -> dict[str, NDArray[np.float64]]:
    """Read columns of numbers in file order. Raises `InputError` if one is missing or has other values."""
    findings = FindingList(path.name)
    if not columns:
        return {}
    if path.suffix.lower() in geometry_files.ENDINGS:
        numbers = geometry_files.read_layer_numbers(path, columns, options.layer, findings)
    else:
        table = read_text_table(path, options, findings)
        texts = {name: table.column(name) for name in columns if name in table.header}
        numbers = dict(
            zip(texts, parse_numbers(texts, table.rows, options.decimal, findings), strict=True)
        )
    for name in columns:
        if name not in numbers:
            findings.add("missing-column", f"There is no column “{name}”.", "Check the name.")
    findings.stop_on_errors()
    return numbers


def read_columns_and_layers(
    path: Path, options: RegionReading
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Read the columns of a region file and, if it is a geometry file, its layers.

    Both are empty if the file cannot be read: its problems are reported when it is loaded.
    """
    if not path.is_file():
        return (), ()
    try:
        if path.suffix.lower() in geometry_files.ENDINGS:
            return geometry_files.read_layer_names(path, options.layer)
        return read_header(path, options), ()
    except (InputError, OSError, ValueError, RuntimeError, csv.Error):
        return (), ()
