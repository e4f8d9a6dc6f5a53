"""The pages Requirements and Policy, and what they do to the results."""

from itertools import product
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import Qt

from vbas_desktop.analysis.representability.requirement import Bounds, Requirement, read_requirement
from vbas_desktop.releases.plan import build_plan
from vbas_desktop.settings.release import ReleaseOptions
from vbas_desktop.ui.dialogs.export import ExportDialog
from vbas_desktop.ui.pages import PAGES

DATA = Path(__file__).parents[1] / "data" / "parv"


def page(window, title):
    return window.area.show_page(next(page for page in PAGES if page.title == title))


def test_without_a_solution_a_button_runs_one(loaded_window, qtbot):
    shown = page(loaded_window, "Requirements")
    assert shown.nothing.label.text() == "There is no chosen solution to check."
    with qtbot.waitSignal(loaded_window.model.run_finished, timeout=60_000):
        shown.nothing.button("Run").click()
    page(loaded_window, "Requirements")
    assert not shown.nothing.isVisible()


def test_bounds_of_indices_are_offered_only_for_research(aggregated_window):
    shown = page(aggregated_window, "Requirements")
    low, _ = shown.bounds["hubert"]
    assert shown.bounds["mean_distance"][0].isVisible()
    assert not low.isVisible()
    aggregated_window.state.show_research(True)
    assert low.isVisible()


def test_a_requirement_is_edited_checked_and_filters_the_results(aggregated_window, qtbot):
    state, shown = aggregated_window.state, page(aggregated_window, "Requirements")
    results = aggregated_window.tab("Results")
    assert "Nothing is required yet" in shown.verdict.text()
    assert not results.only_meeting.isVisibleTo(results)
    best = max(entry.solution.representability["jaccard"] for entry in state.entries)
    low, _ = shown.bounds["jaccard"]
    low.setFocus()
    qtbot.keyClicks(low, f"{best:.12f}"[:-1])
    assert "jaccard" in state.requirement.overall
    meeting = [entry.number for entry in state.entries if state.meets_requirement(entry)]
    assert 0 < len(meeting) < len(state.entries)
    do = "does" if len(meeting) == 1 else "do"
    assert f"{len(meeting)} of {len(state.entries)} solutions {do}." in shown.verdict.text()
    assert shown.model.rows[0][1] == "Kept together (Jaccard)"
    results.only_pareto.setChecked(False)
    results.only_meeting.setChecked(True)
    assert [entry.number for entry in results.table_model.listed_rows()] == meeting
    shown.clear.click()
    assert low.text() == ""
    assert len(results.table_model.listed_rows()) == len(state.entries)


def test_measures_in_which_all_solutions_are_alike_are_not_offered(aggregated_window):
    aggregated_window.state.show_research(True)
    shown, entries = page(aggregated_window, "Requirements"), aggregated_window.state.entries
    values = {
        name: [entry.solution.representability.get(name) for entry in entries] for name in shown.bounds
    }
    for name, (low, high) in shown.bounds.items():
        known = [value for value in values[name] if value is not None]
        varies = bool(known) and max(known) - min(known) > 0.002 * max(1, max(known))
        assert low.isVisibleTo(shown) == high.isVisibleTo(shown) == varies
        assert (shown._labels[name].text() in shown.alike.text()) != varies
    assert not shown.bounds["rand"][0].isVisibleTo(shown), "it is close to 1 whatever is merged"
    assert shown.bounds["jaccard"][0].isVisibleTo(shown)
    aggregated_window.state.require(Requirement(overall={"rand": {"min": 0.9}}))
    assert shown.bounds["rand"][0].isVisibleTo(shown), "what is stated can be seen"


def tick(edit, name):
    """Choose a name from the list of a field."""
    edit.open_list()
    next(action for action in edit.menu.actions() if action.data() == name).trigger()
    edit.menu.close()


