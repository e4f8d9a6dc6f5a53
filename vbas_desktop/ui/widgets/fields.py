"""Small building blocks: titles, fields with the label above and the message below."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtWidgets import QAbstractSpinBox, QComboBox, QHBoxLayout, QLabel, QLayout, QVBoxLayout, QWidget

from vbas_desktop.settings.declaration import Setting
from vbas_desktop.ui.theme import GRID


def set_look(widget: QWidget, look: str) -> None:
    """Change the look of a widget (see `stylesheet`) and draw it anew."""
    if widget.property("look") != look:
        widget.setProperty("look", look)
        widget.style().unpolish(widget)
        widget.style().polish(widget)


def title(text: str) -> QLabel:
    """The title of a group."""
    label = QLabel(text)
    label.setProperty("look", "title")
    label.setIndent(0)
    return label


def muted(text: str = "") -> QLabel:
    """A line of less important text."""
    label = QLabel(text)
    label.setProperty("look", "muted")
    label.setWordWrap(True)
    return label


class _NoWheel(QObject):
    """Keeps the wheel for scrolling the panel: a field changes only when it has the focus."""

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Swallow wheel events of unfocused fields."""
        if event.type() is QEvent.Type.Wheel and isinstance(watched, QWidget) and not watched.hasFocus():
            event.ignore()
            return True
        return False


def without_wheel(widget: QWidget) -> None:
    """Let the wheel scroll the panel instead of changing this field by accident."""
    widget.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
    widget.installEventFilter(_NoWheel(widget))


class Field(QWidget):
    """A widget with its label above and, if something is wrong, the message below."""

    def __init__(self, label: str, widget: QWidget, help: str = "") -> None:
        super().__init__()
        self.widget = widget
        self.caption = QLabel(label)
        self.caption.setBuddy(widget)
        self.message = QLabel()
        self.message.setProperty("look", "error")
        self.message.setWordWrap(True)
        self.message.hide()
        for part in (self.caption, widget):
            part.setToolTip(help)
        widget.setAccessibleName(label.replace("&", ""))
        widget.setAccessibleDescription(help)
        if isinstance(widget, QComboBox | QAbstractSpinBox):
            without_wheel(widget)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(GRID // 4)
        layout.addWidget(self.caption)
        layout.addWidget(widget)
        layout.addWidget(self.message)

    def say(self, message: str) -> None:
        """Show what is wrong here; an empty message takes it away."""
        self.message.setText(message)
        self.message.setVisible(bool(message))
        set_look(self.widget, "wrong" if message else "")


def with_button(field: Field, button: QWidget) -> QWidget:
    """A field with a button at its end, on one line."""
    row = QWidget()
    line = QHBoxLayout(row)
    line.setContentsMargins(0, 0, 0, 0)
    line.addWidget(field, 1)
    line.addWidget(button, 0, Qt.AlignmentFlag.AlignBottom)
    return row


def setting_field(declared: Setting, widget: QWidget) -> Field:
    """A field with the label and the help of a setting."""
    return Field(declared.label, widget, declared.help.removesuffix("."))


def clear(layout: QLayout) -> None:
    """Take everything out of a layout and delete it."""
    while (item := layout.takeAt(0)) is not None:
        widget, inner = item.widget(), item.layout()
        if widget is not None:
            widget.hide()
            widget.deleteLater()
        elif inner is not None:
            clear(inner)


class EmptyState(QWidget):
    """One muted sentence in the middle."""

    def __init__(self, text: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.label = QLabel(text)
        self.label.setProperty("look", "muted")
        self.label.setWordWrap(True)
        self.label.setAlignment(Qt.AlignmentFlag.AlignCenter)
        layout = QVBoxLayout(self)
        layout.addStretch(1)
        layout.addWidget(self.label)
        layout.addStretch(1)
