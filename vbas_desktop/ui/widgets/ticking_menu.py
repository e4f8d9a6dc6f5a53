"""A menu of ticks that stays open while they are set."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QAction, QKeyEvent, QMouseEvent
from PySide6.QtWidgets import QMenu, QWidget

_TICKING_KEYS = (Qt.Key.Key_Space, Qt.Key.Key_Return, Qt.Key.Key_Enter)


class TickingMenu(QMenu):
    """Choosing an entry with a tick box sets it and leaves the menu open; Escape or a click beside it closes it."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setToolTipsVisible(True)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """Set a tick without closing."""
        action = self.actionAt(event.position().toPoint())
        if action is None or not self._tick(action):
            super().mouseReleaseEvent(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Set a tick without closing."""
        action = self.activeAction()
        if event.key() not in _TICKING_KEYS or action is None or not self._tick(action):
            super().keyPressEvent(event)

    @staticmethod
    def _tick(action: QAction) -> bool:
        if not (action.isCheckable() and action.isEnabled()):
            return False
        action.trigger()
        return True
