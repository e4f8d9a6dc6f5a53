"""Two lists: side by side where there is room, one behind the other where there is not."""

from __future__ import annotations

from collections.abc import Mapping

from PySide6.QtCore import Slot
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QTabBar, QWidget

from vbas_desktop.ui.theme import GRID

from .building import in_column, split
from .fields import title


class TwoLists(QWidget):
    """Where it is narrower than ``room`` pixels, tabs say which list is shown. With ``titled`` the titles stand above
    the lists where both are seen. ``shares`` are the widths to begin with.
    """

    def __init__(self, lists: Mapping[str, QWidget], room: int, shares: tuple[int, int], titled: bool = False) -> None:
        super().__init__()
        self._room, self._titled = room, titled
        self._sides = [QWidget() for _ in lists]
        self._titles = [title(text) for text in lists]
        self.tabs = QTabBar()
        self.tabs.setExpanding(False)
        self.tabs.setDrawBase(False)
        self.tabs.setAccessibleName("Which list is shown")
        for (text, widget), side, label in zip(lists.items(), self._sides, self._titles, strict=True):
            self.tabs.addTab(text)
            in_column(label, (widget, 1), within=side, margins=0, spacing=GRID // 4)
        in_column(self.tabs, (split(*self._sides, sizes=shares), 1), within=self, margins=0, spacing=0)
        self.tabs.currentChanged.connect(self._arrange)
        self._arrange()

    @property
    def both(self) -> bool:
        """Whether both lists have room."""
        return self.width() >= self._room

    def resizeEvent(self, event: QResizeEvent) -> None:
        """There may be room for both now, or no longer."""
        super().resizeEvent(event)
        self._arrange()

    @Slot()
    def _arrange(self) -> None:
        self.tabs.setVisible(not self.both)
        for place, (side, label) in enumerate(zip(self._sides, self._titles, strict=True)):
            label.setVisible(self.both and self._titled)
            side.setVisible(self.both or place == self.tabs.currentIndex())
