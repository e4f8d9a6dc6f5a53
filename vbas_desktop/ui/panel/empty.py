"""What a part shows while it has nothing to show: a sentence that says what to do next."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QVBoxLayout, QWidget

from vbas_desktop.ui.context import Context


class EmptyState(QWidget):
    """One muted sentence in the middle."""

    def __init__(self, text: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.label = QLabel(text)
        self.label.setProperty("look", "muted")
        self.label.setWordWrap(True)
        self.label.setAlignment(Qt.AlignmentFlag.AlignCenter)
        layout = QVBoxLayout(self)
        layout.addStretch(1)
        layout.addWidget(self.label)
        layout.addStretch(1)


class NoResults(EmptyState):
    """The results tab before the first run."""

    def __init__(self, context: Context) -> None:
        super().__init__("No results yet. Choose roles in Input and press Run.")


class NoRegions(EmptyState):
    """The regions tab before a solution is chosen."""

    def __init__(self, context: Context) -> None:
        super().__init__("Choose a solution in Results to see its aggregated regions.")


class NoMap(EmptyState):
    """The canvas before there is something to draw."""

    def __init__(self, context: Context) -> None:
        super().__init__("The map appears here.")
