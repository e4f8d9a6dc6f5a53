"""Charts draw what they are given; pictures of charts and maps become files."""

from functools import partial
from xml.etree import ElementTree

import numpy as np
import pytest
from map_samples import QUARTER_SITES, QUARTERS, solution_of, squares
from pypdf import PdfReader
from PySide6.QtCore import QPointF, QRectF, QSize
from PySide6.QtGui import QColor, QContextMenuEvent, QFontInfo, QGuiApplication, QImage
from PySide6.QtWidgets import QApplication, QFileDialog, QMenu

from vbas_desktop.ui.charts.parallel import ParallelChart
from vbas_desktop.ui.charts.plots import BarsChart, ScatterChart
from vbas_desktop.ui.charts.rows import ChartRow, Measure, front_of, nice_ticks, padded, short_number
from vbas_desktop.ui.map.canvas import MapCanvas
from vbas_desktop.ui.map.geometry import prepare_base, prepare_map
from vbas_desktop.ui.map.layers import Layer
from vbas_desktop.ui.map.save_dialog import MapWish, SaveMapDialog, titled
from vbas_desktop.ui.pictures import Paper, painted, record, save_drawing, side_by_side
from vbas_desktop.ui.theme import LIGHT

LOST, FAR = Measure("lost", "Suppressed records", "records"), Measure("far", "Average distance", "km")
ROWS = (
    ChartRow(1, "Density", 10, {"lost": 40, "far": 3.0}, True),
    ChartRow(2, "Random", 10, {"lost": 80, "far": 2.0}, True),
    ChartRow(3, "Density", 20, {"lost": 60, "far": 4.0}),
    ChartRow(4, "Random", 20, {"lost": None, "far": 5.0}),
)


@pytest.fixture(params=[BarsChart, ScatterChart, ParallelChart])
def chart(request, qtbot):
    chart = request.param(LIGHT)
    qtbot.addWidget(chart)
    chart.resize(480, 320)
    chart.show_rows(ROWS, [LOST, FAR])
    chart.grab()
    return chart


def test_every_known_solution_can_be_pointed_at(chart):
    known = {1, 2, 3} | ({4} if isinstance(chart, ParallelChart) else set())
    assert {number for _, number in chart._spots} == known


def test_clicks_beside_everything_choose_nothing(chart):
    assert chart.number_at(QPointF(1, 1)) is None


def test_a_tip_tells_the_solution_and_its_measures(chart):
    assert chart.tip(ROWS[0]).splitlines()[:2] == ["1: Density, 10 sites", "Suppressed records: 40 records"]
    assert "–" in chart.tip(ROWS[3])


def test_an_empty_chart_says_so_and_draws(qtbot):
    chart = BarsChart(LIGHT)
    qtbot.addWidget(chart)
    assert not chart.grab().isNull()


def test_bars_stand_in_one_group_per_site_number_with_one_bar_per_approach(qtbot):
    chart = BarsChart(LIGHT)
    qtbot.addWidget(chart)
    chart.resize(480, 320)
    chart.show_rows(ROWS, [LOST])
    assert {sites: list(group) for sites, group in chart.bars().items()} == {10: ["Density", "Random"], 20: ["Density"]}
    image = chart.grab().toImage()
    heights = {number: spot.height() for spot, number in chart._spots}
    assert (heights[2] - 6) / (heights[1] - 6) == pytest.approx(2, rel=0.02)
    for spot, number in chart._spots:
        row = ROWS[number - 1]
        assert image.pixelColor(spot.center().toPoint()).name() == chart.approach_colour(row.approach).name()


def test_every_site_number_below_the_bars_is_told_where_there_is_room(qtbot, tmp_path):
    chart = BarsChart(LIGHT)
    qtbot.addWidget(chart)
    chart.resize(450, 320)
    numbers = (8, 9, 10, 11, 12, 32, 38, 39, 43, 44, 48, 52, 53, 55, 58)
    chart.show_rows(tuple(ChartRow(each, "Density", each, {"lost": 1000 + each}) for each in numbers), [LOST])
    svg = ElementTree.parse(save_drawing(record(chart.size(), chart.paint_chart), tmp_path / "bars.svg"))
    texts = ["".join(text.itertext()).strip() for text in svg.iter("{http://www.w3.org/2000/svg}text")]
    assert [text for text in texts if text in map(str, numbers)] == [str(each) for each in numbers]


def test_the_front_of_two_measures_runs_from_left_to_right():
    assert front_of(ROWS, "lost", "far") == [(40.0, 3.0), (80.0, 2.0)]


def test_equal_values_still_have_an_axis(qtbot):
    chart = ScatterChart(LIGHT)
    qtbot.addWidget(chart)
    chart.show_rows([ChartRow(1, "A", 1, {"lost": 0, "far": 5})], [LOST, FAR])
    chart.grab()
    assert [number for _, number in chart._spots] == [1]


def test_ticks_are_round():
    assert nice_ticks(0, 10) == [0, 2, 4, 6, 8, 10]
    assert nice_ticks(3, 3) == [3]
    assert np.allclose(nice_ticks(-0.02, 0.07), [-0.02, 0, 0.02, 0.04, 0.06])
    assert padded([]) == (0.0, 1.0)


