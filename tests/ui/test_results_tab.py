"""The results tab: table, stars, filter, pins, copies, and one selection for table, charts and map."""

import csv
from dataclasses import replace

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from PySide6.QtCore import QItemSelectionModel, QPoint, QPointF, Qt
from PySide6.QtGui import QGuiApplication, QMouseEvent, QStandardItem, QStandardItemModel
from PySide6.QtWidgets import QFileDialog, QMenu, QStyle, QStyleOptionComboBox
from solved import Bench, results_tab, shown_numbers

from vbas_desktop.engine.dominance import find_non_dominated
from vbas_desktop.engine.figures import get_measure
from vbas_desktop.model.text import format_within_limit
from vbas_desktop.ui.panels.results_panel import ResultsPanel
from vbas_desktop.ui.panels.results_toolbar import ResultsToolbar
from vbas_desktop.ui.presentation.results_table import (
    ResultColumn,
    TableSettings,
    approach_of,
    short_titles,
)
from vbas_desktop.ui.state.app_state import AppState
from vbas_desktop.ui.state.scenario import rank_rows
from vbas_desktop.ui.widgets.elastic_table import ElasticTableView
from vbas_desktop.ui.widgets.table_actions import add_sort_menu
from vbas_desktop.ui.widgets.tables import BADGE


@pytest.fixture
def compared(solved, qapp):
    """A state with the solutions of two combinations."""
    bench = Bench(solved.state())
    yield bench
    bench.close()


@pytest.fixture
def tab(compared, qtbot):
    return results_tab(compared, qtbot)


def column(tab, name):
    return next(index for index, each in enumerate(tab.table_model.columns) if each.name == name)


def test_every_solution_of_every_run_is_listed_with_sites_and_aggregated_regions(tab, compared):
    entries = compared.state.entries
    assert len(entries) > 2
    assert shown_numbers(tab) == [entry.number for entry in entries]
    sites, regions = column(tab, "sites"), column(tab, "aggregated_regions")
    for row, entry in enumerate(entries):
        assert tab.table_model.index(row, sites).data() == f"{entry.solution.site_count:,}"
        assert tab.table_model.index(row, regions).data() == f"{entry.solution.aggregated_regions:,}"


def test_solutions_of_adc_tell_how_their_sites_came_to_their_places(tab, compared):
    told = {
        "moves": 12,
        "tries": 3456,
        "computed_tries": 78,
        "passes": 13,
        "anonymity_before": 1,
        "anonymity_after": 2,
    }
    first, *others = compared.state.entries
    moved = replace(first, solution=replace(first.solution, diagnostics={"adc": told}))
    tab.table_model.show_entries((moved, *others), compared.state.marks, TableSettings())
    locations = column(tab, "site_location")
    tip = Qt.ItemDataRole.ToolTipRole
    tips = [tab.table_model.index(row, locations).data(tip).splitlines()[-1] for row in (0, 1)]
    assert tips == ["12 moves in 3,456 tries, lowest anonymity 1 → 2", "Locations: Balanced density"]
    texts = [
        [tab.table_model.index(row, column(tab, f"adc_{name}")).data() for row in (0, 1)]
        for name in ("moves", "tries", "anonymity_before", "anonymity_after")
    ]
    assert texts == [["12", "–"], ["3,456", "–"], ["1", "–"], ["2", "–"]]


def test_stars_mark_what_no_solution_of_any_run_beats(tab, compared):
    entries, measures = compared.state.entries, compared.state.pareto_measures
    kept = find_non_dominated(
        [[get_measure(entry.solution, name) for name in measures] for entry in entries]
    )
    star = column(tab, "star")
    cells = [tab.table_model.index(row, star) for row in range(len(entries))]
    assert [cell.data() == "★" for cell in cells] == kept.tolist()
    badges = [
        entry.number
        for entry, cell in zip(entries, cells, strict=True)
        if cell.data(BADGE) == "Recommended"
    ]
    assert badges == [number for number, ranks in compared.state.marks.items() if ranks.recommended]
    assert len(badges) == 1
    words = [cell.data(Qt.ItemDataRole.AccessibleTextRole) for cell in cells]
    assert [text.startswith("Pareto-optimal") for text in words] == kept.tolist()
    assert sum("recommended" in text for text in words) == 1


