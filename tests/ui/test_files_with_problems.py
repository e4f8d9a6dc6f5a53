"""Files that cannot be read, or not at once: what the window says, and how a person gets on."""

from __future__ import annotations

from persons import LONG, box, run_to_the_end, wait_for_estimate


def test_a_broken_file_is_told_in_words_and_the_window_goes_on(loaded_window, data, tmp_path, qtbot):
    broken = tmp_path / "broken.csv"
    broken.write_text("")
    with qtbot.waitSignal(loaded_window.runner.job_ended, timeout=LONG):
        loaded_window.controller.load(broken, data[1])
    message = box(loaded_window)
    assert message.text() == "Loading broken.csv did not succeed."
    assert "broken.csv" in message.informativeText()
    assert "Traceback" not in message.informativeText() + message.text()
    message.close()
    assert loaded_window.input.files.findings.count() >= 1
    assert loaded_window.session.records_path == data[0]
    run_to_the_end(loaded_window, qtbot)
    assert loaded_window.session.entries


def test_records_of_unknown_regions_stop_until_the_user_decides(window, data, qtbot):
    with data[0].open("a") as file:
        file.write("P999999,1,1,1,NOWHERE\n")
    with qtbot.waitSignals([window.runner.job_ended, window.input.estimator.refused], timeout=LONG):
        window.controller.load(*data)
    assert "region file lacks" in window.input.live.text()
    assert "NOWHERE" not in window.input.live.text()
    qtbot.waitUntil(lambda: not window.runner.busy)
    assert not window.input.run.isEnabled()
    assert window.input.run.toolTip() == window.input.live.text()
    combo = window.input.privacy.unknown

    def suppress():
        combo.setCurrentIndex(combo.findData("suppress"))
        combo.activated.emit(combo.currentIndex())

    wait_for_estimate(window, qtbot, suppress)
    assert "1 record of unknown regions suppressed." in window.input.more.text()
    assert window.input.run.isEnabled()


def test_reading_options_ask_for_reading_again(loaded_window, qtbot):
    options = loaded_window.input.files.options
    combo = options.combos["encoding"]
    combo.setCurrentIndex(combo.findData("latin-1"))
    combo.activated.emit(combo.currentIndex())
    assert options.again.isEnabled()
    with qtbot.waitSignal(loaded_window.runner.job_ended, timeout=LONG):
        options.again.click()
    assert loaded_window.input.files.records.facts.text().endswith("latin-1")
    assert not options.again.isEnabled()


def test_files_that_could_not_be_read_are_read_with_other_options(window, data, tmp_path, qtbot):
    odd = tmp_path / "odd.csv"
    odd.write_text(data[1].read_text().replace("id,x,y", "name of it,east,north"))
    with qtbot.waitSignal(window.runner.job_failed, timeout=LONG):
        window.controller.load(data[0], odd)
    box(window).close()
    options = window.input.files.options
    assert not window.input.files.unfold.isHidden()
    for name, text in (("id_column", "name of it"), ("x_column", "east"), ("y_column", "north")):
        options.edits[name].setText(text)
        options.edits[name].editingFinished.emit()
    with qtbot.waitSignal(window.runner.job_ended, timeout=LONG):
        options.again.click()
    assert window.session.regions_path == odd
    assert len(window.session.regions) == 60


def test_columns_that_cannot_be_guessed_lead_to_the_fields_that_name_them(window, tmp_path, qtbot):
    records, regions = tmp_path / "a.csv", tmp_path / "places.csv"
    records.write_text("sex,town\nm,a\nf,b\n")
    regions.write_text("town no,east,north\na,1,2\nb,3,4\n")
    window.controller.load(records, regions)
    qtbot.waitUntil(lambda: window.input.files.findings.count() == 3)
    files = window.input.files
    assert files.findings.item(0).text() == (
        "places.csv, row 1: No column is named like a region id. Name it with “Region id column”. "
        "The columns are “town no”, “east”, “north”. It is in Reading options."
    )
    assert files.options.isVisibleTo(window.input)
    for name, column in (("id_column", "town no"), ("x_column", "east"), ("y_column", "north")):
        files.options.edits[name].setText(column)
        files.options.edits[name].editingFinished.emit()
    files.options.again.click()
    qtbot.waitUntil(lambda: window.session.has_data)
    assert window.session.regions.ids == ("a", "b")


def test_commas_that_may_be_thousands_lead_to_the_field_that_tells(window, tmp_path, qtbot):
    records, regions = tmp_path / "a.csv", tmp_path / "places.csv"
    records.write_text("sex,town\nm,a\nf,b\n")
    regions.write_text("id;x;y\na;1,500;2\nb;3,250;4\n")
    window.controller.load(records, regions)
    files = window.input.files
    qtbot.waitUntil(lambda: files.findings.count() == 1)
    assert "choose “Decimal sign of the regions: comma” if it parts decimals" in files.findings.item(0).text()
    combo = files.options.combos["regions_decimal"]
    combo.setCurrentIndex(combo.findText("Comma"))
    combo.activated.emit(combo.currentIndex())
    files.options.again.click()
    qtbot.waitUntil(lambda: window.session.has_data)
    assert window.session.regions.points.tolist() == [[1.5, 2.0], [3.25, 4.0]]


def test_after_a_failed_load_its_problems_are_not_taken_for_those_of_the_loaded_files(loaded_window, tmp_path, qtbot):
    bad = tmp_path / "bad.csv"
    bad.write_text("tract,age\n")
    files = loaded_window.input.files
    before = [files.findings.item(row).text() for row in range(files.findings.count())]
    with qtbot.waitSignal(loaded_window.runner.job_failed, timeout=LONG):
        loaded_window.controller.load(bad, loaded_window.session.regions_path)
    box(loaded_window).close()
    assert files.records.name.text() == "records.csv"
    assert files.findings_of.isVisibleTo(loaded_window.input)
    assert files.findings_of.text() == "Loading bad.csv did not succeed. records.csv is still loaded."
    assert "bad.csv" in files.findings.item(0).text()
    run_to_the_end(loaded_window, qtbot)
    assert files.findings_of.isHidden()
    assert [files.findings.item(row).text() for row in range(files.findings.count())] == before


def test_a_failed_file_of_the_same_name_is_told_from_the_loaded_one(loaded_window, data, tmp_path, qtbot):
    bad = tmp_path / "elsewhere" / "records.csv"
    bad.parent.mkdir()
    bad.write_text("a,b\n1\n")
    with qtbot.waitSignal(loaded_window.runner.job_ended, timeout=LONG):
        loaded_window.controller.load(bad, data[1])
    box(loaded_window).close()
    told = loaded_window.input.files.findings_of.text()
    assert told == "Loading records.csv did not succeed. data/records.csv is still loaded."


def test_a_file_with_a_problem_in_every_column_is_refused_in_a_few_words(window, data, tmp_path, qtbot):
    wide = tmp_path / "wide.csv"
    wide.write_text("," * 3000 + "\n" + "," * 3000 + "\n")
    with qtbot.waitSignal(window.runner.job_failed, timeout=LONG):
        window.controller.load(wide, data[1])
    shown = box(window)
    assert len(shown.informativeText().splitlines()) == 13
    assert "more of this kind." in shown.informativeText()
    shown.close()
    findings = window.input.files.findings
    assert findings.count() == 201
    assert findings.item(200).text().startswith("… and 2,8")
