"""The page Find a release: conditions, searching, stopping, and the ways from a node to its map and its release."""

import threading
from dataclasses import replace

import pytest
from persons import box
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QMessageBox

from vbas_desktop.engine.lattice.search import FOUND
from vbas_desktop.model.records import Role
from vbas_desktop.ui.dialogs.export import ExportDialog
from vbas_desktop.ui.dialogs.open_data import OpenDataDialog
from vbas_desktop.ui.pages import PAGES
from vbas_desktop.ui.pages.search.nodes import make_node_columns
from vbas_desktop.ui.state.choices import Choices
from vbas_desktop.ui.state.searching import differing_settings

LONG = 60_000


@pytest.fixture
def page(loaded_window, tmp_path):
    made = loaded_window.area.show_page(next(page for page in PAGES if page.title == "Find a release"))
    made.target.setText(str(tmp_path / "found"))
    return made


def finish(window, qtbot, begin):
    with qtbot.waitSignal(window.worker.job_ended, timeout=LONG):
        begin()


def test_every_quasi_identifier_has_a_hierarchy_and_a_line_says_how_many_combinations(
    page, loaded_window
):
    assert list(page.form.pins) == ["age", "sex"]
    assert [page.form.pins["age"].itemText(place) for place in range(5)] == [
        "any",
        "as it is (7)",
        "4 categories",
        "2 categories",
        "1 category",
    ]
    assert page.live.text() == "8 combinations of levels; k = 5, at most 1 % suppressed."
    page.form.minima["age"].setValue(3)
    assert page.live.text().startswith("4 combinations")
    page.form.pins["age"].setCurrentIndex(1)
    page.form.pins["age"].activated.emit(1)
    assert page.live.text().startswith("2 combinations of levels")


def test_a_search_fills_table_and_picture_and_chooses_what_it_recommends(
    page, loaded_window, qtbot, tmp_path
):
    finish(loaded_window, qtbot, page.start.click)
    assert page.model.rowCount() == len(page.searched.rows) == 8
    assert page.chosen is page.searched.recommended
    assert "Recommended: node" in page.live.text()
    found = [row for row in page.searched.rows if row.status == FOUND]
    assert sum(len(line.points) for line in page.chart.lines) == len(found)
    assert sorted(path.name for path in (tmp_path / "found").iterdir()) == [
        "groups",
        "search.csv",
        "search.html",
        "search.json",
    ]


def test_a_click_on_the_picture_chooses_the_node_and_another_one_shows_its_map(
    page, loaded_window, qtbot
):
    state, before = loaded_window.state, loaded_window.state.choices
    finish(loaded_window, qtbot, page.start.click)
    other = next(n for n, row in enumerate(page.searched.rows, 1) if row.regions and row.node[0])
    page.chart.solution_clicked.emit(other)
    node = page.chosen
    assert node is page.searched.rows[other - 1]
    finish(loaded_window, qtbot, page.show_map.click)
    assert state.choices.groupings["age"]
    assert state.selected.solution.site_count == node.sites
    assert state.selected.solution.measures["suppressed_records"] == node.suppressed
    assert not page.isVisibleTo(loaded_window)
    state.undo()
    assert state.choices == before


def test_results_of_other_settings_are_grey_and_change_nothing(page, loaded_window, qtbot):
    state = loaded_window.state
    finish(loaded_window, qtbot, page.start.click)
    cell = page.table.model().index(0, 1)
    grey = Qt.ItemDataRole.ForegroundRole
    assert (cell.data(grey), page.outdated.isHidden()) == (None, True)
    state.change(
        state.choices.replaced(k=20).with_role("illness", Role.QUASI_IDENTIFIER).with_allowed_loss(3.0)
    )
    words = (
        "These were found with other settings: k was 5 and is 20 now; the allowed loss was 1 % and is 3 % now; "
        "the quasi-identifiers were age, sex and are age, sex, illness now."
    )
    assert page.outdated.text() == words
    assert page.outdated.isVisible()
    assert cell.data(grey).name() == loaded_window.theme.colours.muted
    state.undo()
    assert page.outdated.isHidden()
    assert cell.data(grey) is None