def test_dominated_solutions_are_hidden_at_first_and_counted(compared, qtbot):
    tab = results_tab(compared, qtbot, only_pareto=True)
    state = compared.state
    pareto = [number for number, ranks in state.marks.items() if ranks.pareto]
    state.select(pareto[0])
    assert ResultsToolbar(compared.context.theme).only_pareto.isChecked()
    assert shown_numbers(tab) == pareto
    n_hidden = len(state.entries) - len(pareto)
    assert tab.bar.hidden.text() == f"{n_hidden} dominated solutions hidden"
    dominated = next(entry.number for entry in state.entries if entry.number not in pareto)
    state.select(dominated)
    assert dominated in shown_numbers(tab), "what is shown is listed"
    assert tab.chosen_numbers() == [dominated]
    assert tab.bar.hidden.text() == f"{n_hidden - 1} dominated solutions hidden"
    assert len(tab.charts.chart.rows) == len(state.entries), "charts draw dominated solutions, too"
    tab.only_pareto.setChecked(False)
    assert tab.bar.hidden.text() == ""


def test_the_rated_measures_are_the_first_columns_and_never_scroll_away(tab, compared, qtbot):
    compared.state.change_fields(pareto_measures=("precision_loss", "suppressed_records"))
    names = [each.name for each in tab.table_model.columns]
    assert names[:4] == ["number", "precision_loss", "suppressed_percent", "star"]
    tab.column_menu.hidden["precision_loss"] = True
    tab._refresh_columns()
    assert not tab.table.isColumnHidden(1), "hidden before it was rated, it is seen now"
    tab.column_menu.aboutToShow.emit()
    enabled = {action.data(): action.isEnabled() for action in tab.column_menu.actions()}
    assert [enabled[name] for name in names[:4]] == [False, False, False, True]
    for name in ("certainty_penalty", "average_anonymity"):
        tab.table.setColumnHidden(column(tab, name), False)
    bar = tab.table.horizontalScrollBar()
    qtbot.waitUntil(lambda: bar.maximum() > 0)
    bar.setValue(bar.maximum())
    assert tab.table.frozen_columns == [0, 1, 2]
    for number in range(3):
        left = sum(tab.table.columnWidth(earlier) for earlier in range(number))
        at = tab.table.indexAt(QPoint(left + 5, 5))
        assert (at.row(), at.column()) == (0, number), "what is frozen is there and can be clicked"


def test_two_selected_rows_are_what_is_compared_by_button_and_by_shortcut(aggregated_window, qtbot):
    window, state = aggregated_window, aggregated_window.state
    tab = window.findChild(ResultsPanel)
    tab.only_pareto.setChecked(False)
    numbers = shown_numbers(tab)
    tab.table.selectRow(1)
    assert tab.bar.compare.isHidden()
    flags = QItemSelectionModel.SelectionFlag
    tab.table.selectionModel().setCurrentIndex(tab.table_model.index(3, 0), flags.Select | flags.Rows)
    assert not tab.bar.compare.isHidden()
    tab.bar.compare.click()
    assert {state.selected.number, state.compared.number} == {numbers[1], numbers[3]}
    state.compare_with(None)
    tab.table.selectRow(0)
    tab.table.selectionModel().setCurrentIndex(tab.table_model.index(2, 0), flags.Select | flags.Rows)
    window.area.map.view_actions()[0].trigger()
    assert {state.selected.number, state.compared.number} == {numbers[0], numbers[2]}
    state.compare_with(None)
    state.choose_pair((numbers[0], numbers[2]))
    state.remove([numbers[2]], numbers[0])
    assert state.chosen_pair is None, "what is removed cannot be compared"


def test_the_selected_row_stays_in_view_while_a_run_adds_rows(tab, compared, qtbot):
    state = compared.state
    tab.resize(440, 420)
    entries = state.entries
    state.restore_results(entries[:2])
    state.select(entries[0].number)
    tab.table.sortByColumn(column(tab, "suppressed_percent"), Qt.SortOrder.DescendingOrder)
    for more in range(3, len(entries) + 1):
        state._entries = list(entries[:more])
        compared.model.solution_added.emit()
        row = tab.table.visualRect(tab.table.currentIndex())
        assert tab.chosen_numbers() == [entries[0].number]
        assert tab.table.viewport().rect().contains(row.center())


