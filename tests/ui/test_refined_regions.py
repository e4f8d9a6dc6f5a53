"""What the Regions tab and the map know of a refinement."""

from dataclasses import replace

import numpy as np
import pytest
import shapely
from map_samples import QUARTER_SITES, SIDE, solution_of, squares
from PySide6.QtGui import QColor
from solved import Bench, Solved

from tests.problem_making import problem_of
from vbas_desktop.app.run import get_problem, run_configuration
from vbas_desktop.approaches.registry import create_approach
from vbas_desktop.engine.region_table import build_region_table, describe_transfers, list_transfers
from vbas_desktop.engine.request import Request
from vbas_desktop.engine.run import run
from vbas_desktop.model.progress import NO_PROGRESS
from vbas_desktop.model.solution import UnrefinedPartition
from vbas_desktop.settings.run import RunSettings
from vbas_desktop.ui.core.theme import LIGHT
from vbas_desktop.ui.map.canvas import MapCanvas
from vbas_desktop.ui.map.hover_card import card_text
from vbas_desktop.ui.map.layers import DEFAULT_LAYERS, Layer
from vbas_desktop.ui.map.map_cache import map_cache_of
from vbas_desktop.ui.map.map_view import MapView
from vbas_desktop.ui.panels.regions_model import RegionsModel
from vbas_desktop.ui.panels.regions_panel import RegionsPanel
from vbas_desktop.ui.presentation.region_geometry import prepare_region_geometry
from vbas_desktop.ui.presentation.region_measures import find_measure
from vbas_desktop.ui.presentation.scene import prepare_scene


def solved(refinement):
    generator = np.random.default_rng(5)
    points = [(x + y / 20, y) for y in range(9) for x in range(9)]
    problem = problem_of(points, generator.poisson(1.0, (81, 25)), k=5)
    number, location = (
        create_approach("site_number", "fixed", {"sites": 9}),
        create_approach("site_location", "balanced-density"),
    )
    request = Request(
        problem,
        number,
        location,
        create_approach("construction", "voronoi"),
        settings=RunSettings(range_reach=0),
    )
    return problem, run(
        replace(request, refinement=create_approach("refinement", refinement))
    ).solutions[0]


def test_regions_tell_what_they_gained_gave_away_and_lost_before():
    problem, plain = solved("none")
    _, refined = solved("boundaries")
    base = prepare_region_geometry(problem.regions)
    shown = prepare_scene(1, refined, problem, base, NO_PROGRESS)
    gained, given, lost = (
        find_measure(shown.figures, name).values for name in ("gained", "given", "suppressed_unrefined")
    )
    moved = refined.owner != plain.owner
    assert gained.sum() == given.sum() == np.count_nonzero(moved) > 0
    for region, owner in enumerate(refined.owners_used):
        assert gained[region] == np.count_nonzero(moved & (refined.owner == owner))
        assert given[region] == np.count_nonzero(moved & (plain.owner == owner))
    assert lost.tolist() == build_region_table(problem, plain).suppressed.tolist()
    assert lost.sum() > find_measure(shown.figures, "suppressed").values.sum()
    model = RegionsModel()
    model.show_solution(shown)
    titles = [model.title(column) for column in range(model.columnCount())]
    assert "Suppressed records before the refinement" in titles


def test_without_a_refinement_there_are_no_such_columns():
    problem, plain = solved("none")
    shown = prepare_scene(1, plain, problem, prepare_region_geometry(problem.regions), NO_PROGRESS)
    assert find_measure(shown.figures, "gained") is None


def test_refined_regions_are_drawn_as_unions_of_what_they_own():
    problem, refined = solved("boundaries")
    shapes = prepare_scene(
        1, refined, problem, prepare_region_geometry(problem.regions), NO_PROGRESS
    ).geometry.shapes
    for region, shape in enumerate(shapes):
        inside = shapely.intersects_xy(shape.buffer(1e-9), problem.regions.points)
        assert set(np.flatnonzero(inside)) == set(np.flatnonzero(refined.membership == region))


@pytest.fixture
def refined_window(tmp_path, qapp, qtbot):
    """A map in a window whose state has a plain and a refined solution."""
    bench = Bench(Solved(tmp_path).state())
    state = bench.state
    state.change(state.choices.with_approach("refinement", "boundaries"))
    task = state.request_run()
    problem = get_problem(task.request)
    result = run_configuration(replace(task.request, problem=problem)).result
    state.begin_counted(task.run_id, problem)
    for solution in result.solutions:
        state.add_solutions(task.run_id, [solution])
    state.finish_run(task.run_id, result)
    bench.map = MapView(bench.context)
    qtbot.addWidget(bench.map)
    bench.map.resize(900, 600)
    bench.map.show()
    yield bench
    bench.close()


