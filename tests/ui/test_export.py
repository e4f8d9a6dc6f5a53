"""Export: says what will be released, writes it verified, and leaves a folder that the command line understands."""

from __future__ import annotations

import csv
import json
from datetime import date

import pytest
from PySide6.QtCore import QPoint, QRect, Qt
from PySide6.QtWidgets import QApplication, QLabel, QMessageBox

from vbas_desktop.algorithms.map_colouring import find_changed_members
from vbas_desktop.app.release import ReleaseRefusal
from vbas_desktop.cli.main import main
from vbas_desktop.model.findings import Finding
from vbas_desktop.model.records import Role
from vbas_desktop.releases.ledger import read_ledger
from vbas_desktop.ui.dialogs.export import ExportDialog
from vbas_desktop.ui.dialogs.handover import ExtractDialog, RecordDialog, ReleaseDone
from vbas_desktop.ui.dialogs.release_target import find_ledger
from vbas_desktop.ui.pages import PAGES

LONG = 120_000


@pytest.fixture
def small_regions(loaded_window, qtbot):
    """A window with a run whose regions are so small that records are lost."""
    chosen = loaded_window.state.choices.with_approach("site_number", "fixed")
    loaded_window.state.change(chosen.with_parameter("site_number", "fixed", "sites", 25))
    with qtbot.waitSignal(loaded_window.worker.job_ended, timeout=LONG):
        loaded_window.run_commands.run()
    return loaded_window


def open_dialog(window) -> ExportDialog:
    window.menus.actions["export"].trigger()
    return window.findChild(ExportDialog)


def choose(combo, value) -> None:
    """Choose a value from a list, as a person does."""
    combo.setCurrentIndex(combo.findData(value))
    combo.activated.emit(combo.currentIndex())


def export(window, dialog, target, qtbot) -> ReleaseDone:
    dialog.target.edit.setText(str(target))
    with qtbot.waitSignal(window.worker.job_ended, timeout=LONG):
        dialog.export.click()
    return window.findChild(ReleaseDone)


def test_export_waits_for_a_solution(loaded_window):
    action = loaded_window.menus.actions["export"]
    assert not action.isEnabled()
    assert "Run a combination" in action.toolTip()


def test_it_says_what_will_be_released_and_what_is_lost(small_regions):
    dialog = open_dialog(small_regions)
    entry = small_regions.state.selected
    lost = entry.solution.measures["suppressed_records"]
    assert lost > 0
    assert dialog.summary.records.text() == (
        f"{3000 - lost:,} of 3,000 records ({100 * (3000 - lost) / 3000:.1f} %) will be released in "
        f"{entry.solution.aggregated_regions} aggregated regions, every combination at least 5 times. "
        f"{lost:,} records suppressed: {lost:,} too rare in their region."
    )
    dialog.reject()


def test_it_says_what_the_release_is_safe_against_and_what_it_is_not(small_regions, qtbot):
    dialog = open_dialog(small_regions)
    summary = dialog.summary
    assert (
        summary.protected.text()
        == "Every combination of “tract”, “age” and “sex” is shared by at least 5 records."
    )
    qtbot.waitUntil(lambda: " unique." in summary.unprotected.text(), timeout=LONG)
    assert summary.unprotected.text().startswith(
        "Not protected, released as they are: “illness” (sensitive): with these, "
    )
    assert summary.safety.text() == (
        "Safe against somebody who knows “tract”, “age” and “sex” of a person and nothing else that is released: at "
        "least 5 records fit. Not safe against somebody who also knows “illness” of a person, nor where all records "
        "that fit share such a value."
    )
    dialog.columns.decide(("illness",), Role.LEAVE_OUT)
    assert summary.unprotected.isHidden()
    assert summary.safety.text().endswith("whether people with these values are in the file.")
    dialog.reject()


def test_records_of_a_file_are_put_into_a_folder_and_nowhere_else(small_regions):
    dialog = open_dialog(small_regions)
    assert list(dialog.recipient.recipient.editors) == ["audience"]
    assert dialog.recipient.editors["audience"].placeholderText() == "Anyone"
    assert dialog.form.editors["shuffle_seed"].placeholderText() == "Random"
    dialog.reject()