def test_the_selected_row_stays_in_view_when_other_rows_are_listed_or_not(tab, compared, qtbot):
    tab.table.setFixedHeight(110)
    compared.state.select(compared.state.entries[-1].number)
    qtbot.waitExposed(tab)
    rows = []
    for is_ticked in (False, True, False):
        tab.only_pareto.setChecked(is_ticked)
        rows.append(tab.table_model.rowCount())
        assert tab.table.viewport().rect().contains(tab.table.visualRect(tab.table.currentIndex()))
    assert rows[0] > rows[1], "rows come and go"
    assert tab.table.verticalScrollBar().value() > 0


def test_a_row_that_is_listed_no_longer_shows_no_neighbour_on_the_way(tab, compared):
    tab.only_pareto.setChecked(True)
    state = compared.state
    dominated = next(
        number for number, ranks in state.marks.items() if not ranks.pareto and ranks.same_as is None
    )
    best = [number for number, ranks in state.marks.items() if ranks.pareto]
    for other in (best[0], best[-1]):
        state.select(dominated)
        assert dominated in shown_numbers(tab)
        seen = []
        compared.model.selection_changed.connect(lambda seen=seen: seen.append(state.selected.number))
        state.select(other)
        assert seen == [other]
        assert tab.chosen_numbers() == [other]
        assert dominated not in shown_numbers(tab)


def test_the_table_is_sorted_by_the_name_of_a_column_from_its_menu(tab, compared, qtbot):
    menu = QMenu(tab)
    titles = [action.text() for action in add_sort_menu(menu, tab.table).actions()]
    assert titles[:3] == ["#", "Suppressed %", "Place loss, %"]
    for turned in (False, True):
        entries = add_sort_menu(menu, tab.table).actions()
        next(action for action in entries if action.text() == "Suppressed %").trigger()
        values = [entry.solution.suppressed_share for entry in tab.table_model.listed_rows()]
        assert values == sorted(values, reverse=turned)


def test_the_caption_states_k_quasi_identifiers_and_limits_of_the_shown_solution(tab, compared):
    state = compared.state
    number = state.selected.number
    assert tab.caption.text() == f"#{number} · k = 14: age, sex · at most 1 % suppressed"
    state.change_fields(k=20)
    assert tab.caption.text().endswith("suppressed. Input has other settings now.")


@given(
    value=st.floats(0, 100, allow_nan=False),
    limit=st.one_of(st.integers(0, 20).map(float), st.decimals(0, 20, places=3).map(float)),
)
@example(value=0.9996, limit=1.0)
@example(value=1.0004, limit=1.0)
@example(value=0.125, limit=0.125)
def test_a_rounded_share_never_contradicts_the_limit(value, limit):
    text = format_within_limit(value, f"{value:,.2f}", limit, value <= limit)
    sign, number = (text[0], float(text[2:])) if text[0] in "<>" else ("", float(text))
    if value <= limit:
        assert (sign, number) == ("<", pytest.approx(limit)) if sign else number <= limit
        assert sign or number < limit or value == limit
    else:
        assert sign == ">" if number <= limit else not sign
    if value == 0.9996 and limit == 1:
        assert text == "< 1"


def test_the_filter_keeps_stars_and_pinned_solutions_over_the_ticked_measures(tab, compared, qtbot):
    state = compared.state
    state.change_fields(pareto_measures=("suppressed_records",))
    least = min(get_measure(entry.solution, "suppressed_records") for entry in state.entries)
    best = [e.number for e in state.entries if get_measure(e.solution, "suppressed_records") == least]
    worst = max(
        state.entries, key=lambda entry: get_measure(entry.solution, "suppressed_records")
    ).number
    state.select(best[0])
    tab.only_pareto.setChecked(True)
    assert shown_numbers(tab) == best
    state.pin([worst])
    assert shown_numbers(tab) == sorted([*best, worst])
    tab.only_pareto.setChecked(False)
    assert len(shown_numbers(tab)) == len(state.entries)


