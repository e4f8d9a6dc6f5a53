"""The results tab: all solutions of all runs in one table, and a chart of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from PySide6.QtCore import QModelIndex, QPoint, Qt, Slot
from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import QMenu, QStackedLayout, QWidget

from vbas_desktop.model.regions import CoordinateSystem
from vbas_desktop.model.words import counted
from vbas_desktop.session.results import Entry, Marks, ProblemKey
from vbas_desktop.ui.charts.panel import ChartPanel
from vbas_desktop.ui.charts.rows import ChartRow, Measure
from vbas_desktop.ui.context import Context
from vbas_desktop.ui.numbers import measure_words, shown_measures, unit_of
from vbas_desktop.ui.widgets.building import dress, in_column, split
from vbas_desktop.ui.widgets.fields import EmptyState
from vbas_desktop.ui.widgets.plain_text import set_tool_tip
from vbas_desktop.ui.widgets.tables import SqueezedTable, choose_row, copy_rows, offer_to_save_rows, set_up_sorted

from .results_bar import ColumnsMenu, MeasuresMenu, ResultsBar, offer_others, offer_pair
from .results_columns import Column, approach_of, measures_of, signs_of, table_rows
from .results_lines import AdviceLine, AlternativesLine, LimitLine, TiersLine
from .results_model import NUMBER_ROLE, ResultsFilter, ResultsModel, Wanted
from .why import VectorLine

_NOTHING = "No results yet. Choose roles in Input and press Run."
_NO_DATA = "No results yet. Open a record file and a region file first."
_COMING = "Solutions are listed here as soon as they are found."


class ResultsTab(QWidget):
    """Follows the session's solutions; choosing a row or a mark in the chart selects the solution everywhere."""

    def __init__(self, context: Context) -> None:
        super().__init__()
        self._context = context
        self._shown_names: list[str] = []
        self._charted: ProblemKey | None = None
        self.table_model, self.filter = ResultsModel(self), ResultsFilter(self)
        self.table = SqueezedTable()
        self.filter.setSourceModel(self.table_model)
        set_up_sorted(self.table, self.filter, 1, "Solutions")
        self.table.horizontalHeader().setSectionsMovable(True)
        self.charts = ChartPanel(context)
        self.vector = VectorLine(context)
        self.limit, self.advice = LimitLine(context), AdviceLine(context)
        self.alternatives = AlternativesLine(context)
        self.tiers = TiersLine(context)
        self.bar = ResultsBar(context.theme)
        self.only_stars, self.only_meeting = self.bar.only_stars, self.bar.only_meeting
        self.scenario = self.bar.scenario
        self.measure_menu = MeasuresMenu(context.session, self)
        self.column_menu = ColumnsMenu(self.table_model, self.table, self)
        self.actions_by_name = self._make_actions()
        self._build()
        self._connect()
        self._on_solutions_changed()

    # Building

    def _make_actions(self) -> dict[str, QAction]:
        actions = {}
        for name, text, key, tip, slot in (
            ("pin", "&Pin", "Ctrl+P", "Keep the solution when others are filtered out", self._on_pin),
            ("remove", "&Remove", "Del", "Remove the solutions from the list", self._on_remove),
            ("copy", "&Copy table rows", "Ctrl+C", "Copy the rows for a spreadsheet", self._on_copy),
            ("save", "&Save table as CSV…", "", "Save the table with exact values", self._on_save),
        ):
            action = dress(QAction(text, self), shortcut=QKeySequence(key))
            action.setShortcutContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)
            set_tool_tip(action, f"{tip} ({key})" if key else tip)
            action.triggered.connect(slot)
            self.addAction(action)
            actions[name] = action
        return actions

    def _build(self) -> None:
        tip = "Which measures count for the star: what no other solution beats in them is unbeaten"
        self.bar.add_menu("scale", "Measures", tip, self.measure_menu)
        self.bar.add_menu("table", "Columns", "Which columns are shown", self.column_menu)
        self.bar.add_actions(self.actions_by_name.items())
        upper = QWidget()
        lines = (self.bar, self.limit, self.advice, self.alternatives, (self.table, 1), self.tiers, self.vector)
        in_column(*lines, within=upper, margins=0, spacing=0)
        self._content = split(upper, self.charts, upright=True, sizes=(380, 320))
        self._empty = EmptyState(_NO_DATA)
        self._layers = QStackedLayout(self)
        self._layers.addWidget(self._empty)
        self._layers.addWidget(self._content)

    def _connect(self) -> None:
        model = self._context.model
        for signal in (model.solution_added, model.solutions_changed, model.choices_changed, model.run_finished):
            signal.connect(self._on_solutions_changed)
        model.selection_changed.connect(self._on_selection_changed)
        model.data_loaded.connect(self._on_job)
        self._context.runner.job_started.connect(self._on_job)
        self._context.runner.job_ended.connect(self._on_job)
        self.table.selectionModel().currentRowChanged.connect(self._on_current_changed)
        self.table.customContextMenuRequested.connect(self._on_table_menu)
        self.table.horizontalHeader().customContextMenuRequested.connect(self._on_header_menu)
        for signal in (self.only_stars.toggled, self.only_meeting.toggled, self.scenario.scenario_chosen):
            signal.connect(self._refilter)
        for signal in (model.requirement_changed, self.charts.ranges_changed):
            signal.connect(self._refilter)
        model.choices_changed.connect(self.measure_menu.refresh)
        self.limit.alternatives.clicked.connect(self.alternatives.ask)
        self.column_menu.ticked.connect(self._refresh_columns)
        self.charts.solution_clicked.connect(self._context.session.select)
        self._context.theme.changed.connect(self._on_theme_changed)
        self._on_theme_changed()

    @Slot()
    def _on_job(self) -> None:
        """While something is being computed, nobody needs to be asked to begin."""
        asked = _NOTHING if self._context.session.has_data else _NO_DATA
        self._empty.label.setText(_COMING if self._context.runner.busy else asked)

    # What the session says

    @property
    def _system(self) -> CoordinateSystem | None:
        regions = self._context.session.regions
        return None if regions is None else regions.system

    @Slot()
    def _on_solutions_changed(self) -> None:
        session = self._context.session
        state = (session.entries, session.marks, self._system)
        if state == getattr(self, "_state", None):
            return
        self._state = state
        self.table.selectionModel().blockSignals(True)
        self.table_model.show_entries(*state)
        self.table.selectionModel().blockSignals(False)
        self.scenario.offer(session.entries)
        self._refilter()
        self._refresh_columns()
        self._layers.setCurrentWidget(self._content if session.entries else self._empty)
        self._on_selection_changed()

    @Slot()
    def _on_selection_changed(self) -> None:
        selected = self._context.session.selected
        number = selected.number if selected is not None else None
        if selected is not None and selected.run.key != self._charted:
            self._refresh_charts()
        self.charts.select(number)
        row = self.table_model.row_of(number) if number is not None else -1
        choose_row(self.table, self.filter.mapFromSource(self.table_model.index(row, 1)))

    @Slot()
    def _refresh_columns(self) -> None:
        """Widths are chosen once for each set of columns, so that those of the user stay."""
        names = [column.name for column in self.table_model.columns]
        for index, column in enumerate(self.table_model.columns):
            self.table.setColumnHidden(index, self.column_menu.hidden.get(column.name, column.hidden))
        if names != self._shown_names and self.table_model.entries:
            self._shown_names = names
            self.table.fit()
        else:
            self.table.squeeze()
        # Marks come when all solutions are there, and other runs have approaches with longer names.
        self.table.grow(index for index, column in enumerate(self.table_model.columns) if not column.number)

    def _refresh_charts(self) -> None:
        """Draw the solutions that compete with the shown one: those of other records or another k would mislead."""
        session, entries = self._context.session, self.filter.entries_in_any_range()
        shown = session.selected or (entries[-1] if entries else None)
        self._charted = shown.run.key if shown is not None else None
        entries = [entry for entry in entries if entry.run.key == self._charted]
        system, names = self._system, measures_of(self.table_model.entries)
        rows = [
            ChartRow(
                entry.number,
                approach_of(entry.solution, "site_location"),
                entry.solution.site_count,
                shown_measures(entry.solution, names, system),
                entry.number in self.table_model.stars,
                signs_of(replace(self.table_model.marks.get(entry.number, Marks()), pareto=False)),
            )
            for entry in sorted(entries, key=lambda entry: entry.number)
        ]
        measures = [Measure(each.name, each.title, unit_of(each, system)) for each in map(measure_words, names)]
        self.charts.show_rows(rows, measures, session.pareto_measures)

    @Slot()
    def _on_theme_changed(self) -> None:
        self.table_model.pin_icon = self._context.theme.icon("pin")

    # What the user does

    @Slot(QModelIndex, QModelIndex)
    def _on_current_changed(self, current: QModelIndex, previous: QModelIndex) -> None:
        if current.isValid():
            self._context.session.select(current.data(NUMBER_ROLE))

    @Slot()
    def _refilter(self) -> None:
        """List what is wanted. If that leaves out the solution that is shown, the best of what is left is shown."""
        session, meeting = self._context.session, None
        self.only_meeting.setVisible(session.has_requirement)
        if session.has_requirement and self.only_meeting.isChecked():
            meeting = frozenset(entry.number for entry in session.entries if session.meets_requirement(entry))
        ranges, stars = dict(self.charts.ranges), self.only_stars.isChecked()
        self.filter.show(Wanted(stars, meeting, self.scenario.scenario, ranges, self._system))
        shown, selected = self.filter.shown_entries(), self._context.session.selected
        if shown and selected is not None and selected.number not in [entry.number for entry in shown]:
            marks = self.table_model.marks
            best = next((entry for entry in shown if marks[entry.number].recommended), shown[0])
            self._context.session.select(best.number)
        self._refresh_charts()
        self._on_selection_changed()
        if self.table.currentIndex().isValid() and not self.table.selectionModel().hasSelection():
            # A filter moves the current row without highlighting it.
            self.table.selectRow(self.table.currentIndex().row())

    def chosen_numbers(self) -> list[int]:
        """The numbers of the rows that are chosen."""
        rows = self.table.selectionModel().selectedRows()
        return [index.data(NUMBER_ROLE) for index in rows]

    @Slot()
    def _on_pin(self) -> None:
        chosen = [entry for entry in self.table_model.entries if entry.number in self.chosen_numbers()]
        pinned = not all(entry.pinned for entry in chosen)
        self._context.session.pin([entry.number for entry in chosen], pinned)

    @Slot()
    def _on_remove(self) -> None:
        numbers = self.chosen_numbers()
        if not numbers:
            return
        self._context.session.remove(numbers, self._neighbour_of(numbers))
        self._context.say(f"Removed {counted(len(numbers), 'solution')}. Edit ▸ Undo (Ctrl+Z) brings them back.")

    def _neighbour_of(self, numbers: Sequence[int]) -> int | None:
        """The row below those that go, or else above them."""
        shown = [entry.number for entry in self.filter.shown_entries()]
        last = max((shown.index(number) for number in numbers if number in shown), default=0)
        kept = [number for number in (*shown[last:], *reversed(shown[:last])) if number not in numbers]
        return kept[0] if kept else None

    def _visible_columns(self) -> list[Column]:
        header = self.table.horizontalHeader()
        order = [header.logicalIndex(place) for place in range(header.count())]
        return [self.table_model.columns[index] for index in order if not self.table.isColumnHidden(index)]

    @Slot()
    def _on_copy(self) -> None:
        chosen = set(self.chosen_numbers())
        entries = [entry for entry in self.filter.shown_entries() if len(chosen) < 2 or entry.number in chosen]
        copy_rows(table_rows(entries, self._visible_columns(), exact=False))
        self._context.say(f"Copied {len(entries):,} solutions.")

    @Slot()
    def _on_save(self) -> None:
        rows = table_rows(self.filter.shown_entries(), self.table_model.columns, exact=True)
        offer_to_save_rows(self._context, self, rows, "results.csv")

    # Menus

    @Slot(QPoint)
    def _on_header_menu(self, position: QPoint) -> None:
        self.column_menu.popup(self.table.horizontalHeader().mapToGlobal(position))

    @Slot(QPoint)
    def _on_table_menu(self, position: QPoint) -> None:
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        session, entry = self._context.session, self._entry_at(position)
        chosen = [each for each in map(session.entry, self.chosen_numbers()) if each is not None]
        if len(chosen) == 2:
            offer_pair(menu, chosen[0], chosen[1], self._compare)
        elif entry is not None:
            offer_others(menu, entry, session.entries, self._compare)
        menu.addActions(list(self.actions_by_name.values()))
        menu.popup(self.table.viewport().mapToGlobal(position))

    def _compare(self, one: int, other: int) -> None:
        self._context.session.select(one)
        self._context.session.compare_with(other)

    def _entry_at(self, position: QPoint) -> Entry | None:
        index = self.table.indexAt(position)
        return self._context.session.entry(index.data(NUMBER_ROLE)) if index.isValid() else None
