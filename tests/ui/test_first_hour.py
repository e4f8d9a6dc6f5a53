"""A new user's first hour with the window, by mouse and keys only: from two files to a verified release."""

from __future__ import annotations

import shutil
from pathlib import Path

from accessibility_checks import find_visible
from persons import LONG, answer
from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractSpinBox,
    QComboBox,
    QDialogButtonBox,
    QFileDialog,
    QLineEdit,
    QMenu,
    QPushButton,
)

from vbas_desktop.io.paths import sample_data_folder
from vbas_desktop.model.records import Role
from vbas_desktop.ui.dialogs.export import ExportDialog
from vbas_desktop.ui.dialogs.handover import RecordDialog, ReleaseDone
from vbas_desktop.ui.dialogs.open_data import FileField, OpenDataDialog
from vbas_desktop.ui.panels.columns_section import ROLE

LEFT, CONTROL, NONE = (
    Qt.MouseButton.LeftButton,
    Qt.KeyboardModifier.ControlModifier,
    Qt.KeyboardModifier.NoModifier,
)


MOST_CLICKS, MOST_CONTROLS = 9, 8
"""What the main job may take from the start to a verified file, and what of it may stand beside the map."""


class Hand:
    """Clicks and types like a person who knows nothing but what is on the screen; counts the clicks."""

    def __init__(self, window, qtbot) -> None:
        self.window, self.qtbot = window, qtbot
        self.clicks = 0

    def click(self, widget, place: QPoint | None = None, keys=NONE) -> None:
        """A click in the middle of something, or at a place of it."""
        assert widget.isVisible()
        assert widget.isEnabled()
        self.clicks += 1
        self.qtbot.mouseClick(widget, LEFT, keys, place or widget.rect().center())

    def click_row(self, table, row: int, column: int = 1, keys=NONE) -> None:
        """A click on a row of a table."""
        self.click(table.viewport(), table.visualRect(table.model().index(row, column)).center(), keys)

    def key(self, key: Qt.Key, modifiers=NONE, widget=None) -> None:
        """One key, into a widget or into the window."""
        if widget is None:
            self.window.activateWindow()
            self.qtbot.waitUntil(self.window.isActiveWindow)
        self.qtbot.keyClick(widget or self.window, key, modifiers)

    def type_into(self, field, text: str) -> None:
        """Replace what is in a field."""
        field.setFocus()
        field.selectAll()
        self.qtbot.keyClicks(field, text)

    def wait_for_job(self, action) -> None:
        """Do something that takes a while, and wait for its end."""
        with self.qtbot.waitSignal(self.window.worker.job_ended, timeout=LONG):
            action()

    def menu_entry(self, text: str) -> None:
        """Choose an entry of the context menu that is open."""
        menu = next(
            menu for menu in self.window.findChildren(QMenu) if menu.isVisible() and menu.actions()
        )
        entry = next(
            action for action in menu.actions() if action.text().replace("&", "").startswith(text)
        )
        self.click(menu, menu.actionGeometry(entry).center())

    def menu(self, title: str, text: str) -> None:
        """Choose an entry of a menu of the menu bar."""
        bar = self.window.menuBar()
        self.click(
            bar,
            bar.actionGeometry(
                next(a for a in bar.actions() if a.text().replace("&", "") == title)
            ).center(),
        )
        self.menu_entry(text)

    def rest(self) -> None:
        """Wait until nothing is being computed."""
        window = self.window
        runners = (window.worker, window.background, window.input.estimator.worker)
        self.qtbot.waitUntil(lambda: not any(worker.busy for worker in runners), timeout=LONG)

    def browse(self, field: FileField, path: Path) -> None:
        """Choose a file by Browse: a click on the button and one on the file."""
        self.click(
            next(b for b in field.findChildren(QPushButton) if b.text().replace("&", "") == "Browse…")
        )
        dialog = field.findChild(QFileDialog)
        self.clicks += 1
        dialog.fileSelected.emit(str(path))
        dialog.close()