def test_results_of_other_settings_have_a_pale_chart_on_the_same_ground(page, loaded_window, qtbot):
    finish(loaded_window, qtbot, page.start.click)

    def ground():
        image = page.chart.grab().toImage()
        return image.pixelColor(3, image.height() - 3).name()

    before = ground()
    loaded_window.state.change(loaded_window.state.choices.replaced(k=20))
    assert page.chart.item.opacity() < 1
    assert ground() == before
    loaded_window.state.undo()
    assert page.chart.item.opacity() == 1


def test_the_buttons_stay_in_sight_in_a_low_window(page, loaded_window, qtbot):
    finish(loaded_window, qtbot, page.start.click)
    loaded_window.resize(1024, 736)
    viewport = page.parentWidget()
    qtbot.waitUntil(
        lambda: page.height() <= viewport.height() and page.width() <= viewport.width(), timeout=LONG
    )
    assert page.start.mapTo(viewport, page.start.rect().bottomLeft()).y() < viewport.height()
    assert page.halves.orientation() is Qt.Orientation.Horizontal


def test_without_data_buttons_open_some(window, qtbot):
    page = window.area.show_page(next(page for page in PAGES if page.title == "Find a release"))
    assert page.blocker.label.text() == "Open a record file and a region file first."
    assert [button.text() for button in page.blocker.buttons] == ["Open &data…", "Tr&y the sample data"]
    page.blocker.button("Open data").click()
    dialog = window.findChild(OpenDataDialog)
    assert dialog.isVisible()
    dialog.reject()
    with qtbot.waitSignal(window.model.data_loaded, timeout=LONG):
        page.blocker.button("Try the sample data").click()
    assert page.blocker.isHidden()


def test_what_stops_a_search_is_set_right_on_the_page(page, loaded_window):
    state = loaded_window.state
    state.change(state.choices.with_role("tract", Role.AS_IS))
    assert page.blocker.label.text() == "Choose the region column: give it the role “region”."
    assert not page.live.isVisible()
    page.blocker.button("Use “tract”").click()
    assert state.choices.region_column == "tract"
    assert page.blocker.isHidden()
    assert page.live.isVisible()
    state.undo()
    page.blocker.button("Go to Input").click()
    assert loaded_window.area.page is None
    assert loaded_window.input.isVisible()


@pytest.mark.parametrize(("limit", "text"), [(99.98, "99.97"), (99.97, "< 99.97"), (99.96, "99.97")])
def test_the_rounded_loss_never_contradicts_the_allowed_one(page, loaded_window, qtbot, limit, text):
    finish(loaded_window, qtbot, page.start.click)
    columns = make_node_columns(replace(page.searched, allowed_loss_percent=limit))
    suppressed = next(column for column in columns if column.name == "suppressed")
    assert suppressed.text(replace(page.searched.recommended, suppressed=2_999)) == text


def question_of(page):
    return next(box for box in page.findChildren(QMessageBox) if box.isVisible())


def press(box, text):
    next(button for button in box.buttons() if button.text().replace("&", "") == text).click()


def test_showing_what_was_found_with_other_settings_says_what_differs_and_asks(
    page, loaded_window, qtbot
):
    state = loaded_window.state
    finish(loaded_window, qtbot, page.start.click)
    searched_with = state.choices
    other = (
        state.choices.replaced(k=20).with_role("illness", Role.QUASI_IDENTIFIER).with_allowed_loss(3.0)
    )
    state.change(other.with_role("person", Role.AS_IS))
    before = state.choices
    page.show_map.click()
    box = question_of(page)
    assert box.informativeText().startswith(
        "Since then: k was 5 and is 20 now; the allowed loss was 1 % and is 3 % now; "
        "the quasi-identifiers were age, sex and are age, sex, illness now."
    )
    press(box, "Cancel")
    assert state.choices == before
    assert not loaded_window.worker.busy
    page.table.doubleClicked.emit(page.table.model().index(0, 1))
    finish(loaded_window, qtbot, lambda: press(question_of(page), "Set back and run"))
    assert state.choices.k == 5
    assert state.choices.quasi_identifiers == ("age", "sex")
    assert state.choices.allowed_loss_percent == 1.0
    assert differing_settings(state.choices, searched_with) == ()
    assert state.choices.roles["person"] is Role.AS_IS, "what a search does not depend on stays"
    state.undo()
    assert state.choices == before, "one step"


