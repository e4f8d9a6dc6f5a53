"""Charts draw what they are given; pictures of charts and maps become files."""

from dataclasses import replace
from functools import partial
from xml.etree import ElementTree

import numpy as np
import pyqtgraph as pg
import pytest
from map_samples import QUARTER_SITES, QUARTERS, solution_of, squares
from pypdf import PdfReader
from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QContextMenuEvent, QFontInfo, QGuiApplication, QImage
from PySide6.QtWidgets import QApplication, QFileDialog, QLabel, QMenu

from vbas_desktop.approaches.registry import list_approaches
from vbas_desktop.ui.charts.by_sites import SitesChart
from vbas_desktop.ui.charts.distributions import GroupedBarChart
from vbas_desktop.ui.charts.histogram import HistogramChart
from vbas_desktop.ui.charts.legend import symbol_of
from vbas_desktop.ui.charts.parallel_axes import ParallelAxesChart
from vbas_desktop.ui.charts.trade_off import TradeOffChart
from vbas_desktop.ui.core.theme import DARK, LIGHT, contrast
from vbas_desktop.ui.map.canvas import MapCanvas
from vbas_desktop.ui.map.layers import Layer
from vbas_desktop.ui.map.map_cache import map_cache_of
from vbas_desktop.ui.map.save_dialog import MapExportOptions, SaveMapDialog, add_title
from vbas_desktop.ui.presentation.chart_data import (
    ChartAxis,
    SeriesStyle,
    SolutionRow,
    assign_styles,
    find_front,
    series_key,
    short_number,
)
from vbas_desktop.ui.presentation.region_geometry import (
    prepare_region_geometry,
    prepare_solution_geometry,
)
from vbas_desktop.ui.widgets.image_export import (
    PageSize,
    record,
    render_image,
    save_drawing,
    side_by_side,
)

LOST, FAR = (
    ChartAxis("lost", "Suppressed records", "records"),
    ChartAxis("far", "Average distance", "km"),
)
DENSITY, RANDOM = SeriesStyle(0, 0, 0), SeriesStyle(1, 1, 1)
ROWS = (
    SolutionRow(1, "Density", 10, {"lost": 40, "far": 3.0}, True, "Recommended", DENSITY),
    SolutionRow(2, "Random", 10, {"lost": 80, "far": 2.0}, True, style=RANDOM),
    SolutionRow(3, "Density", 20, {"lost": 60, "far": 4.0}, style=DENSITY),
    SolutionRow(4, "Random", 20, {"lost": None, "far": 5.0}, style=RANDOM),
)


@pytest.fixture(params=[SitesChart, TradeOffChart, ParallelAxesChart])
def chart(request, qtbot):
    return shown(request.param(LIGHT), qtbot)


def shown(chart, qtbot, rows=ROWS, measures=(LOST, FAR)):
    """The chart with these rows, as large as below the results."""
    qtbot.addWidget(chart)
    chart.resize(480, 320)
    chart.show()
    qtbot.waitExposed(chart)
    chart.show_rows(rows, list(measures))
    chart.grab()
    return chart


def drawn_texts(chart, path) -> list[str]:
    svg = ElementTree.parse(save_drawing(record(chart.size(), chart.paint_chart), path))
    return ["".join(text.itertext()).strip() for text in svg.iter("{http://www.w3.org/2000/svg}text")]


def test_every_known_solution_can_be_pointed_at(chart):
    known = {1, 2, 3} | ({4} if isinstance(chart, ParallelAxesChart) else set())
    assert {number for _, number in chart.marks()} == known
    for position, number in chart.marks():
        assert chart.number_at(position) == number
        assert chart.tip_at(position).startswith(f"#{number}: ")


def test_clicks_beside_everything_choose_nothing(chart):
    assert chart.number_at(QPointF(1, 1)) is None


def test_a_tip_tells_the_solution_and_its_measures(chart):
    assert chart.tip(ROWS[0]).splitlines()[:3] == [
        "#1: Density, 10 sites",
        "Recommended, Pareto-optimal",
        "Suppressed records: 40 records",
    ]
    assert "–" in chart.tip(ROWS[3])


