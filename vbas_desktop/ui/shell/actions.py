"""The actions of the window, each declared once: menus, toolbar, shortcuts and tips are built from this table.

The menus of the approaches are built from the registry of approaches, the pages of the menu Tools from `PAGES`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from PySide6.QtCore import QObject, Slot
from PySide6.QtGui import QAction, QActionGroup, QKeySequence
from PySide6.QtWidgets import QMenu

from vbas_desktop.approaches.registry import list_approaches
from vbas_desktop.settings.option import Level

from ..core.theme import Theme
from ..pages import Page
from ..panels import TABS
from ..state.app_state import AppState
from ..state.releasing import explain_why_not_releasable
from ..widgets.layouts import add_checkable_action
from ..widgets.plain_text import set_tool_tip

Blocker = Callable[[AppState], str | None]
"""Says why an action is not possible now; None if it is."""

FILE = "&File"
EDIT = "&Edit"
SITES = "&Sites"
LOCATIONS = "&Locations"
CONSTRUCTION = "&Construction"
REFINEMENT = "&Refinement"
VIEW = "&View"
TOOLS = "&Tools"
HELP = "&Help"
MENUS = (FILE, EDIT, SITES, LOCATIONS, CONSTRUCTION, REFINEMENT, VIEW, TOOLS, HELP)
"""The menu bar."""

APPROACH_MENUS: Mapping[str, Mapping[str, str]] = {
    SITES: {"site_number": ""},
    LOCATIONS: {"site_location": ""},
    CONSTRUCTION: {"construction": ""},
    REFINEMENT: {"refinement": "", "tiers": "Fallback to larger areas"},
}
"""The components of each menu of approaches, with the heading of their group."""


def data_blocker(state: AppState) -> str | None:
    """Say that data have to be opened first."""
    return None if state.has_data else "Open data first."


def run_blocker(state: AppState) -> str | None:
    """Say why the settings cannot be run."""
    return state.why_not_run()


def export_blocker(state: AppState) -> str | None:
    """Say why nothing can be exported."""
    return explain_why_not_releasable(state.selected or (state.entries[-1] if state.entries else None))


def edit_blocker(state: AppState) -> str | None:
    """Say why no solution can be edited by hand."""
    return explain_why_not_releasable(state.selected)


def undo_blocker(state: AppState) -> str | None:
    """Say that there is nothing to undo."""
    return "Nothing to undo." if state.last_step is None else None


def redo_blocker(state: AppState) -> str | None:
    """Say that there is nothing to redo."""
    return "Nothing to redo." if state.next_step is None else None


@dataclass(frozen=True)
class ActionSpec:
    """The declaration of one action.

    tip: what it does, in status line and tool tip. icon: name of the file in ``resources/icons``.
    checked: its state at first; None if it has none. starts_group: a separator stands above it.
    level: for whom it is; actions for research are hidden unless they are switched on.
    blocker: says why it is not possible now, which disables it and is its tip.
    needs_idle: it is disabled while a job runs.
    """

    id: str
    text: str
    tip: str
    menu: str
    shortcut: str = ""
    icon: str = ""
    checked: bool | None = None
    starts_group: bool = False
    level: Level = Level.MAIN
    blocker: Blocker | None = None
    needs_idle: bool = False


def declare_page_action(page: Page, starts_group: bool = False) -> ActionSpec:
    """Declare the action that opens a page."""
    blocker = data_blocker if page.needs_data else None
    return ActionSpec(
        page.id,
        page.title,
        page.summary,
        TOOLS,
        page.shortcut,
        page.icon,
        starts_group=starts_group,
        blocker=blocker,
    )


def _declare_tab_actions() -> list[ActionSpec]:
    """Declare the actions that bring the tabs of the panel to the front."""
    return [
        ActionSpec(f"show_{title.lower()}", f"&{number} {title}", tip, VIEW, f"Alt+{number}")
        for number, (title, tip) in enumerate(TABS.items(), start=1)
    ]


ACTIONS: tuple[ActionSpec, ...] = (
    ActionSpec(
        "open_data",
        "&Open data…",
        "Choose a record file and a region file",
        FILE,
        "Ctrl+O",
        "open",
        needs_idle=True,
    ),
    ActionSpec(
        "open_sample",
        "&Try the sample data",
        "Try the program with the data that come with it",
        FILE,
        "Ctrl+Shift+O",
        "sample",
        needs_idle=True,
    ),
    ActionSpec(
        "open_project",
        "Open &project…",
        "Continue a saved project",
        FILE,
        "Ctrl+Alt+O",
        "project",
        starts_group=True,
        needs_idle=True,
    ),
    ActionSpec(
        "save_project",
        "&Save project",
        "Save settings and results; the records stay in their own file",
        FILE,
        "Ctrl+S",
        "save",
        blocker=data_blocker,
    ),
    ActionSpec(
        "save_project_as",
        "Save project &as…",
        "Save settings and results under another name",
        FILE,
        "Ctrl+Shift+S",
        blocker=data_blocker,
    ),
    ActionSpec(
        "export",
        "&Export…",
        "Write the release of a solution, verified and with its documents",
        FILE,
        "Ctrl+E",
        "export",
        starts_group=True,
        blocker=export_blocker,
        needs_idle=True,
    ),
    ActionSpec(
        "reload",
        "&Read the files again",
        "Read both files again with the reading options in force",
        FILE,
        "F5",
        "refresh",
        blocker=data_blocker,
        needs_idle=True,
    ),
    ActionSpec("quit", "&Quit", "Close the window", FILE, "Ctrl+Q", starts_group=True),
    ActionSpec(
        "undo",
        "&Undo",
        "Undo the last change of roles, settings or the list of solutions",
        EDIT,
        "Ctrl+Z",
        "undo",
        blocker=undo_blocker,
    ),
    ActionSpec(
        "redo",
        "&Redo",
        "Redo the change that was undone",
        EDIT,
        "Ctrl+Shift+Z",
        "redo",
        blocker=redo_blocker,
    ),
    ActionSpec(
        "edit_by_hand",
        "&Edit regions by hand",
        "Move initial regions between the aggregated regions of the shown solution",
        EDIT,
        "Ctrl+Shift+E",
        starts_group=True,
        blocker=edit_blocker,
    ),
    *_declare_tab_actions(),
    ActionSpec("show_map", "&Back to the map", "Leave the page and show the map", VIEW, "Esc", "back"),
    ActionSpec(
        "show_panel",
        "&Panel",
        "Show the tabs beside the map",
        VIEW,
        "F9",
        checked=True,
        starts_group=True,
    ),
    ActionSpec(
        "show_research",
        "&Research options",
        "Show random seeds, variants of approaches, indices of cluster comparison, and the published experiments",
        VIEW,
        checked=False,
    ),
    ActionSpec("show_full_screen", "F&ull screen", "Use the whole screen", VIEW, "F11", checked=False),
    ActionSpec(
        "run",
        "&Run",
        "Run the chosen approaches over the range of site numbers",
        TOOLS,
        "Ctrl+R",
        "run",
        blocker=run_blocker,
        needs_idle=True,
    ),
    ActionSpec(
        "stop", "&Stop", "Stop what is running; finished solutions are kept", TOOLS, "Ctrl+.", "stop"
    ),
    ActionSpec("show_guide", "User &guide", "How to work with this program", HELP, "F1", "help"),
    ActionSpec(
        "show_hints", "Show &hints again", "Show the hints of the first start again", HELP, "Shift+F1"
    ),
    ActionSpec(
        "show_about",
        "&About VBAS Desktop",
        "Version, libraries and licence",
        HELP,
        "Ctrl+F1",
        "info",
        starts_group=True,
    ),
)
"""Every action but those of pages and approaches, in the order of the menus."""

TOOLBAR = ("run", "stop", "export")
"""The actions of the toolbar."""


def set_tip_and_shortcut(action: QAction, tip: str) -> None:
    """Set tool tip and status tip; the tool tip ends with the shortcut."""
    keys = action.shortcut().toString(QKeySequence.SequenceFormat.NativeText)
    set_tool_tip(action, f"{tip} ({keys})" if keys else tip)
    action.setStatusTip(tip)


class ActionRegistry(QObject):
    """All actions by their ids, in their menus. ``handlers``: what each action does, by its id."""

    def __init__(
        self, handlers: Mapping[str, Callable[..., object]], theme: Theme, parent: QObject
    ) -> None:
        super().__init__(parent)
        self._theme = theme
        self._actions: dict[str, QAction] = {}
        self._specs: dict[str, ActionSpec] = {}
        for spec in ACTIONS:
            self.add(spec, handlers[spec.id])

    def __getitem__(self, action_id: str) -> QAction:
        return self._actions[action_id]

    def add(self, spec: ActionSpec, handler: Callable[..., object]) -> QAction:
        """Make an action that calls ``handler``."""
        action = QAction(spec.text, self)
        # Qt would leave the dots out on a toolbar: the same action has the same name everywhere.
        action.setIconText(spec.text.replace("&", ""))
        action.setShortcut(QKeySequence(spec.shortcut))
        action.setCheckable(spec.checked is not None)
        action.setChecked(spec.checked is True)
        self._theme.set_icon(action, spec.icon)
        set_tip_and_shortcut(action, spec.tip)
        (action.triggered if spec.checked is None else action.toggled).connect(handler)
        self._actions[spec.id] = action
        self._specs[spec.id] = spec
        return action

    def fill_menu(self, menu: QMenu, title: str) -> None:
        """Put the actions of a menu into it."""
        for spec in self._specs.values():
            if spec.menu == title:
                if spec.starts_group:
                    menu.addSeparator()
                menu.addAction(self[spec.id])

    def refresh(self, state: AppState, is_busy: bool) -> None:
        """Enable what is possible now; the tips of the others say why they are not."""
        for spec in self._specs.values():
            reason = None if spec.blocker is None else spec.blocker(state)
            action = self[spec.id]
            action.setEnabled(reason is None and not (is_busy and spec.needs_idle))
            action.setVisible(spec.level is not Level.RESEARCH or state.shows_research)
            set_tip_and_shortcut(action, reason or spec.tip)
        self["stop"].setEnabled(is_busy)


def add_mnemonics(menu: QMenu) -> None:
    """Give each entry without a mnemonic the first of its letters that no other entry uses."""
    used = {QKeySequence.mnemonic(action.text()).toString()[-1:].lower() for action in menu.actions()}
    for action in filter(QAction.isEnabled, menu.actions()):
        text = action.text()
        if not QKeySequence.mnemonic(text).isEmpty():
            continue
        position = next(
            (i for i, sign in enumerate(text) if sign.isalnum() and sign.lower() not in used), None
        )
        if position is not None:
            used.add(text[position].lower())
            action.setText(f"{text[:position]}&{text[position:]}")


class ApproachActions(QObject):
    """The approaches of one component in a menu, of which one is chosen."""

    def __init__(self, menu: QMenu, component: str, state: AppState) -> None:
        super().__init__(menu)
        self._component = component
        self._state = state
        self._group = QActionGroup(self)
        for name, approach in list_approaches(component).items():
            action = add_checkable_action(menu, approach.metadata.title, False, name)
            set_tip_and_shortcut(action, approach.metadata.summary)
            self._group.addAction(action)
        self._group.triggered.connect(self._on_triggered)
        self.refresh()

    @Slot(QAction)
    def _on_triggered(self, action: QAction) -> None:
        self._state.change(self._state.choices.with_approach(self._component, action.data()))

    def refresh(self) -> None:
        """Check the chosen approach."""
        for action in self._group.actions():
            if action.data() == self._state.choices.approaches[self._component]:
                action.setChecked(True)
