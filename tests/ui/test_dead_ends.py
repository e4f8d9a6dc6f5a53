"""What is in the way of a run comes with buttons that lead on."""

from __future__ import annotations

import json

import pytest
from persons import LONG
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QFileDialog, QPushButton, QToolTip

from vbas_desktop.model.records import Role
from vbas_desktop.ui.dialogs.grouping import GroupingDialog
from vbas_desktop.ui.dialogs.sensitive_values import SensitiveDialog
from vbas_desktop.ui.widgets.plain_text import tool_tip


def offered(window) -> list[str]:
    return [remedy.text for remedy in window.input.remedies.remedies]


def press(window, text: str) -> None:
    QApplication.processEvents()  # buttons that were made just now are shown by then
    buttons = window.input.remedies.findChildren(QPushButton)
    next(button for button in buttons if button.text() == text and button.isVisible()).click()


def load(window, files, qtbot) -> None:
    with qtbot.waitSignal(window.worker.job_ended, timeout=LONG):
        window.data_commands.load(*files)


def test_a_column_without_region_ids_says_so_and_proposes_the_one_that_has_them(loaded_window, qtbot):
    window, state = loaded_window, loaded_window.state
    state.change(state.choices.with_role("sex", Role.REGION).with_role("tract", Role.LEAVE_OUT))
    wrong = (
        "No value of this column is a region id of regions.csv, whose ids look like “R0000” and “R0059”."
    )
    qtbot.waitUntil(lambda: wrong in window.input.reason.text(), timeout=LONG)
    assert offered(window) == ["Use “tract”"]
    press(window, "Use “tract”")
    assert state.choices.region_column == "tract"
    assert window.input.run.isEnabled()
    assert offered(window) == []


def test_without_a_region_column_the_one_with_region_ids_is_proposed(loaded_window):
    state = loaded_window.state
    state.change(state.choices.with_role("tract", Role.AS_IS))
    assert loaded_window.input.reason.text() == "Choose the region column: give it the role “region”."
    press(loaded_window, "Use “tract”")
    assert state.choices.region_column == "tract"


def test_a_region_file_of_other_records_is_named(window, data, qtbot):
    lines = data[1].read_text().splitlines()
    data[1].write_text("\n".join([lines[0], *(f"X{line}" for line in lines[1:])]) + "\n")
    load(window, data, qtbot)
    assert window.input.reason.text().startswith(
        "No column of the records has ids of regions.csv. Open the region file"
    )
    assert offered(window) == []


def test_records_of_unknown_regions_are_suppressed_with_one_click(window, data, qtbot):
    with data[0].open("a") as file:
        file.write("P999999,1,1,1,NOWHERE\n")
    load(window, data, qtbot)
    qtbot.waitUntil(lambda: offered(window) == ["Suppress them"], timeout=LONG)
    press(window, "Suppress them")
    assert window.state.choices.unknown_regions == "suppress"
    assert window.input.run.isEnabled()


def test_obstacles_without_a_file_stop_the_run(loaded_window, tmp_path, qtbot):
    window, state = loaded_window, loaded_window.state
    state.change(state.choices.with_approach("construction", "obstacles"))
    assert window.input.reason.text().startswith("The construction “Obstacles” needs a file with lakes")
    assert not window.input.run.isEnabled()
    assert offered(window) == ["Add obstacles…", "Use Voronoi"]
    press(window, "Add obstacles…")
    dialog = window.findChild(QFileDialog)
    assert dialog.isVisible()
    dialog.reject()
    lake = {"type": "Polygon", "coordinates": [[[0, 0], [1, 0], [1, 1], [0, 0]]]}
    path = tmp_path / "lake.geojson"
    path.write_text(json.dumps({"type": "Feature", "properties": {}, "geometry": lake}))
    state.change_reading(obstacles=(str(path),))
    assert offered(window) == ["Read again"]
    assert "Read the files again." in window.input.reason.text()
    state.undo()
    press(window, "Use Voronoi")
    assert state.choices.approaches["construction"] == "voronoi"
    assert window.input.run.isEnabled()


