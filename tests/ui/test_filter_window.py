"""Filters of records in the window: chosen among the reading options, in force after the files were read again."""

import pytest
from persons import box
from PySide6.QtWidgets import QLabel

LONG = 60_000


def finish(window, qtbot, begin):
    with qtbot.waitSignal(window.worker.job_ended, timeout=LONG):
        begin()


@pytest.fixture
def keep(tmp_path, monkeypatch):
    path = tmp_path / "keep.csv"
    path.write_text("sex\n1\n", encoding="utf-8")
    chosen = lambda parent, title, files, folder, then: then(str(path))  # noqa: E731
    monkeypatch.setattr("vbas_desktop.ui.panels.reading_options.ask_to_open", chosen)
    return path


def test_a_filter_leaves_records_out_once_the_files_are_read_again(aggregated_window, qtbot, keep):
    window, state = aggregated_window, aggregated_window.state
    options = window.input.files.options
    every = state.table.rows
    wanted = int(state.table.facts("sex").frequencies[0])
    options.choose["keep_records"].click()
    assert options.form.editors["keep_records"].text() == str(keep)
    assert state.table.rows == every, "nothing changes before the files are read again"
    finish(window, qtbot, options.again.click)
    assert state.table.rows == wanted < every
    assert state.table.selection.records_left_out == every - wanted
    shown = [label.text() for label in window.input.files.records.findChildren(QLabel)]
    assert any(f"{every - wanted:,} left out by filters" in text for text in shown), shown
    assert all(entry.run.outdated for entry in state.entries), "they are results of other records"


def test_a_wrong_filter_is_told_and_leaves_the_data_as_they_are(loaded_window, qtbot, keep):
    options, state = loaded_window.input.files.options, loaded_window.state
    keep.write_text("gender\n1\n", encoding="utf-8")
    before = state.table.rows
    options.choose["drop_records"].click()
    finish(loaded_window, qtbot, options.again.click)
    said = box(loaded_window)
    assert "Field 1 is not the name of a column of the records." in said.informativeText()
    said.close()
    assert state.table.rows == before
