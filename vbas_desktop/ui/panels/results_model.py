"""The results as Qt's table model, and which of them are listed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from PySide6.QtCore import QObject

from vbas_desktop.engine.figures import convert_measures
from vbas_desktop.model.regions import CoordinateSystem

from ..presentation.chart_data import Ranges, within
from ..presentation.results_table import ResultColumn, TableSettings, columns_for
from ..state.scenario import ResultRow, RowRanks, Scenario
from ..widgets.tables import TableModel


@dataclass(frozen=True)
class ResultsFilter:
    """Selects the listed solutions: Pareto-optimal ones, given numbers (None: any), one scenario (None: all), and those
    whose measures, as shown in a coordinate system, are within ranges. ``selected`` is listed though it is dominated.
    """

    only_pareto: bool = True
    selected: int | None = None
    numbers: frozenset[int] | None = None
    scenario: Scenario | None = None
    ranges: Ranges = field(default_factory=dict)
    system: CoordinateSystem | None = None


class ResultsModel(TableModel[ResultRow]):
    """One row per solution; equal partitions are listed once.

    Pinned solutions stay, unless they are of another scenario or out of range.
    """

    columns: list[ResultColumn]

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(columns_for((), {}, TableSettings()), parent)
        self.ranks: Mapping[int, RowRanks] = {}
        self.filter = ResultsFilter()
        self.group_by(lambda entry: entry.run.group_title)

    def show_entries(
        self, entries: tuple[ResultRow, ...], ranks: Mapping[int, RowRanks], settings: TableSettings
    ) -> None:
        """Show these solutions with their ranks; those that are added to the listed ones leave the selection alone."""
        self.ranks = ranks
        self.update_rows(entries, columns_for(entries, ranks, settings))

    def show_filtered(self, filter_: ResultsFilter) -> None:
        """List the solutions that a filter selects."""
        if filter_ != self.filter or self._is_listed is None:
            self.filter = filter_
            self.show_only(self._passes_filter)

    def number_of(self, solution: int) -> int:
        """Return the row number of a solution; −1 if there is none."""
        return next((number for number, entry in enumerate(self.rows) if entry.number == solution), -1)

    def list_charted(self) -> list[ResultRow]:
        """List the solutions of the charts: dominated ones, and those out of range, too."""
        return [entry for entry in self.rows if self._is_charted(entry)]

    def count_dominated(self) -> int:
        """Count the solutions that are not listed because they are dominated."""
        if not self.filter.only_pareto:
            return 0
        return sum(
            self._is_charted(entry) and self._is_in_range(entry) and not self._passes_filter(entry)
            for entry in self.rows
        )

    def _passes_filter(self, entry: ResultRow) -> bool:
        """Say if a solution passes the filter; pinned ones and the shown one need not be Pareto-optimal."""
        if not self._is_charted(entry) or not self._is_in_range(entry):
            return False
        is_best = not self.filter.only_pareto or self.ranks.get(entry.number, RowRanks()).pareto
        return is_best or entry.pinned or entry.number == self.filter.selected

    def _is_in_range(self, entry: ResultRow) -> bool:
        ranges = self.filter.ranges
        return within(convert_measures(entry.solution, ranges, self.filter.system), ranges)

    def _is_charted(self, entry: ResultRow) -> bool:
        filter_ = self.filter
        if filter_.scenario is not None and entry.run.key != filter_.scenario:
            return False
        is_first = self.ranks.get(entry.number, RowRanks()).same_as is None
        return entry.pinned or (
            is_first and (filter_.numbers is None or entry.number in filter_.numbers)
        )
