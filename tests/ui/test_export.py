"""Export: says what will be released, writes it verified, and leaves a folder that the command line understands."""

from __future__ import annotations

import csv
import json
from datetime import date

import pytest
from PySide6.QtCore import QPoint, QRect, Qt
from PySide6.QtWidgets import QApplication, QLabel, QMessageBox

from vbas_desktop.algorithms.matching import changed_owner
from vbas_desktop.cli.main import main
from vbas_desktop.model.records import Role
from vbas_desktop.release.ledger import read_ledger
from vbas_desktop.ui.dialogs.export import ExportDialog, ledger_of
from vbas_desktop.ui.dialogs.handing_over import ExtractDialog, RecordDialog, ReleaseDone
from vbas_desktop.ui.pages import PAGES

LONG = 120_000


@pytest.fixture
def small_regions(loaded_window, qtbot):
    """A window with a run whose regions are so small that records are lost."""
    chosen = loaded_window.session.choices.with_approach("site_number", "fixed")
    loaded_window.session.change(chosen.with_parameter("site_number", "fixed", "sites", 25))
    with qtbot.waitSignal(loaded_window.runner.job_ended, timeout=LONG):
        loaded_window.controller.run()
    return loaded_window


def open_dialog(window) -> ExportDialog:
    window.menus.actions["export"].trigger()
    return window.findChild(ExportDialog)


def export(window, dialog, target, qtbot) -> ReleaseDone:
    dialog.target.setText(str(target))
    with qtbot.waitSignal(window.runner.job_ended, timeout=LONG):
        dialog.export.click()
    return window.findChild(ReleaseDone)


def test_export_waits_for_a_solution(loaded_window):
    action = loaded_window.menus.actions["export"]
    assert not action.isEnabled()
    assert "Run a combination" in action.toolTip()


def test_it_says_what_will_be_released_and_what_is_lost(small_regions):
    dialog = open_dialog(small_regions)
    entry = small_regions.session.selected
    lost = entry.solution.measures["suppressed_records"]
    assert lost > 0
    assert dialog.summary.text() == (
        f"{3000 - lost:,} of 3,000 records ({100 * (3000 - lost) / 3000:.1f} %) will be released in "
        f"{entry.solution.aggregated_regions} aggregated regions, every combination at least 5 times. "
        f"{lost:,} records suppressed: {lost:,} too rare in their region."
    )
    dialog.reject()


def test_it_says_which_plain_columns_leave_unprotected(small_regions):
    session = small_regions.session
    session.change(session.choices.with_role("illness", Role.PLAIN))
    dialog = open_dialog(small_regions)
    assert dialog.unprotected.text().startswith("Released unchanged and unprotected: “illness”. ")
    row = next(row for row in range(5) if dialog.columns.item(row, 0).text() == "illness")
    dialog.columns.item(row, 0).setCheckState(Qt.CheckState.Unchecked)
    assert dialog.unprotected.isHidden()
    dialog.reject()
    session.change(session.choices.with_role("illness", Role.SENSITIVE))
    dialog = small_regions.menus.actions["export"].trigger() or small_regions.findChildren(ExportDialog)[-1]
    assert dialog.unprotected.isHidden()
    dialog.reject()


def test_it_says_what_regions_around_small_classes_reveal(loaded_window, qtbot):
    session = loaded_window.session
    chosen = session.choices.with_approach("site_number", "fixed").with_approach("site_location", "anonymity")
    session.change(chosen.with_parameter("site_number", "fixed", "sites", 25))
    with qtbot.waitSignal(loaded_window.runner.job_ended, timeout=LONG):
        loaded_window.controller.run()
    dialog = open_dialog(loaded_window)
    assert "45 % of the guesses at it are right where chance would be 8 %." in dialog.summary.text()
    dialog.reject()


def test_the_release_is_written_verified_and_understood_by_the_command_line(small_regions, tmp_path, qtbot, capsys):
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
    lost = small_regions.session.selected.solution.measures["suppressed_records"]
    assert len(rows) == 3000 - lost
    assert list(rows[0]) == ["age", "sex", "illness", "tract"]
    released = str(target / "release" / "anonymized.csv")
    assert main(["verify", released, "--quasi-identifiers", "age,sex", "--region-column", "tract", "-k", "5"]) == 0
    assert main(["export", str(target), "--out", str(tmp_path / "again"), "--quiet"]) == 0
    again = tmp_path / "again" / "release" / "anonymized.csv"
    assert again.read_bytes() == (target / "release" / "anonymized.csv").read_bytes()


