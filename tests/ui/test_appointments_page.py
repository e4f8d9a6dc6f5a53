"""The page "Appointments", used as a person would: choose files, plan, look, ask for another slot, export."""

import csv
import json
import subprocess
import sys
from xml.etree import ElementTree

import pytest
from PySide6.QtCore import QMimeData, QPoint, Qt, QUrl
from PySide6.QtGui import QDropEvent
from PySide6.QtSvg import QSvgGenerator
from PySide6.QtWidgets import QApplication, QFileDialog, QMessageBox

from vbas_desktop.model.progress import NO_PROGRESS
from vbas_desktop.ui.pages import PAGES
from vbas_desktop.ui.pages.appointments.tables import AlternativesDialog
from vbas_desktop.ui.state.appointments import count_blocks, select_everything

LONG = 120_000
CLASSES = {"north": 4, "south": 4, "east": 5, "west": 2}


def wait(window, qtbot, action):
    with qtbot.waitSignal(window.worker.job_ended, timeout=LONG):
        action()
    qtbot.waitUntil(lambda: not window.background.busy and not window.worker.busy, timeout=LONG)


@pytest.fixture
def files(tmp_path):
    """Fifteen people of four classes, and one seat more than they need."""
    people = [
        f"P{i},{area}"
        for i, area in enumerate(area for area, size in CLASSES.items() for _ in range(size))
    ]
    (tmp_path / "people.csv").write_text("person,area\n" + "\n".join(people) + "\n")
    slots = ["A,08:00,4", "A,09:00,2", "B,08:00,4", "B,09:00,3", "B,10:00,3"]
    (tmp_path / "slots.csv").write_text("centre,time,capacity\n" + "\n".join(slots) + "\n")
    return tmp_path / "people.csv", tmp_path / "slots.csv"


@pytest.fixture
def page(window, files, qtbot):
    """The page with both files loaded."""
    made = window.area.show_page(next(page for page in PAGES if page.title == "Appointments"))
    assert not made.plan.isEnabled()
    wait(window, qtbot, lambda: made.open_people(files[0]))
    wait(window, qtbot, lambda: made.open_slots(files[1]))
    return made


@pytest.fixture
def planned(page, window, qtbot):
    """The page with an instant plan."""
    wait(window, qtbot, page.plan.click)
    return page


def choose(page, name):
    page.settings.effort.setCurrentIndex(page.settings.effort.findData(name))
    page.settings.effort.activated.emit(page.settings.effort.currentIndex())


def test_the_solver_is_loaded_only_by_who_uses_it():
    code = "import sys; import vbas_desktop.ui.pages.appointments.page as page; "
    code += "from vbas_desktop.appointments.planners import list_planners; "
    code += "assert 'optimal' in list_planners(); print('ortools' in sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "False"


def test_every_column_is_in_sight(page):
    columns = page.settings.quasi
    shown = columns.viewport().rect()
    assert columns.count() == 2
    assert all(
        shown.contains(columns.visualItemRect(columns.item(row))) for row in range(columns.count())
    )


def test_columns_are_guessed_and_classes_counted(page):
    assert page.settings.columns().quasi_identifiers == ("area",)
    assert page.settings.columns().id == "person"
    shown = [(page.classes.index(row, 0).data(), page.classes.index(row, 1).data()) for row in range(4)]
    assert shown == [("north", "4"), ("south", "4"), ("east", "5"), ("west", "2")]
    assert page.reason.text() == "15 people in 4 classes, 16 seats."


def test_a_slots_file_is_dropped(page, window, tmp_path, qtbot):
    other = tmp_path / "other.csv"
    other.write_text("centre,time,capacity\nA,08:00,3\n")
    mime = QMimeData()
    mime.setUrls([QUrl.fromLocalFile(str(other))])
    event = QDropEvent(
        QPoint(5, 5),
        Qt.DropAction.CopyAction,
        mime,
        Qt.MouseButton.LeftButton,
        Qt.KeyboardModifier.NoModifier,
    )
    wait(window, qtbot, lambda: page.settings.slots_file.dropEvent(event))
    assert page.reason.text() == "15 people in 4 classes, 3 seats: 12 seats are missing."