def test_a_role_that_the_solution_lacks_asks_for_another_run(small_regions, qtbot):
    state = small_regions.state
    dialog = open_dialog(small_regions)
    dialog.columns.decide(("illness",), Role.QUASI_IDENTIFIER)
    assert not dialog.export.isEnabled()
    assert dialog.decisions.label.text() == (
        "“illness”: this solution was computed with the role “sensitive”, not “quasi-identifier”. Run again."
    )
    dialog.decisions.button("Back").click()
    assert dialog.export.isEnabled()
    assert not dialog.decisions.isVisible()
    dialog.columns.decide(("illness",), Role.QUASI_IDENTIFIER)
    with qtbot.waitSignal(small_regions.worker.job_ended, timeout=LONG):
        dialog.decisions.button("Run again").click()
    assert state.choices.quasi_identifiers == ("age", "sex", "illness")
    assert state.entries[-1].run.key.quasi_identifiers == ("age", "sex", "illness")


def test_a_failed_write_keeps_the_dialog_and_its_entries(small_regions, tmp_path, qtbot):
    (tmp_path / "file").write_text("no folder")
    dialog = open_dialog(small_regions)
    dialog.columns.rename("tract", "area")
    dialog.form.editors["class_size"].box.click()
    dialog.target.edit.setText(str(tmp_path / "file" / "out"))
    with qtbot.waitSignal(small_regions.worker.job_failed, timeout=LONG):
        dialog.export.click()
    (question,) = small_regions.findChildren(QMessageBox)
    assert question.text() == "Could not export to out."
    question.close()
    assert dialog.isVisible()
    assert dialog.problem.text().startswith("Could not export to out. ")
    assert dialog.columns.renames == {"tract": "area"}
    export(small_regions, dialog, tmp_path / "out", qtbot).close()
    assert not small_regions.findChildren(ExportDialog) or not dialog.isVisible()
    head = (tmp_path / "out" / "release" / "anonymized.csv").read_text().splitlines()[0]
    assert head == "age,sex,illness,area,class_size"


def test_writing_shows_progress_and_can_be_stopped(small_regions, tmp_path, qtbot):
    dialog = open_dialog(small_regions)
    dialog.target.edit.setText(str(tmp_path / "out"))
    with qtbot.waitSignal(small_regions.worker.job_ended, timeout=LONG):
        dialog.export.click()
        assert dialog.progress.isVisible()
        assert not dialog.content.isEnabled()
        dialog.reject()
    assert dialog.isVisible(), "stopped, not closed"
    assert dialog.content.isEnabled()
    assert not dialog.progress.isVisible()
    assert not (tmp_path / "out").exists()
    dialog.reject()
    assert not dialog.isVisible()


def test_it_says_what_regions_around_small_classes_reveal(loaded_window, qtbot):
    state = loaded_window.state
    chosen = state.choices.with_approach("site_number", "fixed").with_approach(
        "site_location", "anonymity"
    )
    state.change(chosen.with_parameter("site_number", "fixed", "sites", 25))
    with qtbot.waitSignal(loaded_window.worker.job_ended, timeout=LONG):
        loaded_window.run_commands.run()
    dialog = open_dialog(loaded_window)
    assert (
        "45 % of the guesses at it are right where chance would be 8 %." in dialog.summary.records.text()
    )
    dialog.reject()


def test_the_release_is_written_verified_and_understood_by_the_command_line(
    small_regions, tmp_path, qtbot, capsys
):
    dialog = open_dialog(small_regions)
    target = tmp_path / "out"
    done = export(small_regions, dialog, target, qtbot)
    *checks, loss = [done.checks.item(i).text() for i in range(done.checks.count())]
    assert checks
    assert all(check.endswith("passed") for check in checks)
    assert "more than the usual 1 %" in loss
    assert any("yet, so nothing was compared." in label.text() for label in done.findChildren(QLabel))
    done.close()
    with (target / "release" / "anonymized.csv").open() as file:
        rows = list(csv.DictReader(file))
    lost = small_regions.state.selected.solution.measures["suppressed_records"]
    assert len(rows) == 3000 - lost
    assert list(rows[0]) == ["age", "sex", "illness", "tract"]
    released = str(target / "release" / "anonymized.csv")
    assert (
        main(
            ["verify", released, "--quasi-identifiers", "age,sex", "--region-column", "tract", "-k", "5"]
        )
        == 0
    )
    assert main(["export", str(target), "--out", str(tmp_path / "again"), "--quiet"]) == 0
    again = tmp_path / "again" / "release" / "anonymized.csv"
    assert again.read_bytes() == (target / "release" / "anonymized.csv").read_bytes()


