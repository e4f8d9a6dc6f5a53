"""Make the regions of synthetic records: an invented country with towns, or those of a file; and the small tables."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from vbas_desktop.model.findings import input_error
from vbas_desktop.model.regions import CoordinateKind, Regions

from ..regions.coordinates import choose_projection, from_lon_lat, to_lon_lat
from ..regions.reader import RegionReading, load_regions, read_region_numbers
from .spec import Geography, RegionPlan, Spec


@dataclass(frozen=True, eq=False)
class SyntheticRegions:
    """The regions of a generated set: ids, plane points, degrees where known, and their number of records."""

    ids: tuple[str, ...]
    points: NDArray[np.float64]
    lon_lat: NDArray[np.float64] | None
    records: NDArray[np.int64]
    names: tuple[str, ...] | None = None


def build_regions(
    spec: Spec, regions: int | Path | None, records: int | None, rng: np.random.Generator
) -> tuple[SyntheticRegions, dict[str, NDArray[np.float64]]]:
    """Make the regions with their number of records, and read the columns of the region file that the spec asks for."""
    plan = spec.regions
    generators = rng.spawn(2)
    path = regions if isinstance(regions, Path) else plan.file if regions is None else None
    columns: dict[str, NDArray[np.float64]] = {}
    if path is not None:
        options = RegionReading(id_column=plan.id_column)
        loaded = load_regions(path, options)
        needed = [tilt.column for attribute in spec.attributes for tilt in attribute.tilts]
        needed += [plan.population_column] if plan.population_column else []
        columns = read_region_numbers(path, sorted(set(needed)), options)
        ids = loaded.ids
        points = loaded.points
        lon_lat = _to_degrees(loaded)
        names = loaded.names
    else:
        _refuse_region_columns(spec)
        lon_lat = invent_geography(
            plan.geography, regions if isinstance(regions, int) else plan.count, generators[0]
        )
        points = np.round(from_lon_lat(lon_lat, choose_projection(lon_lat)), 2)
        ids = tuple(str(plan.geography.first_id + i) for i in range(len(points)))
        names = None
    total = records
    if (
        total is None
        and (path is None or path == plan.file)
        and len(ids) == _planned_count(plan, len(ids))
    ):
        total = spec.records
    sizes = distribute_records(
        plan, columns.get(plan.population_column or ""), len(ids), total, generators[1]
    )
    return SyntheticRegions(ids, points, lon_lat, sizes, names), columns


def _planned_count(plan: RegionPlan, present: int) -> int:
    return present if plan.file is not None else plan.count


def _refuse_region_columns(spec: Spec) -> None:
    """Raise `InputError` if the spec needs columns of a region file, which invented regions do not have."""
    if any(attribute.tilts for attribute in spec.attributes) or spec.regions.population_column:
        raise input_error(
            "missing-column",
            "The spec asks for columns of a region file, but the regions are invented.",
            "Name a region file, or leave out tilts and population_column.",
        )


def _to_degrees(regions: Regions) -> NDArray[np.float64] | None:
    if regions.system.kind is CoordinateKind.DEGREES:
        return regions.points[:, ::-1]
    return (
        None
        if regions.system.definition is None
        else to_lon_lat(regions.points, regions.system.definition)
    )


def invent_geography(geography: Geography, count: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """Invent longitudes and latitudes of ``count`` regions, town by town, from the middle of each town outwards."""
    half = np.array(geography.extent_km) * 500.0
    land = _Land(half, rng)
    towns = land.draw_points(geography.towns, rng)
    share = 1 / np.arange(1, geography.towns + 1) ** 0.9
    town = rng.choice(geography.towns, count, p=share / share.sum())
    reach = 0.035 * np.sqrt(share / share[0]) * float(half.max())
    rural = rng.random(count) < geography.rural
    distance = np.where(rural, rng.gamma(1.5, 5.0, count), rng.gamma(1.6, 0.6, count)) * reach[town]
    angle = rng.uniform(0, 2 * np.pi, count)
    points = towns[town] + distance[:, None] * np.column_stack([np.cos(angle), np.sin(angle)])
    wet = ~land.contains(points)
    points[wet] = land.draw_points(int(wet.sum()), rng)
    order = np.lexsort((distance, wet, town))
    lon, lat = geography.centre
    plane = (
        f"+proj=lcc +lat_0={lat} +lon_0={lon} +lat_1={lat} +lat_2={lat} +datum=WGS84 +units=m +no_defs"
    )
    if abs(lat) < 0.02:
        plane = f"+proj=merc +lon_0={lon} +datum=WGS84 +units=m +no_defs"
    return np.round(to_lon_lat(points[order], plane), 6)


class _Land:
    """Land of a random outline: where a sum of waves and a dome over the middle is positive."""

    def __init__(self, half: NDArray[np.float64], rng: np.random.Generator) -> None:
        self._half = half
        self._waves = rng.standard_normal((2, 24)) * 3.2
        self._phase = rng.uniform(0, 2 * np.pi, 24)

    def contains(self, points: NDArray[np.float64]) -> NDArray[np.bool_]:
        """Tell for each point whether it is on land."""
        scaled = points / self._half
        coast = np.cos(scaled @ self._waves + self._phase).sum(axis=1) * 0.12
        inside: NDArray[np.bool_] = coast + 0.75 - (scaled**2).sum(axis=1) > 0
        return inside

    def draw_points(self, count: int, rng: np.random.Generator) -> NDArray[np.float64]:
        """Draw points that are spread evenly over the land."""
        accepted = np.empty((0, 2))
        for _ in range(1000):
            if len(accepted) >= count:
                break
            candidates = rng.uniform(-1, 1, (2 * count + 64, 2)) * self._half
            accepted = np.vstack([accepted, candidates[self.contains(candidates)]])
        else:  # an outline without land: use the whole box
            accepted = rng.uniform(-1, 1, (count, 2)) * self._half
        return accepted[:count]


def distribute_records(
    plan: RegionPlan,
    population: NDArray[np.float64] | None,
    regions: int,
    total: int | None,
    rng: np.random.Generator,
) -> NDArray[np.int64]:
    """Distribute records over regions: by population, or between the smallest and largest number; exact in total."""
    low, high = plan.records_per_region
    if population is not None:
        if population.min() < 0 or population.sum() <= 0:
            raise input_error(
                "wrong-value",
                "A population is negative, or all are zero.",
                column=plan.population_column,
            )
        return apportion(population, int(population.sum()) if total is None else total)
    sizes = rng.integers(low, high, regions, endpoint=True)
    if total is None:
        return sizes
    if not regions * low <= total <= regions * high:
        return apportion(np.maximum(sizes, 1).astype(float), total)
    while (missing := total - int(sizes.sum())) != 0:
        able = np.flatnonzero(sizes < high if missing > 0 else sizes > low)
        sizes[rng.permutation(able)[: abs(missing)]] += 1 if missing > 0 else -1
    return sizes


def apportion(weights: NDArray[np.float64], total: int) -> NDArray[np.int64]:
    """Apportion a total to whole numbers proportional to weights (largest remainders, ties to the first)."""
    ideal = weights / weights.sum() * total
    sizes = np.floor(ideal).astype(np.int64)
    order = np.argsort(sizes - ideal, kind="stable")
    sizes[order[: total - int(sizes.sum())]] += 1
    return sizes


def category_values(labels: Sequence[str], as_text: bool) -> list[str]:
    """Return what the records have for each category: its label or its number from 1."""
    return list(labels) if as_text else [str(number) for number in range(1, len(labels) + 1)]


def region_rows(regions: SyntheticRegions) -> Iterator[list[object]]:
    """Yield the rows of regions.csv: id, degrees where known, plane coordinates, number of records, name."""
    head: list[object] = [
        "id",
        *(["longitude", "latitude"] if regions.lon_lat is not None else []),
        "x",
        "y",
        "records",
    ]
    yield head + (["name"] if regions.names is not None else [])
    for i, id in enumerate(regions.ids):
        degrees = [] if regions.lon_lat is None else [f"{value:.6f}" for value in regions.lon_lat[i]]
        row: list[object] = [
            id,
            *degrees,
            *(f"{value:.2f}" for value in regions.points[i]),
            int(regions.records[i]),
        ]
        yield row + ([regions.names[i]] if regions.names is not None else [])


def codebook_rows(
    spec: Spec, categories: list[tuple[str, ...]], as_text: bool, counts: list[NDArray[np.int64]]
) -> Iterator[list[object]]:
    """Yield the rows of codebook.csv: each category with the number of records that have it."""
    yield ["column", "code", "value", "label", "role", "records"]
    for attribute, labels, count in zip(spec.attributes, categories, counts, strict=True):
        for code, (value, label) in enumerate(
            zip(category_values(labels, as_text), labels, strict=True)
        ):
            yield [attribute.name, code + 1, value, label, attribute.role, int(count[code])]


def generalise_rows(spec: Spec, as_text: bool) -> Iterator[list[object]]:
    """Yield the rows of generalise.csv: the group of each category, for the attributes that have groups."""
    yield ["column", "value", "group"]
    for attribute in spec.attributes:
        if attribute.groups != attribute.labels:
            written_group = dict(
                zip(
                    attribute.group_labels, category_values(attribute.group_labels, as_text), strict=True
                )
            )
            for value, group in zip(
                category_values(attribute.labels, as_text), attribute.groups, strict=True
            ):
                yield [attribute.name, value, written_group[group]]


def write_table(path: Path, rows: Iterator[list[object]]) -> None:
    """Write the rows as CSV."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    path.write_text(text.getvalue(), encoding="utf-8", newline="")
