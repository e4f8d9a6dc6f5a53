"""The regions tab: figures of aggregated regions, why they lost records, and the map that follows."""

from dataclasses import replace

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from solved import Bench

from vbas_desktop.algorithms.region_codes import make_region_names
from vbas_desktop.engine.region_table import (
    build_region_table,
    count_class_sizes,
    explain_suppression,
    list_class_sizes,
)
from vbas_desktop.releases.plan import build_plan
from vbas_desktop.ui.map.hover_card import card_text
from vbas_desktop.ui.map.map_cache import map_cache_of
from vbas_desktop.ui.map.map_view import MapView
from vbas_desktop.ui.panels.regions_model import exact_rows
from vbas_desktop.ui.panels.regions_panel import RegionsPanel
from vbas_desktop.ui.panels.results_panel import ResultsPanel
from vbas_desktop.ui.presentation.scene import matches
from vbas_desktop.ui.state.app_state import AppState
from vbas_desktop.ui.state.words import vector_in_words


@pytest.fixture
def shown_window(solved, qapp, qtbot):
    """Map and regions tab with a solution, without the rest of the window."""
    bench = Bench(solved.state())
    bench.map, bench.tab = MapView(bench.context), RegionsPanel(bench.context)
    for part, width in ((bench.map, 900), (bench.tab, 440)):
        qtbot.addWidget(part)
        part.resize(width, 700)
        part.show()
        qtbot.waitExposed(part)
    qtbot.waitUntil(lambda: map_cache_of(bench.context).shown is not None)
    yield bench
    bench.close()


@pytest.fixture
def tab(shown_window):
    return shown_window.tab


def titles(tab):
    return [tab.table_model.title(column) for column in range(tab.table_model.columnCount())]


def test_each_aggregated_region_is_listed_with_its_figures(tab, shown_window):
    entry = shown_window.state.selected
    table = build_region_table(entry.problem, entry.solution)
    assert tab.table_model.rowCount() == entry.solution.aggregated_regions
    for title, values in (
        ("Records", table.records),
        ("Suppressed records", table.suppressed),
        ("Initial regions", np.bincount(entry.solution.membership)),
    ):
        column = titles(tab).index(title)
        shown = [
            tab.table_model.index(tab.table_model.position_of(region), column).data()
            for region in range(len(values))
        ]
        assert shown == [f"{value:,}" for value in values.tolist()]


def test_regions_are_called_and_ordered_as_in_the_release(tab, shown_window):
    entry = shown_window.state.selected
    codes = build_plan(entry.problem, entry.solution).codes
    listed = [tab.table_model.index(row, 0).data() for row in range(tab.table_model.rowCount())]
    assert listed == sorted(codes)
    assert [tab.table_model.row_at(row) for row in range(len(codes))] == [
        codes.index(code) for code in listed
    ]
    shown = tab.table_model.shown
    assert [row[0] for row in exact_rows(shown)[1:]] == list(codes)
    assert f"<b>Aggregated region {codes[3]}</b>" in card_text(
        shown.geometry.base, shown.geometry, (), 3, None
    )
    shown_window.state.choose_region(3)
    assert tab.table.currentIndex().siblingAtColumn(0).data() == codes[3]


def test_a_chosen_row_is_outlined_on_the_map_which_zooms_to_it(tab, shown_window, qtbot):
    canvas = shown_window.map.canvas
    before = canvas.view_rect
    place = tab.table.visualRect(tab.table_model.index(2, 1)).center()
    qtbot.mouseClick(tab.table.viewport(), Qt.MouseButton.LeftButton, pos=place)
    assert shown_window.state.chosen_region == tab.table_model.row_at(2)
    assert canvas.chosen == tab.table_model.row_at(2)
    assert canvas.view_rect != before


def test_a_click_on_the_map_chooses_the_row_and_leaves_the_view(tab, shown_window, qtbot):
    canvas = shown_window.map.canvas
    before = canvas.view_rect
    solution, base = shown_window.state.selected.solution, canvas.base
    place = canvas.map_to_widget(*base.points[7]).toPoint()
    qtbot.mouseClick(canvas.viewport(), Qt.MouseButton.LeftButton, pos=place)
    assert shown_window.state.chosen_region == int(solution.membership[7])
    assert tab.table.currentIndex().row() == tab.table_model.position_of(int(solution.membership[7]))
    assert canvas.view_rect == before