def test_an_instant_plan_is_shown_with_its_vectors(planned):
    result = planned.planned.assessment
    assert planned.results.headline.text().startswith(f"k = {result.plan.vector.k} · improvement ")
    assert "(exact) over random seats · not proved" in planned.results.headline.text()
    assert sum(planned.results.bars.series["Planned"]) == result.plan.vector.classes
    assert sum(planned.results.bars.series["Before"]) == 4
    free = [int(planned.slots.index(row, 3).data()) for row in range(5)]
    assert sum(free) == 1


def test_the_optimum_is_proved(page, window, qtbot):
    choose(page, "optimal")
    assert page.settings.planning.editors["time_limit"].isEnabled()
    wait(window, qtbot, page.plan.click)
    assert "proved optimal" in page.results.headline.text()
    assert page.results.headline.property("look") == "good"


def test_limits_on_groups_need_the_optimal_planner_and_say_so(page, window, qtbot):
    form = page.settings.constraints.form.editors
    form["group_column"].setCurrentIndex(form["group_column"].findData("area"))
    form["group_column"].activated.emit(form["group_column"].currentIndex())
    form["largest_share_percent"].setValue(50)
    messages = []
    window.worker.job_failed.connect(lambda failure: messages.append(failure.message))
    wait(window, qtbot, page.plan.click)
    assert messages
    assert "cannot keep limits on groups" in messages[0]
    window.findChild(QMessageBox).accept()


def pick(combo, value):
    combo.setCurrentIndex(combo.findData(value))
    combo.activated.emit(combo.currentIndex())


def test_a_majority_brings_the_limits_of_the_source_and_every_planner_keeps_them(
    window, tmp_path, qtbot
):
    countries = ["here"] * 34 + [name for name in ("a", "b", "c") for _ in range(2)]
    people = "".join(f"P{number},{country}\n" for number, country in enumerate(countries))
    (tmp_path / "people.csv").write_text(f"person,country\n{people}")
    (tmp_path / "slots.csv").write_text("centre,time,capacity\nA,9,20\nB,9,20\n")
    page = window.area.show_page(next(page for page in PAGES if page.title == "Appointments"))
    wait(window, qtbot, lambda: page.open_people(tmp_path / "people.csv"))
    wait(window, qtbot, lambda: page.open_slots(tmp_path / "slots.csv"))
    form = page.settings.constraints.form.editors
    assert not form["majority"].isEnabled()
    pick(form["group_column"], "country")
    assert [form["majority"].itemText(row) for row in range(form["majority"].count())] == [
        "none",
        "a",
        "b",
        "c",
        "here",
    ]
    pick(form["majority"], "here")
    assert (form["largest_share_percent"].value(), form["fewest_groups"].value()) == (15, 3)
    for name in ("heuristic", "better", "optimal", "random"):
        choose(page, name)
        wait(window, qtbot, page.plan.click)
        assert page.planned.assessment.plan.planner == name
        assert page.planned.assessment.as_dict()["largest_other_share"] == 0.15
    pick(form["majority"], None)
    assert (form["largest_share_percent"].value(), form["fewest_groups"].value()) == (100, 1)
    pick(form["majority"], "here")
    pick(form["group_column"], None)
    assert page.settings.constraints.form.values().majority is None


def test_a_majority_that_cannot_be_kept_is_told_with_the_reason(page, window, qtbot):
    pick(page.settings.constraints.form.editors["group_column"], "area")
    pick(page.settings.constraints.form.editors["majority"], "east")
    wait(window, qtbot, page.plan.click)
    (box,) = window.findChildren(QMessageBox)
    assert "all groups but the majority together" in box.text() + box.informativeText()
    box.close()


def test_classes_are_split_as_chosen_by_the_planners_that_can(page, window, qtbot):
    assert page.settings.planning.editors["fill"].isEnabled()
    pick(page.settings.planning.editors["fill"], "largest")
    assert page.settings.setup().fill == "largest"
    wait(window, qtbot, page.plan.click)
    largest = page.planned.assessment.plan.vector.counts
    pick(page.settings.planning.editors["fill"], "closest")
    wait(window, qtbot, page.plan.click)
    assert page.planned.assessment.plan.vector.counts != largest
    choose(page, "optimal")
    assert not page.settings.planning.editors["fill"].isEnabled()


