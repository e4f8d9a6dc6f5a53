"""Column roles as a table; the categories of a column open from their number."""

from __future__ import annotations

from operator import attrgetter

from PySide6.QtCore import (
    QEvent,
    QItemSelectionModel,
    QModelIndex,
    QPersistentModelIndex,
    QSize,
    Qt,
    Signal,
    Slot,
)
from PySide6.QtGui import QKeyEvent, QMouseEvent, QPainter
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHeaderView,
    QPushButton,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTableView,
    QWidget,
)

from vbas_desktop.algorithms.value_groups import count_groups
from vbas_desktop.model.records import MISSING, ColumnFacts, Role
from vbas_desktop.model.text import format_count, inflect

from ..core.theme import GRID
from ..dialogs.grouping import GroupingDialog
from ..presentation.tables import TableColumn
from ..state.app_state import AppState
from ..widgets.cell_delegates import ARROW_WIDTH, ComboBoxDelegate, draw_arrow
from ..widgets.fields import heading_label, message_label
from ..widgets.layouts import vbox, with_properties
from ..widgets.plain_text import set_tool_tip
from ..widgets.tables import TableModel, set_up_table

ROLE_TIPS = {
    Role.REGION: "Names the initial region of the record",
    Role.QUASI_IDENTIFIER: "Others may know it about a person: protected by k",
    Role.SENSITIVE: "Must not be learned about a person",
    Role.IDENTIFIER: "Points at one person: never released",
    Role.AS_IS: "Released with its values unchanged and unprotected",
    Role.LEAVE_OUT: "Not needed: the release does not have this column",
}
_UNDECIDED_TIP = (
    "Undecided: the program guessed that it is released as it is. Choose a role, or confirm it below"
)
NAME, ROLE, CATEGORIES = range(3)

_SAMPLED_ROWS = 60
"""How many rows decide how wide a column is: a file can have tens of thousands of columns, each a row here."""

_ROWS_IN_SIGHT = 12

_KEYS = {
    Qt.Key.Key_R: Role.REGION,
    Qt.Key.Key_Q: Role.QUASI_IDENTIFIER,
    Qt.Key.Key_S: Role.SENSITIVE,
    Qt.Key.Key_I: Role.IDENTIFIER,
    Qt.Key.Key_A: Role.AS_IS,
    Qt.Key.Key_L: Role.LEAVE_OUT,
}
_TIP = (
    "Click a role to change it, or select columns (Ctrl or Shift for several) and press R, Q, S, I, A (as is) or "
    "L (leave out). Click a number of categories, or press G, to see them and to group them"
)


class ColumnsModel(TableModel[ColumnFacts]):
    """One row per column of the file. `role_chosen(column, role)`: somebody edited a role."""

    role_chosen = Signal(str, Role)

    def __init__(self, state: AppState) -> None:
        self._state = state
        columns = (
            TableColumn("name", "Column", attrgetter("name"), row_tip=attrgetter("name")),
            TableColumn(
                "role",
                "Role",
                self._describe_role,
                row_tip=self._explain_role,
                edit_value=self._get_decided_role,
                edit=self._on_role_edited,
            ),
            TableColumn(
                "categories",
                "Categories",
                attrgetter("distinct"),
                text_of=self._describe_categories,
                side="right",
                row_tip=_explain_categories,
            ),
            TableColumn(
                "empty",
                "Empty",
                attrgetter("missing"),
                text_of=lambda facts: f"{facts.missing:,}" if facts.missing else "",
                side="right",
                row_tip=_explain_missing,
            ),
        )
        super().__init__(columns)

    def reload(self) -> None:
        """Show the columns of other data."""
        self.set_rows(self._state.table.columns if self._state.table is not None else ())

    def facts(self, row: int) -> ColumnFacts | None:
        """Return the facts of the column in a row."""
        return self.rows[row] if 0 <= row < len(self.rows) else None

    def role_of(self, facts: ColumnFacts) -> Role:
        """Return the role of a column."""
        return self._state.choices.roles.get(facts.name, Role.AS_IS)

    def is_undecided(self, facts: ColumnFacts) -> bool:
        """Say if the role of a column is only a guess."""
        return self.role_of(facts) is Role.AS_IS and facts.name not in self._state.choices.decided

    def _describe_role(self, facts: ColumnFacts) -> str:
        return f"{self.role_of(facts)}?" if self.is_undecided(facts) else str(self.role_of(facts))

    def _explain_role(self, facts: ColumnFacts) -> str:
        return _UNDECIDED_TIP if self.is_undecided(facts) else ROLE_TIPS[self.role_of(facts)]

    def _get_decided_role(self, facts: ColumnFacts) -> str:
        # An undecided cell begins with nothing chosen, so that opening its list decides nothing.
        return "" if self.is_undecided(facts) else str(self.role_of(facts))

    def _on_role_edited(self, facts: ColumnFacts, role: str) -> None:
        self.role_chosen.emit(facts.name, Role(role))

    def _describe_categories(self, facts: ColumnFacts) -> str:
        number = facts.categories.number if facts.categories is not None else facts.distinct
        if self._state.table is not None and facts.distinct >= self._state.table.rows > 1:
            return "all different"
        groups = self._state.choices.groupings.get(facts.name)
        if groups and facts.categories is not None:
            return f"{number:,} → {count_groups(facts.categories.values, groups):,}"
        return f"{number:,}" if facts.categorical else f"> {number:,}"


