"""Real coasts and many regions: ways around obstacles, growth, limits; processor seconds of each.

The geography is not part of the repository. ``VBAS_GEOGRAPHY_DIR`` names a folder with ``east`` and ``west``, each with
``regions.csv`` and ``obstacles.geojson``; without it the benchmark is skipped.
"""

from __future__ import annotations

import os
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import shapely

from vbas_desktop.algorithms.geodesic import assign_around_obstacles, trace_cell_borders
from vbas_desktop.algorithms.geodesic_mesh import build_barriers
from vbas_desktop.algorithms.region_graph import build_growth_graph
from vbas_desktop.algorithms.regionalisation import compute_merge_sequence, grow_districts
from vbas_desktop.approaches.registry import create_approach
from vbas_desktop.engine.request import Request
from vbas_desktop.engine.run import run
from vbas_desktop.io.regions.reader import RegionReading, load_regions
from vbas_desktop.model.counts import ClassCounts
from vbas_desktop.model.problem import Problem
from vbas_desktop.model.records import Categories
from vbas_desktop.model.regions import Regions
from vbas_desktop.settings.constraints import RegionConstraints
from vbas_desktop.settings.run import RunSettings

SITES = 350
HEADER = ["", "CPU s", "to reach", "remarks"]


@pytest.fixture(scope="module", params=["east", "west"])
def place(request) -> tuple[str, Regions]:
    """The regions with their obstacles."""
    home = os.environ.get("VBAS_GEOGRAPHY_DIR")
    folder = Path(home or "") / request.param
    if not home or not folder.is_dir():
        pytest.skip("VBAS_GEOGRAPHY_DIR names no folder with real geography")
    options = RegionReading(obstacles=(str(folder / "obstacles.geojson"),))
    return request.param, load_regions(folder / "regions.csv", options)


def cpu(call, *given) -> tuple[float, object]:
    """The least processor time of two calls, compiling apart, and what the last one gave."""
    least = np.inf
    for _ in range(2):
        start = time.process_time()
        found = call(*given)
        least = min(least, time.process_time() - start)
    return least, found


def test_ways_around_real_obstacles(place, bench_table):
    name, regions = place
    assert regions.obstacles is not None
    sites = regions.points[np.random.default_rng(0).choice(len(regions), SITES, replace=False)]
    taken, walls = cpu(build_barriers, regions.obstacles.shapes)
    assign_around_obstacles(walls, regions.points[:50], sites[:5])
    corners = int(shapely.get_num_coordinates(regions.obstacles.shapes).sum())
    rows = [["preparing the obstacles, once per file", f"{taken:.2f}", "", f"{corners:,} corners"]]
    taken, found = cpu(assign_around_obstacles, walls, regions.points, sites)
    reach = {"east": "<= 2", "west": "<= 10"}[name]
    rows.append(["owners", f"{taken:.2f}", reach, f"{100 * found.changed.mean():.1f} % changed"])
    shown = shapely.box(*regions.points.min(axis=0), *regions.points.max(axis=0))
    start = time.process_time()
    lines = trace_cell_borders(walls, sites, shown, float(np.ptp(regions.points, axis=0).max()) / 250)
    rows.append(["drawn cells", f"{time.process_time() - start:.2f}", "", f"{len(lines):,} stretches"])
    bench_table(f"{name}: {len(regions):,} regions, {SITES} sites", HEADER, rows)


def test_growth(place, bench_table):
    name, regions = place
    people = np.random.default_rng(0).integers(100, 1000, len(regions))
    start = time.process_time()
    pairs, _ = build_growth_graph(regions)
    taken = time.process_time() - start
    joining, joins = cpu(compute_merge_sequence, regions.points, people, pairs)
    growing, district = cpu(
        grow_districts, regions.points, people, pairs, int(people.sum() * 0.9 / SITES), joins
    )
    rows = [["neighbours", f"{taken:.2f}", "", ""], ["order of joining", f"{joining:.2f}", "", ""]]
    rows.append(["growth", f"{growing:.2f}", "<= 2", f"{int(district.max()) + 1:,} districts"])
    bench_table(f"{name}: growth of {len(regions):,} regions", HEADER, rows)


def test_limits(place, bench_table):
    """Boundaries made of squares, about thirty of them, and a minimum for each aggregated region."""
    name, regions = place
    problem = _problem(regions)
    rows = []
    squares, wished = (
        RegionConstraints(within=("square",)),
        RegionConstraints(within=("square",), min_records=5000),
    )
    for title, construction, wanted, reach in (
        ("no limits", "voronoi", RegionConstraints(), ""),
        ("within squares", "voronoi", squares, ""),
        ("within squares, at least 5,000 records", "voronoi", wished, ""),
        ("around obstacles within squares", "obstacles", squares, {"east": "<= 4"}.get(name, "")),
    ):
        number, location = (
            create_approach("site_number", "fixed", {"sites": SITES}),
            create_approach("site_location", "balanced-density"),
        )
        request = Request(
            problem,
            number,
            location,
            create_approach("construction", construction),
            settings=RunSettings(range_reach=0, workers=1, **wanted.option_values()),
        )
        taken, result = cpu(run, request)
        rows.append(
            [title, f"{taken:.2f}", reach, f"{result.solutions[0].aggregated_regions:,} regions"]
        )
    bench_table(f"{name}: limits, {SITES} sites", HEADER, rows)


def _problem(regions: Regions) -> Problem:
    rng = np.random.default_rng(0)
    low, high = regions.points.min(axis=0), regions.points.max(axis=0)
    square = np.minimum((6 * (regions.points - low) / (high - low)).astype(int), 5) @ [6, 1]
    labelled = replace(regions, labels={"square": tuple(map(str, square.tolist()))})
    counts = ClassCounts.from_matrix((44,), np.arange(44), rng.integers(0, 26, (len(regions), 44)))
    categories = (Categories("class", tuple(map(str, range(44)))),)
    return Problem(labelled, counts, 5, ("class",), categories, "region")