def test_an_empty_chart_says_so_and_draws(qtbot):
    chart = SitesChart(LIGHT)
    qtbot.addWidget(chart)
    assert not chart.grab().isNull()
    assert chart.findChild(QLabel).text() == "Nothing to draw yet."


def test_the_arrow_keys_choose_the_next_solution_and_the_wheel_zooms(qtbot):
    chart = shown(TradeOffChart(LIGHT), qtbot)
    chosen = []
    chart.solution_clicked.connect(chosen.append)
    chart.solution_clicked.connect(chart.select)
    for _ in range(3):
        qtbot.keyClick(chart, Qt.Key.Key_Right)
    qtbot.keyClick(chart, Qt.Key.Key_Left)
    assert chosen == [1, 3, 2, 3], "from left to right"
    assert "Chosen: #3: Density, 20 sites" in chart.accessibleDescription()
    before = {number: position for position, number in chart.marks()}
    qtbot.keyClick(chart, Qt.Key.Key_Plus)
    after = {number: position for position, number in chart.marks()}
    assert after[2].x() - after[1].x() > before[2].x() - before[1].x()
    qtbot.keyClick(chart, Qt.Key.Key_Home)
    chart.grab()
    again = {number: position for position, number in chart.marks()}
    assert again[1].x() == pytest.approx(before[1].x(), abs=1)


def test_a_line_joins_the_solutions_of_each_approach_by_number_of_sites(qtbot):
    chart = shown(SitesChart(LIGHT), qtbot, measures=(LOST,))
    series = {name: [row.number for row in rows] for name, rows in chart.list_series().items()}
    assert series == {"Density": [1, 3], "Random": [2]}
    image = chart.grab().toImage()
    for position, number in chart.marks():
        row = ROWS[number - 1]
        if row.star:
            assert (
                image.pixelColor(position.toPoint()).name() == chart.approach_colour(row.approach).name()
            )


def approaches(**names):
    """A solution that is made by these approaches."""
    made = {
        "site_location": "adc",
        "construction": "voronoi",
        "refinement": "none",
        "tiers": "none",
        **names,
    }
    return replace(solution_of(QUARTERS, QUARTER_SITES), approaches=made)


def test_every_site_location_has_a_colour_and_a_symbol_of_its_own_whatever_else_is_drawn():
    locations = list(list_approaches("site_location"))
    solutions = [approaches(site_location=name) for name in locations]
    styles = [assign_styles(chosen) for chosen in (solutions, solutions[::-1], solutions[2:4])]
    for solution in solutions:
        assert (
            len({known[series_key(solution)] for known in styles if series_key(solution) in known}) == 1
        )
    colours = {LIGHT.series_colour(style.colour) for style in styles[0].values()}
    symbols = {symbol_of(style) for style in styles[0].values()}
    assert len(colours) == len(symbols) == len(locations)


def test_other_approaches_of_one_location_differ_in_symbol_and_dash_and_later_runs_change_no_style():
    first, grown = approaches(), approaches(construction="growth")
    styles = assign_styles([first, grown])
    one, other = styles[series_key(first)], styles[series_key(grown)]
    assert one.colour == other.colour
    assert symbol_of(one) != symbol_of(other)
    assert one.dash != other.dash
    later = assign_styles(
        [first, grown, approaches(construction="crop"), approaches(site_location="random")]
    )
    assert {key: later[key] for key in styles} == styles


@pytest.mark.parametrize("scheme", [LIGHT, DARK], ids=["light", "dark"])
def test_everything_that_is_drawn_in_charts_has_a_contrast_of_three_to_one(scheme, qtbot):
    def luminance(name):
        parts = [QColor(name).redF(), QColor(name).greenF(), QColor(name).blueF()]
        linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    bars = GroupedBarChart(scheme, "People", "Classes")
    qtbot.addWidget(bars)
    drawn = {
        *scheme.lines,
        *(scheme.faint(colour) for colour in scheme.lines),
        *(colour.name() for colour in bars.series_colours()),
        scheme.accent,
        scheme.field,
        scheme.text,
        scheme.muted,
    }
    for colour in drawn:
        high, low = sorted((luminance(colour), luminance(scheme.base)), reverse=True)
        assert (high + 0.05) / (low + 0.05) >= 3, colour
        assert contrast(colour, scheme.base) == pytest.approx((high + 0.05) / (low + 0.05))


