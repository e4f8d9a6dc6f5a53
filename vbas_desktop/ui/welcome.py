"""The first thing a new user sees: what this is, and three ways to begin."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from PySide6.QtCore import QSize, Qt, Signal, SignalInstance, Slot
from PySide6.QtGui import QIcon
from PySide6.QtWidgets import QHBoxLayout, QLabel, QPushButton, QVBoxLayout, QWidget

from vbas_desktop.files.places import resource

from .theme import GRID, Theme

_MOST_OFFERED = 6
_TEXT = (
    "Make a record file k-anonymous by merging small regions. "
    "You need two files: the records, and the regions with their coordinates."
)


class Welcome(QWidget):
    """Three buttons and what was opened lately; also says that files can be dropped."""

    data_wanted = Signal()
    project_wanted = Signal()
    sample_wanted = Signal()

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        picture = QLabel()
        picture.setPixmap(QIcon(str(resource("icons/vbas.svg"))).pixmap(QSize(72, 72)))
        heading = QLabel("VBAS Desktop")
        heading.setProperty("look", "heading")
        text = QLabel(_TEXT)
        text.setWordWrap(True)
        text.setFixedWidth(480)
        text.setAlignment(Qt.AlignmentFlag.AlignCenter)
        text.setMinimumHeight(text.heightForWidth(text.width()))
        hint = QLabel("or drop the files here")
        hint.setProperty("look", "muted")
        self.buttons = {
            "open": self._button("&Open data…", self.data_wanted, "primary"),
            "project": self._button("Open &project…", self.project_wanted, "plain"),
            "sample": self._button("Tr&y the sample data", self.sample_wanted, "plain"),
        }
        row = QHBoxLayout()
        row.addStretch(1)
        for button in self.buttons.values():
            row.addWidget(button)
        row.addStretch(1)
        layout = QVBoxLayout(self)
        layout.setSpacing(2 * GRID)
        layout.addStretch(2)
        for widget in (picture, heading, text):
            layout.addWidget(widget, 0, Qt.AlignmentFlag.AlignHCenter)
        layout.addLayout(row)
        layout.addWidget(hint, 0, Qt.AlignmentFlag.AlignHCenter)
        self._recent_title = QLabel("Opened lately")
        self._recent_title.setProperty("look", "muted")
        self._recent_title.hide()
        self._recent = QVBoxLayout()
        self._recent.setSpacing(0)
        layout.addWidget(self._recent_title, 0, Qt.AlignmentFlag.AlignHCenter)
        layout.addLayout(self._recent)
        layout.addStretch(3)
        theme.changed.connect(self._on_theme_changed)
        self._on_theme_changed()

    def offer_recent(self, recent: Sequence[tuple[str, str, Callable[[], object]]]) -> None:
        """Offer what was opened lately: name, tip, and what opens it."""
        while (item := self._recent.takeAt(0)) is not None:
            if (widget := item.widget()) is not None:
                widget.deleteLater()
        self._recent_title.setVisible(bool(recent))
        for name, tip, follow in recent[:_MOST_OFFERED]:
            button = QPushButton(name.replace("&", "&&"))
            button.setFlat(True)
            button.setProperty("look", "link")
            button.setCursor(Qt.CursorShape.PointingHandCursor)
            button.setToolTip(tip)
            button.clicked.connect(partial(self._open, follow))
            self._recent.addWidget(button, 0, Qt.AlignmentFlag.AlignHCenter)

    @staticmethod
    def _open(follow: Callable[[], object], checked: bool = False) -> None:
        follow()

    def _button(self, text: str, signal: SignalInstance, look: str) -> QPushButton:
        button = QPushButton(text)
        button.setProperty("look", look)
        button.clicked.connect(signal)
        return button

    @Slot()
    def _on_theme_changed(self) -> None:
        for name, button in self.buttons.items():
            if name != "open":
                button.setIcon(self._theme.icon(name))
