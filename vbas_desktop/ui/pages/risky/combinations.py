"""The list of minimal risky combinations: millions of rows, filtered and sorted in the background, values hidden."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtGui import QKeyEvent, QKeySequence
from PySide6.QtWidgets import QAbstractItemView, QCheckBox, QHeaderView, QLineEdit, QTableView, QWidget

from vbas_desktop.model.progress import Progress
from vbas_desktop.model.words import counted
from vbas_desktop.session.risky import Arrangement, Combination, Listing
from vbas_desktop.ui.context import Context
from vbas_desktop.ui.theme import GRID
from vbas_desktop.ui.widgets.building import button, dress, in_column, in_row, pause
from vbas_desktop.ui.widgets.fields import OrEmpty, set_look, told
from vbas_desktop.ui.widgets.tables import Heading, TableModel, set_up_table
from vbas_desktop.ui.worker import Latest

SIZE, COUNT, WHAT = range(3)
_SORTED_BY = ("size", "count", "columns")
_HEADINGS = (
    Heading("Size", "Number of columns", "right"),
    Heading("Records", "Records that share these values", "right"),
    Heading(
        "Combination",
        "The columns whose values together are rare; those of the same columns are numbered, since their values differ",
    ),
)
_PAUSE_MS = 200
_WHAT_TO_DO = (
    "Tick columns at the left and press Search: combinations of values that fewer than k records share are listed here."
)


class CombinationsModel(TableModel):
    """Shows rows of a listing in a given order; texts are made when they come into sight."""

    heads = _HEADINGS
    revealed = False

    def show_combinations(self, shown: Arrangement | None) -> None:
        """Show these combinations in their order."""
        with self.anew():
            self.rows = () if shown is None else shown

    def reveal(self, on: bool) -> None:
        """Show the values, or the columns only."""
        self.revealed = on
        if self.rowCount():
            self.dataChanged.emit(self.index(0, WHAT), self.index(self.rowCount() - 1, WHAT))

    def text(self, row: int, column: int) -> str:
        """One cell."""
        combination = self.rows[row]
        if column == SIZE:
            return f"{len(combination.columns)}"
        return f"{combination.count:,}" if column == COUNT else self._text(combination)

    def more(self, row: int, column: int, role: int) -> Any:
        """A combination that is too long for its column is told in full."""
        return self.text(row, WHAT) if role == Qt.ItemDataRole.ToolTipRole and column == WHAT else None

    def _text(self, combination: Combination) -> str:
        if not self.revealed:
            # Without their values, combinations of the same columns would look like one that is listed twice.
            which = f" ({combination.place:,} of {combination.alike:,})" if combination.alike > 1 else ""
            return " + ".join(combination.names) + which
        pairs = zip(combination.names, combination.values, strict=True)
        return " + ".join(f"{name} = {value}" for name, value in pairs)


class _NeverCopied(QTableView):
    """A table whose texts stay on the screen: what is revealed must not end up in another program."""

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """All keys but those that copy."""
        if event.matches(QKeySequence.StandardKey.Copy):
            event.accept()
        else:
            super().keyPressEvent(event)


class CombinationsView(QWidget):
    """The list with its filter and the switch for values. `arranged()`: other rows are shown."""

    arranged = Signal()

    def __init__(self, context: Context) -> None:
        super().__init__()
        self._latest = Latest(context.quiet_runner, "Sorting combinations", self)
        self._listing: Listing | None = None
        self._by, self._descending = SIZE, False
        self.model = CombinationsModel()
        self.table = _NeverCopied()
        self.filter = dress(
            QLineEdit(),
            placeholderText="Only with these columns",
            clearButtonEnabled=True,
            accessibleName="Filter combinations by columns",
            toolTip="Words that the names of a combination's columns must hold",
        )
        values = "Values may point at people: shown on this screen only, never copied or saved"
        self.reveal = dress(QCheckBox("Show values"), toolTip=values)
        scores = "Save in how many of these combinations each record is, by the number of the record"
        self.scores = button("Sc&ores…", tip=scores)
        self.headline = told()
        self._pause = pause(_PAUSE_MS, self._arrange, self)
        self._build()
        self.filter.textChanged.connect(lambda: self._pause.start())
        self.reveal.toggled.connect(self.model.reveal)
        self.table.horizontalHeader().sectionClicked.connect(self._on_head)

    def _build(self) -> None:
        table = self.table
        table.setModel(self.model)
        set_up_table(table, "Minimal risky combinations")
        table.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        header = table.horizontalHeader()
        header.setSectionsClickable(True)
        header.setSortIndicatorShown(True)
        header.setSortIndicator(SIZE, Qt.SortOrder.AscendingOrder)
        header.setSectionResizeMode(WHAT, QHeaderView.ResizeMode.Stretch)
        for column, head in ((SIZE, "Size"), (COUNT, "Records")):
            table.setColumnWidth(column, table.fontMetrics().horizontalAdvance(head) + 3 * GRID)
        bar = in_row((self.filter, 1), self.reveal, self.scores, spacing=GRID)
        content = QWidget()
        in_column(self.headline, bar, (table, 1), within=content, margins=0, spacing=GRID // 2)
        self._layers = OrEmpty(_WHAT_TO_DO, content, within=self)

    def show_listing(self, listing: Listing | None) -> None:
        """Show what another search found; None: nothing was searched."""
        self._listing = listing
        self._layers.show_content(listing is not None)
        if listing is None:
            self._latest.forget()
            self.model.show_combinations(None)
            self.arranged.emit()
            return
        text, look = headline(listing)
        self.headline.setText(text)
        set_look(self.headline, look)
        self._arrange()

    def columns_shown(self) -> tuple[str, ...]:
        """The columns of the combinations that are shown."""
        return self.model.rows.columns if isinstance(self.model.rows, Arrangement) else ()

    @Slot(int)
    def _on_head(self, section: int) -> None:
        self._descending = not self._descending if section == self._by else False
        self._by = section
        order = Qt.SortOrder.DescendingOrder if self._descending else Qt.SortOrder.AscendingOrder
        self.table.horizontalHeader().setSortIndicator(section, order)
        self._arrange()

    @Slot()
    def _arrange(self) -> None:
        listing = self._listing
        if listing is None:
            return
        words, by, descending = self.filter.text(), _SORTED_BY[self._by], self._descending

        def job(progress: Progress) -> Arrangement:
            progress.update("Sorting combinations")
            return listing.arranged(words, by, descending)

        self._latest.want(job, self._on_arranged)

    def _on_arranged(self, shown: Arrangement) -> None:
        self.model.show_combinations(shown)
        self.arranged.emit()


def headline(listing: Listing) -> tuple[str, str]:
    """What was found in one sentence or two, and how it looks."""
    search, number = listing.search, len(listing)
    sizes = [f"{level.number:,} of size {level.size}" for level in search.levels if level.number]
    if not number:
        text = (
            "No risky combination is left in the searched columns."
            if search.complete
            else "Nothing risky among the sizes searched."
        )
    elif listing.all_sizes:
        hit, most = listing.exposed
        text = (
            f"{counted(number, 'minimal risky combination')}: {', '.join(sizes)}. "
            f"{counted(hit, 'record is', 'records are')} in at least one, at most in {most:,}."
        )
    else:
        size = next(level.size for level in search.levels if level.number)
        text = f"{counted(number, 'risky combination')} of size {size}, the smallest; Search lists all sizes."
    if not search.complete:
        limitation = search.thresholds.limitation if search.thresholds is not None else ""
        reasons = "; ".join(filter(None, (search.why_incomplete, limitation)))
        return f"{text} Not complete: {reasons}.", "warning"
    return text, "" if number else "good"