def test_columns_can_be_left_out_and_renamed_but_not_the_region(small_regions, tmp_path, qtbot):
    dialog = open_dialog(small_regions)
    dialog.columns.decide(("illness", "tract"), Role.LEAVE_OUT)
    assert dialog.columns.kept == ("age", "sex", "tract"), "the regions stay"
    dialog.columns.rename("tract", "area")
    choose(dialog.form.editors["release_delimiter"], ";")
    dialog.form.editors["class_size"].box.click()
    export(small_regions, dialog, tmp_path / "out", qtbot).close()
    head = (tmp_path / "out" / "release" / "anonymized.csv").read_text().splitlines()[0]
    assert head == "age;sex;area;class_size"
    document = json.loads((tmp_path / "out" / "run.json").read_text())
    assert document["options"]["renames"] == {"tract": "area"}


def test_records_get_a_key_of_the_chosen_name(small_regions, tmp_path, qtbot):
    dialog = open_dialog(small_regions)
    key = dialog.form.editors["record_key"]
    assert not key.text.isEnabled()
    key.box.click()
    key.text.setText("sex")
    assert "same name" in dialog.problem.text()
    key.text.setText("")
    assert "has no name" in dialog.problem.text()
    key.text.setText("pseudonym")
    export(small_regions, dialog, tmp_path / "out", qtbot).close()
    head, *rows = (tmp_path / "out" / "release" / "anonymized.csv").read_text().splitlines()
    assert head.endswith(",pseudonym")
    index = (tmp_path / "out" / "internal" / "record_index.csv").read_text().splitlines()
    assert len(index) == len(rows) + 1
    assert {row.rpartition(",")[2] for row in rows} == {line.partition(",")[0] for line in index[1:]}


def test_words_on_columns_go_to_the_recipient(small_regions, tmp_path, qtbot):
    dialog = open_dialog(small_regions)
    edits = dialog.form.words.edits
    edits["aims"].setText("age")
    assert "“age” is not understood" in dialog.problem.text()
    edits["aims"].setText("nobody=x")
    assert "no such column" in dialog.problem.text()
    edits["aims"].setText('"age=risk factor, among others"')
    edits["reasons"].setText("person=identifies")
    edits["meanings"].setText("age=completed years")
    order = dialog.options()
    dialog.form.words.restore(order)
    assert dialog.options() == order
    export(small_regions, dialog, tmp_path / "out", qtbot).close()
    vector = json.loads((tmp_path / "out" / "release" / "representability.json").read_text())
    rows = {row["name"]: row for row in vector["attributes"]}
    assert rows["age"]["aim"] == "risk factor, among others"
    assert rows["person"]["reason"] == "identifies"
    assert vector["coding"]["age"]["description"] == "completed years"


def test_sensitive_values_are_aggregated_in_small_or_all_classes(small_regions, tmp_path, qtbot):
    dialog = open_dialog(small_regions)
    classes = dialog.form.editors["aggregate_classes"]
    aggregate = dialog.form.editors["aggregate"]
    assert not classes.isEnabled()
    aggregate.setText("person")
    assert "has to be released" in dialog.problem.text()
    aggregate.setText("illness")
    assert dialog.options().aggregate_classes == "below:10"
    choose(classes, "all")
    export(small_regions, dialog, tmp_path / "out", qtbot).close()
    values: dict[tuple[str, ...], set[str]] = {}
    with (tmp_path / "out" / "release" / "anonymized.csv").open() as file:
        for row in csv.DictReader(file):
            values.setdefault((row["tract"], row["age"], row["sex"]), set()).add(row["illness"])
    assert {len(each) for each in values.values()} == {1}
    counts = (tmp_path / "out" / "release" / "class_counts.csv").read_text().splitlines()
    assert counts[0] == "tract,age,sex,records"
    assert len(counts) == len(values) + 1


def test_two_columns_of_one_name_are_refused_before_anything_is_written(small_regions):
    dialog = open_dialog(small_regions)
    dialog.columns.rename("age", "sex")
    assert not dialog.export.isEnabled()
    assert "same name" in dialog.problem.text()
    dialog.reject()


def test_a_folder_with_other_things_in_it_is_left_alone(small_regions, tmp_path, qtbot):
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "thesis.txt").write_text("mine")
    dialog = open_dialog(small_regions)
    dialog.target.edit.setText(str(tmp_path / "full"))
    with qtbot.waitSignal(small_regions.worker.job_failed, timeout=LONG) as failed:
        dialog.export.click()
    assert "not an earlier result" in failed.args[0].message
    assert (tmp_path / "full" / "thesis.txt").read_text() == "mine"