def test_columns_can_be_left_out_and_renamed_but_not_the_region(small_regions, tmp_path, qtbot):
    dialog = open_dialog(small_regions)
    table = dialog.columns
    names = [table.item(row, 0).text() for row in range(table.rowCount())]
    assert not table.item(names.index("person"), 0).flags() & Qt.ItemFlag.ItemIsEnabled
    table.item(names.index("tract"), 0).setCheckState(Qt.CheckState.Unchecked)
    assert not dialog.export.isEnabled()
    assert "has to be released" in dialog.problem.text()
    table.item(names.index("tract"), 0).setCheckState(Qt.CheckState.Checked)
    table.item(names.index("illness"), 0).setCheckState(Qt.CheckState.Unchecked)
    table.item(names.index("tract"), 2).setText("area")
    dialog.delimiter.setCurrentIndex(dialog.delimiter.findData(";"))
    dialog.class_size.setChecked(True)
    export(small_regions, dialog, tmp_path / "out", qtbot).close()
    head = (tmp_path / "out" / "release" / "anonymized.csv").read_text().splitlines()[0]
    assert head == "age;sex;area;class_size"
    document = json.loads((tmp_path / "out" / "run.json").read_text())
    assert document["options"]["rename"] == ["tract=area"]


def test_records_get_a_key_of_the_chosen_name(small_regions, tmp_path, qtbot):
    dialog = open_dialog(small_regions)
    fields = dialog.fields
    assert not fields.key_name.isEnabled()
    fields.has_key.setChecked(True)
    fields.key_name.setText("sex")
    assert "same name" in dialog.problem.text()
    fields.key_name.setText("")
    assert "has no name" in dialog.problem.text()
    fields.key_name.setText("pseudonym")
    export(small_regions, dialog, tmp_path / "out", qtbot).close()
    head, *rows = (tmp_path / "out" / "release" / "anonymized.csv").read_text().splitlines()
    assert head.endswith(",pseudonym")
    index = (tmp_path / "out" / "internal" / "record_index.csv").read_text().splitlines()
    assert len(index) == len(rows) + 1
    assert {row.rpartition(",")[2] for row in rows} == {line.partition(",")[0] for line in index[1:]}


def test_words_on_columns_go_to_the_recipient(small_regions, tmp_path, qtbot):
    dialog = open_dialog(small_regions)
    edits = dialog.words.edits
    edits["aims"].setText("age")
    assert "“age” is not understood" in dialog.problem.text()
    edits["aims"].setText("nobody=x")
    assert "no such column" in dialog.problem.text()
    edits["aims"].setText('"age=risk factor, among others"')
    edits["reasons"].setText("person=identifies")
    edits["meanings"].setText("age=completed years")
    order = dialog.options()
    dialog.words.take_up(order)
    assert dialog.options() == order
    export(small_regions, dialog, tmp_path / "out", qtbot).close()
    vector = json.loads((tmp_path / "out" / "release" / "representability.json").read_text())
    rows = {row["name"]: row for row in vector["attributes"]}
    assert rows["age"]["aim"] == "risk factor, among others"
    assert rows["person"]["reason"] == "identifies"
    assert vector["coding"]["age"]["description"] == "completed years"


def test_sensitive_values_are_aggregated_in_small_or_all_classes(small_regions, tmp_path, qtbot):
    dialog = open_dialog(small_regions)
    fields = dialog.fields
    assert not fields.classes.isEnabled()
    fields.aggregate.setText("ilness")
    assert "has to be released" in dialog.problem.text()
    fields.aggregate.setText("illness")
    assert dialog.options().aggregate_classes == "below:10"
    fields.classes.setCurrentIndex(1)
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
    dialog.columns.item(1, 2).setText("sex")
    assert not dialog.export.isEnabled()
    assert "same name" in dialog.problem.text()
    dialog.reject()


def test_a_folder_with_other_things_in_it_is_left_alone(small_regions, tmp_path, qtbot):
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "thesis.txt").write_text("mine")
    dialog = open_dialog(small_regions)
    dialog.target.setText(str(tmp_path / "full"))
    with qtbot.waitSignal(small_regions.runner.job_failed, timeout=LONG) as failed:
        dialog.export.click()
    assert "not an earlier result" in failed.args[0].message
    assert (tmp_path / "full" / "thesis.txt").read_text() == "mine"


