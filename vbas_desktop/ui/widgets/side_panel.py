"""The left side of a page: settings one below the other, scrolled where the window is low."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QScrollArea, QWidget

NARROWEST = 272
"""Wide enough for a row of two fields."""


class SidePanel(QScrollArea):
    """Scrolls up and down only; what is in it keeps to its width."""

    def hold(self, inner: QWidget) -> None:
        """Show these settings."""
        self.setWidget(inner)
        self.setWidgetResizable(True)
        # Its fields are stops of the tab key, and come into view with it.
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setMinimumWidth(NARROWEST)