def test_the_best_value_of_each_measure_is_bold(tab, compared):
    entries = compared.state.entries
    index = column(tab, "suppressed_records")
    least = min(get_measure(entry.solution, "suppressed_records") for entry in entries)
    for row, entry in enumerate(entries):
        font = tab.table_model.index(row, index).data(Qt.ItemDataRole.FontRole)
        assert bool(font is not None and font.bold()) == (
            get_measure(entry.solution, "suppressed_records") == least
        )
        share = tab.table_model.index(row, column(tab, "suppressed_percent")).data(
            Qt.ItemDataRole.FontRole
        )
        assert share == font, "the same by another name"


def test_sorting_goes_by_value_not_by_text(tab):
    index = column(tab, "suppressed_records")
    tab.table.sortByColumn(index, Qt.SortOrder.DescendingOrder)
    values = [
        get_measure(entry.solution, "suppressed_records") for entry in tab.table_model.listed_rows()
    ]
    assert values == sorted(values, reverse=True)


def test_a_click_on_a_row_selects_the_solution_for_table_and_charts(tab, compared, qtbot):
    place = tab.table.visualRect(tab.table_model.index(1, 1)).center()
    qtbot.mouseClick(tab.table.viewport(), Qt.MouseButton.LeftButton, pos=place)
    number = shown_numbers(tab)[1]
    assert compared.state.selected.number == number
    assert all(chart.selected == number for chart in tab.charts.charts.values())


@pytest.mark.parametrize("kind", ["by_sites", "trade_off", "parallel", "histogram"])
def test_a_click_on_a_mark_of_each_chart_selects_the_solution(tab, compared, qtbot, kind):
    tab.charts.show_kind(kind)
    chart = tab.charts.chart
    chart.grab()
    position, number = chart.marks()[0]
    number = chart.number_at(position)
    compared.state.select(None)
    qtbot.mouseClick(
        chart.plot.viewport(),
        Qt.MouseButton.LeftButton,
        pos=chart.plot.mapFrom(chart, position.toPoint()),
    )
    assert compared.state.selected.number == number
    assert tab.chosen_numbers() == [number]


def test_another_solution_chosen_elsewhere_is_the_current_row(tab, compared):
    last = compared.state.entries[-1].number
    compared.state.select(last)
    assert tab.chosen_numbers() == [last]


def test_rows_are_removed_with_the_delete_key(tab, compared, qtbot):
    first = compared.state.entries[0].number
    compared.state.select(first)
    tab.table.setFocus()
    tab.actions_by_name["remove"].trigger()
    assert first not in shown_numbers(tab)
    assert compared.state.selected.number == shown_numbers(tab)[0]


def test_pinning_toggles(tab, compared):
    first = compared.state.entries[0].number
    compared.state.select(first)
    tab.actions_by_name["pin"].trigger()
    assert compared.state.entry(first).pinned
    tab.actions_by_name["pin"].trigger()
    assert not compared.state.entry(first).pinned


def test_the_table_is_copied_as_tab_separated_text(tab):
    tab.actions_by_name["copy"].trigger()
    lines = QGuiApplication.clipboard().text().splitlines()
    assert len(lines) == 1 + len(shown_numbers(tab))
    titles = lines[0].split("\t")
    assert titles[:5] == ["#", "Suppressed (%)", "Loss of place information (%)", "★", "Locations"]


def test_the_table_is_saved_with_exact_values(tab, compared, tmp_path, qtbot):
    target = tmp_path / "table.csv"
    tab.actions_by_name["save"].trigger()
    dialog = tab.findChild(QFileDialog)
    with qtbot.waitSignal(compared.context.worker.job_ended, timeout=60_000):
        dialog.fileSelected.emit(str(target))
    dialog.close()
    with target.open(newline="") as stream:
        rows = list(csv.DictReader(stream))
    for row, entry in zip(rows, compared.state.entries, strict=True):
        assert int(row["number"]) == entry.number
        assert float(row["average_distance"]) == get_measure(entry.solution, "average_distance")


def test_columns_can_be_hidden_and_stay_hidden(tab, compared):
    tab.column_menu.aboutToShow.emit()
    action = next(action for action in tab.column_menu.actions() if action.data() == "precision_loss")
    action.trigger()
    assert tab.table.isColumnHidden(column(tab, "precision_loss"))
    compared.state.pin([compared.state.entries[0].number])
    assert tab.table.isColumnHidden(column(tab, "precision_loss"))


