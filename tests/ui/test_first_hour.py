"""A new user's first hour with the window, by mouse and keys only: from two files to a verified release."""

from __future__ import annotations

from persons import LONG, answer
from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QDialogButtonBox, QFileDialog, QMenu, QPushButton

from vbas_desktop.model.records import Role
from vbas_desktop.ui.dialogs.export import ExportDialog
from vbas_desktop.ui.dialogs.handing_over import ReleaseDone
from vbas_desktop.ui.dialogs.open_data import OpenDataDialog
from vbas_desktop.ui.panel.columns_section import ROLE

LEFT, CONTROL, NONE = Qt.MouseButton.LeftButton, Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.NoModifier


class Hand:
    """Clicks and types like a person who knows nothing but what is on the screen."""

    def __init__(self, window, qtbot) -> None:
        self.window, self.qtbot = window, qtbot

    def click(self, widget, place: QPoint | None = None, keys=NONE) -> None:
        """A click in the middle of something, or at a place of it."""
        assert widget.isVisible()
        assert widget.isEnabled()
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
        with self.qtbot.waitSignal(self.window.runner.job_ended, timeout=LONG):
            action()

    def menu_entry(self, text: str) -> None:
        """Choose an entry of the context menu that is open."""
        menu = next(menu for menu in self.window.findChildren(QMenu) if menu.isVisible() and menu.actions())
        entry = next(action for action in menu.actions() if action.text().replace("&", "").startswith(text))
        self.click(menu, menu.actionGeometry(entry).center())


def open_files(hand: Hand, data) -> None:
    """Steps 1 to 5: swapped at first, then the right way round."""
    window = hand.window
    hand.click(window.area.welcome.buttons["open"])
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
    window, session = hand.window, hand.window.session
    view = window.input.columns.view
    names = [facts.name for facts in session.table.columns]
    view.setCurrentIndex(view.model().index(names.index("illness"), ROLE))
    hand.key(Qt.Key.Key_Q, widget=view)
    assert session.choices.roles["illness"] is Role.QUASI_IDENTIFIER
    hand.key(Qt.Key.Key_Z, CONTROL)
    assert session.choices.roles["illness"] is Role.SENSITIVE
    assert window.status.what.text() == "Taken back: change of role."
    hand.type_into(window.input.privacy.k, "9999")
    assert not window.input.run.isEnabled()
    assert not window.menus.actions["run"].isEnabled()
    hand.type_into(window.input.privacy.k, "14")
    assert session.choices.k == 14


def run_and_look(hand: Hand) -> None:
    """Steps 11 to 21: run, walk through the results, remove, take back, look at regions."""
    window, session = hand.window, hand.window.session
    hand.wait_for_job(lambda: hand.click(window.input.run))
    results = window.tab("Results")
    assert window.tabs.currentWidget() is results
    listed = [entry.number for entry in results.filter.shown_entries()]
    hand.click_row(results.table, 0)
    assert session.selected.number == listed[0]
    hand.key(Qt.Key.Key_Down, widget=results.table)
    assert session.selected.number == listed[1]
    hand.key(Qt.Key.Key_P, CONTROL, results.table)
    assert session.entry(listed[1]).pinned
    hand.key(Qt.Key.Key_Delete, widget=results.table)
    assert session.entry(listed[1]) is None
    hand.key(Qt.Key.Key_Z, CONTROL)
    assert session.selected.number == listed[1]
    hand.qtbot.mouseClick(results.only_stars, LEFT, pos=QPoint(8, results.only_stars.height() // 2))
    assert results.chosen_numbers() == [session.selected.number]
    hand.qtbot.mouseClick(results.only_stars, LEFT, pos=QPoint(8, results.only_stars.height() // 2))
    hand.key(Qt.Key.Key_3, Qt.KeyboardModifier.AltModifier)
    regions = window.tab("Regions")
    assert window.tabs.currentWidget() is regions
    hand.qtbot.waitUntil(lambda: regions.table.model().rowCount() > 0, timeout=LONG)
    hand.click_row(regions.table, 1)
    assert session.chosen_region is not None


def run_another(hand: Hand) -> None:
    """Steps 22 to 27: another k, the same again, one scenario at a time, a comparison."""
    window, session = hand.window, hand.window.session
    before = len(session.entries)
    hand.key(Qt.Key.Key_1, Qt.KeyboardModifier.AltModifier)
    hand.type_into(window.input.privacy.k, "10")
    hand.wait_for_job(lambda: hand.key(Qt.Key.Key_R, CONTROL))
    assert len(session.entries) > before
    hand.key(Qt.Key.Key_R, CONTROL)
    assert window.status.what.text().startswith("These settings were run before")
    results = window.tab("Results")
    results.scenario.setFocus()
    hand.key(Qt.Key.Key_End, widget=results.scenario)
    assert {entry.run.key.k for entry in results.filter.shown_entries()} == {10}
    hand.click_row(results.table, 0)
    hand.click_row(results.table, 1, keys=CONTROL)
    results.table.customContextMenuRequested.emit(results.table.visualRect(results.table.model().index(0, 1)).center())
    hand.menu_entry("Compare solutions")
    comparison = window.area.map.comparison
    hand.qtbot.waitUntil(comparison.isVisible, timeout=LONG)
    assert comparison.warning.isHidden()
    hand.click(next(button for button in comparison.findChildren(QPushButton) if button.text() == "D&one"))


def release(hand: Hand, folder) -> None:
    """Steps 28 to 33: export, save, and the guide."""
    window = hand.window
    hand.key(Qt.Key.Key_E, CONTROL)
    dialog = window.findChild(ExportDialog)
    hand.type_into(dialog.target, str(folder / "release"))
    hand.wait_for_job(lambda: hand.click(dialog.export))
    done = window.findChild(ReleaseDone)
    assert all(done.checks.item(row).text().endswith("passed") for row in range(done.checks.count()))
    hand.key(Qt.Key.Key_Escape, widget=done)
    hand.key(Qt.Key.Key_S, CONTROL)
    asked = window.findChild(QFileDialog)
    with hand.qtbot.waitSignal(window.projects.save_runner.job_ended, timeout=LONG):
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


def test_of_the_columns_that_of_the_region_is_looked_at_first(loaded_window):
    columns = loaded_window.input.columns
    assert columns.view.currentIndex().data() == loaded_window.session.choices.region_column
