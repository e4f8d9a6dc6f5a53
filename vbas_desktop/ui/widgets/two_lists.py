"""Two lists: side by side where there is room, one behind the other where there is not."""

from __future__ import annotations

from collections.abc import Mapping

from PySide6.QtCore import Slot
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QTabBar, QWidget

from ..core.theme import GRID
from .fields import heading_label
from .layouts import splitter, vbox


class ResponsivePair(QWidget):
    """Two lists in one row, or behind tabs where the widget is narrower than ``width`` pixels. With ``titled`` the
    titles stand above the lists where both are visible. ``shares`` are the initial widths.
    """

    def __init__(
        self, lists: Mapping[str, QWidget], width: int, shares: tuple[int, int], titled: bool = False
    ) -> None:
        super().__init__()
        self._row_width = width
        self._titled = titled
        self._sides = [QWidget() for _ in lists]
        self._titles = [heading_label(text) for text in lists]
        self.tabs = QTabBar()
        self.tabs.setExpanding(False)
        self.tabs.setDrawBase(False)
        self.tabs.setAccessibleName("Which list is shown")
        for (text, widget), side, label in zip(lists.items(), self._sides, self._titles, strict=True):
            self.tabs.addTab(text)
            vbox(label, (widget, 1), within=side, margins=0, spacing=GRID // 4)
        vbox(self.tabs, (splitter(*self._sides, sizes=shares), 1), within=self, margins=0, spacing=0)
        self.tabs.currentChanged.connect(self._arrange)
        self._arrange()

    @property
    def both(self) -> bool:
        """Say if both lists fit."""
        return self.width() >= self._row_width

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Show both lists if both fit now, else that of the current tab."""
        super().resizeEvent(event)
        self._arrange()

    @Slot()
    def _arrange(self) -> None:
        self.tabs.setVisible(not self.both)
        for index, (side, label) in enumerate(zip(self._sides, self._titles, strict=True)):
            label.setVisible(self.both and self._titled)
            side.setVisible(self.both or index == self.tabs.currentIndex())
