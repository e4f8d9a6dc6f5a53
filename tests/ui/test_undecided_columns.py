"""Columns that nobody decided on: shown as undecided, confirmed by one click, and not exported before."""

from __future__ import annotations

import json
from errno import EIO

import pytest
from PySide6.QtCore import QItemSelectionModel, Qt
from PySide6.QtWidgets import QComboBox, QLabel

from vbas_desktop.model.records import Role
from vbas_desktop.ui.dialogs.export import ExportDialog
from vbas_desktop.ui.dialogs.handover import ReleaseDone
from vbas_desktop.ui.panels.columns_section import ROLE

LONG = 120_000


@pytest.fixture
def wide_data(data):
    """The small data with two columns more, which nothing says what they are."""
    records, regions = data
    head, *rows = records.read_text().splitlines()
    wide = [f"{row},{number % 4},{number % 23}" for number, row in enumerate(rows)]
    records.write_text("\n".join([f"{head},plan,shoes", *wide]) + "\n")
    return records, regions


@pytest.fixture
def wide_window(window, wide_data, qtbot):
    with qtbot.waitSignal(window.worker.job_ended, timeout=LONG):
        window.data_commands.load(*wide_data)
    return window


@pytest.fixture
def export_dialog(wide_window, qtbot):
    with qtbot.waitSignal(wide_window.worker.job_ended, timeout=LONG):
        wide_window.run_commands.run()
    wide_window.menus.actions["export"].trigger()
    dialog = wide_window.findChild(ExportDialog)
    yield dialog
    if any(each.isVisible() for each in wide_window.findChildren(ExportDialog)):
        dialog.reject()


def roles_shown(window):
    model = window.input.columns.model
    return {model.index(row, 0).data(): model.index(row, ROLE).data() for row in range(model.rowCount())}


def test_guessed_plain_columns_are_undecided_until_one_click_confirms_them(wide_window):
    section, state = wide_window.input.columns, wide_window.state
    shown = roles_shown(wide_window)
    assert (shown["plan"], shown["shoes"], shown["illness"]) == (
        "released as is?",
        "released as is?",
        "sensitive",
    )
    assert (
        section.undecided.text()
        == "2 columns are undecided (released as is?): choose their roles before you export."
    )
    assert section.confirm.isVisible()
    section.confirm.click()
    assert roles_shown(wide_window)["plan"] == roles_shown(wide_window)["shoes"] == "released as is"
    assert not section.confirm.isVisible()
    state.undo()
    assert state.choices.undecided == ("plan", "shoes")
    assert section.confirm.isVisible()


def test_a_role_that_is_chosen_is_decided_and_looking_at_the_list_decides_nothing(wide_window, qtbot):
    section, state = wide_window.input.columns, wide_window.state
    row = list(roles_shown(wide_window)).index("plan")
    index = section.model.index(row, ROLE)
    section.view.setCurrentIndex(index)
    section.view.edit(index)
    combo = section.view.findChild(QComboBox)
    assert combo.currentIndex() == -1
    combo.hidePopup()
    section.view.commitData(combo)
    section.view.closeEditor(combo, section.view.itemDelegate().EndEditHint.NoHint)
    assert state.choices.undecided == ("plan", "shoes")
    section.view.setFocus()
    qtbot.keyClick(section.view, Qt.Key.Key_A)
    assert state.choices.undecided == ("shoes",)
    assert roles_shown(wide_window)["plan"] == "released as is"
    assert (
        section.undecided.text()
        == "1 column is undecided (released as is?): choose its role before you export."
    )


def test_undecided_columns_block_the_export_until_they_are_confirmed(
    export_dialog, wide_window, tmp_path, qtbot
):
    dialog, state = export_dialog, wide_window.state
    assert not dialog.export.isEnabled()
    assert dialog.problem.text() == "Decide first what becomes of “plan”, “shoes”."
    summary = dialog.summary
    qtbot.waitUntil(lambda: " unique." in summary.unprotected.text(), timeout=LONG)
    said = f"{summary.protected.text()} {summary.unprotected.text()} {summary.safety.text()}"
    figure = (
        "Not protected, released as they are: “illness” (sensitive), “plan” and “shoes”: with these, "
    )
    assert said.startswith(
        "Every combination of “tract”, “age” and “sex” is shared by at least 5 records. "
    )
    dialog.decisions.button("Release").click()
    assert dialog.export.isEnabled()
    assert not dialog.decisions.isVisible()
    assert state.choices.undecided == ()
    dialog.target.edit.setText(str(tmp_path / "out"))
    dialog.columns.allow(("illness", "plan", "shoes"))
    with qtbot.waitSignal(wide_window.worker.job_ended, timeout=LONG):
        dialog.export.click()
    done = wide_window.findChild(ReleaseDone)
    # After the export the same is said as before.
    assert said in " ".join(label.text() for label in done.findChildren(QLabel))
    warnings = [
        label.text() for label in done.findChildren(QLabel) if label.property("look") == "warning"
    ]
    assert [text.startswith(figure) for text in warnings] == [True]
    done.close()
    unique = json.loads((tmp_path / "out" / "run.json").read_text())["columns"]["unique_records"]
    assert f"{figure}{unique:,} of " in said


