"""The nodes of a search as Qt's table model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from PySide6.QtCore import QObject, Qt
from PySide6.QtGui import QFont

from vbas_desktop.search.run import Found, Searched
from vbas_desktop.session.finding import node_in_words
from vbas_desktop.ui.panel.results_columns import RECOMMENDED, STAR
from vbas_desktop.ui.widgets.tables import Heading, TableModel

SORT_ROLE = int(Qt.ItemDataRole.UserRole)
NUMBER_ROLE = SORT_ROLE + 1

_FIGURES = (
    Heading("Regions", "Aggregated regions: the finest place within the allowed loss", "right"),
    Heading("Suppressed\n%", "Share of all records that are not released", "right"),
    Heading("Attributes\nkept, %", "Share of the attributes' information that is kept", "right"),
    Heading("Place\nkept, %", "Share of the information on place that is kept", "right"),
    Heading("Classes", "Possible combinations of the groups", "right"),
    Heading("Result", "Found; out of reach: one region in all loses too much; coarser than needed: no need to search"),
)
_MARKS = f"{STAR} no other combination beats it   {RECOMMENDED} recommended: keeps the largest product of both"


class NodesModel(TableModel):
    """One row per node, with the categories that remain of each attribute."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.searched: Searched | None = None
        self._headings: tuple[Heading, ...] = ()

    def show_search(self, searched: Searched | None) -> None:
        """Show what is found so far."""
        self.beginResetModel()
        self.searched = searched
        names = [] if searched is None else [ladder.column for ladder in searched.finest.lattice.ladders]
        columns = (Heading(name, f"Categories of {name} that remain", "right") for name in names)
        self._headings = (
            Heading(STAR, _MARKS, "centre"),
            Heading("№", "Number of the node", "right"),
            *columns,
            *_FIGURES,
        )
        self.endResetModel()

    def headings(self) -> Sequence[Heading]:
        """The columns."""
        return self._headings

    def count(self) -> int:
        """How many nodes there are."""
        return 0 if self.searched is None else len(self.searched.rows)

    def row_of(self, number: int) -> Found:
        """The node with a number."""
        assert self.searched is not None
        return self.searched.rows[number - 1]

    def _values(self, row: int) -> list[Any]:
        searched = self.searched
        assert searched is not None
        found = searched.rows[row]
        ladders = zip(searched.finest.lattice.ladders, found.node, strict=True)
        rank = 0 if found is searched.recommended else 1 if found.node in searched.front else 2
        records = max(1, searched.finest.problem.records)
        return [
            rank,
            row + 1,
            *(ladder.rungs[level].number for ladder, level in ladders),
            found.regions,
            None if found.suppressed is None else 100 * found.suppressed / records,
            100 * found.detail,
            None if found.place_loss is None else 100 * (1 - found.place_loss),
            found.equivalence_classes,
            found.status,
        ]

    def text(self, row: int, column: int) -> str:
        """What a cell shows."""
        value = self._values(row)[column]
        if column == 0:
            return ("", STAR, f"{STAR} {RECOMMENDED}")[2 - value]
        if value is None:
            return "–"
        return f"{value:,.2f}" if isinstance(value, float) else f"{value:,}" if isinstance(value, int) else str(value)

    def more(self, row: int, column: int, role: int) -> Any:
        """Values to sort by, the number, a tip, and the recommended node in bold."""
        assert self.searched is not None
        if role == SORT_ROLE:
            value = self._values(row)[column]
            return float("inf") if value is None else value
        if role == NUMBER_ROLE:
            return row + 1
        if role == Qt.ItemDataRole.ToolTipRole:
            return node_in_words(self.searched, self.searched.rows[row].node)
        if role == Qt.ItemDataRole.FontRole and self.searched.rows[row] is self.searched.recommended:
            font = QFont()
            font.setBold(True)
            return font
        return None