def test_columns_and_values_of_a_requirement_are_chosen_from_lists(loaded_window):
    shown, state = page(loaded_window, "Requirements"), loaded_window.state
    names = shown.names
    assert names["quasi_identifiers"].isReadOnly(), "they are not typed"
    tick(names["quasi_identifiers"], "age")
    tick(names["quasi_identifiers"], "sex")
    assert state.requirement.required_quasi_identifiers == ("age", "sex")
    tick(names["quasi_identifiers"], "age")
    assert state.requirement.required_quasi_identifiers == ("sex",)
    tick(names["levels"], "age")
    assert names["levels"].text() == "age=", "the number is typed"
    names["levels"].setText("age=1")
    names["levels"].textEdited.emit("age=1")
    assert state.requirement.highest_level == {"age": 1}
    menus = {action.menu().title(): action.menu() for action in shown.class_values.actions()}
    assert list(menus) == list(state.choices.quasi_identifiers)
    for column in ("age", "sex", "age"):
        menus[column].actions()[0].trigger()
    age, sex = (state.table.facts(name).categories.values[0] for name in ("age", "sex"))
    assert state.requirement.required_classes == ({"age": age, "sex": sex}, {"age": age})


def test_the_columns_of_the_original_are_offered(window, qtbot):
    shown = page(window, "Representability")
    shown.source.setCurrentIndex(1)
    assert not shown.panel.key.isReadOnly(), "typed while no file is known"
    shown.panel.original.chosen.emit(DATA / "C2.csv")
    qtbot.waitUntil(lambda: bool(shown.panel.key.offered))
    assert {"Key", "Hh", "Job"} <= set(shown.panel.key.offered)
    for name in ("Hh", "Key"):
        tick(shown.panel.key, name)
    assert shown.panel.key.text() == "Key", "one only"
    tick(shown.panel.columns, "Hh")
    tick(shown.panel.columns, "Job")
    assert shown.panel.columns.text() == "Hh, Job"
    assert shown.panel.outliers.writing.editors["identifiers"].offered == shown.panel.key.offered
    delimiter = shown.panel.reading.editors["delimiter"]
    delimiter.setCurrentIndex(delimiter.findText("Pipe |"))
    delimiter.activated.emit(delimiter.currentIndex())
    qtbot.waitUntil(lambda: len(shown.panel.key.offered) == 1)


def test_what_cannot_be_understood_leaves_the_requirement_in_force(window, qtbot):
    shown = page(window, "Requirements")
    window.state.require(Requirement(title="Cohort", k={"min": 5}, later=1))
    assert shown.fields["k_min"].text() == "5"
    edit = shown.fields["ratio"]
    edit.setFocus()
    qtbot.keyClicks(edit, "x")
    assert "not a number" in shown.message.text()
    assert window.state.requirement.k == Bounds(min=5)
    qtbot.keyClick(edit, Qt.Key.Key_Backspace)
    qtbot.keyClicks(edit, "0.5")
    assert shown.message.text() == ""
    assert window.state.requirement.minimum_sample_ratio == 0.5
    assert window.state.requirement.model_extra == {"later": 1}


def test_a_requirement_is_saved_and_loaded(window, qtbot, tmp_path):
    shown = page(window, "Requirements")
    needed = Requirement(
        title="Cohort",
        required_classes=({"age": "3", "sex": "1"},),
        unwanted_classes=({"sex": "2"},),
        weights={"age": 0.5, "sex": 0.5},
    )
    window.state.require(needed)
    with qtbot.waitSignal(window.worker.job_ended):
        shown.save_file(tmp_path / "need.json")
    assert read_requirement(tmp_path / "need.json") == needed
    shown.clear.click()
    with qtbot.waitSignal(window.worker.job_ended):
        shown.load_file(tmp_path / "need.json")
    assert window.state.requirement == needed
    assert shown.classes.toPlainText() == "age=3, sex=1"
    assert shown.unwanted.toPlainText() == "sex=2"


