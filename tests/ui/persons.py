"""What a person does in the window, for tests that drive it."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QMessageBox

from vbas_desktop.ui.panels.columns_section import ROLE

LONG = 120_000


def box(window) -> QMessageBox:
    boxes = [child for child in window.findChildren(QMessageBox) if child.isVisible()]
    assert len(boxes) == 1, [item.text() for item in boxes]
    return boxes[0]


def answer(window, text: str) -> None:
    shown = box(window)
    next(button for button in shown.buttons() if button.text().replace("&", "") == text).click()


def run_to_the_end(window, qtbot) -> None:
    with qtbot.waitSignal(window.worker.job_ended, timeout=LONG):
        window.menus.actions["run"].trigger()


def wait_for_estimate(window, qtbot, action) -> None:
    with qtbot.waitSignal(window.input.estimator.estimated, timeout=LONG):
        action()


def choose_role(window, column: str, key: Qt.Key, qtbot) -> None:
    columns = window.input.columns
    row = next(i for i in range(columns.model.rowCount()) if columns.model.facts(i).name == column)
    columns.view.setCurrentIndex(columns.model.index(row, ROLE))
    qtbot.keyClick(columns.view, key)


def choose_from(combo, text: str, qtbot) -> None:
    """Choose from a list once it offers that."""
    qtbot.waitUntil(lambda: combo.findText(text) >= 0, timeout=LONG)
    combo.setCurrentIndex(combo.findText(text))
    combo.activated.emit(combo.currentIndex())
