"""The pages Representability, Requirements and Policy, and what they do to the results."""

from pathlib import Path

import pytest
from PySide6.QtCore import Qt

from vbas_desktop.assessment.representability.requirement import Requirement, read_requirement
from vbas_desktop.assessment.representability.vector import Choices
from vbas_desktop.session.representing import PairOrder
from vbas_desktop.ui.pages import PAGES

DATA = Path(__file__).parents[1] / "data" / "parv"


def page(window, title):
    return window.area.show_page(next(page for page in PAGES if page.title == title))


def jaccard(entry):
    return entry.solution.facts["representability"]["jaccard"]


def test_the_page_shows_the_chosen_solution_and_another_one_beside_it(aggregated_window, qtbot):
    shown = page(aggregated_window, "Representability")
    session = aggregated_window.session
    entry = session.selected
    gauges = {gauge.shown.name: gauge.shown for gauge in shown.main.gauges}
    assert gauges["jaccard"].share == jaccard(entry)
    assert gauges["mean_distance"].text.endswith("unit")
    qtbot.waitUntil(lambda: shown.main.model.rowCount() == entry.solution.aggregated_regions)
    assert not shown.second.isVisible()
    shown.beside.setCurrentIndex(1)
    shown.beside.activated.emit(1)
    other = session.entry(shown.beside.currentData())
    assert shown.second.isVisible()
    assert {gauge.shown.name: gauge.shown.share for gauge in shown.second.gauges}["jaccard"] == jaccard(other)
    assert session.compared is None


def test_the_map_is_coloured_by_what_remains_together(aggregated_window, qtbot):
    shown = page(aggregated_window, "Representability")
    qtbot.waitUntil(shown.by_distance.isEnabled)
    qtbot.mouseClick(shown.by_distance, Qt.MouseButton.LeftButton)
    assert aggregated_window.session.coloured_by == "place_distance"
    assert aggregated_window.area.stack.currentWidget() is aggregated_window.area.map
    assert aggregated_window.area.map.bar.colouring.currentText() == "Distance moved (unit)"


def fill(panel, anonymised):
    panel.original.show_file(DATA / "C2.csv")
    panel.anonymised.show_file(DATA / anonymised)
    panel.key.setText("Key")
    panel.columns.setText("Hh, Job")
    panel.k.setValue(3)


def test_two_files_are_compared_in_the_background(window, qtbot):
    shown = page(window, "Representability")
    assert shown.empty.isVisible()
    shown.source.setCurrentIndex(1)
    for name in ("C6.csv", "C5.csv"):
        fill(shown.panel, name)
        with qtbot.waitSignal(window.runner.job_ended, timeout=20_000):
            qtbot.mouseClick(shown.panel.compare, Qt.MouseButton.LeftButton)
    texts = {gauge.shown.name: gauge.shown.text for gauge in shown.main.gauges}
    assert texts["jaccard"] == "1.0000"
    assert texts["sample_size_ratio"] == "0.8750"
    shown.beside.setCurrentIndex(1)
    shown.beside.activated.emit(1)
    assert {gauge.shown.name: gauge.shown.text for gauge in shown.second.gauges}["jaccard"] == "0.7368"


def test_small_classes_are_handled_and_the_new_file_is_compared(window, qtbot, tmp_path):
    shown = page(window, "Representability")
    shown.source.setCurrentIndex(1)
    fill(shown.panel, "C6.csv")
    shown.panel.outliers.how.setCurrentIndex(3)
    with qtbot.waitSignal(window.runner.job_ended, timeout=20_000):
        shown.panel.outliers._on_target(str(tmp_path / "filled.csv"))
    assert shown.panel.anonymised.path == tmp_path / "filled.csv"
    with qtbot.waitSignal(window.runner.job_ended, timeout=20_000):
        qtbot.mouseClick(shown.panel.compare, Qt.MouseButton.LeftButton)
    assert dict(shown.main.described.cards)["What was done"] == ("Fabricated: in the released file only: 7 records",)


@pytest.mark.parametrize(
    ("field", "text", "said"),
    [
        ("columns", "", "Choose two files"),
        ("weights", "Hh=0.5, Job=0.6", "add up to 1.1"),
        ("weights", "Hh", "“Hh” is not understood"),
    ],
)
def test_what_is_missing_or_wrong_is_said_beside_the_form(window, qtbot, field, text, said):
    panel = page(window, "Representability").panel
    fill(panel, "C6.csv")
    getattr(panel, field).setText(text)
    panel.compare.click()
    assert said in panel.message.text()
    assert not window.runner.busy