def test_results_are_grey_too_if_settings_changed_while_the_page_was_hidden(page, loaded_window, qtbot):
    finish(loaded_window, qtbot, page.start.click)
    loaded_window.area.show_map()
    loaded_window.state.change_fields(k=20)
    loaded_window.area.show_page(next(each for each in PAGES if each.title == "Find a release"))
    assert "k was 5 and is 20 now" in page.outdated.text()


@pytest.mark.parametrize(
    "change",
    [
        {"min_records": 10},
        {"random_seed": 4},
        {"global_suppression": False},
        {"unknown_regions": "suppress"},
    ],
    ids=lambda change: next(iter(change)),
)
def test_every_setting_that_decides_what_is_found_is_named(page, loaded_window, qtbot, change):
    finish(loaded_window, qtbot, page.start.click)
    loaded_window.state.change_fields(**change)
    assert Choices.option(next(iter(change))).title in page.outdated.text()


def test_what_a_search_does_not_depend_on_leaves_its_results_alone(page, loaded_window, qtbot):
    state = loaded_window.state
    finish(loaded_window, qtbot, page.start.click)
    state.change_fields(range_reach=0, pareto_measures=("compactness",))
    state.change(state.choices.with_role("person", Role.AS_IS).with_approach("site_number", "maxcombs"))
    assert page.outdated.isHidden()
    finish(loaded_window, qtbot, page.show_map.click)
    assert state.choices.roles["person"] is Role.AS_IS


def test_a_click_leads_from_a_node_to_the_dialog_of_its_release(page, loaded_window, qtbot):
    finish(loaded_window, qtbot, page.start.click)
    finish(loaded_window, qtbot, page.release.click)
    qtbot.waitUntil(lambda: loaded_window.findChild(ExportDialog) is not None, timeout=LONG)
    loaded_window.findChild(ExportDialog).close()


def test_groups_of_input_and_a_file_make_hierarchies(page, loaded_window, qtbot, tmp_path):
    state = loaded_window.state
    values = state.table.facts("age").categories.values
    state.change(state.choices.with_grouping("age", dict.fromkeys(values[:3], "young")))
    assert page.form.pins["age"].count() == 4
    assert page.live.text().startswith("6 combinations")
    path = tmp_path / "age.csv"
    path.write_text(
        "\n".join(f"{value};{'a' if i < 2 else 'b'};all" for i, value in enumerate(values)),
        encoding="utf-8",
    )
    finish(loaded_window, qtbot, lambda: page.read_hierarchy("age", str(path)))
    assert page.live.text().startswith("6 combinations")
    assert [len(set(groups)) for groups in page.form and _hierarchy(page, "age").levels] == [7, 2, 1]


def test_a_codebook_is_chosen_with_a_button_and_its_labels_are_told_in_the_hierarchies(
    page, loaded_window, qtbot, tmp_path, monkeypatch
):
    options, state = loaded_window.input.files.options, loaded_window.state
    book = tmp_path / "codes.csv"
    book.write_text("column,value,label\nsex,1,Female\nsex,2,Male\n", encoding="utf-8")
    chosen = lambda parent, title, files, folder, then: then(str(book))  # noqa: E731
    monkeypatch.setattr("vbas_desktop.ui.panels.reading_options.ask_to_open", chosen)
    options.choose["codebook"].click()
    assert options.form.editors["codebook"].text() == str(book)
    options.choose["coarsen_from"].click()
    assert state.choices.coarsen_from == options.form.editors["coarsen_from"].text() == str(book)
    options.choose["region_map"].click()
    assert state.choices.region_map == options.form.editors["region_map"].text() == str(book)
    options.form.editors["region_map"].clear()
    options.form.editors["region_map"].editingFinished.emit()
    options.form.editors["coarsen_from"].clear()
    options.form.editors["coarsen_from"].editingFinished.emit()
    finish(loaded_window, qtbot, options.again.click)
    assert state.table.facts("sex").categories.label(0) == "1 (Female)"
    tip = page.form.pins["sex"].itemData(1, Qt.ItemDataRole.ToolTipRole)
    assert tip == "1 (Female), 2 (Male)"


def test_a_hierarchy_without_a_row_for_some_value_is_refused(page, loaded_window, qtbot, tmp_path):
    path = tmp_path / "age.csv"
    path.write_text("1;young\n2;young\n3;old\n", encoding="utf-8")
    before = page.live.text()
    finish(loaded_window, qtbot, lambda: page.read_hierarchy("age", str(path)))
    said = box(loaded_window)
    assert "no row for 4 values of the records (first in rows" in said.informativeText()
    assert "Add a row value;level1 for each of them." in said.informativeText()
    said.close()
    assert page.live.text() == before
    assert "age" not in page.form.levels


