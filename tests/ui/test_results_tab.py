"""The results tab: table, stars, filter, pins, copies, and one selection for table, charts and map."""

import csv
from dataclasses import replace

import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QGuiApplication, QMouseEvent, QStandardItem, QStandardItemModel
from PySide6.QtWidgets import QFileDialog, QStyle, QStyleOptionComboBox
from solved import Bench, results_tab, shown_numbers

from vbas_desktop.algorithms.pareto import non_dominated
from vbas_desktop.session.results import marks_of
from vbas_desktop.session.session import Session
from vbas_desktop.ui.numbers import measure_of
from vbas_desktop.ui.panel.results_columns import Column, approach_of, short_titles
from vbas_desktop.ui.panel.results_tab import ResultsTab
from vbas_desktop.ui.widgets.tables import SqueezedTable


@pytest.fixture
def compared(solved, qapp):
    """A session with the solutions of two combinations."""
    bench = Bench(solved.session())
    yield bench
    bench.close()


@pytest.fixture
def tab(compared, qtbot):
    return results_tab(compared, qtbot)


def column(tab, name):
    return next(index for index, each in enumerate(tab.table_model.columns) if each.name == name)


def test_every_solution_of_every_run_is_listed_with_sites_and_aggregated_regions(tab, compared):
    entries = compared.session.entries
    assert len(entries) > 2
    assert shown_numbers(tab) == [entry.number for entry in entries]
    sites, regions = column(tab, "sites"), column(tab, "aggregated_regions")
    for row, entry in enumerate(entries):
        assert tab.filter.index(row, sites).data() == f"{entry.solution.site_count:,}"
        assert tab.filter.index(row, regions).data() == f"{entry.solution.aggregated_regions:,}"


def test_solutions_of_adc_tell_how_their_sites_came_to_their_places(tab, compared):
    told = {"moves": 12, "tries": 3456, "computed_tries": 78, "passes": 13, "anonymity_before": 1, "anonymity_after": 2}
    first, *others = compared.session.entries
    moved = replace(first, solution=replace(first.solution, told={"adc": told}))
    tab.table_model.show_entries((moved, *others), compared.session.marks, None)
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
    entries, measures = compared.session.entries, compared.session.pareto_measures
    kept = non_dominated([[measure_of(entry.solution, name) for name in measures] for entry in entries])
    signs = [tab.filter.index(row, 0).data().split() for row in range(len(entries))]
    assert ["★" in each for each in signs] == kept.tolist()
    recommended, knee = ([entries[row].number for row in range(len(entries)) if sign in signs[row]] for sign in "✔◣")
    marks = compared.session.marks
    assert recommended == [number for number, each in marks.items() if each.recommended]
    assert knee == [number for number, each in marks.items() if each.knee]
    assert len(recommended) == 1


def test_the_filter_keeps_stars_and_pinned_solutions_over_the_ticked_measures(tab, compared, qtbot):
    session = compared.session
    session.change_fields(pareto_measures=("suppressed_records",))
    least = min(measure_of(entry.solution, "suppressed_records") for entry in session.entries)
    best = [e.number for e in session.entries if measure_of(e.solution, "suppressed_records") == least]
    worst = max(session.entries, key=lambda entry: measure_of(entry.solution, "suppressed_records")).number
    tab.only_stars.setChecked(True)
    assert shown_numbers(tab) == best
    session.pin([worst])
    assert shown_numbers(tab) == sorted([*best, worst])
    tab.only_stars.setChecked(False)
    assert len(shown_numbers(tab)) == len(session.entries)


def test_the_best_value_of_each_measure_is_bold(tab, compared):
    entries = compared.session.entries
    index = column(tab, "suppressed_records")
    least = min(measure_of(entry.solution, "suppressed_records") for entry in entries)
    for row, entry in enumerate(entries):
        font = tab.filter.index(row, index).data(Qt.ItemDataRole.FontRole)
        assert bool(font is not None and font.bold()) == (measure_of(entry.solution, "suppressed_records") == least)
        share = tab.filter.index(row, column(tab, "suppressed_percent")).data(Qt.ItemDataRole.FontRole)
        assert share == font, "the same by another name"


def test_sorting_goes_by_value_not_by_text(tab):
    index = column(tab, "suppressed_records")
    tab.table.sortByColumn(index, Qt.SortOrder.DescendingOrder)
    values = [measure_of(entry.solution, "suppressed_records") for entry in tab.filter.shown_entries()]
    assert values == sorted(values, reverse=True)


