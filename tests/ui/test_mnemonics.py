"""Alt with a letter does one thing: no two mnemonics that can be seen together share a letter."""

from collections import Counter

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QKeySequence
from PySide6.QtWidgets import (
    QAbstractButton,
    QApplication,
    QDialog,
    QLabel,
    QMenu,
    QPushButton,
    QTabBar,
    QToolButton,
)

from vbas_desktop.ui.dialogs.export import ExportDialog
from vbas_desktop.ui.dialogs.grouping import GroupingDialog
from vbas_desktop.ui.dialogs.open_data import OpenDataDialog
from vbas_desktop.ui.pages import PAGES


def lettered(texts):
    return [
        (QKeySequence.mnemonic(text).toString(), text)
        for text in texts
        if QKeySequence.mnemonic(text).toString()
    ]


def mnemonics(widget):
    """All letters of a window or dialog. Tool buttons show the texts of actions, whose letters work in menus only."""
    texts = (
        [action.text() for action in widget.menuBar().actions()] if hasattr(widget, "menuBar") else []
    )
    buttons = [
        button for button in widget.findChildren(QAbstractButton) if not isinstance(button, QToolButton)
    ]
    texts += [button.text() for button in buttons if button.isVisible()]
    texts += [
        label.text() for label in widget.findChildren(QLabel) if label.isVisible() and label.buddy()
    ]
    for bar in widget.findChildren(QTabBar):
        texts += [bar.tabText(index) for index in range(bar.count()) if bar.isVisible()]
    return lettered(texts)


def twice(found):
    often = Counter(key for key, _ in found)
    return sorted(pair for pair in found if often[pair[0]] > 1)


def clashes(widget):
    return twice(mnemonics(widget))


def test_on_the_welcome_page(window):
    window.show()
    assert clashes(window) == []


@pytest.mark.parametrize("tab", ["Input", "Results", "Regions", "Log"])
def test_beside_the_map(tab, aggregated_window):
    aggregated_window.show()
    aggregated_window.show_tab(tab)
    assert clashes(aggregated_window) == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.title)
def test_on_a_page(page, aggregated_window):
    aggregated_window.area.show_page(page)
    assert clashes(aggregated_window) == []


def test_side_by_side(aggregated_window, qtbot):
    aggregated_window.area.map._compare.setChecked(True)
    qtbot.waitUntil(lambda: aggregated_window.area.map.comparing)
    assert clashes(aggregated_window) == []


def test_in_every_menu(aggregated_window):
    menus = [action.menu() for action in aggregated_window.menuBar().actions()]
    menus += [menu for bar_menu in menus for menu in bar_menu.findChildren(QMenu)]
    assert len(menus) > 10
    found = {menu.title(): twice(lettered(action.text() for action in menu.actions())) for menu in menus}
    assert {title: pairs for title, pairs in found.items() if pairs} == {}


def open_grouping(window):
    window.input.columns.view.setCurrentIndex(window.input.columns.model.index(1, 0))
    window.input.columns.open_grouping()


DIALOGS = {
    OpenDataDialog: lambda window: window.data_commands._ask_for(None, None),
    ExportDialog: lambda window: window.exporting.export(),
    GroupingDialog: open_grouping,
    QDialog: lambda window: window.menus.actions["show_about"].trigger(),
}


@pytest.mark.parametrize("kind", DIALOGS, ids=lambda kind: kind.__name__)
def test_in_a_dialog(kind, aggregated_window):
    DIALOGS[kind](aggregated_window)
    dialog = QApplication.activeModalWidget() or aggregated_window.findChild(kind)
    assert dialog.isVisible()
    assert clashes(dialog) == []
    dialog.close()


def without_keys(widget):
    """Buttons that neither a letter (their own, or their label's) nor a shortcut reaches."""
    lettered_labels = {
        label.buddy() for label in widget.findChildren(QLabel) if lettered([label.text()])
    }
    return [
        button.accessibleName() or button.text()
        for button in widget.findChildren(QPushButton)
        if button.isVisible()
        and not lettered([button.text()])
        and button.shortcut().isEmpty()
        and button not in lettered_labels
        and "(Ctrl+" not in button.toolTip()
    ]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.title)
def test_every_button_of_a_page_has_a_letter_or_a_shortcut(page, aggregated_window):
    assert without_keys(aggregated_window.area.show_page(page)) == []


def test_two_files_are_chosen_by_letters_and_only_what_is_optional_by_the_tab_key(aggregated_window):
    page = aggregated_window.area.show_page(
        next(page for page in PAGES if page.title == "Representability")
    )
    page.source.setCurrentText("Two files")
    assert without_keys(page) == [
        "Choose the folder of hierarchies",
        "Choose the folder of tables of distances",
        "Choose crosswalk",
        "Choose worst case",
        "Choose required records",
        "Choose unwanted records",
    ]
    assert clashes(aggregated_window) == []


@pytest.mark.parametrize(("key", "modifier"), [(Qt.Key.Key_B, "Alt"), (Qt.Key.Key_Escape, "No")])
def test_a_page_is_left_by_its_letter_and_by_escape(key, modifier, loaded_window, qtbot):
    loaded_window.show()
    loaded_window.activateWindow()
    loaded_window.menus.actions["compare_combinations"].trigger()
    qtbot.keyClick(loaded_window, key, getattr(Qt.KeyboardModifier, f"{modifier}Modifier"))
    qtbot.waitUntil(lambda: loaded_window.area.map.isVisible())
