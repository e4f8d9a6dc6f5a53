"""The commands of the window as data, and actions and menus built from them and from the registry of approaches."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial

from PySide6.QtCore import QObject, Slot
from PySide6.QtGui import QAction, QActionGroup, QKeySequence
from PySide6.QtWidgets import QMenu

from vbas_desktop.approaches.registry import PRESETS, USUAL, approaches, preset, preset_of
from vbas_desktop.session.session import Session
from vbas_desktop.ui.widgets.building import ticked
from vbas_desktop.ui.widgets.plain_text import set_tool_tip

from .numbers import measure_words
from .theme import Theme


@dataclass(frozen=True)
class Command:
    """One action. ``name`` is the method of the controller that does it."""

    name: str
    text: str
    tip: str
    shortcut: str = ""
    icon: str = ""
    checkable: bool = False


SEPARATOR = None

EXPORT = Command("export", "&Export…", "Write the release of a solution, verified, with its papers", "Ctrl+E", "export")

FILE = (
    Command("open_data", "&Open data…", "Choose a record file and a region file", "Ctrl+O", "open"),
    Command(
        "open_sample", "&Try the sample data", "Try the program with data that come with it", "Ctrl+Shift+O", "sample"
    ),
    SEPARATOR,
    Command("open_project", "Open &project…", "Continue a saved project", "Ctrl+Alt+O", "project"),
    Command(
        "save_project", "&Save project", "Save choices and results; records stay in their own file", "Ctrl+S", "save"
    ),
    Command("save_project_as", "Save project &as…", "Save choices and results under another name", "Ctrl+Shift+S"),
    SEPARATOR,
    EXPORT,
    Command(
        "reload", "&Read the files again", "Load both files again with the reading options in force", "F5", "refresh"
    ),
)

EDIT = (
    Command("undo", "&Undo", "Take back the last change of roles, settings or the list of solutions", "Ctrl+Z", "undo"),
    Command("redo", "&Redo", "Redo the change that was taken back", "Ctrl+Shift+Z", "redo"),
)

RUN = (
    Command("run", "&Run", "Run the chosen combination over its range of site numbers", "Ctrl+R", "run"),
    Command(
        "compare_combinations",
        "&Compare combinations…",
        "Run many combinations of approaches and see which is best in what",
        icon="compare",
    ),
    Command("stop", "&Stop", "Stop the running job; finished solutions are kept", "Ctrl+.", "stop"),
)

HELP = (
    Command("show_guide", "User &guide", "How to work with this program", "F1", "help"),
    Command("show_hints", "Show &hints again", "Show the hints of the first start again", "Shift+F1"),
    SEPARATOR,
    Command("show_about", "&About VBAS Desktop", "Version, libraries and licence", "Ctrl+F1", "info"),
)


def tip_with_shortcut(action: QAction, tip: str) -> None:
    """Set tool tip and status tip; the tool tip ends with the shortcut."""
    keys = action.shortcut().toString(QKeySequence.SequenceFormat.NativeText)
    set_tool_tip(action, f"{tip} ({keys})" if keys else tip)
    action.setStatusTip(tip)


class Actions(QObject):
    """All actions by the name of their command. ``targets`` have the methods that do them."""

    def __init__(self, targets: Sequence[QObject], theme: Theme, parent: QObject) -> None:
        super().__init__(parent)
        self._targets, self._theme = targets, theme
        self.by_name: dict[str, QAction] = {}

    def __getitem__(self, name: str) -> QAction:
        return self.by_name[name]

    def fill(self, menu: QMenu, commands: Iterable[Command | None]) -> None:
        """Put commands into a menu; None is a separator."""
        for command in commands:
            if command is None:
                menu.addSeparator()
            else:
                slot = next(getattr(target, command.name) for target in self._targets if hasattr(target, command.name))
                self.add(menu, command, slot)

    def add(self, menu: QMenu, command: Command, slot: Callable[..., object]) -> QAction:
        """Put one command into a menu; ``slot`` does it."""
        action = self._make(command)
        (action.toggled if command.checkable else action.triggered).connect(slot)
        menu.addAction(action)
        return action

    def _make(self, command: Command) -> QAction:
        action = QAction(command.text, self)
        # Qt would leave the dots out on a toolbar: the same command has the same name everywhere.
        action.setIconText(command.text.replace("&", ""))
        if command.shortcut:
            action.setShortcut(QKeySequence(command.shortcut))
        self._theme.set_icon(action, command.icon)
        action.setCheckable(command.checkable)
        tip_with_shortcut(action, command.tip)
        self.by_name[command.name] = action
        return action


def mark_mnemonics(menu: QMenu) -> None:
    """Put "&" into each entry before the first letter that none above it uses."""
    used: set[str] = set()
    for action in filter(QAction.isEnabled, menu.actions()):
        title = action.text()
        place = next((i for i, sign in enumerate(title) if sign.isalnum() and sign.lower() not in used), None)
        if place is not None:
            used.add(title[place].lower())
            action.setText(f"{title[:place]}&{title[place:]}")


class ApproachMenu(QObject):
    """One component's menu: exclusive choices from the registry."""

    def __init__(self, menu: QMenu, component: str, session: Session) -> None:
        super().__init__(menu)
        self._component, self._session = component, session
        self._group = QActionGroup(self)
        for name, kind in approaches(component).items():
            action = ticked(menu, kind.card.title, False, name)
            tip_with_shortcut(action, kind.card.summary)
            self._group.addAction(action)
        mark_mnemonics(menu)
        self._group.triggered.connect(self._on_triggered)
        self.refresh()

    @Slot(QAction)
    def _on_triggered(self, action: QAction) -> None:
        self._session.change(self._session.choices.with_approach(self._component, action.data()))

    def refresh(self) -> None:
        """Tick what is chosen."""
        for action in self._group.actions():
            if action.data() == self._session.choices.approaches[self._component]:
                action.setChecked(True)


