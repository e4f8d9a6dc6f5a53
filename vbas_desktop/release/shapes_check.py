"""Are the written shapes what they claim to be? Reads the files back and compares them with regions and tables."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import scipy.spatial
import shapely
from numpy.typing import NDArray

from vbas_desktop.algorithms.coverage import Shapes
from vbas_desktop.algorithms.places import place_numbers
from vbas_desktop.model.errors import Check, VerificationFailed
from vbas_desktop.model.regions import Regions

from .geometry import LAYER, Placed
from .plan import Partition
from .tables import AGGREGATED, code_order

_SLACK = 1e-9
"""What floating-point numbers may lose, as a share of an area."""

_PLACES = 1000
"""Places by which cells are tested."""

_PROPERTIES = tuple(name for name in AGGREGATED if name not in ("x", "y"))


@dataclass(frozen=True, eq=False)
class _Read:
    """The features of a file in its order: code, number of initial regions and records as text, and the shape."""

    rows: list[tuple[str, ...]]
    shapes: Shapes


def check_shapes(partition: Partition, placed: Sequence[Placed], path: Path, table: Path) -> tuple[Check, ...]:
    """All checks of one file of shapes, passed; `VerificationFailed` names those that were not.

    ``placed`` are the shapes of each tier, ``table`` is the written list of the aggregated regions, which must tell the
    same.
    """
    try:
        read = _geojson(path) if path.suffix == ".geojson" else _geopackage(path)
        same = read.rows == _table(table)
    except (OSError, ValueError, KeyError, TypeError, RuntimeError, shapely.errors.ShapelyError) as error:
        checks = [Check(f"{path.name} can be read back", False, type(error).__name__)]
    else:
        checks = [Check(f"{path.name}: one shape for every aggregated region, with its code and counts", same)]
        start = 0
        for number, (tier, drawn) in enumerate(zip(partition.tiers, placed, strict=True)):
            name = f"{path.name}, tier {number}" if partition.coarser else path.name
            if same:
                checks += _checks(tier, drawn, read.shapes[start : start + len(tier.codes)], name)
            start += len(tier.codes)
    failed = "; ".join(f"{check.name}: no ({check.detail})" for check in checks if not check.passed)
    if failed:
        raise VerificationFailed(
            f"The written shapes did not pass their verification ({failed}). Nothing was released."
        )
    return tuple(checks)


def _checks(plan: Partition, placed: Placed, shapes: Shapes, name: str) -> Iterable[Check]:
    exact = placed.exact[code_order(plan)]
    wrong = int((~shapely.is_valid(shapes) | shapely.is_empty(shapes) | (shapely.area(shapes) <= 0)).sum())
    yield Check(f"{name}: every shape is valid and has an area", wrong == 0, f"{wrong:,} are not")
    if wrong:
        return
    before, after = shapely.area(exact), shapely.area(shapes)
    allowed = 2 * placed.grid * shapely.length(exact) + _SLACK * before.sum()
    differ = int((np.abs(after - before) > allowed).sum())
    sums = (
        abs(float(after.sum() - before.sum()))
        <= float(allowed.max(initial=0)) + placed.grid * shapely.length(exact).sum()
    )
    yield Check(
        f"{name}: the areas are those before rounding",
        differ == 0 and sums,
        f"sum {after.sum():.9g}, before {before.sum():.9g}; {differ:,} differ",
    )
    overlap = _overlap(shapes)
    more = overlap - (_overlap(exact) if overlap > float(allowed.min(initial=0)) else 0.0)
    yield Check(f"{name}: no two shapes overlap", more <= float(allowed.sum()), f"{max(0.0, more):.3g} too much")
    strangers = _strangers(plan, placed, shapes)
    yield Check(
        f"{name}: every initial region lies in the shape of its aggregated region",
        strangers == 0,
        f"{strangers:,} do not",
    )
    if plan.cell_sites is not None:
        misplaced = _misplaced(plan, placed, shapes, plan.cell_sites)
        yield Check(
            f"{name}: {_PLACES:,} random places lie in the cell of their nearest site",
            misplaced == 0,
            f"{misplaced:,} do not",
        )


def _misplaced(plan: Partition, placed: Placed, shapes: Shapes, sites: NDArray[np.float64]) -> int:
    """Count random places of the map that lie in the shape of another site than the nearest.

    Places on a border, as far as it is rounded, belong to both sides; those outside all shapes are not on the map.
    """
    low, high = shapely.total_bounds(shapely.points(plan.regions.points)).reshape(2, 2)
    places = low + np.random.default_rng(0).random((_PLACES, 2)) * (high - low)
    _, nearest_site = scipy.spatial.cKDTree(sites).query(places)
    feature = np.empty(len(plan.codes), np.int64)
    feature[code_order(plan)] = np.arange(len(plan.codes))
    nearest = feature[nearest_site]
    spots = shapely.points(placed.to_file(places))
    on_map = np.unique(shapely.STRtree(shapes).query(spots, predicate="intersects")[0])
    apart = shapely.distance(shapes[nearest[on_map]], spots[on_map])
    return int((apart > _border_slack(placed, shapes)).sum())


def _border_slack(placed: Placed, shapes: Shapes) -> float:
    """How far the border of a cell may be from where it is exactly."""
    extent = float(np.abs(shapely.total_bounds(shapes)).max(initial=0.0))
    return 5 * placed.grid + _SLACK * extent


def _overlap(shapes: Shapes) -> float:
    """The area that lies in two shapes; what the initial regions share themselves is in it."""
    if shapely.coverage_is_valid(shapes):
        return 0.0
    shapes = shapely.make_valid(shapes)
    one, other = shapely.STRtree(shapes).query(shapes, predicate="intersects")
    one, other = one[one < other], other[one < other]
    return float(shapely.area(shapely.intersection(shapes[one], shapes[other])).sum())


def _strangers(plan: Partition, placed: Placed, shapes: Shapes) -> int:
    """How many initial regions lie outside the shape of their aggregated region."""
    regions = plan.regions
    feature = np.empty(len(plan.codes), np.int64)
    feature[code_order(plan)] = np.arange(len(plan.codes))
    own = feature[plan.membership]
    shapely.prepare(shapes)
    points = _inner_points(regions) if plan.cell_sites is None else regions.points
    spots = shapely.points(placed.to_file(points))
    out = np.flatnonzero(~shapely.intersects(shapes[own], spots))
    allowed = 2 * placed.grid if plan.cell_sites is None else _border_slack(placed, shapes)
    out = out[shapely.distance(shapes[own[out]], spots[out]) > allowed]
    if plan.cell_sites is not None:
        return int(out.size)
    return sum(not _excused(int(number), regions, points, placed, shapes, own) for number in out)


def _inner_points(regions: Regions) -> NDArray[np.float64]:
    """A point in each region's polygon, or its point where it has none."""
    points = regions.points.copy()
    if regions.polygons is not None:
        drawn = np.flatnonzero(~(shapely.is_missing(regions.polygons) | shapely.is_empty(regions.polygons)))
        points[drawn] = shapely.get_coordinates(shapely.point_on_surface(regions.polygons[drawn]))
    return points


