"""Categories that differ only by blanks: told as soon as the files are loaded, joined by one click, undone like it."""

from __future__ import annotations

import csv

import pytest
from persons import LONG

from vbas_desktop.model.records import Role


@pytest.fixture
def blank_window(window, data, qtbot):
    """The window with a file in which one person wrote “1 ” and another “\xa01” for the sex 1."""
    with data[0].open(newline="") as file:
        header, *rows = csv.reader(file)
    for number, row in enumerate(rows):
        if row[2] == "1" and number % 5 < 2:
            row[2] = ["1 ", "\xa01"][number % 5]
        if row[3] == "7" and number % 2:
            row[3] = "7 "
    with data[0].open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([header, *rows])
    with qtbot.waitSignal(window.worker.job_ended, timeout=LONG):
        window.data_commands.load(*data)
    return window


def test_one_click_joins_them_and_undo_separates_them(blank_window, qtbot):
    state, files = blank_window.state, blank_window.input.files
    state.change(
        state.choices.with_role("age", Role.QUASI_IDENTIFIER).with_role("sex", Role.QUASI_IDENTIFIER)
    )
    state.change(state.choices.with_role("illness", Role.AS_IS))
    assert files.blanks.isVisibleTo(blank_window)
    assert (
        files.blanks.text()
        == "Categories that differ from others only by blanks count separately: “sex” (2)."
    )
    assert state.table.facts("sex").distinct == 4
    files.join.click()
    assert state.choices.groupings == {"sex": {"1 ": "1", "\xa01": "1"}}
    assert not files.blanks.isVisibleTo(blank_window)
    assert not files.join.isVisibleTo(blank_window)
    qtbot.waitUntil(
        lambda: blank_window.input.live.text().startswith("7 × 2 = 14 classes"), timeout=LONG
    )
    state.undo()
    assert state.choices.groupings == {}
    assert files.join.isVisibleTo(blank_window)


def test_groups_that_are_there_are_kept(blank_window):
    state, files = blank_window.state, blank_window.input.files
    choices = state.choices.with_role("illness", Role.QUASI_IDENTIFIER).with_role("sex", Role.AS_IS)
    state.change(choices.with_grouping("illness", {"7": "rare", "8": "rare"}))
    assert not files.join.isVisibleTo(blank_window), "“7 ” is the only one of its kind beside “rare”"
    state.change(state.choices.with_grouping("illness", {"8": "rare"}))
    assert files.join.isVisibleTo(blank_window)
    files.join.click()
    assert state.choices.groupings == {"illness": {"8": "rare", "7 ": "7"}}


def test_nothing_is_said_of_clean_files(loaded_window):
    assert not loaded_window.input.files.blanks.isVisibleTo(loaded_window)
    assert not loaded_window.input.files.join.isVisibleTo(loaded_window)
