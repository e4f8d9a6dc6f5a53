"""Messages: what happened, where, what to do; and questions whose answer decides what happens next."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QMessageBox, QTextEdit, QWidget

from vbas_desktop.model.text import escape_lines

from ..presentation.messages import TaskFailure
from ..widgets.layouts import with_properties
from ..widgets.plain_text import menu_text


def show_failure(parent: QWidget, failure: TaskFailure) -> QMessageBox:
    """Tell of a failed job; the traceback is behind "Show Details…"."""
    box = _box(parent, QMessageBox.Icon.Warning, failure.heading, failure.message)
    if failure.details:
        box.setDetailedText(failure.details)
        _widen(box.findChildren(QTextEdit))
    box.open()
    return box


def _widen(edits: list[QTextEdit]) -> None:
    """Give details the room of a line of code, which must not be broken."""
    for text in edits:
        with_properties(
            text,
            lineWrapMode=QTextEdit.LineWrapMode.NoWrap,
            minimumWidth=72 * text.fontMetrics().averageCharWidth(),
        )


def show_information(parent: QWidget, heading: str, text: str) -> QMessageBox:
    """Tell the user something that must not be overlooked."""
    box = _box(parent, QMessageBox.Icon.Information, heading, text)
    box.open()
    return box


def ask_question(
    parent: QWidget, heading: str, text: str, answers: Mapping[str, Callable[[], object]]
) -> QMessageBox:
    """Ask; each answer is a button with what follows. Closing the question is the last answer."""
    box = _box(parent, QMessageBox.Icon.Question, heading, text)
    box.setStandardButtons(QMessageBox.StandardButton.NoButton)
    buttons = {}
    for index, (label, follow) in enumerate(answers.items()):
        last = index == len(answers) - 1
        role = QMessageBox.ButtonRole.RejectRole if last else QMessageBox.ButtonRole.AcceptRole
        button = box.addButton(label, role)
        buttons[button] = follow
        if index == 0:
            box.setDefaultButton(button)
        if last:
            box.setEscapeButton(button)

    def on_finished(_: int) -> None:
        clicked = box.clickedButton()
        if clicked in buttons:
            buttons[clicked]()  # type: ignore[index]

    box.finished.connect(on_finished)
    box.open()
    return box


def ask_which_audience(
    parent: QWidget, name: str, recorded: str, same: Callable[[], object], other: Callable[[], object]
) -> QMessageBox:
    """Ask whether a name that is nearly that of an audience in the ledger means this audience."""
    heading = f"Is “{name.strip():.80}” the audience “{recorded:.80}” of the ledger?"
    text = "Their names are nearly the same. A release is compared with what its audience has already."
    return ask_question(
        parent,
        heading,
        text,
        {f"The same: {menu_text(recorded[:30])}": same, "Another audience": other, "Cancel": _nothing},
    )


def _nothing() -> None:
    pass


def _box(parent: QWidget, icon: QMessageBox.Icon, heading: str, text: str) -> QMessageBox:
    box = QMessageBox(parent)
    box.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    box.setIcon(icon)
    with_properties(box, windowTitle="VBAS Desktop", textFormat=Qt.TextFormat.PlainText)
    box.setText(escape_lines(heading))
    box.setInformativeText(escape_lines(text))
    return box
