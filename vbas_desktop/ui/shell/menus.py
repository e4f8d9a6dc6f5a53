"""The menu bar, built from the table of actions, the registry of approaches and the list of pages."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Slot
from PySide6.QtGui import QAction, QActionGroup
from PySide6.QtWidgets import QMenu

from vbas_desktop.model.text import escape_controls

from ..core.theme import ALWAYS_DARK, ALWAYS_LIGHT, FOLLOW_SYSTEM
from ..pages import PAGES, Page
from ..panels import TABS
from ..widgets.layouts import add_checkable_action
from ..widgets.plain_text import menu_text
from .actions import (
    APPROACH_MENUS,
    FILE,
    MENUS,
    TOOLBAR,
    TOOLS,
    VIEW,
    ActionRegistry,
    ApproachActions,
    add_mnemonics,
    declare_page_action,
    set_tip_and_shortcut,
)

if TYPE_CHECKING:
    from .main_window import MainWindow

_THEMES = {
    FOLLOW_SYSTEM: ("Follow &system", "Light or dark, as the system is"),
    ALWAYS_LIGHT: ("&Light", "Dark text on a light background"),
    ALWAYS_DARK: ("&Dark", "Light text on a dark background"),
}


class Menus(QObject):
    """Builds all menus once and keeps their entries up to date."""

    def __init__(self, window: MainWindow) -> None:
        super().__init__(window)
        self._window = window
        self.actions = ActionRegistry(self._list_handlers(), window.theme, self)
        for page in PAGES:
            spec = declare_page_action(page, starts_group=page is PAGES[0])
            self.actions.add(spec, partial(self._on_page, page))
        self.panel = self.actions["show_panel"]
        self.actions["show_research"].setChecked(window.settings.flag("research"))
        self._approaches: list[ApproachActions] = []
        bar = window.menuBar()
        for title in MENUS:
            menu = bar.addMenu(title)
            self.actions.fill_menu(menu, title)
            self._add_approaches(menu, APPROACH_MENUS.get(title, {}))
            if title == FILE:
                self._add_recent(menu)
            elif title == VIEW:
                self._add_view_actions(menu)
            elif title == TOOLS:
                add_mnemonics(menu)
        for menu in bar.findChildren(QMenu):
            menu.setToolTipsVisible(True)

    def _list_handlers(self) -> Mapping[str, Callable[..., object]]:
        """List what the actions do, by their ids."""
        window = self._window
        tabs = {f"show_{title.lower()}": partial(window.open_tab, title) for title in TABS}
        return {
            "open_data": window.data_commands.open_data,
            "open_sample": window.data_commands.open_sample,
            "reload": window.data_commands.reload,
            "open_project": window.projects.open_project,
            "save_project": window.projects.save_project,
            "save_project_as": window.projects.save_project_as,
            "export": window.exporting.export,
            "quit": window.close,
            "undo": window.run_commands.undo,
            "redo": window.run_commands.redo,
            "edit_by_hand": window.area.map.editor.begin,
            "run": window.run_commands.run,
            "stop": window.run_commands.stop,
            **tabs,
            "show_map": window.area.show_map,
            "show_panel": window.arrange,
            "show_research": self._on_show_research,
            "show_full_screen": self._on_full_screen,
            "show_guide": window.help.show_guide,
            "show_hints": window.area.hints.show_hints,
            "show_about": window.help.show_about,
        }

    def toolbar_actions(self) -> list[QAction]:
        """Return the actions of the toolbar."""
        return [self.actions[action_id] for action_id in TOOLBAR]

    def _add_approaches(self, menu: QMenu, headings: Mapping[str, str]) -> None:
        for component, heading in headings.items():
            if heading:
                menu.addSeparator()
                menu.addAction(heading).setEnabled(False)
            self._approaches.append(ApproachActions(menu, component, self._window.state))
        if headings:
            add_mnemonics(menu)

    def _add_recent(self, menu: QMenu) -> None:
        self._recent = QMenu("Re&cent", menu)
        self._recent.aboutToShow.connect(self._on_recent_about_to_show)
        menu.insertMenu(self.actions["save_project"], self._recent)

    def _add_view_actions(self, menu: QMenu) -> None:
        self._add_themes(menu.addMenu("T&heme"))
        for part in [
            self._window.area.map,
            *(self._window.tabs.widget(i) for i in range(self._window.tabs.count())),
        ]:
            own: list[QAction] = getattr(part, "view_actions", list)()
            if own:
                menu.addSeparator()
                menu.addActions(own)

    def _add_themes(self, menu: QMenu) -> None:
        group = QActionGroup(self)
        for name, (title, tip) in _THEMES.items():
            action = add_checkable_action(menu, title, name == self._window.theme.choice)
            action.setData(name)
            set_tip_and_shortcut(action, tip)
            group.addAction(action)
        group.triggered.connect(self._on_theme_chosen)

    def _on_page(self, page: Page, checked: bool = False) -> None:
        self._window.area.show_page(page)

    @Slot(QAction)
    def _on_theme_chosen(self, action: QAction) -> None:
        self._window.theme.choose(action.data())
        self._window.settings.put("theme", action.data())

    @Slot(bool)
    def _on_show_research(self, is_shown: bool) -> None:
        self._window.state.show_research(is_shown)
        self._window.settings.put("research", is_shown)

    @Slot(bool)
    def _on_full_screen(self, full: bool) -> None:
        self._window.showFullScreen() if full else self._window.showNormal()

    @Slot()
    def _on_recent_about_to_show(self) -> None:
        menu = self._recent
        window = self._window
        menu.clear()
        if not window.settings.recent_projects and not window.settings.recent_data:
            menu.addAction("No recent files").setEnabled(False)
            return
        for name, tip, follow in window.recent():
            menu.addAction(menu_text(name), follow).setStatusTip(escape_controls(tip))
        menu.addSeparator()
        menu.addAction("&Clear this list", window.settings.forget_recent)

    def refresh(self) -> None:
        """Enable what is possible now, name the steps of undo and redo, and check the chosen approaches."""
        state = self._window.state
        self.actions.refresh(state, self._window.worker.busy)
        for text, action_id, step in (
            ("&Undo", "undo", state.last_step),
            ("&Redo", "redo", state.next_step),
        ):
            self.actions[action_id].setText(text if step is None else f"{text} {step.name}")
        for approaches in self._approaches:
            approaches.refresh()
