"""Small building blocks: titles, fields with label and message, lines that unfold, texts that give way."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from PySide6.QtCore import QEvent, QObject, QPointF, QSize, Qt, Slot
from PySide6.QtGui import QHelpEvent, QResizeEvent
from PySide6.QtWidgets import (
    QAbstractSpinBox,
    QApplication,
    QBoxLayout,
    QComboBox,
    QGridLayout,
    QLabel,
    QLayout,
    QSizePolicy,
    QStackedLayout,
    QToolButton,
    QToolTip,
    QWidget,
)

from vbas_desktop.model.errors import InputError
from vbas_desktop.model.names import escape_lines
from vbas_desktop.settings.declaration import Setting
from vbas_desktop.ui.theme import GRID
from vbas_desktop.ui.widgets.plain_text import Label, menu_text, set_tool_tip, tool_tip

from .building import dress, in_column, in_grid, in_row

_LONGEST_NAME = 24


def set_look(widget: QWidget, look: str) -> None:
    """Change the look of a widget (see `stylesheet`) and draw it anew."""
    if widget.property("look") != look:
        widget.setProperty("look", look)
        widget.style().unpolish(widget)
        widget.style().polish(widget)
        # Polishing alone leaves a frame as wide as it was: labels would cut their text where one appears.
        QApplication.sendEvent(widget, QEvent(QEvent.Type.StyleChange))


def title(text: str) -> QLabel:
    """The title of a group."""
    return dress(Label(text), look="title", indent=0)


def told(text: str = "", look: str = "", **properties: object) -> QLabel:
    """Words that may take several lines."""
    return dress(Label(text), look=look, wordWrap=True, **properties)


def muted(text: str = "") -> QLabel:
    """A line of less important text."""
    return told(text, "muted")


@contextmanager
def saying_wrong(label: QLabel) -> Iterator[None]:
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


def without_wheel(widget: QWidget) -> None:
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
        self.caption = Label(label)
        self.caption.setBuddy(widget)
        self.message = told(look="error")
        self.message.hide()
        if narrow:
            dress(widget, minimumWidth=1)
            dress(self.caption, minimumWidth=1)
        for part in (self.caption, widget):
            set_tool_tip(part, help)
        dress(widget, accessibleName=label.replace("&", ""), accessibleDescription=help)
        if isinstance(widget, QComboBox | QAbstractSpinBox):
            without_wheel(widget)
        self._layout = in_column(self.caption, widget, self.message, within=self, margins=0, spacing=GRID // 4)

    def on_one_line(self) -> Field:
        """The field, with its label beside it: for one that stands beside a tick."""
        self._layout.setDirection(QBoxLayout.Direction.LeftToRight)
        self._layout.setSpacing(GRID)
        return self

    def say(self, message: str) -> None:
        """Show what is wrong here; an empty message takes it away."""
        self.message.setText(message)
        self.message.setVisible(bool(message))
        set_look(self.widget, "wrong" if message else "")

    def say_refused(self, message: str, in_force: str) -> None:
        """Show what is wrong with the text in the field, and which value counts instead."""
        self.say(f"{message} The last valid entry stays in force: {in_force or 'none'}.")


def in_pairs(*fields: tuple[str, QWidget, str], down: int = GRID // 2) -> QGridLayout:
    """Fields (label, widget, help) two by two, as narrow as there is room."""
    made: list[QWidget | None] = [Field(*each, narrow=True) for each in fields]
    if len(made) % 2:
        made.append(None)
    return in_grid(*zip(made[::2], made[1::2], strict=True), across=GRID, down=down, shares=(1, 1))


def with_button(field: Field, button: QWidget) -> QWidget:
    """A field with a button at its end, on one line."""
    row = QWidget()
    in_row((field, 1), (button, 0, Qt.AlignmentFlag.AlignBottom), within=row, margins=0)
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
        self.label = told(text, "muted", alignment=Qt.AlignmentFlag.AlignCenter)
        in_column(1, self.label, 1, within=self)


class Telling(QWidget):
    """A drawing whose parts tell what they are while the pointer rests on them. Subclasses say what in `tip_at`."""

    def tip_at(self, position: QPointF) -> str:
        """What is told of a place; empty: nothing."""
        raise NotImplementedError

    def event(self, event: QEvent) -> bool:
        """Tell of the place under the pointer."""
        if event.type() == QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            told = self.tip_at(QPointF(event.pos()))
            if told:
                QToolTip.showText(event.globalPos(), tool_tip(told), self)
                return True
            QToolTip.hideText()
        return super().event(event)


class OrEmpty(QStackedLayout):
    """What there is to see within a widget, or, as long as there is nothing, a sentence that says what to do."""

    def __init__(self, text: str, content: QWidget, within: QWidget) -> None:
        super().__init__(within)
        self.empty, self.content = EmptyState(text), content
        self.addWidget(self.empty)
        self.addWidget(content)

    def show_content(self, there_is: bool) -> None:
        """Show the content, or the sentence."""
        self.setCurrentWidget(self.content if there_is else self.empty)


class Unfold(QToolButton):
    """Shows and hides ``content``; folded at first. Without content whoever listens to ``toggled`` does it."""

    def __init__(self, text: str = "", content: QWidget | None = None) -> None:
        super().__init__()
        self._content = content
        dress(self, text=text, checkable=True, autoRaise=True, look="unfold")
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
        self._full, self._mode = "", mode
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self.setText(text)

    def setText(self, text: str) -> None:
        """Show a text, as much of it as fits."""
        self._full = escape_lines(text)
        self._elide()

    def text(self) -> str:
        """The whole text."""
        return self._full

    @property
    def shown(self) -> str:
        """The part that is seen."""
        return super().text()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Another part of the text fits."""
        super().resizeEvent(event)
        self._elide()

    def minimumSizeHint(self) -> QSize:
        """Any width will do."""
        return QSize(0, super().minimumSizeHint().height())

    def _elide(self) -> None:
        shown = self.fontMetrics().elidedText(self._full, self._mode, self.contentsRect().width())
        # Dots alone say nothing and look like a button.
        super().setText(shown if len(shown) > 2 or shown == self._full else "")


def short_name(name: str) -> str:
    """A name for a button: not longer than a button may be, and no letter of it taken for a mnemonic."""
    short = name if len(name) <= _LONGEST_NAME else f"{name[: _LONGEST_NAME - 1]}…"
    return menu_text(short)
