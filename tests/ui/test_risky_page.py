"""The page "Risky combinations", used as a person would: tick, search, look, step, undo, export."""

import csv
import json
import threading

import numpy as np
import pytest
from PySide6.QtCore import QCoreApplication, QEvent, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QComboBox, QFileDialog, QMessageBox

from vbas_desktop.analysis.minimal_uniques.distinct_rows import DistinctRows
from vbas_desktop.analysis.minimal_uniques.results import count_column_occurrences
from vbas_desktop.analysis.minimal_uniques.search import SearchLimits, find_minimal_uniques
from vbas_desktop.cli.arguments import OptionParser
from vbas_desktop.cli.risky import configure
from vbas_desktop.model.records import Role
from vbas_desktop.ui.pages import PAGES
from vbas_desktop.ui.pages.risky.combinations import COLUMNS, RECORDS, SIZE
from vbas_desktop.ui.pages.risky.combinations import NUMBER as NUMBER_OF_COMBINATIONS
from vbas_desktop.ui.pages.risky.settings_panel import NUMBER, SEARCH, WRITE
from vbas_desktop.ui.state import risky

LONG = 120_000


def open_page(window):
    return window.area.show_page(next(page for page in PAGES if page.title == "Risky combinations"))


def tick(page, column, name, on=True):
    model = page.settings.columns
    row = next(row for row in range(model.rowCount()) if model.row_at(row).name == name)
    state = Qt.CheckState.Checked if on else Qt.CheckState.Unchecked
    model.setData(model.index(row, column), state.value, Qt.ItemDataRole.CheckStateRole)


def press(button, window, qtbot):
    with qtbot.waitSignal(window.worker.job_ended, timeout=LONG):
        qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: not window.background.busy, timeout=LONG)


def shown(page):
    model = page.list.model
    return [[model.index(row, column).data() for column in range(4)] for row in range(model.rowCount())]


def shown_values(page):
    """The rows of the combinations of the selected columns: number of records, values."""
    model = page.list.values_model
    return [[model.index(row, column).data() for column in range(2)] for row in range(model.rowCount())]


def select(page, row):
    page.list.table.setCurrentIndex(page.list.model.index(row, 0))


@pytest.fixture
def page(loaded_window):
    """The page on the loaded records, age and illness ticked, k = 14."""
    made = open_page(loaded_window)
    for name in ("person", "age", "sex", "illness", "tract"):
        tick(made, SEARCH, name, name in ("age", "sex", "illness"))
    made.settings.form.editors["k"].setValue(14)
    return made


@pytest.fixture
def clinic(tmp_path):
    """A table without geography in which postal codes single out single people."""
    path = tmp_path / "clinic.csv"
    rng = np.random.default_rng(1)
    streets = ["N5Y2N3", "N5Y2K1", "N6A1B2", "N6A1C7"]
    rows = [f"{i},{streets[rng.choice(4, p=[0.55, 0.4, 0.04, 0.01])]},{'MF'[i % 2]}" for i in range(200)]
    path.write_text("id,postcode,sex\n" + "\n".join(rows) + "\n")
    return path


def test_the_search_lists_what_the_engine_finds(page, loaded_window, qtbot):
    press(page.search, loaded_window, qtbot)
    table = DistinctRows.from_records(loaded_window.state.table, ["age", "sex", "illness"])
    expected = find_minimal_uniques(table, 14)
    names = [
        " + ".join(table.columns[column] for column in found.columns) for found in expected.column_sets
    ]
    assert [row[3] for row in shown(page)] == names
    assert [int(row[1].replace(",", "")) for row in shown(page)] == [
        found.number for found in expected.column_sets
    ]
    assert [int(row[2].replace(",", "")) for row in shown(page)] == [
        found.records for found in expected.column_sets
    ]
    assert expected.number > len(names) > 0
    assert f"{expected.number:,} minimal risky combinations" in page.list.headline.text()
    counts = {
        page.settings.columns.row_at(row).name: page.settings.columns.index(row, NUMBER).data()
        for row in range(page.settings.columns.rowCount())
    }
    in_age = sum(
        found.rows.size
        for level in expected.levels
        for found in level.combinations
        if 0 in found.columns
    )
    assert counts["age"] == f"{in_age:,}"
    assert counts["tract"] == ""


