"""Files that cannot be read, or not at once: what the window says, and how a person gets on."""

from __future__ import annotations

from made_up_data import write_data
from persons import LONG, box, choose_from, run_to_the_end, wait_for_estimate
from PySide6.QtWidgets import QApplication

from vbas_desktop.model.findings import Finding
from vbas_desktop.ui.state.choices import Choices


def test_a_broken_file_is_told_in_words_and_the_window_goes_on(loaded_window, data, tmp_path, qtbot):
    broken = tmp_path / "broken.csv"
    broken.write_text("")
    with qtbot.waitSignal(loaded_window.worker.job_ended, timeout=LONG):
        loaded_window.data_commands.load(broken, data[1])
    message = box(loaded_window)
    assert message.text() == "Loading broken.csv failed."
    assert "broken.csv" in message.informativeText()
    assert "Traceback" not in message.informativeText() + message.text()
    message.close()
    assert loaded_window.input.files.findings.count() >= 1
    assert loaded_window.state.records_path == data[0]
    run_to_the_end(loaded_window, qtbot)
    assert loaded_window.state.entries


def test_records_of_unknown_regions_stop_until_the_user_decides(window, data, qtbot):
    with data[0].open("a") as file:
        file.write("P999999,1,1,1,NOWHERE\n")
    window.data_commands.load(*data)
    reason, run = window.input.reason, window.menus.actions["run"]
    qtbot.waitUntil(lambda: "region file lacks" in reason.text(), timeout=LONG)
    assert "first in row 3,002. Ids of the region file look like “R0000” and “R0059”." in reason.text()
    assert "NOWHERE" not in reason.text()
    qtbot.waitUntil(lambda: not window.worker.busy)
    assert not window.input.run.isEnabled()
    assert not run.isEnabled()
    assert run.statusTip() == window.input.run.toolTip().replace("\n", " ") == reason.text()
    assert window.input.live.isHidden()
    combo = window.input.approaches.suppression.editors["unknown_regions"]

    def suppress():
        combo.setCurrentIndex(combo.findData("suppress"))
        combo.activated.emit(combo.currentIndex())

    wait_for_estimate(window, qtbot, suppress)
    assert reason.isHidden()
    assert run.isEnabled()
    assert "1 record of unknown regions suppressed." in window.input.more.text()
    assert window.input.run.isEnabled()


def test_reading_options_ask_for_reading_again(loaded_window, qtbot):
    options = loaded_window.input.files.options
    combo = options.form.editors["encoding"]
    combo.setCurrentIndex(combo.findData("latin-1"))
    combo.activated.emit(combo.currentIndex())
    assert options.again.isEnabled()
    with qtbot.waitSignal(loaded_window.worker.job_ended, timeout=LONG):
        options.again.click()
    assert loaded_window.input.files.records.facts.text().endswith("latin-1")
    assert not options.again.isEnabled()


def test_files_that_could_not_be_read_are_read_with_other_options(window, data, tmp_path, qtbot):
    odd = tmp_path / "odd.csv"
    odd.write_text(data[1].read_text().replace("id,x,y", "name of it,east,north"))
    with qtbot.waitSignal(window.worker.job_failed, timeout=LONG):
        window.data_commands.load(data[0], odd)
    box(window).close()
    options = window.input.files.options
    assert not window.input.files.unfold.isHidden()
    for name, text in (("id_column", "name of it"), ("x_column", "east"), ("y_column", "north")):
        choose_from(options.form.editors[name], text, qtbot)
    with qtbot.waitSignal(window.worker.job_ended, timeout=LONG):
        options.again.click()
    assert window.state.regions_path == odd
    assert len(window.state.regions) == 60


