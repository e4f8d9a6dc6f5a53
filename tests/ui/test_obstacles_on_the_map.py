"""Obstacles in the window: chosen in Input, drawn with what they changed, named under the pointer."""

import json
from dataclasses import replace

import numpy as np
import pytest
import shapely
from map_samples import QUARTER_SITES, SIDE, solution_of, squares
from PySide6.QtGui import QColor
from solved import Bench, Solved

from vbas_desktop.domain.progress import Silent
from vbas_desktop.domain.regions import Obstacles
from vbas_desktop.session.choices import choices_from_json, choices_to_json
from vbas_desktop.ui.map.canvas import MapCanvas
from vbas_desktop.ui.map.geometry import prepare_base
from vbas_desktop.ui.map.hover_card import card_text
from vbas_desktop.ui.map.layers import DEFAULT_LAYERS, Layer
from vbas_desktop.ui.map.shown import prepare_shown
from vbas_desktop.ui.panel.reading_options import ReadingOptions
from vbas_desktop.ui.theme import LIGHT


@pytest.fixture
def shown():
    shapes = np.array([shapely.box(1.2, 1.2, 1.9, 1.9), shapely.LineString([(3.1, 0.2), (3.1, 1.8)])], object)
    regions = replace(squares(), obstacles=Obstacles(shapes, ("Mirror Lake", ""), ()))
    owner = np.array([y // 2 * 2 + x // 2 for y in range(SIDE) for x in range(SIDE)], np.int32)
    owner[5] = 1
    solution = solution_of(owner, QUARTER_SITES)
    solution = replace(solution, approaches={**solution.approaches, "construction": "obstacles"})
    return prepare_shown(1, solution, None, prepare_base(regions), Silent())


def test_obstacles_and_what_they_changed_are_drawn_and_explained(shown, qtbot):
    canvas = MapCanvas(LIGHT)
    qtbot.addWidget(canvas)
    canvas.resize(600, 600)
    canvas.show()
    qtbot.waitExposed(canvas)
    canvas.show_map(shown.geometry)
    rows = [row.text for row in canvas.legend.rows]
    assert "obstacle (2)" in rows
    assert "changed because of an obstacle (1, 6.2 %)" in rows

    def colour(x, y):
        place = canvas.position_of(x, y)
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
    text = card_text(base, shown.geometry, (), None, 5, 0)
    assert "another site than the nearest, because of an obstacle" in text
    assert "Obstacle: Mirror Lake" in text
    figure = next(each for each in shown.figures if each.name == "detoured")
    assert figure.values.tolist() == [0.0, 0.2, 0.0, 0.0]


def test_obstacle_files_are_chosen_in_input_and_kept(tmp_path, qapp, qtbot):
    bench = Bench(Solved(tmp_path).session())
    options = ReadingOptions(bench.session)
    qtbot.addWidget(options)
    options.refresh()
    options.edits["obstacles"].setText("lakes.geojson;  rivers.gpkg ")
    options.edits["obstacles"].editingFinished.emit()
    assert bench.session.choices.obstacles == ("lakes.geojson", "rivers.gpkg")
    kept = json.loads(json.dumps(choices_to_json(bench.session.choices)))
    assert choices_from_json(kept).obstacles == ("lakes.geojson", "rivers.gpkg")
    options.refresh()
    assert options.edits["obstacles"].text() == "lakes.geojson; rivers.gpkg"
    bench.close()
