"""The list of sets of columns with risky combinations, and the combinations of the selected set on demand."""

from __future__ import annotations

from operator import attrgetter
from typing import Any

from PySide6.QtCore import QModelIndex, Qt, Signal, Slot
from PySide6.QtGui import QKeyEvent, QKeySequence
from PySide6.QtWidgets import QAbstractItemView, QCheckBox, QHeaderView, QLineEdit, QTableView, QWidget

from vbas_desktop.model.text import format_count

from ...core.context import UiContext
from ...core.theme import GRID
from ...presentation.tables import TableColumn
from ...state.risky import ColumnSet, Combination, CombinationListing
from ...widgets.fields import ContentOrPlaceholder, message_label, set_variant
from ...widgets.layouts import button, hbox, single_shot_timer, splitter, vbox, with_properties
from ...widgets.tables import TableModel, select_row, set_up_table

SIZE, NUMBER, RECORDS, COLUMNS = range(4)
COUNT, VALUES = range(2)
_PAUSE_MS = 200
_WHAT_TO_DO = (
    "Tick columns at the left and press Search: columns whose values together point at fewer than k records are "
    "listed here."
)
_NUMBER_TIP = "Combinations of values in these columns that fewer than k records share"


def _join_names(column_set: ColumnSet) -> str:
    return " + ".join(column_set.names)


_SET_COLUMNS: tuple[TableColumn[ColumnSet], ...] = (
    TableColumn("size", "Size", attrgetter("combinations.size"), "Number of columns", side="right"),
    TableColumn("number", "Combinations", len, _NUMBER_TIP, side="right"),
    TableColumn(
        "records",
        "Records",
        attrgetter("combinations.records"),
        "Records that have one of these combinations",
        side="right",
    ),
    TableColumn(
        "columns", "Columns", _join_names, "Columns whose values together are rare", row_tip=_join_names
    ),
)
_VALUE_COLUMNS: tuple[TableColumn[Combination], ...] = (
    TableColumn(
        "records", "Records", attrgetter("records"), "Records that share these values", side="right"
    ),
    TableColumn("values", "Values", str, "One combination on each row, the rarest first", row_tip=str),
)