def test_undecided_columns_are_left_out_by_one_click(export_dialog, wide_window, qtbot):
    export_dialog.decisions.button("Leave").click()
    assert export_dialog.export.isEnabled()
    assert export_dialog.columns.kept == ("age", "sex", "illness", "tract")
    assert wide_window.state.choices.columns(Role.LEAVE_OUT) == ("plan", "shoes")
    wanted = "Not protected, released as they are: “illness” (sensitive): with these, "
    qtbot.waitUntil(lambda: export_dialog.summary.unprotected.text().startswith(wanted), timeout=LONG)


def test_several_selected_columns_get_a_role_at_once(export_dialog, wide_window):
    columns = export_dialog.columns
    assert not columns.role_of_selected.isEnabled()
    columns.select(("plan", "shoes", "tract"))
    choice = columns.role_of_selected
    choice.setCurrentIndex(choice.findData(Role.IDENTIFIER))
    choice.activated.emit(choice.currentIndex())
    roles = {row.name: row.role for row in columns.model.rows}
    assert (roles["plan"], roles["shoes"], roles["tract"]) == (
        Role.IDENTIFIER,
        Role.IDENTIFIER,
        Role.REGION,
    )
    assert choice.currentIndex() == -1
    assert export_dialog.options().identifiers == ("person", "plan", "shoes")
    assert wide_window.state.choices.columns(Role.IDENTIFIER) == ("person", "plan", "shoes")


def test_a_column_that_was_the_region_column_is_undecided(wide_window):
    state = wide_window.state
    state.change(state.choices.with_role("plan", Role.REGION))
    assert state.choices.roles["tract"] is Role.AS_IS
    assert state.choices.undecided == ("tract", "shoes")


def test_counting_that_fails_is_said_and_tried_again_after_a_change(wide_window, qtbot, monkeypatch):
    with qtbot.waitSignal(wide_window.worker.job_ended, timeout=LONG):
        wide_window.run_commands.run()
    with monkeypatch.context() as patch:

        def fail(job, progress):
            raise OSError(EIO, "Input/output error")

        patch.setattr("vbas_desktop.ui.dialogs.release_summary.count_coverage", fail)
        wide_window.menus.actions["export"].trigger()
        dialog = wide_window.findChild(ExportDialog)
        label = dialog.summary.counting
        said = "The records that are unique with all released columns were not counted."
        qtbot.waitUntil(lambda: label.text() == said, timeout=LONG)
        assert label.isVisible()
    dialog.columns.decide(("shoes",), Role.LEAVE_OUT)
    qtbot.waitUntil(lambda: " unique." in dialog.summary.unprotected.text(), timeout=LONG)
    assert not label.isVisible()
    dialog.reject()


def select(view, *names):
    """Select the rows of these columns by the keyboard's own means."""
    model = view.model()
    rows = {model.index(row, 0).data(): row for row in range(model.rowCount())}
    view.clearSelection()
    flags = QItemSelectionModel.SelectionFlag
    for name in names:
        view.selectionModel().setCurrentIndex(model.index(rows[name], ROLE), flags.Select | flags.Rows)


@pytest.mark.parametrize(
    ("key", "role"), [(Qt.Key.Key_L, Role.LEAVE_OUT), (Qt.Key.Key_I, Role.IDENTIFIER)]
)
def test_a_key_gives_all_selected_columns_a_role_in_one_step(key, role, wide_window, qtbot):
    view, state = wide_window.input.columns.view, wide_window.state
    select(view, "plan", "shoes", "illness")
    qtbot.keyClick(view, key)
    assert {name for name, given in state.choices.roles.items() if given is role} >= {
        "plan",
        "shoes",
        "illness",
    }
    assert state.choices.undecided == ()
    assert set(state.choices.settings().identifiers) >= {"plan", "shoes", "illness"}
    state.undo()
    assert state.choices.undecided == ("plan", "shoes")
    assert state.choices.roles["illness"] is Role.SENSITIVE


def test_the_list_of_a_selected_row_gives_all_selected_columns_its_role(wide_window, qtbot):
    view, state = wide_window.input.columns.view, wide_window.state
    select(view, "plan", "shoes")
    place = view.visualRect(view.currentIndex()).center()
    qtbot.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=place)
    combo = view.findChild(QComboBox)
    combo.setCurrentText("leave out")
    combo.activated.emit(combo.currentIndex())
    combo.hidePopup()
    assert state.choices.columns(Role.LEAVE_OUT) == ("plan", "shoes")


def test_only_one_of_several_selected_columns_becomes_the_region(wide_window, qtbot):
    view, state = wide_window.input.columns.view, wide_window.state
    select(view, "plan", "shoes")
    qtbot.keyClick(view, Qt.Key.Key_R)
    assert state.choices.columns(Role.REGION) == ("shoes",)
    assert state.choices.roles["plan"] is Role.AS_IS


def test_columns_to_leave_out_are_not_in_the_release(wide_window, tmp_path, qtbot):
    state = wide_window.state
    state.change(state.choices.with_roles(("plan", "shoes"), Role.LEAVE_OUT))
    with qtbot.waitSignal(wide_window.worker.job_ended, timeout=LONG):
        wide_window.run_commands.run()
    wide_window.menus.actions["export"].trigger()
    dialog = wide_window.findChild(ExportDialog)
    assert not {"plan", "shoes"} & set(dialog.columns.kept)
    dialog.reject()
