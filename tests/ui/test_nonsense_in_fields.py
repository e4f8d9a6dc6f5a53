"""Nonsense in a field does no harm: no error dialog, no exception, and the last valid value stays in force."""

from __future__ import annotations

import pytest
from persons import run_to_the_end
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import (
    QAbstractSpinBox,
    QApplication,
    QComboBox,
    QDoubleSpinBox,
    QLineEdit,
    QMessageBox,
    QPlainTextEdit,
    QSpinBox,
    QTableWidget,
    QTableWidgetItem,
    QWidget,
)
from tour import Tour

from vbas_desktop.ui.core.worker import Worker
from vbas_desktop.ui.pages import COMPARE, PAGES
from vbas_desktop.ui.pages.risky.rule_table import RuleTable

NONSENSE = (
    *("", "   ", "abc", "-1", "200", "1e999", "nan", "½", ",;=", "@nowhere", "~nobody", "\0"),
    *("9" * 300, "9" * 5000, "x" * 5000),
)


def is_part_of_a_field(widget: QWidget) -> bool:
    parent = widget.parentWidget()
    return widget.objectName().startswith("qt_") or isinstance(parent, QAbstractSpinBox | QComboBox)


def fields_of(root: QWidget) -> list[QWidget]:
    """Everything under a widget that can be typed into now."""
    texts = [
        each
        for kind in (QLineEdit, QPlainTextEdit)
        for each in root.findChildren(kind)
        if not each.isReadOnly()
    ]
    lists = [each for each in root.findChildren(QComboBox) if each.isEditable()]
    found = [*texts, *lists, *root.findChildren(QAbstractSpinBox)]
    return [
        each for each in found if each.isVisible() and each.isEnabled() and not is_part_of_a_field(each)
    ]


def text_of(field: QWidget) -> str:
    if isinstance(field, QPlainTextEdit):
        return field.toPlainText()
    if isinstance(field, QLineEdit):
        return field.text()
    return field.findChild(QLineEdit).text()


def type_into(field: QWidget, text: str) -> None:
    """Replace what a field holds, as a person does with the clipboard, and leave it."""
    inner = field if isinstance(field, QLineEdit | QPlainTextEdit) else field.findChild(QLineEdit)
    field.setFocus()
    inner.selectAll()
    if text:
        QGuiApplication.clipboard().setText(text)
        inner.paste()
    elif isinstance(inner, QLineEdit):
        inner.del_()
    else:
        inner.textCursor().removeSelectedText()
    QApplication.processEvents()
    field.clearFocus()
    QApplication.processEvents()


def name_of(field: QWidget) -> str:
    return field.accessibleName() or field.toolTip() or type(field).__name__


def cells_of(root: QWidget) -> list[QTableWidgetItem]:
    """One cell of each column that can be edited, of each table in sight."""
    tables = [
        table for table in root.findChildren(QTableWidget) if table.isVisible() and table.isEnabled()
    ]
    cells = [
        table.item(0, column)
        for table in tables
        if table.rowCount()
        for column in range(table.columnCount())
    ]
    wanted = Qt.ItemFlag.ItemIsEditable | Qt.ItemFlag.ItemIsEnabled
    return [cell for cell in cells if cell is not None and cell.flags() & wanted == wanted]


class Harm:
    """Collects what must not happen while somebody types: message boxes and jobs that fail for unforeseen reasons."""

    def __init__(self, window) -> None:
        self._window = window
        self._failures = []
        for worker in window.findChildren(Worker):
            worker.job_failed.connect(self._failures.append)

    def seen(self) -> list[str]:
        boxes = [
            box
            for box in QApplication.topLevelWidgets()
            if isinstance(box, QMessageBox) and box.isVisible()
        ]
        found = [f"{box.text()} {box.informativeText()}" for box in boxes]
        found += [failure.message for failure in self._failures if "unforeseen" in failure.message]
        self._failures.clear()
        return found


