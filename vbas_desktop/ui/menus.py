"""The menu bar: commands, approach menus from the registry, view, tools and help."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Slot
from PySide6.QtGui import QAction, QActionGroup, QKeySequence
from PySide6.QtWidgets import QMenu

from vbas_desktop.approaches.registry import COMPONENTS, approaches
from vbas_desktop.model.names import escape_controls
from vbas_desktop.ui.widgets.building import ticked
from vbas_desktop.ui.widgets.plain_text import menu_text

from .actions import (
    EDIT,
    EXPORT,
    FILE,
    HELP,
    RUN,
    Actions,
    ApproachMenu,
    Command,
    MeasureTicks,
    mark_mnemonics,
    tip_with_shortcut,
)
from .pages import PAGES, Page
from .panel import TABS
from .theme import ALWAYS_DARK, ALWAYS_LIGHT, FOLLOW_SYSTEM

if TYPE_CHECKING:
    from .main_window import MainWindow

_COMPONENT_TITLES = {
    "site_number": "&Sites",
    "site_location": "&Locations",
    "construction": "&Construction",
    "refinement": "Refi&nement",
    "tiers": "T&iers",
    "rating": "R&ating",
}
_PANEL = Command("panel", "&Panel", "Show the tabs beside the map", "F9", checkable=True)
_FULL_SCREEN = Command("full_screen", "F&ull screen", "Use the whole screen", "F11", checkable=True)
_THEMES = {
    FOLLOW_SYSTEM: ("Like the &system", "Light or dark, as the system has it"),
    ALWAYS_LIGHT: ("&Light", "Dark text on a light background"),
    ALWAYS_DARK: ("&Dark", "Light text on a dark background"),
}


class Menus(QObject):
    """Builds all menus once and keeps their state right."""

    def __init__(self, window: MainWindow) -> None:
        super().__init__(window)
        self._window = window
        self.actions = Actions(
            (window.controller, window.projects, window.exporting, window.help, window.area.hints, window.area),
            window.theme,
            self,
        )
        bar = window.menuBar()
        self._build_file(bar.addMenu("&File"))
        self.actions.fill(bar.addMenu("&Edit"), EDIT)
        self.actions.fill(bar.addMenu("&Run"), RUN)
        self._components = [self._component(bar.addMenu(_COMPONENT_TITLES[name]), name) for name in COMPONENTS]
        self._build_view(bar.addMenu("&View"))
        self._pages: dict[QAction, Page] = {}
        self._build_tools(bar.addMenu("&Tools"))
        self.actions.fill(bar.addMenu("&Help"), HELP)
        for menu in bar.findChildren(QMenu):
            menu.setToolTipsVisible(True)

    def toolbar_actions(self) -> list[QAction]:
        """The actions of the toolbar."""
        return [self.actions[name] for name in ("run", "stop", "export")]

    def _build_file(self, menu: QMenu) -> None:
        self.actions.fill(menu, FILE)
        self._recent = QMenu("Open re&cent", menu)
        self._recent.aboutToShow.connect(self._on_recent_about_to_show)
        menu.insertMenu(self.actions["save_project"], self._recent)
        menu.addSeparator()
        keys = QKeySequence(QKeySequence.StandardKey.Quit).toString()
        self.actions.add(menu, Command("quit", "&Quit", "Close the window", keys), self._window.close)

    def _component(self, menu: QMenu, component: str) -> ApproachMenu | MeasureTicks:
        if component != "rating":
            return ApproachMenu(menu, component, self._window.session)
        menu.addAction("What counts for the star ★: in these, nothing beats it").setEnabled(False)
        ticks = MeasureTicks(menu, self._window.session)
        ticks.fill(approaches("rating"))
        mark_mnemonics(menu)
        return ticks

    def _build_view(self, menu: QMenu) -> None:
        for number, (title, tip) in enumerate(TABS.items(), start=1):
            command = Command(title, f"&{number} {title}", tip, f"Alt+{number}")
            self.actions.add(menu, command, partial(self._window.open_tab, title))
        menu.addSeparator()
        self.panel = self.actions.add(menu, _PANEL, self._window.tabs.setVisible)
        self.panel.setChecked(True)
        self.actions.add(menu, _FULL_SCREEN, self._on_full_screen)
        self._build_themes(menu.addMenu("T&heme"))
        for part in [self._window.area.map, *(self._window.tabs.widget(i) for i in range(self._window.tabs.count()))]:
            own: list[QAction] = getattr(part, "view_actions", list)()
            if own:
                menu.addSeparator()
                menu.addActions(own)

    def _build_themes(self, menu: QMenu) -> None:
        group = QActionGroup(self)
        for name, (title, tip) in _THEMES.items():
            action = ticked(menu, title, name == self._window.theme.choice)
            action.setData(name)
            tip_with_shortcut(action, tip)
            group.addAction(action)
        group.triggered.connect(self._on_theme_chosen)

    def _build_tools(self, menu: QMenu) -> None:
        for page in PAGES:
            command = Command(page.title, page.title, page.summary, page.shortcut, page.icon)
            self._pages[self.actions.add(menu, command, partial(self._on_page, page))] = page
        mark_mnemonics(menu)

    def _on_page(self, page: Page) -> None:
        self._window.area.show_page(page)

    @Slot(QAction)
    def _on_theme_chosen(self, action: QAction) -> None:
        self._window.theme.choose(action.data())
        self._window.settings.put("theme", action.data())

    @Slot(bool)
    def _on_full_screen(self, full: bool) -> None:
        self._window.showFullScreen() if full else self._window.showNormal()

    @Slot()
    def _on_recent_about_to_show(self) -> None:
        menu, window = self._recent, self._window
        menu.clear()
        if not window.settings.recent_projects and not window.settings.recent_data:
            menu.addAction("Nothing opened yet").setEnabled(False)
            return
        for name, tip, follow in window.recent():
            menu.addAction(menu_text(name), follow).setStatusTip(escape_controls(tip))
        menu.addSeparator()
        menu.addAction("&Empty this list", window.settings.forget_recent)

    def refresh(self) -> None:
        """Enable what can be done now, tick what is chosen."""
        session, busy = self._window.session, self._window.runner.busy
        reason = session.why_not_run()
        run = self.actions["run"]
        run.setEnabled(reason is None and not busy)
        tip_with_shortcut(run, reason or "Run the chosen combination over its range of site numbers")
        self.actions["stop"].setEnabled(busy)
        unready = self._window.exporting.why_not()
        self.actions["export"].setEnabled(unready is None and not busy)
        tip_with_shortcut(self.actions["export"], unready or EXPORT.tip)
        for command, step in zip(EDIT, (session.last_step, session.next_step), strict=True):
            action = self.actions[command.name]
            action.setEnabled(step is not None)
            action.setText(f"{command.text} {step.name}" if step is not None else command.text)
        for name in ("open_data", "open_sample", "open_project"):
            self.actions[name].setEnabled(not busy)
        self.actions["reload"].setEnabled(session.has_data and not busy)
        for name in ("save_project", "save_project_as"):
            self.actions[name].setEnabled(session.has_data)
        for action, page in self._pages.items():
            action.setEnabled(session.has_data or not page.needs_data)
        for component in self._components:
            component.refresh()
