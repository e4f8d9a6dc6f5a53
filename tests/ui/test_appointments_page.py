"""The page "Appointments", used as a person would: choose files, plan, look, ask for another slot, export."""

import csv
import json
from xml.etree import ElementTree

import pytest
from PySide6.QtCore import QMimeData, QPoint, Qt, QUrl
from PySide6.QtGui import QDropEvent
from PySide6.QtSvg import QSvgGenerator
from PySide6.QtWidgets import QApplication, QFileDialog, QMessageBox

from vbas_desktop.model.progress import Silent
from vbas_desktop.session.appointments import heat, whole
from vbas_desktop.ui.pages import PAGES
from vbas_desktop.ui.pages.appointments.tables import AlternativesDialog

LONG = 120_000
CLASSES = {"north": 4, "south": 4, "east": 5, "west": 2}


def wait(window, qtbot, action):
    with qtbot.waitSignal(window.runner.job_ended, timeout=LONG):
        action()
    qtbot.waitUntil(lambda: not window.quiet_runner.busy and not window.runner.busy, timeout=LONG)


@pytest.fixture
def files(tmp_path):
    """Fifteen people of four classes, and one seat more than they need."""
    people = [f"P{i},{area}" for i, area in enumerate(area for area, size in CLASSES.items() for _ in range(size))]
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
        QPoint(5, 5), Qt.DropAction.CopyAction, mime, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
    )
    wait(window, qtbot, lambda: page.settings.slots_file.dropEvent(event))
    assert page.reason.text() == "15 people in 4 classes, 3 seats: 12 seats are missing."


def test_an_instant_plan_is_shown_with_its_vectors(planned):
    result = planned.planned.assessment
    assert planned.results.headline.text().startswith(f"k = {result.plan.vector.k} · improvement ")
    assert "(exact) over random seats · not proved" in planned.results.headline.text()
    assert sum(bar.planned for bar in planned.results.bars.bars) == result.plan.vector.classes
    assert sum(bar.before for bar in planned.results.bars.bars) == 4
    free = [int(planned.slots.index(row, 3).data()) for row in range(5)]
    assert sum(free) == 1


def test_the_optimum_is_proved(page, window, qtbot):
    choose(page, "optimal")
    assert page.settings.limit.isEnabled()
    wait(window, qtbot, page.plan.click)
    assert "proved optimal" in page.results.headline.text()
    assert page.results.headline.property("look") == "good"


def test_limits_on_groups_need_the_optimal_planner_and_say_so(page, window, qtbot):
    form = page.settings.constraints
    form.group.setCurrentIndex(form.group.findData("area"))
    form.group.activated.emit(form.group.currentIndex())
    form.share.setValue(50)
    messages = []
    window.runner.job_failed.connect(lambda failure: messages.append(failure.message))
    wait(window, qtbot, page.plan.click)
    assert messages
    assert "cannot keep limits on groups" in messages[0]
    window.findChild(QMessageBox).accept()


def pick(combo, value):
    combo.setCurrentIndex(combo.findData(value))
    combo.activated.emit(combo.currentIndex())


def test_a_majority_brings_the_limits_of_the_source_and_every_planner_keeps_them(window, tmp_path, qtbot):
    countries = ["here"] * 34 + [name for name in ("a", "b", "c") for _ in range(2)]
    people = "".join(f"P{number},{country}\n" for number, country in enumerate(countries))
    (tmp_path / "people.csv").write_text(f"person,country\n{people}")
    (tmp_path / "slots.csv").write_text("centre,time,capacity\nA,9,20\nB,9,20\n")
    page = window.area.show_page(next(page for page in PAGES if page.title == "Appointments"))
    wait(window, qtbot, lambda: page.open_people(tmp_path / "people.csv"))
    wait(window, qtbot, lambda: page.open_slots(tmp_path / "slots.csv"))
    form = page.settings.constraints
    assert not form.majority.isEnabled()
    pick(form.group, "country")
    assert [form.majority.itemText(row) for row in range(form.majority.count())] == ["none", "a", "b", "c", "here"]
    pick(form.majority, "here")
    assert (form.share.value(), form.groups.value()) == (15, 3)
    for name in ("heuristic", "better", "optimal", "random"):
        choose(page, name)
        wait(window, qtbot, page.plan.click)
        assert page.planned.assessment.plan.planner == name
        assert page.planned.assessment.as_dict()["largest_other_share"] == 0.15
    pick(form.majority, None)
    assert (form.share.value(), form.groups.value()) == (100, 1)
    pick(form.majority, "here")
    pick(form.group, None)
    assert form.constraints().majority is None


