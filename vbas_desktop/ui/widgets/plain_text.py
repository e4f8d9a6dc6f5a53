"""Show texts that hold names from files (columns, categories, regions, paths) as plain text, never as HTML.

Qt takes a label or a tool tip that looks like HTML for HTML: a column named ``<img src="/a/pipe">`` would make the
window open that file. All labels and tool tips of the window are made here.
"""

from __future__ import annotations

from html import escape
from textwrap import fill
from typing import Protocol

from PySide6 import QtGui
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QWidget

from vbas_desktop.model.text import escape_controls, escape_lines

TIP_WIDTH = 60
"""Characters on a line of a tool tip; a longer word, such as a path, stays whole."""


class HasToolTip(Protocol):
    """A widget, an action, or an item of a list or table."""

    def setToolTip(self, tip: str, /) -> None:
        """Take another tool tip."""


class Label(QLabel):
    """A label that shows its text as it is, with control and bidirectional characters escaped."""

    def __init__(self, text: str = "", parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setTextFormat(Qt.TextFormat.PlainText)
        QLabel.setText(self, escape_lines(text))

    def setText(self, text: str) -> None:
        """Show another text."""
        super().setText(escape_lines(text))


def tool_tip(text: str) -> str:
    """Return the text of a tool tip in lines of 60 characters, escaped as HTML if Qt would take it for HTML.

    Qt wraps HTML itself.
    """
    escaped = escape_lines(text)
    if QtGui.Qt.mightBeRichText(escaped):
        return QtGui.Qt.convertFromPlainText(escaped, Qt.WhiteSpaceMode.WhiteSpaceNormal)
    lines = escaped.split("\n")
    return "\n".join(
        fill(line, TIP_WIDTH, break_on_hyphens=False, break_long_words=False) for line in lines
    )


def set_tool_tip(target: HasToolTip, text: str) -> None:
    """Give a widget, an action or an item a tool tip of plain text."""
    target.setToolTip(tool_tip(text))


def rich_text(name: str) -> str:
    """Return a name as it stands in HTML that the program makes itself."""
    return escape(escape_lines(name))


def menu_text(name: str) -> str:
    """Return a name as the text of a button or menu entry: no letter of it is taken for a mnemonic."""
    return escape_controls(name).replace("&", "&&")