def test_dominated_lines_of_the_parallel_axes_are_faint_but_seen(qtbot):
    chart = shown(ParallelAxesChart(LIGHT), qtbot)
    pens = {
        item.opts["pen"].color().name() for item in chart.item.listDataItems() if hasattr(item, "opts")
    }
    assert {LIGHT.series_colour(0), LIGHT.faint(LIGHT.series_colour(0))} <= pens


def test_ranges_of_the_parallel_axes_are_set_by_keyboard(qtbot):
    chart = shown(ParallelAxesChart(LIGHT), qtbot)
    with qtbot.assertNotEmitted(chart.ranges_changed):
        qtbot.keyClick(chart, Qt.Key.Key_PageDown)
        qtbot.keyClick(chart, Qt.Key.Key_PageDown)
    assert "Axis: Average distance." in chart.accessibleDescription()
    for _ in range(8):
        qtbot.keyClick(chart, Qt.Key.Key_Down)
    qtbot.keyClick(chart, Qt.Key.Key_Up, Qt.KeyboardModifier.ShiftModifier)
    low, high = chart.ranges["far"]
    assert (low, high) == (pytest.approx(2.15), pytest.approx(3.8)), "the axis runs from 2 to 5"
    assert "Ranges: Average distance from 2.15 to 3.8." in chart.accessibleDescription()
    with qtbot.waitSignal(chart.ranges_changed):
        qtbot.keyClick(chart, Qt.Key.Key_Backspace)
    assert chart.ranges == {}
    chosen = []
    chart.solution_clicked.connect(chosen.append)
    qtbot.keyClick(chart, Qt.Key.Key_Escape)
    qtbot.keyClick(chart, Qt.Key.Key_Down)
    assert chosen == [1], "without an axis the arrows choose solutions"


def test_every_chart_describes_what_is_drawn_and_chosen(chart):
    chart.select(1)
    text = chart.accessibleDescription()
    assert text.startswith(
        "4 solutions: Suppressed records, Average distance. Approaches: Density, Random."
    )
    assert "Chosen: #1: Density, 10 sites, Recommended, Pareto-optimal" in text
    assert text.endswith("The table lists the same solutions.")


def test_the_front_is_a_staircase_and_the_recommended_solution_is_named(qtbot, tmp_path):
    chart = shown(TradeOffChart(LIGHT), qtbot)
    steps = [item.getData() for item in chart.item.listDataItems() if isinstance(item, pg.PlotDataItem)]
    assert [(x.tolist(), y.tolist()) for x, y in steps] == [([40, 80, 80], [3, 3, 2])]
    texts = drawn_texts(chart, tmp_path / "chart.svg")
    assert {"Recommended", "Pareto front", "Filled: Pareto-optimal"} <= set(texts)


def test_the_front_of_measures_of_which_more_is_better_turns_its_steps():
    more = [replace(axis, lower_is_better=False) for axis in (LOST, FAR)]
    assert find_front(ROWS, *more) == [(60.0, 4.0), (80.0, 2.0)]


def test_a_histogram_counts_every_solution_once_and_a_click_chooses_one_after_the_other(qtbot):
    rows = [
        SolutionRow(n, "Density", 10, {"lost": value}) for n, value in enumerate((0, 1, 1, 9, 10), 1)
    ]
    chart = shown(HistogramChart(LIGHT), qtbot, rows, (LOST,))
    assert [[row.number for row in bar.rows] for bar in chart.bars] == [[1, 2, 3], [4, 5]]
    chosen = []
    chart.solution_clicked.connect(chosen.append)
    chart.solution_clicked.connect(chart.select)
    first = chart.bars[0]
    middle = chart.to_widget((first.left + first.right) / 2, 1.5)
    for _ in range(4):
        chart.click_at(middle)
    assert chosen == [1, 2, 3, 1]
    assert chart.tip_at(middle).splitlines() == [
        "Density: 3 solutions",
        "Suppressed records: 0 to 2",
        "#1, #2, #3",
    ]
    assert chart.tip_at(QPointF(1, 1)) == ""


