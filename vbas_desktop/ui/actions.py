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
from vbas_desktop.ui.widgets.building import dress

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
    action.setToolTip(f"{tip} ({keys})" if keys else tip)
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
                menu.addAction(self.make(command, slot))

    def make(self, command: Command, slot: Callable[..., object]) -> QAction:
        """One action from its declaration."""
        action = QAction(command.text, self)
        # Qt would leave the dots out on a toolbar: the same command has the same name everywhere.
        action.setIconText(command.text.replace("&", ""))
        if command.shortcut:
            action.setShortcut(QKeySequence(command.shortcut))
        self._theme.set_icon(action, command.icon)
        action.setCheckable(command.checkable)
        tip_with_shortcut(action, command.tip)
        action.triggered.connect(slot)
        self.by_name[command.name] = action
        return action


def with_mnemonics(titles: Iterable[str]) -> list[str]:
    """Titles with "&" before a letter that no other one uses, the first that is free."""
    used: set[str] = set()
    result = []
    for title in titles:
        place = next((i for i, sign in enumerate(title) if sign.isalnum() and sign.lower() not in used), None)
        if place is None:
            result.append(title)
            continue
        used.add(title[place].lower())
        result.append(f"{title[:place]}&{title[place:]}")
    return result


class ApproachMenu(QObject):
    """One component's menu: exclusive choices from the registry."""

    def __init__(self, menu: QMenu, component: str, session: Session, parent: QObject) -> None:
        super().__init__(parent)
        self._component, self._session = component, session
        self._group = QActionGroup(self)
        self._group.setExclusive(True)
        self._actions: dict[str, QAction] = {}
        known = approaches(component)
        titles = with_mnemonics(kind.card.title for kind in known.values())
        for (name, kind), title in zip(known.items(), titles, strict=True):
            action = menu.addAction(title)
            action.setCheckable(True)
            action.setData(name)
            tip_with_shortcut(action, kind.card.summary)
            self._group.addAction(action)
            self._actions[name] = action
        menu.setToolTipsVisible(True)
        self._group.triggered.connect(self._on_triggered)
        self.refresh()

    @Slot(QAction)
    def _on_triggered(self, action: QAction) -> None:
        self._session.change(self._session.choices.with_approach(self._component, action.data()))

    def refresh(self) -> None:
        """Tick what is chosen."""
        action = self._actions.get(self._session.choices.approaches[self._component])
        if action is not None:
            action.setChecked(True)


def add_presets(menu: QMenu, session: Session) -> dict[str, QAction]:
    """Put the presets of measures at the top of a menu; the one in force is ticked, none with a choice of one's own."""
    actions = {}
    for name, title in PRESETS.items():
        action = menu.addAction(title)
        dress(action, checkable=True, checked=preset_of(session.pareto_measures) == name)
        names = ", ".join(approaches("rating")[each].card.title for each in preset(name))
        tip_with_shortcut(action, f"The star looks at: {names}")
        # The usual measures are those of the program, also if a later version has others.
        measures = None if name == USUAL else preset(name)
        action.triggered.connect(partial(_use_preset, session, measures))
        actions[name] = action
    menu.addSeparator()
    return actions


def _use_preset(session: Session, measures: tuple[str, ...] | None, checked: bool = False) -> None:
    session.change_fields(pareto_measures=measures)


class RatingMenu(QObject):
    """The measures; those that are ticked decide what is dominated."""

    def __init__(self, menu: QMenu, session: Session, parent: QObject) -> None:
        super().__init__(parent)
        self._session = session
        self._actions: dict[str, QAction] = {}
        menu.addAction("What counts for the star ★: in these, nothing beats it").setEnabled(False)
        known = approaches("rating")
        self._presets = add_presets(menu, session)
        titles = with_mnemonics([*PRESETS.values(), *(kind.card.title for kind in known.values())])
        for action, title in zip(self._presets.values(), titles, strict=False):
            action.setText(title)
        for (name, kind), title in zip(known.items(), titles[len(PRESETS) :], strict=True):
            action = menu.addAction(title)
            action.setCheckable(True)
            action.setData(name)
            tip_with_shortcut(action, kind.card.summary)
            action.triggered.connect(self._on_triggered)
            self._actions[name] = action
        menu.setToolTipsVisible(True)
        self.refresh()

    @Slot()
    def _on_triggered(self) -> None:
        ticked = tuple(name for name, action in self._actions.items() if action.isChecked())
        self._session.change_fields(pareto_measures=ticked)

    def refresh(self) -> None:
        """Tick what counts."""
        counting = self._session.pareto_measures
        for name, action in self._actions.items():
            action.setChecked(name in counting)
        for name, action in self._presets.items():
            action.setChecked(preset_of(counting) == name)