def test_the_measures_that_decide_are_ticked_in_a_menu(tab, compared):
    tab.measure_menu.aboutToShow.emit()
    for action in tab.measure_menu.actions():
        if action.isChecked() and action.data() != "suppressed_records":
            action.trigger()
    assert compared.state.pareto_measures == ("suppressed_records",)


def test_another_solution_is_offered_for_comparison(tab, compared):
    other = next(e for e in compared.state.entries if e is not compared.state.selected)
    row = shown_numbers(tab).index(other.number)
    entry = tab._entry_at(tab.table.visualRect(tab.table_model.index(row, 1)).center())
    assert entry.number == other.number
    assert tab._entry_at(QPoint(5, 5000)) is None


def test_before_the_first_run_the_tab_says_what_to_do(qapp, qtbot):
    bench = Bench(AppState())
    tab = ResultsPanel(bench.context)
    qtbot.addWidget(tab)
    bench.close()
    assert tab._layers.currentWidget() is tab._empty


def test_seeded_approaches_are_named_shortly_with_their_seeding(compared):
    entry = compared.state.entries[0]
    approaches = {**entry.solution.approaches, "site_location": "adc", "adc_seeding": "density"}
    seeded = replace(entry, solution=replace(entry.solution, approaches=approaches))
    assert approach_of(seeded.solution, "site_location") == "ADC, Density grid"


@pytest.mark.parametrize(
    ("title", "unit", "header"),
    [
        ("Suppressed records", "records", "Suppressed\nrecords"),
        ("Average distance", "km", "Average\ndistance, km"),
        ("Discernibility", "records²", "Discernibility\nrecords²"),
        ("k", "", "k"),
    ],
)
def test_headers_have_two_lines_and_name_the_unit_once(title, unit, header):
    assert ResultColumn("x", title, lambda e: 0, unit=unit).header == header


@pytest.mark.parametrize("width", [440, 464, 520, 600])
def test_the_names_of_two_measures_are_read_in_full(tab, width):
    charts = tab.charts
    tab.resize(width, 700)
    for kind, fields in (
        ("trade_off", (charts.kind, charts.first, charts.second)),
        ("by_sites", (charts.kind, charts.first)),
    ):
        charts.show_kind(kind)
        charts.layout().activate()
        for field in fields:
            option = QStyleOptionComboBox()
            field.initStyleOption(option)
            part = QStyle.SubControl.SC_ComboBoxEditField
            room = (
                field.style()
                .subControlRect(QStyle.ComplexControl.CC_ComboBox, option, part, field)
                .width()
            )
            assert field.isVisible()
            assert field.fontMetrics().horizontalAdvance(field.currentText()) <= room, (
                field.currentText()
            )


def test_where_there_is_little_room_solutions_are_called_by_what_tells_them_apart(compared):
    entries = compared.state.entries
    assert (
        short_titles(entries)[0]
        == f"#1: {entries[0].solution.site_count} sites · {approach_of(entries[0].solution, 'site_location')}"
    )
    approaches = {**entries[0].solution.approaches, "site_number": "maxcombs"}
    other = replace(entries[0], solution=replace(entries[0].solution, approaches=approaches))
    assert short_titles((other, entries[1]))[0].endswith(
        " sites · Balanced density · Possible classes (MaxCombs)"
    )


def test_the_limit_decides_what_is_recommended_and_a_click_selects_it(tab, compared):
    state = compared.state
    least = min(entry.solution.suppressed_share for entry in state.entries)
    tab.limit.percent.setValue(100.0)
    finest = min(state.entries, key=lambda entry: entry.solution.measures["place_information_loss"])
    assert [number for number, each in state.marks.items() if each.recommended] == [finest.number]
    assert tab.limit.recommended.text() == f"Recommended: #{finest.number}"
    state.select(next(entry.number for entry in state.entries if entry is not finest))
    tab.limit.recommended.click()
    assert state.selected is finest
    tab.limit.percent.setValue(0.0)
    assert tab.limit.recommended.isEnabled() == (least == 0)
    state.undo()
    assert state.choices.allowed_loss_percent == 1.0


