"""The columns of the record file and their roles as a table model."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import Qt

from vbas_desktop.algorithms.intervals import number_of_groups
from vbas_desktop.domain.records import MISSING, ColumnFacts, Role
from vbas_desktop.session.session import Session
from vbas_desktop.ui.widgets.tables import Heading, Index, TableModel

ROLE_TIPS = {
    Role.REGION: "Names the initial region of the record",
    Role.QUASI_IDENTIFIER: "Others may know it of a person: protected by k",
    Role.SENSITIVE: "Must not be learned of a person",
    Role.IDENTIFIER: "Points at one person: dropped from the release",
    Role.PLAIN: "Released as it is",
}
NAME, ROLE, DISTINCT, EMPTY = range(4)
_HEADINGS = (Heading("Column"), Heading("Role"), Heading("Categories", side="right"), Heading("Empty", side="right"))


class ColumnsModel(TableModel):
    """One row per column; the role can be edited."""

    def __init__(self, session: Session) -> None:
        super().__init__()
        self._session = session
        self._columns: tuple[ColumnFacts, ...] = ()

    def reload(self) -> None:
        """Other data are loaded."""
        self.beginResetModel()
        self._columns = self._session.table.columns if self._session.table is not None else ()
        self.endResetModel()

    def refresh_roles(self) -> None:
        """Roles changed."""
        if self._columns:
            self.dataChanged.emit(self.index(0, 0), self.index(len(self._columns) - 1, len(_HEADINGS) - 1))

    def facts(self, row: int) -> ColumnFacts | None:
        """What is known of the column in a row."""
        return self._columns[row] if 0 <= row < len(self._columns) else None

    def role_of(self, row: int) -> Role:
        """The role of the column in a row."""
        return self._session.choices.roles.get(self._columns[row].name, Role.PLAIN)

    def headings(self) -> tuple[Heading, ...]:
        """The columns of the table."""
        return _HEADINGS

    def count(self) -> int:
        """Number of columns of the file."""
        return len(self._columns)

    def flags(self, index: Index) -> Qt.ItemFlag:
        """Only roles can be edited."""
        usual = super().flags(index)
        return usual | Qt.ItemFlag.ItemIsEditable if index.column() == ROLE else usual

    def more(self, row: int, column: int, role: int) -> Any:
        """The role to edit, and tips."""
        if role == Qt.ItemDataRole.EditRole and column == ROLE:
            return str(self.role_of(row))
        return self._tip(self._columns[row], row, column) if role == Qt.ItemDataRole.ToolTipRole else None

    def text(self, row: int, column: int) -> str:
        """What a cell shows."""
        facts = self._columns[row]
        if column == NAME:
            return facts.name
        if column == ROLE:
            return str(self.role_of(row))
        if column == EMPTY:
            return f"{facts.missing:,}" if facts.missing else ""
        number = facts.categories.number if facts.categories is not None else facts.distinct
        if self._session.table is not None and facts.distinct >= self._session.table.rows > 1:
            return "all different"
        groups = self._session.choices.groupings.get(facts.name)
        if groups and facts.categories is not None:
            return f"{number:,} → {number_of_groups(facts.categories.values, groups):,}"
        return f"{number:,}" if facts.categorical else f"> {number:,}"

    def _tip(self, facts: ColumnFacts, row: int, column: int) -> str:
        if column == ROLE:
            return ROLE_TIPS[self.role_of(row)]
        declared = facts.categories.declared if facts.categories is not None else None
        if column == DISTINCT and declared is not None:
            return f"{declared:,} declared in the file, {facts.distinct:,} present"
        if column == EMPTY and facts.missing:
            return f"{facts.missing:,} records have no value here; shown as {MISSING}"
        return facts.name

    def setData(self, index: Index, value: Any, role: int = Qt.ItemDataRole.EditRole) -> bool:
        """Give a column another role."""
        if index.column() != ROLE or role != Qt.ItemDataRole.EditRole:
            return False
        name = self._columns[index.row()].name
        self._session.change(self._session.choices.with_role(name, Role(value)))
        return True
