"""Two solutions side by side: linked maps and what differs."""

import threading

import numpy as np
import pytest
from map_samples import QUARTER_SITES, QUARTERS, solution_of, squares
from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtWidgets import QApplication

from vbas_desktop.ui.map.decorations import _line, _width
from vbas_desktop.ui.map.differences import changed_regions, differences
from vbas_desktop.ui.map.map_cache import map_cache_of
from vbas_desktop.ui.presentation.region_geometry import (
    coloured_like,
    prepare_region_geometry,
    prepare_solution_geometry,
)


def test_differences_list_measures_and_changed_owners():
    base = prepare_region_geometry(squares())
    left = solution_of(QUARTERS, QUARTER_SITES, suppressed_records=40, average_distance=2000.0)
    owner = QUARTERS.copy()
    owner[15] = 2
    right = solution_of(owner, QUARTER_SITES, id=2, suppressed_records=30, average_distance=2500.0)
    changed = changed_regions(base, left, right)
    assert changed.nonzero()[0].tolist() == [15]
    rows = {row.what: row for row in differences(base, left, right, 1)}
    assert rows["Suppressed records"].change == "−10 (−25.0 %)"
    assert rows["Suppressed records"].better == 1
    assert (rows["Average distance, km"].left, rows["Average distance, km"].right) == ("2.000", "2.500")
    assert rows["Average distance, km"].better == -1
    assert rows["Aggregated regions"].change == "equal"
    assert rows["Initial regions in another aggregated region"].right == "1 of 16"


def test_counterparts_have_one_colour_on_both_maps():
    base = prepare_region_geometry(squares())
    left = prepare_solution_geometry(base, solution_of(QUARTERS, QUARTER_SITES))
    renumbered = np.array([3, 2, 1, 0])[QUARTERS]
    right = coloured_like(
        prepare_solution_geometry(base, solution_of(renumbered, QUARTER_SITES[::-1])), left
    )
    assert right.colours[renumbered].tolist() == left.colours[QUARTERS].tolist()


@pytest.fixture
def comparison(aggregated_window, qtbot):
    """The window with the chosen solution compared with the last one."""
    view = aggregated_window.area.map
    qtbot.waitUntil(lambda: map_cache_of(aggregated_window.context).shown is not None)
    view._compare.setChecked(True)
    qtbot.waitUntil(lambda: map_cache_of(aggregated_window.context).pair is not None)
    qtbot.waitUntil(lambda: view.comparison.right.geometry_shown is not None)
    return view.comparison


def test_both_maps_show_their_solutions(comparison, aggregated_window):
    state = aggregated_window.state
    assert comparison.left.geometry_shown.solution.owner is state.selected.solution.owner
    assert comparison.right.geometry_shown.solution.owner is state.compared.solution.owner
    assert state.selected is not state.compared
    assert comparison.measures.model().rowCount() > 6


def test_both_maps_have_the_same_view(comparison):
    comparison.left.show_rect(QRectF(200, 200, 300, 300))
    assert comparison.right.view_rect == comparison.left.view_rect
    comparison.right.zoom_in()
    assert comparison.left.view_rect.width() == pytest.approx(comparison.right.view_rect.width())


def test_hovering_lifts_the_region_at_the_same_place_on_both(comparison):
    x, y = comparison.left.base.points[3]
    comparison.left.region_hovered.emit(0, 3, float(x), float(y))
    for canvas in (comparison.left, comparison.right):
        assert canvas._hovered == int(canvas.geometry_shown.solution.membership[3])
        assert not canvas.hover_card.isHidden()
    comparison.left.pointer_left.emit()
    assert comparison.right._hovered is None


def test_a_changed_region_chosen_in_the_list_is_outlined_on_both(comparison):
    assert comparison.changed_model.rowCount() > 0
    comparison.regions.selectRow(0)
    assert comparison.left.chosen is not None
    assert comparison.right.chosen is not None


def test_another_solution_can_be_put_on_either_side(comparison, aggregated_window, qtbot):
    state = aggregated_window.state
    third = next(e for e in state.entries if e not in (state.selected, state.compared))
    comparison.right_choice.activated.emit(comparison.right_choice.findData(third.number))
    qtbot.waitUntil(lambda: map_cache_of(aggregated_window.context).pair is not None)
    qtbot.waitUntil(lambda: comparison.right.geometry_shown is not None)
    assert comparison.right.geometry_shown.solution.owner is third.solution.owner
    assert map_cache_of(aggregated_window.context).pair.right.solution.owner is third.solution.owner


@pytest.mark.parametrize("side", ["left", "right"])
def test_when_one_side_changes_nothing_of_the_solution_before_is_shown(
    comparison, aggregated_window, qtbot, side
):
    state = aggregated_window.state
    model = comparison.measures.model()

    def shown():
        rows = {model.index(row, 0).data(): row for row in range(model.rowCount())}
        cells = [model.index(rows["Sites"], column).data() for column in (1, 2)]
        return [int(text) for text in cells]

    assert shown() == [state.selected.solution.site_count, state.compared.solution.site_count]
    used = {state.selected.solution.site_count, state.compared.solution.site_count}
    third = next(entry for entry in state.entries if entry.solution.site_count not in used)
    (state.select if side == "left" else state.compare_with)(third.number)
    # At once: the maps are prepared in a thread, which has not had the time.
    assert shown() == [state.selected.solution.site_count, state.compared.solution.site_count]
    for canvas, entry in ((comparison.left, state.selected), (comparison.right, state.compared)):
        drawn = canvas.geometry_shown
        assert drawn is None or drawn.solution.owner is entry.solution.owner
    qtbot.waitUntil(lambda: map_cache_of(aggregated_window.context).pair is not None)
    qtbot.waitUntil(
        lambda: (
            comparison.right.geometry_shown is not None and comparison.left.geometry_shown is not None
        )
    )
    assert shown() == [state.selected.solution.site_count, state.compared.solution.site_count]


