"""Editing by hand: painting, locking, splitting, merging, by mouse and by keyboard; then it is a solution."""

import csv
import json

import pytest
from PySide6.QtCore import QPoint, Qt

from vbas_desktop.app.release import release_solution
from vbas_desktop.cli.main import main
from vbas_desktop.settings.release import ReleaseOptions
from vbas_desktop.ui.map.map_cache import map_cache_of

LONG = 60_000


@pytest.fixture
def editing(aggregated_window, qtbot):
    """The window with a solution of about twelve regions that is being edited."""
    window = aggregated_window
    view = window.area.map
    qtbot.waitUntil(
        lambda: map_cache_of(window.context).shown is not None and not window.background.busy,
        timeout=LONG,
    )
    window.menus.actions["edit_by_hand"].trigger()
    qtbot.waitUntil(lambda: view.editor.scene is not None, timeout=LONG)
    return window


def position_of(canvas, region: int) -> QPoint:
    """The position of an initial region in the widget."""
    return canvas.map_to_widget(*canvas.base.points[region].tolist()).toPoint()


def drag(qtbot, canvas, start: int, end: int) -> None:
    """Drag from one initial region to another."""
    viewport = canvas.viewport()
    qtbot.mousePress(viewport, Qt.MouseButton.LeftButton, pos=position_of(canvas, start))
    qtbot.mouseMove(viewport, position_of(canvas, end))
    qtbot.mouseRelease(viewport, Qt.MouseButton.LeftButton, pos=position_of(canvas, end))


def neighbours_of(edit) -> tuple[int, int]:
    """An initial region, and one that touches its aggregated region in another one with more than one."""
    for region in range(int(edit.membership.max()) + 1):
        for other in edit.list_touching(region).tolist():
            if edit.list_members(int(edit.membership[other])).size > 1:
                return edit.list_members(region)[0], other
    raise AssertionError


def test_dragging_paints_and_undo_takes_the_stroke_back(editing, qtbot):
    view = editing.area.map
    edit = view.editor.scene.edit
    before = edit.figures
    start, end = neighbours_of(edit)
    drag(qtbot, view.canvas, start, end)
    assert edit.membership[end] == edit.membership[start]
    assert f"Suppressed records: {edit.figures.suppressed:,}" in view.editor.figures.text()
    assert editing.menus.actions["undo"].isEnabled()
    editing.menus.actions["undo"].trigger()
    assert (edit.moved.size, edit.figures) == (0, before)
    editing.menus.actions["redo"].trigger()
    assert edit.membership[end] == edit.membership[start]


def test_while_editing_the_hint_says_how_to_paint(editing):
    hints = editing.area.hints
    assert hints.text.text().startswith("Drag from one region")
    editing.area.map.editor.discard_edit()
    assert hints.text.text().startswith("A star marks")


def test_the_whole_map_stays_in_sight_while_regions_are_listed(editing, qtbot):
    view = editing.area.map
    editing.resize(1440, 900)
    view.editor.show_table.setChecked(True)
    qtbot.waitUntil(
        lambda: view.editor.table.isVisibleTo(view) and view.editor.height() > 200, timeout=LONG
    )
    viewport = view.parentWidget()
    qtbot.waitUntil(lambda: view.height() == viewport.height(), timeout=LONG)


def test_a_click_chooses_the_region_in_map_and_table(editing, qtbot):
    view = editing.area.map
    edit = view.editor.scene.edit
    qtbot.mouseClick(view.canvas.viewport(), Qt.MouseButton.LeftButton, pos=position_of(view.canvas, 0))
    region = int(edit.membership[0])
    assert view.editor.scene.chosen == editing.state.chosen_region == region
    assert edit.moved.size == 0
    assert view.editor.chosen.text() == edit.describe(region)
    assert (
        view.editor.table_model.rowCount()
        == edit.list_members(region).size + edit.list_touching(region).size
    )


def test_a_locked_region_neither_gains_nor_loses(editing, qtbot):
    view = editing.area.map
    edit = view.editor.scene.edit
    start, end = neighbours_of(edit)
    locked = int(edit.membership[end])
    members = edit.list_members(locked).tolist()
    view.editor.choose(locked)
    qtbot.mouseClick(view.editor.lock, Qt.MouseButton.LeftButton)
    drag(qtbot, view.canvas, start, end)
    drag(qtbot, view.canvas, end, start)
    assert edit.list_members(locked).tolist() == members
    view.editor.choose(locked)
    assert "locked" in view.editor.chosen.text()
    while edit.undo_name is not None:
        editing.menus.actions["undo"].trigger()
    assert edit.locked == frozenset()