def test_unwanted_classes_are_typed_and_checked(aggregated_window, qtbot):
    shown = page(aggregated_window, "Requirements")
    state = aggregated_window.state
    column = state.choices.quasi_identifiers[0]
    value = state.table.facts(column).categories.values[0]
    shown.unwanted.setPlainText(f"{column}={value}")
    assert state.requirement.unwanted_classes == ({column: value},)
    (criterion,) = state.criteria(state.selected)
    assert (criterion.name, criterion.required) == (f"Class {column} = {value}", "not released")
    assert criterion.status == "not met"
    shown.unwanted.setPlainText(f"{column}=nobody")
    assert [row.status for row in state.criteria(state.selected)] == ["ok"]
    shown.unwanted.setPlainText("nonsense")
    assert "A class that is unwanted is not understood" in shown.message.text()


def test_the_checklist_knows_takes_notes_and_is_signed(aggregated_window, qtbot):
    state, shown = aggregated_window.state, page(aggregated_window, "Policy")
    assert "k is 14." in shown.rows["prm-1"].evidence.text()
    assert shown.rows["dpm-5"].mark.text() == "○"
    settled = int(shown.summary.text().split()[0])
    note = shown.rows["dpm-5"].note
    note.setFocus()
    qtbot.keyClicks(note, "kept by the registry")
    qtbot.keyClick(note, Qt.Key.Key_Return)
    assert state.policy.notes == {"dpm-5": "kept by the registry"}
    assert shown.rows["dpm-5"].mark.text() == "✓"
    assert int(shown.summary.text().split()[0]) == settled + 1
    combo = shown.choices["obj-3"]
    combo.setCurrentIndex(2)
    combo.activated.emit(2)
    assert state.policy.choices == {"obj-3": "reported to the recipient"}
    assert not shown.sign.isEnabled()
    qtbot.keyClicks(shown.name, "A. Custodian")
    shown.sign.click()
    assert state.policy.signed_by == "A. Custodian"
    assert "Signed by A. Custodian on 20" in shown.signature.text()


def test_the_checklist_follows_what_export_is_set_to(aggregated_window, qtbot, tmp_path):
    state, shown = aggregated_window.state, page(aggregated_window, "Policy")
    assert "random order" in shown.rows["exm-2"].evidence.text()
    state.set_policy_notes(state.policy.with_signature("A. Custodian", "2024-05-01"))
    entry = state.selected
    state.request_release(
        entry, ReleaseOptions(shuffle=False, renames={"age": "years"}), tmp_path / "out"
    )
    assert shown.rows["exm-2"].evidence.text() == ""
    assert shown.rows["exm-2"].mark.text() == "○"
    assert shown.rows["exm-1"].evidence.text() == "1 column has another name in the release."
    # What was signed is not what is released.
    assert state.policy.signed_by == ""
    dialog = ExportDialog(state, aggregated_window)
    assert not dialog.form.editors["shuffle"].isChecked()
    dialog.close()


def judged(window, qtbot):
    """The part of the page Policy that judges, once it has."""
    shown = page(window, "Policy")
    qtbot.waitUntil(lambda: not window.background.is_awaited_by(shown.judged))
    return shown.judged


def test_the_page_shows_what_the_strategic_choices_lead_to(window):
    shown = page(window, "Policy")
    assert shown.outcomes.text() == "Decide all three to see what they lead to."
    for name, option in (
        ("obj-1", "data oriented"),
        ("obj-2", "person specific"),
        ("obj-3", "kept internal"),
    ):
        combo = shown.choices[name]
        combo.setCurrentIndex(combo.findData(option))
        combo.activated.emit(combo.currentIndex())
    lines = shown.outcomes.text().splitlines()
    assert lines[0] == "These choices lead to:"
    assert "• The recipient does not know the bias." in lines
    assert len(lines) == 6


