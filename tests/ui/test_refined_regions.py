"""What the Regions tab and the map know of a refinement."""

from dataclasses import replace

import numpy as np
import pytest
import shapely
from map_samples import QUARTER_SITES, SIDE, solution_of, squares
from PySide6.QtGui import QColor
from solved import Bench, Solved

from tests.problem_making import problem_of
from vbas_desktop.approaches.registry import make
from vbas_desktop.engine.region_table import handovers, in_sentences, region_table
from vbas_desktop.engine.run import run
from vbas_desktop.model.problem import Request
from vbas_desktop.model.progress import Silent
from vbas_desktop.model.solution import Unrefined
from vbas_desktop.ui.map.canvas import MapCanvas
from vbas_desktop.ui.map.figures import figure_named
from vbas_desktop.ui.map.geometry import prepare_base
from vbas_desktop.ui.map.hover_card import card_text
from vbas_desktop.ui.map.layers import DEFAULT_LAYERS, Layer
from vbas_desktop.ui.map.shown import prepare_shown
from vbas_desktop.ui.map.view import MapView
from vbas_desktop.ui.panel.regions_model import RegionsModel
from vbas_desktop.ui.panel.regions_tab import RegionsTab
from vbas_desktop.ui.theme import LIGHT


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


@pytest.fixture
def refined_window(tmp_path, qapp, qtbot):
    """A map in a window whose session has a plain and a refined solution."""
    bench = Bench(Solved(tmp_path).session())
    session = bench.session
    session.change(session.choices.with_approach("refinement", "boundaries"))
    order = session.order_run()
    result = replace(order.job, problem=order.job.count()).execute().result
    session.begin_counted(order.run_id, order.job.count())
    for solution in result.solutions:
        session.add_solution(order.run_id, solution)
    session.finish_run(order.run_id, result)
    bench.map = MapView(bench.context)
    qtbot.addWidget(bench.map)
    bench.map.resize(900, 600)
    bench.map.show()
    yield bench
    bench.close()


def show(bench, qtbot, number):
    bench.session.select(number)
    qtbot.waitUntil(
        lambda: bench.map.canvas.geometry_shown is not None and preparer_shows(bench, number), timeout=10_000
    )


def preparer_shows(bench, number):
    shown = bench.map._preparer.shown
    return shown is not None and shown.number == number


def test_a_button_shows_the_map_before_the_refinement_and_what_moved(refined_window, qtbot):
    bench, bar, canvas = refined_window, refined_window.map.bar, refined_window.map.canvas
    plain, refined = bench.session.entries[0], bench.session.entries[-1]
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
    assert f"came from {after.codes[former]} by the refinement" in card_text(after.base, after, (), None, region)
    assert "refinement" not in card_text(after.base, after, (), None, int(np.flatnonzero(~after.moved)[0]))


def test_the_regions_tab_says_why_initial_regions_moved(refined_window, qtbot):
    bench = refined_window
    refined = bench.session.entries[-1]
    tab = RegionsTab(bench.context)
    qtbot.addWidget(tab)
    show(bench, qtbot, refined.number)
    shown, moved = tab.table_model.shown, refined.solution.unrefined.owner != refined.solution.owner
    region = int(refined.solution.membership[np.flatnonzero(moved)[0]])
    bench.session.choose_region(region)
    qtbot.waitUntil(lambda: tab.why.moved.isVisibleTo(tab.why), timeout=10_000)
    found = handovers(shown.problem, refined.solution, region)
    told, every = (in_sentences(found, shown.geometry.codes, most) for most in (2, 10))
    assert tab.why.moved.text() == f"By the refinement: {' '.join(told)}"
    assert "came from" in tab.why.moved.text()
    assert tab.why.moved.toolTip().startswith("\n".join(every))
    show(bench, qtbot, bench.session.entries[0].number)
    bench.session.choose_region(0)
    qtbot.waitUntil(lambda: tab.why.vector.isVisibleTo(tab.why), timeout=10_000)
    assert not tab.why.moved.isVisibleTo(tab.why)


def test_moved_polygons_are_hatched(qtbot):
    owner = np.array([y // 2 * 2 + x // 2 for y in range(SIDE) for x in range(SIDE)], np.int32)
    now = owner.copy()
    now[5] = 1
    solution = replace(solution_of(now, QUARTER_SITES), unrefined=Unrefined(owner, np.array(QUARTER_SITES)))
    shown = prepare_shown(1, solution, None, prepare_base(squares()), Silent())
    canvas = MapCanvas(LIGHT)
    qtbot.addWidget(canvas)
    canvas.resize(600, 600)
    canvas.show()
    qtbot.waitExposed(canvas)
    canvas.show_map(shown.geometry)

    def marked(region):
        x, y = shown.geometry.base.points[region]
        middle = canvas.position_of(x, y).toPoint()
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