def test_the_heat_map_names_the_slots_below_their_columns(planned, window, qtbot, tmp_path):
    planned.results.tabs.setCurrentWidget(planned.results.heat)
    view = planned.results.heat
    qtbot.waitUntil(lambda: view.heat is not None, timeout=LONG)
    target = tmp_path / "plan.svg"
    drawing = QSvgGenerator()
    drawing.setFileName(str(target))
    drawing.setSize(view.size())
    view.render(drawing)
    svg = ElementTree.parse(target)
    texts = {"".join(text.itertext()).strip() for text in svg.iter("{http://www.w3.org/2000/svg}text")}
    assert {" ".join(name) for name in planned.planned.assessment.task.slot_labels} <= texts


def test_all_columns_of_an_empty_table_of_slots_are_in_sight(window):
    window.resize(1024, 700)
    page = window.area.show_page(next(page for page in PAGES if page.title == "Appointments"))
    QApplication.processEvents()
    assert page.slot_table.model().columnCount() == 3
    assert page.slot_table.horizontalScrollBar().maximum() == 0


def test_the_heat_map_shows_every_cell_and_offers_other_slots(planned, window, qtbot):
    planned.results.tabs.setCurrentWidget(planned.results.heat)
    view, plan = planned.results.heat, planned.planned.assessment.plan
    qtbot.waitUntil(lambda: view.heat is not None, timeout=LONG)
    assert view.heat.people.tolist() == plan.matrix(planned.planned.assessment.task).tolist()
    cell = int(plan.classes[0]), int(plan.slots[0])
    menu = view.menu_at(view.block_position(*cell))
    menu.actions()[0].trigger()
    qtbot.waitUntil(lambda: window.findChild(AlternativesDialog) is not None, timeout=LONG)
    dialog = window.findChild(AlternativesDialog)
    assert dialog.headline.text().startswith("Somebody of north cannot attend")
    assert dialog.table.model().rowCount() == int((planned.planned.free_seats > 0).sum())
    dialog.reject()
    menu.deleteLater()


def test_the_heat_map_is_read_and_opened_by_the_keyboard(planned, qtbot):
    planned.results.tabs.setCurrentWidget(planned.results.heat)
    view = planned.results.heat
    qtbot.waitUntil(lambda: view.heat is not None, timeout=LONG)
    for key in (Qt.Key.Key_Down, Qt.Key.Key_Down, Qt.Key.Key_Right):
        qtbot.keyClick(view, key)
    assert view.chosen == (1, 1)
    people = int(view.heat.people[1, 1])
    assert (
        view.accessibleDescription()
        == f"south, A 09:00, {people} {'person' if people == 1 else 'people'}"
    )
    row, column = (int(number[0]) for number in view.heat.people.nonzero())
    for _ in range(5):
        qtbot.keyClick(view, Qt.Key.Key_Left)
        qtbot.keyClick(view, Qt.Key.Key_Up)
    for key, times in ((Qt.Key.Key_Down, row), (Qt.Key.Key_Right, column)):
        for _ in range(times):
            qtbot.keyClick(view, key)
    assert view.chosen == (row, column)
    qtbot.keyClick(view, Qt.Key.Key_Return)
    menu = QApplication.activePopupWidget()
    assert menu.actions()[0].text() == "&Cannot attend…"
    menu.close()


def test_the_table_lists_the_plan_and_offers_other_slots(planned, window, qtbot):
    results = planned.results
    results.tabs.setCurrentWidget(results.table)
    shown = results.rows.listed_rows()
    assert sum(int(results.rows.columns[2].value(row)) for row in shown) == 15
    results.table.setCurrentIndex(results.rows.index(0, 0))
    qtbot.keyClick(results.table, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: window.findChild(AlternativesDialog) is not None, timeout=LONG)
    dialog = window.findChild(AlternativesDialog)
    assert dialog.headline.text().startswith("Somebody of east cannot attend")
    dialog.reject()


