"""The start page: what the program does, three ways to begin, and recent files."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import QSize, Qt, Signal, SignalInstance
from PySide6.QtGui import QIcon
from PySide6.QtWidgets import QPushButton, QWidget

from vbas_desktop.io.paths import resource_path

from ..core.theme import GRID, Theme
from ..widgets.fields import clear_layout
from ..widgets.layouts import hbox, vbox, with_properties
from ..widgets.plain_text import Label, menu_text

_MOST_OFFERED = 6
_TEXT = (
    "Make a record file k-anonymous by merging small regions. "
    "You need two files: the records, and the regions with their coordinates."
)


class StartPage(QWidget):
    """Three buttons and the recent files; also says that files can be dropped."""

    data_requested = Signal()
    project_requested = Signal()
    sample_requested = Signal()

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        picture = Label()
        picture.setPixmap(QIcon(str(resource_path("icons/vbas.svg"))).pixmap(QSize(72, 72)))
        heading = with_properties(Label("VBAS Desktop"), look="heading")
        text = with_properties(Label(_TEXT), wordWrap=True)
        text.setFixedWidth(480)
        with_properties(
            text, alignment=Qt.AlignmentFlag.AlignCenter, minimumHeight=text.heightForWidth(text.width())
        )
        hint = with_properties(Label("or drop the files here"), look="muted")
        self.buttons = {
            "open": self._button("&Open data…", self.data_requested, "primary"),
            "project": self._button("Open &project…", self.project_requested, "plain"),
            "sample": self._button("Tr&y the sample data", self.sample_requested, "plain"),
        }
        row = hbox(1, *self.buttons.values(), 1)
        layout = vbox(
            2,
            (picture, 0, Qt.AlignmentFlag.AlignHCenter),
            (heading, 0, Qt.AlignmentFlag.AlignHCenter),
            (text, 0, Qt.AlignmentFlag.AlignHCenter),
            row,
            (hint, 0, Qt.AlignmentFlag.AlignHCenter),
            within=self,
            spacing=2 * GRID,
        )
        self._recent_title = with_properties(Label("Recent"), look="muted")
        self._recent_title.hide()
        self._recent = vbox(spacing=0)
        layout.addWidget(self._recent_title, 0, Qt.AlignmentFlag.AlignHCenter)
        layout.addLayout(self._recent)
        layout.addStretch(3)
        for name in ("project", "sample"):
            theme.set_icon(self.buttons[name], name)

    def offer_recent(self, recent: Sequence[tuple[str, str, Callable[[], object]]]) -> None:
        """Offer recent files: name, tip, and what opens them."""
        clear_layout(self._recent)
        self._recent_title.setVisible(bool(recent))
        for name, tip, follow in recent[:_MOST_OFFERED]:
            button = with_properties(QPushButton(menu_text(name)), flat=True, look="link", toolTip=tip)
            button.setCursor(Qt.CursorShape.PointingHandCursor)
            button.clicked.connect(lambda _, follow=follow: follow())
            self._recent.addWidget(button, 0, Qt.AlignmentFlag.AlignHCenter)

    def _button(self, text: str, signal: SignalInstance, look: str) -> QPushButton:
        button = with_properties(QPushButton(text), look=look)
        button.clicked.connect(signal)
        return button