def open_files(hand: Hand, data) -> None:
    """Steps 1 to 5: swapped at first, then the right way round."""
    window = hand.window
    hand.click(window.area.start_page.buttons["open"])
    dialog = window.findChild(OpenDataDialog)
    hand.type_into(dialog.records.edit, str(data[1]))
    hand.type_into(dialog.regions.edit, str(data[0]))
    opens = dialog.findChild(QDialogButtonBox).button(QDialogButtonBox.StandardButton.Open)
    hand.wait_for_job(lambda: hand.click(opens))
    answer(window, "OK")
    assert "Did you swap the two files?" in window.input.files.findings.item(0).text()
    hand.key(Qt.Key.Key_O, CONTROL)
    dialog = window.findChildren(OpenDataDialog)[-1]
    hand.type_into(dialog.records.edit, str(data[0]))
    hand.type_into(dialog.regions.edit, str(data[1]))
    opens = dialog.findChild(QDialogButtonBox).button(QDialogButtonBox.StandardButton.Open)
    hand.wait_for_job(lambda: hand.click(opens))
    assert window.input.files.findings.count() == 0
    assert window.status.facts.text().startswith("3,000 records · 60 regions")


def choose_roles(hand: Hand) -> None:
    """Steps 6 to 10: roles by mouse and key, taken back, and k."""
    window, state = hand.window, hand.window.state
    view = window.input.columns.view
    names = [facts.name for facts in state.table.columns]
    view.setCurrentIndex(view.model().index(names.index("illness"), ROLE))
    hand.key(Qt.Key.Key_Q, widget=view)
    assert state.choices.roles["illness"] is Role.QUASI_IDENTIFIER
    hand.key(Qt.Key.Key_Z, CONTROL)
    assert state.choices.roles["illness"] is Role.SENSITIVE
    assert window.status.what.text() == "Undone: change of role."
    hand.type_into(window.input.privacy.form.editors["k"], "9999")
    assert not window.input.run.isEnabled()
    assert not window.menus.actions["run"].isEnabled()
    hand.type_into(window.input.privacy.form.editors["k"], "14")
    assert state.choices.k == 14