@pytest.mark.parametrize("kind", [HistogramChart, SitesChart])
def test_counts_have_ticks_at_whole_numbers_only(kind, qtbot, tmp_path):
    rows = [SolutionRow(n, "Density", n, {"lost": 1000 + n}) for n in (1, 2)]
    texts = drawn_texts(shown(kind(LIGHT), qtbot, rows, (LOST,)), tmp_path / "chart.svg")
    assert {"1"} < set(texts)
    assert not [text for text in texts if text in ("0.5", "1.5", "1.2", "1.4")]


def test_ticks_of_a_narrow_range_of_large_numbers_are_told_apart(qtbot, tmp_path):
    rows = [SolutionRow(1, "Density", 10, {"lost": 1_155_432, "far": 2.0})]
    texts = drawn_texts(shown(TradeOffChart(LIGHT), qtbot, rows), tmp_path / "chart.svg")
    numbers = [text for text in texts if text.replace(",", "").replace(".", "").isdigit()]
    assert "1,155,432" in {text.partition(".")[0] for text in numbers}
    assert len(set(numbers)) == len(numbers)


def test_the_ring_of_the_selected_solution_is_seen_on_a_bar_of_any_colour(qtbot):
    rows = [SolutionRow(n, "Density", 10, {"lost": n}, style=DENSITY) for n in range(1, 30)]
    chart = shown(HistogramChart(LIGHT), qtbot, rows, (LOST,))
    chart.select(15)
    before = QImage(chart.grab().toImage())
    (middle,) = [position for position, number in chart.marks() if number == 15]
    colours = {
        before.pixelColor((middle + QPointF(x, 0)).toPoint()).name() for x in np.arange(0, 14, 0.5)
    }
    assert {LIGHT.base, LIGHT.accent} <= colours


def test_a_chart_is_saved_with_its_legend_titles_and_numbers_as_text(qtbot, tmp_path):
    chart = shown(TradeOffChart(LIGHT), qtbot)
    texts = drawn_texts(chart, tmp_path / "chart.svg")
    assert {"Density", "Random", "Suppressed records", "Average distance (km)", "60"} <= set(texts)
    assert "<image" not in (tmp_path / "chart.svg").read_text()
    assert chart.list_numbers() == [
        ["solution", "approach", "sites", "lost", "far"],
        ["1", "Density", "10", "40", "3.0"],
        ["2", "Random", "10", "80", "2.0"],
        ["3", "Density", "20", "60", "4.0"],
        ["4", "Random", "20", "", "5.0"],
    ]


def test_bars_of_a_category_tell_their_counts(qtbot):
    chart = GroupedBarChart(LIGHT, "People in the class", "Classes")
    qtbot.addWidget(chart)
    chart.resize(480, 320)
    chart.show()
    qtbot.waitExposed(chart)
    chart.show_series(["1", "2", "> 2"], {"Before": [5, 3, 1], "Planned": [0, 4, 2]})
    chart.grab()
    assert chart.tip_at(chart.to_widget(1, 2)) == "People in the class: 2\nBefore: 3\nPlanned: 4"
    assert chart.list_numbers() == [
        ["People in the class", "Before", "Planned"],
        ["1", "5", "0"],
        ["2", "3", "4"],
        ["> 2", "1", "2"],
    ]


def test_the_front_of_two_measures_runs_from_left_to_right():
    assert find_front(ROWS, LOST, FAR) == [(40.0, 3.0), (80.0, 2.0)]


def test_equal_values_still_have_an_axis(qtbot):
    chart = shown(TradeOffChart(LIGHT), qtbot, [SolutionRow(1, "A", 1, {"lost": 0, "far": 5})])
    assert [number for _, number in chart.marks()] == [1]


