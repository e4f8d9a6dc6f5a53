"""The initial regions that are in another aggregated region in one of two solutions than in the other, as a table."""

from __future__ import annotations

from typing import Any

import numpy as np
from PySide6.QtCore import Qt

from vbas_desktop.ui.widgets.tables import Heading, TableModel

from .pair import Pair

_HEADINGS = (Heading("Initial region"), *(Heading(title, side="right") for title in ("Records", "Left", "Right")))
REGION_ROLE = Qt.ItemDataRole.UserRole
"""The place of the row's region in the region file."""


class ChangedModel(TableModel):
    """Makes texts when a row is seen: there may be tens of thousands."""

    def __init__(self) -> None:
        super().__init__()
        self._pair: Pair | None = None
        self._regions = np.zeros(0, np.int64)

    def show_pair(self, pair: Pair | None) -> None:
        """List another comparison."""
        self.beginResetModel()
        self._pair = pair
        changed = pair.changed if pair is not None else None
        self._regions = np.zeros(0, np.int64) if changed is None else np.flatnonzero(changed)
        self.endResetModel()

    def headings(self) -> tuple[Heading, ...]:
        """Id, records, and the code of its aggregated region on either side."""
        return _HEADINGS

    def count(self) -> int:
        """One row per changed region."""
        return int(self._regions.size)

    def text(self, row: int, column: int) -> str:
        """What a cell shows."""
        assert self._pair is not None
        pair, region = self._pair, int(self._regions[row])
        base = pair.left.geometry.base
        if column == 0:
            return base.regions.ids[region]
        if column == 1:
            return "" if base.records is None else f"{int(base.records[region]):,}"
        shown = pair.left if column == 2 else pair.right
        return shown.geometry.codes[int(shown.solution.membership[region])]

    def more(self, row: int, column: int, role: int) -> Any:
        """The region."""
        return int(self._regions[row]) if role == REGION_ROLE else None