def test_coarsening_without_a_crosswalk_stops_the_run(loaded_window):
    state = loaded_window.state
    state.change(state.choices.with_approach("construction", "coarsen"))
    assert "needs the crosswalk of an earlier release" in loaded_window.input.reason.text()
    assert offered(loaded_window) == ["Choose the crosswalk…", "Use Voronoi"]


def test_a_loss_out_of_reach_offers_to_group_to_leave_out_and_to_allow_it(loaded_window, qtbot):
    window, state = loaded_window, loaded_window.state
    state.change(state.choices.with_role("illness", Role.QUASI_IDENTIFIER))
    buttons = ["Group “illness”…", "Leave out “illness”", "Find a release…", "Allow 20.7 %"]
    qtbot.waitUntil(lambda: offered(window) == buttons, timeout=LONG)
    press(window, "Group “illness”…")
    dialog = window.findChild(GroupingDialog)
    assert dialog.windowTitle() == "Group the categories of “illness”"
    dialog.reject()
    press(window, "Allow 20.7 %")
    assert state.choices.allowed_loss_percent == 20.7
    qtbot.waitUntil(lambda: window.input.live.isEnabled(), timeout=LONG)
    assert offered(window) == []
    state.undo()
    qtbot.waitUntil(lambda: offered(window) == buttons, timeout=LONG)
    press(window, "Find a release…")
    assert type(window.area.page).__name__ == "SearchPage"
    window.area.show_map()
    press(window, "Leave out “illness”")
    assert state.choices.roles["illness"] is Role.LEAVE_OUT


@pytest.mark.parametrize(
    ("answer", "rows", "kept"), [("is_category_line", 4, "yes"), ("is_record", 5, "no")]
)
def test_a_line_of_category_numbers_is_one_question_with_two_buttons(
    window, tmp_path, qtbot, answer, rows, kept
):
    (tmp_path / "records.csv").write_text("age,sex,tract\n2,2,2\n1,m,a\n2,f,a\n1,f,b\n2,m,b\n")
    (tmp_path / "regions.csv").write_text("id,x,y\na,0,0\nb,1,1\n2,2,2\n")
    load(window, (tmp_path / "records.csv", tmp_path / "regions.csv"), qtbot)
    files = window.input.files
    assert files.question.isVisible()
    assert files.question.text() == "Line 2 of the records looks like numbers of categories."
    assert not any("Line 2" in files.findings.item(row).text() for row in range(files.findings.count()))
    with qtbot.waitSignal(window.worker.job_ended, timeout=LONG):
        getattr(files, answer).click()
    assert not files.question.isVisible()
    assert window.state.choices.category_counts == kept
    assert window.state.table.rows == rows


@pytest.fixture
def sensitive_dialog(window, data, qtbot):
    lines = data[0].read_text().splitlines()
    values = ["None", "flu", "asthma"]
    data[0].write_text(
        "\n".join([f"{lines[0]},diagnosis", *(f"{x},{values[i % 3]}" for i, x in enumerate(lines[1:]))])
    )
    load(window, data, qtbot)
    window.state.change(window.state.choices.with_role("illness", Role.AS_IS))
    window.input.privacy.sensitive.click()
    dialog = window.findChild(SensitiveDialog)
    yield dialog
    dialog.reject()


def test_a_harmless_value_is_proposed_and_never_ticked_by_itself(sensitive_dialog):
    dialog = sensitive_dialog

    def ticked():
        model = dialog.model
        rows = (model.index(row, 0) for row in range(model.rowCount()))
        return [
            i.data() for i in rows if i.data(Qt.ItemDataRole.CheckStateRole) is Qt.CheckState.Checked
        ]

    assert ticked() == []
    assert dialog.mark_harmless.text() == "Mark “None” as benign"
    dialog.mark_harmless.click()
    assert ticked() == ["None"]
    assert dialog.mark_harmless.isHidden()


def test_tips_have_lines_of_sixty_characters(loaded_window):
    text = "A tip of many words that says what the field below it is for, and when to use it, at some length."
    assert [len(line) <= 60 for line in tool_tip(text).split("\n")] == [True, True]
    assert tool_tip(text).replace("\n", " ") == text
    for widget in loaded_window.input.findChildren(QPushButton):
        assert all(len(line) <= 60 for line in widget.toolTip().split("\n"))
    assert not QToolTip.isVisible()