def test_a_preset_ticks_its_measures(tab, compared):
    tab.measure_menu.aboutToShow.emit()
    usual, thesis = tab.measure_menu.actions()[:2]
    assert (usual.isChecked(), thesis.isChecked()) == (True, False)
    assert compared.state.pareto_measures == ("suppressed_records", "place_information_loss")
    thesis.trigger()
    assert compared.state.pareto_measures == (
        "suppressed_records",
        "average_distance",
        "precision_loss",
        "discernibility",
        "non_uniform_entropy",
        "average_anonymity_deviation",
    )
    usual.trigger()
    assert compared.state.choices.pareto_measures is None


def test_a_preset_of_the_menu_decides_the_stars_of_the_window(aggregated_window, qtbot):
    window, state = aggregated_window, aggregated_window.state
    tab = window.findChild(ResultsPanel)
    tab.only_pareto.setChecked(False)
    tab.measure_menu.aboutToShow.emit()
    for name in ("All published measures", "Suppression and place"):
        action = next(each for each in tab.measure_menu.actions() if each.text() == name)
        action.trigger()
        assert action.isChecked()
        kept = find_non_dominated(
            [[get_measure(e.solution, each) for each in state.pareto_measures] for e in state.entries]
        )
        expected = {entry.number for entry, one in zip(state.entries, kept, strict=True) if one}
        rows = range(tab.table_model.rowCount())
        starred = {
            tab.table_model.listed_rows()[row].number
            for row in rows
            if tab.table_model.index(row, column(tab, "star")).data() == "★"
        }
        assert starred == expected
        assert len(state.pareto_measures) == (6 if "published" in name else 2)


def test_a_partition_that_was_found_before_is_not_listed_again(tab, compared):
    state = compared.state
    first, second = state.entries[:2]
    again = replace(second, solution=replace(second.solution, owner=first.solution.owner[:] + 0))
    entries = (first, again, *state.entries[2:])
    marks = rank_rows(entries, state.pareto_measures, 1.0)
    tab.table_model.show_entries(entries, marks, TableSettings())
    assert second.number not in shown_numbers(tab)
    tip = tab.table_model.index(0, 0).data(Qt.ItemDataRole.ToolTipRole)
    assert tip.endswith(f"The same partition was found again: #{second.number}.")


def test_the_next_row_is_shown_when_one_is_removed_and_undo_brings_it_back(tab, compared, qtbot):
    state, listed = compared.state, shown_numbers(tab)
    state.select(listed[2])
    tab.actions_by_name["remove"].trigger()
    assert shown_numbers(tab) == [*listed[:2], *listed[3:]]
    assert state.selected.number == listed[3]
    assert tab.chosen_numbers() == [listed[3]]
    state.undo()
    assert shown_numbers(tab) == listed
    assert tab.chosen_numbers() == [listed[2]]
    state.select(listed[-1])
    tab.actions_by_name["remove"].trigger()
    assert state.selected.number == listed[-2]


def axis_of(tab, name):
    tab.charts.show_kind("parallel")
    tab.charts.axes.grab()
    return tab.charts.axes.axes[name]


def on_axis(chart, axis, share) -> QPoint:
    """Where on the plot an axis is at a share of its length."""
    return chart.plot.mapFrom(chart, chart.to_widget(axis.number, share).toPoint())


def drag(chart, qtbot, axis, shares):
    places, view = [on_axis(chart, axis, share) for share in shares], chart.plot.viewport()
    qtbot.mousePress(view, Qt.MouseButton.LeftButton, pos=places[0])
    for place in places[1:]:
        event = QMouseEvent(
            QMouseEvent.Type.MouseMove,
            QPointF(place),
            QPointF(view.mapToGlobal(place)),
            Qt.MouseButton.NoButton,
            Qt.MouseButton.LeftButton,
            Qt.KeyboardModifier.NoModifier,
        )
        QGuiApplication.sendEvent(view, event)
    qtbot.mouseRelease(view, Qt.MouseButton.LeftButton, pos=places[-1])


