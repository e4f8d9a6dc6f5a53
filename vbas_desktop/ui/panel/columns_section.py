"""Column roles as a table, and what is in the column that is looked at."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QModelIndex, Qt, Slot
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHeaderView,
    QPushButton,
    QTableView,
    QWidget,
)

from vbas_desktop.algorithms.intervals import number_of_groups
from vbas_desktop.model.records import MISSING, ColumnFacts, Role
from vbas_desktop.model.words import agreeing, counted
from vbas_desktop.session.session import Session
from vbas_desktop.ui.dialogs.grouping import GroupingDialog
from vbas_desktop.ui.theme import GRID
from vbas_desktop.ui.widgets.building import dress, in_column, in_row
from vbas_desktop.ui.widgets.fields import Unfold, muted, short_name, title, told
from vbas_desktop.ui.widgets.plain_text import set_tool_tip
from vbas_desktop.ui.widgets.tables import (
    BarDelegate,
    ChoiceCells,
    FrequenciesModel,
    Heading,
    Index,
    TableModel,
    set_up_table,
)

ROLE_TIPS = {
    Role.REGION: "Names the initial region of the record",
    Role.QUASI_IDENTIFIER: "Others may know it of a person: protected by k",
    Role.SENSITIVE: "Must not be learned of a person",
    Role.IDENTIFIER: "Points at one person: left out of the release",
    Role.PLAIN: "Released as it is",
}
_UNDECIDED_TIP = "Undecided: the program guessed that it is plain. Choose a role, or confirm it below"
NAME, ROLE, DISTINCT, EMPTY = range(4)
_HEADINGS = (Heading("Column"), Heading("Role"), Heading("Categories", side="right"), Heading("Empty", side="right"))

_SAMPLED_ROWS = 60
"""How many rows decide how wide a column is: a file can have tens of thousands of columns, each a row here."""

_KEYS = {
    Qt.Key.Key_R: Role.REGION,
    Qt.Key.Key_Q: Role.QUASI_IDENTIFIER,
    Qt.Key.Key_S: Role.SENSITIVE,
    Qt.Key.Key_I: Role.IDENTIFIER,
    Qt.Key.Key_P: Role.PLAIN,
}


class ColumnsModel(TableModel):
    """One row per column of the file; the role can be edited."""

    heads = _HEADINGS

    def __init__(self, session: Session) -> None:
        super().__init__()
        self._session = session

    def reload(self) -> None:
        """Other data are loaded."""
        with self.anew():
            self.rows = self._session.table.columns if self._session.table is not None else ()

    def refresh_roles(self) -> None:
        """Roles changed."""
        if self.rows:
            self.dataChanged.emit(self.index(0, 0), self.index(len(self.rows) - 1, len(_HEADINGS) - 1))

    def facts(self, row: int) -> ColumnFacts | None:
        """What is known of the column in a row."""
        return self.rows[row] if 0 <= row < len(self.rows) else None

    def role_of(self, row: int) -> Role:
        """The role of the column in a row."""
        return self._session.choices.roles.get(self.rows[row].name, Role.PLAIN)

    def is_undecided(self, row: int) -> bool:
        """Whether the column in a row was only guessed to be plain."""
        return self.role_of(row) is Role.PLAIN and self.rows[row].name not in self._session.choices.decided

    def flags(self, index: Index) -> Qt.ItemFlag:
        """Only roles can be edited."""
        usual = super().flags(index)
        return usual | Qt.ItemFlag.ItemIsEditable if index.column() == ROLE else usual

    def more(self, row: int, column: int, role: int) -> Any:
        """The role to edit, and tips."""
        if role == Qt.ItemDataRole.EditRole and column == ROLE:
            # An undecided cell begins with nothing chosen, so that opening its list decides nothing.
            return "" if self.is_undecided(row) else str(self.role_of(row))
        return self._tip(self.rows[row], row, column) if role == Qt.ItemDataRole.ToolTipRole else None

    def text(self, row: int, column: int) -> str:
        """What a cell shows."""
        facts = self.rows[row]
        if column == NAME:
            return facts.name
        if column == ROLE:
            return f"{self.role_of(row)}?" if self.is_undecided(row) else str(self.role_of(row))
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
            return _UNDECIDED_TIP if self.is_undecided(row) else ROLE_TIPS[self.role_of(row)]
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
        name = self.rows[index.row()].name
        self._session.change(self._session.choices.with_role(name, Role(value)))
        return True


class ColumnsView(QTableView):
    """The table of columns; R, Q, S, I and P give the chosen column its role."""

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Roles by their first letter."""
        role = _KEYS.get(Qt.Key(event.key()))
        current = self.currentIndex()
        if role is None or not current.isValid() or event.modifiers():
            super().keyPressEvent(event)
            return
        self.model().setData(current.siblingAtColumn(ROLE), str(role))