def test_columns_of_the_region_file_are_listed_as_it_is_read(loaded_window, qtbot):
    options = loaded_window.input.files.options
    assert options.form.editors["id_column"].count() == 1, "nobody asked yet"
    loaded_window.input.files.unfold.click()
    listed = options.form.editors["x_column"]
    qtbot.waitUntil(lambda: listed.count() > 1)
    assert [listed.itemText(row) for row in range(listed.count())] == ["Automatic", "id", "x", "y"]
    assert not options.form.editors["layer"].isEnabled(), "a table has none"
    choose_from(listed, "y", qtbot)
    choose_from(options.form.editors["regions_delimiter"], "Semicolon", qtbot)
    qtbot.waitUntil(lambda: listed.count() == 3)
    assert [listed.itemText(row) for row in range(3)] == ["Automatic", "id,x,y", "y (not in the file)"]
    assert loaded_window.state.choices.x_column == "y", (
        "what is chosen is told as missing, not forgotten"
    )
    names = ("id_column", "x_column", "y_column", "layer")
    assert all(not options.form.editors[name].isEditable() for name in names)


def test_columns_that_cannot_be_guessed_lead_to_the_fields_that_name_them(window, tmp_path, qtbot):
    records, regions = tmp_path / "a.csv", tmp_path / "places.csv"
    records.write_text("sex,town\nm,a\nf,b\n")
    regions.write_text("town no,east,north\na,1,2\nb,3,4\n")
    window.data_commands.load(records, regions)
    qtbot.waitUntil(lambda: window.input.files.findings.count() == 3)
    files = window.input.files
    assert files.findings.item(0).text() == (
        "places.csv, row 1: No column is named like a region id. Name it with “Region id column”. "
        "The columns are “town no”, “east”, “north”. It is in Reading options."
    )
    assert files.options.isVisibleTo(window.input)
    for name, column in (("id_column", "town no"), ("x_column", "east"), ("y_column", "north")):
        choose_from(files.options.form.editors[name], column, qtbot)
    files.options.again.click()
    qtbot.waitUntil(lambda: window.state.has_data)
    assert window.state.regions.ids == ("a", "b")


def test_commas_that_may_be_thousands_lead_to_the_field_that_tells(window, tmp_path, qtbot):
    records, regions = tmp_path / "a.csv", tmp_path / "places.csv"
    records.write_text("sex,town\nm,a\nf,b\n")
    regions.write_text("id;x;y\na;1,500;2\nb;3,250;4\n")
    window.data_commands.load(records, regions)
    files = window.input.files
    qtbot.waitUntil(lambda: files.findings.count() == 1)
    assert (
        "choose “Decimal sign of the regions: comma” if it parts decimals"
        in files.findings.item(0).text()
    )
    combo = files.options.form.editors["regions_decimal"]
    combo.setCurrentIndex(combo.findText("Comma"))
    combo.activated.emit(combo.currentIndex())
    files.options.again.click()
    qtbot.waitUntil(lambda: window.state.has_data)
    assert window.state.regions.points.tolist() == [[1.5, 2.0], [3.25, 4.0]]


def test_after_a_failed_load_its_problems_are_not_taken_for_those_of_the_loaded_files(
    loaded_window, tmp_path, qtbot
):
    bad = tmp_path / "bad.csv"
    bad.write_text("tract,age\n")
    files = loaded_window.input.files
    before = [files.findings.item(row).text() for row in range(files.findings.count())]
    with qtbot.waitSignal(loaded_window.worker.job_failed, timeout=LONG):
        loaded_window.data_commands.load(bad, loaded_window.state.regions_path)
    box(loaded_window).close()
    assert files.records.name.text() == "records.csv"
    assert files.findings_of.isVisibleTo(loaded_window.input)
    assert files.findings_of.text() == "Loading bad.csv failed. records.csv is still loaded."
    assert "bad.csv" in files.findings.item(0).text()
    run_to_the_end(loaded_window, qtbot)
    assert files.findings_of.isHidden()
    assert [files.findings.item(row).text() for row in range(files.findings.count())] == before


def test_a_failed_file_of_the_same_name_is_told_from_the_loaded_one(
    loaded_window, data, tmp_path, qtbot
):
    bad = tmp_path / "elsewhere" / "records.csv"
    bad.parent.mkdir()
    bad.write_text("a,b\n1\n")
    with qtbot.waitSignal(loaded_window.worker.job_ended, timeout=LONG):
        loaded_window.data_commands.load(bad, data[1])
    box(loaded_window).close()
    told = loaded_window.input.files.findings_of.text()
    assert told == "Loading records.csv failed. data/records.csv is still loaded."