def test_the_classes_below_k_are_told_in_the_words_of_the_file(tab, shown_window, qtbot):
    entry = shown_window.state.selected
    table = build_region_table(entry.problem, entry.solution)
    region = int(np.argmax(table.suppressed))
    shown_window.state.choose_region(region)
    expected = explain_suppression(entry.problem, entry.solution, region)
    view = tab.why
    qtbot.waitUntil(lambda: not view.vector.isHidden(), timeout=60_000)
    lost = sum(each.size for each in expected)
    assert f"lost {lost:,} record" in view.headline.text()
    classes = view.classes.model()
    cells = [
        [classes.index(row, column).data() for column in range(classes.columnCount())]
        for row in range(classes.rowCount())
    ]
    assert cells == [[*each.labels, str(each.size)] for each in expected]


def test_the_anonymity_vector_is_told_of_the_solution_and_of_the_region(tab, shown_window, qtbot):
    entry = shown_window.state.selected
    k = entry.problem.k
    vectors = [
        list_class_sizes(entry.problem, entry.solution, r)[1]
        for r in range(entry.solution.aggregated_regions)
    ]
    sizes = np.concatenate(vectors)
    results = ResultsPanel(shown_window.context)
    qtbot.addWidget(results)
    small, large = int(((sizes > 3) & (sizes < k)).sum()), int((sizes >= k).sum())
    assert results.vector.text().startswith(
        f"#{entry.number} before suppression has these classes: {int((sizes == 1).sum())} of 1 record, "
    )
    assert results.vector.text().endswith(f"{small:,} of 4 to {k - 1}, {large:,} of {k} or more.")
    assert count_class_sizes(entry.problem, entry.solution).tolist() == np.bincount(sizes)[1:].tolist()
    shown_window.state.choose_region(1)
    qtbot.waitUntil(lambda: not tab.why.vector.isHidden(), timeout=60_000)
    assert tab.why.vector.text() == (
        f"Classes before suppression: {vector_in_words(np.bincount(vectors[1])[1:], k)}."
    )


def test_a_region_without_losses_says_so(tab, shown_window, qtbot):
    entry = shown_window.state.selected
    table = build_region_table(entry.problem, entry.solution)
    spared = np.flatnonzero(table.suppressed == 0)
    assert spared.size
    shown_window.state.choose_region(int(spared[0]))
    qtbot.waitUntil(lambda: not tab.why.vector.isHidden(), timeout=60_000)
    assert "lost no records" in tab.why.headline.text()


def test_regions_are_named_after_a_column_of_the_region_file(tab, shown_window, qtbot):
    state, model = shown_window.state, tab.table_model
    regions, membership = state.regions, state.selected.solution.membership

    def listed():
        return [model.index(model.position_of(region), 1).data() for region in range(model.rowCount())]

    assert listed() == list(make_region_names(regions, membership))
    column = next(iter(regions.columns))
    state.change_map_style(replace(state.map_style, names=column))
    qtbot.waitUntil(lambda: model.shown.named_after == column)
    assert listed() == list(make_region_names(regions, membership, column))
    text = card_text(
        model.shown.geometry.base, model.shown.geometry, (), 2, None, names=model.shown.names
    )
    assert model.shown.names[2] in text
    tab.table.sortByColumn(1, Qt.SortOrder.AscendingOrder)
    names = [model.index(row, 1).data() for row in range(model.rowCount())]
    assert names == sorted(names)


def test_regions_without_losses_can_be_left_out(tab, shown_window):
    entry = shown_window.state.selected
    table = build_region_table(entry.problem, entry.solution)
    tab.only_losses.setChecked(True)
    assert tab.table_model.rowCount() == int((table.suppressed > 0).sum())


def test_the_map_is_coloured_by_a_column(tab, shown_window):
    figure = tab.table_model.measure(titles(tab).index("Suppressed records"))
    shown_window.state.colour_by(figure.name)
    view = shown_window.map
    assert view.canvas.figure is figure
    assert view.bar.colouring.currentText() == "Suppressed records"
    assert view.canvas.legend.title == "Suppressed records"
    shown_window.state.colour_by(None)
    assert view.canvas.figure is None