def test_a_click_on_a_row_selects_the_solution_for_table_and_charts(tab, compared, qtbot):
    place = tab.table.visualRect(tab.filter.index(1, 1)).center()
    qtbot.mouseClick(tab.table.viewport(), Qt.MouseButton.LeftButton, pos=place)
    number = shown_numbers(tab)[1]
    assert compared.session.selected.number == number
    assert all(chart.selected == number for chart in tab.charts.charts.values())


@pytest.mark.parametrize("kind", ["bars", "scatter", "parallel"])
def test_a_click_on_a_mark_of_each_chart_selects_the_solution(tab, compared, qtbot, kind):
    tab.charts.show_kind(kind)
    chart = tab.charts.chart
    chart.grab()
    spot, number = chart._spots[0]
    number = chart.number_at(spot.center())
    compared.session.select(None)
    qtbot.mouseClick(chart, Qt.MouseButton.LeftButton, pos=spot.center().toPoint())
    assert compared.session.selected.number == number
    assert tab.chosen_numbers() == [number]


def test_another_solution_chosen_elsewhere_is_the_current_row(tab, compared):
    last = compared.session.entries[-1].number
    compared.session.select(last)
    assert tab.chosen_numbers() == [last]


def test_rows_are_removed_with_the_delete_key(tab, compared, qtbot):
    first = compared.session.entries[0].number
    compared.session.select(first)
    tab.table.setFocus()
    tab.actions_by_name["remove"].trigger()
    assert first not in shown_numbers(tab)
    assert compared.session.selected.number == shown_numbers(tab)[0]


def test_pinning_toggles(tab, compared):
    first = compared.session.entries[0].number
    compared.session.select(first)
    tab.actions_by_name["pin"].trigger()
    assert compared.session.entry(first).pinned
    tab.actions_by_name["pin"].trigger()
    assert not compared.session.entry(first).pinned


def test_the_table_is_copied_as_tab_separated_text(tab):
    tab.actions_by_name["copy"].trigger()
    lines = QGuiApplication.clipboard().text().splitlines()
    assert len(lines) == 1 + len(shown_numbers(tab))
    titles = lines[0].split("\t")
    assert titles[:5] == ["★", "№", "Locations", "Aggregated regions", "Suppressed (%)"]


def test_the_table_is_saved_with_exact_values(tab, compared, tmp_path, qtbot):
    target = tmp_path / "table.csv"
    tab.actions_by_name["save"].trigger()
    dialog = tab.findChild(QFileDialog)
    with qtbot.waitSignal(compared.context.runner.job_ended, timeout=60_000):
        dialog.fileSelected.emit(str(target))
    dialog.close()
    with target.open(newline="") as stream:
        rows = list(csv.DictReader(stream))
    for row, entry in zip(rows, compared.session.entries, strict=True):
        assert int(row["number"]) == entry.number
        assert float(row["average_distance"]) == measure_of(entry.solution, "average_distance")


def test_columns_can_be_hidden_and_stay_hidden(tab, compared):
    tab.column_menu.aboutToShow.emit()
    action = next(action for action in tab.column_menu.actions() if action.data() == "precision_loss")
    action.trigger()
    assert tab.table.isColumnHidden(column(tab, "precision_loss"))
    compared.session.pin([compared.session.entries[0].number])
    assert tab.table.isColumnHidden(column(tab, "precision_loss"))


def test_the_measures_that_decide_are_ticked_in_a_menu(tab, compared):
    tab.measure_menu.aboutToShow.emit()
    for action in tab.measure_menu.actions():
        if action.isChecked() and action.data() != "suppressed_records":
            action.trigger()
    assert compared.session.pareto_measures == ("suppressed_records",)


def test_another_solution_is_offered_for_comparison(tab, compared):
    other = next(e for e in compared.session.entries if e is not compared.session.selected)
    row = shown_numbers(tab).index(other.number)
    entry = tab._entry_at(tab.table.visualRect(tab.filter.index(row, 1)).center())
    assert entry.number == other.number
    assert tab._entry_at(QPoint(5, 5000)) is None


def test_before_the_first_run_the_tab_says_what_to_do(qapp, qtbot):
    bench = Bench(Session())
    tab = ResultsTab(bench.context)
    qtbot.addWidget(tab)
    bench.close()
    assert tab._layers.currentWidget() is tab._empty


def test_seeded_approaches_are_named_shortly_with_their_seeding(compared):
    entry = compared.session.entries[0]
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
    assert Column("x", title, lambda e: 0, unit=unit).header == header


