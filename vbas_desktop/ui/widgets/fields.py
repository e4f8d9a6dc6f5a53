"""Small building blocks: titles, fields with label and message, lines that unfold, texts that give way."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from PySide6.QtCore import QEvent, QObject, QSize, Qt, Slot
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import (
    QAbstractSpinBox,
    QApplication,
    QComboBox,
    QLabel,
    QLayout,
    QSizePolicy,
    QStackedLayout,
    QToolButton,
    QWidget,
)

from vbas_desktop.model.findings import InputError
from vbas_desktop.model.text import escape_lines
from vbas_desktop.settings.option import Option

from ..core.theme import GRID
from .layouts import hbox, vbox, with_properties
from .plain_text import Label, menu_text, set_tool_tip

_LONGEST_NAME = 24


def set_variant(widget: QWidget, look: str) -> None:
    """Change the look of a widget (see `stylesheet`) and draw it anew."""
    if widget.property("look") != look:
        widget.setProperty("look", look)
        widget.style().unpolish(widget)
        widget.style().polish(widget)
        # Polishing alone leaves a frame as wide as it was: labels would cut their text where one appears.
        QApplication.sendEvent(widget, QEvent(QEvent.Type.StyleChange))


def heading_label(text: str) -> QLabel:
    """Make the title of a group."""
    return with_properties(Label(text), look="title", indent=0)


def message_label(text: str = "", look: str = "", **properties: object) -> QLabel:
    """Words that may take several lines."""
    return with_properties(Label(text), look=look, wordWrap=True, **properties)


def hint_label(text: str = "") -> QLabel:
    """Make a line of less important text."""
    return message_label(text, "muted")


@contextmanager
def show_input_errors(label: QLabel) -> Iterator[None]:
    """Within it, what is wrong with an input is said in a label, which says nothing otherwise."""
    label.clear()
    try:
        yield
    except InputError as error:
        label.setText("\n".join(str(finding) for finding in error.findings))


class _NoWheel(QObject):
    """Keeps the wheel for scrolling the panel: a field changes only when it has the focus."""

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Swallow wheel events of unfocused fields."""
        if event.type() is QEvent.Type.Wheel and isinstance(watched, QWidget) and not watched.hasFocus():
            event.ignore()
            return True
        return False


def ignore_wheel_unless_focused(widget: QWidget) -> None:
    """Let the wheel scroll the panel instead of changing this field by accident."""
    widget.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
    widget.installEventFilter(_NoWheel(widget))