def test_no_two_rows_are_of_the_same_columns(page, loaded_window, qtbot):
    press(page.search, loaded_window, qtbot)
    names = [row[3] for row in shown(page)]
    assert "age + illness" in names
    assert len(set(names)) == len(names)


def test_without_data_k_is_that_of_the_command_and_with_data_that_of_the_session(window, data, qtbot):
    page = open_page(window)
    parser = OptionParser()
    configure(parser)
    assert page.settings.form.editors["k"].value() == parser.get_default("k")
    with qtbot.waitSignal(window.worker.job_ended, timeout=60_000):
        window.data_commands.load(*data)
    assert page.settings.form.editors["k"].value() == window.state.choices.k


def test_values_are_hidden_until_they_are_asked_for(page, loaded_window, qtbot):
    press(page.search, loaded_window, qtbot)
    assert not page.list.values_table.isVisible()
    assert shown_values(page) == []
    page.list.reveal.click()
    assert page.list.values_table.isVisible()
    for row, (_, number, records, names) in enumerate(shown(page)):
        select(page, row)
        values = shown_values(page)
        assert len({text for _, text in values}) == len(values) == int(number.replace(",", ""))
        assert sum(int(count) for count, _ in values) == int(records.replace(",", ""))
        assert all(
            [pair.split(" = ")[0] for pair in text.split(" + ")] == names.split(" + ")
            for _, text in values
        )
    assert (
        page.list.values_model.index(0, 1).data(Qt.ItemDataRole.ToolTipRole) == shown_values(page)[0][1]
    )
    QGuiApplication.clipboard().clear()
    page.list.values_table.setCurrentIndex(page.list.values_model.index(0, 1))
    qtbot.keyClick(page.list.values_table, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    assert "=" not in QGuiApplication.clipboard().text()
    page.list.reveal.click()
    assert shown_values(page) == []


def test_values_are_shown_with_the_labels_of_a_codebook(loaded_window, qtbot):
    state = loaded_window.state
    values = state.table.facts("illness").categories.values
    state.table = state.table.with_labels(
        {"illness": {value: f"what {value} means" for value in values}}
    )
    page = open_page(loaded_window)
    for name in ("person", "age", "sex", "illness", "tract"):
        tick(page, SEARCH, name, name in ("age", "illness"))
    page.settings.form.editors["k"].setValue(14)
    press(page.search, loaded_window, qtbot)
    page.list.reveal.click()
    told = set()
    for row in range(len(shown(page))):
        select(page, row)
        told |= {text.partition("illness = ")[2] for _, text in shown_values(page) if "illness" in text}
    assert told
    assert told <= {f"{value} (what {value} means)" for value in values}


def test_the_scores_of_the_records_are_saved(page, loaded_window, tmp_path, qtbot):
    assert not page.list.scores.isEnabled()
    press(page.search, loaded_window, qtbot)
    table = DistinctRows.from_records(loaded_window.state.table, ["age", "sex", "illness"])
    scores = find_minimal_uniques(table, 14).scores[table.row_of]
    assert (
        f"{(scores > 0).sum():,} records are in at least one, at most in {scores.max()}."
        in page.list.headline.text()
    )
    qtbot.mouseClick(page.list.scores, Qt.MouseButton.LeftButton)
    dialog = page.findChild(QFileDialog)
    with qtbot.waitSignal(loaded_window.worker.job_ended, timeout=LONG):
        dialog.fileSelected.emit(str(tmp_path / "scores.csv"))
    dialog.reject()
    saved = list(csv.DictReader((tmp_path / "scores.csv").read_text().splitlines()))
    assert [int(line["combinations"]) for line in saved] == scores.tolist()
    assert [int(line["record"]) for line in saved] == list(range(1, len(scores) + 1))


def test_the_list_is_filtered_and_sorted(page, loaded_window, qtbot):
    press(page.search, loaded_window, qtbot)
    everything = shown(page)
    with qtbot.waitSignal(page.list.arranged, timeout=LONG):
        qtbot.keyClicks(page.list.filter, "sex")
    assert shown(page) == [row for row in everything if "sex" in row[3]]
    with qtbot.waitSignal(page.list.arranged, timeout=LONG):
        page.list.filter.clear()
    for column in (SIZE, NUMBER_OF_COMBINATIONS, RECORDS):
        for order, descending in (
            (Qt.SortOrder.AscendingOrder, False),
            (Qt.SortOrder.DescendingOrder, True),
        ):
            page.list.table.sortByColumn(column, order)
            numbers = [int(row[column].replace(",", "")) for row in shown(page)]
            assert numbers == sorted(numbers, reverse=descending)
    page.list.table.sortByColumn(COLUMNS, Qt.SortOrder.DescendingOrder)
    assert [row[3] for row in shown(page)] == sorted((row[3] for row in everything), reverse=True)


def test_at_first_few_records_may_go_and_nothing_is_emptied(page, loaded_window, qtbot):
    assert (
        page.settings.form.editors["strategy"].currentData(),
        page.settings.form.editors["suppression_percent"].value(),
    ) == ("gentle", 1.0)
    page.settings.form.editors["k"].setValue(2)
    press(page.timeline.buttons["run"], loaded_window, qtbot)
    (change,) = page.page_state.session.steps[0].changes
    assert change.description == "records suppressed"
    assert change.records == page.page_state.state.suppressed <= 30
    assert page.page_state.state.table.anonymity >= 2


def test_steps_are_made_undone_and_run_to_the_end(page, loaded_window, qtbot):
    buttons, timeline = page.timeline.buttons, page.timeline
    page.settings.form.editors["suppression_percent"].setValue(0)
    press(buttons["step"], loaded_window, qtbot)
    assert timeline.steps.count() == 2
    assert (
        timeline.steps.item(1)
        .text()
        .endswith("of size 2 → illness: neighbouring values joined (39 → 20 values)")
    )
    qtbot.mouseClick(buttons["undo"], Qt.MouseButton.LeftButton)
    assert timeline.steps.count() == 1
    assert not buttons["undo"].isEnabled()
    press(buttons["run"], loaded_window, qtbot)
    assert page.page_state.state.table.anonymity >= 14
    assert "14-anonymous" in timeline.anonymity.text()
    assert "not yet" not in timeline.anonymity.text()
    assert page.list.headline.text() == "No risky combination is left in the searched columns."
    assert not buttons["step"].isEnabled()


def test_a_larger_k_can_go_on_from_where_a_smaller_one_ended(page, loaded_window, qtbot):
    buttons = page.timeline.buttons
    press(buttons["run"], loaded_window, qtbot)
    steps = page.timeline.steps.count()
    page.settings.form.editors["k"].setValue(300)
    assert buttons["run"].isEnabled()
    press(buttons["run"], loaded_window, qtbot)
    assert page.page_state.state.table.anonymity >= 300
    assert page.timeline.steps.count() > steps


def test_the_strategy_says_how_many_columns_are_coarsened(page, loaded_window, qtbot):
    strategy = page.settings.form.editors["strategy"]
    touched = {}
    for name in ("cover", "paper"):
        strategy.setCurrentIndex(strategy.findData(name))
        strategy.activated.emit(strategy.currentIndex())
        press(page.timeline.buttons["step"], loaded_window, qtbot)
        touched[name] = [change.column for change in page.page_state.session.steps[0].changes]
        qtbot.mouseClick(page.timeline.buttons["undo"], Qt.MouseButton.LeftButton)
    assert touched == {"cover": ["age"], "paper": ["age", "illness"]}


def test_records_may_be_suppressed_rather_than_a_column_emptied(page, loaded_window, qtbot):
    page.settings.filters.show_rows([[name, "null"] for name in ("age", "sex", "illness")])
    page.settings.form.editors["k"].setValue(3)
    page.settings.form.editors["suppression_percent"].setValue(5)
    press(page.timeline.buttons["run"], loaded_window, qtbot)
    assert page.page_state.state.suppressed == 85
    assert "85 records suppressed" in page.timeline.information.text()
    loss = page.page_state.listing.detail.information_loss
    assert 0 < loss < 1
    assert page.timeline.information.text().startswith(f"{100 * loss:.0f} % of the information lost")
    assert [len(values) > 1 for values in page.page_state.state.table.values] == [True, True, True]
    assert page.page_state.state.table.anonymity >= 3


def test_a_public_table_makes_more_combinations_risky(page, loaded_window, tmp_path, qtbot):
    press(page.search, loaded_window, qtbot)
    alone = shown(page)
    public = tmp_path / "public.csv"
    public.write_text("sex\nnobody\n")
    page.settings.references.dropped.emit(public)
    assert page.page_state is None
    press(page.search, loaded_window, qtbot)
    with_public = shown(page)
    assert [(row[3], row[1]) for row in with_public if row[0] == "1"] == [("sex", "2")]
    assert with_public != alone


def test_public_tables_are_added_and_removed_one_by_one(page, loaded_window, tmp_path, qtbot):
    press(page.search, loaded_window, qtbot)
    alone = shown(page)
    row = page.settings.references
    for name in ("sex", "illness"):
        (tmp_path / f"{name}.csv").write_text(f"{name}\nnobody\n")
        row.add_file(tmp_path / f"{name}.csv")
    row.add_file(tmp_path / "sex.csv")
    assert [path.name for path in row.paths] == ["sex.csv", "illness.csv"]
    press(page.search, loaded_window, qtbot)
    single = {line[3] for line in shown(page) if line[0] == "1"}
    assert single >= {"sex", "illness"}
    for left in (1, 0):
        qtbot.mouseClick(row.removers[0], Qt.MouseButton.LeftButton)
        assert len(row.paths) == left
    assert page.page_state is None
    press(page.search, loaded_window, qtbot)
    assert shown(page) == alone


def test_numbers_and_the_trim_divisor_are_those_of_the_plan(page):
    settings = page.settings
    assert (settings.setup().trim_divisor, settings.setup().numbers) == (3, None)
    settings.form.editors["trim_divisor"].setValue(2)
    numbers = settings.form.editors["numbers"]
    numbers.setCurrentIndex(numbers.findData("null"))
    numbers.activated.emit(numbers.currentIndex())
    plan = settings.setup().plan()
    assert (plan.trim_divisor, plan.numbers) == (2, "null")


def test_a_bounded_list_does_not_decide_on_thresholds_of_a_step(page, loaded_window, qtbot):
    setup = page.settings.setup()
    table = DistinctRows.from_records(setup.records, setup.columns)
    small, whole = (
        count_column_occurrences(
            found
            for level in find_minimal_uniques(table, 14, limits=SearchLimits(max_size=size)).levels
            for found in level.combinations
        )
        for size in (2, None)
    )
    assert small[0] < whole[0]
    grid = page.settings.domain
    qtbot.mouseClick(grid.add, Qt.MouseButton.LeftButton)
    for column, text in enumerate(("age", "Threshold Greater", f"{small[0]}")):
        grid.grid.item(0, column).setText(text)
    page.settings.form.editors["max_size"].setValue(2)
    press(page.search, loaded_window, qtbot)
    assert (
        "thresholds of domain rules count combinations of at most 2 columns" in page.list.headline.text()
    )
    assert page.page_state.listing.search.exempted == 0
    press(page.timeline.buttons["step"], loaded_window, qtbot)
    changed = [change.column for step in page.page_state.session.steps for change in step.changes]
    assert "age" not in changed
    assert page.page_state.session.exempted > 0


def test_a_search_is_stopped(page, loaded_window, qtbot, monkeypatch):
    never = threading.Event()

    def endless(setup, work, progress):
        while not never.wait(0.01):
            progress.update("Combinations of 2 columns")

    monkeypatch.setattr(risky, "search", endless)
    assert not page.stop.isEnabled()
    with qtbot.waitSignal(loaded_window.worker.job_ended, timeout=LONG):
        qtbot.mouseClick(page.search, Qt.MouseButton.LeftButton)
        assert page.stop.isEnabled()
        qtbot.mouseClick(page.stop, Qt.MouseButton.LeftButton)
    assert page.page_state is None
    assert page.search.isEnabled()
    assert not page.stop.isEnabled()


def test_exempted_combinations_are_told_in_red(page, loaded_window, qtbot):
    grid = page.settings.domain
    qtbot.mouseClick(grid.add, Qt.MouseButton.LeftButton)
    for column, text in enumerate(("ALL", "Candidate", "3")):
        grid.grid.item(0, column).setText(text)
    assert grid.said.text() == "Risky combinations of exactly 3 columns may stay."
    press(page.timeline.buttons["run"], loaded_window, qtbot)
    assert page.timeline.exempted.isVisible()
    assert page.timeline.exempted.property("look") == "error"
    assert "not 14-anonymous" in page.timeline.exempted.text()


def test_rules_are_chosen_from_lists_and_told_in_words(page, qtbot):
    grid = page.settings.filters
    assert grid.said.text().startswith("None: texts are shortened")
    qtbot.mouseClick(grid.add, Qt.MouseButton.LeftButton)
    assert grid.said.property("look") == "warning", "no column is chosen yet"
    for column, words, kept in ((0, "illness", "illness"), (1, "cut the last 2 characters", "-2")):
        if column == 1:  # A new rule begins with its column.
            grid.grid.editItem(grid.grid.item(0, column))
        combo = grid.grid.viewport().findChild(QComboBox)
        assert combo.isEditable() == (column == 1), "files of groups are typed, columns never"
        combo.setCurrentIndex(combo.findText(words))
        combo.activated.emit(combo.currentIndex())
        assert grid.grid.item(0, column).text() == kept
        QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
    assert grid.said.text() == "illness: the last 2 characters are cut, such as ABC123 → ABC1."
    assert grid.said.property("look") == "muted"
    grid.grid.item(0, 1).setText("map:jobs.csv")
    assert grid.said.text() == "illness: values are grouped as jobs.csv says (value,group on each line)."


def test_a_wrong_rule_is_told_with_its_row(page, loaded_window, qtbot):
    page.settings.filters.show_rows([["age", "-1"], ["sex", "shorten"]])
    press(page.search, loaded_window, qtbot)
    message = loaded_window.findChild(QMessageBox)
    assert "Filter rules, row 2" in message.informativeText()
    message.accept()


def test_rules_survive_saving_and_reading(page, loaded_window, tmp_path, qtbot):
    grid, path = page.settings.filters, tmp_path / "rules.csv"
    grid.show_rows([["age", "-1"], ["age", "null"]])
    with qtbot.waitSignal(loaded_window.worker.job_ended, timeout=LONG):
        grid.write_file(str(path))
    assert path.read_text() == "feature,rule\nage,-1\nage,null\n"
    grid.show_rows([])
    with qtbot.waitSignal(loaded_window.worker.job_ended, timeout=LONG):
        grid.read_file(str(path))
    assert grid.rows() == (("age", "-1"), ("age", "null"))


def test_one_click_makes_the_shown_columns_quasi_identifiers(page, loaded_window, qtbot):
    assert loaded_window.state.choices.roles["illness"] is not Role.QUASI_IDENTIFIER
    press(page.search, loaded_window, qtbot)
    qtbot.mouseClick(page.use, Qt.MouseButton.LeftButton)
    assert loaded_window.state.choices.roles["illness"] is Role.QUASI_IDENTIFIER
    assert loaded_window.state.choices.region_column == "tract"
    loaded_window.menus.actions["undo"].trigger()
    assert loaded_window.state.choices.roles["illness"] is not Role.QUASI_IDENTIFIER


def test_a_table_without_geography_is_coarsened_and_written(window, clinic, tmp_path, qtbot):
    page = open_page(window)
    assert not page.search.isEnabled()
    with qtbot.waitSignal(window.worker.job_ended, timeout=LONG):
        page.open_file(clinic)
    assert page.settings.columns.searched() == ("postcode", "sex")
    assert page.settings.columns.dropped() == ("id",)
    page.settings.form.editors["k"].setValue(6)
    press(page.timeline.buttons["run"], window, qtbot)
    assert "postcode: last 2 characters cut" in page.timeline.steps.item(1).text()
    target = tmp_path / "out"
    qtbot.mouseClick(page.timeline.buttons["export"], Qt.MouseButton.LeftButton)
    dialog = page.findChild(QFileDialog)
    with qtbot.waitSignal(window.worker.job_ended, timeout=LONG):
        dialog.fileSelected.emit(str(target))
    dialog.reject()
    rows = list(csv.DictReader((target / "anonymized.csv").read_text().splitlines()))
    assert len(rows) == 200
    assert {row["postcode"] for row in rows} <= {"N5Y2", "N6A1", "N5", "N6"}
    assert set(rows[0]) == {"postcode", "sex"}
    assert json.loads((target / "internal" / "log.json").read_text())["k_anonymous"]
    assert "read back" in window.status.what.text()
    assert not page.use.isEnabled()


def answer(page, qtbot, text):
    """Click an answer of the question that is open."""
    box = page.findChild(QMessageBox)
    button = next(one for one in box.buttons() if one.text().replace("&", "") == text)
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)


