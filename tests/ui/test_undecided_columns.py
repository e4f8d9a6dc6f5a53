"""Columns that were only guessed to be plain: shown as undecided, confirmed by one click, and not exported before."""

from __future__ import annotations

import json
from errno import EIO

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QComboBox, QLabel

from vbas_desktop.jobs.release import CoverageJob
from vbas_desktop.model.records import Role
from vbas_desktop.ui.dialogs.export import ExportDialog
from vbas_desktop.ui.dialogs.handing_over import ReleaseDone
from vbas_desktop.ui.panel.columns_section import ROLE

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
    with qtbot.waitSignal(window.runner.job_ended, timeout=LONG):
        window.controller.load(*wide_data)
    return window


@pytest.fixture
def export_dialog(wide_window, qtbot):
    with qtbot.waitSignal(wide_window.runner.job_ended, timeout=LONG):
        wide_window.controller.run()
    wide_window.menus.actions["export"].trigger()
    dialog = wide_window.findChild(ExportDialog)
    yield dialog
    if any(each.isVisible() for each in wide_window.findChildren(ExportDialog)):
        dialog.reject()


def roles_shown(window):
    model = window.input.columns.model
    return {model.text(row, 0): model.text(row, ROLE) for row in range(model.rowCount())}


def test_guessed_plain_columns_are_undecided_until_one_click_confirms_them(wide_window):
    section, session = wide_window.input.columns, wide_window.session
    shown = roles_shown(wide_window)
    assert (shown["plan"], shown["shoes"], shown["illness"]) == ("plain?", "plain?", "sensitive")
    assert section.undecided.text() == "2 columns are undecided (plain?): choose their roles before you export."
    assert section.confirm.isVisible()
    section.confirm.click()
    assert roles_shown(wide_window)["plan"] == roles_shown(wide_window)["shoes"] == "plain"
    assert not section.confirm.isVisible()
    session.undo()
    assert session.choices.undecided == ("plan", "shoes")
    assert section.confirm.isVisible()


def test_a_role_that_is_chosen_is_decided_and_looking_at_the_list_decides_nothing(wide_window, qtbot):
    section, session = wide_window.input.columns, wide_window.session
    row = list(roles_shown(wide_window)).index("plan")
    index = section.model.index(row, ROLE)
    section.view.setCurrentIndex(index)
    section.view.edit(index)
    combo = section.view.findChild(QComboBox)
    assert combo.currentIndex() == -1
    combo.hidePopup()
    section.view.commitData(combo)
    section.view.closeEditor(combo, section.view.itemDelegate().EndEditHint.NoHint)
    assert session.choices.undecided == ("plan", "shoes")
    section.view.setFocus()
    qtbot.keyClick(section.view, Qt.Key.Key_P)
    assert session.choices.undecided == ("shoes",)
    assert roles_shown(wide_window)["plan"] == "plain"
    assert section.undecided.text() == "1 column is undecided (plain?): choose its role before you export."


def test_undecided_columns_block_the_export_until_they_are_confirmed(export_dialog, wide_window, tmp_path, qtbot):
    dialog, session = export_dialog, wide_window.session
    assert not dialog.export.isEnabled()
    assert dialog.problem.text().startswith("Undecided: “plan”, “shoes”. ")
    figure = "By all released columns together, "
    qtbot.waitUntil(lambda: figure in dialog.coverage.label.text(), timeout=LONG)
    said = dialog.coverage.label.text()
    assert said.startswith("Counted: “tract”, “age”, “sex”. Every combination of these has at least 5 records.")
    assert "Not counted, released as they are: “illness”, “plan”, “shoes”." in said
    dialog.confirm.click()
    assert dialog.export.isEnabled()
    assert not dialog.confirm.isVisible()
    assert session.choices.undecided == ()
    dialog.target.setText(str(tmp_path / "out"))
    dialog.columns.take_up(dialog.columns.kept, {}, ("illness", "plan", "shoes"))
    with qtbot.waitSignal(wide_window.runner.job_ended, timeout=LONG):
        dialog.export.click()
    done = wide_window.findChild(ReleaseDone)
    # After the export the same is said as before.
    assert any(said in label.text() for label in done.findChildren(QLabel))
    done.close()
    unique = json.loads((tmp_path / "out" / "run.json").read_text())["columns"]["unique_records"]
    assert f"{figure}{unique:,} of " in said


def test_a_column_that_is_left_out_need_not_be_decided(export_dialog, qtbot):
    table = export_dialog.columns
    names = [table.item(row, 0).text() for row in range(table.rowCount())]
    assert table.item(names.index("plan"), 1).text() == "plain?"
    for name in ("plan", "shoes"):
        table.item(names.index(name), 0).setCheckState(Qt.CheckState.Unchecked)
    assert export_dialog.export.isEnabled()
    wanted = "Not counted, released as they are: “illness”."
    qtbot.waitUntil(lambda: wanted in export_dialog.coverage.label.text(), timeout=LONG)


def test_a_column_that_was_the_region_column_is_undecided(wide_window):
    session = wide_window.session
    session.change(session.choices.with_role("plan", Role.REGION))
    assert session.choices.roles["tract"] is Role.PLAIN
    assert session.choices.undecided == ("tract", "shoes")


def test_counting_that_fails_is_said_and_tried_again_after_a_change(wide_window, qtbot, monkeypatch):
    with qtbot.waitSignal(wide_window.runner.job_ended, timeout=LONG):
        wide_window.controller.run()
    with monkeypatch.context() as patch:

        def fail(job, progress):
            raise OSError(EIO, "Input/output error")

        patch.setattr(CoverageJob, "execute", fail)
        wide_window.menus.actions["export"].trigger()
        dialog = wide_window.findChild(ExportDialog)
        label = dialog.coverage.label
        said = "The records that are unique by all released columns together could not be counted."
        qtbot.waitUntil(lambda: label.text() == said, timeout=LONG)
        assert label.isVisible()
    dialog.columns.item(dialog.columns.rowCount() - 1, 0).setCheckState(Qt.CheckState.Unchecked)
    qtbot.waitUntil(lambda: "By all released columns together, " in label.text(), timeout=LONG)
    dialog.reject()
