"""The real window, driven as a person would: open, choose, run, stop, save, reopen, break, close."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest
from made_up_data import write_data
from persons import LONG, answer, box, choose_role, run_to_the_end, wait_for_estimate
from PySide6.QtCore import QMimeData, QPoint, QRect, Qt, QUrl
from PySide6.QtGui import QDropEvent
from PySide6.QtWidgets import (
    QApplication,
    QDialogButtonBox,
    QFileDialog,
    QLabel,
    QMessageBox,
    QPushButton,
)

from vbas_desktop.model.records import Role
from vbas_desktop.ui.dialogs.grouping import GroupingDialog
from vbas_desktop.ui.dialogs.open_data import OpenDataDialog
from vbas_desktop.ui.shell.guide import GuideWindow
from vbas_desktop.ui.widgets.file_dialogs import is_sample


@pytest.fixture
def long_run(window, tmp_path, qtbot):
    """A window whose next run makes a hundred solutions."""
    with qtbot.waitSignal(window.worker.job_ended, timeout=LONG):
        window.data_commands.load(*write_data(tmp_path / "long", regions=1500, records=30_000))
    chosen = window.state.choices.with_approach("site_number", "fixed")
    window.state.change(chosen.with_parameter("site_number", "fixed", "sites", 700))
    window.state.change_fields(range_reach=50, range_step_percent=1.0)
    return window


def test_the_sample_is_one_click_from_a_result(window, qtbot):
    assert window.area.start_page.isVisible()
    qtbot.mouseClick(window.area.start_page.buttons["sample"], Qt.MouseButton.LeftButton)
    with qtbot.waitSignal(window.model.run_finished, timeout=60_000):
        pass
    qtbot.waitUntil(lambda: not window.worker.busy)
    assert window.area.map.isVisible()
    assert len(window.state.entries) >= 3
    assert window.state.selected is not None
    assert not [child for child in window.findChildren(QMessageBox) if child.isVisible()]


def test_while_something_is_on_its_way_nobody_is_told_to_begin(window, data, qtbot):
    results, reason = window.tab("Results"), window.input.reason
    assert reason.text().startswith("Open a record file")
    assert results._empty.label.text() == "No results yet. Open a record file and a region file first."
    assert window.input.files.choose.text() == "Open files…"
    with qtbot.waitSignal(window.worker.job_ended, timeout=LONG):
        window.data_commands.load(*data)
        assert reason.text() == "The files are being read."
    with qtbot.waitSignal(window.worker.job_ended, timeout=LONG):
        window.run_commands.run()
        assert results._empty.label.text() == "Solutions are listed here as soon as they are found."
    assert results._empty.label.text() == "No results yet. Choose roles in Input and press Run."
    assert window.input.files.choose.text() == "Change files…"


def test_files_are_chosen_in_a_dialog(window, data, qtbot):
    window.menus.actions["open_data"].trigger()
    dialog = window.findChild(OpenDataDialog)
    buttons = dialog.findChild(QDialogButtonBox)
    opens = buttons.button(QDialogButtonBox.StandardButton.Open)
    assert not opens.isEnabled()
    qtbot.keyClicks(dialog.records.edit, str(data[0]))
    qtbot.keyClicks(dialog.regions.edit, str(data[1]))
    with qtbot.waitSignal(window.worker.job_ended, timeout=LONG):
        opens.click()
    assert window.status.facts.text().startswith("3,000 records · 60 regions")
    assert window.settings.recent_data == [data]


def test_files_can_be_dropped_in_any_order(window, data, qtbot):
    mime = QMimeData()
    mime.setUrls([QUrl.fromLocalFile(str(path)) for path in reversed(data)])
    event = QDropEvent(
        QPoint(10, 10),
        Qt.DropAction.CopyAction,
        mime,
        Qt.MouseButton.LeftButton,
        Qt.KeyboardModifier.NoModifier,
    )
    with qtbot.waitSignal(window.worker.job_ended, timeout=LONG):
        window.dropEvent(event)
    assert window.state.records_path == data[0]


def test_what_was_understood_is_shown(loaded_window):
    files = loaded_window.input.files
    assert files.records.facts.text() == "3,000 records · 5 columns · comma · utf-8"
    assert files.regions.facts.text() == "60 regions · points · planar coordinates"


def test_roles_are_chosen_with_one_key_and_the_line_below_follows(loaded_window, qtbot):
    wait_for_estimate(
        loaded_window, qtbot, lambda: choose_role(loaded_window, "illness", Qt.Key.Key_Q, qtbot)
    )
    assert loaded_window.state.choices.roles["illness"] is Role.QUASI_IDENTIFIER
    assert loaded_window.input.live.text() == (
        "7 × 2 × 39 = 546 classes; 3,000 records; 1 site loses 20.7 %, allowed 1 %"
    )
    assert "Take categories together, use fewer quasi-identifiers" in loaded_window.input.more.text()
    choose_role(loaded_window, "tract", Qt.Key.Key_A, qtbot)
    assert not loaded_window.input.run.isEnabled()
    assert loaded_window.input.reason.isVisible()
    assert "Choose the region column" in loaded_window.input.reason.text()
    loaded_window.menus.actions["undo"].trigger()
    assert loaded_window.input.run.isEnabled()


def test_the_categories_of_a_column_are_listed_with_their_numbers(loaded_window):
    columns = loaded_window.input.columns
    columns.view.setCurrentIndex(columns.model.index(2, 0))
    columns.open_grouping()
    dialog = loaded_window.findChild(GroupingDialog)
    model = dialog.model
    shown = [(model.index(i, 0).data(), model.index(i, 1).data()) for i in range(model.rowCount())]
    assert {label for label, _ in shown} == {"1", "2"}
    assert sum(int(number.replace(",", "")) for _, number in shown) == 3000
    dialog.reject()


def test_a_wrong_parameter_is_told_at_its_field_and_the_last_valid_one_counts(loaded_window, qtbot):
    loaded_window.state.change(loaded_window.state.choices.with_approach("site_number", "maxcombs"))
    loaded_window.input.approach.change.click()
    field = loaded_window.input.approaches.choices["site_number"].form.fields["share"]
    field.widget.setFocus()
    field.widget.selectAll()
    qtbot.keyClicks(field.widget, "7")
    wrong = "“Share” must be a number at least 0.001 and at most 1."
    assert field.message.text() == f"{wrong} The last valid entry stays in force: 0.9."
    assert loaded_window.state.choices.values_of("site_number", "maxcombs") == {}
    assert loaded_window.menus.actions["run"].isEnabled()
    field.widget.selectAll()
    qtbot.keyClicks(field.widget, "0.5")
    assert field.message.isHidden()
    assert loaded_window.menus.actions["run"].isEnabled()
    assert loaded_window.state.choices.values_of("site_number", "maxcombs") == {"share": 0.5}


def test_parameters_follow_the_chosen_approach(loaded_window):
    choice = loaded_window.input.approaches.choices["site_number"]
    choice.combo.setCurrentIndex(choice.combo.findData("fixed"))
    choice.combo.activated.emit(choice.combo.currentIndex())
    assert list(choice.form.fields) == ["sites"]
    assert loaded_window.state.choices.approaches["site_number"] == "fixed"


def test_a_run_fills_the_results_and_draws_the_recommended_solution(loaded_window, qtbot):
    chosen = loaded_window.state.choices.with_approach("site_number", "fixed")
    loaded_window.state.change(chosen.with_parameter("site_number", "fixed", "sites", 20))
    run_to_the_end(loaded_window, qtbot)
    assert [entry.solution.site_count for entry in loaded_window.state.entries] == [16, 18, 20, 22, 24]
    recommended = [number for number, marks in loaded_window.state.marks.items() if marks.recommended]
    assert [loaded_window.state.selected.number] == recommended
    assert loaded_window.tabs.currentWidget() is loaded_window.tab("Results")


def test_stopping_in_the_middle_keeps_what_was_finished(long_run, qtbot):
    with qtbot.waitSignal(long_run.model.solution_added, timeout=LONG):
        long_run.menus.actions["run"].trigger()
    with qtbot.waitSignal(long_run.worker.job_stopped, timeout=LONG):
        long_run.menus.actions["stop"].trigger()
    assert 1 <= len(long_run.state.entries) < 101
    assert not long_run.worker.busy
    assert long_run.menus.actions["run"].isEnabled()
    assert long_run.status.what.text() == "Stopped. Finished results are kept."


def test_saving_and_opening_again_restores_the_screen(run_window, tmp_path, qtbot, make_window):
    project = tmp_path / "study.vbas"
    run_window.state.choose_region(0)
    run_window.menus.actions["save_project"].trigger()
    dialog = run_window.findChild(QFileDialog)
    dialog.selectFile(str(project))
    with qtbot.waitSignal(run_window.model.saved, timeout=LONG):
        dialog.accept()
    assert not run_window.isWindowModified()
    assert run_window.settings.recent_projects == [project]
    before = run_window.state
    again = make_window()
    with qtbot.waitSignal(again.worker.job_ended, timeout=LONG):
        again.projects.open_project_file(project)
    assert again.state.choices == before.choices
    assert len(again.state.entries) == len(before.entries)
    assert again.state.selected.number == before.selected.number
    assert again.state.chosen_region == 0
    assert again.windowTitle().startswith("study.vbas")


def test_a_file_that_changed_since_is_told_on_opening(run_window, tmp_path, data, qtbot, make_window):
    project = tmp_path / "study.vbas"
    with qtbot.waitSignal(run_window.model.saved, timeout=LONG):
        run_window.projects.save_to(project)
    data[0].write_text("\n".join(data[0].read_text().splitlines()[:-1]) + "\n")
    again = make_window()
    with qtbot.waitSignal(again.worker.job_ended, timeout=LONG):
        again.projects.open_project_file(project)
    assert "records.csv changed since the project was saved." in box(again).informativeText()
    box(again).close()


def test_a_missing_file_is_asked_for(run_window, tmp_path, data, qtbot, make_window):
    project = tmp_path / "study.vbas"
    with qtbot.waitSignal(run_window.model.saved, timeout=LONG):
        run_window.projects.save_to(project)
    moved = tmp_path / "moved.csv"
    data[0].rename(moved)
    again = make_window()
    with qtbot.waitSignal(again.worker.job_ended, timeout=LONG):
        again.projects.open_project_file(project)
    dialog = again.findChild(OpenDataDialog)
    assert dialog.windowTitle() == "Where is records.csv now?"
    assert dialog.regions.path == data[1]
    dialog.records.set_path(moved)
    with qtbot.waitSignal(again.worker.job_ended, timeout=LONG):
        dialog.accept()
    assert len(again.state.entries) == len(run_window.state.entries)


def test_an_unforeseen_failure_has_details_and_the_window_goes_on(loaded_window, monkeypatch, qtbot):
    def broken(*_: object) -> None:
        raise ZeroDivisionError

    with monkeypatch.context() as patch:
        patch.setattr("vbas_desktop.app.run.run", broken)
        run_to_the_end(loaded_window, qtbot)
    message = box(loaded_window)
    assert "Something unexpected happened (ZeroDivisionError)" in message.informativeText()
    assert "in broken" in message.detailedText()
    message.close()
    assert loaded_window.state.entries == ()
    run_to_the_end(loaded_window, qtbot)
    assert loaded_window.state.entries


def test_closing_during_a_run_asks_and_stops_cleanly(long_run, qtbot):
    with qtbot.waitSignal(long_run.model.solution_added, timeout=LONG):
        long_run.menus.actions["run"].trigger()
    long_run.close()
    assert long_run.isVisible()
    answer(long_run, "Keep running")
    assert long_run.worker.busy
    long_run.close()
    answer(long_run, "Stop and close")
    assert not long_run.worker.busy
    qtbot.waitUntil(lambda: bool(box(long_run)))
    assert box(long_run).text() == "Save the project?"
    answer(long_run, "Do not save")
    qtbot.waitUntil(lambda: not long_run.isVisible())


def test_unsaved_results_are_not_lost_by_opening_other_data(run_window, qtbot):
    run_window.menus.actions["open_data"].trigger()
    assert box(run_window).text() == "Save the project?"
    answer(run_window, "Cancel")
    assert run_window.state.entries
    assert run_window.findChild(OpenDataDialog) is None


def test_work_that_was_not_saved_is_recovered(run_window, qtbot, make_window):
    with qtbot.waitSignal(run_window.projects.worker.job_ended, timeout=LONG):
        run_window.state.change_fields(k=11)
    kept = run_window.projects.recovery.path
    assert kept.is_file()
    kept.rename(kept.with_name("recovery-999999999.vbas"))
    again = make_window()
    assert again.projects.offer_recovery()
    with qtbot.waitSignal(again.worker.job_ended, timeout=LONG):
        answer(again, "Recover")
    assert again.state.choices.k == 11
    assert len(again.state.entries) == len(run_window.state.entries)
    assert again.state.project_path is None
    assert not again.projects.offer_recovery()


def test_a_proper_end_leaves_no_recovery_file(run_window, qtbot):
    with qtbot.waitSignal(run_window.projects.worker.job_ended, timeout=LONG):
        run_window.state.change_fields(k=11)
    kept = run_window.projects.recovery.path
    run_window.state.modified = False
    run_window.close()
    assert not kept.exists()


def test_hints_lead_through_the_first_session_until_they_are_switched_off(loaded_window, qtbot):
    hints = loaded_window.area.hints
    assert "press Run" in hints.text.text()
    run_to_the_end(loaded_window, qtbot)
    assert "star" in hints.text.text()
    next(button for button in hints.children() if hasattr(button, "click")).click()
    assert hints.isHidden()
    loaded_window.menus.actions["show_hints"].trigger()
    assert hints.isVisible()
    loaded_window.menus.actions["compare_combinations"].trigger()
    assert hints.isHidden()
    loaded_window.area.show_map()
    assert hints.isVisible()


def test_f1_opens_the_guide_and_about_names_the_versions(window, qtbot):
    window.menus.actions["show_guide"].trigger()
    guide = window.help._guide
    assert "VBAS Desktop" in guide.text.toPlainText()
    guide.close()
    window.menus.actions["show_about"].trigger()
    about = QApplication.activeModalWidget()
    texts = " ".join(label.text() for label in about.findChildren(QLabel))
    assert "Python 3" in texts
    assert "numpy" in texts
    about.close()


def test_the_guide_fits_a_small_screen(window, monkeypatch):
    small = SimpleNamespace(availableGeometry=lambda: QRect(0, 0, 1024, 680))
    monkeypatch.setattr(GuideWindow, "screen", lambda guide: small)
    guide = GuideWindow(window.theme, window)
    assert (guide.width(), guide.height()) == (1008, 640)
    guide.close()


def test_the_window_keeps_its_shape(window, make_window):
    window.resize(1100, 720)
    window.splitter.setSizes([700, 400])
    sizes = window.splitter.sizes()
    window.close()
    again = make_window()
    assert (again.width(), again.height()) == (1100, 720)
    assert again.splitter.sizes() == sizes


def test_at_1024_by_700_nothing_is_cut_off_with_results(run_window, qtbot):
    run_window.resize(1024, 700)
    assert (run_window.width(), run_window.height()) == (1024, 700)
    assert run_window.minimumSizeHint().width() <= 1024
    for index in range(run_window.tabs.count()):
        run_window.tabs.setCurrentIndex(index)
        assert run_window.tabs.widget(index).minimumSizeHint().width() <= run_window.tabs.width()


def test_before_anything_was_opened_the_recent_files_say_so(window):
    window.menus._on_recent_about_to_show()
    assert [(action.text(), action.isEnabled()) for action in window.menus._recent.actions()] == [
        ("No recent files", False)
    ]


def test_recent_files_are_offered(run_window, tmp_path, data, qtbot):
    with qtbot.waitSignal(run_window.model.saved, timeout=LONG):
        run_window.projects.save_to(tmp_path / "study.vbas")
    run_window.menus._on_recent_about_to_show()
    texts = [action.text() for action in run_window.menus._recent.actions() if not action.isSeparator()]
    assert texts == ["study.vbas", "data/records.csv + regions.csv", "&Clear this list"]


def test_a_command_has_the_same_name_in_the_menu_and_on_the_toolbar(window):
    actions = window.menus.toolbar_actions()
    assert actions
    for action in actions:
        assert action.iconText() == action.text().replace("&", "")


def test_a_project_of_the_sample_is_not_saved_among_the_files_of_the_program(window, qtbot):
    with qtbot.waitSignal(window.worker.job_ended, timeout=LONG):
        window.data_commands.load_sample()
    window.menus.actions["save_project_as"].trigger()
    dialog = window.findChild(QFileDialog)
    assert dialog.selectedFiles()[0].endswith("sample.vbas")
    assert not is_sample(Path(dialog.directory().absolutePath()))
    dialog.close()


def test_factor_and_exponent_are_asked_for_only_with_a_model_of_ones_own(loaded_window):
    loaded_window.state.change(loaded_window.state.choices.with_approach("site_number", "maxcombs"))
    form = loaded_window.input.approaches.choices["site_number"].form
    assert {name: form.fields[name].isHidden() for name in ("model", "factor", "exponent", "share")} == {
        "model": False,
        "factor": True,
        "exponent": True,
        "share": False,
    }
    choices = loaded_window.state.choices.with_parameter("site_number", "maxcombs", "model", "own")
    loaded_window.state.change(choices)
    assert not form.fields["factor"].isHidden()
    assert not form.fields["exponent"].isHidden()


def test_what_was_opened_lately_is_one_click_from_the_welcome(
    run_window, data, tmp_path, qtbot, make_window
):
    project = tmp_path / "mine & yours.vbas"
    with qtbot.waitSignal(run_window.projects.worker.job_ended, timeout=LONG):
        run_window.projects.save_to(project)
    run_window.settings.sync()
    again = make_window()
    offered = {
        button.toolTip().replace("\n", " "): button
        for button in again.area.start_page.findChildren(QPushButton)
        if button.toolTip()
    }
    assert [button.text() for button in offered.values()] == [
        "mine && yours.vbas",
        f"{data[0].parent.name}/{data[0].name} + {data[1].name}",
    ]
    with qtbot.waitSignal(again.worker.job_ended, timeout=LONG):
        qtbot.mouseClick(offered[str(project)], Qt.MouseButton.LeftButton)
    assert again.state.project_path == project
