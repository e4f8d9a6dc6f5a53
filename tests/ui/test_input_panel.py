"""The main job in the Input panel: eight controls in sight, everything else one click away, the top first."""

from __future__ import annotations

import pytest
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractItemView,
    QAbstractSpinBox,
    QApplication,
    QComboBox,
    QLineEdit,
    QScrollArea,
    QWidget,
)

LONG = 60_000
CONTROLS = (QAbstractButton, QAbstractSpinBox, QComboBox, QLineEdit)


def visible_controls(panel: QWidget) -> list[QWidget]:
    """List what can be pressed, chosen or typed into, besides the column table; a field counts once."""
    controls = [widget for kind in CONTROLS for widget in panel.findChildren(kind) if widget.isVisible()]
    return [
        widget
        for widget in controls
        if not isinstance(widget.parent(), (QAbstractSpinBox, QComboBox))
        and not any(view.isAncestorOf(widget) for view in panel.findChildren(QAbstractItemView))
    ]


@pytest.fixture
def sample_window(window, qtbot):
    with qtbot.waitSignal(window.worker.job_ended, timeout=LONG):
        window.data_commands.load_sample()
    return window


def test_the_main_job_has_at_most_eight_visible_controls(sample_window):
    shown = visible_controls(sample_window.input)
    named = [widget.accessibleName() or widget.text() for widget in shown]
    assert len(shown) <= 8, named
    assert sample_window.input.run in shown
    assert sample_window.input.privacy.form.editors["k"] in shown
    assert sample_window.input.privacy.loss.widget in shown


def test_one_click_shows_all_settings_of_the_approaches_and_hides_them(sample_window):
    panel = sample_window.input
    assert panel.approach.words.text() == "Approach: Balanced density, Voronoi"
    assert not panel.approaches.isVisible()
    panel.approach.change.click()
    assert all(choice.combo.isVisible() for choice in panel.approaches.choices.values())
    assert panel.approaches.suppression.editors["unknown_regions"].isVisible()
    panel.approach.change.click()
    assert not panel.approaches.isVisible()


def test_the_line_on_the_approaches_follows_the_choice(loaded_window):
    state = loaded_window.state
    state.change(state.choices.with_approach("site_number", "fixed").with_approach("tiers", "auto"))
    words = loaded_window.input.approach.words.text()
    assert words.startswith("Approach: Fixed")
    assert ", Balanced density, Voronoi" in words


def test_the_panel_begins_at_its_top_after_loading(loaded_window, data, qtbot):
    panel = loaded_window.input
    panel.approach.change.click()
    QApplication.processEvents()
    bar = panel.findChild(QScrollArea).verticalScrollBar()
    bar.setValue(bar.maximum())
    assert bar.value() > 0
    with qtbot.waitSignal(loaded_window.worker.job_ended, timeout=LONG):
        loaded_window.data_commands.reload()
    assert bar.value() == 0


def test_what_is_wrong_with_a_field_is_in_its_accessible_description(loaded_window):
    loss = loaded_window.input.privacy.loss
    helped = loss.widget.accessibleDescription()
    loss.widget.setText("200")
    loss.widget.textEdited.emit("200")
    assert loss.widget.accessibleDescription() == loss.message.text()
    assert "must be a number at least 0 and at most 100" in loss.message.text()
    loaded_window.state.change(loaded_window.state.choices.with_allowed_loss(2.0))
    assert loss.widget.accessibleDescription() == helped


def test_every_list_of_the_panel_has_a_name(loaded_window):
    assert [
        combo for combo in loaded_window.input.findChildren(QComboBox) if not combo.accessibleName()
    ] == []
