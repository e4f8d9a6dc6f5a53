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

from vbas_desktop.algorithms.nearest_site import group_coincident_points
from vbas_desktop.algorithms.polygons import Shapes
from vbas_desktop.model.findings import Check, VerificationFailed
from vbas_desktop.model.regions import Regions

from .geometry import LAYER, ProjectedShapes
from .plan import ReleasedPartition
from .tables import AGGREGATED, code_order

_SLACK = 1e-9
"""What floating-point numbers may lose, as a share of an area."""

_N_TEST_POINTS = 1000
"""Places by which cells are tested."""

_PROPERTIES = tuple(name for name in AGGREGATED if name not in ("x", "y"))


@dataclass(frozen=True, eq=False)
class _ReadFeatures:
    """The features of a file in its order: code, number of initial regions and records as text, and the shape."""

    rows: list[tuple[str, ...]]
    shapes: Shapes


def check_shapes(
    partition: ReleasedPartition, projected: Sequence[ProjectedShapes], path: Path, table: Path
) -> tuple[Check, ...]:
    """Read a file of shapes back and return its checks; `VerificationFailed` names those that were not passed.

    projected: the shapes of each tier. table: the written list of the aggregated regions, which must have the same
    codes and counts.
    """
    try:
        read = _read_geojson(path) if path.suffix == ".geojson" else _read_geopackage(path)
        same = read.rows == _read_table(table)
    except (
        OSError,
        ValueError,
        KeyError,
        TypeError,
        RuntimeError,
        shapely.errors.ShapelyError,
    ) as error:
        checks = [Check(f"{path.name} can be read back", False, type(error).__name__)]
    else:
        checks = [
            Check(f"{path.name}: one shape for every aggregated region, with its code and counts", same)
        ]
        start = 0
        for number, (tier, drawn) in enumerate(zip(partition.tiers, projected, strict=True)):
            name = f"{path.name}, tier {number}" if partition.coarser else path.name
            if same:
                checks += _check_tier(tier, drawn, read.shapes[start : start + len(tier.codes)], name)
            start += len(tier.codes)
    failed = "; ".join(f"{check.name}: no ({check.detail})" for check in checks if not check.passed)
    if failed:
        raise VerificationFailed(
            f"The written shapes did not pass their verification ({failed}). Nothing was released."
        )
    return tuple(checks)


def _check_tier(
    plan: ReleasedPartition, projected: ProjectedShapes, shapes: Shapes, name: str
) -> Iterable[Check]:
    exact = projected.exact[code_order(plan)]
    wrong = int(
        (~shapely.is_valid(shapes) | shapely.is_empty(shapes) | (shapely.area(shapes) <= 0)).sum()
    )
    yield Check(f"{name}: every shape is valid and has an area", wrong == 0, f"{wrong:,} are not")
    if wrong:
        return
    before = shapely.area(exact)
    after = shapely.area(shapes)
    allowed = 2 * projected.grid * shapely.length(exact) + _SLACK * before.sum()
    differ = int((np.abs(after - before) > allowed).sum())
    sums = (
        abs(float(after.sum() - before.sum()))
        <= float(allowed.max(initial=0)) + projected.grid * shapely.length(exact).sum()
    )
    yield Check(
        f"{name}: the areas are those before rounding",
        differ == 0 and sums,
        f"sum {after.sum():.9g}, before {before.sum():.9g}; {differ:,} differ",
    )
    overlap = _measure_overlap(shapes)
    more = overlap - (_measure_overlap(exact) if overlap > float(allowed.min(initial=0)) else 0.0)
    yield Check(
        f"{name}: no two shapes overlap", more <= float(allowed.sum()), f"{max(0.0, more):.3g} too much"
    )
    regions_outside = _count_regions_outside(plan, projected, shapes)
    yield Check(
        f"{name}: every initial region lies in the shape of its aggregated region",
        regions_outside == 0,
        f"{regions_outside:,} do not",
    )
    if plan.cell_sites is not None:
        misplaced = _count_misplaced_points(plan, projected, shapes, plan.cell_sites)
        yield Check(
            f"{name}: {_N_TEST_POINTS:,} random places lie in the cell of their nearest site",
            misplaced == 0,
            f"{misplaced:,} do not",
        )


def _count_misplaced_points(
    plan: ReleasedPartition, projected: ProjectedShapes, shapes: Shapes, sites: NDArray[np.float64]
) -> int:
    """Count random places of the map that lie in the shape of another site than the nearest.

    Places on a border, as far as it is rounded, belong to both sides; those outside all shapes are not on the map.
    """
    low, high = shapely.total_bounds(shapely.points(plan.regions.points)).reshape(2, 2)
    points = low + np.random.default_rng(0).random((_N_TEST_POINTS, 2)) * (high - low)
    _, nearest_site = scipy.spatial.cKDTree(sites).query(points)
    feature = np.empty(len(plan.codes), np.int64)
    feature[code_order(plan)] = np.arange(len(plan.codes))
    nearest_shape = feature[nearest_site]
    points_in_file = shapely.points(projected.to_file(points))
    on_map = np.unique(shapely.STRtree(shapes).query(points_in_file, predicate="intersects")[0])
    distances = shapely.distance(shapes[nearest_shape[on_map]], points_in_file[on_map])
    return int((distances > _measure_border_slack(projected, shapes)).sum())


