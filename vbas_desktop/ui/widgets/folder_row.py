"""A folder of a form: its name, a button to choose it, and one to do without."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Slot
from PySide6.QtWidgets import QHBoxLayout, QLabel, QPushButton, QSizePolicy, QToolButton, QWidget

from vbas_desktop.ui.theme import Theme
from vbas_desktop.ui.widgets.file_dialogs import ask_for_folder


class FolderRow(QWidget):
    """``path`` is the chosen folder, None without one."""

    def __init__(self, title: str, theme: Theme) -> None:
        super().__init__()
        self._title, self._theme = title, theme
        self.path: Path | None = None
        self.name = QLabel("none")
        self.name.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self.choose = QPushButton("Choose…")
        self.choose.setAccessibleName(f"Choose the {title.lower()}")
        self.clear = QToolButton()
        self.clear.setAutoRaise(True)
        self.clear.setToolTip(f"Without {title.lower()}")
        self.clear.setAccessibleName(f"Without {title.lower()}")
        self.clear.hide()
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.addWidget(self.name, 1)
        row.addWidget(self.clear)
        row.addWidget(self.choose)
        self.choose.clicked.connect(self._on_choose)
        self.clear.clicked.connect(self._on_clear)
        theme.changed.connect(self._on_theme_changed)
        self._on_theme_changed()

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

    @Slot()
    def _on_theme_changed(self) -> None:
        self.clear.setIcon(self._theme.icon("close"))
