"""What becomes of each column in the release: its role, its name, and whether it may reveal too much."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from operator import attrgetter

from PySide6.QtCore import QItemSelectionModel, Signal, Slot
from PySide6.QtWidgets import QAbstractItemView, QComboBox, QHeaderView, QTableView, QWidget

from vbas_desktop.model.records import Role
from vbas_desktop.model.text import format_count

from ..core.theme import GRID
from ..presentation.tables import TableColumn
from ..state.choices import Choices
from ..state.releasing import ColumnDecision, list_decisions
from ..state.scenario import ResultRow
from ..widgets.cell_delegates import ComboBoxDelegate
from ..widgets.layouts import hbox, set_items, vbox, with_properties
from ..widgets.plain_text import Label, set_tool_tip
from ..widgets.tables import TableModel, set_up_table

DECISIONS = {
    Role.QUASI_IDENTIFIER: "Others may know it about a person: k protects it",
    Role.SENSITIVE: "Nobody may learn it about a person",
    Role.IDENTIFIER: "Points at one person: never released",
    Role.AS_IS: "Released unchanged and unprotected: nobody knows it about a person",
    Role.LEAVE_OUT: "Not in the release",
}
"""What can be decided of a column, with an explanation."""

_UNDECIDED = "choose…"
_ROWS_IN_SIGHT = 9
_NAME, _ROLE, _NEW_NAME, _ALLOWED = range(4)
_ALLOW_TIP = (
    "Every column is tested before the export. If you tick this, the column is released even if it reveals more of a "
    "person, a region or a category than the rest of the release does; the internal report says so."
)


class ReleaseColumns(QWidget):
    """The table of columns, and a list that decides for several of them at once.

    `changed`: anything was changed. `decided(names, role)`: the user gave columns a role.
    """

    changed = Signal()
    decided = Signal(object, object)

    def __init__(self, columns: Sequence[str], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._columns = columns
        self._chosen_roles: dict[str, Role] = {}
        self.model: TableModel[ColumnDecision] = TableModel(self._make_columns(), self)
        self.view = QTableView()
        self.view.setModel(self.model)
        roles = [(str(role), str(role), tip) for role, tip in DECISIONS.items()]
        self.view.setItemDelegateForColumn(
            _ROLE, ComboBoxDelegate(lambda: roles, self.view, unfolded=True)
        )
        self.role_of_selected = QComboBox()
        set_items(
            self.role_of_selected, ((str(role), str(role), tip) for role, tip in DECISIONS.items())
        )
        with_properties(
            self.role_of_selected,
            placeholderText="choose…",
            currentIndex=-1,
            accessibleName="Role of the selected columns",
        )
        self.role_of_selected.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
        self._set_up_view()
        label = Label("Set selected columns to")
        label.setBuddy(self.role_of_selected)
        vbox(self.view, hbox(label, self.role_of_selected, 1), within=self, margins=0, spacing=GRID // 2)
        self.role_of_selected.activated.connect(self._on_role_of_selected)
        self.view.clicked.connect(
            lambda index: self.view.edit(index) if index.column() == _ROLE else None
        )
        self.view.selectionModel().selectionChanged.connect(self._on_selection_changed)
        self._on_selection_changed()

    def _make_columns(self) -> tuple[TableColumn[ColumnDecision], ...]:
        return (
            TableColumn("name", "Column", attrgetter("name"), row_tip=attrgetter("name")),
            TableColumn(
                "role",
                "In the release",
                lambda row: _UNDECIDED if row.role is None else str(row.role),
                row_tip=_explain_role,
                is_bold=lambda row: row.role is None,
                edit_value=lambda row: "" if row.role is None else str(row.role),
                edit=lambda row, role: self._on_role_chosen(row, Role(role)),
                is_enabled=lambda row: row.role is not Role.REGION,
            ),
            TableColumn(
                "new_name",
                "Name in the release",
                lambda row: row.new_name if row.is_released else "",
                edit_value=attrgetter("new_name"),
                edit=self._on_renamed,
                is_enabled=lambda row: row.is_released,
            ),
            TableColumn(
                "allowed",
                "Allowed",
                lambda row: "",
                _ALLOW_TIP,
                row_tip=lambda row: _ALLOW_TIP if _is_tested(row) else "",
                is_checked=lambda row: row.is_allowed if _is_tested(row) else None,
                check=self._on_allowed,
                is_enabled=_is_tested,
            ),
        )

    def _set_up_view(self) -> None:
        set_up_table(self.view, "Columns of the release")
        triggers = QAbstractItemView.EditTrigger
        with_properties(
            self.view,
            alternatingRowColors=False,
            selectionMode=QAbstractItemView.SelectionMode.ExtendedSelection,
            editTriggers=triggers.DoubleClicked | triggers.EditKeyPressed | triggers.AnyKeyPressed,
        )
        header = self.view.horizontalHeader()
        header.setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
        header.setSectionResizeMode(_NEW_NAME, QHeaderView.ResizeMode.Stretch)
        # A file can have tens of thousands of columns.
        header.setResizeContentsPrecision(60)
        rows = min(len(self._columns), _ROWS_IN_SIGHT) * self.view.verticalHeader().defaultSectionSize()
        self.view.setMinimumHeight(rows + header.sizeHint().height() + GRID)

    # The columns

    def show_solution(self, entry: ResultRow, choices: Choices) -> None:
        """Show what becomes of the columns in a release of this solution; what was decided here stays."""
        before = {row.name: row for row in self.model.rows}
        rows = list_decisions(self._columns, entry, choices)
        for row in rows:
            if row.role is not Role.REGION:
                row.role = self._chosen_roles.get(row.name, row.role)
            if row.name in before:
                row.new_name = before[row.name].new_name
                row.is_allowed = before[row.name].is_allowed
        self.model.set_rows(rows)
        self.changed.emit()

    @property
    def kept(self) -> tuple[str, ...]:
        """The columns that are released, as far as that is decided."""
        return tuple(row.name for row in self.model.rows if row.is_released)

    @property
    def dropped(self) -> tuple[str, ...]:
        """The columns that are not released and had no part in the solution."""
        return tuple(
            row.name for row in self.model.rows if not row.is_released and row.counted_role is Role.AS_IS
        )

    @property
    def undecided(self) -> tuple[str, ...]:
        """The columns that nobody decided on."""
        return tuple(row.name for row in self.model.rows if row.role is None)

    @property
    def needing_run(self) -> tuple[ColumnDecision, ...]:
        """The columns whose role only another run would take into account."""
        return tuple(row for row in self.model.rows if row.needs_run)

    @property
    def allowed(self) -> tuple[str, ...]:
        """The columns that are released even if they reveal too much."""
        return tuple(row.name for row in self.model.rows if row.is_allowed and _is_tested(row))

    @property
    def renames(self) -> dict[str, str]:
        """The new names of released columns that get one."""
        released = (row for row in self.model.rows if row.is_released)
        return {row.name: row.new_name for row in released if row.new_name not in ("", row.name)}

    def decide(self, names: Iterable[str], role: Role) -> None:
        """Give columns a role."""
        wanted = set(names)
        rows = [row for row in self.model.rows if row.name in wanted and row.role is not Role.REGION]
        for row in rows:
            row.role = role
            self._chosen_roles[row.name] = role
        self.model.refresh()
        self.decided.emit(tuple(row.name for row in rows), role)
        self.changed.emit()

    def allow(self, names: Collection[str]) -> None:
        """Release columns even if they reveal too much."""
        for row in self.model.rows:
            row.is_allowed = row.is_allowed or row.name in names
        self.model.refresh()
        self.changed.emit()

    def rename(self, name: str, new_name: str) -> None:
        """Give a column another name in the release."""
        self._on_renamed(next(row for row in self.model.rows if row.name == name), new_name)
        self.model.refresh()

    def return_to_counted(self) -> None:
        """Give the columns that would need another run the role with which the solution was computed."""
        for row in self.needing_run:
            row.role = row.counted_role if row.counted_role is not Role.AS_IS else None
            self._chosen_roles.pop(row.name, None)
        self.model.refresh()
        self.changed.emit()

    def selected(self) -> tuple[str, ...]:
        """Return the names of the selected columns."""
        return tuple(
            self.model.row_at(index.row()).name for index in self.view.selectionModel().selectedRows()
        )

    def select(self, names: Collection[str]) -> None:
        """Select the rows of these columns."""
        self.view.clearSelection()
        flags = QItemSelectionModel.SelectionFlag
        for number, row in enumerate(self.model.rows):
            if row.name in names:
                self.view.selectionModel().select(self.model.index(number, 0), flags.Select | flags.Rows)

    def _on_role_chosen(self, row: ColumnDecision, role: Role) -> None:
        selected = self.selected()
        self.decide(selected if row.name in selected else (row.name,), role)

    def _on_renamed(self, row: ColumnDecision, name: str) -> None:
        row.new_name = name.strip()
        self.changed.emit()

    def _on_allowed(self, row: ColumnDecision, is_allowed: bool) -> None:
        row.is_allowed = is_allowed
        self.changed.emit()

    @Slot()
    def _on_role_of_selected(self) -> None:
        role = Role(self.role_of_selected.currentData())
        self.role_of_selected.setCurrentIndex(-1)
        self.decide(self.selected(), role)

    @Slot()
    def _on_selection_changed(self) -> None:
        number = len(self.selected())
        self.role_of_selected.setEnabled(number > 0)
        set_tool_tip(
            self.role_of_selected, f"Give {format_count(number, 'selected column')} a role at once"
        )


def _is_tested(row: ColumnDecision) -> bool:
    """Tell whether the column is tested before an export: a released one that no class was counted by."""
    return row.is_released and row.counted_role not in (Role.REGION, Role.QUASI_IDENTIFIER)


def _explain_role(row: ColumnDecision) -> str:
    if row.role is None:
        return "Nobody decided what this column is. Choose what becomes of it."
    return DECISIONS.get(row.role, "Holds the aggregated regions: always released")


def describe_needed_run(rows: Sequence[ColumnDecision]) -> str:
    """Say which columns have a role that the solution does not take into account."""
    first = rows[0]
    name = f"“{first.name}”"
    more = f" and {format_count(len(rows) - 1, 'other column')}" if len(rows) > 1 else ""
    role = f"{first.role}"
    if first.counted_role is Role.AS_IS:
        return f"{name}{more}: this solution was computed without the role “{role}”. Run again, or leave it out."
    return f"{name}{more}: this solution was computed with the role “{first.counted_role}”, not “{role}”. Run again."
