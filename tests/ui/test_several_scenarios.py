"""Solutions of several scenarios: listed apart, told apart, and not compared as if they were alike."""

from dataclasses import replace

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QMenu
from solved import Bench, results_tab, shown_numbers

from vbas_desktop.ui.panels.results_toolbar import offer_others
from vbas_desktop.ui.shell.main_window import PANEL_WIDTH
from vbas_desktop.ui.shell.status_bar import StatusLine
from vbas_desktop.ui.state.scenario import reason_not_comparable


@pytest.fixture
def bench(solved, qapp):
    """Solutions of k = 14, the last three taken for some of k = 9."""
    made = Bench(solved.state())
    entries = list(made.state.entries)
    for place in range(-3, 0):
        run = entries[place].run
        entries[place] = replace(entries[place], run=replace(run, id=99, key=replace(run.key, k=9)))
    made.state.restore_results(entries)
    made.state.select(entries[0].number)
    yield made
    made.close()


@pytest.fixture
def tab(bench, qtbot):
    return results_tab(bench, qtbot)


def test_the_list_is_filtered_by_scenario_and_shows_one_of_its_solutions(tab, bench):
    state = bench.state
    assert [tab.scenario.itemText(i) for i in range(3)] == [
        "All scenarios",
        "k = 14: age, sex",
        "k = 9: age, sex",
    ]
    tab.scenario.setCurrentIndex(2)
    tab.scenario.activated.emit(2)
    assert shown_numbers(tab) == [entry.number for entry in state.entries if entry.run.key.k == 9]
    assert state.selected.number in shown_numbers(tab)
    assert tab.chosen_numbers() == [state.selected.number]
    state.remove(shown_numbers(tab))
    assert not tab.scenario.isVisible()
    assert shown_numbers(tab) == [entry.number for entry in state.entries]


def naively_marked(entries, allowed_percent):
    """(recommended, knee) of one scenario, from the definitions and nothing else."""

    def price(entry):
        return entry.solution.suppressed_share, entry.solution.measures["place_information_loss"]

    fitting = [entry for entry in entries if 100 * price(entry)[0] <= allowed_percent]
    finest = min(fitting, key=lambda entry: price(entry)[1], default=None)
    beaten = {
        one.number
        for one in entries
        for other in entries
        if price(other) != price(one)
        and all(b <= a for a, b in zip(price(one), price(other), strict=True))
    }
    front = sorted((entry for entry in entries if entry.number not in beaten), key=price)
    knee = None
    if len(front) > 2:
        (x0, y0), (x1, y1) = price(front[0]), price(front[-1])

        def below(entry):
            x, y = price(entry)
            return 1 - (x - x0) / (x1 - x0) - (y - y1) / (y0 - y1)

        knee = max(front[1:-1], key=below)
    return finest and finest.number, knee and knee.number


@pytest.mark.parametrize("allowed", [1.0, 10.0, 20.0, 60.0])
def test_recommended_and_knee_are_found_in_each_scenario_apart(bench, allowed):
    """The solutions of k = 9 lose less and keep more of the place than any of k = 14: mixed, they would win all."""
    state = bench.state
    entries = list(state.entries)
    for step, place in enumerate(range(-3, 0)):
        old = entries[place].solution
        kept = round((old.suppressed_records + old.released_records) * (0.93 + 0.03 * step))
        lost = old.suppressed_records + old.released_records - kept
        rated = {
            **old.measures,
            "suppressed_records": lost,
            "place_information_loss": (0.01, 0.012, 0.03)[step],
        }
        made = replace(old, released_records=kept, measures=rated)
        entries[place] = replace(entries[place], solution=made)
    state.restore_results(entries)
    state.change(state.choices.with_allowed_loss(allowed))
    marked = {
        mark: [n for n, each in state.marks.items() if getattr(each, mark)]
        for mark in ("recommended", "knee")
    }
    expected = [naively_marked([e for e in entries if e.run.key.k == k], allowed) for k in (14, 9)]
    assert sorted(marked["recommended"]) == sorted(best for best, _ in expected if best is not None)
    assert sorted(marked["knee"]) == sorted(knee for _, knee in expected if knee is not None)
    # The three of k = 9 alone have a knee, and one within the limit as soon as it lets one pass.
    assert expected[1][1] is not None
    assert (expected[1][0] is not None) == (allowed >= 1.0)


def test_the_line_above_the_table_tells_of_the_scenario_that_is_looked_at(tab, bench):
    state = bench.state
    state.change(state.choices.with_allowed_loss(60.0))
    for k in (14, 9):
        mine = [entry for entry in state.entries if entry.run.key.k == k]
        best, _ = naively_marked(mine, 60.0)
        state.select(mine[0].number)
        assert tab.limit.recommended.text() == f"Recommended: #{best}"
        tab.limit.recommended.click()
        assert state.selected.number == best


def test_solutions_of_files_that_changed_are_a_scenario_of_their_own(tab, bench):
    state = bench.state
    entries = [entry for entry in state.entries if entry.run.key.k == 14]
    old = [replace(entry, run=replace(entry.run, outdated=True)) for entry in entries[:3]]
    state.restore_results([*old, *entries[3:]])
    state.change(state.choices.with_allowed_loss(60.0))
    for mine in (old, entries[3:]):
        state.select(mine[0].number)
        assert tab.limit.recommended.text() == f"Recommended: #{naively_marked(mine, 60.0)[0]}"


