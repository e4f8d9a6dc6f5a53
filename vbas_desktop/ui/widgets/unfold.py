"""A line that unfolds what is below it."""

from __future__ import annotations

from PySide6.QtCore import Qt, Slot
from PySide6.QtWidgets import QToolButton, QWidget


class Unfold(QToolButton):
    """Shows and hides ``content``; folded at first. Without content whoever listens to ``toggled`` does it."""

    def __init__(self, text: str = "", content: QWidget | None = None) -> None:
        super().__init__()
        self._content = content
        self.setText(text)
        self.setCheckable(True)
        self.setAutoRaise(True)
        self.setProperty("look", "unfold")
        self.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        self.toggled.connect(self._on_toggled)
        self._on_toggled(False)

    @Slot(bool)
    def _on_toggled(self, unfolded: bool) -> None:
        self.setArrowType(Qt.ArrowType.DownArrow if unfolded else Qt.ArrowType.RightArrow)
        if self._content is not None:
            self._content.setVisible(unfolded)