def test_outdated_results_cannot_be_exported(small_regions, data, qtbot):
    data[0].write_text("\n".join(data[0].read_text().splitlines()[:-1]) + "\n")
    with qtbot.waitSignal(small_regions.worker.job_ended, timeout=LONG):
        small_regions.data_commands.reload()
    assert not small_regions.menus.actions["export"].isEnabled()
    assert "Run again" in small_regions.menus.actions["export"].statusTip()


def tell_the_tract(window, data, qtbot):
    """Let the illness of each record name its tract, and run."""
    rows = [line.split(",") for line in data[0].read_text().splitlines()]
    place, illness = rows[0].index("tract"), rows[0].index("illness")
    told = [[*row[:illness], f"of {row[place]}", *row[illness + 1 :]] for row in rows[1:]]
    data[0].write_text("\n".join(",".join(row) for row in [rows[0], *told]) + "\n")
    for start in (window.data_commands.reload, window.run_commands.run):
        with qtbot.waitSignal(window.worker.job_ended, timeout=LONG):
            start()


def test_a_column_that_tells_the_place_stops_the_export_until_it_is_allowed(
    small_regions, data, tmp_path, qtbot
):
    tell_the_tract(small_regions, data, qtbot)
    dialog = open_dialog(small_regions)
    dialog.target.edit.setText(str(tmp_path / "out"))
    dialog.form.editors["shuffle_seed"].setText("c0ffee")
    dialog.form.editors["class_size"].box.click()
    dialog.form.editors["record_key"].box.click()
    dialog.form.editors["record_key"].text.setText("pseudonym")
    with qtbot.waitSignal(small_regions.worker.job_ended, timeout=LONG):
        dialog.export.click()
    assert not (tmp_path / "out").exists()
    again = next(one for one in small_regions.findChildren(ExportDialog) if one.isVisible())
    assert "“illness”: It reveals the place in more detail" in again.refusal.label.text()
    assert (again.target.edit.text(), again.form.editors["shuffle_seed"].text()) == (
        str(tmp_path / "out"),
        "c0ffee",
    )
    assert again.form.editors["class_size"].value == "class_size"
    assert again.form.editors["record_key"].value == "pseudonym"
    again.columns.allow(("illness",))
    done = export(small_regions, again, tmp_path / "out", qtbot)
    done.close()
    document = json.loads((tmp_path / "out" / "run.json").read_text())
    assert document["release"]["allow_columns"] == document["options"]["allow_columns"] == ["illness"]
    assert document["release"]["shuffle_seed"] == "c0ffee"
    report = (tmp_path / "out" / "internal" / "report.html").read_text(encoding="utf-8")
    assert "It reveals the place in more detail" in report


def test_what_is_tested_can_be_allowed_and_nothing_else(small_regions):
    dialog = open_dialog(small_regions)
    model = dialog.columns.model
    ticks = {
        model.index(row, 0).data(): bool(model.index(row, 3).flags() & Qt.ItemFlag.ItemIsUserCheckable)
        for row in range(model.rowCount())
    }
    assert ticks == {"person": False, "age": False, "sex": False, "illness": True, "tract": False}
    tip = model.headerData(3, Qt.Orientation.Horizontal, Qt.ItemDataRole.ToolTipRole)
    assert "even if it reveals more" in tip
    dialog.reject()


def test_a_seed_that_is_none_is_said_in_the_dialog(small_regions):
    dialog = open_dialog(small_regions)
    dialog.form.editors["shuffle_seed"].setText("not hexadecimal")
    assert not dialog.export.isEnabled()
    assert "hexadecimal digits" in dialog.problem.text()
    dialog.form.editors["shuffle_seed"].setText("")
    dialog.form.editors["shuffle"].click()
    assert not dialog.form.editors["shuffle_seed"].isEnabled()
    assert dialog.export.isEnabled()
    dialog.reject()


def test_k_above_the_number_of_records_is_said_at_its_field(loaded_window):
    section = loaded_window.input.privacy
    section.form.editors["k"].setValue(3000)
    assert section.form.fields["k"].message.text() == ""
    section.form.editors["k"].setValue(3001)
    assert section.form.fields["k"].message.text().startswith("k is above the number of records (3,000)")
    assert not loaded_window.input.run.isEnabled()
    section.form.editors["k"].setValue(5)
    assert section.form.fields["k"].message.text() == ""
    assert loaded_window.input.run.isEnabled()