def show(bench, qtbot, number):
    bench.state.select(number)
    qtbot.waitUntil(
        lambda: bench.map.canvas.geometry_shown is not None and preparer_shows(bench, number)
    )


def preparer_shows(bench, number):
    shown = map_cache_of(bench.context).shown
    return shown is not None and shown.number == number


def test_a_button_shows_the_map_before_the_refinement_and_what_moved(refined_window, qtbot):
    bench, bar, canvas = refined_window, refined_window.map.bar, refined_window.map.canvas
    plain, refined = bench.state.entries[0], bench.state.entries[-1]
    show(bench, qtbot, plain.number)
    assert bar.before.isHidden()
    show(bench, qtbot, refined.number)
    assert not bar.before.isHidden()
    moved = np.count_nonzero(refined.solution.owner != refined.solution.unrefined.owner)
    told = f"moved by the refinement ({moved:,}, {100 * moved / len(refined.solution.owner):.1f} %)"
    assert told not in [row.text for row in canvas.legend.rows]
    after = canvas.geometry_shown
    bar.before.click()
    assert canvas.geometry_shown.solution.owner.tolist() == refined.solution.unrefined.owner.tolist()
    assert canvas.geometry_shown.codes == after.codes
    assert told in [row.text for row in canvas.legend.rows]
    assert bar.title.text().startswith("Before the refinement: ")
    region = int(np.flatnonzero(after.moved)[0])
    assert "moved to a neighbour" in card_text(after.base, canvas.geometry_shown, (), None, region)
    bar.before.click()
    assert canvas.geometry_shown is after
    assert told in [row.text for row in canvas.legend.rows]
    former = np.searchsorted(after.solution.owners_used, after.solution.unrefined.owner[region])
    assert f"came from {after.codes[former]} by the refinement" in card_text(
        after.base, after, (), None, region
    )
    assert "refinement" not in card_text(
        after.base, after, (), None, int(np.flatnonzero(~after.moved)[0])
    )


def test_the_regions_tab_says_why_initial_regions_moved(refined_window, qtbot):
    bench = refined_window
    refined = bench.state.entries[-1]
    tab = RegionsPanel(bench.context)
    qtbot.addWidget(tab)
    show(bench, qtbot, refined.number)
    shown, moved = tab.table_model.shown, refined.solution.unrefined.owner != refined.solution.owner
    region = int(refined.solution.membership[np.flatnonzero(moved)[0]])
    bench.state.choose_region(region)
    qtbot.waitUntil(lambda: tab.why.moved.isVisibleTo(tab.why))
    found = list_transfers(shown.problem, refined.solution, region)
    told, every = (describe_transfers(found, shown.geometry.codes, most) for most in (2, 10))
    assert tab.why.moved.text() == f"By the refinement: {' '.join(told)}"
    assert "came from" in tab.why.moved.text()
    assert tab.why.moved.toolTip().replace("\n", " ").startswith(" ".join(every))
    show(bench, qtbot, bench.state.entries[0].number)
    bench.state.choose_region(0)
    qtbot.waitUntil(lambda: tab.why.vector.isVisibleTo(tab.why))
    assert not tab.why.moved.isVisibleTo(tab.why)


def test_moved_polygons_are_hatched(qtbot):
    owner = np.array([y // 2 * 2 + x // 2 for y in range(SIDE) for x in range(SIDE)], np.int32)
    now = owner.copy()
    now[5] = 1
    solution = replace(
        solution_of(now, QUARTER_SITES), unrefined=UnrefinedPartition(owner, np.array(QUARTER_SITES))
    )
    shown = prepare_scene(1, solution, None, prepare_region_geometry(squares()), NO_PROGRESS)
    canvas = MapCanvas(LIGHT)
    qtbot.addWidget(canvas)
    canvas.resize(600, 600)
    canvas.show()
    qtbot.waitExposed(canvas)
    canvas.show_map(shown.geometry)

    def marked(region):
        x, y = shown.geometry.base.points[region]
        middle = canvas.map_to_widget(x, y).toPoint()
        image = canvas.viewport().grab().toImage()
        return any(
            image.pixelColor(middle.x() + dx, middle.y() + dy) == QColor(LIGHT.mark)
            for dx in range(8, 30)
            for dy in range(8, 30)
        )

    assert not marked(5)
    canvas.show_layers(DEFAULT_LAYERS | {Layer.MOVED})
    assert marked(5)
    assert not marked(6)
    canvas.show_map(shown.before)
    assert marked(5)
    assert not marked(6)