def test_the_names_of_two_measures_are_read_in_full(tab):
    charts = tab.charts
    for kind, fields in (
        ("scatter", (charts.kind, charts.first, charts.second)),
        ("bars", (charts.kind, charts.first)),
    ):
        charts.show_kind(kind)
        charts.layout().activate()
        for field in fields:
            option = QStyleOptionComboBox()
            field.initStyleOption(option)
            part = QStyle.SubControl.SC_ComboBoxEditField
            room = field.style().subControlRect(QStyle.ComplexControl.CC_ComboBox, option, part, field).width()
            assert field.isVisible()
            assert field.fontMetrics().horizontalAdvance(field.currentText()) <= room, field.currentText()


def test_where_there_is_little_room_solutions_are_called_by_what_tells_them_apart(compared):
    entries = compared.session.entries
    assert (
        short_titles(entries)[0]
        == f"1: {entries[0].solution.site_count} sites · {approach_of(entries[0].solution, 'site_location')}"
    )
    approaches = {**entries[0].solution.approaches, "site_number": "maxcombs"}
    other = replace(entries[0], solution=replace(entries[0].solution, approaches=approaches))
    assert short_titles((other, entries[1]))[0].endswith(" sites · Balanced density · Possible classes (MaxCombs)")


def test_the_limit_decides_what_is_recommended_and_a_click_selects_it(tab, compared):
    session = compared.session
    least = min(entry.solution.suppressed_share for entry in session.entries)
    tab.limit.percent.setValue(100.0)
    finest = min(session.entries, key=lambda entry: entry.solution.measures["place_information_loss"])
    assert [number for number, each in session.marks.items() if each.recommended] == [finest.number]
    assert tab.limit.recommended.text() == f"✔ № {finest.number}"
    session.select(next(entry.number for entry in session.entries if entry is not finest))
    tab.limit.recommended.click()
    assert session.selected is finest
    tab.limit.percent.setValue(0.0)
    assert tab.limit.recommended.isEnabled() == (least == 0)
    session.undo()
    assert session.choices.allowed_loss_percent == 1.0


def test_a_preset_ticks_its_measures(tab, compared):
    tab.measure_menu.aboutToShow.emit()
    usual, thesis = tab.measure_menu.actions()[:2]
    assert (usual.isChecked(), thesis.isChecked()) == (True, False)
    assert compared.session.pareto_measures == ("suppressed_records", "place_information_loss")
    thesis.trigger()
    assert compared.session.pareto_measures == (
        "suppressed_records",
        "average_distance",
        "precision_loss",
        "discernibility",
        "non_uniform_entropy",
        "average_anonymity_deviation",
    )
    usual.trigger()
    assert compared.session.choices.pareto_measures is None


def test_a_preset_of_the_menu_decides_the_stars_of_the_window(aggregated_window, qtbot):
    window, session = aggregated_window, aggregated_window.session
    tab = window.findChild(ResultsTab)
    tab.measure_menu.aboutToShow.emit()
    for name in ("All published measures", "Suppression and place"):
        action = next(each for each in tab.measure_menu.actions() if each.text() == name)
        action.trigger()
        assert action.isChecked()
        kept = non_dominated(
            [[measure_of(e.solution, each) for each in session.pareto_measures] for e in session.entries]
        )
        expected = {entry.number for entry, one in zip(session.entries, kept, strict=True) if one}
        rows = range(tab.filter.rowCount())
        starred = {tab.filter.shown_entries()[row].number for row in rows if "★" in tab.filter.index(row, 0).data()}
        assert starred == expected
        assert len(session.pareto_measures) == (6 if "published" in name else 2)


def test_a_partition_that_was_found_before_is_not_listed_again(tab, compared):
    session = compared.session
    first, second = session.entries[:2]
    again = replace(second, solution=replace(second.solution, owner=first.solution.owner[:] + 0))
    entries = (first, again, *session.entries[2:])
    marks = marks_of(entries, session.pareto_measures, 1.0)
    tab.table_model.show_entries(entries, marks, None)
    assert second.number not in shown_numbers(tab)
    tip = tab.table_model.index(0, 1).data(Qt.ItemDataRole.ToolTipRole)
    assert tip.endswith(f"The same partition was found again: № {second.number}.")