def test_a_range_on_an_axis_filters_table_charts_and_what_the_map_shows(tab, compared, qtbot):
    everything, state = shown_numbers(tab), compared.state
    axis, chart = axis_of(tab, "suppressed_records"), tab.charts.axes
    worst = max(state.entries, key=lambda entry: get_measure(entry.solution, "suppressed_records"))
    state.select(worst.number)
    drag(chart, qtbot, axis, (-0.02, 0.25, 0.5))
    low, high = chart.ranges["suppressed_records"]
    assert low == axis.low
    expected = [
        e.number for e in state.entries if low <= get_measure(e.solution, "suppressed_records") <= high
    ]
    assert shown_numbers(tab) == expected
    assert 0 < len(expected) < len(everything)
    assert state.selected.number in expected, "the map shows one of those that are left"
    assert [row.number for row in chart.rows] == everything, "all stay on their axes, faintly"
    chart.grab()
    assert chart.number_at(chart.to_widget(axis.number, 1.0)) is None
    for kind in ("by_sites", "trade_off"):
        tab.charts.show_kind(kind)
        assert [row.number for row in tab.charts.chart.rows] == expected
    assert tab.charts.all_again.isVisible()
    tab.charts.show_kind("parallel")
    qtbot.mouseClick(tab.charts.all_again, Qt.MouseButton.LeftButton)
    assert shown_numbers(tab) == everything
    assert not tab.charts.all_again.isVisible()


def test_a_double_click_on_an_axis_takes_its_range_away(tab, qtbot):
    everything = shown_numbers(tab)
    axis = axis_of(tab, "suppressed_records")
    tab.charts.axes.show_ranges({"suppressed_records": (axis.low, axis.low)})
    assert len(shown_numbers(tab)) < len(everything)
    view = tab.charts.axes.plot.viewport()
    qtbot.mouseDClick(view, Qt.MouseButton.LeftButton, pos=on_axis(tab.charts.axes, axis, 0.98))
    assert tab.charts.ranges == {}
    assert shown_numbers(tab) == everything


def test_a_column_grows_with_what_comes_into_it_until_widths_are_set_by_hand(qtbot):
    table, model = ElasticTableView(), QStandardItemModel(1, 2)
    qtbot.addWidget(table)
    table.setModel(model)
    for column in range(2):
        model.setHeaderData(
            column,
            Qt.Orientation.Horizontal,
            Qt.AlignmentFlag.AlignRight,
            Qt.ItemDataRole.TextAlignmentRole,
        )
    model.setItem(0, 0, QStandardItem("★"))
    table.fit()
    model.item(0, 0).setText("★ ✔ ◣ and whatever else there is to say of it")
    assert table.columnWidth(0) < table.sizeHintForColumn(0)
    table.grow([0])
    assert table.columnWidth(0) >= table.sizeHintForColumn(0)
    table.setColumnWidth(0, 30)
    table.grow([0])
    assert table.columnWidth(0) == 30


def words_table(qtbot, *texts):
    table, model = ElasticTableView(), QStandardItemModel(1, len(texts))
    qtbot.addWidget(table)
    table.setModel(model)
    left = Qt.AlignmentFlag.AlignLeft
    for place, text in enumerate(texts):
        model.setHeaderData(place, Qt.Orientation.Horizontal, left, Qt.ItemDataRole.TextAlignmentRole)
        model.setHeaderData(place, Qt.Orientation.Horizontal, "Locations")
        model.setItem(0, place, QStandardItem(text))
    table.show()
    return table


def test_a_column_of_words_gives_way_if_the_table_fits_then(qtbot):
    table = words_table(qtbot, "Balanced density")
    table.fit()
    whole = table.columnWidth(0)
    table.resize(whole - 10, 100)
    assert table.columnWidth(0) == table.viewport().width() < whole
    table.resize(40, 100)
    assert table.columnWidth(0) == whole, "cut although the table is scrolled anyway"


def test_several_columns_of_words_are_shown_in_full(qtbot):
    table = words_table(qtbot, "Balanced density", "Possible combinations")
    table.fit()
    whole = [table.columnWidth(place) for place in range(2)]
    table.resize(100, 100)
    assert [table.columnWidth(place) for place in range(2)] == whole
    for width, text in zip(whole, ("Balanced density", "Possible combinations"), strict=True):
        assert width > table.fontMetrics().horizontalAdvance(text)
