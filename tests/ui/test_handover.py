"""Export asks before it replaces a release and about similar audiences; what the ledger has is never replaced."""

from __future__ import annotations

import json
import re
from datetime import date
from pathlib import Path

import pytest
from PySide6.QtWidgets import QMessageBox

from vbas_desktop.releases.ledger import read_ledger
from vbas_desktop.ui.dialogs.export import ExportDialog
from vbas_desktop.ui.dialogs.handover import RecordDialog, ReleaseDone
from vbas_desktop.ui.dialogs.release_target import find_ledger
from vbas_desktop.ui.pages import PAGES

LONG = 120_000


def ordered(window, qtbot, target, audience=""):
    """Export to a folder; the job has ended."""
    window.menus.actions["export"].trigger()
    dialog = visible(window, ExportDialog)
    dialog.recipient.editors["audience"].setText(audience)
    dialog.target.edit.setText(str(target))
    clicked(window, qtbot, dialog.export)


def clicked(window, qtbot, button):
    with qtbot.waitSignal(window.worker.job_ended, timeout=LONG):
        button.click()


def visible(window, kind):
    return next(each for each in window.findChildren(kind) if each.isVisible())


def answers(window):
    question = visible(window, QMessageBox)
    return question, {button.text().replace("&", ""): button for button in question.buttons()}


def done(window):
    return visible(window, ReleaseDone)


def test_recording_is_confirmed_beside_its_button(aggregated_window, tmp_path, qtbot):
    ordered(aggregated_window, qtbot, tmp_path / "first", "Uni")
    dialog = done(aggregated_window)
    assert not dialog.note.isVisible()
    dialog.record.click()
    clicked(aggregated_window, qtbot, visible(aggregated_window, RecordDialog).record)
    assert dialog.note.isVisible()
    assert (
        dialog.note.text()
        == f"Recorded in the ledger as release 1 (handed to Uni on {date.today().isoformat()})."
    )
    assert not dialog.record.isEnabled()
    dialog.close()


@pytest.mark.qt_log_ignore("does not support QPlatformServices::openDocument", extend=True)
def test_a_report_without_a_viewer_says_where_it_is(aggregated_window, tmp_path, qtbot):
    """The offscreen platform has no program for any file."""
    ordered(aggregated_window, qtbot, tmp_path / "out")
    dialog = done(aggregated_window)
    dialog.report.click()
    report = tmp_path / "out" / "internal" / "report.html"
    assert dialog.note.text() == f"No program is set up to open this. It is at {report}"
    assert dialog.note.isVisible()
    dialog.close()


@pytest.fixture
def recorded(aggregated_window, tmp_path, qtbot):
    """A window whose release was exported and recorded."""
    ordered(aggregated_window, qtbot, tmp_path / "first", "Uni")
    done(aggregated_window).record.click()
    clicked(aggregated_window, qtbot, visible(aggregated_window, RecordDialog).record)
    done(aggregated_window).close()
    return aggregated_window


def test_the_proposed_folder_is_new_and_has_the_date(aggregated_window, qtbot):
    window = aggregated_window

    def proposed():
        window.menus.actions["export"].trigger()
        dialog = visible(window, ExportDialog)
        qtbot.waitUntil(lambda: not Path(dialog.target.edit.text()).exists(), timeout=LONG)
        return dialog

    dialog = proposed()
    first = Path(dialog.target.edit.text())
    assert first.name == f"records release {date.today().isoformat()}"
    clicked(window, qtbot, dialog.export)
    done(window).close()
    dialog = proposed()
    assert dialog.target.edit.text() == f"{first} 2"
    dialog.reject()


def test_an_earlier_release_is_replaced_only_after_a_question_that_names_it(
    aggregated_window, tmp_path, qtbot
):
    window, target = aggregated_window, tmp_path / "out"
    ordered(window, qtbot, target)
    done(window).close()
    before = (target / "run.json").stat().st_ino
    ordered(window, qtbot, target)
    question, buttons = answers(window)
    assert (
        question.text()
        == f"The folder “out” holds an earlier release, written on {date.today().isoformat()}."
    )
    assert str(target) in question.informativeText()
    assert list(buttons) == ["Choose another folder…", "Replace it", "Cancel"]
    assert question.defaultButton() is buttons["Choose another folder…"]
    assert question.escapeButton() is buttons["Cancel"]
    buttons["Choose another folder…"].click()
    dialog = visible(window, ExportDialog)
    assert dialog.target.edit.text() == str(target)
    assert not dialog.refusal.isVisible()
    clicked(window, qtbot, dialog.export)
    assert (target / "run.json").stat().st_ino == before
    clicked(window, qtbot, answers(window)[1]["Replace it"])
    done(window).close()
    assert (target / "run.json").stat().st_ino != before


