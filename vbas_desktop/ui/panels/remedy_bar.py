"""Ways out as buttons, below the sentence that says what is in the way."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from ..core.theme import GRID
from ..state.remedies import Remedy
from ..widgets.fields import clear_layout
from ..widgets.layouts import button, grid_layout
from ..widgets.plain_text import menu_text

_COLUMNS = 2


class RemedyBar(QWidget):
    """Buttons, two on a line. `chosen(Remedy)`: one was pressed."""

    chosen = Signal(object)

    def __init__(self) -> None:
        super().__init__()
        self.remedies: tuple[Remedy, ...] = ()
        self._grid = grid_layout(
            within=self, margins=0, across=GRID, down=GRID // 2, shares=(1,) * _COLUMNS
        )
        self.hide()

    def show_remedies(self, remedies: Sequence[Remedy]) -> None:
        """Show other ways out; without any, nothing is shown."""
        if tuple(remedies) == self.remedies:
            return
        self.remedies = tuple(remedies)
        clear_layout(self._grid)
        for position, remedy in enumerate(self.remedies):
            made = button(menu_text(remedy.text), partial(self.chosen.emit, remedy), remedy.tip)
            self._grid.addWidget(made, *divmod(position, _COLUMNS))
        self.setVisible(bool(self.remedies))
