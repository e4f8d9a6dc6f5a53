"""A key does one thing: no two shortcuts that can be in force together are the same, wherever they are declared."""

from __future__ import annotations

import re
from collections import Counter

import pytest
from PySide6.QtCore import QCoreApplication, QEvent, Qt
from PySide6.QtGui import QAction, QKeySequence, QShortcut
from PySide6.QtWidgets import QAbstractButton, QWidget

from vbas_desktop.ui.pages import PAGES
from vbas_desktop.ui.shell.actions import ACTIONS, APPROACH_MENUS, MENUS, declare_page_action

LOCAL = (Qt.ShortcutContext.WidgetShortcut, Qt.ShortcutContext.WidgetWithChildrenShortcut)


def list_keys(widget: QWidget, without: tuple[Qt.ShortcutContext, ...] = LOCAL) -> list[str]:
    """List the shortcuts of a widget and everything in it; usually those in force wherever the focus is."""
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)  # what is gone has no keys
    actions = [
        action for action in widget.findChildren(QAction) if action.shortcutContext() not in without
    ]
    shortcuts = [
        shortcut for shortcut in widget.findChildren(QShortcut) if shortcut.context() not in without
    ]
    buttons = [button.shortcut() for button in widget.findChildren(QAbstractButton)]
    keys = [key for action in actions for key in action.shortcuts()] + [
        shortcut.key() for shortcut in shortcuts
    ]
    texts = [key.toString() for key in (*keys, *buttons)]
    # Alt with a letter is a mnemonic, which belongs to what is visible: see test_mnemonics. Esc ends what is in front.
    return [
        text
        for text in texts
        if text not in ("", "Esc") and not (text.startswith("Alt+") and text[-1].isalpha())
    ]


def list_repeated(keys: list[str]) -> list[str]:
    return sorted(key for key, n_uses in Counter(keys).items() if n_uses > 1)


def test_ids_and_shortcuts_of_actions_are_declared_once():
    specs = [*ACTIONS, *(declare_page_action(page) for page in PAGES)]
    assert list_repeated([spec.id for spec in specs]) == []
    assert list_repeated([spec.shortcut for spec in specs if spec.shortcut]) == []
    assert {spec.menu for spec in specs} | set(APPROACH_MENUS) == set(MENUS)
    assert list_repeated([QKeySequence.mnemonic(title).toString() for title in MENUS]) == []


@pytest.mark.parametrize("menu", MENUS)
def test_mnemonics_of_a_menu_are_declared_once(menu):
    letters = [QKeySequence.mnemonic(spec.text).toString() for spec in ACTIONS if spec.menu == menu]
    assert list_repeated([letter for letter in letters if letter]) == []


def test_no_key_does_two_things_beside_the_map(aggregated_window):
    assert list_repeated(list_keys(aggregated_window)) == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.title)
def test_no_key_does_two_things_on_a_page(page, aggregated_window):
    before = list_keys(aggregated_window)
    aggregated_window.area.show_page(page)
    assert list_repeated(list_keys(aggregated_window)) == list_repeated(before) == []


def test_a_key_that_a_tip_names_is_in_force(aggregated_window):
    keys = set(list_keys(aggregated_window, without=()))
    promised = {
        match.group(1): button.toolTip()
        for button in aggregated_window.findChildren(QAbstractButton)
        if (match := re.search(r"\((Ctrl\+[^)]+|F\d+)\)", button.toolTip()))
    }
    assert {key: tip for key, tip in promised.items() if key not in keys} == {}