def test_a_solution_that_releases_nothing_cannot_be_exported(loaded_window, qtbot):
    loaded_window.state.change_fields(k=2500)
    with qtbot.waitSignal(loaded_window.worker.job_ended, timeout=LONG):
        loaded_window.run_commands.run()
    assert not loaded_window.menus.actions["export"].isEnabled()
    assert "releases no record" in loaded_window.menus.actions["export"].toolTip()


def test_a_release_is_recorded_and_another_one_beside_it_needs_a_reason(small_regions, tmp_path, qtbot):
    window = small_regions
    handed = window.state.selected.solution
    dialog = open_dialog(window)
    assert not dialog.recipient.overrule.isVisible()
    dialog.recipient.editors["audience"].setText("Uni")
    done = export(window, dialog, tmp_path / "first", qtbot)
    done.record.click()
    asked = window.findChild(RecordDialog)
    assert asked.audience.text() == "Uni"
    asked.audience.setText(" ")
    assert not asked.record.isEnabled()
    asked.audience.setText("Uni")
    with qtbot.waitSignal(window.worker.job_ended, timeout=LONG):
        asked.record.click()
    done.close()
    ledger = find_ledger(window.state)
    assert [entry.audience for entry in read_ledger(ledger)] == ["Uni"]
    others = [each for each in window.state.entries if each != window.state.selected]
    window.state.select(others[0].number)
    page = opened(window, "Releases", qtbot)
    assert page.model.rowCount() == 1
    with qtbot.waitSignal(window.worker.job_ended, timeout=LONG):
        page.check.click()
    assert "could single out" in page.said.text()
    assert page.model.index(0, 8).data().endswith(" people")
    # The release that was handed over and the solution that is shown, side by side.
    assert not page.beside.isVisible(), "it is said above"
    maps = page.maps
    qtbot.waitUntil(lambda: maps.now.shown is not None and maps.earlier.shown is not None, timeout=LONG)
    drawn = maps.earlier.shown.solution
    assert len(set(zip(drawn.membership.tolist(), handed.membership.tolist(), strict=True))) == (
        handed.aggregated_regions
    )
    assert maps.now.shown.number == others[0].number
    assert maps.earlier_title.text().startswith("Release 1 (handed to Uni on ")
    records = others[0].problem.counts.region_totals
    moved = int(find_changed_members(handed.membership, others[0].solution.membership, records).sum())
    assert f"; {moved:,} initial region" in maps.now_title.text()
    maps.earlier.canvas.zoom_to(0)
    left, right = (each.canvas.view_rect.center() for each in (maps.earlier, maps.now))
    assert (right.x(), right.y()) == pytest.approx((left.x(), left.y()))
    window.state.select(next(each.number for each in window.state.entries if each.solution is handed))
    qtbot.waitUntil(lambda: "the same regions" in maps.now_title.text(), timeout=LONG)
    with qtbot.waitSignal(window.worker.job_ended, timeout=LONG):
        page.check.click()
    assert page.said.text() == "Nobody would be singled out beside what this audience has."
    assert "Nobody is singled out by having release 1" in page.beside.text()
    window.state.select(others[0].number)
    dialog = open_dialog(window)
    dialog.recipient.editors["audience"].setText("Uni")
    dialog.target.edit.setText(str(tmp_path / "second"))
    with qtbot.waitSignal(window.worker.job_ended, timeout=LONG):
        dialog.export.click()
    assert not (tmp_path / "second").exists()
    stopped = [each for each in window.findChildren(ExportDialog) if each.isVisible()][-1]
    assert stopped.recipient.editors["despite"].isVisible()
    assert "could single out" in stopped.refusal.label.text()
    stopped.recipient.editors["despite"].setText("the first was destroyed")
    with qtbot.waitSignal(window.worker.job_ended, timeout=LONG):
        stopped.export.click()
    kept = json.loads((tmp_path / "second" / "run.json").read_text())["ledger_check"]
    assert kept["override"] == "the first was destroyed"
    page.table.selectRow(0)
    page.remove.click()
    question = next(box for box in page.findChildren(QMessageBox) if box.isVisible())
    assert question.text().startswith("Remove release 1 (handed to Uni on ")
    assert question.defaultButton() is question.escapeButton()
    assert len(read_ledger(ledger)) == 1
    with qtbot.waitSignal(window.worker.job_ended, timeout=LONG):
        next(button for button in question.buttons() if button.text() == "&Remove it").click()
    assert page.model.rowCount() == 0
    assert not page.table.isVisible()
    assert page.nothing.label.text().startswith("Nothing is recorded as handed over yet.")
    page.nothing.button("Export").click()
    assert window.findChild(ExportDialog).isVisible()
    window.findChild(ExportDialog).reject()
    assert len(read_ledger(ledger)) == 0