def test_a_result_that_is_not_anonymous_is_written_only_after_a_question(
    page, loaded_window, tmp_path, qtbot
):
    press(page.search, loaded_window, qtbot)
    assert not page.page_state.is_anonymous(14)
    export = page.timeline.buttons["export"]
    qtbot.mouseClick(export, Qt.MouseButton.LeftButton)
    box = page.findChild(QMessageBox)
    assert box.text() == "The result is not 14-anonymous in the searched columns."
    assert "All steps goes on" in box.informativeText()
    assert box.defaultButton().text() == "Cancel"
    answer(page, qtbot, "Cancel")
    assert page.findChild(QFileDialog) is None
    qtbot.mouseClick(export, Qt.MouseButton.LeftButton)
    answer(page, qtbot, "Write all the same…")
    dialog = page.findChild(QFileDialog)
    with qtbot.waitSignal(loaded_window.worker.job_ended, timeout=LONG):
        dialog.fileSelected.emit(str(tmp_path / "knowingly"))
    dialog.reject()
    assert not json.loads((tmp_path / "knowingly" / "internal" / "log.json").read_text())["k_anonymous"]
    assert "NOT 14-anonymous" in loaded_window.status.what.text()


def test_a_larger_k_in_the_field_is_asked_about_too(page, loaded_window, qtbot):
    press(page.timeline.buttons["run"], loaded_window, qtbot)
    smallest = page.page_state.state.table.anonymity
    assert smallest >= 14
    page.settings.form.editors["k"].setValue(smallest + 1)
    qtbot.mouseClick(page.timeline.buttons["export"], Qt.MouseButton.LeftButton)
    assert page.findChild(QMessageBox).text().startswith(f"The result is not {smallest + 1}-anonymous")
    answer(page, qtbot, "Cancel")


