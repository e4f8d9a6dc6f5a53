"""Taking the categories of a column together: by hand, in intervals, or from a file."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtWidgets import (
    QAbstractItemView,
    QDialog,
    QDialogButtonBox,
    QHeaderView,
    QLabel,
    QLineEdit,
    QPushButton,
    QSpinBox,
    QTableWidget,
    QTableWidgetItem,
    QWidget,
)

from vbas_desktop.algorithms.intervals import intervals, number_of_groups
from vbas_desktop.domain.progress import Progress
from vbas_desktop.domain.records import ColumnFacts, Grouping
from vbas_desktop.domain.words import counted
from vbas_desktop.ui.theme import GRID, tabular
from vbas_desktop.ui.widgets.building import in_column, in_row
from vbas_desktop.ui.widgets.fields import muted
from vbas_desktop.ui.widgets.file_dialogs import ask_to_open
from vbas_desktop.ui.worker import Failure, JobRunner

_VALUE, _RECORDS, _GROUP = range(3)
_KINDS = "Groups or hierarchies (*.csv *.txt *.tsv);;All files (*)"


class GroupingDialog(QDialog):
    """`groups_chosen(column, {value: group})` when the user confirms; values that stay as they are, are left out."""

    groups_chosen = Signal(str, dict)

    def __init__(self, facts: ColumnFacts, groups: dict[str, str], parent: QWidget) -> None:
        super().__init__(parent)
        assert facts.categories is not None
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(f"Group the categories of “{facts.name}”")
        self.setMinimumSize(480, 520)
        self._column, self._values = facts.name, facts.categories.values
        self._groups: list[QTableWidgetItem] = []
        self._runner = JobRunner(self)
        self._runner.job_failed.connect(self._on_failed)
        self.table = QTableWidget(len(self._values), 3)
        self.width_of_one, self.name, self.level = QSpinBox(), QLineEdit(), QSpinBox()
        self.by_interval, self.by_name = QPushButton("Make &intervals"), QPushButton("&Group selected")
        self.ungroup, self.load = QPushButton("&Ungroup"), QPushButton("&Load…")
        self.told = QLabel()
        self._buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Ok | QDialogButtonBox.StandardButton.Cancel)
        self._fill(facts, groups)
        self._build()
        self._connect()
        self._on_changed()

    def _fill(self, facts: ColumnFacts, groups: dict[str, str]) -> None:
        assert facts.categories is not None
        self.table.setTabKeyNavigation(False)
        self.table.setHorizontalHeaderLabels(["Category", "Records", "Group"])
        for row, value in enumerate(self._values):
            records = int(facts.frequencies[row]) if facts.frequencies is not None else 0
            for column, text in ((_VALUE, facts.categories.label(row)), (_RECORDS, f"{records:,}")):
                item = QTableWidgetItem(text)
                item.setFlags(Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable)
                if column == _RECORDS:
                    item.setTextAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
                self.table.setItem(row, column, item)
            self._groups.append(QTableWidgetItem(groups.get(value, "")))
            self.table.setItem(row, _GROUP, self._groups[-1])
        self.width_of_one.setRange(1, max(1, len(self._values)))
        self.width_of_one.setValue(min(2, len(self._values)))
        self.level.setRange(1, 99)
        for box in (self.width_of_one, self.level):
            box.setMinimumHeight(self.name.sizeHint().height())

    def _build(self) -> None:
        table = self.table
        table.setFont(tabular(table.font()))
        table.setAccessibleName("Categories and their groups")
        table.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        table.verticalHeader().hide()
        table.horizontalHeader().setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
        table.horizontalHeader().setSectionResizeMode(_GROUP, QHeaderView.ResizeMode.Stretch)
        self.width_of_one.setSuffix(" categories each")
        self.width_of_one.setAccessibleName("Categories in an interval")
        self.width_of_one.setToolTip("How many neighbouring categories become one group")
        self.name.setPlaceholderText("Name of the group")
        self.name.setAccessibleName("Name of the group")
        self.name.setToolTip("What the categories that are selected above are called together")
        self.level.setPrefix("level ")
        self.level.setAccessibleName("Level of the hierarchy")
        self.level.setToolTip("Which level of a hierarchy (value;level1;level2…) is taken")
        self.load.setToolTip("Read groups from a file with column,value,group, or a level of a hierarchy")
        layout = in_column(
            muted("Records of one group count as equal, and the release names the group."),
            (table, 1),
            within=self,
            spacing=GRID,
        )
        rows: tuple[tuple[QWidget, ...], ...] = (
            (self.width_of_one, self.by_interval),
            (self.name, self.by_name, self.ungroup),
            (self.level, self.load),
        )
        for widgets in rows:
            row = in_row((widgets[0], 1), *widgets[1:])
            layout.addLayout(row)
        layout.addWidget(self.told)
        layout.addWidget(self._buttons)

    def _connect(self) -> None:
        self.by_interval.clicked.connect(self._on_intervals)
        self.by_name.clicked.connect(self._on_named)
        self.name.returnPressed.connect(self._on_named)
        self.ungroup.clicked.connect(self._on_ungroup)
        self.load.clicked.connect(self._on_load)
        self.table.itemChanged.connect(self._on_changed)
        self._buttons.accepted.connect(self._on_accepted)
        self._buttons.rejected.connect(self.reject)
        # Return in the name field groups; it must not close the dialog at the same time.
        for button in self.findChildren(QPushButton):
            button.setAutoDefault(False)

    def groups(self) -> dict[str, str]:
        """The group of each value that has one of another name."""
        texts = (item.text().strip() for item in self._groups)
        return {value: text for value, text in zip(self._values, texts, strict=True) if text and text != value}

    def show_groups(self, groups: dict[str, str]) -> None:
        """Put these groups into the table."""
        self.table.blockSignals(True)
        for item, value in zip(self._groups, self._values, strict=True):
            group = groups.get(value, "")
            item.setText("" if group == value else group)
        self.table.blockSignals(False)
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
        self._runner.start("Reading groups", partial(_read, path, self._column, self.level.value()), self._on_read)

    def _on_read(self, groupings: tuple[Grouping, ...]) -> None:
        mine = [grouping for grouping in groupings if grouping.column == self._column]
        if mine:
            self.show_groups({**self.groups(), **mine[0].groups})
        else:
            self.told.setText(f"The file has no groups for “{self._column}”.")

    @Slot(object)
    def _on_failed(self, failure: Failure) -> None:
        self.told.setText(failure.message)

    @Slot()
    def _on_accepted(self) -> None:
        self.groups_chosen.emit(self._column, self.groups())
        self.accept()

    def done(self, result: int) -> None:
        """The dialog closes: let the thread go."""
        self._runner.shut_down()
        super().done(result)


def _read(path: str, column: str, level: int, progress: Progress) -> tuple[Grouping, ...]:
    """The groups of a ``column,value,group`` file, or one level of a hierarchy."""
    from vbas_desktop.files.generalise import HEADER, delimited_rows, read_groups, read_levels

    progress.update("Reading groups")
    rows = delimited_rows(Path(path))
    if rows and tuple(name.strip().lower() for name in rows[0][1]) == HEADER:
        return read_groups(Path(path))
    levels = read_levels(path, column)
    return (levels.grouping(min(level, levels.height)),)