def test_scenarios_are_groups_below_a_heading_each_however_the_table_is_sorted(tab, bench):
    model, state = tab.table_model, bench.state
    sizes = [sum(entry.run.key.k == k for entry in state.entries) for k in (14, 9)]
    headings = [model.index(position, 0).data() for position in model.heading_positions()]
    assert headings == [f"k = 14: age, sex ({sizes[0]})", f"k = 9: age, sex ({sizes[1]})"]
    assert model.heading_positions() == [0, sizes[0] + 1]
    tab.table.sortByColumn(0, Qt.SortOrder.DescendingOrder)
    numbers = [entry.number for entry in state.entries]
    assert shown_numbers(tab) == [*numbers[: sizes[0]][::-1], *numbers[sizes[0] :][::-1]]
    assert model.heading_positions() == [0, sizes[0] + 1]
    tab.scenario.setCurrentIndex(2)
    tab.scenario.activated.emit(2)
    assert model.heading_positions() == [], "one group needs no heading"


def test_a_heading_is_read_but_chooses_nothing(tab, bench):
    model = tab.table_model
    heading = model.index(0, 0)
    assert not heading.flags() & Qt.ItemFlag.ItemIsSelectable
    assert heading.data(Qt.ItemDataRole.AccessibleTextRole).startswith("k = 14: age, sex")
    before = bench.state.selected
    tab.table.setCurrentIndex(heading)
    assert bench.state.selected is before


def test_at_first_the_table_shows_what_matters(tab, qtbot):
    names = [column.name for column in tab.table_model.columns if not column.hidden]
    assert names == [
        "number",
        "suppressed_percent",
        "place_information_loss",
        "star",
        "site_location",
        "aggregated_regions",
        "average_distance",
        "precision_loss",
    ]
    tab.resize(PANEL_WIDTH - tab.table.verticalScrollBar().sizeHint().width(), 700)
    qtbot.waitUntil(lambda: tab.table.frozen_columns == [0, 1, 2])
    locations = tab.table.visualRect(
        tab.table_model.index(1, tab.table_model.column_number("site_location"))
    )
    assert locations.left() < tab.table.viewport().width() - 80


def test_words_give_way_to_numbers_until_a_width_is_set_by_hand(tab, qtbot):
    table, names = tab.table, [column.name for column in tab.table_model.columns]
    locations, percent = names.index("site_location"), names.index("suppressed_percent")
    tab.resize(1600, 700)
    header = table.horizontalHeader()
    qtbot.waitUntil(lambda: table.viewport().width() > header.length())
    number, whole = table.columnWidth(percent), table.columnWidth(locations)
    tab.resize(1600 - (table.viewport().width() - header.length()) - 10, 700)
    qtbot.waitUntil(
        lambda: header.length() <= table.viewport().width() and table.columnWidth(locations) < whole
    )
    assert table.columnWidth(percent) == number
    table.setColumnWidth(locations, 90)
    tab.resize(440, 700)
    qtbot.wait(1)
    assert table.columnWidth(locations) == 90


def test_only_solutions_of_the_same_scenario_are_offered_for_a_comparison(tab, bench):
    first = bench.state.entries[0]
    menu = QMenu()
    offer_others(menu, first, bench.state.entries, tab._compare)
    offered = [action.text() for action in menu.actions()[0].menu().actions()]
    alike = [e for e in bench.state.entries[1:] if e.run.key == first.run.key]
    assert offered == [entry.title for entry in alike]
    menu.deleteLater()


def test_what_keeps_two_solutions_from_being_compared_is_said(bench):
    one, *_, other = bench.state.entries
    assert reason_not_comparable(one, other) == "Not comparable: another k (14 and 9)."
    grown = replace(one.run.key, quasi_identifiers=("age",))
    fewer = replace(one, run=replace(one.run, key=grown, records_sha256="x"))
    told = "Not comparable: other quasi-identifiers (age, sex and age), other records."
    assert reason_not_comparable(one, fewer) == told
    assert reason_not_comparable(one, one) == ""


def test_the_status_line_tells_the_k_of_the_shown_solution(bench, qtbot):
    line = StatusLine(bench.model, bench.context.worker)
    qtbot.addWidget(line)
    assert line.facts.text().endswith("k = 14")
    bench.state.select(bench.state.entries[-1].number)
    assert line.facts.text().endswith("k = 14 · shown: k = 9")
    assert "k = 9" in bench.state.selected.title


def test_a_filter_leaves_a_highlighted_row(tab, bench):
    state = bench.state
    dominated = next(number for number in shown_numbers(tab) if not tab.table_model.ranks[number].pareto)
    state.select(dominated)
    tab.only_pareto.setChecked(True)
    assert state.selected.number in shown_numbers(tab)
    assert tab.chosen_numbers() == [state.selected.number]


def place_of(menu: QMenu, action: QAction) -> QPoint:
    return menu.actionGeometry(action).center()


def test_the_menu_of_measures_stays_open_while_ticks_are_set(tab, bench, qtbot):
    menu = tab.measure_menu
    menu.popup(QPoint(10, 10))
    qtbot.waitExposed(menu)
    own = [
        action for action in menu.actions() if action.data() in ("precision_loss", "average_distance")
    ]
    for action in own:
        qtbot.mouseMove(menu, place_of(menu, action))
        qtbot.mouseClick(menu, Qt.MouseButton.LeftButton, pos=place_of(menu, action))
        assert menu.isVisible()
    assert {"precision_loss", "average_distance"} < set(bench.state.pareto_measures)
    menu.setActiveAction(own[0])
    qtbot.keyClick(menu, Qt.Key.Key_Space)
    assert menu.isVisible()
    assert own[0].data() not in bench.state.pareto_measures
    usual = menu.actions()[0]
    qtbot.mouseClick(menu, Qt.MouseButton.LeftButton, pos=place_of(menu, usual))
    assert [action.data() for action in menu.actions() if action.data() and action.isChecked()] == list(
        bench.state.pareto_measures
    )
    qtbot.keyClick(menu, Qt.Key.Key_Escape)
    assert not menu.isVisible()