class MeasureTicks(QObject):
    """Presets and measures in a menu: those that are ticked decide what is dominated."""

    def __init__(self, menu: QMenu, session: Session) -> None:
        super().__init__(menu)
        self._menu, self._session = menu, session
        self._presets: dict[str, QAction] = {}
        self._measures: dict[str, QAction] = {}

    def fill(self, measures: Iterable[str]) -> None:
        """Put the presets and these measures into the menu."""
        self._presets = {name: ticked(self._menu, title, False) for name, title in PRESETS.items()}
        for name, action in self._presets.items():
            names = ", ".join(approaches("rating")[each].card.title for each in preset(name))
            tip_with_shortcut(action, f"The star looks at: {names}")
            action.triggered.connect(partial(self._on_preset, name))
        self._menu.addSeparator()
        words = {name: measure_words(name) for name in measures}
        self._measures = {name: ticked(self._menu, each.title, False, name) for name, each in words.items()}
        for name, action in self._measures.items():
            tip_with_shortcut(action, words[name].summary)
            action.triggered.connect(self._on_ticked)
        self.refresh()

    def _on_preset(self, name: str, checked: bool = False) -> None:
        # The usual measures are those of the program, also if a later version has others.
        self._session.change_fields(pareto_measures=None if name == USUAL else preset(name))

    @Slot()
    def _on_ticked(self) -> None:
        ticks = tuple(name for name, action in self._measures.items() if action.isChecked())
        if ticks:
            self._session.change_fields(pareto_measures=ticks)
        self.refresh()

    @Slot()
    def refresh(self) -> None:
        """Tick what counts, and the preset that it is; a menu may stay open meanwhile."""
        counting = self._session.pareto_measures
        for name, action in self._measures.items():
            action.setChecked(name in counting)
        for name, action in self._presets.items():
            action.setChecked(preset_of(counting) == name)
