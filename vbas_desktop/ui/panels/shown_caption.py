"""The caption of the shown solution: its minimum group size, quasi-identifiers and limits."""

from __future__ import annotations

from PySide6.QtCore import Slot
from PySide6.QtWidgets import QWidget

from ..core.context import UiContext
from ..core.theme import GRID
from ..presentation.results_table import describe_settings
from ..widgets.plain_text import Label


class ShownCaption(Label):
    """Follows the shown solution; hidden while there is none."""

    def __init__(self, context: UiContext, parent: QWidget | None = None) -> None:
        super().__init__("", parent)
        self._context = context
        self.setWordWrap(True)
        self.setContentsMargins(GRID, GRID // 2, GRID, 0)
        self.setAccessibleName("Settings of the shown solution")
        model = context.model
        for signal in (model.selection_changed, model.choices_changed, model.solutions_changed):
            signal.connect(self._on_changed)
        self._on_changed()

    @Slot()
    def _on_changed(self) -> None:
        selected = self._context.state.selected
        self.setVisible(selected is not None)
        if selected is None:
            return
        text = describe_settings(selected)
        if selected.run.key != self._context.state.problem_key:
            text += ". Input has other settings now."
        self.setText(text)
