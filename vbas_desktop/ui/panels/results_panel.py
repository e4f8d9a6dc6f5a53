"""The results tab: all solutions of all runs in one table, and a chart of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from PySide6.QtCore import QEvent, QModelIndex, QPoint, QSignalBlocker, Qt, Slot
from PySide6.QtGui import QAction, QColor, QIcon, QKeySequence
from PySide6.QtWidgets import QMenu, QStackedLayout, QWidget

from vbas_desktop.engine.figures import list_measure_figures
from vbas_desktop.model.regions import CoordinateSystem
from vbas_desktop.model.text import format_count

from ..charts.chart_panel import ChartPanel
from ..charts.legend import render_symbol, symbol_of
from ..core.context import UiContext
from ..presentation.chart_data import ChartAxis, SeriesStyle, assign_styles
from ..presentation.results_table import (
    ResultColumn,
    TableSettings,
    chart_rows,
    count_frozen,
    style_name,
    table_rows,
)
from ..state.scenario import ResultRow, RowRanks, Scenario
from ..widgets.fields import Placeholder
from ..widgets.frozen_table import FrozenTableView
from ..widgets.layouts import scroll_area, single_shot_timer, splitter, vbox, with_properties
from ..widgets.plain_text import set_tool_tip
from ..widgets.table_actions import add_sort_menu, copy_rows, offer_to_save_rows
from ..widgets.tables import select_row, set_up_sorted
from .notices import AlternativesLine, LimitLine, LossNotice
from .results_model import ResultsFilter, ResultsModel
from .results_toolbar import ColumnsMenu, MeasuresMenu, ResultsToolbar, offer_others, offer_pair
from .shown_caption import ShownCaption
from .suppressed_classes import VectorLine

_LEAST_ROWS = 4
_NOTHING = "No results yet. Choose roles in Input and press Run."
_NO_DATA = "No results yet. Open a record file and a region file first."
_COMING = "Solutions are listed here as soon as they are found."


class _WrappingPart(QWidget):
    """Is never lower than its contents need at their width, which splitters do not see to."""

    def event(self, event: QEvent) -> bool:
        """Follow the contents."""
        result = super().event(event)
        layout = self.layout()
        if event.type() in (QEvent.Type.LayoutRequest, QEvent.Type.Resize) and layout is not None:
            self.setMinimumHeight(layout.totalMinimumHeightForWidth(self.width()))
        return result


class ResultsPanel(QWidget):
    """Follows the state's solutions; choosing a row or a mark in the chart selects the solution everywhere."""

    def __init__(self, context: UiContext) -> None:
        super().__init__()
        self._context = context
        self._shown_names: list[str] = []
        self._defers_charts = False
        self._chart_timer = single_shot_timer(0, self._refresh_charts, self)
        self._charted: Scenario | None = None
        self._listing: tuple[tuple[ResultRow, ...], Mapping[int, RowRanks], TableSettings] | None = None
        self.table_model = ResultsModel(self)
        self.table = FrozenTableView()
        set_up_sorted(self.table, self.table_model, 0, "Solutions")
        self.table.set_up("Solutions")
        self.table.horizontalHeader().setSectionsMovable(True)
        self.charts = ChartPanel(context)
        self.caption = ShownCaption(context)
        self.vector = VectorLine(context)
        self.limit = LimitLine(context)
        self.alternatives = AlternativesLine(context)
        self.loss = LossNotice(context)
        self.bar = ResultsToolbar(context.theme)
        self.only_pareto = self.bar.only_pareto
        self.only_meeting = self.bar.only_meeting
        self.scenario = self.bar.scenario
        self.measure_menu = MeasuresMenu(context.state, self)
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
            action = with_properties(QAction(text, self), shortcut=QKeySequence(key))
            action.setShortcutContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)
            set_tool_tip(action, f"{tip} ({key})" if key else tip)
            action.triggered.connect(slot)
            self.addAction(action)
            actions[name] = action
        return actions

    def _build(self) -> None:
        tip = "Rated measures: they decide which solutions are Pareto-optimal, and are the first columns"
        self.bar.add_menu("scale", "Rated measures", tip, self.measure_menu)
        self.bar.add_menu("table", "Columns", "Which columns are shown", self.column_menu)
        self.bar.add_actions(self.actions_by_name.items())
        upper = _WrappingPart()
        lines = (
            self.bar,
            self.limit,
            self.loss,
            self.alternatives,
            (self.table, 1),
            self.caption,
            self.vector,
        )
        vbox(*lines, within=upper, margins=0, spacing=0)
        self._content = splitter(upper, self.charts, upright=True, sizes=(380, 320))
        self._empty = Placeholder(_NO_DATA)
        self._layers = QStackedLayout(self)
        self._layers.addWidget(self._empty)
        # With large letters, table and chart keep a useful height, and the panel is scrolled.
        rows = _LEAST_ROWS * self.table.verticalHeader().defaultSectionSize()
        self.table.setMinimumHeight(rows + 2 * self.table.horizontalHeader().sizeHint().height())
        self._scroll = scroll_area(self._content, focusPolicy=Qt.FocusPolicy.NoFocus)
        self._layers.addWidget(self._scroll)

    def _connect(self) -> None:
        model = self._context.model
        model.solution_added.connect(self._on_solution_added)
        for signal in (model.solutions_changed, model.choices_changed, model.run_finished):
            signal.connect(self._on_solutions_changed)
        model.selection_changed.connect(self._on_selection_changed)
        model.data_loaded.connect(self._on_job)
        self._context.worker.job_started.connect(self._on_job)
        self._context.worker.job_ended.connect(self._on_job)
        self.table.selectionModel().currentRowChanged.connect(self._on_current_changed)
        self.table.selectionModel().selectionChanged.connect(self._on_rows_selected)
        self.bar.compare.clicked.connect(self._on_compare)
        self.table.customContextMenuRequested.connect(self._on_table_menu)
        self.table.horizontalHeader().customContextMenuRequested.connect(self._on_header_menu)
        for signal in (
            self.only_pareto.toggled,
            self.only_meeting.toggled,
            self.scenario.scenario_chosen,
        ):
            signal.connect(self._refilter)
        for signal in (model.requirement_changed, self.charts.ranges_changed):
            signal.connect(self._refilter)
        model.choices_changed.connect(self.measure_menu.refresh)
        model.research_shown.connect(self._on_solutions_changed)
        self.limit.alternatives.clicked.connect(self.alternatives.ask)
        self.column_menu.toggled.connect(self._refresh_columns)
        self.charts.solution_clicked.connect(self._context.state.select)
        self._context.theme.changed.connect(self._on_theme_changed)
        self._on_theme_changed()

    @Slot()
    def _on_job(self) -> None:
        """While something is being computed, nobody needs to be asked to begin."""
        hint = _NOTHING if self._context.state.has_data else _NO_DATA
        self._empty.label.setText(_COMING if self._context.worker.busy else hint)

    # What the state says

    @property
    def _system(self) -> CoordinateSystem | None:
        regions = self._context.state.regions
        return None if regions is None else regions.system

    @Slot()
    def _on_solution_added(self) -> None:
        """List a solution at once; the charts follow in a turn of their own, one for several solutions."""
        self._defers_charts = True
        self._on_solutions_changed()
        self._defers_charts = False
        self._chart_timer.start()

    @Slot()
    def _on_solutions_changed(self) -> None:
        state = self._context.state
        styles = assign_styles(entry.solution for entry in state.entries)
        limit = state.choices.allowed_loss_percent
        settings = TableSettings(
            self._system, state.pareto_measures, limit, styles, state.shows_research
        )
        listing = (state.entries, state.marks, settings)
        if listing == self._listing:
            return
        self._listing = listing
        self._show_icons()
        self.table.selectionModel().blockSignals(True)
        self.table_model.show_entries(*listing)
        self.table.selectionModel().blockSignals(False)
        self.scenario.offer(state.entries)
        self._refilter()
        self._refresh_columns()
        self._layers.setCurrentWidget(self._scroll if state.entries else self._empty)
        self._on_selection_changed()

    @Slot()
    def _on_selection_changed(self) -> None:
        selected = self._context.state.selected
        number = selected.number if selected is not None else None
        if selected is not None and selected.run.key != self._charted:
            self._refresh_charts()
        self.charts.select(number)
        if number is not None and self.table_model.filter.selected != number:
            # A dominated solution is listed while it is shown.
            self._show_filtered(replace(self.table_model.filter, selected=number))
        row = -1 if number is None else self.table_model.position_of(self.table_model.number_of(number))
        select_row(self.table, self.table_model.index(row, 0))
        if row >= 0:
            self.table.scrollTo(self.table_model.index(row, 0))

    @Slot()
    def _refresh_columns(self) -> None:
        """Widths are chosen once for each set of columns, so that those of the user stay."""
        names = [column.name for column in self.table_model.columns]
        n_frozen = count_frozen(self.table_model.columns)
        for index, column in enumerate(self.table_model.columns):
            # What decides which solutions are Pareto-optimal is always seen.
            is_hidden = index >= n_frozen and self.column_menu.hidden.get(column.name, column.hidden)
            self.table.setColumnHidden(index, is_hidden)
        if names != self._shown_names and self.table_model.rows:
            self._shown_names = names
            self.table.freeze(count_frozen(self.table_model.columns))
            self.table.fit()
            self._show_sorting()
        else:
            self.table.squeeze()
        # Marks come when all solutions are there, and other runs have approaches with longer names.
        self.table.grow(
            index for index, column in enumerate(self.table_model.columns) if column.side != "right"
        )

    @Slot()
    def _refresh_charts(self) -> None:
        """Draw the solutions that compete with the shown one: those of other records or another k would mislead."""
        if self._defers_charts:
            return
        state = self._context.state
        entries = self.table_model.list_charted()
        reference = state.selected or (entries[-1] if entries else None)
        self._charted = reference.run.key if reference is not None else None
        entries = [entry for entry in entries if entry.run.key == self._charted]
        system = self._system
        figures = list_measure_figures(entry.solution for entry in self.table_model.rows)
        if self._listing is not None:
            figures = [figure for figure in figures if self._listing[2].shows(figure)]
        names = [figure.name for figure in figures]
        numbered = [
            (entry.number, entry.solution) for entry in sorted(entries, key=lambda entry: entry.number)
        ]
        styles = assign_styles(entry.solution for entry in state.entries)
        rows = chart_rows(numbered, names, system, self.table_model.ranks, styles)
        measures = [ChartAxis.of_figure(figure, system) for figure in figures]
        self.charts.show_rows(rows, measures, state.pareto_measures)

    @Slot()
    def _on_theme_changed(self) -> None:
        self._show_icons()
        self.table_model.refresh()

    def _show_icons(self) -> None:
        """Give the table the symbols of the approaches as they are in the charts."""
        styles = () if self._listing is None else self._listing[2].styles.values()
        symbols = {style_name(style): self._make_symbol_icon(style) for style in styles}
        self.table_model.icons = {"pin": self._context.theme.icon("pin"), **symbols}

    def _make_symbol_icon(self, style: SeriesStyle) -> QIcon:
        colours = self._context.theme.colours
        icon = QIcon(render_symbol(symbol_of(style), QColor(colours.series_colour(style.colour))))
        icon.addPixmap(render_symbol(symbol_of(style), QColor(colours.on_accent)), QIcon.Mode.Selected)
        return icon

    def _show_sorting(self) -> None:
        """Show what the table is sorted by where its columns are now."""
        if self.table_model.sorted_by is not None:
            name, descending = self.table_model.sorted_by
            order = Qt.SortOrder.DescendingOrder if descending else Qt.SortOrder.AscendingOrder
            self.table.horizontalHeader().setSortIndicator(self.table_model.column_number(name), order)

    # What the user does

    @Slot(QModelIndex, QModelIndex)
    def _on_current_changed(self, current: QModelIndex, previous: QModelIndex) -> None:
        if current.isValid() and not self.table_model.heading_at(current.row()):
            self._context.state.select(self.table_model.row_at(current.row()).number)

    @Slot()
    def _refilter(self) -> None:
        """List what is wanted. If that leaves out the solution that is shown, the best of what is left is shown."""
        state = self._context.state
        meeting = None
        self.only_meeting.setVisible(state.has_requirement)
        if state.has_requirement and self.only_meeting.isChecked():
            meeting = frozenset(
                entry.number for entry in state.entries if state.meets_requirement(entry)
            )
        ranges = dict(self.charts.ranges)
        selected = self._context.state.selected
        self._show_filtered(
            ResultsFilter(
                self.only_pareto.isChecked(),
                None if selected is None else selected.number,
                meeting,
                self.scenario.scenario,
                ranges,
                self._system,
            )
        )
        visible = self.table_model.listed_rows()
        if (
            visible
            and selected is not None
            and selected.number not in [entry.number for entry in visible]
        ):
            marks = self.table_model.ranks
            best = next((entry for entry in visible if marks[entry.number].recommended), visible[0])
            self._context.state.select(best.number)
        self._refresh_charts()
        self._on_selection_changed()
        if self.table.currentIndex().isValid() and not self.table.selectionModel().hasSelection():
            # A filter moves the current row without highlighting it.
            self.table.selectRow(self.table.currentIndex().row())

    def _show_filtered(self, filter_: ResultsFilter) -> None:
        """List what passes a filter. If the current row goes, its neighbour must not be shown on the way."""
        selection = self.table.selectionModel()
        with QSignalBlocker(selection):
            self.table_model.show_filtered(filter_)
            if not selection.hasSelection():
                # The neighbour is current now, but not highlighted.
                selection.clearCurrentIndex()
        self._on_rows_selected()
        self.bar.show_hidden(self.table_model.count_dominated())

    def chosen_numbers(self) -> list[int]:
        """Return the numbers of the rows that are chosen, that of the current one first."""
        current = self.table.currentIndex().row()
        rows = sorted(index.row() for index in self.table.selectionModel().selectedRows())
        rows.sort(key=lambda row: row != current)
        return [self.table_model.row_at(row).number for row in rows]

    @Slot()
    def _on_rows_selected(self) -> None:
        """Offer to compare as soon as two solutions are selected."""
        numbers = self.chosen_numbers()
        self._context.state.choose_pair(tuple(numbers) if len(numbers) == 2 else None)
        self.bar.compare.setVisible(len(numbers) == 2)

    @Slot()
    def _on_compare(self) -> None:
        pair = self._context.state.chosen_pair
        if pair is not None:
            self._compare(*pair)

    @Slot()
    def _on_pin(self) -> None:
        numbers = self.chosen_numbers()
        chosen = [entry for entry in self.table_model.rows if entry.number in numbers]
        pinned = not all(entry.pinned for entry in chosen)
        self._context.state.pin([entry.number for entry in chosen], pinned)

    @Slot()
    def _on_remove(self) -> None:
        numbers = self.chosen_numbers()
        if not numbers:
            return
        self._context.state.remove(numbers, self._neighbour_of(numbers))
        self._context.show_message(
            f"Removed {format_count(len(numbers), 'solution')}. Edit ▸ Undo (Ctrl+Z) brings them back."
        )

    def _neighbour_of(self, numbers: Sequence[int]) -> int | None:
        """Find the row below those that go, or else above them."""
        visible = [entry.number for entry in self.table_model.listed_rows()]
        last = max((visible.index(number) for number in numbers if number in visible), default=0)
        remaining = [
            number for number in (*visible[last:], *reversed(visible[:last])) if number not in numbers
        ]
        return remaining[0] if remaining else None

    def _visible_columns(self) -> list[ResultColumn]:
        header = self.table.horizontalHeader()
        order = [header.logicalIndex(position) for position in range(header.count())]
        return [
            self.table_model.columns[index] for index in order if not self.table.isColumnHidden(index)
        ]

    @Slot()
    def _on_copy(self) -> None:
        chosen = set(self.chosen_numbers())
        entries = [
            entry
            for entry in self.table_model.listed_rows()
            if len(chosen) < 2 or entry.number in chosen
        ]
        copy_rows(table_rows(entries, self._visible_columns(), exact=False))
        self._context.show_message(f"Copied {len(entries):,} solutions.")

    @Slot()
    def _on_save(self) -> None:
        rows = table_rows(self.table_model.listed_rows(), self.table_model.columns, exact=True)
        offer_to_save_rows(self._context, self, rows, "results.csv")

    # Menus

    @Slot(QPoint)
    def _on_header_menu(self, position: QPoint) -> None:
        self.column_menu.popup(self.table.horizontalHeader().mapToGlobal(position))

    @Slot(QPoint)
    def _on_table_menu(self, position: QPoint) -> None:
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        state = self._context.state
        entry = self._entry_at(position)
        chosen = [row for row in map(state.entry, self.chosen_numbers()) if row is not None]
        if len(chosen) == 2:
            offer_pair(menu, chosen[0], chosen[1], self._compare)
        elif entry is not None:
            offer_others(menu, entry, state.entries, self._compare)
        menu.addActions(list(self.actions_by_name.values()))
        add_sort_menu(menu, self.table)
        menu.popup(self.table.viewport().mapToGlobal(position))

    def _compare(self, first: int, other: int) -> None:
        self._context.state.select(first)
        self._context.state.compare_with(other)

    def _entry_at(self, position: QPoint) -> ResultRow | None:
        index = self.table.indexAt(position)
        if not index.isValid() or self.table_model.heading_at(index.row()):
            return None
        return self.table_model.row_at(index.row())
