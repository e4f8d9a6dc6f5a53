"""The bar above the results: what is listed, and what can be done with the rows."""

from __future__ import annotations

from collections.abc import Iterable

from PySide6.QtCore import Slot
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QCheckBox, QHBoxLayout, QMenu, QToolButton, QWidget

from vbas_desktop.ui.theme import GRID, Theme

from .scenario_choice import ScenarioChoice


class ResultsBar(QWidget):
    """Ticks that leave solutions out, the scenario, and buttons whose icons follow the theme."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self._buttons: list[tuple[QToolButton, str]] = []
        self.only_stars, self.only_meeting = QCheckBox("★ unbeaten"), QCheckBox("S&uitable")
        self.scenario = ScenarioChoice()
        self.only_stars.setShortcut("Ctrl+U")
        self.only_stars.setToolTip(
            "Show only what no other solution beats: none is as good in all that counts and better in one (Ctrl+U)"
        )
        self.only_meeting.setToolTip("Show only solutions that meet the requirement (Tools ▸ Requirements)")
        self.only_meeting.hide()
        self._row = row = QHBoxLayout(self)
        row.setContentsMargins(GRID, GRID // 2, GRID, GRID // 2)
        row.setSpacing(GRID // 2)
        row.addWidget(self.only_stars)
        row.addWidget(self.only_meeting)
        row.addWidget(self.scenario, 1)
        row.addStretch(1)
        theme.changed.connect(self._on_theme_changed)

    def add_menu(self, icon: str, text: str, tip: str, menu: QMenu) -> None:
        """A button that opens a menu."""
        button = self._button(icon, text, tip)
        button.setMenu(menu)
        button.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)

    def add_actions(self, actions: Iterable[tuple[str, QAction]]) -> None:
        """A button for each action, under its icon."""
        for icon, action in actions:
            self._button(icon, action.text(), action.toolTip()).clicked.connect(action.trigger)

    def _button(self, icon: str, text: str, tip: str) -> QToolButton:
        button = QToolButton()
        button.setToolTip(tip)
        button.setAccessibleName(text.replace("&", ""))
        button.setAutoRaise(True)
        button.setIcon(self._theme.icon(icon))
        self._buttons.append((button, icon))
        self._row.addWidget(button)
        return button

    @Slot()
    def _on_theme_changed(self) -> None:
        for button, icon in self._buttons:
            button.setIcon(self._theme.icon(icon))