def test_numbers_on_axes_are_short():
    assert [short_number(value) for value in (0, 0.25, 1500, 2.5e6, 3.1e9)] == [
        "0",
        "0.25",
        "1,500",
        "2.5 M",
        "3.1 G",
    ]


@pytest.fixture
def canvas(qtbot):
    canvas = MapCanvas(LIGHT)
    qtbot.addWidget(canvas)
    canvas.resize(700, 300)
    canvas.show()
    qtbot.waitExposed(canvas)
    canvas.show_layers(frozenset({Layer.AREA, Layer.AGGREGATED, Layer.SITES}))
    canvas.show_map(
        prepare_solution_geometry(
            prepare_region_geometry(squares()), solution_of(QUARTERS, QUARTER_SITES)
        )
    )
    return canvas


def test_a_map_is_saved_as_png_with_the_right_colours(canvas, tmp_path):
    drawing = record(canvas.picture_size, canvas.paint_map)
    target = save_drawing(drawing, tmp_path / "map.png")
    image = QImage(str(target))
    assert image.size() == canvas.picture_size * 2
    geometry = canvas.geometry_shown
    for region in (0, 3, 12, 15):
        place = canvas.map_to_widget(*geometry.base.points[region]) * 2
        assert (
            image.pixelColor(place.toPoint()).name() == LIGHT.fills[geometry.colours[QUARTERS[region]]]
        )
    ring = canvas.map_to_widget(*QUARTER_SITES[0]) * 2
    assert image.pixelColor(ring.toPoint()).name() == LIGHT.canvas


def test_a_map_is_saved_as_svg_and_pdf_of_its_size(canvas, tmp_path):
    drawing = record(canvas.picture_size, canvas.paint_map)
    svg = save_drawing(drawing, tmp_path / "map.svg").read_text()
    assert svg.count("<path") >= 4
    assert "4 aggregated regions" in svg
    page = PdfReader(save_drawing(drawing, tmp_path / "map.pdf")).pages[0]
    width, height = canvas.picture_size.width(), canvas.picture_size.height()
    assert float(page.mediabox.width) / float(page.mediabox.height) == pytest.approx(
        width / height, rel=0.01
    )
    assert "4 aggregated regions" in " ".join(page.extract_text().split())


def test_hatches_and_fonts_of_an_svg_are_those_of_the_screen(qtbot, canvas, tmp_path):
    owner, records = QUARTERS.copy(), np.full(16, 3)
    owner[15], records[QUARTERS == 1] = 0, 0
    canvas.show_map(
        prepare_solution_geometry(
            prepare_region_geometry(squares()).with_records(records), solution_of(owner, QUARTER_SITES)
        )
    )
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
        assert len(marks) == 8, (
            "the hatch is in the pattern, not in a mask that some programs do not know"
        )
    assert not list(svg.iter(f"{name}mask"))
    families = {g.get("font-family") for g in svg.iter(f"{name}g")} - {None}
    drawn = QFontInfo(canvas.font()).family()
    assert families == {f"'{drawn}', Verdana, sans-serif"}


def test_a_name_without_a_known_ending_becomes_a_png(tmp_path):
    drawing = record(
        QSize(20, 10), lambda painter, area: painter.fillRect(QRectF(area), QColor("#123456"))
    )
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
    qtbot.waitUntil(lambda: map_cache_of(aggregated_window.context).shown is not None)
    view.save()
    asked = view.findChild(SaveMapDialog)
    asked.title.setText("Where they live")
    asked.go.click()
    dialog = view.findChild(QFileDialog)
    with qtbot.waitSignal(aggregated_window.worker.job_ended, timeout=60_000):
        dialog.fileSelected.emit(str(tmp_path / "map.svg"))
    dialog.close()
    svg = (tmp_path / "map.svg").read_text()
    assert '<svg width="170mm"' in svg
    assert "Where they live" in svg