def test_numbers_on_axes_are_short():
    assert [short_number(value) for value in (0, 0.25, 1500, 2.5e6, 3.1e9)] == ["0", "0.25", "1,500", "2.5 M", "3.1 G"]


@pytest.fixture
def canvas(qtbot):
    canvas = MapCanvas(LIGHT)
    qtbot.addWidget(canvas)
    canvas.resize(700, 300)
    canvas.show()
    qtbot.waitExposed(canvas)
    canvas.show_layers(frozenset({Layer.AREA, Layer.AGGREGATED, Layer.SITES}))
    canvas.show_map(prepare_map(prepare_base(squares()), solution_of(QUARTERS, QUARTER_SITES)))
    return canvas


def test_a_map_is_saved_as_png_with_the_right_colours(canvas, tmp_path):
    drawing = record(canvas.picture_size, canvas.paint_map)
    target = save_drawing(drawing, tmp_path / "map.png")
    image = QImage(str(target))
    assert image.size() == canvas.picture_size * 2
    geometry = canvas.geometry_shown
    for region in (0, 3, 12, 15):
        place = canvas.position_of(*geometry.base.points[region]) * 2
        assert image.pixelColor(place.toPoint()).name() == LIGHT.fills[geometry.colours[QUARTERS[region]]]
    ring = canvas.position_of(*QUARTER_SITES[0]) * 2
    assert image.pixelColor(ring.toPoint()).name() == LIGHT.canvas


def test_a_map_is_saved_as_svg_and_pdf_of_its_size(canvas, tmp_path):
    drawing = record(canvas.picture_size, canvas.paint_map)
    svg = save_drawing(drawing, tmp_path / "map.svg").read_text()
    assert svg.count("<path") >= 4
    assert "4 aggregated regions" in svg
    page = PdfReader(save_drawing(drawing, tmp_path / "map.pdf")).pages[0]
    width, height = canvas.picture_size.width(), canvas.picture_size.height()
    assert float(page.mediabox.width) / float(page.mediabox.height) == pytest.approx(width / height, rel=0.01)
    assert "4 aggregated regions" in " ".join(page.extract_text().split())


def test_hatches_and_fonts_of_an_svg_are_those_of_the_screen(qtbot, canvas, tmp_path):
    owner, records = QUARTERS.copy(), np.full(16, 3)
    owner[15], records[QUARTERS == 1] = 0, 0
    canvas.show_map(prepare_map(prepare_base(squares()).with_records(records), solution_of(owner, QUARTER_SITES)))
    target = save_drawing(record(canvas.picture_size, canvas.paint_map), tmp_path / "map.svg")
    svg = ElementTree.parse(target).getroot()
    name = "{http://www.w3.org/2000/svg}"
    hatched = [g for g in svg.iter(f"{name}g") if g.get("fill", "").startswith("url(#fillpattern")]
    assert len(hatched) == 4, "two on the map, two in the legend"
    assert {g.get("transform") for g in hatched} == {"matrix(1,0,0,1,0,0)"}, "as fine as on the screen"
    patterns = {f"url(#{pattern.get('id')})": pattern for pattern in svg.iter(f"{name}pattern")}
    for g in hatched:
        (marks,) = patterns[g.get("fill")]
        assert marks.get("fill").startswith("#")
        assert len(marks) == 8, "the hatch is in the pattern, not in a mask that some programs do not know"
    assert not list(svg.iter(f"{name}mask"))
    families = {g.get("font-family") for g in svg.iter(f"{name}g")} - {None}
    drawn = QFontInfo(canvas.font()).family()
    assert families == {f"'{drawn}', Verdana, sans-serif"}


def test_a_name_without_a_known_ending_becomes_a_png(tmp_path):
    drawing = record(QSize(20, 10), lambda painter, area: painter.fillRect(QRectF(area), QColor("#123456")))
    target = save_drawing(drawing, tmp_path / "picture.v2")
    assert target.name == "picture.v2.png"
    assert QImage(str(target)).pixelColor(5, 5).name() == "#123456"
    assert [path.name for path in tmp_path.iterdir()] == ["picture.v2.png"]


def test_a_folder_that_does_not_exist_is_an_error_and_leaves_nothing(tmp_path):
    drawing = record(QSize(20, 10), lambda painter, area: None)
    with pytest.raises(OSError, match="could not be written"):
        save_drawing(drawing, tmp_path / "nowhere" / "picture.png")


def test_the_window_saves_the_map_in_the_background(aggregated_window, qtbot, tmp_path):
    view = aggregated_window.area.map
    qtbot.waitUntil(lambda: view._preparer.shown is not None, timeout=60_000)
    view.save()
    asked = view.findChild(SaveMapDialog)
    asked.title.setText("Where they live")
    asked.go.click()
    dialog = view.findChild(QFileDialog)
    with qtbot.waitSignal(aggregated_window.runner.job_ended, timeout=60_000):
        dialog.fileSelected.emit(str(tmp_path / "map.svg"))
    dialog.close()
    svg = (tmp_path / "map.svg").read_text()
    assert '<svg width="170mm"' in svg
    assert "Where they live" in svg


