"""The first thing a new user sees: what this is, and three ways to begin."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import QSize, Qt, Signal, SignalInstance
from PySide6.QtGui import QIcon
from PySide6.QtWidgets import QPushButton, QWidget

from vbas_desktop.io.places import resource
from vbas_desktop.ui.widgets.building import dress, in_column, in_row
from vbas_desktop.ui.widgets.fields import clear
from vbas_desktop.ui.widgets.plain_text import Label, menu_text

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
        picture = Label()
        picture.setPixmap(QIcon(str(resource("icons/vbas.svg"))).pixmap(QSize(72, 72)))
        heading = dress(Label("VBAS Desktop"), look="heading")
        text = dress(Label(_TEXT), wordWrap=True)
        text.setFixedWidth(480)
        dress(text, alignment=Qt.AlignmentFlag.AlignCenter, minimumHeight=text.heightForWidth(text.width()))
        hint = dress(Label("or drop the files here"), look="muted")
        self.buttons = {
            "open": self._button("&Open data…", self.data_wanted, "primary"),
            "project": self._button("Open &project…", self.project_wanted, "plain"),
            "sample": self._button("Tr&y the sample data", self.sample_wanted, "plain"),
        }
        row = in_row(1, *self.buttons.values(), 1)
        layout = in_column(
            2,
            (picture, 0, Qt.AlignmentFlag.AlignHCenter),
            (heading, 0, Qt.AlignmentFlag.AlignHCenter),
            (text, 0, Qt.AlignmentFlag.AlignHCenter),
            row,
            (hint, 0, Qt.AlignmentFlag.AlignHCenter),
            within=self,
            spacing=2 * GRID,
        )
        self._recent_title = dress(Label("Opened lately"), look="muted")
        self._recent_title.hide()
        self._recent = in_column(spacing=0)
        layout.addWidget(self._recent_title, 0, Qt.AlignmentFlag.AlignHCenter)
        layout.addLayout(self._recent)
        layout.addStretch(3)
        for name in ("project", "sample"):
            theme.set_icon(self.buttons[name], name)

    def offer_recent(self, recent: Sequence[tuple[str, str, Callable[[], object]]]) -> None:
        """Offer what was opened lately: name, tip, and what opens it."""
        clear(self._recent)
        self._recent_title.setVisible(bool(recent))
        for name, tip, follow in recent[:_MOST_OFFERED]:
            button = dress(QPushButton(menu_text(name)), flat=True, look="link", toolTip=tip)
            button.setCursor(Qt.CursorShape.PointingHandCursor)
            button.clicked.connect(lambda _, follow=follow: follow())
            self._recent.addWidget(button, 0, Qt.AlignmentFlag.AlignHCenter)

    def _button(self, text: str, signal: SignalInstance, look: str) -> QPushButton:
        button = dress(QPushButton(text), look=look)
        button.clicked.connect(signal)
        return button