def test_outdated_results_cannot_be_exported(small_regions, data, qtbot):
    data[0].write_text("\n".join(data[0].read_text().splitlines()[:-1]) + "\n")
    with qtbot.waitSignal(small_regions.runner.job_ended, timeout=LONG):
        small_regions.controller.reload()
    assert not small_regions.menus.actions["export"].isEnabled()
    assert "Run again" in small_regions.menus.actions["export"].toolTip()


def tell_the_tract(window, data, qtbot):
    """Let the illness of each record name its tract, and run."""
    rows = [line.split(",") for line in data[0].read_text().splitlines()]
    place, illness = rows[0].index("tract"), rows[0].index("illness")
    told = [[*row[:illness], f"of {row[place]}", *row[illness + 1 :]] for row in rows[1:]]
    data[0].write_text("\n".join(",".join(row) for row in [rows[0], *told]) + "\n")
    for start in (window.controller.reload, window.controller.run):
        with qtbot.waitSignal(window.runner.job_ended, timeout=LONG):
            start()


def test_a_column_that_tells_the_place_stops_the_export_until_it_is_allowed(small_regions, data, tmp_path, qtbot):
    tell_the_tract(small_regions, data, qtbot)
    dialog = open_dialog(small_regions)
    dialog.target.setText(str(tmp_path / "out"))
    dialog.seed.setText("c0ffee")
    dialog.class_size.setChecked(True)
    dialog.fields.has_key.setChecked(True)
    dialog.fields.key_name.setText("pseudonym")
    with qtbot.waitSignal(small_regions.runner.job_ended, timeout=LONG):
        dialog.export.click()
    assert not (tmp_path / "out").exists()
    again = next(one for one in small_regions.findChildren(ExportDialog) if one.isVisible())
    assert "“illness”: It reveals the place in more detail" in again.telltales.text()
    assert (again.target.text(), again.seed.text()) == (str(tmp_path / "out"), "c0ffee")
    assert again.class_size.isChecked()
    assert again.fields.values()["record_key"] == "pseudonym"
    names = [again.columns.item(row, 0).text() for row in range(again.columns.rowCount())]
    again.columns.item(names.index("illness"), 3).setCheckState(Qt.CheckState.Checked)
    done = export(small_regions, again, tmp_path / "out", qtbot)
    done.close()
    document = json.loads((tmp_path / "out" / "run.json").read_text())
    assert document["release"]["allow_columns"] == document["options"]["allow_column"] == ["illness"]
    assert document["release"]["shuffle_seed"] == "c0ffee"
    report = (tmp_path / "out" / "internal" / "report.html").read_text(encoding="utf-8")
    assert "It reveals the place in more detail" in report


def test_what_is_tested_can_be_allowed_and_nothing_else(small_regions):
    dialog = open_dialog(small_regions)
    table = dialog.columns
    ticks = {
        table.item(row, 0).text(): bool(table.item(row, 3).flags() & Qt.ItemFlag.ItemIsUserCheckable)
        for row in range(table.rowCount())
    }
    assert ticks == {"person": False, "age": False, "sex": False, "illness": True, "tract": False}
    assert "even if it says more" in table.horizontalHeaderItem(3).toolTip()
    dialog.reject()


def test_a_seed_that_is_none_is_said_in_the_dialog(small_regions):
    dialog = open_dialog(small_regions)
    dialog.seed.setText("not hexadecimal")
    assert not dialog.export.isEnabled()
    assert "hexadecimal digits" in dialog.problem.text()
    dialog.shuffle.setChecked(False)
    assert not dialog.seed.isEnabled()
    assert dialog.export.isEnabled()
    dialog.reject()


def test_k_above_the_number_of_records_is_said_at_its_field(loaded_window):
    section = loaded_window.input.privacy
    section.k.setValue(3000)
    assert section.k_field.message.text() == ""
    section.k.setValue(3001)
    assert section.k_field.message.text().startswith("k is above the number of records (3,000)")
    assert not loaded_window.input.run.isEnabled()
    section.k.setValue(5)
    assert section.k_field.message.text() == ""
    assert loaded_window.input.run.isEnabled()


def test_a_solution_that_releases_nothing_cannot_be_exported(loaded_window, qtbot):
    loaded_window.session.change_fields(k=2500)
    with qtbot.waitSignal(loaded_window.runner.job_ended, timeout=LONG):
        loaded_window.controller.run()
    assert not loaded_window.menus.actions["export"].isEnabled()
    assert "releases no record" in loaded_window.menus.actions["export"].toolTip()