def opened(window, title, qtbot):
    """A page, after it read what it shows."""
    page = next(page for page in PAGES if page.title == title)
    with qtbot.waitSignal(window.worker.job_ended, timeout=LONG):
        return window.area.show_page(page)


def after_handing_over(window, tmp_path, qtbot):
    """The dialog for another solution, the shown one having been exported to “first” and recorded as handed over."""
    dialog = open_dialog(window)
    dialog.recipient.editors["audience"].setText("Uni")
    done = export(window, dialog, tmp_path / "first", qtbot)
    done.record.click()
    with qtbot.waitSignal(window.worker.job_ended, timeout=LONG):
        window.findChild(RecordDialog).record.click()
    done.close()
    others = [each for each in window.state.entries if each != window.state.selected]
    window.state.select(others[0].number)
    return open_dialog(window)


def test_the_regions_that_were_handed_over_are_used_again_or_joined_by_a_click(
    small_regions, tmp_path, qtbot
):
    window = small_regions
    first = window.state.selected.solution
    dialog = after_handing_over(window, tmp_path, qtbot)
    assert not dialog.refusal.isVisible()
    dialog.target.edit.setText(str(tmp_path / "second"))
    with qtbot.waitSignal(window.worker.job_ended, timeout=LONG):
        dialog.export.click()
    stopped = [each for each in window.findChildren(ExportDialog) if each.isVisible()][-1]
    assert [button.text() for button in stopped.refusal.buttons] == [
        "Use the earlier regions",
        "Join the earlier regions",
        "Only columns of it",
    ]
    before = len(window.state.entries)
    stopped.refusal.button("Use").click()
    qtbot.waitUntil(lambda: len(window.state.entries) > before and not window.worker.busy, timeout=LONG)
    again = window.state.entries[-1]
    assert again.solution.approaches["construction"] == "coarsen"
    pairs = set(zip(first.membership.tolist(), again.solution.membership.tolist(), strict=True))
    assert len(pairs) == first.aggregated_regions == again.solution.aggregated_regions
    window.state.select(again.number)
    export(window, open_dialog(window), tmp_path / "second", qtbot)
    assert json.loads((tmp_path / "second" / "run.json").read_text())["ledger_check"]["safe"]
    page = opened(window, "Releases", qtbot)
    assert [index.row() for index in page.table.selectionModel().selectedRows()] == [0], (
        "the newest is chosen"
    )
    assert page.reuse.isEnabled()
    window.state.modified = False
    page.join.click()
    qtbot.waitUntil(
        lambda: window.state.records_path == tmp_path / "first" / "release" / "anonymized.csv",
        timeout=LONG,
    )
    assert len(window.state.regions) == first.aggregated_regions
    # The ledger is still the one of the records that the release was made from.
    assert opened(window, "Releases", qtbot).model.rowCount() == 1


def test_only_columns_of_what_was_handed_over_are_written_by_a_click(small_regions, tmp_path, qtbot):
    window = small_regions
    dialog = after_handing_over(window, tmp_path, qtbot)
    dialog.target.edit.setText(str(tmp_path / "second"))
    with qtbot.waitSignal(window.worker.job_ended, timeout=LONG):
        dialog.export.click()
    stopped = [each for each in window.findChildren(ExportDialog) if each.isVisible()][-1]
    kept = list(stopped.columns.kept)
    dropped = next(name for name in kept if name not in (window.state.choices.region_column,))
    stopped.columns.decide((dropped,), Role.LEAVE_OUT)
    stopped.target.edit.setText(str(tmp_path / "extract"))
    with qtbot.waitSignal(window.worker.job_ended, timeout=LONG):
        stopped.refusal.button("Only").click()
    head = (tmp_path / "extract" / "release" / "anonymized.csv").read_text().splitlines()[0].split(",")
    assert set(head) == set(kept) - {dropped}
    document = json.loads((tmp_path / "extract" / "run.json").read_text())
    assert document["ledger_check"]["safe"]
    first, extract = (
        (tmp_path / name / "release" / "crosswalk.csv").read_text() for name in ("first", "extract")
    )
    assert first == extract
    # The page Releases does the same for the chosen release.
    page = opened(window, "Releases", qtbot)
    page.extract.click()
    dialog = window.findChild(ExtractDialog)
    region = window.state.choices.region_column
    assert (dialog.audience.text(), dialog.target.edit.text()) == (
        "Uni",
        f"{tmp_path / 'first'} columns {date.today().isoformat()}",
    )
    assert dialog.kept == kept
    assert not dialog.export.isEnabled(), "with all columns it would be the same release"
    items = {item.text(): item for item in map(dialog.columns.item, range(dialog.columns.count()))}
    assert not items[region].flags() & Qt.ItemFlag.ItemIsEnabled
    items[dropped].setCheckState(Qt.CheckState.Unchecked)
    dialog.target.edit.setText(" ")
    assert not dialog.export.isEnabled()
    dialog.target.edit.setText(str(tmp_path / "again"))
    with qtbot.waitSignal(window.worker.job_ended, timeout=LONG):
        dialog.export.click()
    head = (tmp_path / "again" / "release" / "anonymized.csv").read_text().splitlines()[0].split(",")
    assert set(head) == set(kept) - {dropped}
    again = json.loads((tmp_path / "again" / "run.json").read_text())["ledger_check"]
    assert (again["audience"], again["safe"]) == ("Uni", True)
    assert (tmp_path / "again" / "release" / "crosswalk.csv").read_text() == first