class Field(QWidget):
    """A widget with its label above and, if something is wrong, the message below. A ``narrow`` one takes what room
    there is.
    """

    def __init__(self, label: str, widget: QWidget, help: str = "", narrow: bool = False) -> None:
        super().__init__()
        self.widget = widget
        self._help = help
        self.caption = Label(label)
        self.caption.setBuddy(widget)
        self.message = message_label(look="error")
        self.message.hide()
        if narrow:
            with_properties(widget, minimumWidth=1)
            with_properties(self.caption, minimumWidth=1, wordWrap=True)
        for part in (self.caption, widget):
            set_tool_tip(part, help)
        with_properties(widget, accessibleName=label.replace("&", ""), accessibleDescription=help)
        if isinstance(widget, QComboBox | QAbstractSpinBox):
            ignore_wheel_unless_focused(widget)
        vbox(self.caption, widget, self.message, within=self, margins=0, spacing=GRID // 4)

    def show_error(self, message: str) -> None:
        """Show what is wrong here; an empty message takes it away."""
        self.message.setText(message)
        self.message.setVisible(bool(message))
        self.widget.setAccessibleDescription(message or self._help)
        set_variant(self.widget, "wrong" if message else "")

    def show_rejected(self, message: str, in_force: str) -> None:
        """Show what is wrong with the text in the field, and which value counts instead."""
        self.show_error(f"{message} The last valid entry stays in force: {in_force or 'none'}.")


def with_button(field: Field, button: QWidget) -> QWidget:
    """Put a button at the end of a field, on one line."""
    row = QWidget()
    hbox((field, 1), (button, 0, Qt.AlignmentFlag.AlignBottom), within=row, margins=0)
    return row


def captioned(text: str, widget: QWidget) -> QWidget:
    """Put a label before a widget, on one line. Assistive technology reads the label, too."""
    row = QWidget()
    caption = with_properties(Label(text), look="muted")
    caption.setBuddy(widget)
    hbox(caption, (widget, 1), within=row, margins=0, spacing=GRID // 2)
    return row


def setting_field(declared: Option, widget: QWidget) -> Field:
    """Make a field with the label and the help of a setting."""
    return Field(declared.label, widget, declared.help.removesuffix("."))


def clear_layout(layout: QLayout) -> None:
    """Take everything out of a layout and delete it."""
    while (item := layout.takeAt(0)) is not None:
        widget = item.widget()
        inner = item.layout()
        if widget is not None:
            widget.hide()
            widget.deleteLater()
        elif inner is not None:
            clear_layout(inner)


class Placeholder(QWidget):
    """One muted sentence in the middle."""

    def __init__(self, text: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.label = message_label(text, "muted", alignment=Qt.AlignmentFlag.AlignCenter)
        vbox(1, self.label, 1, within=self)


class ContentOrPlaceholder(QStackedLayout):
    """Shows content within a widget or, while there is none, a sentence that says what to do."""

    def __init__(self, text: str, content: QWidget, within: QWidget) -> None:
        super().__init__(within)
        self.empty = Placeholder(text)
        self.content = content
        self.addWidget(self.empty)
        self.addWidget(content)

    def show_content(self, there_is: bool) -> None:
        """Show the content, or the sentence."""
        self.setCurrentWidget(self.content if there_is else self.empty)


class CollapsibleSection(QToolButton):
    """Shows and hides ``content``; folded at first. Without content whoever listens to ``toggled`` does it."""

    def __init__(self, text: str = "", content: QWidget | None = None) -> None:
        super().__init__()
        self._content = content
        with_properties(self, text=text, checkable=True, autoRaise=True, look="unfold")
        self.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        self.toggled.connect(self._on_toggled)
        self._on_toggled(False)

    @Slot(bool)
    def _on_toggled(self, unfolded: bool) -> None:
        self.setArrowType(Qt.ArrowType.DownArrow if unfolded else Qt.ArrowType.RightArrow)
        if self._content is not None:
            self._content.setVisible(unfolded)


class ElidedLabel(Label):
    """One line that never asks for more room than there is."""

    def __init__(self, text: str = "", mode: Qt.TextElideMode = Qt.TextElideMode.ElideRight) -> None:
        super().__init__()
        self._full = ""
        self._mode = mode
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self.setText(text)

    def setText(self, text: str) -> None:
        """Show a text, as much of it as fits."""
        self._full = escape_lines(text)
        self._elide()

    def text(self) -> str:
        """Return the whole text."""
        return self._full

    @property
    def shown(self) -> str:
        """The part that is seen."""
        return super().text()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Elide the text to the new width."""
        super().resizeEvent(event)
        self._elide()

    def minimumSizeHint(self) -> QSize:
        """Return the height alone: the text is elided to any width."""
        return QSize(0, super().minimumSizeHint().height())

    def _elide(self) -> None:
        shown = self.fontMetrics().elidedText(self._full, self._mode, self.contentsRect().width())
        # Dots alone say nothing and look like a button.
        super().setText(shown if len(shown) > 2 or shown == self._full else "")


def shorten_name(name: str) -> str:
    """Cut a name for a button, and keep its letters from being taken for a mnemonic."""
    short = name if len(name) <= _LONGEST_NAME else f"{name[: _LONGEST_NAME - 1]}…"
    return menu_text(short)
