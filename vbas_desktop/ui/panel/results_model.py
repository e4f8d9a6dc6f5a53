"""The results as Qt's table model, and the filter in front of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from PySide6.QtCore import QObject, QSortFilterProxyModel, Qt
from PySide6.QtGui import QFont, QIcon

from vbas_desktop.model.regions import CoordinateSystem
from vbas_desktop.session.results import Entry, Marks, ProblemKey
from vbas_desktop.ui.charts.rows import Ranges, within
from vbas_desktop.ui.numbers import shown_measures
from vbas_desktop.ui.widgets.tables import Heading, Index, TableModel

from .results_columns import Column, best_of, columns_for, search_words

SORT_ROLE = int(Qt.ItemDataRole.UserRole)
NUMBER_ROLE = SORT_ROLE + 1


class ResultsModel(TableModel):
    """One row per solution. Best values are bold, pinned solutions are marked at their number."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.entries: tuple[Entry, ...] = ()
        self.columns: list[Column] = columns_for((), None, {})
        self.marks: Mapping[int, Marks] = {}
        self.stars: frozenset[int] = frozenset()
        """The numbers of the solutions that no other one beats."""
        self.pin_icon = QIcon()
        self._best: frozenset[tuple[int, str]] = frozenset()
        self.heads = tuple(map(_heading, self.columns))

    def show_entries(
        self, entries: tuple[Entry, ...], marks: Mapping[int, Marks], system: CoordinateSystem | None
    ) -> None:
        """Show these solutions with their marks."""
        with self.anew():
            self.entries = self.rows = entries
            self.marks = marks
            self.stars = frozenset(number for number, each in marks.items() if each.pareto)
            self.columns = columns_for(entries, system, marks)
            self._best = best_of(entries, self.columns)
            self.heads = tuple(map(_heading, self.columns))

    def also_found_as(self, number: int) -> list[int]:
        """The numbers of later solutions with the same partition."""
        return [other for other, marks in self.marks.items() if marks.same_as == number]

    def row_of(self, number: int) -> int:
        """The row of a solution, −1 if it is not listed."""
        return next((row for row, entry in enumerate(self.entries) if entry.number == number), -1)

    def text(self, row: int, column: int) -> str:
        """What a cell shows."""
        return self.columns[column].text(self.entries[row])

    def more(self, row: int, column: int, role: int) -> Any:
        """Pins, what is sorted by, bold best values and tips."""
        entry, shown = self.entries[row], self.columns[column]
        if role == Qt.ItemDataRole.DecorationRole and shown.name == "number" and entry.pinned:
            return self.pin_icon
        if role == SORT_ROLE:
            return shown.value(entry)
        if role == NUMBER_ROLE:
            return entry.number
        if role == Qt.ItemDataRole.FontRole and (entry.number, shown.name) in self._best:
            font = QFont()
            font.setBold(True)
            return font
        if role == Qt.ItemDataRole.ToolTipRole:
            more = search_words(entry) if shown.name == "site_location" else ""
            if shown.name in ("star", "number") and (again := self.also_found_as(entry.number)):
                more = f"The same partition was found again: {', '.join(f'№ {number:,}' for number in again)}."
            return f"{entry.title}\n{shown.title}: {shown.text(entry)} {shown.unit}".rstrip() + f"\n{more}".rstrip()
        return None


def _heading(column: Column) -> Heading:
    side = "centre" if column.name == "star" else "right" if column.number else "left"
    return Heading(column.header, column.tip or column.title, side)


@dataclass(frozen=True)
class Wanted:
    """Which solutions are listed: those that nothing beats, those with these numbers (None: any), those of a scenario
    (None: of all), and those whose measures, as they are shown in a coordinate system, are within ranges.
    """

    only_stars: bool = False
    numbers: frozenset[int] | None = None
    scenario: ProblemKey | None = None
    ranges: Ranges = field(default_factory=dict)
    system: CoordinateSystem | None = None


class ResultsFilter(QSortFilterProxyModel):
    """Sorts by value (unknown ones last), lists equal partitions once, and leaves out what is not wanted.

    Pinned solutions stay, unless they are of another scenario or out of range.
    """

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._wanted = Wanted()
        self.setSortRole(SORT_ROLE)

    def show(self, wanted: Wanted) -> None:
        """List others."""
        if wanted != self._wanted:
            self.beginFilterChange()
            self._wanted = wanted
            self.endFilterChange()

    def filterAcceptsRow(self, row: int, parent: Index) -> bool:
        """Whether a solution is shown."""
        model = self.sourceModel()
        assert isinstance(model, ResultsModel)
        entry, ranges = model.entries[row], self._wanted.ranges
        values = shown_measures(entry.solution, ranges, self._wanted.system)
        return self._is_wanted(model, entry) and within(values, ranges)

    def _is_wanted(self, model: ResultsModel, entry: Entry) -> bool:
        wanted, marks = self._wanted, model.marks.get(entry.number, Marks())
        if wanted.scenario is not None and entry.run.key != wanted.scenario:
            return False
        starred = marks.same_as is None and (not wanted.only_stars or marks.pareto)
        return entry.pinned or (starred and (wanted.numbers is None or entry.number in wanted.numbers))

    def lessThan(self, left: Index, right: Index) -> bool:
        """Smaller values first; unknown ones last in either direction."""
        one, other = left.data(SORT_ROLE), right.data(SORT_ROLE)
        if one is None or other is None:
            ascending = self.sortOrder() == Qt.SortOrder.AscendingOrder
            return (other is None) == ascending if one is not other else False
        return bool(one < other)

    def entries_in_any_range(self) -> list[Entry]:
        """The solutions that would be listed without ranges."""
        model = self.sourceModel()
        assert isinstance(model, ResultsModel)
        return [entry for entry in model.entries if self._is_wanted(model, entry)]

    def shown_entries(self) -> list[Entry]:
        """The solutions as they are listed now."""
        model = self.sourceModel()
        assert isinstance(model, ResultsModel)
        rows = (self.mapToSource(self.index(row, 0)).row() for row in range(self.rowCount()))
        return [model.entries[row] for row in rows]