def has_categories_to_show(facts: ColumnFacts | None) -> bool:
    """Tell whether a column has categories that can be listed."""
    return facts is not None and facts.categories is not None and facts.distinct > 1


def _explain_categories(facts: ColumnFacts) -> str:
    declared = facts.categories.declared if facts.categories is not None else None
    if declared is not None:
        return f"{declared:,} declared in the file, {facts.distinct:,} present. Click to see them"
    return (
        "Click to see the categories, and to group them" if has_categories_to_show(facts) else facts.name
    )


def _explain_missing(facts: ColumnFacts) -> str:
    return (
        f"{facts.missing:,} records have no value here; shown as {MISSING}"
        if facts.missing
        else facts.name
    )


class ColumnsView(QTableView):
    """The table of columns; several can be selected.

    `role_key_pressed(role)`: a role for the selected columns. `categories_requested()`: those of the current column.
    """

    role_key_pressed = Signal(Role)
    categories_requested = Signal()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Roles by letters, categories by G, and by Return where they stand."""
        index = self.currentIndex()
        key = Qt.Key(event.key())
        is_shortcut = index.isValid() and not event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier
        opens = (
            key in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space)
            and index.column() == CATEGORIES
        )
        if is_shortcut and key in _KEYS:
            self.role_key_pressed.emit(_KEYS[key])
        elif is_shortcut and (key == Qt.Key.Key_G or opens):
            self.categories_requested.emit()
        else:
            super().keyPressEvent(event)

    def selectionCommand(
        self, index: QModelIndex | QPersistentModelIndex, event: QEvent | None = None
    ) -> QItemSelectionModel.SelectionFlag:
        """Keep several selected columns selected when the role of one of them is clicked: all get it."""
        is_click = isinstance(event, QMouseEvent) and not event.modifiers()
        if is_click and index.column() == ROLE and self.selectionModel().isSelected(index):
            return QItemSelectionModel.SelectionFlag.NoUpdate
        return super().selectionCommand(index, event)


class _CategoriesDelegate(QStyledItemDelegate):
    """Draws an arrow beside numbers of categories that can be opened."""

    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        """Draw the cell, and the arrow if it opens."""
        model = index.model()
        is_open = isinstance(model, ColumnsModel) and has_categories_to_show(model.facts(index.row()))
        draw_arrow(self, painter, option, index, is_open)

    def sizeHint(
        self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> QSize:
        """Return the size of the text with its arrow."""
        return super().sizeHint(option, index) + QSize(ARROW_WIDTH, 0)


class ColumnsSection(QWidget):
    """The table of roles, and the columns that nobody decided on."""

    def __init__(self, state: AppState) -> None:
        super().__init__()
        self._state = state
        self.model = ColumnsModel(state)
        self.view = ColumnsView()
        self.view.setModel(self.model)
        roles = [(str(role), str(role), ROLE_TIPS[role]) for role in Role]
        self.view.setItemDelegateForColumn(
            ROLE, ComboBoxDelegate(lambda: roles, self.view, unfolded=True)
        )
        self.view.setItemDelegateForColumn(CATEGORIES, _CategoriesDelegate(self.view))
        self._set_up_view()
        self.undecided = message_label(look="warning")
        self.confirm = QPushButton("Confirm as released as is")
        set_tool_tip(
            self.confirm, "Release all undecided columns as they are: nobody knows them about a person"
        )
        self.confirm.clicked.connect(self._on_confirm)
        vbox(
            heading_label("Columns and roles"),
            self.view,
            self.undecided,
            self.confirm,
            within=self,
            margins=0,
            spacing=GRID // 2,
        )
        self.reload()

    def _set_up_view(self) -> None:
        set_up_table(self.view, "Column roles")
        triggers = QAbstractItemView.EditTrigger
        with_properties(
            self.view,
            alternatingRowColors=False,
            wordWrap=True,
            selectionMode=QAbstractItemView.SelectionMode.ExtendedSelection,
            editTriggers=triggers.DoubleClicked | triggers.EditKeyPressed,
            toolTip=_TIP,
        )
        head = self.view.horizontalHeader()
        head.setResizeContentsPrecision(_SAMPLED_ROWS)
        head.setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
        head.setSectionResizeMode(NAME, QHeaderView.ResizeMode.Stretch)
        head.setMinimumSectionSize(6 * GRID)
        self.view.clicked.connect(self._on_clicked)
        self.view.role_key_pressed.connect(self._give_selected)
        self.view.categories_requested.connect(self.open_grouping)
        self.model.role_chosen.connect(self._on_role_chosen)

    def reload(self) -> None:
        """Show the columns of newly loaded data."""
        self.model.reload()
        rows = self.model.rowCount()
        height = self.view.verticalHeader().defaultSectionSize() * min(max(rows, 2), _ROWS_IN_SIGHT)
        self.view.setFixedHeight(height + self.view.horizontalHeader().sizeHint().height() + 4)
        if rows:
            # The first column is often that of identifiers, which there is little to look at.
            names = [facts.name for facts in self.model.rows]
            region = self._state.choices.region_column
            self.view.setCurrentIndex(
                self.model.index(names.index(region) if region in names else 0, NAME)
            )
        self._refresh_undecided()
        self.setVisible(rows > 0)

    def refresh(self) -> None:
        """Show changed roles and groups."""
        self.model.refresh()
        self._refresh_undecided()

    def _refresh_undecided(self) -> None:
        number = len(self._state.choices.undecided)
        self.undecided.setText(
            f"{format_count(number, 'column is', 'columns are')} undecided (released as is?): choose "
            f"{inflect(number, 'its role', 'their roles')} before you export."
        )
        for widget in (self.undecided, self.confirm):
            widget.setVisible(number > 0)

    @Slot()
    def _on_confirm(self) -> None:
        choices = self._state.choices
        self._state.change(choices.with_decided(choices.undecided))

    def list_selected(self) -> list[str]:
        """List the names of the selected columns, in the order of the file."""
        rows = sorted(index.row() for index in self.view.selectionModel().selectedRows())
        return [self.model.rows[row].name for row in rows]

    @Slot(Role)
    def _give_selected(self, role: Role) -> None:
        current = self.model.facts(self.view.currentIndex().row())
        if current is not None:
            self._on_role_chosen(current.name, role)

    @Slot(str, Role)
    def _on_role_chosen(self, column: str, role: Role) -> None:
        """Give a column its role, and with it all that are selected; only one column can name the region."""
        selected = self.list_selected()
        names = selected if column in selected and role is not Role.REGION else [column]
        self._state.change(self._state.choices.with_roles(names, role))

    def open_categories(self, column: str) -> None:
        """Show the categories of a column, to be grouped."""
        names = [facts.name for facts in self.model.rows]
        self.view.setCurrentIndex(self.model.index(names.index(column), NAME))
        self.open_grouping()

    @Slot()
    def open_grouping(self) -> None:
        """Show the categories of the current column; those of a quasi-identifier can be grouped."""
        facts = self.model.facts(self.view.currentIndex().row())
        if facts is None or facts.categories is None:
            return
        chosen = self._state.choices.groupings.get(facts.name, {})
        can_be_grouped = self.model.role_of(facts) is Role.QUASI_IDENTIFIER
        dialog = GroupingDialog(facts, dict(chosen), self.window(), self._state.table, can_be_grouped)
        dialog.groups_chosen.connect(self._on_groups_chosen)
        dialog.open()

    @Slot(str, dict)
    def _on_groups_chosen(self, column: str, groups: dict[str, str]) -> None:
        self._state.change(self._state.choices.with_grouping(column, groups))

    @Slot(QModelIndex)
    def _on_clicked(self, index: QModelIndex) -> None:
        if index.column() == ROLE:
            self.view.edit(index)
        elif index.column() == CATEGORIES and has_categories_to_show(self.model.facts(index.row())):
            self.open_grouping()