def test_a_release_is_recorded_and_another_one_beside_it_needs_a_reason(small_regions, tmp_path, qtbot):
    window = small_regions
    handed = window.session.selected.solution
    dialog = open_dialog(window)
    assert not dialog.reason.isVisible()
    dialog.audience.setText("Uni")
    done = export(window, dialog, tmp_path / "first", qtbot)
    done.record.click()
    asked = window.findChild(RecordDialog)
    assert asked.audience.text() == "Uni"
    asked.audience.setText(" ")
    assert not asked.record.isEnabled()
    asked.audience.setText("Uni")
    with qtbot.waitSignal(window.runner.job_ended, timeout=LONG):
        asked.record.click()
    done.close()
    ledger = ledger_of(window.session)
    assert [entry.audience for entry in read_ledger(ledger)] == ["Uni"]
    others = [each for each in window.session.entries if each != window.session.selected]
    window.session.select(others[0].number)
    page = opened(window, "Releases", qtbot)
    assert page.model.rowCount() == 1
    with qtbot.waitSignal(window.runner.job_ended, timeout=LONG):
        page.check.click()
    assert "could single out" in page.said.text()
    assert page.model.text(0, 8).endswith(" people")
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
    moved = int(changed_owner(handed.membership, others[0].solution.membership, records).sum())
    assert f"; {moved:,} initial region" in maps.now_title.text()
    maps.earlier.canvas.zoom_to(0)
    left, right = (each.canvas.view_rect.center() for each in (maps.earlier, maps.now))
    assert (right.x(), right.y()) == pytest.approx((left.x(), left.y()))
    window.session.select(next(each.number for each in window.session.entries if each.solution is handed))
    qtbot.waitUntil(lambda: "the same regions" in maps.now_title.text(), timeout=LONG)
    with qtbot.waitSignal(window.runner.job_ended, timeout=LONG):
        page.check.click()
    assert page.said.text() == "Nobody would be singled out beside what this audience has."
    assert "Nobody is singled out by having release 1" in page.beside.text()
    window.session.select(others[0].number)
    dialog = open_dialog(window)
    dialog.audience.setText("Uni")
    dialog.target.setText(str(tmp_path / "second"))
    with qtbot.waitSignal(window.runner.job_ended, timeout=LONG):
        dialog.export.click()
    assert not (tmp_path / "second").exists()
    stopped = [each for each in window.findChildren(ExportDialog) if each.isVisible()][-1]
    assert stopped.reason.isVisible()
    assert "could single out" in stopped.telltales.text()
    stopped.reason.setText("the first was destroyed")
    with qtbot.waitSignal(window.runner.job_ended, timeout=LONG):
        stopped.export.click()
    kept = json.loads((tmp_path / "second" / "run.json").read_text())["ledger_check"]
    assert kept["override"] == "the first was destroyed"
    page.table.selectRow(0)
    with qtbot.waitSignal(window.runner.job_ended, timeout=LONG):
        page.remove.click()
    assert page.model.rowCount() == 0
    assert len(read_ledger(ledger)) == 0


def opened(window, title, qtbot):
    """A page, after it read what it shows."""
    page = next(page for page in PAGES if page.title == title)
    with qtbot.waitSignal(window.runner.job_ended, timeout=LONG):
        return window.area.show_page(page)


def after_handing_over(window, tmp_path, qtbot):
    """The dialog for another solution, the shown one having been exported to “first” and recorded as handed over."""
    dialog = open_dialog(window)
    dialog.audience.setText("Uni")
    done = export(window, dialog, tmp_path / "first", qtbot)
    done.record.click()
    with qtbot.waitSignal(window.runner.job_ended, timeout=LONG):
        window.findChild(RecordDialog).record.click()
    done.close()
    others = [each for each in window.session.entries if each != window.session.selected]
    window.session.select(others[0].number)
    return open_dialog(window)