def test_no_text_of_the_dialog_lies_over_another(aggregated_window):
    aggregated_window.exporting.export()
    dialog = aggregated_window.findChild(ExportDialog)
    summary = dialog.summary
    summary.unprotected.setText("Not protected, released as they are. " * 12)
    summary.unprotected.show()
    summary.changed.emit()
    QApplication.processEvents()
    assert summary.unprotected.height() >= summary.unprotected.heightForWidth(
        summary.unprotected.width()
    )
    assert summary.unprotected.geometry().bottom() < summary.safety.geometry().top()
    assert summary.geometry().bottom() < dialog.columns.geometry().top()
    dialog.reject()


def check_all_is_reached(dialog, height):
    """Check that the dialog fits, and that scrolling shows all of the widest and highest of its widgets."""
    QApplication.processEvents()
    assert dialog.height() <= height
    assert dialog.y() + dialog.height() <= height, "the buttons are at the bottom"
    assert dialog.minimumSizeHint().height() <= height
    dialog.more.setChecked(True)
    QApplication.processEvents()
    assert dialog.height() <= height
    assert dialog._scroll.verticalScrollBar().maximum() > 0
    assert dialog._scroll.horizontalScrollBar().maximum() == 0, "nothing is cut at the side"
    shown = (dialog.solution, dialog.summary.unprotected, dialog.columns.view, dialog.decisions)
    recipient = dialog.recipient.editors["audience"]
    for widget in (*shown, recipient, *dialog.form.editors.values()):
        if not widget.isVisible():
            continue
        dialog._scroll.ensureWidgetVisible(widget)
        seen = widget.visibleRegion().boundingRect()
        assert seen.height() > 0
        assert seen.width() == widget.width()
    for widget in (dialog.target.edit, dialog.export):
        assert dialog.rect().contains(QRect(widget.mapTo(dialog, QPoint(0, 0)), widget.size()))


@pytest.mark.parametrize("stopped", [False, True])
def test_on_a_small_screen_the_dialog_fits_and_all_of_it_is_reached(
    stopped, aggregated_window, monkeypatch, qtbot
):
    monkeypatch.setattr(ExportDialog, "highest", lambda dialog: 640)
    aggregated_window.exporting.export()
    dialog = aggregated_window.findChild(ExportDialog)
    if stopped:
        findings = [
            Finding("disclosive-column", "It reveals too much.", column=f"c{number}")
            for number in range(60)
        ]
        dialog.show_refusal(ReleaseRefusal(tuple(findings)))
        assert dialog.refusal.label.text().endswith("… and 20 more of this kind.")
    check_all_is_reached(dialog, 640)
    dialog.close()


def test_at_twice_the_font_size_nothing_is_cut(aggregated_window, monkeypatch, qapp):
    monkeypatch.setattr(ExportDialog, "highest", lambda dialog: 860)
    usual = qapp.font()
    large = qapp.font()
    large.setPointSizeF(2 * usual.pointSizeF())
    qapp.setFont(large)
    try:
        aggregated_window.exporting.export()
        dialog = aggregated_window.findChild(ExportDialog)
        check_all_is_reached(dialog, 860)
        assert dialog.width() <= 1440
        dialog.close()
    finally:
        qapp.setFont(usual)


