"""Grouping categories in the Input tab: by intervals, by hand, from a file; undone like every choice."""

from __future__ import annotations

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QDialogButtonBox

from vbas_desktop.model.records import Categories, ColumnFacts, Role
from vbas_desktop.ui.dialogs.grouping import GroupingDialog
from vbas_desktop.ui.panels.columns_section import CATEGORIES

LONG = 120_000


@pytest.fixture
def columns(loaded_window):
    """The columns section with age, a quasi-identifier of seven categories, chosen."""
    state = loaded_window.state
    state.change(state.choices.with_role("age", Role.QUASI_IDENTIFIER))
    section = loaded_window.input.columns
    row = next(row for row in range(section.model.rowCount()) if section.model.facts(row).name == "age")
    section.view.setCurrentIndex(section.model.index(row, 0))
    return section


def opened(columns) -> GroupingDialog:
    columns.open_grouping()
    return columns.window().findChild(GroupingDialog)


def confirm(dialog) -> None:
    dialog.findChild(QDialogButtonBox).button(QDialogButtonBox.StandardButton.Ok).click()


def test_a_click_on_their_number_opens_the_categories_and_those_of_quasi_identifiers_are_grouped(
    columns, qtbot
):
    view = columns.view
    place = view.visualRect(columns.model.index(view.currentIndex().row(), CATEGORIES)).center()
    qtbot.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=place)
    dialog = columns.window().findChild(GroupingDialog)
    assert dialog.windowTitle() == "Group the categories of “age”"
    assert dialog.by_interval.isVisible()
    dialog.reject()


def test_the_categories_of_other_columns_are_only_shown(columns, loaded_window, qtbot):
    loaded_window.state.change(loaded_window.state.choices.with_role("age", Role.AS_IS))
    qtbot.keyClick(columns.view, Qt.Key.Key_G)
    dialog = columns.window().findChild(GroupingDialog)
    assert dialog.windowTitle() == "Categories of “age”"
    assert not dialog.by_interval.isVisible()
    assert [column.name for column in dialog.model.columns] == ["category", "records", "share"]
    dialog.reject()


def test_intervals_show_in_the_live_line_and_undo_takes_them_back(columns, loaded_window, qtbot):
    state, tab = loaded_window.state, loaded_window.input
    dialog = opened(columns)
    dialog.width_of_one.setValue(4)
    dialog.by_interval.click()
    assert dialog.message.text() == "7 categories become 2."
    confirm(dialog)
    assert set(state.choices.groupings["age"].values()) == {"1-4", "5-7"}
    row = columns.view.currentIndex().row()
    assert columns.model.index(row, CATEGORIES).data() == "7 → 2"
    qtbot.waitUntil(lambda: tab.live.text().startswith("2 × 2 = 4 classes"), timeout=LONG)
    state.undo()
    assert state.choices.groupings == {}
    assert columns.model.index(row, CATEGORIES).data() == "7"
    qtbot.waitUntil(lambda: tab.live.text().startswith("7 × 2 = 14 classes"), timeout=LONG)


def test_selected_categories_get_a_name_and_lose_it_again(columns, loaded_window):
    dialog = opened(columns)
    dialog.table.selectRow(0)
    dialog.name.setText("young")
    dialog.by_name.click()
    dialog.table.selectRow(1)
    dialog.name.setText("young")
    dialog.by_name.click()
    assert dialog.groups() == {"1": "young", "2": "young"}
    dialog.ungroup.click()
    assert dialog.groups() == {"1": "young"}
    dialog.reject()
    assert loaded_window.state.choices.groupings == {}


def test_groups_come_from_a_file_or_from_a_level_of_a_hierarchy(columns, tmp_path, qtbot):
    dialog = opened(columns)
    groups, hierarchy = tmp_path / "groups.csv", tmp_path / "ages.csv"
    groups.write_text("column,value,group\nage,1,low\nage,2,low\nsex,1,all\n")
    hierarchy.write_text("\n".join(f"{n};{'1-3' if n < 4 else '4-7'};*" for n in range(1, 8)))
    dialog.load_file(str(groups))
    qtbot.waitUntil(lambda: dialog.groups() == {"1": "low", "2": "low"}, timeout=LONG)
    dialog.level.setValue(2)
    dialog.load_file(str(hierarchy))
    qtbot.waitUntil(lambda: set(dialog.groups().values()) == {"*"}, timeout=LONG)
    hierarchy.write_text("\n".join(f"{n};low" for n in range(1, 7)))
    dialog.load_file(str(hierarchy))
    qtbot.waitUntil(
        lambda: "no row for 1 value of the records (first in rows" in dialog.message.text(), timeout=LONG
    )
    assert set(dialog.groups().values()) == {"*"}
    hierarchy.write_text("1;a\n1;b\n")
    dialog.load_file(str(hierarchy))
    qtbot.waitUntil(lambda: "listed before" in dialog.message.text(), timeout=LONG)
    dialog.reject()


def test_codes_are_shown_with_their_labels(qtbot, window):
    categories = Categories("sex", ("1", "2"), None, {"1": "Female"})
    facts = ColumnFacts("sex", 2, 0, True, categories, np.array([3, 4]))
    dialog = GroupingDialog(facts, {}, window)
    assert [dialog.model.index(row, 0).data() for row in range(2)] == ["1 (Female)", "2"]
    dialog.close()


def test_groups_that_make_sense_are_proposed_and_the_last_is_a_single_one(columns, loaded_window):
    dialog = opened(columns)
    actions = dialog.propose.menu().actions()
    assert [action.text() for action in actions] == [
        "4 groups: 1-2, 3-4, 5-6, …",
        "2 groups: 1-4, 5-7",
        "1 group: all",
    ]
    actions[1].trigger()
    assert dialog.message.text() == "7 categories become 2."
    confirm(dialog)
    assert set(loaded_window.state.choices.groupings["age"].values()) == {"1-4", "5-7"}