def _measure_border_slack(projected: ProjectedShapes, shapes: Shapes) -> float:
    """Bound how far the written border of a cell may be from the exact one, in units of the file."""
    extent = float(np.abs(shapely.total_bounds(shapes)).max(initial=0.0))
    return 5 * projected.grid + _SLACK * extent


def _measure_overlap(shapes: Shapes) -> float:
    """Measure the area that lies in two shapes; what the initial regions share themselves is in it."""
    if shapely.coverage_is_valid(shapes):
        return 0.0
    shapes = shapely.make_valid(shapes)
    left, right = shapely.STRtree(shapes).query(shapes, predicate="intersects")
    left, right = left[left < right], right[left < right]
    return float(shapely.area(shapely.intersection(shapes[left], shapes[right])).sum())


def _count_regions_outside(plan: ReleasedPartition, projected: ProjectedShapes, shapes: Shapes) -> int:
    """Count the initial regions that lie outside the shape of their aggregated region."""
    regions = plan.regions
    feature = np.empty(len(plan.codes), np.int64)
    feature[code_order(plan)] = np.arange(len(plan.codes))
    own = feature[plan.membership]
    shapely.prepare(shapes)
    points = _find_inner_points(regions) if plan.cell_sites is None else regions.points
    points_in_file = shapely.points(projected.to_file(points))
    outside = np.flatnonzero(~shapely.intersects(shapes[own], points_in_file))
    allowed = 2 * projected.grid if plan.cell_sites is None else _measure_border_slack(projected, shapes)
    outside = outside[shapely.distance(shapes[own[outside]], points_in_file[outside]) > allowed]
    if plan.cell_sites is not None:
        return int(outside.size)
    return sum(
        not _is_excused(int(number), regions, points, projected, shapes, own) for number in outside
    )


def _find_inner_points(regions: Regions) -> NDArray[np.float64]:
    """Find a point in each region's polygon, or take its point where it has none."""
    points = regions.points.copy()
    if regions.polygons is not None:
        drawn = np.flatnonzero(
            ~(shapely.is_missing(regions.polygons) | shapely.is_empty(regions.polygons))
        )
        points[drawn] = shapely.get_coordinates(shapely.point_on_surface(regions.polygons[drawn]))
    return points


def _is_excused(
    number: int,
    regions: Regions,
    points: NDArray[np.float64],
    projected: ProjectedShapes,
    shapes: Shapes,
    own: NDArray[np.int64],
) -> bool:
    """Regions at one place share its cell in strips; of polygons that overlap in the file, each has the rest."""
    polygon = None if regions.polygons is None else regions.polygons[number]
    if polygon is not None and not polygon.is_empty:
        moved = shapely.make_valid(shapely.transform(polygon, projected.to_file))
        return bool(shapely.intersection(moved, shapes[own[number]]).area > 0)
    _, group_of_point = group_coincident_points(points)
    point_in_file = shapely.Point(projected.to_file(points[number : number + 1])[0])
    near = shapes[np.unique(own[group_of_point == group_of_point[number]])]
    return bool((shapely.distance(near, point_in_file) <= 2 * projected.grid).any())


def _read_geojson(path: Path) -> _ReadFeatures:
    text = path.read_text(encoding="utf-8")
    features: list[Any] = json.loads(text)["features"]
    rows = [tuple(str(feature["properties"][name]) for name in _PROPERTIES) for feature in features]
    shapes = shapely.get_parts(shapely.from_geojson(text))
    if len(shapes) != len(rows):
        raise ValueError("a feature has no shape")
    return _ReadFeatures(rows, shapes)


def _read_geopackage(path: Path) -> _ReadFeatures:
    import pyogrio.raw

    meta, _, geometry, fields = pyogrio.raw.read(path, layer=LAYER)
    columns = dict(zip([str(name) for name in meta["fields"]], fields, strict=True))
    rows = list(
        zip(*([str(value) for value in columns[name].tolist()] for name in _PROPERTIES), strict=True)
    )
    return _ReadFeatures(rows, shapely.from_wkb(geometry))


def _read_table(path: Path) -> list[tuple[str, ...]]:
    with path.open(encoding="utf-8", newline="") as file:
        return [tuple(row[name] for name in _PROPERTIES) for row in csv.DictReader(file)]