def test_done_brings_the_one_map_back(comparison, aggregated_window):
    view = aggregated_window.area.map
    assert view.comparing
    comparison.closed.emit()
    assert not view.comparing
    assert not view._compare.isChecked()
    assert aggregated_window.state.compared is None


def test_two_rows_chosen_in_the_table_are_compared(aggregated_window):
    tab, state = aggregated_window.tab("Results"), aggregated_window.state
    one, other = (entry.number for entry in state.entries[:2])
    tab._compare(one, other)
    assert aggregated_window.area.map.comparing
    assert (state.selected.number, state.compared.number) == (one, other)


def test_a_row_chosen_in_the_table_is_drawn_on_the_map(aggregated_window, qtbot):
    tab, state = aggregated_window.tab("Results"), aggregated_window.state
    aggregated_window.show_tab("Results")
    place = tab.table.visualRect(tab.table_model.index(1, 1)).center()
    qtbot.mouseClick(tab.table.viewport(), Qt.MouseButton.LeftButton, pos=place)
    view = aggregated_window.area.map
    wanted = state.entries[1]
    assert state.selected is wanted
    qtbot.waitUntil(lambda: map_cache_of(aggregated_window.context).shown is not None)
    assert view.canvas.geometry_shown.solution.owner is wanted.solution.owner


def test_a_comparison_needs_two_solutions(window):
    view = window.area.map
    view._compare.setChecked(True)
    assert not view.comparing
    assert not view._compare.isChecked()
    assert "Two solutions are needed" in window.status.what.text()


def test_the_legends_stand_below_the_maps_in_full(comparison):
    for canvas, strip in comparison.legends.items():
        assert len(strip.places(strip.width())) == len(canvas.legend.rows) + 1
        assert strip.geometry().top() >= canvas.geometry().bottom()
        for place, row in strip.places(strip.width()):
            assert place.x() + _width(canvas.legend, strip.font(), row) <= strip.width()
            assert place.y() + _line(strip.font()) <= strip.height()


def test_what_differs_is_found_off_the_windows_thread(comparison, aggregated_window, monkeypatch, qtbot):
    threads = []
    unhindered = changed_regions

    def watched(*arguments):
        threads.append(threading.get_ident())
        return unhindered(*arguments)

    monkeypatch.setattr("vbas_desktop.ui.map.differences.changed_regions", watched)
    state = aggregated_window.state
    third = next(e for e in state.entries if e not in (state.selected, state.compared))
    state.compare_with(third.number)
    qtbot.waitUntil(lambda: bool(threads), timeout=60_000)
    assert threading.get_ident() not in threads


def test_in_a_small_window_nothing_scrolls_sideways_and_the_maps_get_most_of_the_height(
    comparison, aggregated_window, qtbot
):
    aggregated_window.resize(1024, 700)
    aggregated_window.open_tab("Results")
    qtbot.waitUntil(lambda: aggregated_window.size() == QSize(1024, 700))
    for place, table in enumerate((comparison.measures, comparison.regions)):
        comparison.lists.tabs.setCurrentIndex(place)
        QApplication.processEvents()
        assert table.isVisible()
        assert table.horizontalScrollBar().maximum() == 0
    assert not comparison.measures.isVisible()
    assert comparison.left.height() > comparison.lists.height()


def test_in_a_large_window_both_lists_are_seen(comparison, aggregated_window, qtbot):
    assert comparison.measures.isVisible()
    assert comparison.regions.isVisible()
    assert comparison.lists.tabs.isHidden()


def test_a_tab_that_is_asked_for_brings_the_hidden_panel_back(aggregated_window):
    aggregated_window.menus.panel.setChecked(False)
    assert not aggregated_window.tabs.isVisible()
    view = next(
        action.menu() for action in aggregated_window.menuBar().actions() if action.text() == "&View"
    )
    next(action for action in view.actions() if action.text() == "&3 Regions").trigger()
    assert aggregated_window.tabs.isVisible()
    assert aggregated_window.menus.panel.isChecked()
    assert aggregated_window.tabs.currentWidget() is aggregated_window.tab("Regions")


def test_changes_of_size_never_make_the_maps_smaller(comparison, aggregated_window, qtbot):
    comparison.legends[comparison.right].setMinimumHeight(90)
    for width in (1024, 1440, 1100, 1300, 1024, 1440):
        aggregated_window.resize(width, 700)
        QApplication.processEvents()
    for canvas in (comparison.left, comparison.right):
        low_x, low_y, high_x, high_y = canvas.base.bounds
        shown = canvas.view_rect
        fits = max((high_x - low_x) / shown.width(), (high_y - low_y) / shown.height())
        assert 0.85 < fits <= 1