class Typist:
    """Types nonsense into fields, each of them once, and puts back what was in it."""

    def __init__(self, window) -> None:
        self._harm = Harm(window)
        self._done: list[QWidget] = []
        self.wrong: list[str] = []

    def fill_in(self, root: QWidget) -> int:
        """Go through the fields that are in sight; tells how many were new."""
        new = [field for field in fields_of(root) if not any(field is other for other in self._done)]
        self._done += new
        for field in new:
            self._type_nonsense(field)
        for cell in cells_of(root):
            self._edit_nonsense(cell)
        return len(new)

    def _type_nonsense(self, field: QWidget) -> None:
        number = isinstance(field, QSpinBox | QDoubleSpinBox)
        before = field.value() if number else text_of(field)
        for text in NONSENSE:
            type_into(field, text)
            self.wrong += [f"{name_of(field)}, {text[:20]!r}: {said}" for said in self._harm.seen()]
        if number:
            field.setValue(before)
        else:
            type_into(field, before)

    def _edit_nonsense(self, cell: QTableWidgetItem) -> None:
        before, table = cell.text(), cell.tableWidget().accessibleName()
        for text in NONSENSE:
            cell.setText(text)
            QApplication.processEvents()
            self.wrong += [f"{table}, {text[:20]!r}: {said}" for said in self._harm.seen()]
        cell.setText(before)


def test_nonsense_in_every_field_of_the_window(window, data, tmp_path, qtbot):
    """The fields are found by walking the widgets of every tab, page and dialog."""
    typist, fields = Typist(window), 0
    for stop, widget in Tour(window, tmp_path, data).stops():
        # Other settings clear the plan of the appointments, which the next stops show; its page comes last.
        if not stop.startswith("appointments") and not isinstance(widget, QMessageBox):
            fields += typist.fill_in(widget.window())
    for page in PAGES:
        shown = window.area.show_page(page)
        for rules in shown.findChildren(RuleTable):
            rules.add.click()
        fields += typist.fill_in(shown)
    assert not typist.wrong, "\n".join(typist.wrong)
    assert fields > 100


def test_nonsense_beside_the_map_once_there_are_results_and_every_page_was_opened(run_window):
    """A value of Input has more readers then."""
    for page in PAGES:
        run_window.area.show_page(page)
    run_window.area.show_map()
    typist = Typist(run_window)
    for tab in ("Input", "Results", "Regions"):
        run_window.show_tab(tab)
        assert typist.fill_in(run_window)
    assert not typist.wrong, "\n".join(typist.wrong)


@pytest.mark.parametrize("text", ["", "abc", "200", "-1", "9" * 400])
def test_the_last_valid_allowed_loss_stays_in_force_and_is_named_below(loaded_window, qtbot, text):
    window, state = loaded_window, loaded_window.state
    field = window.input.privacy.loss
    type_into(field.widget, "2.5")
    type_into(field.widget, text)
    assert state.choices.allowed_loss_percent == 2.5
    assert field.message.isVisible()
    wrong = "“Allowed loss (percent)” must be a number at least 0 and at most 100."
    assert field.message.text() == f"{wrong} The last valid entry stays in force: 2.5."
    run_to_the_end(window, qtbot)
    assert state.entries[0].run.result.allowed_loss_percent == 2.5
    type_into(field.widget, "3")
    assert field.message.isHidden()
    assert state.choices.allowed_loss_percent == 3.0


def test_a_run_works_with_the_last_valid_values_while_every_field_of_input_holds_nonsense(
    loaded_window, qtbot
):
    window, before = loaded_window, loaded_window.state.choices
    window.input.approach.change.setChecked(True)
    window.input.approaches.constraints.unfold.setChecked(True)
    fields = fields_of(window.input)
    assert len(fields) >= 8
    for field in fields:
        type_into(field, ",,")
    assert window.state.choices == before
    run_to_the_end(window, qtbot)
    assert window.state.entries


def test_a_field_shows_the_value_in_force_again_when_that_changes(loaded_window):
    state = loaded_window.state
    field = loaded_window.input.privacy.loss
    type_into(field.widget, "abc")
    state.change(state.choices.with_allowed_loss(4.0))
    assert field.widget.text() == "4"
    assert field.message.isHidden()


@pytest.mark.parametrize("text", ["5, x", "0", "", "1000001", "9" * 5000])
def test_the_values_of_k_to_compare_stay_as_they_were(loaded_window, text):
    form = loaded_window.area.show_page(COMPARE).form
    form.ks.setText("3, 5")
    form.ks.setText(text)
    assert form.ticked().ks == (3, 5)
    assert form.ks_field.message.text() == (
        "Enter whole numbers from 1 to 1,000,000, with commas between them. The last valid entry stays in force: 3, 5."
    )
