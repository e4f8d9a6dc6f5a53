"""In a small window the panel steps aside for what needs the width: the tools, and two maps beside each other."""

from __future__ import annotations

from PySide6.QtCore import QObject, QSize, Qt, Slot
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QSplitter

ROOMY = 1280
"""From this width on, a tool and the panel stand beside each other."""


class YieldingSplitter(QSplitter):
    """Of what stands beside each other, asks only for the room of the first while the rest ``yields``: a window can be
    made small in one step, since the rest steps aside then.
    """

    def __init__(self) -> None:
        super().__init__(Qt.Orientation.Horizontal)
        self._yields = False

    def let_yield(self, yields: bool) -> None:
        """Whether the rest makes way when there is no room for it."""
        if yields != self._yields:
            self._yields = yields
            self.updateGeometry()

    def minimumSizeHint(self) -> QSize:
        """That of all, or of the first part."""
        usual, first = super().minimumSizeHint(), self.widget(0)
        if not self._yields or first is None:
            return usual
        return QSize(first.minimumSizeHint().width(), usual.height())


class MakingRoom(QObject):
    """Switches the panel (``action``) off and on again. Whoever switches it by hand has the last word until something
    else is shown.
    """

    def __init__(self, action: QAction, splitter: YieldingSplitter, parent: QObject) -> None:
        super().__init__(parent)
        self._action, self._splitter = action, splitter
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
        self._arrange()

    def _arrange(self) -> None:
        self._splitter.let_yield(self._wide and not self._by_hand)
        if self._wide and self._small and not self._by_hand and self._action.isChecked():
            self._aside = True
            self._action.setChecked(False)
        elif self._aside and not (self._wide and self._small):
            self._aside = False
            self._action.setChecked(True)
