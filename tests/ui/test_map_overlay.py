"""Context layers, outlines of columns and labels: prepared in a thread, drawn, kept in the project."""

import json
from dataclasses import replace

import numpy as np
import pytest
import shapely
from hypothesis import given
from hypothesis import strategies as st
from map_samples import QUARTER_SITES, SIDE, solution_of, squares
from PySide6.QtCore import QRectF
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QImage, QPainter, QTransform
from solved import Bench

from vbas_desktop.model.progress import NO_PROGRESS
from vbas_desktop.ui.core.theme import DARK, LIGHT
from vbas_desktop.ui.map import labels as overlay_picture
from vbas_desktop.ui.map.canvas import MapCanvas
from vbas_desktop.ui.map.labels import placed_labels, without_overlap
from vbas_desktop.ui.map.layers import DEFAULT_LAYERS, Layer
from vbas_desktop.ui.map.map_cache import map_cache_of
from vbas_desktop.ui.map.map_view import MapView
from vbas_desktop.ui.presentation.overlay import Labels, prepare_overlay
from vbas_desktop.ui.presentation.region_geometry import prepare_region_geometry
from vbas_desktop.ui.presentation.scene import prepare_scene
from vbas_desktop.ui.state.map_style import CODES, NAMES, ContextLayer, MapStyle

PLACES = st.tuples(st.integers(-40, 40), st.integers(-40, 40), st.integers(0, 30), st.integers(0, 9))


def _touch(one, other):
    return one[0] <= other[2] and other[0] <= one[2] and one[1] <= other[3] and other[1] <= one[3]


def boxes_of(places):
    return np.array([(x, y, x + wide, y + high) for x, y, wide, high in places], float).reshape(-1, 4)


@given(st.lists(PLACES, max_size=40), st.lists(PLACES, max_size=12))
def test_no_label_touches_another_or_what_is_taken_and_none_is_left_out_without_need(places, taken):
    boxes, covered = boxes_of(places), boxes_of(taken)
    choices = np.stack([boxes + np.array((0, shift, 0, shift)) for shift in (0, -9, 9)], axis=1)
    kept, where = without_overlap(choices, covered)
    naive, there = [], [*covered]
    for number, mine in enumerate(choices):
        free = [box for box in mine if not any(_touch(box, other) for other in there)]
        if free:
            naive.append((number, free[0].tolist()))
            there.append(free[0])
    assert list(zip(kept.tolist(), where.tolist(), strict=True)) == naive


@given(st.floats(0.5, 40), st.integers(0, 99))
def test_labels_that_are_drawn_have_room_and_never_overlap(qapp, scale, seed):
    draw = np.random.default_rng(seed)
    places = draw.uniform(0, 20, (60, 2))
    labels = Labels(tuple(f"place {n}" for n in range(60)), places, draw.uniform(0.1, 5, (60, 2)))
    metrics = QFontMetricsF(QFont())
    window = QRectF(0, 0, 400, 400)
    transform = QTransform.fromScale(scale, -scale).translate(0, -20)
    taken = boxes_of(draw.uniform((0, 0, 5, 5), (400, 400, 40, 20), (6, 4)))
    numbers, boxes = placed_labels(labels, transform, window, metrics, taken)
    assert not any(_touch(one, other) for at, one in enumerate(boxes) for other in [*boxes[:at], *taken])
    for number in numbers.tolist():
        assert (
            labels.sizes[number, 0] * scale
            >= 0.5 * metrics.horizontalAdvance(labels.texts[number]) - 1e-6
        )
    assert numbers.tolist() == sorted(numbers.tolist())


