"""The anonymity vector of the shown solution in one line: how many classes have 1, 2, … records before suppression."""

from __future__ import annotations

from PySide6.QtCore import Slot
from PySide6.QtWidgets import QLabel

from vbas_desktop.session.words import vector_in_words
from vbas_desktop.ui.context import Context
from vbas_desktop.ui.map.preparer import preparer_of
from vbas_desktop.ui.theme import GRID, tabular

HELP = (
    "Classes of one record, of two, and so on below k, then all others: of two solutions, the one with fewer small "
    "classes hides people better"
)


class VectorLine(QLabel):
    """Follows the solution that is shown; hidden while there is none or its records are not counted."""

    def __init__(self, context: Context) -> None:
        super().__init__()
        self._preparer = preparer_of(context)
        self.setProperty("look", "muted")
        self.setWordWrap(True)
        self.setFont(tabular(self.font()))
        self.setContentsMargins(GRID, GRID // 2, GRID, GRID // 2)
        self.setToolTip(HELP)
        self._preparer.changed.connect(self._on_prepared)
        self._on_prepared()

    @Slot()
    def _on_prepared(self) -> None:
        shown = self._preparer.shown
        table, problem = (shown.table, shown.problem) if shown is not None else (None, None)
        self.setVisible(table is not None)
        if shown is not None and table is not None and problem is not None:
            words = vector_in_words(table.vector, problem.k)
            self.setText(f"Solution {shown.number:,} before suppression has these classes: {words}.")
