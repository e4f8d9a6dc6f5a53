"""One file or folder of a page: its name, a button to choose it, and a place to drop it; panels that scroll."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtGui import QDragEnterEvent, QDropEvent
from PySide6.QtWidgets import QSizePolicy, QToolButton, QWidget

from ..core.theme import GRID, Theme
from .fields import ElidedLabel, hint_label
from .file_dialogs import RECORD_FILES, ask_for_folder, ask_to_open
from .layouts import Part, VerticalScrollArea, button, hbox, vbox, with_properties
from .plain_text import Label, set_tool_tip


class FileDropTarget(QWidget):
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
        """Take the file that was dropped here."""
        self.dropped.emit(Path(event.mimeData().urls()[0].toLocalFile()))
        event.acceptProposedAction()


class FileField(FileDropTarget):
    """`chosen(Path)`: the user chose or dropped a file; `cleared()`: none is wanted any more."""

    chosen = Signal(Path)
    cleared = Signal()
    nothing = "none yet"
    """What is said while there is no file."""

    def __init__(self, label: str, help: str, theme: Theme, clearable: bool = False) -> None:
        super().__init__()
        self._label = label.replace("&", "")
        self._clearable = clearable
        what = self._label.lower()
        self.path: Path | None = None
        self.caption = Label(label)
        self.name = ElidedLabel(mode=Qt.TextElideMode.ElideMiddle)
        self.facts = hint_label()
        self.choose = button("Choose…", self._on_choose, help, accessibleName=f"Choose {what}")
        self.caption.setBuddy(self.choose)
        self.clear = with_properties(
            QToolButton(), autoRaise=True, toolTip=f"Without {what}", accessibleName=f"Without {what}"
        )
        theme.set_icon(self.clear, "close")
        self.clear.clicked.connect(self._on_clear)
        self.show_file(None)
        for widget in (self.caption, self.name):
            set_tool_tip(widget, help)
        self._row = hbox((self.name, 1), self.clear, self.choose)
        vbox(self.caption, self._row, self.facts, within=self, margins=0, spacing=GRID // 4)
        self.dropped.connect(self.chosen)

    def show_file(self, path: Path | None, facts: str = "") -> None:
        """Show a file and what was understood of it; None: no file."""
        self.path = path
        self.name.setText(path.name if path is not None else self.nothing)
        set_tool_tip(self.name, str(path) if path is not None else self.nothing)
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


class FileListField(FileDropTarget):
    """Several files of one kind, each with a button that takes it out. `changed()`: another list."""

    changed = Signal()

    def __init__(self, label: str, help: str, theme: Theme) -> None:
        super().__init__()
        self.paths: tuple[Path, ...] = ()
        self._label = label.replace("&", "")
        self._theme = theme
        self.caption = Label(label)
        self.empty = hint_label("none yet")
        self.add = button("Add…", self._on_add, help, accessibleName=f"Add to {self._label.lower()}")
        self.caption.setBuddy(self.add)
        set_tool_tip(self.caption, help)
        self.removers: list[QToolButton] = []
        self._shown: list[QWidget] = []
        self._files = QWidget()
        self._lines = vbox(within=self._files, margins=0, spacing=0)
        top = hbox((self.caption, 1), self.add)
        vbox(top, self.empty, self._files, within=self, margins=0, spacing=GRID // 4)
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
        self.paths = tuple(other for other in self.paths if other != path)
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
        remover = with_properties(QToolButton(), autoRaise=True, toolTip=tip, accessibleName=tip)
        self._theme.set_icon(remover, "close")
        remover.clicked.connect(partial(self.remove_file, path))
        hbox((name, 1), remover, within=line, margins=0)
        return line

    @Slot()
    def _on_add(self) -> None:
        start = self.paths[-1].parent if self.paths else None
        ask_to_open(self, self._label, RECORD_FILES, start, lambda path: self.add_file(Path(path)))


class FolderField(FileField):
    """Field for a folder, which is shown as soon as it is chosen; ``title`` says what the folder is for."""

    nothing = "none"

    def __init__(self, label: str, title: str, help: str, theme: Theme) -> None:
        super().__init__(label, help, theme, clearable=True)
        self._title = title
        self.setAcceptDrops(False)
        with_properties(self.choose, accessibleName=f"Choose the {title.lower()}")
        with_properties(
            self.clear, toolTip=f"Without {title.lower()}", accessibleName=f"Without {title.lower()}"
        )

    @Slot()
    def _on_choose(self) -> None:
        ask_for_folder(self, self._title, self.path, lambda chosen: self.show_file(Path(chosen)))


class SidePanel(VerticalScrollArea):
    """Settings of a page, below each other."""

    def hold(self, *parts: Part) -> None:
        """Show these settings."""
        inner = QWidget()
        vbox(*parts, 1, within=inner, margins=(GRID, 0, GRID, GRID), spacing=GRID)
        self.setWidget(inner)