def test_a_file_with_a_problem_in_every_column_is_refused_in_a_few_words(window, data, tmp_path, qtbot):
    wide = tmp_path / "wide.csv"
    wide.write_text("," * 3000 + "\n" + "," * 3000 + "\n")
    with qtbot.waitSignal(window.worker.job_failed, timeout=LONG):
        window.data_commands.load(wide, data[1])
    shown = box(window)
    assert len(shown.informativeText().splitlines()) == 13
    assert "more of this kind." in shown.informativeText()
    shown.close()
    findings = window.input.files.findings
    assert findings.count() == 21
    assert "… and 2,981 more of this kind." in findings.item(20).text()


def test_reading_options_of_a_failed_file_are_its_own(loaded_window, data, tmp_path, qtbot):
    odd = tmp_path / "odd.csv"
    odd.write_text(data[1].read_text().replace("id,x,y", "name of it,east,north"))
    with qtbot.waitSignal(loaded_window.worker.job_failed, timeout=LONG):
        loaded_window.data_commands.load(data[0], odd)
    box(loaded_window).close()
    state, options = loaded_window.state, loaded_window.input.files.options
    before = state.choices
    choose_from(options.form.editors["id_column"], "name of it", qtbot)
    assert state.choices == before
    assert state.reading_choices.id_column == "name of it"
    assert loaded_window.input.files.findings_of.isVisibleTo(loaded_window.input)
    run_to_the_end(loaded_window, qtbot)
    assert options.form.editors["id_column"].chosen is None
    assert not options.again.isEnabled()


def test_settings_of_one_data_set_do_not_reach_the_next(loaded_window, tmp_path, qtbot):
    state = loaded_window.state
    state.change(state.choices.with_approach("site_location", "density"))
    state.change_fields(k=17, random_seed=3, global_suppression=False)
    other = write_data(tmp_path / "other", seed=5)
    with qtbot.waitSignal(loaded_window.worker.job_ended, timeout=LONG):
        loaded_window.data_commands.load(*other)
    usual = Choices()
    assert {name: value for name, value in vars(state.choices).items() if name != "roles"} == {
        name: value for name, value in vars(usual).items() if name != "roles"
    }
    assert state.last_step is None


def test_the_sample_begins_with_its_own_settings_however_often_it_is_opened(window, qtbot):
    for _ in range(2):
        with qtbot.waitSignal(window.worker.job_ended, timeout=LONG):
            window.data_commands.load_sample()
        state = window.state
        assert (state.choices.k, state.choices.approaches["site_number"]) == (5, "limit")
        assert state.last_step is None
        state.change_fields(k=11)


def test_warnings_of_loaded_files_are_scrolled_to(window, data, qtbot):
    window.resize(1024, 680)
    regions = data[1].read_text().splitlines()
    regions[2] = regions[2].split(",")[0] + "," + regions[1].split(",", 1)[1]
    data[1].write_text("\n".join(regions) + "\n")
    bar = window.input._scroll.verticalScrollBar()
    with qtbot.waitSignal(window.worker.job_ended, timeout=LONG):
        window.data_commands.load(*data)
    window.input.approach.change.click()
    QApplication.processEvents()
    bar.setValue(bar.maximum())
    assert bar.value() > 0
    with qtbot.waitSignal(window.worker.job_ended, timeout=LONG):
        window.data_commands.reload()
    shown = window.input.files.findings
    assert shown.count() > 0
    qtbot.waitUntil(lambda: not shown.visibleRegion().isEmpty())


def test_what_a_run_complained_of_goes_when_the_choices_change(loaded_window, qtbot):
    data_commands = loaded_window.data_commands
    data_commands._set_findings((Finding("x", "Something.", "Mend it."),), "Running failed.")
    assert loaded_window.input.files.findings_of.isVisibleTo(loaded_window.input)
    loaded_window.state.change_fields(k=8)
    assert data_commands.findings_of == ""
    assert loaded_window.input.files.findings_of.isHidden()


def test_swapped_files_are_asked_about(window, data, qtbot):
    with qtbot.waitSignal(window.worker.job_failed, timeout=LONG):
        window.data_commands.load(*reversed(data))
    shown = box(window)
    assert "Did you swap the two files?" in shown.informativeText()
    shown.close()
