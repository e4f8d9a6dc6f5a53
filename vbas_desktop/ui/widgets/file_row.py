"""One file or folder of a page: its name, a button to choose it, and a place to drop it; panels that scroll."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtGui import QDragEnterEvent, QDropEvent
from PySide6.QtWidgets import QScrollArea, QSizePolicy, QToolButton, QWidget

from vbas_desktop.ui.theme import GRID, Theme
from vbas_desktop.ui.widgets.fields import muted
from vbas_desktop.ui.widgets.file_dialogs import RECORD_FILES, ask_for_folder, ask_to_open
from vbas_desktop.ui.widgets.plain_text import Label, set_tool_tip

from .building import Part, button, dress, in_column, in_row


class DropPlace(QWidget):
    """Takes one local file: `dropped(Path)`."""

    dropped = Signal(Path)

    def __init__(self) -> None:
        super().__init__()
        self.setAcceptDrops(True)

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        """Take one local file."""
        urls = event.mimeData().urls()
        if len(urls) == 1 and urls[0].isLocalFile():
            event.acceptProposedAction()

    def dropEvent(self, event: QDropEvent) -> None:
        """The file was dropped here."""
        self.dropped.emit(Path(event.mimeData().urls()[0].toLocalFile()))
        event.acceptProposedAction()


class FileRow(DropPlace):
    """`chosen(Path)`: the user chose or dropped a file; `cleared()`: none is wanted any more."""

    chosen = Signal(Path)
    cleared = Signal()
    nothing = "none yet"
    """What is said while there is no file."""

    def __init__(self, label: str, help: str, theme: Theme, clearable: bool = False) -> None:
        super().__init__()
        self._label, self._clearable = label.replace("&", ""), clearable
        what = self._label.lower()
        self.path: Path | None = None
        self.caption, self.name = Label(label), Label()
        self.name.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self.facts = muted()
        self.choose = button("Choose…", self._on_choose, help, accessibleName=f"Choose {what}")
        self.caption.setBuddy(self.choose)
        self.clear = dress(QToolButton(), autoRaise=True, toolTip=f"Without {what}", accessibleName=f"Without {what}")
        theme.set_icon(self.clear, "close")
        self.clear.clicked.connect(self._on_clear)
        self.show_file(None)
        for widget in (self.caption, self.name):
            set_tool_tip(widget, help)
        self._row = in_row((self.name, 1), self.clear, self.choose)
        in_column(self.caption, self._row, self.facts, within=self, margins=0, spacing=GRID // 4)
        self.dropped.connect(self.chosen)

    def show_file(self, path: Path | None, facts: str = "") -> None:
        """Show a file and what was understood of it; None: no file."""
        self.path = path
        self.name.setText(path.name if path is not None else self.nothing)
        set_tool_tip(self.name, str(path) if path is not None else "")
        self.facts.setText(facts)
        self.facts.setVisible(bool(facts))
        self.clear.setVisible(self._clearable and path is not None)

    @Slot()
    def _on_choose(self) -> None:
        start = self.path.parent if self.path is not None else None
        ask_to_open(self, self._label, RECORD_FILES, start, lambda path: self.chosen.emit(Path(path)))

    @Slot()
    def _on_clear(self) -> None:
        self.show_file(None)
        self.cleared.emit()


class FileListRow(DropPlace):
    """Several files of one kind, each with a button that takes it out. `changed()`: another list."""

    changed = Signal()

    def __init__(self, label: str, help: str, theme: Theme) -> None:
        super().__init__()
        self.paths: tuple[Path, ...] = ()
        self._label = label.replace("&", "")
        self._theme = theme
        self.caption = Label(label)
        self.empty = muted("none yet")
        self.add = button("Add…", self._on_add, help, accessibleName=f"Add to {self._label.lower()}")
        self.caption.setBuddy(self.add)
        set_tool_tip(self.caption, help)
        self.removers: list[QToolButton] = []
        self._shown: list[QWidget] = []
        self._files = QWidget()
        self._lines = in_column(within=self._files, margins=0, spacing=0)
        top = in_row((self.caption, 1), self.add)
        in_column(top, self.empty, self._files, within=self, margins=0, spacing=GRID // 4)
        self.dropped.connect(self.add_file)
        self._show()

    @Slot(Path)
    def add_file(self, path: Path) -> None:
        """Add a file, unless it is in the list."""
        if path not in self.paths:
            self.paths = (*self.paths, path)
            self._show()
            self.changed.emit()

    def remove_file(self, path: Path) -> None:
        """Take a file out of the list."""
        self.paths = tuple(each for each in self.paths if each != path)
        self._show()
        self.changed.emit()

    def _show(self) -> None:
        for line in self._shown:
            self._lines.removeWidget(line)
            line.deleteLater()
        self._shown = [self._make_line(path) for path in self.paths]
        self.removers = [line.findChildren(QToolButton)[0] for line in self._shown]
        for line in self._shown:
            self._lines.addWidget(line)
        self.empty.setVisible(not self.paths)
        self._files.setVisible(bool(self.paths))

    def _make_line(self, path: Path) -> QWidget:
        line = QWidget()
        name = Label(path.name)
        name.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        set_tool_tip(name, str(path))
        tip = f"Without {path.name}"
        remover = dress(QToolButton(), autoRaise=True, toolTip=tip, accessibleName=tip)
        self._theme.set_icon(remover, "close")
        remover.clicked.connect(partial(self.remove_file, path))
        in_row((name, 1), remover, within=line, margins=0)
        return line

    @Slot()
    def _on_add(self) -> None:
        start = self.paths[-1].parent if self.paths else None
        ask_to_open(self, self._label, RECORD_FILES, start, lambda path: self.add_file(Path(path)))


class FolderRow(FileRow):
    """The same for a folder, which is shown as soon as it is chosen; ``title`` says what it is a folder of."""

    nothing = "none"

    def __init__(self, label: str, title: str, help: str, theme: Theme) -> None:
        super().__init__(label, help, theme, clearable=True)
        self._title = title
        self.setAcceptDrops(False)
        dress(self.choose, accessibleName=f"Choose the {title.lower()}")
        dress(self.clear, toolTip=f"Without {title.lower()}", accessibleName=f"Without {title.lower()}")

    @Slot()
    def _on_choose(self) -> None:
        ask_for_folder(self, self._title, self.path, lambda chosen: self.show_file(Path(chosen)))


NARROWEST = 272
"""Wide enough for a row of two fields."""


class SidePanel(QScrollArea):
    """Scrolls up and down only; what is in it keeps to its width."""

    def hold(self, *parts: Part) -> None:
        """Show these settings below each other."""
        inner = QWidget()
        in_column(*parts, 1, within=inner, margins=(GRID, 0, GRID, GRID), spacing=GRID)
        self.setWidget(inner)
        self.setWidgetResizable(True)
        # Its fields are stops of the tab key, and come into view with it.
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setMinimumWidth(NARROWEST)