def _hierarchy(page, name):
    from vbas_desktop.app.search import build_hierarchies
    from vbas_desktop.ui.state.searching import request_search

    request = request_search(page._state, page.form.conditions())
    return next(hierarchy for hierarchy in build_hierarchies(request) if hierarchy.column == name)


def test_a_stopped_search_keeps_its_nodes(page, loaded_window, qtbot, tmp_path):
    finish(loaded_window, qtbot, page.start.click)
    kept = {path.name: path.stat().st_mtime_ns for path in (tmp_path / "found.nodes").iterdir()}
    finish(loaded_window, qtbot, page.start.click)
    assert {path.name: path.stat().st_mtime_ns for path in (tmp_path / "found.nodes").iterdir()} == kept
    assert len(kept) == sum(row.status != "coarser than needed" for row in page.searched.rows)


def test_stop_in_the_middle_keeps_what_is_finished_and_going_on_ends_in_the_same_table(
    page, loaded_window, qtbot, tmp_path, monkeypatch
):
    from vbas_desktop.engine.lattice import search as run

    solve = run.solve_node
    seen = []
    gate = threading.Event()

    def slow(finest, request, node, progress):
        seen.append(node)
        in_order = [node for nodes in finest.lattice.by_height() for node in nodes]
        while node not in in_order[:2] and not gate.wait(0.01):
            progress.update("Searching the lattice", 0.5)
        return solve(finest, request, node, progress)

    monkeypatch.setattr(run, "solve_node", slow)
    page.start.click()
    qtbot.waitUntil(lambda: len(seen) == 3 and page.model.rowCount() == 2, timeout=LONG)
    assert page.live.text() == "2 of 8 nodes are finished."
    assert page.stop.isEnabled()
    finish(loaded_window, qtbot, page.stop.click)
    assert page.model.rowCount() == 2
    assert page.start.isEnabled()
    assert not (tmp_path / "found").exists()
    assert len(list((tmp_path / "found.nodes").iterdir())) == 2
    gate.set()
    seen.clear()
    finish(loaded_window, qtbot, page.start.click)
    assert len(seen) == 6
    again = (tmp_path / "found" / "search.csv").read_bytes()
    page.target.setText(str(tmp_path / "whole"))
    finish(loaded_window, qtbot, page.start.click)
    assert len(seen) == 14
    assert (tmp_path / "whole" / "search.csv").read_bytes() == again


def test_without_quasi_identifiers_it_says_what_is_missing(page, loaded_window):
    state = loaded_window.state
    for name in state.choices.quasi_identifiers:
        state.change(state.choices.with_role(name, Role.AS_IS))
    assert page.live.text() == "Choose at least one quasi-identifier."
    assert not page.start.isEnabled()
    assert page.table.model().rowCount() == 0
    assert page.table.selectionBehavior().name == "SelectRows"
    assert page.table.focusPolicy() is not Qt.FocusPolicy.NoFocus


def test_on_a_low_window_the_picture_stands_beside_the_table(page, loaded_window, qtbot):
    assert page.table.isHidden()
    assert page.chart.nothing.startswith("“Search” tries every combination")
    page.resize(1024, 548)
    assert page.halves.orientation() is Qt.Orientation.Horizontal
    finish(loaded_window, qtbot, page.start.click)
    assert not page.table.isHidden()
    assert page.table.viewport().height() > 5 * page.table.verticalHeader().defaultSectionSize()
    page.resize(1440, 768)
    assert page.halves.orientation() is Qt.Orientation.Vertical


def test_in_tiers_the_table_counts_the_places_of_the_release(page, loaded_window, qtbot):
    state = loaded_window.state
    state.change(state.choices.with_approach("tiers", "auto"))
    finish(loaded_window, qtbot, page.start.click)
    heads = [
        page.model.headerData(column, Qt.Orientation.Horizontal)
        for column in range(page.model.columnCount())
    ]
    assert "Regions" not in heads
    column = heads.index("Places")
    best = page.searched.rows.index(page.searched.recommended)
    assert page.model.index(best, column).data() == f"{page.searched.recommended.released_places:,}"
    assert " places, " in page.live.text()