def test_the_next_row_is_shown_when_one_is_removed_and_undo_brings_it_back(tab, compared, qtbot):
    session, listed = compared.session, shown_numbers(tab)
    session.select(listed[2])
    tab.actions_by_name["remove"].trigger()
    assert shown_numbers(tab) == [*listed[:2], *listed[3:]]
    assert session.selected.number == listed[3]
    assert tab.chosen_numbers() == [listed[3]]
    session.undo()
    assert shown_numbers(tab) == listed
    assert tab.chosen_numbers() == [listed[2]]
    session.select(listed[-1])
    tab.actions_by_name["remove"].trigger()
    assert session.selected.number == listed[-2]


def axis_of(tab, name):
    tab.charts.show_kind("parallel")
    tab.charts.axes.grab()
    return tab.charts.axes._axes[name]


def drag(chart, qtbot, x, y_from, y_to):
    places = [QPoint(round(x), round(y)) for y in (y_from, (y_from + y_to) / 2, y_to)]
    qtbot.mousePress(chart, Qt.MouseButton.LeftButton, pos=places[0])
    for place in places[1:]:
        event = QMouseEvent(
            QMouseEvent.Type.MouseMove,
            QPointF(place),
            QPointF(chart.mapToGlobal(place)),
            Qt.MouseButton.NoButton,
            Qt.MouseButton.LeftButton,
            Qt.KeyboardModifier.NoModifier,
        )
        QGuiApplication.sendEvent(chart, event)
    qtbot.mouseRelease(chart, Qt.MouseButton.LeftButton, pos=places[-1])


def test_a_range_on_an_axis_filters_table_charts_and_what_the_map_shows(tab, compared, qtbot):
    everything, session = shown_numbers(tab), compared.session
    axis, chart = axis_of(tab, "suppressed_records"), tab.charts.axes
    worst = max(session.entries, key=lambda entry: measure_of(entry.solution, "suppressed_records"))
    session.select(worst.number)
    middle = (axis.top + axis.bottom) / 2
    drag(chart, qtbot, axis.x, axis.bottom + 3, middle)
    low, high = chart.ranges["suppressed_records"]
    assert low == axis.low
    expected = [e.number for e in session.entries if low <= measure_of(e.solution, "suppressed_records") <= high]
    assert shown_numbers(tab) == expected
    assert 0 < len(expected) < len(everything)
    assert session.selected.number in expected, "the map shows one of those that are left"
    assert [row.number for row in chart.rows] == everything, "all stay on their axes, faintly"
    chart.grab()
    assert chart.number_at(QPointF(axis.x, axis.top)) is None
    for kind in ("bars", "scatter"):
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
    place = QPoint(round(axis.x), round(axis.top) + 2)
    qtbot.mouseDClick(tab.charts.axes, Qt.MouseButton.LeftButton, pos=place)
    assert tab.charts.ranges == {}
    assert shown_numbers(tab) == everything


def test_a_column_grows_with_what_comes_into_it_until_widths_are_set_by_hand(qtbot):
    table, model = SqueezedTable(), QStandardItemModel(1, 2)
    qtbot.addWidget(table)
    table.setModel(model)
    for column in range(2):
        model.setHeaderData(
            column, Qt.Orientation.Horizontal, Qt.AlignmentFlag.AlignRight, Qt.ItemDataRole.TextAlignmentRole
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
    table, model = SqueezedTable(), QStandardItemModel(1, len(texts))
    qtbot.addWidget(table)
    table.setModel(model)
    left = Qt.AlignmentFlag.AlignLeft
    for place, text in enumerate(texts):
        model.setHeaderData(place, Qt.Orientation.Horizontal, left, Qt.ItemDataRole.TextAlignmentRole)
        model.setHeaderData(place, Qt.Orientation.Horizontal, "Locations")
        model.setItem(0, place, QStandardItem(text))
    table.show()
    return table


def test_a_column_of_words_gives_way_but_not_its_title(qtbot):
    table = words_table(qtbot, "Balanced density")
    table.fit()
    whole = table.columnWidth(0)
    table.resize(whole - 10, 100)
    assert table.columnWidth(0) == table.viewport().width() < whole
    table.resize(40, 100)
    assert table.fontMetrics().horizontalAdvance("Locations") < table.columnWidth(0) < whole


def test_several_columns_of_words_are_shown_in_full(qtbot):
    table = words_table(qtbot, "Balanced density", "Possible combinations")
    table.fit()
    whole = [table.columnWidth(place) for place in range(2)]
    table.resize(100, 100)
    assert [table.columnWidth(place) for place in range(2)] == whole
    for width, text in zip(whole, ("Balanced density", "Possible combinations"), strict=True):
        assert width > table.fontMetrics().horizontalAdvance(text)