def test_the_written_file_has_formulas_escaped_and_an_order_that_can_be_repeated(
    window, tmp_path, qtbot
):
    path = tmp_path / "formulas.csv"
    path.write_text("=name,sex\n" + "".join(f"=1+{i % 2},{'MF'[i // 2 % 2]}\n" for i in range(40)))
    page = open_page(window)
    with qtbot.waitSignal(window.worker.job_ended, timeout=LONG):
        page.open_file(path)
    press(page.search, window, qtbot)
    written = []
    page.settings.writing.editors["shuffle_seed"].setText("mine")
    for escape in (False, True, True):
        formulas = page.settings.writing.editors["escape_formulas"]
        if formulas.isChecked() is not escape:
            formulas.click()
        target = tmp_path / f"out{len(written)}"
        with qtbot.waitSignal(window.worker.job_ended, timeout=LONG):
            page.export(str(target))
        written.append((target / "anonymized.csv").read_text())
    assert written[0].splitlines()[0] == "=name,sex"
    assert written[1] == written[2] == "".join(f"'{line}\n" for line in written[0].splitlines())


def test_columns_may_be_left_out_of_the_written_file(page):
    tick(page, WRITE, "tract", on=False)
    assert "tract" in page.settings.columns.dropped()
    tick(page, SEARCH, "tract")
    assert "tract" not in page.settings.columns.dropped()


