"""A table whose columns of words give way where there is little room."""

from __future__ import annotations

from collections.abc import Iterable

from PySide6.QtCore import (
    Qt,
    Slot,
)
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QTableView,
)

from .tables import fit_columns, title_width

_LEAST_SHARE = 0.6
"""A column of words keeps this share of its width."""


class ElasticTableView(QTableView):
    """Table whose column of words is cut if that brings all columns into sight, until a width is set by hand.

    Tips tell in full what is cut; titles are never cut. Several columns of words are shown in full, and so is a single
    one if the table has to be scrolled anyway.
    """

    def __init__(self) -> None:
        super().__init__()
        self._own_widths = False
        self._squeezing = False
        self._natural: list[int] = []
        # Widths are measured from the rows in sight: measuring all of them takes 1 ms for each listed solution.
        self.horizontalHeader().setResizeContentsPrecision(0)
        self.setHorizontalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.horizontalHeader().sectionResized.connect(self._on_section_resized)

    def fit(self) -> None:
        """Choose the widths anew, for other columns."""
        self._squeezing = True
        narrowest = self.horizontalHeader().minimumSectionSize()
        self._natural = [max(width, narrowest) for width in fit_columns(self)]
        self._squeezing = False
        self._own_widths = False
        self.squeeze()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Fit the columns to the new width."""
        super().resizeEvent(event)
        self.squeeze()

    @Slot(int, int, int)
    def _on_section_resized(self, column: int, before: int, now: int) -> None:
        """Qt reports hiding and showing a column as a change of its width, too."""
        self._own_widths = self._own_widths or not (self._squeezing or before == 0 or now == 0)

    def squeeze(self) -> None:
        """Share the room among the columns that are shown."""
        if self._own_widths or len(self._natural) != self.model().columnCount():
            return
        visible = [column for column in range(len(self._natural)) if not self.isColumnHidden(column)]
        words = [column for column in visible if self._of_words(column)]
        missing = sum(self._natural[column] for column in visible) - self.viewport().width()
        self._squeezing = True
        for column in words:
            whole = self._natural[column]
            least = max(title_width(self, column), round(_LEAST_SHARE * whole))
            # Where the table has to be scrolled anyway, nothing is gained by cutting words.
            gives_way = len(words) == 1 and 0 < missing <= whole - least
            self.setColumnWidth(column, whole - missing if gives_way else whole)
        self._squeezing = False

    def grow(self, columns: Iterable[int]) -> None:
        """Give columns the room that their rows in sight need by now, unless widths were set by hand."""
        if self._own_widths or len(self._natural) != self.model().columnCount():
            return
        self._squeezing = True
        for column in columns:
            if not self.isColumnHidden(column):
                self._natural[column] = max(self._natural[column], self.sizeHintForColumn(column))
                self.setColumnWidth(column, self._natural[column])
        self._squeezing = False
        self.squeeze()

    def _of_words(self, column: int) -> bool:
        side = self.model().headerData(
            column, Qt.Orientation.Horizontal, Qt.ItemDataRole.TextAlignmentRole
        )
        return bool(Qt.AlignmentFlag(side) & Qt.AlignmentFlag.AlignLeft)
