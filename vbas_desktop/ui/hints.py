"""Hints of the first start: one line that says what to do next, until the user has had enough of them."""

from __future__ import annotations

from PySide6.QtCore import Slot
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QPushButton, QWidget

from vbas_desktop.session.session import Session

from .context import Context
from .settings import Settings
from .theme import GRID


def hint_for(session: Session) -> str | None:
    """What a newcomer would do next in this state."""
    if not session.has_data or session.compared is not None:
        return None
    if not session.entries:
        return "Check the roles of the columns in Input, choose approaches in the menus above, then press Run."
    if session.selected is None:
        return "Click a solution in Results: the map shows it at once."
    return "A star marks solutions that no other one beats. Click a region on the map to see what it lost, and why."


class HintBar(QFrame):
    """The hint above the map."""

    def __init__(self, context: Context, settings: Settings, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._session, self._settings = context.session, settings
        self._on_page = False
        self.setProperty("look", "hint")
        self.text = QLabel()
        self.text.setWordWrap(True)
        enough = QPushButton("N&o more hints")
        enough.setFlat(True)
        enough.clicked.connect(self._on_enough)
        row = QHBoxLayout(self)
        row.setContentsMargins(2 * GRID, GRID // 2, GRID, GRID // 2)
        row.addWidget(self.text, 1)
        row.addWidget(enough)
        model = context.model
        for signal in (model.data_loaded, model.solution_added, model.solutions_changed, model.selection_changed):
            signal.connect(self.refresh)
        self.refresh()

    @Slot()
    def refresh(self) -> None:
        """Show the hint of the present state."""
        silent = self._on_page or self._settings.flag("hints/off")
        hint = None if silent else hint_for(self._session)
        self.text.setText(hint or "")
        self.setVisible(hint is not None)

    @Slot(str)
    def make_way(self, page: str) -> None:
        """Hints speak of the map: none are shown above a page."""
        self._on_page = bool(page)
        self.refresh()

    @Slot()
    def show_hints(self) -> None:
        """Show hints from now on."""
        self._settings.put("hints/off", False)
        self.refresh()

    @Slot()
    def _on_enough(self) -> None:
        self._settings.put("hints/off", True)
        self.refresh()