class ColumnsSection(QWidget):
    """The table of roles with the categories of the chosen column under it."""

    def __init__(self, session: Session) -> None:
        super().__init__()
        self._session = session
        self.model = ColumnsModel(session)
        self.view = ColumnsView()
        self.view.setModel(self.model)
        roles = [(str(role), str(role), ROLE_TIPS[role]) for role in Role]
        self.view.setItemDelegateForColumn(ROLE, ChoiceCells(lambda: roles, self.view, unfolded=True))
        _table_look(self.view, "Column roles", NAME)
        dress(
            self.view,
            editTriggers=QAbstractItemView.EditTrigger.SelectedClicked
            | QAbstractItemView.EditTrigger.DoubleClicked
            | QAbstractItemView.EditTrigger.EditKeyPressed,
            toolTip="Click a role to change it, or press R, Q, S, I or P",
        )
        self.view.clicked.connect(self._on_clicked)
        self.frequencies = FrequenciesModel()
        self.bars = QTableView()
        self.bars.setModel(self.frequencies)
        self.bars.setItemDelegateForColumn(2, BarDelegate(self.bars))
        _table_look(self.bars, "Categories", 2)
        self.unfold = Unfold()
        self.unfold.toggled.connect(self._on_unfolded)
        self._left_out = muted()
        self.undecided = told(look="warning")
        self.confirm = QPushButton("Confirm as plain")
        set_tool_tip(self.confirm, "Release all undecided columns as they are: nobody knows them of a person")
        self.confirm.clicked.connect(self._on_confirm)
        self.group = QPushButton("Grou&p categories…")
        set_tool_tip(self.group, "Take categories of the chosen column together, before counting and in the release")
        self.group.clicked.connect(self.open_grouping)
        in_column(
            title("Columns and roles"),
            self.view,
            in_row((self.undecided, 1), self.confirm),
            self.unfold,
            self.bars,
            self._left_out,
            self.group,
            within=self,
            margins=0,
            spacing=GRID // 2,
        )
        self.view.selectionModel().currentRowChanged.connect(self._on_row_changed)
        self.reload()

    def reload(self) -> None:
        """Other data are loaded."""
        self.model.reload()
        rows = self.model.rowCount()
        height = self.view.verticalHeader().defaultSectionSize() * min(max(rows, 2), 12)
        self.view.setFixedHeight(height + self.view.horizontalHeader().sizeHint().height() + 4)
        if rows:
            # The first column is often that of identifiers, which there is little to look at.
            names, region = [facts.name for facts in self.model.rows], self._session.choices.region_column
            self.view.setCurrentIndex(self.model.index(names.index(region) if region in names else 0, NAME))
        self._on_unfolded(self.unfold.isChecked())
        self._refresh_undecided()
        self.setVisible(rows > 0)

    def refresh(self) -> None:
        """Roles or groups changed."""
        self.model.refresh_roles()
        self._refresh_group_button()
        self._refresh_undecided()

    def _refresh_undecided(self) -> None:
        number = len(self._session.choices.undecided)
        self.undecided.setText(
            f"{counted(number, 'column is', 'columns are')} undecided (plain?): choose "
            f"{agreeing(number, 'its role', 'their roles')} before you export."
        )
        for widget in (self.undecided, self.confirm):
            widget.setVisible(number > 0)

    @Slot()
    def _on_confirm(self) -> None:
        choices = self._session.choices
        self._session.change(choices.with_decided(choices.undecided))

    def _refresh_group_button(self) -> None:
        row = self.view.currentIndex().row()
        facts = self.model.facts(row)
        usable = facts is not None and facts.categories is not None and facts.distinct > 1
        self.group.setVisible(usable and self.model.role_of(row) is Role.QUASI_IDENTIFIER)
        if facts is not None:
            self.group.setText(f"Grou&p categories of “{short_name(facts.name)}”…")

    @Slot()
    def open_grouping(self) -> None:
        """Ask how the categories of the chosen column are taken together."""
        facts = self.model.facts(self.view.currentIndex().row())
        if facts is None or facts.categories is None:
            return
        chosen = self._session.choices.groupings.get(facts.name, {})
        dialog = GroupingDialog(facts, dict(chosen), self.window(), self._session.table)
        dialog.groups_chosen.connect(self._on_groups_chosen)
        dialog.open()

    @Slot(str, dict)
    def _on_groups_chosen(self, column: str, groups: dict[str, str]) -> None:
        self._session.change(self._session.choices.with_grouping(column, groups))

    @Slot(QModelIndex)
    def _on_clicked(self, index: QModelIndex) -> None:
        if index.column() == ROLE:
            self.view.edit(index)

    @Slot()
    def _on_row_changed(self) -> None:
        self._on_unfolded(self.unfold.isChecked())
        self._refresh_group_button()

    @Slot(bool)
    def _on_unfolded(self, unfolded: bool) -> None:
        facts = self.model.facts(self.view.currentIndex().row())
        self.unfold.setText(f"Categories of “{short_name(facts.name)}”" if facts else "Categories")
        left_out = self.frequencies.show_column(facts if unfolded else None)
        shown = self.frequencies.rowCount()
        self.bars.setVisible(unfolded and shown > 0)
        height = self.bars.verticalHeader().defaultSectionSize() * min(max(shown, 1), 8)
        self.bars.setFixedHeight(height + self.bars.horizontalHeader().sizeHint().height() + 4)
        text = f"and {left_out:,} more" if left_out else "Too many different values to list." if not shown else ""
        self._left_out.setText(text)
        self._left_out.setVisible(unfolded and bool(text))


def _table_look(view: QTableView, name: str, stretched: int) -> None:
    set_up_table(view, name)
    dress(
        view, alternatingRowColors=False, wordWrap=True, selectionMode=QAbstractItemView.SelectionMode.SingleSelection
    )
    head = view.horizontalHeader()
    head.setResizeContentsPrecision(_SAMPLED_ROWS)
    head.setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
    head.setSectionResizeMode(stretched, QHeaderView.ResizeMode.Stretch)
    head.setMinimumSectionSize(48)
