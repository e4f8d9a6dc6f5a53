"""One file or folder of a page: its name, a button to choose it, and a place to drop it; panels that scroll."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtGui import QDragEnterEvent, QDropEvent
from PySide6.QtWidgets import (
    QLabel,
    QPushButton,
    QScrollArea,
    QSizePolicy,
    QToolButton,
    QWidget,
)

from vbas_desktop.ui.theme import GRID, Theme
from vbas_desktop.ui.widgets.fields import muted
from vbas_desktop.ui.widgets.file_dialogs import RECORD_FILES, ask_for_folder, ask_to_open

from .building import dress, in_column, in_row


class FileRow(QWidget):
    """`chosen(Path)`: the user chose or dropped a file; `cleared()`: none is wanted any more."""

    chosen = Signal(Path)
    cleared = Signal()

    def __init__(self, label: str, help: str, theme: Theme, clearable: bool = False) -> None:
        super().__init__()
        plain = label.replace("&", "")
        self._label = plain
        self.path: Path | None = None
        self.caption = QLabel(label)
        self.name = QLabel("none yet")
        self.name.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self.facts = muted()
        self.facts.hide()
        self.choose = dress(QPushButton("Choose…"), accessibleName=f"Choose {plain.lower()}")
        self.caption.setBuddy(self.choose)
        self.choose.clicked.connect(self._on_choose)
        self.clear = QToolButton()
        theme.set_icon(self.clear, "close")
        dress(self.clear, autoRaise=True, toolTip=f"Without {plain.lower()}", accessibleName=f"Without {plain.lower()}")
        self.clear.clicked.connect(self._on_clear)
        self.clear.setVisible(False)
        self._clearable = clearable
        for widget in (self.caption, self.name, self.choose):
            widget.setToolTip(help)
        row = in_row((self.name, 1), self.clear, self.choose)
        in_column(self.caption, row, self.facts, within=self, margins=0, spacing=GRID // 4)
        self.setAcceptDrops(True)

    def show_file(self, path: Path | None, facts: str = "") -> None:
        """Show a file and what was understood of it; None: no file."""
        self.path = path
        self.name.setText(path.name if path is not None else "none yet")
        self.name.setToolTip(str(path) if path is not None else "")
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

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        """Take one local file."""
        urls = event.mimeData().urls()
        if len(urls) == 1 and urls[0].isLocalFile():
            event.acceptProposedAction()

    def dropEvent(self, event: QDropEvent) -> None:
        """The file was dropped here."""
        self.chosen.emit(Path(event.mimeData().urls()[0].toLocalFile()))
        event.acceptProposedAction()


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


class FolderRow(QWidget):
    """``path`` is the chosen folder, None without one."""

    def __init__(self, title: str, theme: Theme) -> None:
        super().__init__()
        self._title = title
        self.path: Path | None = None
        self.name = QLabel("none")
        self.name.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self.choose = dress(QPushButton("Choose…"), accessibleName=f"Choose the {title.lower()}")
        self.clear = dress(
            QToolButton(), autoRaise=True, toolTip=f"Without {title.lower()}", accessibleName=f"Without {title.lower()}"
        )
        self.clear.hide()
        in_row((self.name, 1), self.clear, self.choose, within=self, margins=0)
        self.choose.clicked.connect(self._on_choose)
        self.clear.clicked.connect(self._on_clear)
        theme.set_icon(self.clear, "close")

    def use(self, folder: Path | None) -> None:
        """Take a folder, or none."""
        self.path = folder
        self.name.setText(folder.name if folder is not None else "none")
        self.name.setToolTip(str(folder or ""))
        self.clear.setVisible(folder is not None)

    @Slot()
    def _on_choose(self) -> None:
        ask_for_folder(self, self._title, self.path, lambda chosen: self.use(Path(chosen)))

    @Slot()
    def _on_clear(self) -> None:
        self.use(None)