def test_somebody_who_cannot_attend_is_found_by_id(planned, window, qtbot):
    qtbot.keyClicks(planned.results.person, "P0")
    qtbot.keyClick(planned.results.person, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: window.findChild(AlternativesDialog) is not None, timeout=LONG)
    dialog = window.findChild(AlternativesDialog)
    assert dialog.headline.text() == "P0 cannot attend."
    dialog.reject()


def test_the_menu_of_a_class_lists_its_slots(planned):
    menu = planned.class_menu(2)
    names = [action.text() for action in menu.actions()[0].menu().actions()]
    assert sum(int(name.partition("(")[2].partition(")")[0]) for name in names) == 5
    menu.deleteLater()


def test_the_plan_is_written(planned, window, tmp_path, qtbot):
    qtbot.mouseClick(planned.results.export, Qt.MouseButton.LeftButton)
    dialog = planned.findChild(QFileDialog)
    wait(window, qtbot, lambda: dialog.fileSelected.emit(str(tmp_path / "plan")))
    dialog.reject()
    rows = list(csv.DictReader((tmp_path / "plan" / "appointments.csv").read_text().splitlines()))
    assert [row["person"] for row in rows] == [f"P{i}" for i in range(15)]
    assert json.loads((tmp_path / "plan" / "plan.json").read_text())["people"] == 15


def test_stopping_keeps_the_best_plan_so_far(page, window, files, qtbot):
    slots = "centre,time,capacity\n" + "".join(f"A,{i},{7 + i % 5}\n" for i in range(60))
    people = "person,area\n" + "".join(f"P{i},{i * i % 13}\n" for i in range(500))
    files[0].write_text(people)
    files[1].write_text(slots)
    wait(window, qtbot, lambda: page.open_people(files[0]))
    wait(window, qtbot, lambda: page.open_slots(files[1]))
    choose(page, "optimal")
    page.settings.planning.editors["time_limit"].setValue(600.0)
    stages = []

    def stop(stage, fraction):
        stages.append(stage)
        if "xchanging" in stage or "evel" in stage:
            window.worker.stop()

    window.worker.progressed.connect(stop)
    wait(window, qtbot, page.plan.click)
    window.worker.progressed.disconnect(stop)
    assert page.planned is not None
    assert page.planned.assessment.plan.vector.people == 500


def test_other_columns_make_the_old_plan_vanish(planned, window, qtbot):
    item = planned.settings.quasi.item(1)
    item.setCheckState(Qt.CheckState.Unchecked)
    assert planned.planned is None
    qtbot.waitUntil(lambda: not window.background.busy, timeout=LONG)
    assert planned.reason.text() == "Tick at least one quasi-identifier."
    assert not planned.plan.isEnabled()


def test_a_large_plan_is_drawn_in_blocks_that_add_up(planned):
    made = planned.planned
    blocks = count_blocks(made, select_everything(made), 2, 3, NO_PROGRESS)
    assert blocks.people.shape == (2, 3)
    assert blocks.people.sum() == 15
    inner = count_blocks(made, blocks.block(1, 2), 9, 9, NO_PROGRESS)
    assert inner.people.sum() == blocks.people[1, 2]


def test_in_a_small_window_both_lists_are_visible_and_nothing_scrolls_sideways(planned, window, qtbot):
    window.resize(1024, 700)
    QApplication.processEvents()
    for table in (planned.class_table, planned.slot_table):
        assert table.isVisible()
        assert table.horizontalScrollBar().maximum() == 0


def test_files_that_are_missing_are_offered_and_other_settings_are_told(window, files, qtbot):
    page = window.area.show_page(next(page for page in PAGES if page.title == "Appointments"))
    assert [button.text() for button in page.notice.buttons] == ["&Add people…", "A&dd slots…"]
    wait(window, qtbot, lambda: page.open_people(files[0]))
    assert [button.text() for button in page.notice.buttons] == ["A&dd slots…"]
    wait(window, qtbot, lambda: page.open_slots(files[1]))
    assert not page.notice.isVisible()
    wait(window, qtbot, page.plan.click)
    page.settings.planning.editors["random_seed"].setValue(5)
    assert page.notice.label.text().startswith("This plan is of other settings.")
    wait(window, qtbot, page.plan.click)
    assert not page.notice.isVisible()
