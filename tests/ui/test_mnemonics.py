"""Alt with a letter does one thing: no two visible mnemonics share a letter."""

from collections import Counter

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QKeySequence
from PySide6.QtWidgets import QAbstractButton, QLabel


def mnemonics(window):
    texts = [action.text() for action in window.menuBar().actions()]
    texts += [button.text() for button in window.findChildren(QAbstractButton) if button.isVisible()]
    texts += [label.text() for label in window.findChildren(QLabel) if label.isVisible() and label.buddy()]
    return [(QKeySequence.mnemonic(text).toString(), text) for text in texts if QKeySequence.mnemonic(text).toString()]


def clashes(window):
    found = mnemonics(window)
    often = Counter(key for key, _ in found)
    return sorted(pair for pair in found if often[pair[0]] > 1)


def test_on_the_welcome_page(window):
    window.show()
    assert clashes(window) == []


@pytest.mark.parametrize("tab", ["Input", "Results", "Regions", "Log"])
def test_beside_the_map(tab, aggregated_window):
    aggregated_window.show()
    aggregated_window.show_tab(tab)
    assert clashes(aggregated_window) == []


@pytest.mark.parametrize(("key", "modifier"), [(Qt.Key.Key_B, "Alt"), (Qt.Key.Key_Escape, "No")])
def test_a_page_is_left_by_its_letter_and_by_escape(key, modifier, loaded_window, qtbot):
    loaded_window.show()
    loaded_window.activateWindow()
    loaded_window.area.compare_combinations()
    qtbot.keyClick(loaded_window, key, getattr(Qt.KeyboardModifier, f"{modifier}Modifier"))
    qtbot.waitUntil(lambda: loaded_window.area.stack.currentWidget() is loaded_window.area.map)
