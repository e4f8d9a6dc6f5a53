"""The highlighted entry of a drop-down list is seen: it has another colour than the entries around it."""

from __future__ import annotations

import pytest
from PySide6.QtGui import QColor
from PySide6.QtWidgets import QComboBox

from vbas_desktop.ui.core.theme import ALWAYS_DARK, ALWAYS_LIGHT, DARK, LIGHT


def colour_of_entry(combo: QComboBox, row: int) -> str:
    """The colour behind an entry of the open list, at the end of its line, where nothing is written."""
    view = combo.view()
    entry = view.visualRect(view.model().index(row, combo.modelColumn(), view.rootIndex()))
    image = view.viewport().grab().toImage()
    return QColor(image.pixel(entry.right() - 3, entry.center().y())).name()


@pytest.mark.parametrize(
    ("theme", "colours"), [(ALWAYS_LIGHT, LIGHT), (ALWAYS_DARK, DARK)], ids=["light", "dark"]
)
def test_the_highlighted_entry_has_the_colour_of_a_selection(loaded_window, qtbot, theme, colours):
    loaded_window.theme.choose(theme)
    loaded_window.input.approach.change.click()
    combo = loaded_window.input.approaches.choices["site_location"].combo
    assert combo.count() > 3
    combo.showPopup()
    qtbot.waitExposed(combo.view().window())
    combo.view().setCurrentIndex(combo.model().index(2, 0))
    assert colour_of_entry(combo, 2) == colours.accent
    assert colour_of_entry(combo, 1) == colours.base
    combo.hidePopup()
