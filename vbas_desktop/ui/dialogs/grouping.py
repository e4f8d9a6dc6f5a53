"""Taking the categories of a column together: by hand, in intervals, or from a file."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from PySide6.QtCore import Signal, Slot
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHeaderView,
    QLineEdit,
    QMenu,
    QPushButton,
    QSpinBox,
    QTableView,
    QWidget,
)

from vbas_desktop.algorithms.value_groups import count_groups, group_into_intervals
from vbas_desktop.engine.lattice.hierarchies import propose_hierarchy
from vbas_desktop.model.progress import Progress
from vbas_desktop.model.records import MISSING, ColumnFacts, Grouping, RecordTable
from vbas_desktop.model.text import format_count

from ..core.theme import GRID
from ..core.worker import Worker
from ..presentation.messages import TaskFailure
from ..presentation.tables import TableColumn, make_category_columns
from ..widgets.cell_delegates import BarDelegate
from ..widgets.dialog import CANCEL, CLOSE, OK, Dialog
from ..widgets.fields import hint_label
from ..widgets.file_dialogs import ask_to_open
from ..widgets.layouts import button, hbox, vbox, with_properties
from ..widgets.plain_text import Label, menu_text
from ..widgets.tables import TableModel, set_up_table, stretch_column

_ABOUT_GROUPS = "Records of one group count as equal, and the release names the group."
_ABOUT_CATEGORIES = "To group them, give the column the role “quasi-identifier” first."
_NAMED = 3
"""So many groups of a proposal are named."""

_SHARE = 2
"""The column of bars."""

_KINDS = "Groups or hierarchies (*.csv *.txt *.tsv);;All files (*)"


class GroupingDialog(Dialog):
    """Lists the categories of a column; those of a quasi-identifier can be grouped.

    `groups_chosen(column, {value: group})` when the user confirms; values that stay as they are, are left out.
    """

    groups_chosen = Signal(str, dict)

    def __init__(
        self,
        facts: ColumnFacts,
        groups: dict[str, str],
        parent: QWidget,
        table: RecordTable | None = None,
        can_be_grouped: bool = True,
    ) -> None:
        title = "Group the categories" if can_be_grouped else "Categories"
        super().__init__(
            parent, f"{title} of “{facts.name}”", OK | CANCEL if can_be_grouped else CLOSE, (480, 520)
        )
        self._can_be_grouped = can_be_grouped
        assert facts.categories is not None
        self._table = table
        self._facts = facts
        self._column = facts.name
        self._values = facts.categories.values
        self._groups = dict(groups)
        self._worker = Worker(self)
        group = TableColumn(
            "group", "Group", self._get_group, edit_value=self._get_group, edit=self._set_group
        )
        numbers = facts.frequencies
        largest = 1 if numbers is None else max(1, int(numbers.max(initial=0)))
        share: TableColumn[int] = TableColumn(
            "share",
            "",
            lambda code: 0 if numbers is None else int(numbers[code]),
            text_of=lambda code: "",
            share=lambda code: 0.0 if numbers is None else int(numbers[code]) / largest,
        )
        columns = (*make_category_columns(facts), share, *((group,) if can_be_grouped else ()))
        self.model: TableModel[int] = TableModel(columns, self)
        self.model.set_rows(range(len(self._values)))
        self.table = QTableView()
        self.table.setModel(self.model)
        set_up_table(self.table, "Categories and their groups")
        self.table.setEditTriggers(QAbstractItemView.EditTrigger.AllEditTriggers)
        self.table.setItemDelegateForColumn(_SHARE, BarDelegate(self.table))
        stretch_column(self.table, len(self.model.columns) - 1)
        self.table.horizontalHeader().setSectionResizeMode(_SHARE, QHeaderView.ResizeMode.Stretch)
        self.message = Label()
        self._build()
        self.model.dataChanged.connect(self._on_changed)
        self._on_changed()

    def _build(self) -> None:
        most = len(self._values)
        self.width_of_one = with_properties(
            QSpinBox(),
            minimum=1,
            maximum=max(1, most),
            value=min(2, most),
            suffix=" categories each",
            accessibleName="Categories in an interval",
            toolTip="How many neighbouring categories become one group",
        )
        self.name = with_properties(
            QLineEdit(),
            placeholderText="Name of the group",
            accessibleName="Name of the group",
            toolTip="What the categories that are selected above are called together",
        )
        self.level = with_properties(
            QSpinBox(),
            minimum=1,
            maximum=99,
            prefix="level ",
            accessibleName="Level of the hierarchy",
            toolTip="Which level of a hierarchy (value;level1;level2…) is taken",
        )
        self.propose = button(
            "&Propose groups", tip="Groups that make sense, by order, labels or classification"
        )
        self.propose.setMenu(self._make_proposals())
        self.by_interval = button("Make &intervals", self._on_intervals)
        self.by_name = button("&Group selected", self._on_named)
        self.ungroup = button("&Ungroup", self._on_ungroup)
        file = "Read groups from a file with column,value,group, or a level of a hierarchy"
        self.load = button("&Load…", self._on_load, file)
        self.name.returnPressed.connect(self._on_named)
        tools = QWidget()
        vbox(
            self.propose,
            hbox((self.width_of_one, 1), self.by_interval),
            hbox((self.name, 1), self.by_name, self.ungroup),
            hbox((self.level, 1), self.load),
            within=tools,
            margins=0,
            spacing=GRID,
        )
        tools.setVisible(self._can_be_grouped)
        about = _ABOUT_GROUPS if self._can_be_grouped else _ABOUT_CATEGORIES
        vbox(
            hint_label(about),
            (self.table, 1),
            tools,
            self.message,
            self.buttons,
            within=self,
            spacing=GRID,
        )
        # Return in the name field groups; it must not close the dialog at the same time.
        for push_button in self.findChildren(QPushButton):
            push_button.setAutoDefault(False)

    def _make_proposals(self) -> QMenu:
        """Make a menu of the proposed levels, from many groups to a single one."""
        menu = QMenu(self)
        menu.setToolTipsVisible(True)
        is_counted = self._can_be_grouped and self._facts.frequencies is not None
        for level in propose_hierarchy(self._facts).levels[1:] if is_counted else ():
            groups = tuple(dict.fromkeys(level))
            named = ", ".join(group or MISSING for group in groups[:_NAMED])
            more = ", …" if len(groups) > _NAMED else ""
            action = menu.addAction(menu_text(f"{format_count(len(groups), 'group')}: {named}{more}"))
            proposed = dict(zip(self._values, level, strict=True))
            action.triggered.connect(lambda checked=False, groups=proposed: self.show_groups(groups))
        return menu

    def _get_group(self, code: int) -> str:
        return self._groups.get(self._values[code], "")

    def _set_group(self, code: int, group: str) -> None:
        self._groups[self._values[code]] = group

    def groups(self) -> dict[str, str]:
        """Return the group of each value that has one of another name."""
        groups = {value: self._groups.get(value, "").strip() for value in self._values}
        return {value: group for value, group in groups.items() if group and group != value}

    def show_groups(self, groups: dict[str, str]) -> None:
        """Put these groups into the table."""
        self._groups = {value: group for value, group in groups.items() if group != value}
        self.model.refresh()

    def _list_selected(self) -> list[str]:
        return [self._values[index.row()] for index in self.table.selectionModel().selectedRows()]

    @Slot()
    def _on_changed(self) -> None:
        before = len(self._values)
        after = count_groups(self._values, self.groups())
        self.message.setText(
            f"{before:,} categories become {after:,}."
            if after < before
            else f"{format_count(before, 'category')}."
        )

    @Slot()
    def _on_intervals(self) -> None:
        self.show_groups(group_into_intervals(self._values, self.width_of_one.value()))

    @Slot()
    def _on_named(self) -> None:
        name = self.name.text().strip()
        if not name or not self._list_selected():
            self.message.setText(
                "Select categories above and name their group."
                if not name
                else "Select categories above."
            )
            self.name.setFocus()
            return
        self.show_groups({**self.groups(), **dict.fromkeys(self._list_selected(), name)})
        self.name.clear()

    @Slot()
    def _on_ungroup(self) -> None:
        chosen = self._list_selected() or list(self._values)
        self.show_groups({value: group for value, group in self.groups().items() if value not in chosen})

    @Slot()
    def _on_load(self) -> None:
        ask_to_open(self, "Choose the groups", _KINDS, None, self.load_file)

    def load_file(self, path: str) -> None:
        """Read groups from a file in the background and show them."""
        job = partial(_read, path, self._column, self.level.value(), self._table)
        self._worker.start("Reading groups", job, self._on_read, on_failure=self._on_failed)

    def _on_read(self, groupings: tuple[Grouping, ...]) -> None:
        mine = [grouping for grouping in groupings if grouping.column == self._column]
        if mine:
            self.show_groups({**self.groups(), **mine[0].groups})
        else:
            self.message.setText(f"The file has no groups for “{self._column}”.")

    def _on_failed(self, failure: TaskFailure) -> None:
        self.message.setText(failure.message)

    def _on_accepted(self) -> None:
        self.groups_chosen.emit(self._column, self.groups())

    def done(self, result: int) -> None:
        """Close the dialog and end its thread."""
        self._worker.shut_down()
        super().done(result)


def _read(
    path: str, column: str, level: int, table: RecordTable | None, progress: Progress
) -> tuple[Grouping, ...]:
    """Read the groups of a ``column,value,group`` file, or one level of a hierarchy that lists every value."""
    from vbas_desktop.io.documents.hierarchies import (
        HEADER,
        check_hierarchy,
        read_delimited_rows,
        read_groups,
        read_hierarchy_file,
    )

    progress.update("Reading groups")
    rows = read_delimited_rows(Path(path))
    if rows and tuple(name.strip().lower() for name in rows[0][1]) == HEADER:
        return read_groups(Path(path))
    levels = read_hierarchy_file(path, column)
    if table is not None:
        check_hierarchy(levels, table)
    return (levels.grouping(min(level, levels.height)),)