def test_everything_can_be_done_with_the_keyboard(editing, qtbot):
    view = editing.area.map
    editor = view.editor
    edit = editor.scene.edit
    regions = editing.tab("Regions")
    regions.table.setFocus()
    qtbot.keyClick(regions.table, Qt.Key.Key_Down)
    chosen = editor.scene.chosen
    assert chosen == editing.state.chosen_region
    qtbot.keyClick(editor.show_table, Qt.Key.Key_Space)
    assert editor.table.isVisible()
    # The first initial region of a neighbour comes to the chosen region.
    row = next(
        i
        for i in range(editor.table_model.rowCount())
        if edit.membership[editor.table_model.row_at(i)] != chosen
    )
    initial = editor.table_model.row_at(row)
    editor.table.selectRow(row)
    editor.target.setCurrentIndex(editor.target.findData(chosen))
    qtbot.keyClick(editor.move_rows, Qt.Key.Key_Space)
    assert edit.membership[initial] == chosen
    number = edit.figures.regions
    qtbot.keyClick(editor.split, Qt.Key.Key_Space)
    assert edit.figures.regions == number + 1
    editor.target.setFocus()
    qtbot.keyClick(editor.target, Qt.Key.Key_Down)
    editor.target.activated.emit(editor.target.currentIndex())
    target = editor.target.currentData()
    assert target != chosen
    qtbot.keyClick(editor.merge, Qt.Key.Key_Space)
    assert edit.figures.regions == number
    assert editor.scene.chosen == target


def finish(window, qtbot, path):
    """Save the edit and wait until the edited solution is shown."""
    number = len(window.state.entries)
    window.area.map.editor.save_as(path)
    qtbot.waitUntil(
        lambda: len(window.state.entries) == number + 1 and not window.worker.busy, timeout=LONG
    )
    return window.state.entries[-1]


def test_a_finished_edit_is_a_solution_that_is_audited_at_export_and_repeated_by_vbas(
    editing, qtbot, tmp_path, capsys
):
    view = editing.area.map
    edit = view.editor.scene.edit
    source = editing.state.selected
    start, end = neighbours_of(edit)
    drag(qtbot, view.canvas, start, end)
    expected = edit.figures
    membership = edit.membership.copy()
    path = tmp_path / "edited.csv"
    entry = finish(editing, qtbot, path)
    assert view.editor.scene is None
    assert entry.run.title == f"Edited from #{source.number}"
    assert (
        len(set(zip(entry.solution.membership.tolist(), membership.tolist(), strict=True)))
        == expected.regions
    )
    assert entry.solution.suppressed_records == expected.suppressed
    assert entry.solution.anonymity == expected.smallest_class
    assert editing.state.choices.approaches["construction"] == "voronoi"
    with path.open() as file:
        assert next(csv.reader(file)) == ["initial_region", "aggregated_region"]
    options = ReleaseOptions(identifiers=("person",), shuffle_seed="abc123", pdf=False, exceed_loss=True)
    report = release_solution(editing.state.request_release(entry, options, tmp_path / "release"))
    assert all(check.passed for check in report.checks)
    assert any(
        "moved borders after looking at small classes" in finding.message for finding in report.findings
    )
    assert (
        main(
            [
                "export",
                str(tmp_path / "release"),
                "--out",
                str(tmp_path / "again"),
                "--exceed-loss",
                "--quiet",
            ]
        )
        == 0
    )
    name = "release/anonymized.csv"
    assert (tmp_path / "again" / name).read_bytes() == (tmp_path / "release" / name).read_bytes()
    document = json.loads((tmp_path / "release" / "run.json").read_text())
    assert f"given.file={path}" in document["options"]["set"]
    assert f"given.origin=edited from #{source.number}" in document["options"]["set"]


def test_an_edit_makes_way_for_another_solution_and_goes_on_later(editing, qtbot):
    view = editing.area.map
    edit = view.editor.scene.edit
    source = editing.state.selected.number
    start, end = neighbours_of(edit)
    drag(qtbot, view.canvas, start, end)
    other = next(entry.number for entry in editing.state.entries if entry.number != source)
    editing.state.select(other)
    assert view.editor.scene is None
    assert editing.state.edit is None
    editing.state.select(source)
    map_cache = map_cache_of(editing.context)
    qtbot.waitUntil(
        lambda: map_cache.shown is not None and map_cache.shown.number == source, timeout=LONG
    )
    editing.menus.actions["edit_by_hand"].trigger()
    assert view.editor.scene.edit is edit
    assert end in edit.moved.tolist()


def test_a_discarded_edit_leaves_the_solution_as_it_was(editing, qtbot):
    view = editing.area.map
    number = len(editing.state.entries)
    start, end = neighbours_of(view.editor.scene.edit)
    drag(qtbot, view.canvas, start, end)
    qtbot.mouseClick(view.editor.discard, Qt.MouseButton.LeftButton)
    assert view.editor.scene is None
    assert not view.editor.isVisible()
    assert len(editing.state.entries) == number
    assert editing.state.edit is None


def test_the_files_that_are_open_are_never_replaced_by_the_crosswalk(editing, qtbot, data):
    view = editing.area.map
    start, end = neighbours_of(view.editor.scene.edit)
    drag(qtbot, view.canvas, start, end)
    before = data[1].read_bytes()
    view.editor.save_as(data[1])
    qtbot.waitUntil(lambda: not editing.background.busy, timeout=LONG)
    assert data[1].read_bytes() == before
    assert view.editor.scene is not None
