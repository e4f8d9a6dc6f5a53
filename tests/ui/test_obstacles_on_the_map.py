"""Obstacles in the window: chosen in Input, drawn with what they changed, named under the pointer."""

import json
from dataclasses import replace

import numpy as np
import pytest
import shapely
from map_samples import QUARTER_SITES, SIDE, solution_of, squares
from PySide6.QtGui import QColor
from solved import Bench

from vbas_desktop.model.progress import NO_PROGRESS
from vbas_desktop.model.regions import Obstacles
from vbas_desktop.ui.core.theme import LIGHT
from vbas_desktop.ui.map.canvas import MapCanvas
from vbas_desktop.ui.map.hover_card import card_text, obstacle_text
from vbas_desktop.ui.map.layers import DEFAULT_LAYERS, Layer
from vbas_desktop.ui.map.map_cache import map_cache_of
from vbas_desktop.ui.map.map_view import MapView
from vbas_desktop.ui.panels.reading_options import ReadingOptions
from vbas_desktop.ui.presentation.region_geometry import prepare_region_geometry
from vbas_desktop.ui.presentation.scene import prepare_scene
from vbas_desktop.ui.state.choices import choices_from_json, choices_to_json


@pytest.fixture
def shown():
    shapes = np.array(
        [shapely.box(1.2, 1.2, 1.9, 1.9), shapely.LineString([(3.1, 0.2), (3.1, 1.8)])], object
    )
    regions = replace(squares(), obstacles=Obstacles(shapes, ("Mirror Lake", ""), ()))
    owner = np.array([y // 2 * 2 + x // 2 for y in range(SIDE) for x in range(SIDE)], np.int32)
    owner[5] = 1
    solution = solution_of(owner, QUARTER_SITES)
    solution = replace(solution, approaches={**solution.approaches, "construction": "obstacles"})
    return prepare_scene(1, solution, None, prepare_region_geometry(regions), NO_PROGRESS)


def test_obstacles_and_what_they_changed_are_drawn_and_explained(shown, qtbot):
    canvas = MapCanvas(LIGHT)
    qtbot.addWidget(canvas)
    canvas.resize(600, 600)
    canvas.show()
    qtbot.waitExposed(canvas)
    canvas.show_map(shown.geometry)
    rows = [row.text for row in canvas.legend.rows]
    assert "obstacle (2): Mirror Lake" in rows
    assert "changed because of an obstacle (1, 6.2 %)" in rows

    def colour(x, y):
        place = canvas.map_to_widget(x, y)
        return canvas.viewport().grab().toImage().pixelColor(place.toPoint())

    assert colour(1.7, 1.3) == QColor(LIGHT.water)
    canvas.show_layers(DEFAULT_LAYERS - {Layer.OBSTACLES})
    assert colour(1.7, 1.3) != QColor(LIGHT.water)
    assert shown.geometry.cell_rings is None


def test_the_pointer_tells_obstacles_and_changed_regions(shown):
    base = shown.geometry.base
    assert base.obstacle_at(1.5, 1.5, 0.0) == 0
    assert base.obstacle_at(3.15, 1.0, 0.1) == 1
    assert base.obstacle_at(0.2, 0.2, 0.1) is None
    text = card_text(base, shown.geometry, (), None, 5)
    assert "another site than the nearest, because of an obstacle" in text
    assert "Obstacle: Mirror Lake" in obstacle_text(base, 0)
    assert obstacle_text(base, None) == ""
    figure = next(each for each in shown.figures if each.name == "detoured")
    assert figure.values.tolist() == [0.0, 0.2, 0.0, 0.0]


def test_obstacle_files_are_chosen_in_input_and_kept(solved, qapp, qtbot):
    bench = Bench(solved.state())
    options = ReadingOptions(bench.context)
    qtbot.addWidget(options)
    options.refresh()
    options.form.editors["obstacles"].setText("lakes.geojson;  rivers.gpkg ")
    options.form.editors["obstacles"].editingFinished.emit()
    assert bench.state.choices.obstacles == ("lakes.geojson", "rivers.gpkg")
    kept = json.loads(json.dumps(choices_to_json(bench.state.choices)))
    assert choices_from_json(kept).obstacles == ("lakes.geojson", "rivers.gpkg")
    options.refresh()
    assert options.form.editors["obstacles"].text() == "lakes.geojson; rivers.gpkg"
    bench.close()


@pytest.mark.parametrize("within", [(), ("half",)])
def test_cells_around_obstacles_are_prepared_while_their_layer_is_on(
    make_window, tmp_path, qtbot, within
):
    lines = [f"r{i},{i % 6},{i // 6},{'south' if i < 18 else 'north'}" for i in range(36)]
    (tmp_path / "regions.csv").write_text("\n".join(["id,x,y,half", *lines]) + "\n")
    rows = [f"{age},r{i}" for i in range(36) for age in "12" for _ in range(6)]
    (tmp_path / "records.csv").write_text("\n".join(["age,region", *rows]) + "\n")
    (tmp_path / "river.geojson").write_text(
        '{"type": "LineString", "coordinates": [[2.5, -1], [2.5, 4.2]]}'
    )
    window = make_window()
    window.data_commands.load(tmp_path / "records.csv", tmp_path / "regions.csv")
    qtbot.waitUntil(lambda: window.state.has_data and not window.worker.busy, timeout=60_000)
    window.state.change_reading(obstacles=(str(tmp_path / "river.geojson"),))
    window.data_commands.reload()
    qtbot.waitUntil(
        lambda: window.state.regions.obstacles is not None and not window.worker.busy, timeout=60_000
    )
    choices = window.state.choices.with_approach("construction", "obstacles").with_approach(
        "site_number", "fixed"
    )
    choices = choices.replaced(within=within)
    window.state.change(choices.with_parameter("site_number", "fixed", "sites", 4))
    view = window.findChild(MapView)
    view.bar.layers_chosen.emit(DEFAULT_LAYERS - {Layer.CELLS})
    window.run_commands.run()
    map_cache = map_cache_of(window.context)
    idle = lambda: not window.worker.busy and not window.background.busy  # noqa: E731
    qtbot.waitUntil(
        lambda: map_cache.shown is not None and window.state.entries and idle(), timeout=60_000
    )
    assert map_cache.shown.geometry.cell_rings is None
    view.bar.layers_chosen.emit(DEFAULT_LAYERS)
    qtbot.waitUntil(lambda: map_cache.shown.geometry.cell_rings is not None and idle(), timeout=60_000)
    assert view.canvas.geometry_shown.cell_rings is map_cache.shown.geometry.cell_rings
    xy = view.canvas.geometry_shown.cell_rings.xy
    assert len(xy) > 20
    assert ((xy[:, 1] > 2.4) & (xy[:, 1] < 2.6) & (xy[:, 0] > 4)).any() == bool(within)
    rows = [row.text for row in view.canvas.legend.rows]
    assert any("changed because of an obstacle" in row for row in rows)
