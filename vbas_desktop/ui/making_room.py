"""In a small window the panel steps aside for what needs the width: the tools, and two maps beside each other."""

from __future__ import annotations

from PySide6.QtCore import QObject, Slot
from PySide6.QtGui import QAction

ROOMY = 1280
"""From this width on, a tool and the panel stand beside each other."""


class MakingRoom(QObject):
    """Switches the panel (``action``) off and on again. Whoever switches it by hand has the last word until something
    else is shown.
    """

    def __init__(self, action: QAction, parent: QObject) -> None:
        super().__init__(parent)
        self._action = action
        self._wide, self._small, self._by_hand, self._aside = False, False, False, False
        action.triggered.connect(self._on_triggered)

    @property
    def aside(self) -> bool:
        """Whether the panel stepped aside and will come back by itself."""
        return self._aside

    def show_wide(self, wide: bool) -> None:
        """Something that needs the width is shown, or no longer."""
        if wide != self._wide:
            self._by_hand = False
        self._wide = wide
        self._arrange()

    def resize(self, width: int) -> None:
        """The window has another width."""
        self._small = width < ROOMY
        self._arrange()

    @Slot()
    def _on_triggered(self) -> None:
        self._by_hand, self._aside = True, False

    def _arrange(self) -> None:
        if self._wide and self._small and not self._by_hand and self._action.isChecked():
            self._aside = True
            self._action.setChecked(False)
        elif self._aside and not (self._wide and self._small):
            self._aside = False
            self._action.setChecked(True)
