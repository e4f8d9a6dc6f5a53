"""Text that gives way: shortened with dots where there is no room, read in full in its tip."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QLabel, QSizePolicy

_LONGEST_NAME = 24


class ElidedLabel(QLabel):
    """One line that never asks for more room than there is."""

    def __init__(self, text: str = "", mode: Qt.TextElideMode = Qt.TextElideMode.ElideRight) -> None:
        super().__init__()
        self._full, self._mode = "", mode
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self.setText(text)

    def setText(self, text: str) -> None:
        """Show a text, as much of it as fits."""
        self._full = text
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
    return short.replace("&", "&&")
