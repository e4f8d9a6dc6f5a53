"""Within boundaries the cells are those of each part's own sites; what an obstacle changed is marked all the same."""

import json
from dataclasses import replace

import numpy as np
import pytest
import shapely
from map_samples import problem_of, squares

from vbas_desktop.approaches.registry import create_approach
from vbas_desktop.engine.constraints import list_zones
from vbas_desktop.engine.request import Request
from vbas_desktop.engine.run import run
from vbas_desktop.io.documents.solutions import solution_from_json, solution_to_json
from vbas_desktop.model.progress import NO_PROGRESS
from vbas_desktop.model.regions import Obstacles
from vbas_desktop.settings.run import RunSettings
from vbas_desktop.ui.presentation.region_geometry import (
    prepare_region_geometry,
    prepare_solution_geometry,
)
from vbas_desktop.ui.presentation.site_cells import lacks_cells, with_cells

HALF = ["west" if x < 2 else "east" for y in range(4) for x in range(4)]
RIVER = shapely.LineString([(-9, 1.45), (3.4, 1.45)])


def limited(construction="voronoi", polygons=True, sites=6, refinement=None, **limits):
    regions = replace(squares(polygons), labels={"half": tuple(HALF)})
    if construction == "obstacles":
        regions = replace(regions, obstacles=Obstacles(np.array([RIVER], object), ("Long Water",), ()))
    problem = problem_of(regions, np.random.default_rng(3).integers(1, 30, (16, 2)), k=2)
    request = Request(
        problem,
        create_approach("site_number", "fixed", {"sites": sites}),
        create_approach("site_location", "balanced-density"),
        create_approach("construction", construction),
        refinement=refinement,
        settings=RunSettings(range_reach=0, workers=1, within=("half",), **limits),
    )
    (solution,) = run(request).solutions
    return regions, solution


def shapes_of(rings):
    """The drawn rings as polygons."""
    ends = np.flatnonzero(~rings.joined)
    return [shapely.Polygon(xy) for xy in np.split(rings.xy, ends[:-1] + 1)]


@pytest.mark.parametrize("polygons", [True, False])
def test_the_cells_of_each_part_fill_it_and_hold_the_points_of_their_site(polygons):
    regions, solution = limited(polygons=polygons, alone=("S05",))
    base = prepare_region_geometry(regions)
    geometry = prepare_solution_geometry(base, solution)
    assert lacks_cells(geometry)
    geometry = with_cells(geometry, NO_PROGRESS)
    assert not lacks_cells(geometry)
    cells = shapes_of(geometry.cell_rings)
    assert sum(cell.area for cell in cells) == pytest.approx(base.area.area, rel=1e-6)
    parts = list_zones(regions, solution)
    assert [members.size for members, _ in parts] == [7, 8, 1]
    assert sum(own.size for _, own in parts) == len(solution.sites) == 6
    for members, own in parts:
        for region in members:
            assert solution.owner[region] in own
            inside = [cell for cell in cells if cell.intersects(shapely.Point(regions.points[region]))]
            site = shapely.Point(solution.sites[solution.owner[region]])
            # Sites of limited parts lie in their own cells; the plain diagram would give some points to other parts.
            assert any(cell.intersects(site) for cell in inside)


def test_obstacles_within_boundaries_mark_what_they_changed_as_often_as_they_tell():
    regions, solution = limited("obstacles")
    told = solution.diagnostics["obstacles"]["changed_regions"]
    assert told > 0
    assert solution.detoured.sum() == told
    by_hand = np.zeros(16, bool)
    for members, own in list_zones(regions, solution):
        apart = np.hypot(
            *(regions.points[members][:, None] - solution.sites[own][None]).transpose(2, 0, 1)
        )
        by_hand[members] = own[apart.argmin(axis=1)] != solution.owner[members]
    assert solution.detoured.tolist() == by_hand.tolist()
    base = prepare_region_geometry(regions)
    assert prepare_solution_geometry(base, solution).detoured.tolist() == by_hand.tolist()
    kept = solution_from_json(json.loads(json.dumps(solution_to_json(solution))))
    assert kept.detoured.tolist() == by_hand.tolist()
    assert prepare_solution_geometry(base, kept).detoured.tolist() == by_hand.tolist()


def test_marks_stay_when_wishes_join_what_an_obstacle_parted():
    regions, solution = limited("obstacles", min_records=400)
    assert solution.aggregated_regions == 2
    assert solution.detoured.sum() == solution.diagnostics["obstacles"]["changed_regions"] > 0
    geometry = with_cells(
        prepare_solution_geometry(prepare_region_geometry(regions), solution), NO_PROGRESS
    )
    assert geometry.detoured.any()


def test_lines_around_obstacles_lie_inside_their_part_and_between_its_sites():
    regions, solution = limited("obstacles")
    geometry = with_cells(
        prepare_solution_geometry(prepare_region_geometry(regions), solution), NO_PROGRESS
    )
    xy = geometry.cell_rings.xy
    joined = geometry.cell_rings.joined
    middles = (xy[:-1] + xy[1:])[joined[:-1]] / 2
    inner = middles[
        (np.abs(middles[:, 0] - 2) > 0.05) & (middles > 0.05).all(axis=1) & (middles < 3.95).all(axis=1)
    ]
    # Beside the river ways bend; away from its end and on the sites' own side they are straight.
    north = inner[inner[:, 1] > 1.5]
    assert len(north) > 20
    for x, y in north:
        half = "west" if x < 2 else "east"
        own = next(sites for members, sites in list_zones(regions, solution) if HALF[members[0]] == half)
        above = solution.sites[own][solution.sites[own][:, 1] > 1.45]
        near = np.sort(np.hypot(*(above - (x, y)).T))
        assert near[1] - near[0] < 0.05


def test_what_changed_since_is_not_drawn_rather_than_drawn_wrongly():
    regions, solution = limited()
    other = replace(regions, labels={})
    assert list_zones(other, solution) is None
    geometry = with_cells(
        prepare_solution_geometry(prepare_region_geometry(other), solution), NO_PROGRESS
    )
    assert not lacks_cells(geometry)
    assert len(geometry.cell_rings.xy) == 0