def run_and_look(hand: Hand) -> None:
    """Steps 11 to 21: run, walk through the results, remove, take back, look at regions."""
    window, state = hand.window, hand.window.state
    hand.wait_for_job(lambda: hand.click(window.input.run))
    results = window.tab("Results")
    assert window.tabs.currentWidget() is results
    listed = [entry.number for entry in results.table_model.listed_rows()]
    hand.click_row(results.table, 0)
    assert state.selected.number == listed[0]
    hand.key(Qt.Key.Key_Down, widget=results.table)
    assert state.selected.number == listed[1]
    hand.key(Qt.Key.Key_P, CONTROL, results.table)
    assert state.entry(listed[1]).pinned
    hand.key(Qt.Key.Key_Delete, widget=results.table)
    assert state.entry(listed[1]) is None
    hand.key(Qt.Key.Key_Z, CONTROL)
    assert state.selected.number == listed[1]
    hand.qtbot.mouseClick(results.only_pareto, LEFT, pos=QPoint(8, results.only_pareto.height() // 2))
    assert results.chosen_numbers() == [state.selected.number]
    hand.qtbot.mouseClick(results.only_pareto, LEFT, pos=QPoint(8, results.only_pareto.height() // 2))
    hand.key(Qt.Key.Key_3, Qt.KeyboardModifier.AltModifier)
    regions = window.tab("Regions")
    assert window.tabs.currentWidget() is regions
    hand.qtbot.waitUntil(lambda: regions.table.model().rowCount() > 0, timeout=LONG)
    hand.click_row(regions.table, 1)
    assert state.chosen_region is not None


def run_another(hand: Hand) -> None:
    """Steps 22 to 27: another k, the same again, one scenario at a time, a comparison."""
    window, state = hand.window, hand.window.state
    before = len(state.entries)
    hand.key(Qt.Key.Key_1, Qt.KeyboardModifier.AltModifier)
    hand.type_into(window.input.privacy.form.editors["k"], "10")
    hand.wait_for_job(lambda: hand.key(Qt.Key.Key_R, CONTROL))
    assert len(state.entries) > before
    hand.key(Qt.Key.Key_R, CONTROL)
    assert window.status.what.text().startswith("These settings were run before")
    results = window.tab("Results")
    results.scenario.setFocus()
    hand.key(Qt.Key.Key_End, widget=results.scenario)
    assert {entry.run.key.k for entry in results.table_model.listed_rows()} == {10}
    hand.click_row(results.table, 0)
    hand.click_row(results.table, 1, keys=CONTROL)
    results.table.customContextMenuRequested.emit(
        results.table.visualRect(results.table.model().index(0, 1)).center()
    )
    hand.menu_entry("Compare solutions")
    comparison = window.area.map.comparison
    hand.qtbot.waitUntil(comparison.isVisible, timeout=LONG)
    assert comparison.warning.isHidden()
    hand.click(
        next(button for button in comparison.findChildren(QPushButton) if button.text() == "D&one")
    )


def release(hand: Hand, folder) -> None:
    """Steps 28 to 33: export, save, and the guide."""
    window = hand.window
    hand.key(Qt.Key.Key_E, CONTROL)
    dialog = window.findChild(ExportDialog)
    hand.type_into(dialog.target.edit, str(folder / "release"))
    hand.wait_for_job(lambda: hand.click(dialog.export))
    done = window.findChild(ReleaseDone)
    assert all(done.checks.item(row).text().endswith("passed") for row in range(done.checks.count()))
    hand.key(Qt.Key.Key_Escape, widget=done)
    hand.key(Qt.Key.Key_S, CONTROL)
    asked = window.findChild(QFileDialog)
    with hand.qtbot.waitSignal(window.projects.worker.job_ended, timeout=LONG):
        asked.fileSelected.emit(str(folder / "mine.vbas"))
    asked.close()
    assert not window.isWindowModified()
    hand.key(Qt.Key.Key_F1)
    guide = window.help._guide
    assert guide.isVisible()
    guide.close()
    hand.key(Qt.Key.Key_F9)
    assert not window.tabs.isVisible()


def test_a_first_hour(window, data, tmp_path, qtbot):
    hand = Hand(window, qtbot)
    window.activateWindow()
    open_files(hand, data)
    choose_roles(hand)
    run_and_look(hand)
    run_another(hand)
    release(hand, tmp_path)
    assert (tmp_path / "release" / "release" / "anonymized.csv").is_file()


def copy_sample(folder: Path) -> tuple[Path, Path]:
    """Copy the sample data to where a user's own files would be."""
    paths = [
        shutil.copy(sample_data_folder() / name, folder) for name in ("records.csv", "regions.geojson")
    ]
    return Path(paths[0]), Path(paths[1])


def open_by_browsing(hand: Hand, records: Path, regions: Path) -> None:
    window = hand.window
    hand.click(window.area.start_page.buttons["open"])
    dialog = window.findChild(OpenDataDialog)
    hand.browse(dialog.records, records)
    hand.browse(dialog.regions, regions)
    opens = dialog.findChild(QDialogButtonBox).button(QDialogButtonBox.StandardButton.Open)
    hand.wait_for_job(lambda: hand.click(opens))
    hand.rest()


def list_controls(window) -> list:
    """List what can be set or pressed in the panel, besides the table of the columns."""
    kinds = (QAbstractButton, QComboBox, QAbstractSpinBox, QLineEdit)
    return [widget for kind in kinds for widget in find_visible(window.input, kind)]


def compare_two_combinations(hand: Hand) -> None:
    """Run with other locations of sites, and compare the recommended solutions of both."""
    window, state = hand.window, hand.window.state
    first = state.selected.number
    hand.menu("Locations", "Density grid")
    hand.wait_for_job(lambda: hand.key(Qt.Key.Key_R, CONTROL))
    hand.rest()
    results = window.tab("Results")
    numbers = [entry.number for entry in results.table_model.listed_rows()]
    second = state.selected.number
    assert second not in (0, first)
    hand.click_row(results.table, numbers.index(first))
    hand.click_row(results.table, numbers.index(second), keys=CONTROL)
    hand.click(results.bar.compare)
    comparison = window.area.map.comparison
    hand.qtbot.waitUntil(comparison.isVisible, timeout=LONG)
    hand.click(
        next(button for button in comparison.findChildren(QPushButton) if button.text() == "D&one")
    )
    hand.click_row(results.table, numbers.index(first))
    assert state.selected.number == first


def look_into_a_loss(hand: Hand) -> None:
    """Sort the regions by what they lost and look into the first."""
    window = hand.window
    bar = window.tabs.tabBar()
    hand.click(
        bar, bar.tabRect(next(i for i in range(bar.count()) if "Regions" in bar.tabText(i))).center()
    )
    regions = window.tab("Regions")
    hand.rest()
    header, model = regions.table.horizontalHeader(), regions.table_model
    lost = next(i for i in range(model.columnCount()) if model.title(i) == "Suppressed records")
    regions.table.scrollTo(model.index(0, lost))
    for _ in range(2):
        hand.click(
            header.viewport(), QPoint(header.sectionViewportPosition(lost) + 8, header.height() // 2)
        )
    assert int(model.index(0, lost).data().replace(",", "")) > 0
    hand.click_row(regions.table, 0, lost)
    hand.qtbot.waitUntil(regions.why.classes.isVisible, timeout=LONG)
    assert regions.why.classes.model().rowCount() > 0
    assert f"lost {model.index(0, lost).data()} record" in regions.why.headline.text()


def export_and_decide(hand: Hand) -> ReleaseDone:
    """Export to the proposed folder; the questions that the export asks are answered beside the counted clicks."""
    window = hand.window
    hand.click(
        next(b for b in window.findChildren(QAbstractButton) if b.isVisible() and b.text() == "Export…")
    )
    dialog = window.findChild(ExportDialog)
    before = hand.clicks
    hand.click(dialog.decisions.button("Leave"))
    hand.clicks = before
    hand.qtbot.waitUntil(dialog.export.isEnabled, timeout=LONG)
    hand.wait_for_job(lambda: hand.click(dialog.export))
    return window.findChild(ReleaseDone)


def test_the_main_job_takes_few_clicks_and_controls(window, tmp_path, qtbot):
    hand = Hand(window, qtbot)
    window.activateWindow()
    open_by_browsing(hand, *copy_sample(tmp_path))
    controls = list_controls(window)
    assert len(controls) <= MOST_CONTROLS
    hand.wait_for_job(lambda: hand.click(window.input.run))
    hand.rest()
    assert window.area.page is None
    assert window.area.map.canvas.isVisible()
    clicks = hand.clicks
    compare_two_combinations(hand)
    look_into_a_loss(hand)
    hand.clicks = clicks
    done = export_and_decide(hand)
    assert all(done.checks.item(row).text().endswith("passed") for row in range(done.checks.count()))
    assert hand.clicks <= MOST_CLICKS
    hand.click(done.record)
    record = done.findChild(RecordDialog)
    hand.type_into(record.audience, "University")
    hand.wait_for_job(lambda: hand.click(record.record))
    assert not done.record.isEnabled()
    done.close()


def test_of_the_columns_that_of_the_region_is_looked_at_first(loaded_window):
    columns = loaded_window.input.columns
    assert columns.view.currentIndex().data() == loaded_window.state.choices.region_column