def test_a_release_that_the_ledger_has_is_never_replaced(recorded, tmp_path, qtbot):
    before = (tmp_path / "first" / "run.json").read_bytes()
    ordered(recorded, qtbot, tmp_path / "first", "Uni")
    dialog = visible(recorded, ExportDialog)
    assert not [box for box in recorded.findChildren(QMessageBox) if box.isVisible()]
    told = dialog.refusal.label.text()
    assert re.search(r"holds release 1 \(handed to Uni on [\d-]+\), which the ledger records", told)
    assert told.startswith("Nothing was written. Choose another folder:")
    assert (tmp_path / "first" / "run.json").read_bytes() == before
    dialog.target.edit.setText(str(tmp_path / "second"))
    clicked(recorded, qtbot, dialog.export)
    done(recorded).close()
    assert (tmp_path / "second" / "run.json").is_file()


@pytest.mark.parametrize(
    ("answer", "audience"), [("The same: Uni", "Uni"), ("Another audience", "The Uni")]
)
def test_a_similar_audience_is_asked_about(recorded, tmp_path, qtbot, answer, audience):
    ordered(recorded, qtbot, tmp_path / "second", "The Uni")
    assert not (tmp_path / "second").exists()
    question, buttons = answers(recorded)
    assert question.text() == "Is “The Uni” the audience “Uni” of the ledger?"
    assert list(buttons) == ["The same: Uni", "Another audience", "Cancel"]
    clicked(recorded, qtbot, buttons[answer])
    kept = json.loads((tmp_path / "second" / "run.json").read_text())
    assert ("ledger_check" in kept) == (audience == "Uni")
    done(recorded).close()


@pytest.mark.parametrize(
    ("answer", "audience"), [("The same: Uni", "Uni"), ("Another audience", "U ni")]
)
def test_a_similar_audience_is_asked_about_when_a_release_is_recorded(
    recorded, tmp_path, qtbot, answer, audience
):
    ordered(recorded, qtbot, tmp_path / "second")
    done(recorded).record.click()
    dialog = visible(recorded, RecordDialog)
    dialog.audience.setText("U ni")
    clicked(recorded, qtbot, dialog.record)
    ledger = find_ledger(recorded.state)
    assert len(read_ledger(ledger)) == 1
    clicked(recorded, qtbot, answers(recorded)[1][answer])
    assert [entry.audience for entry in read_ledger(ledger)] == ["Uni", audience]
    done(recorded).close()


def test_the_page_of_releases_asks_about_a_similar_audience(recorded, qtbot):
    """Beside a misspelt audience, which has nothing, every solution would seem to be safe."""
    state = recorded.state
    state.select(next(each.number for each in state.entries if each != state.selected))
    with qtbot.waitSignal(recorded.worker.job_ended, timeout=LONG):
        page = recorded.area.show_page(next(page for page in PAGES if page.title == "Releases"))
    page.audience.setText("uni.")
    page.check.click()
    clicked(recorded, qtbot, answers(recorded)[1]["The same: Uni"])
    assert page.audience.text() == "Uni"
    assert "could single out" in page.said.text()


def test_another_k_beside_earlier_releases_is_given_with_a_reason(recorded, tmp_path, qtbot):
    state = recorded.state
    others = [each for each in state.entries if each != state.selected]
    state.select(others[0].number)
    ordered(recorded, qtbot, tmp_path / "second", "Uni")
    dialog = visible(recorded, ExportDialog)
    assert "could single out" in dialog.refusal.label.text()
    editors = dialog.recipient.editors
    assert editors["compared_k"].isVisible()
    assert editors["compared_k"].text() == "The largest"
    editors["compared_k"].setValue(2)
    assert not dialog.export.isEnabled()
    assert "together with its reason" in dialog.problem.text()
    editors["k_reason"].setText("agreed with the board")
    assert dialog.export.isEnabled()
    editors["despite"].setText("so be it")
    clicked(recorded, qtbot, dialog.export)
    done(recorded).close()
    kept = json.loads((tmp_path / "second" / "run.json").read_text())["ledger_check"]
    assert (kept["k"], kept["k_reason"]) == (2, "agreed with the board")


def test_the_page_of_releases_fits_into_a_small_window(recorded, qtbot):
    recorded.resize(1024, 736)
    page = recorded.area.show_page(next(page for page in PAGES if page.title == "Releases"))
    qtbot.waitUntil(page.maps.isVisible, timeout=LONG)
    viewport = page.parentWidget()
    qtbot.waitUntil(
        lambda: page.height() <= viewport.height() and page.width() <= viewport.width(), timeout=LONG
    )
