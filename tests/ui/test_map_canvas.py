"""The canvas: pixels that are right, and what clicking, hovering, dragging and keys do."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from map_samples import QUARTER_SITES, QUARTERS, problem_of, solution_of, squares
from PySide6.QtCore import QEvent, QPoint, QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QImage, QMouseEvent
from PySide6.QtWidgets import QApplication
from scipy.ndimage import find_objects, label

from vbas_desktop.model.progress import NO_PROGRESS
from vbas_desktop.model.regions import CoordinateKind
from vbas_desktop.ui.core.theme import DARK, LIGHT, contrast
from vbas_desktop.ui.map.canvas import MapCanvas
from vbas_desktop.ui.map.hover_card import card_text
from vbas_desktop.ui.map.layers import Layer
from vbas_desktop.ui.map.map_cache import map_cache_of
from vbas_desktop.ui.pages import PAGES
from vbas_desktop.ui.presentation.region_geometry import (
    prepare_region_geometry,
    prepare_solution_geometry,
)
from vbas_desktop.ui.presentation.region_measures import RegionMeasure, find_measure
from vbas_desktop.ui.presentation.scene import prepare_scene

FILLS_ONLY = frozenset({Layer.AREA, Layer.AGGREGATED})


@pytest.fixture
def canvas(qtbot):
    canvas = MapCanvas(LIGHT)
    qtbot.addWidget(canvas)
    canvas.resize(1000, 500)
    canvas.show()
    qtbot.waitExposed(canvas)
    return canvas


def geometry_of(owner=QUARTERS, sites=QUARTER_SITES, polygons=True, records=None):
    base = prepare_region_geometry(squares(polygons)).with_records(records)
    return prepare_solution_geometry(base, solution_of(owner, sites))


def pixel(canvas, x, y):
    """The colour at a place of the map."""
    place = canvas.map_to_widget(x, y).toPoint()
    return canvas.viewport().grab().toImage().pixelColor(place).name()


def send(
    canvas, kind, x, y, button=Qt.MouseButton.NoButton, keys=Qt.KeyboardModifier.NoModifier, held=None
):
    place = canvas.map_to_widget(x, y)
    everywhere = QPointF(canvas.viewport().mapToGlobal(place.toPoint()))
    event = QMouseEvent(kind, place, everywhere, button, button if held is None else held, keys)
    QApplication.sendEvent(canvas.viewport(), event)


@pytest.mark.parametrize("colours", [LIGHT, DARK])
def test_each_initial_region_has_the_fill_of_its_aggregated_region(canvas, colours):
    geometry = geometry_of()
    canvas.use_colours(colours)
    canvas.show_layers(FILLS_ONLY)
    canvas.show_map(geometry)
    for region, (x, y) in enumerate(geometry.base.points):
        assert pixel(canvas, x, y) == colours.fills[geometry.colours[QUARTERS[region]]]


def test_the_legend_stands_below_the_map_in_full_at_any_width(aggregated_window, qtbot):
    view = aggregated_window.area.map
    qtbot.waitUntil(lambda: map_cache_of(aggregated_window.context).shown is not None)
    aggregated_window.state.colour_by("suppressed")
    for width in (1440, 1024):
        aggregated_window.resize(width, 680)
        qtbot.waitUntil(lambda: view.legend.height() == view.legend.heightForWidth(view.legend.width()))
        shown = [row for _, row in view.legend.places(view.legend.width())]
        assert shown == [None, *view.canvas.legend.rows]
        assert len(shown) > 5
        assert view.legend.geometry().top() > view.canvas.geometry().bottom()


def test_outside_of_the_study_area_is_canvas(canvas):
    canvas.show_map(geometry_of())
    assert pixel(canvas, -0.5, 2) == LIGHT.canvas


def test_points_without_polygons_are_drawn_in_cells_of_their_sites(canvas):
    geometry = geometry_of(polygons=False)
    canvas.show_layers(FILLS_ONLY)
    canvas.show_map(geometry)
    for region, (x, y) in enumerate(geometry.base.points):
        assert pixel(canvas, x, y) == LIGHT.fills[geometry.colours[QUARTERS[region]]]


@pytest.mark.parametrize("kind", [CoordinateKind.PLANAR, CoordinateKind.DEGREES])
@pytest.mark.parametrize("extent", [0.02, 4.0, 4000.0])
def test_points_are_squares_however_many_pixels_a_map_unit_has(canvas, kind, extent):
    regions = squares(polygons=False, kind=kind, unit="degree")
    canvas.show_layers(frozenset({Layer.POINTS}))
    canvas.show_base(prepare_region_geometry(replace(regions, points=45 + regions.points * extent / 4)))
    image = canvas.viewport().grab().toImage().convertToFormat(QImage.Format.Format_RGB32)
    pixels = np.frombuffer(image.constBits(), np.uint32).reshape(image.height(), image.width())
    # Without the scale bar, which stands in the lower right corner.
    drawn = (pixels & 0xFFFFFF != QColor(LIGHT.canvas).rgb() & 0xFFFFFF)[:-60]
    found, number = label(drawn)
    sizes = {
        (rows.stop - rows.start, columns.stop - columns.start) for rows, columns in find_objects(found)
    }
    assert number >= 12
    assert len(sizes) == 1
    (high, wide) = sizes.pop()
    assert high == wide


def test_the_zoom_box_has_the_colours_of_the_theme(canvas):
    for colours in (LIGHT, DARK):
        canvas.use_colours(colours)
        box = canvas.box.rbScaleBox
        assert box.pen().color().name() == box.brush().color().name() == colours.accent


def test_red_is_left_to_errors(canvas):
    owner, records = QUARTERS.copy(), np.full(16, 3)
    records[4] = 0
    base = prepare_region_geometry(squares()).with_records(records)
    geometry = prepare_solution_geometry(base, solution_of(owner, [*QUARTER_SITES, (9.0, 9.0)]))
    canvas.show_map(geometry, changed=np.arange(16) < 4, words="in another aggregated region")
    marks = {row.text: row.colour for row in canvas.legend.rows}
    assert marks["in another aggregated region (4)"] == LIGHT.mark
    assert LIGHT.error not in marks.values()
    image = canvas.viewport().grab().toImage().convertToFormat(QImage.Format.Format_RGB32)
    seen = set(np.unique(np.frombuffer(image.constBits(), np.uint32) & 0xFFFFFF).tolist())
    assert int(LIGHT.mark[1:], 16) in seen
    assert int(LIGHT.error[1:], 16) not in seen


def test_a_figure_colours_from_little_to_much(canvas):
    geometry = geometry_of()
    canvas.show_layers(FILLS_ONLY)
    canvas.show_map(geometry, RegionMeasure("records", "Records", np.array([10, 20, 30, 40])))
    low, high = LIGHT.sequence[0], LIGHT.sequence[-1]
    assert pixel(canvas, 0.5, 0.5) == low
    assert pixel(canvas, 3.5, 3.5) == high
    canvas.show_map(canvas.geometry_shown)
    assert pixel(canvas, 0.5, 0.5) == LIGHT.fills[geometry.colours[0]]


def test_degrees_are_drawn_with_longitude_to_the_right(canvas):
    base = prepare_region_geometry(squares(kind=CoordinateKind.DEGREES, unit="degree"))
    geometry = prepare_solution_geometry(base, solution_of(QUARTERS))
    canvas.show_layers(FILLS_ONLY)
    canvas.show_map(geometry)
    # Square 3 has x (latitude) 3.5 and y (longitude) 0.5: up and left.
    assert pixel(canvas, 0.5 * base.frame.x_scale, 3.5) == LIGHT.fills[geometry.colours[QUARTERS[3]]]


def test_a_hole_shows_what_lies_in_it(canvas):
    owner = np.zeros(16, np.int32)
    owner[5] = 1
    geometry = geometry_of(owner, None)
    canvas.show_layers(FILLS_ONLY)
    canvas.show_map(geometry)
    assert pixel(canvas, 1.5, 1.5) == LIGHT.fills[geometry.colours[1]]
    assert pixel(canvas, 2.5, 1.5) == LIGHT.fills[geometry.colours[0]]


def test_regions_without_records_are_hatched_not_filled(canvas):
    geometry = geometry_of(records=np.where(QUARTERS == 0, 0, 5))
    canvas.show_layers(FILLS_ONLY)
    canvas.show_map(geometry)
    image = canvas.viewport().grab().toImage()
    low, high = canvas.map_to_widget(0.2, 1.8).toPoint(), canvas.map_to_widget(1.8, 0.2).toPoint()
    seen = {
        image.pixelColor(x, y).name() for x in range(low.x(), high.x()) for y in range(low.y(), high.y())
    }
    assert LIGHT.base in seen
    assert len(seen) == 2
    assert LIGHT.fills[geometry.colours[0]] not in seen


def test_regions_in_several_pieces_are_dotted(canvas):
    owner = QUARTERS.copy()
    owner[15] = 0
    geometry = geometry_of(owner, None)
    canvas.show_layers(FILLS_ONLY)
    canvas.show_map(geometry)
    image = canvas.viewport().grab().toImage()
    corner, far = canvas.map_to_widget(3.2, 3.8).toPoint(), canvas.map_to_widget(3.8, 3.2).toPoint()
    seen = [
        image.pixelColor(x, y).name()
        for x in range(corner.x(), far.x())
        for y in range(corner.y(), far.y())
    ]
    assert len(set(seen)) == 2
    assert LIGHT.fills[geometry.colours[0]] in seen


def test_sites_are_rings_and_those_that_attract_nothing_are_crosses(canvas):
    geometry = geometry_of(sites=[*QUARTER_SITES, (2.4, 2.4)])
    canvas.show_layers(FILLS_ONLY | {Layer.SITES})
    canvas.show_map(geometry)
    assert pixel(canvas, 1.0, 1.0) == LIGHT.canvas
    cross, wanted = QColor(pixel(canvas, 2.4, 2.4)), QColor(LIGHT.warning)
    assert max(abs(a - b) for a, b in zip(cross.getRgb(), wanted.getRgb(), strict=True)) < 12


def test_layers_can_be_switched_off(canvas):
    canvas.show_layers(frozenset())
    canvas.show_map(geometry_of())
    assert pixel(canvas, 0.5, 0.5) == LIGHT.canvas
    canvas.show_layers(frozenset({Layer.AREA}))
    assert pixel(canvas, 0.5, 0.5) == LIGHT.base


def test_a_click_chooses_the_region_under_it_and_nothing_outside(canvas, qtbot):
    canvas.show_map(geometry_of())
    chosen = []
    canvas.region_clicked.connect(chosen.append)
    for x, y in ((3.5, 0.5), (-0.4, 2.0)):
        place = canvas.map_to_widget(x, y).toPoint()
        qtbot.mouseClick(canvas.viewport(), Qt.MouseButton.LeftButton, pos=place)
    assert chosen == [1, None]


def test_dragging_pans_and_is_no_click(canvas):
    canvas.show_map(geometry_of())
    chosen = []
    canvas.region_clicked.connect(chosen.append)
    before = canvas.view_rect
    drag(canvas, (1.0, 1.0), (2.0, 1.0))
    assert canvas.view_rect.center().x() == pytest.approx(before.center().x() - 1.0, abs=0.05)
    assert canvas.view_rect.width() == pytest.approx(before.width())
    assert chosen == []


def drag(canvas, begin, end, keys=Qt.KeyboardModifier.NoModifier):
    """Press, move in steps and release, all at places of the map as they were before."""
    start, stop = canvas.map_to_widget(*begin), canvas.map_to_widget(*end)
    left, none = Qt.MouseButton.LeftButton, Qt.MouseButton.NoButton
    moves = [
        (QEvent.Type.MouseMove, start + (stop - start) * share, none, left) for share in (0.3, 0.6, 1.0)
    ]
    steps = [(QEvent.Type.MouseButtonPress, start, left, left), *moves]
    steps.append((QEvent.Type.MouseButtonRelease, stop, left, none))
    for kind, place, button, held in steps:
        everywhere = QPointF(canvas.viewport().mapToGlobal(place.toPoint()))
        QApplication.sendEvent(
            canvas.viewport(), QMouseEvent(kind, place, everywhere, button, held, keys)
        )


def test_a_box_drawn_with_shift_becomes_the_view(canvas):
    canvas.show_map(geometry_of())
    drag(canvas, (0.5, 0.5), (1.5, 1.5), Qt.KeyboardModifier.ShiftModifier)
    assert canvas.view_rect.center().x() == pytest.approx(1.0, abs=0.05)
    assert canvas.view_rect.center().y() == pytest.approx(1.0, abs=0.05)
    assert canvas.view_rect.height() == pytest.approx(1.0, rel=0.1)


def test_a_double_click_zooms_to_the_region(canvas, qtbot):
    canvas.show_map(geometry_of())
    whole = canvas.view_rect
    place = canvas.map_to_widget(3.5, 0.5).toPoint()
    qtbot.mouseDClick(canvas.viewport(), Qt.MouseButton.LeftButton, pos=place)
    assert canvas.view_rect.contains(QRectF(2, 0, 2, 2))
    assert canvas.view_rect.height() < whole.height()
    canvas.fit()
    assert canvas.view_rect == whole


def test_keys_zoom_fit_and_pan(canvas, qtbot):
    canvas.show_map(geometry_of())
    whole = canvas.view_rect
    qtbot.keyClick(canvas, Qt.Key.Key_Plus)
    assert canvas.view_rect.width() == pytest.approx(whole.width() / 1.5)
    qtbot.keyClick(canvas, Qt.Key.Key_Minus)
    assert canvas.view_rect.width() == pytest.approx(whole.width())
    qtbot.keyClick(canvas, Qt.Key.Key_Right)
    assert canvas.view_rect.center().x() == pytest.approx(whole.center().x() + whole.width() * 0.1)
    qtbot.keyClick(canvas, Qt.Key.Key_F)
    assert canvas.view_rect.center().x() == pytest.approx(whole.center().x())


def test_hovering_tells_what_is_under_the_pointer(canvas):
    canvas.show_map(geometry_of())
    told = []
    canvas.region_hovered.connect(lambda aggregated, region, x, y: told.append((aggregated, region)))
    send(canvas, QEvent.Type.MouseMove, 3.5, 2.5)
    assert told == [(3, 11)]


def test_the_hover_card_says_records_anonymity_and_suppressed():
    regions = squares()
    problem = problem_of(regions, [[3, 10]] + [[20, 20]] * 15)
    shown = prepare_scene(
        1, solution_of(np.arange(16)), problem, prepare_region_geometry(regions), NO_PROGRESS
    )
    text = card_text(shown.geometry.base, shown.geometry, shown.figures, 0, 0)
    assert text.split("<br>") == [
        "<b>Aggregated region A013</b>",
        "13 records, 3 suppressed (23.08 %)",
        "anonymity 3 → 10",
        "1 initial region",
        "<span>Initial region S00: 13 records</span>",
    ]


def test_the_map_is_painted_once_and_then_blitted_until_it_changes(canvas, qtbot):
    canvas.show_map(geometry_of())
    canvas.viewport().repaint()
    painted = canvas.item.sharp_paintings
    canvas.hover(1)
    canvas.choose(2)
    canvas.viewport().repaint()
    assert canvas.item.sharp_paintings == painted
    canvas.zoom_in()
    canvas.viewport().repaint()
    assert canvas.item.sharp_paintings == painted
    assert canvas.item.moving
    qtbot.waitUntil(lambda: not canvas.item.moving, timeout=60_000)
    canvas.viewport().repaint()
    assert canvas.item.sharp_paintings == painted + 1


def test_the_chosen_region_is_outlined_in_the_accent_colour(canvas):
    canvas.show_layers(FILLS_ONLY)
    canvas.show_map(geometry_of())
    canvas.choose(0)
    image = canvas.viewport().grab().toImage()
    border = canvas.map_to_widget(2.0, 1.0).toPoint()
    near = {image.pixelColor(border + QPoint(offset, 0)).name() for offset in (-1, 0, 1)}
    assert LIGHT.accent in near


def test_a_region_that_the_shown_solution_does_not_have_is_not_chosen(canvas):
    canvas.show_map(geometry_of())
    canvas.choose(99)
    canvas.zoom_to(99)
    assert canvas.chosen is None


def test_figures_are_found_by_name():
    figure = RegionMeasure("records", "Records", np.array([1]))
    assert find_measure((figure,), "records") is figure
    assert find_measure((figure,), "other") is None


def test_a_map_that_gets_its_size_late_still_shows_everything(qtbot):
    canvas = MapCanvas(LIGHT)
    qtbot.addWidget(canvas)
    canvas.resize(1, 1)
    base = prepare_region_geometry(squares())
    canvas.show_base(base)
    canvas.show()
    canvas.resize(700, 500)
    low_x, low_y, high_x, high_y = base.bounds
    assert canvas.view_rect.contains(QRectF(low_x, low_y, high_x - low_x, high_y - low_y))
    assert canvas.view_rect.height() < 2 * (high_y - low_y)
    canvas.zoom(4)
    closer = canvas.view_rect.width()
    canvas.resize(720, 500)
    assert canvas.view_rect.width() < 1.5 * closer


def test_the_legend_counts_one_aggregated_region_as_one(canvas):
    canvas.show_map(geometry_of(owner=np.zeros(len(QUARTERS), np.int64), sites=QUARTER_SITES[:1]))
    assert canvas.legend.title == "1 aggregated region"


@pytest.mark.parametrize("colours", [LIGHT, DARK], ids=["light", "dark"])
def test_borders_between_regions_of_one_colour_are_seen_on_every_fill(canvas, colours):
    canvas.use_colours(colours)
    canvas.show_layers(FILLS_ONLY)
    geometry = geometry_of()
    steps = np.arange(len(colours.sequence), dtype=float)
    for step, expected in enumerate(colours.sequence):
        values = np.array([step, step, 0, 0], float)
        canvas.show_map(geometry, RegionMeasure("records", "Records", values, scale=steps))
        fill = pixel(canvas, 1.5, 0.5)
        assert fill == pixel(canvas, 2.5, 0.5) == expected
        place = canvas.map_to_widget(2.0, 0.5).toPoint()
        image = canvas.viewport().grab().toImage()
        across = [image.pixelColor(place.x() + offset, place.y()).name() for offset in range(-4, 5)]
        assert max(contrast(one, other) for one, other in pairwise(across)) >= 3, (step, across)


def test_esc_closes_the_card_wherever_the_focus_is(aggregated_window, qtbot):
    window = aggregated_window
    view = window.area.map
    qtbot.waitUntil(lambda: map_cache_of(window.context).shown is not None)
    x, y = view.canvas.base.points[0].tolist()
    view.canvas.show_hover_card("somewhere", x, y)
    assert view.canvas.hover_card.isVisible()
    results = window.tab("Results")
    window.activateWindow()
    results.setFocus()
    qtbot.keyClick(window, Qt.Key.Key_Escape)
    assert not view.canvas.hover_card.isVisible()


def test_esc_closes_the_card_of_a_page_before_the_page(aggregated_window, qtbot):
    window = aggregated_window
    page = window.area.show_page(next(page for page in PAGES if page.title == "Representability"))
    canvas = page.main.map.canvas
    qtbot.waitUntil(lambda: canvas.base is not None, timeout=60_000)
    canvas.show_hover_card("somewhere", *canvas.base.points[0].tolist())
    window.activateWindow()
    qtbot.keyClick(window, Qt.Key.Key_Escape)
    assert not canvas.hover_card.isVisible()
    assert page.isVisible()
    qtbot.keyClick(window, Qt.Key.Key_Escape)
    assert not page.isVisible()


def test_the_map_says_in_words_what_is_shown_and_chosen(aggregated_window, qtbot):
    window = aggregated_window
    view = window.area.map
    qtbot.waitUntil(
        lambda: map_cache_of(window.context).shown is not None and not window.background.busy
    )
    scene = map_cache_of(window.context).shown
    window.state.colour_by("suppressed")
    window.state.choose_region(2)
    words = view.canvas.accessibleDescription()
    assert view.canvas.accessibleName() == "Map"
    assert view.bar.title.text() in words
    assert "Coloured by Suppressed records" in words
    assert f"Chosen: Aggregated region {scene.geometry.codes[2]}" in words
    records = int(find_measure(scene.figures, "records").values[2])
    assert f"{records:,} records, " in words
    assert "Regions lists all of them as a table" in words
    window.state.choose_region(None)
    assert "Chosen" not in view.canvas.accessibleDescription()