def test_a_map_is_saved_in_the_size_and_resolution_that_is_requested(canvas, tmp_path):
    drawing, paper = record(canvas.picture_size, canvas.paint_map), PageSize(127.0, 200)
    ratio = drawing.size.height() / drawing.size.width()
    image = QImage(str(save_drawing(drawing, tmp_path / "map.png", paper)))
    assert image.width() == 1000
    assert image.height() == pytest.approx(1000 * ratio, abs=1)
    assert image.dotsPerMeterX() == round(200 / 0.0254)
    geometry, factor = canvas.geometry_shown, 1000 / drawing.size.width()
    for region in (0, 3, 12, 15):
        place = canvas.map_to_widget(*geometry.base.points[region]) * factor
        assert (
            image.pixelColor(place.toPoint()).name() == LIGHT.fills[geometry.colours[QUARTERS[region]]]
        )
    page = PdfReader(save_drawing(drawing, tmp_path / "map.pdf", paper)).pages[0]
    assert float(page.mediabox.width) == pytest.approx(360, abs=1)
    assert (
        '<svg width="127mm" height="' in save_drawing(drawing, tmp_path / "map.svg", paper).read_text()
    )


def test_a_title_and_a_north_arrow_are_drawn_if_requested(canvas):
    plain = record(canvas.picture_size, canvas.paint_map)
    arrow = record(canvas.picture_size, partial(canvas.paint_map, north=True))
    assert render_image(plain) != render_image(arrow)
    with_title = add_title(plain, "Aggregated regions of the county", canvas.font(), LIGHT)
    above = with_title.size.height() - plain.size.height()
    image, before = render_image(with_title), render_image(plain)
    assert above > 0
    assert image.copy(0, 2 * above, before.width(), before.height()) == before
    long = add_title(plain, "many words " * 30, canvas.font(), LIGHT)
    assert long.size.height() > with_title.size.height()


def test_the_dialog_keeps_the_size_in_another_unit_and_refuses_what_is_too_large(canvas, qtbot):
    dialog = SaveMapDialog(QSize(800, 400), "Title", False, canvas)
    qtbot.addWidget(dialog)
    assert not dialog.north.isEnabled()
    assert dialog.export_options == MapExportOptions("Title", False, PageSize(170.0, 300))
    dialog.unit.setCurrentIndex(1)
    assert dialog.width_box.value() == round(170 / 25.4 * 300)
    assert dialog.paper.pixels == 2008
    assert dialog.told.text() == "170 × 85 mm, 2,008 × 1,004 pixels"
    dialog.unit.setCurrentIndex(0)
    dialog.width_box.setValue(5000)
    assert not dialog.go.isEnabled()


def test_two_maps_stand_beside_each_other_in_one_picture(canvas):
    one = record(canvas.picture_size, canvas.paint_map)
    alone, both = render_image(one), render_image(side_by_side(one, one))
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
    assert entries(menu) == [
        "Show everything",
        "Copy chart",
        "Save chart as PNG, SVG or PDF…",
        "Save numbers as CSV…",
    ]
    QGuiApplication.clipboard().clear()
    with qtbot.waitSignal(aggregated_window.worker.job_ended, timeout=60_000):
        next(action for action in menu.actions() if action.text() == "&Copy chart").trigger()
    menu.close()
    copied = QGuiApplication.clipboard().image()
    assert copied.size() == panel.chart.size() * 2
    assert copied.pixelColor(1, 1).name() == LIGHT.base


def test_the_menu_key_opens_the_menu_of_the_map(aggregated_window, qtbot):
    view = aggregated_window.area.map
    qtbot.waitUntil(lambda: map_cache_of(aggregated_window.context).shown is not None)
    place = view.canvas.rect().center()
    event = QContextMenuEvent(QContextMenuEvent.Reason.Keyboard, place, view.canvas.mapToGlobal(place))
    QApplication.sendEvent(view.canvas.viewport(), event)
    menu = menu_of(view)
    assert entries(menu) == [
        "Fit",
        "Compare two solutions",
        "Layers",
        "Copy map",
        "Save map as PNG, SVG or PDF…",
    ]
    with qtbot.waitSignal(aggregated_window.worker.job_ended, timeout=60_000):
        next(action for action in menu.actions() if "py map" in action.text()).trigger()
    menu.close()
    assert QGuiApplication.clipboard().image().size() == view.canvas.picture_size * 2
