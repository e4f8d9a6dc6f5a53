"""Taking the categories of a column together: by hand, in intervals, or from a file."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from PySide6.QtCore import QSignalBlocker, Signal, Slot
from PySide6.QtWidgets import QLineEdit, QPushButton, QSpinBox, QTableWidget, QWidget

from vbas_desktop.algorithms.intervals import intervals, number_of_groups
from vbas_desktop.model.progress import Progress
from vbas_desktop.model.records import ColumnFacts, Grouping, RecordTable
from vbas_desktop.model.words import counted
from vbas_desktop.ui.theme import GRID
from vbas_desktop.ui.widgets.building import button, dress, in_column, in_row
from vbas_desktop.ui.widgets.dialog import CANCEL, OK, Dialog
from vbas_desktop.ui.widgets.fields import muted
from vbas_desktop.ui.widgets.file_dialogs import ask_to_open
from vbas_desktop.ui.widgets.plain_text import Label
from vbas_desktop.ui.widgets.tables import cell, fill_table, frequency_cells
from vbas_desktop.ui.worker import Failure, JobRunner

_GROUP = 2
_KINDS = "Groups or hierarchies (*.csv *.txt *.tsv);;All files (*)"


class GroupingDialog(Dialog):
    """`groups_chosen(column, {value: group})` when the user confirms; values that stay as they are, are left out."""

    groups_chosen = Signal(str, dict)

    def __init__(
        self, facts: ColumnFacts, groups: dict[str, str], parent: QWidget, table: RecordTable | None = None
    ) -> None:
        super().__init__(parent, f"Group the categories of “{facts.name}”", OK | CANCEL, (480, 520))
        assert facts.categories is not None
        self._table = table
        self._column, self._values = facts.name, facts.categories.values
        self._groups = [cell(groups.get(value, ""), editable=True) for value in self._values]
        self._runner = JobRunner(self)
        self._runner.job_failed.connect(self._on_failed)
        self.table = QTableWidget()
        fill_table(
            self.table,
            "Categories and their groups",
            ("Category", "Records", "Group"),
            [(*cells, group) for cells, group in zip(frequency_cells(facts), self._groups, strict=True)],
            wide=_GROUP,
        )
        self.told = Label()
        self._build()
        self.table.itemChanged.connect(self._on_changed)
        self._on_changed()

    def _build(self) -> None:
        most = len(self._values)
        self.width_of_one = dress(
            QSpinBox(),
            minimum=1,
            maximum=max(1, most),
            value=min(2, most),
            suffix=" categories each",
            accessibleName="Categories in an interval",
            toolTip="How many neighbouring categories become one group",
        )
        self.name = dress(
            QLineEdit(),
            placeholderText="Name of the group",
            accessibleName="Name of the group",
            toolTip="What the categories that are selected above are called together",
        )
        self.level = dress(
            QSpinBox(),
            minimum=1,
            maximum=99,
            prefix="level ",
            accessibleName="Level of the hierarchy",
            toolTip="Which level of a hierarchy (value;level1;level2…) is taken",
        )
        for box in (self.width_of_one, self.level):
            box.setMinimumHeight(self.name.sizeHint().height())
        self.by_interval = button("Make &intervals", self._on_intervals)
        self.by_name, self.ungroup = button("&Group selected", self._on_named), button("&Ungroup", self._on_ungroup)
        file = "Read groups from a file with column,value,group, or a level of a hierarchy"
        self.load = button("&Load…", self._on_load, file)
        self.name.returnPressed.connect(self._on_named)
        in_column(
            muted("Records of one group count as equal, and the release names the group."),
            (self.table, 1),
            in_row((self.width_of_one, 1), self.by_interval),
            in_row((self.name, 1), self.by_name, self.ungroup),
            in_row((self.level, 1), self.load),
            self.told,
            self.buttons,
            within=self,
            spacing=GRID,
        )
        # Return in the name field groups; it must not close the dialog at the same time.
        for each in self.findChildren(QPushButton):
            each.setAutoDefault(False)

    def groups(self) -> dict[str, str]:
        """The group of each value that has one of another name."""
        texts = (item.text().strip() for item in self._groups)
        return {value: text for value, text in zip(self._values, texts, strict=True) if text and text != value}

    def show_groups(self, groups: dict[str, str]) -> None:
        """Put these groups into the table."""
        with QSignalBlocker(self.table):
            for item, value in zip(self._groups, self._values, strict=True):
                group = groups.get(value, "")
                item.setText("" if group == value else group)
        self._on_changed()

    def _selected(self) -> list[str]:
        return [self._values[index.row()] for index in self.table.selectionModel().selectedRows()]

    @Slot()
    def _on_changed(self) -> None:
        before, after = len(self._values), number_of_groups(self._values, self.groups())
        self.told.setText(
            f"{before:,} categories become {after:,}." if after < before else f"{counted(before, 'category')}."
        )

    @Slot()
    def _on_intervals(self) -> None:
        self.show_groups(intervals(self._values, self.width_of_one.value()))

    @Slot()
    def _on_named(self) -> None:
        name = self.name.text().strip()
        if not name or not self._selected():
            self.told.setText(
                "Select categories above and name their group." if not name else "Select categories above."
            )
            self.name.setFocus()
            return
        self.show_groups({**self.groups(), **dict.fromkeys(self._selected(), name)})
        self.name.clear()

    @Slot()
    def _on_ungroup(self) -> None:
        chosen = self._selected() or list(self._values)
        self.show_groups({value: group for value, group in self.groups().items() if value not in chosen})

    @Slot()
    def _on_load(self) -> None:
        ask_to_open(self, "Choose the groups", _KINDS, None, self.load_file)

    def load_file(self, path: str) -> None:
        """Read groups from a file in the background and show them."""
        self._runner.start(
            "Reading groups", partial(_read, path, self._column, self.level.value(), self._table), self._on_read
        )

    def _on_read(self, groupings: tuple[Grouping, ...]) -> None:
        mine = [grouping for grouping in groupings if grouping.column == self._column]
        if mine:
            self.show_groups({**self.groups(), **mine[0].groups})
        else:
            self.told.setText(f"The file has no groups for “{self._column}”.")

    @Slot(object)
    def _on_failed(self, failure: Failure) -> None:
        self.told.setText(failure.message)

    def _on_accepted(self) -> None:
        self.groups_chosen.emit(self._column, self.groups())

    def done(self, result: int) -> None:
        """The dialog closes: let the thread go."""
        self._runner.shut_down()
        super().done(result)


def _read(path: str, column: str, level: int, table: RecordTable | None, progress: Progress) -> tuple[Grouping, ...]:
    """Read the groups of a ``column,value,group`` file, or one level of a hierarchy that lists every value."""
    from vbas_desktop.io.generalise import HEADER, check_complete, delimited_rows, read_groups, read_levels

    progress.update("Reading groups")
    rows = delimited_rows(Path(path))
    if rows and tuple(name.strip().lower() for name in rows[0][1]) == HEADER:
        return read_groups(Path(path))
    levels = read_levels(path, column)
    if table is not None:
        check_complete(levels, table)
    return (levels.grouping(min(level, levels.height)),)