def test_the_shown_solution_is_judged_by_a_policy_and_questions_are_answered(aggregated_window, qtbot):
    state = aggregated_window.state
    box = judged(aggregated_window, qtbot)
    assert not box.lines
    with qtbot.waitSignal(box.judged):
        box.policy.setCurrentIndex(box.policy.findData("class-11"))
        box.policy.activated.emit(box.policy.currentIndex())
    assert state.policy.policy == "class-11"
    smallest = build_plan(state.selected.problem, state.selected.solution).anonymity
    assert [line[1].text() for line in box.lines[:2]] == [
        f"held: {smallest}",
        "not computed (no earlier release of this audience is in a ledger)",
    ]
    assert "CMS Cell Size Suppression Policy" in box.source.text()
    assert "Check before you rely on it: The date is that of the version" in box.source.text()
    state.set_policy_notes(state.policy.with_signature("A. Custodian", "2024-05-01"))
    qtbot.waitUntil(lambda: not aggregated_window.background.is_awaited_by(box))
    answer = box.answers["class-11/3"]
    answer.setText("no, checked")
    with qtbot.waitSignal(box.judged):
        answer.editingFinished.emit()
    assert state.policy.answers == {"class-11/3": "no, checked"}
    # What was signed is not what is answered now.
    assert state.policy.signed_by == ""
    assert "1 was answered by a person" in box.outcome.text()
    dialog = ExportDialog(state, aggregated_window)
    assert dialog.form.policy.currentData() == "class-11"
    assert dialog.options().policy == "class-11"
    dialog.close()


def test_a_policy_of_ones_own_is_copied_changed_and_its_mistakes_are_told(
    aggregated_window, qtbot, tmp_path, monkeypatch
):
    opened = []
    monkeypatch.setattr("vbas_desktop.ui.widgets.file_dialogs.QDesktopServices.openUrl", opened.append)
    box = judged(aggregated_window, qtbot)
    box.judge_by("class-20")
    path = tmp_path / "ours.toml"
    box.copy_to(str(path))
    qtbot.waitUntil(lambda: bool(opened) and not aggregated_window.background.is_awaited_by(box))
    assert [url.toLocalFile() for url in opened] == [str(path)]
    assert aggregated_window.state.policy.policy == str(path)
    assert box.policy.currentText() == "ours.toml"
    assert box.lines[0][0].text().endswith("at least 20")
    path.write_text(path.read_text().replace("threshold = 20", "threshold = 14"))
    with qtbot.waitSignal(box.judged):
        box.again.click()
    assert box.lines[0][0].text().endswith("at least 14")
    path.write_text(path.read_text().replace("threshold = 14", "threshold = many"))
    with qtbot.waitSignal(box.judged):
        box.again.click()
    assert "ours.toml" in box.problems.text()
    assert box.problems.isVisible()
    assert not box.lines


def test_a_table_of_the_population_gives_k_map_and_risk(aggregated_window, qtbot, tmp_path):
    state = aggregated_window.state
    problem, solution = state.selected.problem, state.selected.solution
    box = judged(aggregated_window, qtbot)
    assert not box.risks
    names = problem.quasi_identifiers
    lines = [",".join(["region", *names, "people"])]
    for place, region in enumerate(problem.regions.ids):
        combinations = product(*(each.values for each in problem.categories))
        lines += [",".join([region, *values, str(1000 + place)]) for values in combinations]
    (tmp_path / "people.csv").write_text("\n".join(lines) + "\n")
    with qtbot.waitSignal(box.judged):
        box.population.chosen.emit(tmp_path / "people.csv")
    assert state.policy.population == str(tmp_path / "people.csv")
    people = np.bincount(solution.membership, 1000 + np.arange(len(problem.regions)))
    k_map = int(box.risks["k-map: fewest inhabitants of a released class"].text().replace(",", ""))
    assert k_map in people.tolist()
    assert float(box.risks["Journalist: highest risk"].text()) == pytest.approx(1 / k_map, rel=1e-3)
    dialog = ExportDialog(state, aggregated_window)
    assert dialog.options().population == str(tmp_path / "people.csv")
    dialog.close()
    (tmp_path / "people.csv").write_text(lines[0] + "\n" + lines[1] + "\n")
    with qtbot.waitSignal(box.judged):
        box.again.click()
    assert "not in the table" in box.problems.text()
    with qtbot.waitSignal(box.judged):
        box.population.clear.click()
    assert (state.policy.population, box.problems.isVisible(), box.risks) == ("", False, {})