def test_the_regions_that_were_handed_over_are_used_again_or_joined_by_a_click(small_regions, tmp_path, qtbot):
    window = small_regions
    first = window.session.selected.solution
    dialog = after_handing_over(window, tmp_path, qtbot)
    assert not dialog.reuse.isVisible()
    dialog.target.setText(str(tmp_path / "second"))
    with qtbot.waitSignal(window.runner.job_ended, timeout=LONG):
        dialog.export.click()
    stopped = [each for each in window.findChildren(ExportDialog) if each.isVisible()][-1]
    assert stopped.reuse.isVisible()
    assert stopped.join.isVisible()
    assert stopped.extract.isVisible()
    before = len(window.session.entries)
    stopped.reuse.click()
    qtbot.waitUntil(lambda: len(window.session.entries) > before and not window.runner.busy, timeout=LONG)
    again = window.session.entries[-1]
    assert again.solution.approaches["construction"] == "coarsen"
    pairs = set(zip(first.membership.tolist(), again.solution.membership.tolist(), strict=True))
    assert len(pairs) == first.aggregated_regions == again.solution.aggregated_regions
    window.session.select(again.number)
    export(window, open_dialog(window), tmp_path / "second", qtbot)
    assert json.loads((tmp_path / "second" / "run.json").read_text())["ledger_check"]["safe"]
    page = opened(window, "Releases", qtbot)
    assert [index.row() for index in page.table.selectionModel().selectedRows()] == [0], "the newest is chosen"
    assert page.reuse.isEnabled()
    window.session.modified = False
    page.join.click()
    qtbot.waitUntil(
        lambda: window.session.records_path == tmp_path / "first" / "release" / "anonymized.csv", timeout=LONG
    )
    assert len(window.session.regions) == first.aggregated_regions
    # The ledger is still the one of the records that the release was made from.
    assert opened(window, "Releases", qtbot).model.rowCount() == 1


def test_only_columns_of_what_was_handed_over_are_written_by_a_click(small_regions, tmp_path, qtbot):
    window = small_regions
    dialog = after_handing_over(window, tmp_path, qtbot)
    dialog.target.setText(str(tmp_path / "second"))
    with qtbot.waitSignal(window.runner.job_ended, timeout=LONG):
        dialog.export.click()
    stopped = [each for each in window.findChildren(ExportDialog) if each.isVisible()][-1]
    kept = list(stopped.columns.kept)
    dropped = next(name for name in kept if name not in (window.session.choices.region_column,))
    stopped.columns.take_up([name for name in kept if name != dropped], {}, ())
    stopped.target.setText(str(tmp_path / "extract"))
    with qtbot.waitSignal(window.runner.job_ended, timeout=LONG):
        stopped.extract.click()
    head = (tmp_path / "extract" / "release" / "anonymized.csv").read_text().splitlines()[0].split(",")
    assert set(head) == set(kept) - {dropped}
    document = json.loads((tmp_path / "extract" / "run.json").read_text())
    assert document["ledger_check"]["safe"]
    first, extract = ((tmp_path / name / "release" / "crosswalk.csv").read_text() for name in ("first", "extract"))
    assert first == extract
    # The page Releases does the same for the chosen release.
    page = opened(window, "Releases", qtbot)
    page.extract.click()
    dialog = window.findChild(ExtractDialog)
    region = window.session.choices.region_column
    assert (dialog.audience.text(), dialog.target.text()) == (
        "Uni",
        f"{tmp_path / 'first'}-columns-{date.today().isoformat()}",
    )
    assert dialog.kept == kept
    assert not dialog.export.isEnabled(), "with all columns it would be the same release"
    items = {item.text(): item for item in map(dialog.columns.item, range(dialog.columns.count()))}
    assert not items[region].flags() & Qt.ItemFlag.ItemIsEnabled
    items[dropped].setCheckState(Qt.CheckState.Unchecked)
    dialog.target.setText(" ")
    assert not dialog.export.isEnabled()
    dialog.target.setText(str(tmp_path / "again"))
    with qtbot.waitSignal(window.runner.job_ended, timeout=LONG):
        dialog.export.click()
    head = (tmp_path / "again" / "release" / "anonymized.csv").read_text().splitlines()[0].split(",")
    assert set(head) == set(kept) - {dropped}
    again = json.loads((tmp_path / "again" / "run.json").read_text())["ledger_check"]
    assert (again["audience"], again["safe"]) == ("Uni", True)
    assert (tmp_path / "again" / "release" / "crosswalk.csv").read_text() == first


def test_no_text_of_the_dialog_lies_over_another(aggregated_window):
    aggregated_window.exporting.export()
    dialog = aggregated_window.findChild(ExportDialog)
    dialog.unprotected.setText("Released unchanged and unprotected. " * 12)
    dialog.unprotected.show()
    dialog._grow()
    QApplication.processEvents()
    assert dialog.unprotected.height() >= dialog.unprotected.heightForWidth(dialog.unprotected.width())
    assert dialog.unprotected.geometry().top() > dialog.columns.geometry().bottom()
    dialog.reject()