def test_a_release_beyond_the_allowed_loss_is_written_only_after_a_question(
    small_regions, tmp_path, qtbot
):
    state = small_regions.state
    # The field is changed after the run, and counts all the same.
    state.change(state.choices.with_allowed_loss(0.1))
    dialog = open_dialog(small_regions)
    dialog.target.edit.setText(str(tmp_path / "out"))
    dialog.form.editors["class_size"].box.click()
    with qtbot.waitSignal(small_regions.worker.job_ended, timeout=LONG):
        dialog.export.click()
    assert not (tmp_path / "out").exists()
    question = small_regions.findChild(QMessageBox)
    lost = state.selected.solution.measures["suppressed_records"]
    told = question.informativeText()
    assert f"lacks {lost:,} of 3,000 records" in told
    assert f"more than the 0.1 % that are allowed: {lost:,} too rare in their region." in told
    assert "Use fewer sites." in told
    assert "--" not in told
    answers = {button.text().replace("&", ""): button for button in question.buttons()}
    assert list(answers) == ["Change the export…", "Export all the same", "Cancel"]
    assert question.defaultButton() is answers["Change the export…"]
    assert question.escapeButton() is answers["Cancel"]
    answers["Change the export…"].click()
    again = next(one for one in small_regions.findChildren(ExportDialog) if one.isVisible())
    assert again.target.edit.text() == str(tmp_path / "out")
    assert again.form.editors["class_size"].value == "class_size"
    assert not again.refusal.isVisible()
    with qtbot.waitSignal(small_regions.worker.job_ended, timeout=LONG):
        again.export.click()
    question = next(box for box in small_regions.findChildren(QMessageBox) if box.isVisible())
    with qtbot.waitSignal(small_regions.worker.job_ended, timeout=LONG):
        next(
            each for each in question.buttons() if each.text().replace("&", "") == "Export all the same"
        ).click()
    small_regions.findChild(ReleaseDone).close()
    assert json.loads((tmp_path / "out" / "run.json").read_text())["release"]["exceed_loss"] is True


def test_cells_that_reveal_the_sites_are_written_only_after_a_question(small_regions, tmp_path, qtbot):
    def ask_for_cells():
        dialog = open_dialog(small_regions)
        dialog.target.edit.setText(str(tmp_path / "out"))
        choose(dialog.form.editors["shapes"], "cells")
        with qtbot.waitSignal(small_regions.worker.job_ended, timeout=LONG):
            dialog.export.click()
        assert not (tmp_path / "out").exists()
        question = next(box for box in small_regions.findChildren(QMessageBox) if box.isVisible())
        assert "placed by the records (“Balanced density”)" in question.informativeText()
        assert "--" not in question.informativeText()
        answers = {button.text().replace("&", ""): button for button in question.buttons()}
        assert list(answers) == ["Export the union instead", "Export the cells all the same", "Cancel"]
        assert question.defaultButton() is answers["Export the union instead"]
        return answers

    ask_for_cells()["Cancel"].click()
    answers = ask_for_cells()
    with qtbot.waitSignal(small_regions.worker.job_ended, timeout=LONG):
        answers["Export the cells all the same"].click()
    small_regions.findChild(ReleaseDone).close()
    release = json.loads((tmp_path / "out" / "run.json").read_text())["release"]
    assert (release["shapes"], release["confirm_sites"]) == ("cells", True)


def test_a_loss_that_the_field_allows_by_now_needs_no_question(loaded_window, tmp_path, qtbot):
    state = loaded_window.state
    chosen = state.choices.with_approach("site_number", "fixed").with_allowed_loss(0.1)
    state.change(chosen.with_parameter("site_number", "fixed", "sites", 25))
    with qtbot.waitSignal(loaded_window.worker.job_ended, timeout=LONG):
        loaded_window.run_commands.run()
    state.change(state.choices.with_allowed_loss(50.0))
    export(loaded_window, open_dialog(loaded_window), tmp_path / "out", qtbot).close()
    assert (tmp_path / "out" / "release" / "anonymized.csv").is_file()


def test_pairs_and_triples_are_tested_in_the_written_file_unless_the_box_is_cleared(
    small_regions, tmp_path, qtbot
):
    dialog = open_dialog(small_regions)
    assert dialog.form.editors["pair_tests"].isChecked()
    assert dialog.options().pair_tests is True
    dialog.form.editors["pair_tests"].click()
    assert dialog.options().pair_tests is False
    done = export(small_regions, dialog, tmp_path / "out", qtbot)
    done.close()
    document = json.loads((tmp_path / "out" / "run.json").read_text())
    assert document["last_look"]["pair_tests"] is False
    assert document["release"]["pair_tests"] is False