def test_a_majority_that_cannot_be_kept_is_told_with_the_reason(page, window, qtbot):
    pick(page.settings.constraints.group, "area")
    pick(page.settings.constraints.majority, "east")
    wait(window, qtbot, page.plan.click)
    (box,) = window.findChildren(QMessageBox)
    assert "all groups but the majority together" in box.text() + box.informativeText()
    box.close()


def test_classes_are_split_as_chosen_by_the_planners_that_can(page, window, qtbot):
    assert page.settings.fill.isEnabled()
    pick(page.settings.fill, "largest")
    assert page.settings.setup().fill == "largest"
    wait(window, qtbot, page.plan.click)
    largest = page.planned.assessment.plan.vector.counts
    pick(page.settings.fill, "closest")
    wait(window, qtbot, page.plan.click)
    assert page.planned.assessment.plan.vector.counts != largest
    choose(page, "optimal")
    assert not page.settings.fill.isEnabled()


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
    menu = view.menu_at(view.place_of(*cell))
    menu.actions()[0].trigger()
    qtbot.waitUntil(lambda: window.findChild(AlternativesDialog) is not None, timeout=LONG)
    dialog = window.findChild(AlternativesDialog)
    assert dialog.headline.text().startswith("Somebody of north cannot attend")
    assert dialog.table.rowCount() == int((planned.planned.free_seats > 0).sum())
    dialog.reject()
    menu.deleteLater()


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
    page.settings.limit.setValue(600.0)
    stages = []

    def stop(stage, fraction):
        stages.append(stage)
        if "xchanging" in stage or "evel" in stage:
            window.runner.stop()

    window.runner.progressed.connect(stop)
    wait(window, qtbot, page.plan.click)
    window.runner.progressed.disconnect(stop)
    assert page.planned is not None
    assert page.planned.assessment.plan.vector.people == 500


def test_other_columns_make_the_old_plan_vanish(planned, window, qtbot):
    item = planned.settings.quasi.item(1)
    item.setCheckState(Qt.CheckState.Unchecked)
    assert planned.planned is None
    qtbot.waitUntil(lambda: not window.quiet_runner.busy, timeout=LONG)
    assert planned.reason.text() == "Tick at least one quasi-identifier."
    assert not planned.plan.isEnabled()


def test_a_large_plan_is_drawn_in_blocks_that_add_up(planned):
    made = planned.planned
    blocks = heat(made, whole(made), 2, 3, Silent())
    assert blocks.people.shape == (2, 3)
    assert blocks.people.sum() == 15
    inner = heat(made, blocks.block(1, 2), 9, 9, Silent())
    assert inner.people.sum() == blocks.people[1, 2]


def test_in_a_small_window_the_lists_stand_behind_each_other_and_nothing_scrolls_sideways(planned, window, qtbot):
    window.resize(1024, 700)
    window.menus.panel.trigger()
    assert window.menus.panel.isChecked()
    QApplication.processEvents()
    for place, table in enumerate((planned.class_table, planned.slot_table)):
        planned.lists.tabs.setCurrentIndex(place)
        QApplication.processEvents()
        assert table.isVisible()
        assert table.horizontalScrollBar().maximum() == 0
    assert not planned.class_table.isVisible()