def test_a_map_is_saved_in_the_size_and_resolution_that_is_wanted(canvas, tmp_path):
    drawing, paper = record(canvas.picture_size, canvas.paint_map), Paper(127.0, 200)
    ratio = drawing.size.height() / drawing.size.width()
    image = QImage(str(save_drawing(drawing, tmp_path / "map.png", paper)))
    assert image.width() == 1000
    assert image.height() == pytest.approx(1000 * ratio, abs=1)
    assert image.dotsPerMeterX() == round(200 / 0.0254)
    geometry, factor = canvas.geometry_shown, 1000 / drawing.size.width()
    for region in (0, 3, 12, 15):
        place = canvas.position_of(*geometry.base.points[region]) * factor
        assert image.pixelColor(place.toPoint()).name() == LIGHT.fills[geometry.colours[QUARTERS[region]]]
    page = PdfReader(save_drawing(drawing, tmp_path / "map.pdf", paper)).pages[0]
    assert float(page.mediabox.width) == pytest.approx(360, abs=1)
    assert '<svg width="127mm" height="' in save_drawing(drawing, tmp_path / "map.svg", paper).read_text()


def test_a_title_and_a_north_arrow_are_drawn_if_wanted(canvas):
    plain = record(canvas.picture_size, canvas.paint_map)
    arrow = record(canvas.picture_size, partial(canvas.paint_map, north=True))
    assert painted(plain) != painted(arrow)
    with_title = titled(plain, "Aggregated regions of the county", canvas.font(), LIGHT)
    above = with_title.size.height() - plain.size.height()
    image, before = painted(with_title), painted(plain)
    assert above > 0
    assert image.copy(0, 2 * above, before.width(), before.height()) == before
    long = titled(plain, "many words " * 30, canvas.font(), LIGHT)
    assert long.size.height() > with_title.size.height()


def test_the_dialog_keeps_the_size_in_another_unit_and_refuses_what_is_too_large(canvas, qtbot):
    dialog = SaveMapDialog(QSize(800, 400), "Title", False, canvas)
    qtbot.addWidget(dialog)
    assert not dialog.north.isEnabled()
    assert dialog.wish == MapWish("Title", False, Paper(170.0, 300))
    dialog.unit.setCurrentIndex(1)
    assert dialog.width_box.value() == round(170 / 25.4 * 300)
    assert dialog.paper.pixels == 2008
    assert dialog.told.text() == "170 × 85 mm, 2,008 × 1,004 pixels"
    dialog.unit.setCurrentIndex(0)
    dialog.width_box.setValue(5000)
    assert not dialog.go.isEnabled()


def test_two_maps_stand_beside_each_other_in_one_picture(canvas):
    one = record(canvas.picture_size, canvas.paint_map)
    alone, both = painted(one), painted(side_by_side(one, one))
    assert both.size() == QSize(2 * alone.width(), alone.height())
    for half in (0, alone.width()):
        assert both.copy(half, 0, alone.width(), alone.height()) == alone


def menu_of(widget):
    """The menu that is open."""
    return next(menu for menu in widget.findChildren(QMenu) if menu.isVisible())


def entries(menu) -> list[str]:
    return [action.text().replace("&", "") for action in menu.actions() if not action.isSeparator()]


def test_a_chart_is_copied_or_saved_from_its_menu_and_nothing_else(aggregated_window, qtbot):
    aggregated_window.show_tab("Results")
    panel = aggregated_window.tab("Results").charts
    panel.chart.open_menu(panel.chart.mapToGlobal(panel.chart.rect().center()))
    menu = menu_of(panel.chart)
    assert entries(menu) == ["Copy chart", "Save chart as PNG, SVG or PDF…"]
    QGuiApplication.clipboard().clear()
    with qtbot.waitSignal(aggregated_window.runner.job_ended, timeout=60_000):
        menu.actions()[0].trigger()
    menu.close()
    copied = QGuiApplication.clipboard().image()
    assert copied.size() == panel.chart.size() * 2
    assert copied.pixelColor(1, 1).name() == LIGHT.base


def test_the_menu_key_opens_the_menu_of_the_map(aggregated_window, qtbot):
    view = aggregated_window.area.map
    qtbot.waitUntil(lambda: view._preparer.shown is not None, timeout=60_000)
    place = view.canvas.rect().center()
    event = QContextMenuEvent(QContextMenuEvent.Reason.Keyboard, place, view.canvas.mapToGlobal(place))
    QApplication.sendEvent(view.canvas.viewport(), event)
    menu = menu_of(view)
    assert entries(menu) == ["Fit", "Compare two solutions", "Layers", "Copy map", "Save map as PNG, SVG or PDF…"]
    with qtbot.waitSignal(aggregated_window.runner.job_ended, timeout=60_000):
        next(action for action in menu.actions() if "py map" in action.text()).trigger()
    menu.close()
    assert QGuiApplication.clipboard().image().size() == view.canvas.picture_size * 2