class _UncopiedTable(QTableView):
    """A table whose texts stay on the screen: values of records must not end up in another program."""

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Handle all keys but those that copy."""
        if event.matches(QKeySequence.StandardKey.Copy):
            event.accept()
        else:
            super().keyPressEvent(event)


class CombinationsView(QWidget):
    """The list with its filter, and the values of the selected row. `arranged()`: other rows are shown."""

    arranged = Signal()

    def __init__(self, context: UiContext) -> None:
        super().__init__()
        self.model = TableModel(_SET_COLUMNS, self)
        self.table = QTableView()
        self.values_model = TableModel(_VALUE_COLUMNS, self)
        self.values_table = _UncopiedTable()
        self.filter = with_properties(
            QLineEdit(),
            placeholderText="Only with these columns",
            clearButtonEnabled=True,
            accessibleName="Filter combinations by columns",
            toolTip="Words that the names of a combination's columns must hold",
        )
        tip = "Values may point at people: shown on this screen only, never copied or saved"
        self.reveal = with_properties(QCheckBox("Show values"), toolTip=tip)
        scores = "Save in how many of these combinations each record is, by the number of the record"
        self.scores = button("Sc&ores…", tip=scores)
        self.headline = message_label()
        self._pause = single_shot_timer(_PAUSE_MS, self._filter, self)
        self._build()
        self.filter.textChanged.connect(lambda: self._pause.start())
        self.reveal.toggled.connect(self._on_reveal_toggled)
        self.table.selectionModel().currentRowChanged.connect(self._on_row_changed)
        self.model.layoutChanged.connect(self._on_row_changed)
        self.model.modelReset.connect(self._on_row_changed)

    def _build(self) -> None:
        _set_up_list(self.table, self.model, "Sets of columns with risky combinations", COLUMNS)
        _set_up_list(
            self.values_table, self.values_model, "Risky combinations of the selected columns", VALUES
        )
        self.table.setSortingEnabled(True)
        self.table.sortByColumn(SIZE, Qt.SortOrder.AscendingOrder)
        self.values_table.hide()
        bar = hbox((self.filter, 1), self.reveal, self.scores, spacing=GRID)
        content = QWidget()
        tables = splitter(self.table, self.values_table, upright=True, sizes=(300, 180))
        vbox(self.headline, bar, (tables, 1), within=content, margins=0, spacing=GRID // 2)
        self._layers = ContentOrPlaceholder(_WHAT_TO_DO, content, within=self)

    def show_listing(self, listing: CombinationListing | None) -> None:
        """Show the result of another search; None: nothing was searched."""
        self._layers.show_content(listing is not None)
        if listing is not None:
            text, variant = describe_listing(listing)
            self.headline.setText(text)
            set_variant(self.headline, variant)
        self.model.set_rows(() if listing is None else listing.column_sets)
        self._select_first_row()
        self.arranged.emit()

    def columns_shown(self) -> tuple[str, ...]:
        """List the columns of the sets that are shown, in the order of the table."""
        column_sets = self.model.listed_rows()
        if not column_sets:
            return ()
        occurring = {name for column_set in column_sets for name in column_set.names}
        return tuple(name for name in column_sets[0].table.columns if name in occurring)

    @Slot()
    def _filter(self) -> None:
        words = self.filter.text()
        self.model.show_only((lambda column_set: column_set.has_names(words)) if words.strip() else None)
        self._select_first_row()
        self.arranged.emit()

    @Slot(bool)
    def _on_reveal_toggled(self, on: bool) -> None:
        self.values_table.setVisible(on)
        self._select_first_row()
        self._show_values()

    @Slot()
    def _on_row_changed(self) -> None:
        self._show_values()

    def _select_first_row(self) -> None:
        """Select a row if values are to be shown and none is selected."""
        if self.reveal.isChecked() and not self.table.currentIndex().isValid() and self.model.rowCount():
            select_row(self.table, self.model.index(0, COLUMNS))

    def _show_values(self) -> None:
        """Show the combinations of the selected set of columns if values are to be shown."""
        index: QModelIndex = self.table.currentIndex()
        is_shown = self.reveal.isChecked() and index.isValid()
        self.values_model.set_rows(self.model.row_at(index.row()) if is_shown else ())


def _set_up_list(table: QTableView, model: TableModel[Any], name: str, widest: int) -> None:
    """Set up a table of one selectable row at a time, one column of which takes the width that is left."""
    table.setModel(model)
    set_up_table(table, name)
    table.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
    table.horizontalHeader().setSectionResizeMode(widest, QHeaderView.ResizeMode.Stretch)
    for number, column in enumerate(model.columns):
        if number != widest:
            table.setColumnWidth(number, table.fontMetrics().horizontalAdvance(column.title) + 3 * GRID)


def describe_listing(listing: CombinationListing) -> tuple[str, str]:
    """Describe the result in one or two sentences; return them with the style of the text."""
    search = listing.search
    number = len(listing)
    sizes = [f"{level.number:,} of size {level.size}" for level in search.levels if level.number]
    if not number:
        text = (
            "No risky combination is left in the searched columns."
            if search.complete
            else "Nothing risky among the sizes searched."
        )
    elif listing.all_sizes:
        text = (
            f"{format_count(number, 'minimal risky combination')}: {', '.join(sizes)}. "
            f"{format_count(listing.exposed_records, 'record is', 'records are')} in at least one, "
            f"at most in {listing.highest_score:,}."
        )
    else:
        size = next(level.size for level in search.levels if level.number)
        text = f"{format_count(number, 'risky combination')} of size {size}, the smallest; Search lists all sizes."
    if not search.complete:
        limitation = search.thresholds.limitation if search.thresholds is not None else ""
        reasons = "; ".join(filter(None, (search.why_incomplete, limitation)))
        return f"{text} Not complete: {reasons}.", "warning"
    return text, "" if number else "good"