def test_hierarchies_with_weighted_levels_are_used(tmp_path):
    (tmp_path / "Job.csv").write_text("Self;Works;*\nEmployee;Works;*\nHouse;Unemployed;*\nRetired;Unemployed;*\n")
    choices = Choices(3, "Key", ("Hh", "Job"))
    plain = PairOrder(DATA / "C2.csv", DATA / "C4.csv", choices, tmp_path).execute()
    weighted = PairOrder(DATA / "C2.csv", DATA / "C4.csv", choices, tmp_path, {"Job": (0.1, 0.9)}).execute()
    assert plain.measures[0].name == weighted.measures[0].name == "precision"
    assert plain.measures[0].share != weighted.measures[0].share


def test_a_requirement_is_edited_checked_and_filters_the_results(aggregated_window, qtbot):
    session, shown = aggregated_window.session, page(aggregated_window, "Requirements")
    results = aggregated_window.tab("Results")
    assert "Nothing is required yet" in shown.verdict.text()
    assert not results.only_meeting.isVisibleTo(results)
    best = max(jaccard(entry) for entry in session.entries)
    low, _ = shown.bounds["jaccard"]
    low.setFocus()
    qtbot.keyClicks(low, f"{best:.12f}"[:-1])
    assert "jaccard" in session.requirement.overall
    meeting = [entry.number for entry in session.entries if session.meets_requirement(entry)]
    assert 0 < len(meeting) < len(session.entries)
    do = "does" if len(meeting) == 1 else "do"
    assert f"{len(meeting)} of {len(session.entries)} solutions {do}." in shown.verdict.text()
    assert shown.model.rows[0][0] == "Jaccard index"
    results.only_meeting.setChecked(True)
    assert [entry.number for entry in results.filter.shown_entries()] == meeting
    shown.clear.click()
    assert low.text() == ""
    assert len(results.filter.shown_entries()) == len(session.entries)


def test_what_cannot_be_understood_leaves_the_requirement_in_force(window, qtbot):
    shown = page(window, "Requirements")
    window.session.require(Requirement(title="Cohort", k={"min": 5}, extra={"later": 1}))
    assert shown.fields["k_min"].text() == "5"
    edit = shown.fields["ratio"]
    edit.setFocus()
    qtbot.keyClicks(edit, "x")
    assert "no number" in shown.message.text()
    assert window.session.requirement.k == {"min": 5}
    qtbot.keyClick(edit, Qt.Key.Key_Backspace)
    qtbot.keyClicks(edit, "0.5")
    assert shown.message.text() == ""
    assert window.session.requirement.minimum_sample_ratio == 0.5
    assert window.session.requirement.extra == {"later": 1}


def test_a_requirement_is_saved_and_loaded(window, qtbot, tmp_path):
    shown = page(window, "Requirements")
    needed = Requirement(title="Cohort", required_classes=({"age": "3", "sex": "1"},), weights={"age": 0.5, "sex": 0.5})
    window.session.require(needed)
    with qtbot.waitSignal(window.runner.job_ended):
        shown.save_file(tmp_path / "need.json")
    assert read_requirement(tmp_path / "need.json") == needed
    shown.clear.click()
    with qtbot.waitSignal(window.runner.job_ended):
        shown.load_file(tmp_path / "need.json")
    assert window.session.requirement == needed
    assert shown.classes.toPlainText() == "age=3, sex=1"


def test_the_checklist_knows_takes_notes_and_is_signed(aggregated_window, qtbot):
    session, shown = aggregated_window.session, page(aggregated_window, "Policy")
    assert "k is 14." in shown.rows["prm-1"].evidence.text()
    assert shown.rows["dpm-5"].mark.text() == "○"
    settled = int(shown.summary.text().split()[0])
    note = shown.rows["dpm-5"].note
    note.setFocus()
    qtbot.keyClicks(note, "kept by the registry")
    qtbot.keyClick(note, Qt.Key.Key_Return)
    assert session.policy.notes == {"dpm-5": "kept by the registry"}
    assert shown.rows["dpm-5"].mark.text() == "✓"
    assert int(shown.summary.text().split()[0]) == settled + 1
    combo = shown.choices["obj-3"]
    combo.setCurrentIndex(2)
    combo.activated.emit(2)
    assert session.policy.choices == {"obj-3": "reported to the recipient"}
    assert not shown.sign.isEnabled()
    qtbot.keyClicks(shown.name, "A. Custodian")
    shown.sign.click()
    assert session.policy.signed_by == "A. Custodian"
    assert "Signed by A. Custodian on 20" in shown.signature.text()