@pytest.fixture
def regions():
    halves = tuple("West" if number % SIDE < SIDE // 2 else "East" for number in range(SIDE * SIDE))
    plain = squares()
    return replace(plain, columns={"id": plain.ids, "half": halves}, labels={"half": halves})


@pytest.fixture
def shown(regions):
    owner = np.array([y // 2 * 2 + x // 2 for y in range(SIDE) for x in range(SIDE)], np.int32)
    return prepare_scene(
        1, solution_of(owner, QUARTER_SITES), None, prepare_region_geometry(regions), NO_PROGRESS
    )


def overlay_of(shown, look, before=None):
    return prepare_overlay(shown.geometry.base, shown.geometry, shown.names, look, before, NO_PROGRESS)


def write(path, *geometries):
    collected = shapely.geometrycollections(list(geometries))
    path.write_text(shapely.to_geojson(collected))
    return str(path)


@pytest.fixture
def canvas(qtbot):
    made = MapCanvas(LIGHT)
    qtbot.addWidget(made)
    made.resize(600, 600)
    made.show()
    qtbot.waitExposed(made)
    return made


def colours_at(canvas, x, y, reach=2):
    image, place = canvas.viewport().grab().toImage(), canvas.map_to_widget(x, y).toPoint()
    around = range(-reach, reach + 1)
    return {image.pixelColor(place.x() + i, place.y() + j).name() for i in around for j in around}


def test_layers_are_drawn_in_their_colour_and_order(shown, canvas, tmp_path):
    road = write(tmp_path / "road.geojson", shapely.LineString([(0.3, 1.5), (3.7, 1.5)]))
    rail = write(tmp_path / "rail.geojson", shapely.LineString([(0.3, 1.5), (3.7, 1.5)]))
    look = MapStyle().with_context(road).with_context(rail)
    assert [layer.colour for layer in look.context] == ["blue", "brown"]
    overlay = overlay_of(shown, look)
    canvas.show_map(shown.geometry)
    canvas.show_overlay(overlay, look)
    assert [row.text for row in canvas.legend.rows if row.mark == "line"] == ["road", "rail"]
    blue, brown = (QColor(colour).name() for colour in LIGHT.context[:2])
    assert brown in colours_at(canvas, 2.7, 1.5)
    assert blue not in colours_at(canvas, 2.7, 1.5)
    canvas.show_overlay(overlay, look.raised(0, 1))
    assert blue in colours_at(canvas, 2.7, 1.5)
    canvas.show_overlay(
        overlay, look.changed_context(1, visible=False).changed_context(0, colour="green")
    )
    assert QColor(LIGHT.context[2]).name() in colours_at(canvas, 2.7, 1.5)
    canvas.show_overlay(overlay, look.without_context(0).without_context(0))
    assert not {blue, brown} & colours_at(canvas, 2.7, 1.5)
    canvas.use_colours(DARK)
    canvas.show_overlay(overlay, look)
    assert QColor(DARK.context[1]).name() in colours_at(canvas, 2.7, 1.5)


def test_what_was_read_is_not_read_again_and_what_is_gone_is_told(shown, tmp_path):
    path = write(tmp_path / "road.geojson", shapely.LineString([(0.3, 1.5), (3.7, 1.5)]))
    look = MapStyle().with_context(path).with_context(str(tmp_path / "gone.geojson"))
    overlay = overlay_of(shown, look)
    (tmp_path / "road.geojson").unlink()
    again = overlay_of(shown, replace(look, outlines=("half",)), overlay)
    assert again.context[path] is overlay.context[path]
    assert not again.context[path].problem
    assert "no such file" in again.context[str(tmp_path / "gone.geojson")].problem
    far = write(tmp_path / "far.geojson", shapely.LineString([(9000, 0), (9001, 0)]))
    assert "near the regions" in overlay_of(shown, MapStyle().with_context(far)).context[far].problem


def test_areas_are_cut_to_the_surroundings_without_a_border_there(shown, tmp_path):
    path = write(tmp_path / "land.geojson", shapely.box(-9000, -9000, 2, 9000))
    drawn = overlay_of(shown, MapStyle().with_context(path)).context[path]
    assert np.abs(drawn.areas.xy).max() < 20
    assert set(drawn.lines.xy[:, 0].tolist()) == {2.0}


def test_outlines_are_the_borders_between_values_of_a_column(shown, regions):
    overlay = overlay_of(shown, MapStyle(outlines=("half",)))
    rings = overlay.outlines["half"]
    inner = (rings.xy[:, 1] > 0) & (rings.xy[:, 1] < SIDE)
    assert len(rings.starts) == 3
    assert set(np.round(rings.xy[inner, 0], 9).tolist()) == {0.0, SIDE / 2, float(SIDE)}
    points = replace(regions, polygons=None)
    base = prepare_region_geometry(points)
    of_points = prepare_overlay(
        base, None, (), MapStyle(outlines=("half",)), None, NO_PROGRESS
    ).outlines["half"]
    middle = (points.points[:, 0].min() + points.points[:, 0].max()) / 2
    assert np.isclose(of_points.xy[:, 0], middle).any()


def test_labels_are_codes_names_or_values_the_largest_first(shown, regions):
    assert set(overlay_of(shown, MapStyle(labels=CODES)).labels.texts) == set(shown.geometry.codes)
    assert set(overlay_of(shown, MapStyle(labels=NAMES)).labels.texts) == set(shown.names)
    of_column = overlay_of(shown, MapStyle(labels="half")).labels
    assert of_column.texts == ("East", "West")
    assert (of_column.positions[0] > of_column.positions[1])[0]
    assert overlay_of(shown, MapStyle()).labels is None


def test_labels_vanish_when_the_map_is_zoomed_out(shown, canvas):
    look = MapStyle(labels=CODES)
    overlay = overlay_of(shown, look)
    metrics = QFontMetricsF(canvas.font())
    window = QRectF(0, 0, 600, 600)
    near = placed_labels(overlay.labels, QTransform.fromScale(100, 100), window, metrics)[0]
    far = placed_labels(overlay.labels, QTransform.fromScale(3, 3), window, metrics)[0]
    assert len(near) == 4
    assert len(far) == 0
    before = canvas.viewport().grab().toImage()
    canvas.show_map(shown.geometry)
    without = canvas.viewport().grab().toImage()
    canvas.show_overlay(overlay, look)
    assert canvas.viewport().grab().toImage() != without != before


def test_labels_stay_clear_of_sites_scale_and_arrow(shown, canvas, monkeypatch):
    look = MapStyle(labels=CODES)
    drawn = []
    monkeypatch.setattr(
        overlay_picture,
        "placed_labels",
        lambda *given: drawn.append((given[4], placed_labels(*given))) or drawn[-1][1],
    )
    canvas.show_map(shown.geometry)
    canvas.show_overlay(overlay_of(shown, look), look)
    canvas.viewport().grab()
    taken, (numbers, boxes) = drawn[-1]
    assert len(taken) == 1 + len(QUARTER_SITES)
    assert len(numbers) == 4
    assert not any(_touch(box, other) for box in boxes for other in taken)
    # Each site is in the middle of its region, so that every label had to make way for one.
    middle = [canvas.map_to_widget(x, y) for x, y in QUARTER_SITES]
    assert all(any(box[0] <= at.x() <= box[2] for at in middle) for box in boxes)
    canvas.show_layers(DEFAULT_LAYERS - {Layer.SITES})
    canvas.viewport().grab()
    assert len(drawn[-1][0]) == 1
    picture = QImage(canvas.picture_size, QImage.Format.Format_RGB32)
    painter = QPainter(picture)
    canvas.paint_map(painter, QRectF(picture.rect()), north=True)
    painter.end()
    arrow, scale = drawn[-1][0]
    assert arrow[0] > 500
    assert arrow[1] < 20
    assert scale[3] > 560


def test_a_look_survives_the_project_file(tmp_path):
    layers = (ContextLayer(str(tmp_path / "in" / "coast.gpkg"), "green", False),)
    look = MapStyle("county", "@codes", ("county",), layers)
    told = json.loads(json.dumps(look.as_json(tmp_path / "in")))
    assert told["context"][0]["path"] == "coast.gpkg"
    moved = MapStyle.from_json(told, tmp_path / "there")
    assert moved.context[0] == replace(layers[0], path=str(tmp_path / "there" / "coast.gpkg"))
    assert MapStyle.from_json(told, tmp_path / "in") == look
    assert look.fitting({"id": ()}) == MapStyle(None, "@codes", (), layers)
    assert MapStyle.from_json({}, tmp_path) == MapStyle()


def test_the_layers_menu_adds_orders_colours_and_removes_files(solved, qapp, qtbot, tmp_path):
    bench = Bench(solved.state())
    view, map_cache = MapView(bench.context), map_cache_of(bench.context)
    qtbot.addWidget(view)
    view.resize(800, 600)
    view.show()
    qtbot.waitExposed(view)
    qtbot.waitUntil(lambda: map_cache.shown is not None)
    state, menu = bench.state, view.style_menu
    x, y = state.regions.points.mean(axis=0).tolist()
    first, second = (
        write(tmp_path / f"{name}.geojson", shapely.LineString([(x - 1, y), (x + 1, y)]))
        for name in ("coast", "roads")
    )
    state.modified = False
    for path in (first, second, first):
        menu.add(path)
    assert [layer.title for layer in state.map_style.context] == ["coast", "roads"]
    assert state.modified
    menu.add(str(tmp_path / "gone.shp"))
    qtbot.waitUntil(lambda: map_cache.overlay is not None and len(map_cache.overlay.context) == 3)
    menu.refresh()
    entries = [action.text() for action in menu.context.actions() if action.menu() is not None]
    assert entries == ["gone (not drawn)", "roads", "coast"]

    def entry(title, name):
        (inner,) = (action.menu() for action in menu.context.actions() if action.text() == title)
        return next(action for action in inner.actions() if action.text().replace("&", "") == name)

    entry("gone (not drawn)", "Remove").trigger()
    menu.refresh()
    entry("roads", "Move down").trigger()
    assert [layer.title for layer in state.map_style.context] == ["roads", "coast"]
    menu.refresh()
    entry("coast", "Show").trigger()
    assert not state.map_style.context[1].visible
    green = next(
        action for action in entry("roads", "Colour").menu().actions() if action.text() == "Green"
    )
    green.trigger()
    assert state.map_style.context[0].colour == "green"
    menu.refresh()
    codes = next(action for action in menu.labels.actions() if "Codes" in action.text())
    codes.trigger()
    qtbot.waitUntil(lambda: map_cache.overlay.labels is not None)
    assert set(map_cache.overlay.labels.texts) == set(map_cache.shown.geometry.codes)
    assert [row.text for row in view.canvas.legend.rows if row.mark == "line"] == ["roads"]
    bench.close()