def test_the_colouring_chosen_above_the_map_stays_for_the_next_solution(tab, shown_window, qtbot):
    view, state = shown_window.map, shown_window.state
    view.bar.colouring.setCurrentIndex(1)
    view.bar.colouring.activated.emit(1)
    assert state.coloured_by == "records"
    other = next(entry for entry in state.entries if entry is not state.selected)
    state.select(other.number)
    map_cache = map_cache_of(shown_window.context)
    qtbot.waitUntil(
        lambda: map_cache.shown is not None and map_cache.shown.number == other.number, timeout=60_000
    )
    assert view.canvas.figure.name == "records"
    assert view.canvas.geometry_shown.solution.owner is other.solution.owner


def test_the_table_is_copied(tab):
    tab.copy.trigger()
    lines = QGuiApplication.clipboard().text().splitlines()
    assert lines[0].split("\t")[:2] == ["Aggregated region", "Name"]
    assert len(lines) == 1 + tab.table_model.rowCount()


def test_the_table_is_saved_with_exact_values(tab, shown_window):
    rows = exact_rows(tab.table_model.shown)
    assert rows[0][:4] == ["aggregated_region", "name", "records", "suppressed"]
    table = build_region_table(shown_window.state.selected.problem, shown_window.state.selected.solution)
    assert [int(row[2]) for row in rows[1:]] == table.records.tolist()


def test_without_a_solution_the_tab_says_what_to_do(qapp, qtbot):
    bench = Bench(AppState())
    tab = RegionsPanel(bench.context)
    qtbot.addWidget(tab)
    bench.close()
    assert tab._layers.currentWidget() is tab._empty


def test_a_region_is_found_by_code_id_or_name_and_shown_on_the_map(tab, shown_window, qtbot):
    shown, state = tab.table_model.shown, shown_window.state
    regions, membership = shown.geometry.base.regions, shown.solution.membership
    before = shown_window.map.canvas.view_rect
    tab.search_field.setText(regions.ids[7].upper())
    qtbot.keyClick(tab.search_field, Qt.Key.Key_Return)
    assert state.chosen_region == int(membership[7])
    assert shown_window.map.canvas.view_rect != before
    code = shown.geometry.codes[2]
    tab.search_field.setText(f" {code.lower()} ")
    qtbot.keyClick(tab.search_field, Qt.Key.Key_Return)
    assert state.chosen_region == 2
    state.choose_region(None)
    tab.search_field.setText("no such place")
    qtbot.keyClick(tab.search_field, Qt.Key.Key_Return)
    assert state.chosen_region is None


def test_enter_again_goes_to_the_next_of_several(tab, shown_window, qtbot):
    shown = tab.table_model.shown
    start = shown.geometry.base.regions.ids[0][:4]
    found = matches(shown, start)
    assert len(found) > 1
    assert all(start in match.words for match in found)
    tab.search_field.setText(start)
    visited = []
    for _ in range(len(found) + 1):
        qtbot.keyClick(tab.search_field, Qt.Key.Key_Return)
        visited.append(shown_window.state.chosen_region)
    assert visited == [*(match.region for match in found), found[0].region]


def test_exact_names_come_before_beginnings_and_parts(tab):
    shown = tab.table_model.shown
    geometry = shown.geometry
    names = ["York", "New York", "Yorkton", *["x"] * (len(geometry.base.regions) - 3)]
    regions = replace(geometry.base.regions, names=tuple(names))
    named = replace(shown, geometry=replace(geometry, base=replace(geometry.base, regions=regions)))
    order = [match.words.partition("(")[2].partition(")")[0] for match in matches(named, "york")]
    assert order == ["York", "Yorkton", "New York"]


def test_aggregated_regions_are_found_by_their_names(tab, shown_window, qtbot):
    shown = tab.table_model.shown
    place = next(
        number
        for number, name in enumerate(shown.names)
        if " + " in name and shown.names.count(name) == 1
    )
    tab.search_field.setText(shown.names[place].lower())
    qtbot.keyClick(tab.search_field, Qt.Key.Key_Return)
    assert shown_window.state.chosen_region == place
    (found,) = matches(shown, shown.names[place])
    assert found.words == f"Aggregated region {shown.geometry.codes[place]} ({shown.names[place]})"
    other = replace(shown, names=tuple(f"Cortland + {number}" for number in range(len(shown.names))))
    assert [match.region for match in matches(other, "cortland + 1")][:2] == [1, 10]