@pytest.mark.parametrize("stopped", [False, True])
def test_on_a_small_screen_the_dialog_fits_and_all_of_it_is_reached(stopped, aggregated_window, monkeypatch, qtbot):
    monkeypatch.setattr(ExportDialog, "highest", lambda dialog: 640)
    aggregated_window.exporting.export()
    dialog = aggregated_window.findChild(ExportDialog)
    if stopped:
        dialog._told.show()
        dialog.telltales.setText("\n".join(f"Column {number} tells too much." for number in range(40)))
        dialog._grow()
    QApplication.processEvents()
    assert dialog.height() <= 640
    assert dialog.y() + dialog.height() <= 640, "the buttons are at the bottom"
    assert dialog.minimumSizeHint().height() <= 640
    bar = dialog._scroll.verticalScrollBar()
    for widget in (dialog.solution, dialog.columns, dialog.seed, dialog.pdf, dialog.audience):
        dialog._scroll.ensureWidgetVisible(widget)
        assert widget.visibleRegion().boundingRect().height() > 0
    assert bar.maximum() > 0
    for widget in (dialog.target, dialog.export):
        assert dialog.rect().contains(QRect(widget.mapTo(dialog, QPoint(0, 0)), widget.size()))
    dialog.close()


def test_a_release_beyond_the_allowed_loss_is_written_only_after_a_question(small_regions, tmp_path, qtbot):
    session = small_regions.session
    # The field is changed after the run, and counts all the same.
    session.change(session.choices.with_allowed_loss(0.1))
    dialog = open_dialog(small_regions)
    dialog.target.setText(str(tmp_path / "out"))
    dialog.class_size.setChecked(True)
    with qtbot.waitSignal(small_regions.runner.job_ended, timeout=LONG):
        dialog.export.click()
    assert not (tmp_path / "out").exists()
    question = small_regions.findChild(QMessageBox)
    lost = session.selected.solution.measures["suppressed_records"]
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
    assert again.target.text() == str(tmp_path / "out")
    assert again.class_size.isChecked()
    assert not again.telltales.isVisible()
    with qtbot.waitSignal(small_regions.runner.job_ended, timeout=LONG):
        again.export.click()
    question = next(box for box in small_regions.findChildren(QMessageBox) if box.isVisible())
    with qtbot.waitSignal(small_regions.runner.job_ended, timeout=LONG):
        next(each for each in question.buttons() if each.text().replace("&", "") == "Export all the same").click()
    small_regions.findChild(ReleaseDone).close()
    assert json.loads((tmp_path / "out" / "run.json").read_text())["release"]["exceed_loss"] is True


def test_cells_that_reveal_the_sites_are_written_only_after_a_question(small_regions, tmp_path, qtbot):
    def ask_for_cells():
        dialog = open_dialog(small_regions)
        dialog.target.setText(str(tmp_path / "out"))
        dialog.shapes.setCurrentIndex(dialog.shapes.findData("cells"))
        with qtbot.waitSignal(small_regions.runner.job_ended, timeout=LONG):
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
    with qtbot.waitSignal(small_regions.runner.job_ended, timeout=LONG):
        answers["Export the cells all the same"].click()
    small_regions.findChild(ReleaseDone).close()
    release = json.loads((tmp_path / "out" / "run.json").read_text())["release"]
    assert (release["shapes"], release["confirm_sites"]) == ("cells", True)


def test_a_loss_that_the_field_allows_by_now_needs_no_question(loaded_window, tmp_path, qtbot):
    session = loaded_window.session
    chosen = session.choices.with_approach("site_number", "fixed").with_allowed_loss(0.1)
    session.change(chosen.with_parameter("site_number", "fixed", "sites", 25))
    with qtbot.waitSignal(loaded_window.runner.job_ended, timeout=LONG):
        loaded_window.controller.run()
    session.change(session.choices.with_allowed_loss(50.0))
    export(loaded_window, open_dialog(loaded_window), tmp_path / "out", qtbot).close()
    assert (tmp_path / "out" / "release" / "anonymized.csv").is_file()


def test_pairs_and_triples_are_tested_in_the_written_file_unless_the_box_is_cleared(small_regions, tmp_path, qtbot):
    dialog = open_dialog(small_regions)
    assert dialog.pair_tests.isChecked()
    assert dialog.options().pair_tests is True
    dialog.pair_tests.setChecked(False)
    assert dialog.options().pair_tests is False
    done = export(small_regions, dialog, tmp_path / "out", qtbot)
    done.close()
    document = json.loads((tmp_path / "out" / "run.json").read_text())
    assert document["last_look"]["pair_tests"] is False
    assert document["release"]["pair_tests"] is False