def test_another_choice_of_columns_begins_anew(page, loaded_window, qtbot):
    press(page.timeline.buttons["step"], loaded_window, qtbot)
    tick(page, SEARCH, "sex", on=False)
    assert page.page_state is None
    assert page.timeline.steps.count() == 0


def test_a_bounded_search_says_that_it_is_not_complete(page, loaded_window, qtbot):
    page.settings.form.editors["max_size"].setValue(1)
    press(page.search, loaded_window, qtbot)
    assert "Not complete: sizes above 1 were not searched" in page.list.headline.text()
    assert page.list.headline.property("look") == "warning"
    press(page.timeline.buttons["run"], loaded_window, qtbot)
    assert page.page_state.state.table.anonymity >= 14


def test_what_is_said_of_k_names_the_searched_columns_and_warns_of_the_others(
    page, loaded_window, qtbot
):
    press(page.timeline.buttons["run"], loaded_window, qtbot)
    smallest = page.page_state.state.table.anonymity
    assert page.timeline.anonymity.text() == (
        f"Smallest class {smallest}: 14-anonymous, counting the 3 searched columns only"
    )
    assert page.timeline.anonymity.toolTip().startswith("Over age, sex, illness together")
    others = page.settings.columns.unsearched()
    assert "tract" in others
    assert page.timeline.unsearched.text() == (
        f"Written without having been searched: {', '.join(others)}. With these, people may still stand out."
    )
    for name in others:
        tick(page, WRITE, name, False)
    assert page.timeline.unsearched.isHidden()


