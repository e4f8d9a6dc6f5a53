"""Two lists below the compared maps: side by side where there is room, one behind the other where there is not."""

from __future__ import annotations

from PySide6.QtCore import Qt, Slot
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QSplitter, QTabBar, QVBoxLayout, QWidget

_ROOM_FOR_BOTH = 760


class TwoLists(QWidget):
    """Below `_ROOM_FOR_BOTH` pixels tabs say which list is shown."""

    def __init__(self, first: QWidget, second: QWidget, titles: tuple[str, str]) -> None:
        super().__init__()
        self._lists = (first, second)
        self.tabs = QTabBar()
        self.tabs.setExpanding(False)
        self.tabs.setDrawBase(False)
        self.tabs.setAccessibleName("Which list is shown")
        for text in titles:
            self.tabs.addTab(text)
        self._splitter = QSplitter(Qt.Orientation.Horizontal)
        for widget in self._lists:
            self._splitter.addWidget(widget)
        self._splitter.setSizes([680, 320])
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(self.tabs)
        layout.addWidget(self._splitter, 1)
        self.tabs.currentChanged.connect(self._arrange)
        self._arrange()

    def name_second(self, title: str) -> None:
        """Give the second list another title."""
        self.tabs.setTabText(1, title)

    @property
    def both(self) -> bool:
        """Whether both lists have room."""
        return self.width() >= _ROOM_FOR_BOTH

    def resizeEvent(self, event: QResizeEvent) -> None:
        """There may be room for both now, or no longer."""
        super().resizeEvent(event)
        self._arrange()

    @Slot()
    def _arrange(self) -> None:
        self.tabs.setVisible(not self.both)
        for place, widget in enumerate(self._lists):
            widget.setVisible(self.both or place == self.tabs.currentIndex())
