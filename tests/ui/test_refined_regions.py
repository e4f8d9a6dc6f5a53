"""What the Regions tab and the map know of a refinement."""

from dataclasses import replace

import numpy as np
import shapely

from tests.problem_making import problem_of
from vbas_desktop.approaches.registry import make
from vbas_desktop.domain.problem import Request
from vbas_desktop.domain.progress import Silent
from vbas_desktop.engine.region_table import region_table
from vbas_desktop.engine.run import run
from vbas_desktop.ui.map.figures import figure_named
from vbas_desktop.ui.map.geometry import prepare_base
from vbas_desktop.ui.map.shown import prepare_shown
from vbas_desktop.ui.panel.regions_model import RegionsModel


def solved(refinement):
    generator = np.random.default_rng(5)
    points = [(x + y / 20, y) for y in range(9) for x in range(9)]
    problem = problem_of(points, generator.poisson(1.0, (81, 25)), k=5)
    number, location = make("site_number", "fixed", {"sites": 9}), make("site_location", "balanced-density")
    request = Request(problem, number, location, make("construction", "voronoi"), range_reach=0)
    return problem, run(replace(request, refinement=make("refinement", refinement))).solutions[0]


def test_regions_tell_what_they_gained_gave_away_and_lost_before():
    problem, plain = solved("none")
    _, refined = solved("boundaries")
    base = prepare_base(problem.regions)
    shown = prepare_shown(1, refined, problem, base, Silent())
    gained, given, lost = (
        figure_named(shown.figures, name).values for name in ("gained", "given", "suppressed_unrefined")
    )
    moved = refined.owner != plain.owner
    assert gained.sum() == given.sum() == np.count_nonzero(moved) > 0
    for region, owner in enumerate(refined.owners_used):
        assert gained[region] == np.count_nonzero(moved & (refined.owner == owner))
        assert given[region] == np.count_nonzero(moved & (plain.owner == owner))
    assert lost.tolist() == region_table(problem, plain).suppressed.tolist()
    assert lost.sum() > figure_named(shown.figures, "suppressed").values.sum()
    model = RegionsModel()
    model.show_solution(shown)
    titles = [model.title(column) for column in range(model.columnCount())]
    assert "Suppressed records before the refinement" in titles


def test_without_a_refinement_there_are_no_such_columns():
    problem, plain = solved("none")
    shown = prepare_shown(1, plain, problem, prepare_base(problem.regions), Silent())
    assert figure_named(shown.figures, "gained") is None


def test_refined_regions_are_drawn_as_unions_of_what_they_own():
    problem, refined = solved("boundaries")
    shapes = prepare_shown(1, refined, problem, prepare_base(problem.regions), Silent()).geometry.shapes
    for region, shape in enumerate(shapes):
        inside = shapely.intersects_xy(shape.buffer(1e-9), problem.regions.points)
        assert set(np.flatnonzero(inside)) == set(np.flatnonzero(refined.membership == region))