def test_rules_are_added_and_removed_with_the_keyboard(page, qtbot):
    grid = page.settings.domain.grid
    page.activateWindow()
    grid.setFocus()
    qtbot.keyClick(grid, Qt.Key.Key_Insert)
    assert grid.rowCount() == 1
    grid.setFocus()
    qtbot.keyClick(grid, Qt.Key.Key_Delete)
    assert grid.rowCount() == 0


def test_what_is_missing_is_offered_and_other_settings_are_told(page, loaded_window, qtbot):
    assert not page.notice.isVisible()
    for facts in page.settings.columns.rows:
        tick(page, SEARCH, facts.name, on=False)
    assert page.notice.label.text() == "Tick at least one column."
    qtbot.mouseClick(page.notice.button("Tick all"), Qt.MouseButton.LeftButton)
    assert page.settings.columns.searched() == tuple(
        f.name for f in page.settings.columns.rows if f.categorical
    )
    press(page.search, loaded_window, qtbot)
    assert not page.notice.isVisible()
    page.settings.form.editors["k"].setValue(page.settings.form.editors["k"].value() + 1)
    assert page.notice.label.text().startswith("These results are of other settings.")
    press(page.search, loaded_window, qtbot)
    assert not page.notice.isVisible()


def test_without_data_a_file_is_offered(window):
    assert [button.text() for button in open_page(window).notice.buttons] == ["Choose a f&ile…"]