def _excused(
    number: int, regions: Regions, points: NDArray[np.float64], placed: Placed, shapes: Shapes, own: NDArray[np.int64]
) -> bool:
    """Regions at one place share its cell in strips; of polygons that overlap in the file, each has the rest."""
    polygon = None if regions.polygons is None else regions.polygons[number]
    if polygon is not None and not polygon.is_empty:
        moved = shapely.make_valid(shapely.transform(polygon, placed.to_file))
        return bool(shapely.intersection(moved, shapes[own[number]]).area > 0)
    _, place = place_numbers(points)
    spot = shapely.Point(placed.to_file(points[number : number + 1])[0])
    near = shapes[np.unique(own[place == place[number]])]
    return bool((shapely.distance(near, spot) <= 2 * placed.grid).any())


def _geojson(path: Path) -> _Read:
    text = path.read_text(encoding="utf-8")
    features: list[Any] = json.loads(text)["features"]
    rows = [tuple(str(feature["properties"][name]) for name in _PROPERTIES) for feature in features]
    shapes = shapely.get_parts(shapely.from_geojson(text))
    if len(shapes) != len(rows):
        raise ValueError("a feature has no shape")
    return _Read(rows, shapes)


def _geopackage(path: Path) -> _Read:
    import pyogrio.raw

    meta, _, geometry, fields = pyogrio.raw.read(path, layer=LAYER)
    columns = dict(zip([str(name) for name in meta["fields"]], fields, strict=True))
    rows = list(zip(*([str(value) for value in columns[name].tolist()] for name in _PROPERTIES), strict=True))
    return _Read(rows, shapely.from_wkb(geometry))


def _table(path: Path) -> list[tuple[str, ...]]:
    with path.open(encoding="utf-8", newline="") as file:
        return [tuple(row[name] for name in _PROPERTIES) for row in csv.DictReader(file)]
