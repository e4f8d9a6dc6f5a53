"""Alt with a letter does one thing: no two visible mnemonics share a letter."""

from collections import Counter

import pytest
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
