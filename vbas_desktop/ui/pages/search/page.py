"""Finding a release: say what each attribute may lose, search, look at the front, go to a node's map or its release."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial

from PySide6.QtCore import QModelIndex, QSignalBlocker, Qt, Slot
from PySide6.QtGui import QColor, QResizeEvent
from PySide6.QtWidgets import QAbstractItemView, QSizePolicy, QTableView

from vbas_desktop.app.search import (
    SearchRequest,
    build_hierarchies,
    build_search_lattice,
    read_hierarchy_choices,
    search_release,
)
from vbas_desktop.engine.lattice.nodes import BaseTable
from vbas_desktop.engine.lattice.search import LatticeSearchResult, NodeResult
from vbas_desktop.engine.lattice.table import describe_search
from vbas_desktop.io.documents.hierarchies import check_hierarchies
from vbas_desktop.model.findings import InputError
from vbas_desktop.model.progress import Progress
from vbas_desktop.model.records import RecordTable
from vbas_desktop.model.text import format_count
from vbas_desktop.releases.search import find_group_formulas

from ...charts.chart import make_interactive
from ...core.context import UiContext
from ...core.theme import GRID
from ...core.worker import JobProgress
from ...dialogs.messages import ask_question
from ...state.choices import Choices
from ...state.searching import (
    choices_of,
    differing_settings,
    node_in_words,
    request_search,
    restore_settings,
)
from ...widgets.fields import message_label, set_variant
from ...widgets.file_dialogs import ask_to_open, documents_folder, sibling_path
from ...widgets.frozen_table import RowDelegate
from ...widgets.layouts import button, hbox, splitter, vbox, with_properties
from ...widgets.tables import TableModel, fit_columns, set_up_table
from ...widgets.visible_refresh import VisibleRefresh
from ..page import FolderPage
from .attributes import AttributesForm
from .nodes import SearchChart, make_node_columns

_LOW = 690
_WIDE = 880
"""In a lower and a wider page than this, the chart stands beside the table."""

_LEAST_HALVES = 200
_FADED = 0.35
_SHOW = "Use the groups of the chosen node in Input, run it and draw it"
_RELEASE = "The same, and then choose where its release goes (Ctrl+E)"
_HIERARCHIES = "Hierarchies (*.csv *.txt);;All files (*)"


class SearchPage(FolderPage):
    """Conditions, table and picture of a search. One click leads from a node to its map or its release."""

    def __init__(self, context: UiContext) -> None:
        stop_tip = "Stop; finished nodes are kept and not searched again"
        super().__init__(context, stop_tip, "What the search comes to", flush_ms=250)
        self.form = AttributesForm()
        self.chart = with_properties(
            SearchChart(context.theme.colours), accessibleName="Regions against detail"
        )
        self.model: TableModel[NodeResult] = TableModel((), self)
        self.table = QTableView()
        self.start = button("▶  Search", self.search, look="primary", shortcut="Ctrl+Return")
        self.show_map = button("Show on the map", self._on_show_map, _SHOW, "Ctrl+Shift+M")
        self.release = button("Release it…", lambda: self._use(self._context.export), _RELEASE)
        self.outdated = message_label(
            look="warning", accessibleName="Settings that differ from those of the results"
        )
        self.outdated.hide()
        self.searched: LatticeSearchResult | None = None
        self._searched_with = self._state.choices
        """The choices in force when the search began."""
        self._finest: BaseTable | None = None
        self._reason: str | None = None
        self._build()
        self._connect()
        self._on_data_loaded()

    def _build(self) -> None:
        self._set_up_table()
        self.halves = splitter(self.table, self.chart, upright=True)
        # Less than both would ask for: where the room is low they stand side by side, and the buttons stay in sight.
        self.halves.setMinimumHeight(_LEAST_HALVES)
        self.halves.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Ignored)
        report = self.opening("Open re&port", "The table, the picture and the hierarchies as a page")
        vbox(
            self.form,
            self.folder_field(
                "Folder for the table", "Finished nodes are kept beside it", "Choose another folder"
            ),
            self.live,
            self.blocker,
            self.outdated,
            (self.halves, 1),
            hbox(self.start, self.stop, 1, self.show_map, self.release, report),
            within=self,
            margins=(2 * GRID, GRID, 2 * GRID, GRID),
        )

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Put the chart beside the table in a low window, so that both can be read."""
        super().resizeEvent(event)
        side_by_side = event.size().height() < _LOW and event.size().width() >= _WIDE
        turned = Qt.Orientation.Horizontal if side_by_side else Qt.Orientation.Vertical
        if self.halves.orientation() != turned:
            self.halves.setOrientation(turned)
            self._share_room()

    def _share_room(self) -> None:
        side_by_side = self.halves.orientation() is Qt.Orientation.Horizontal
        self.halves.setSizes([640, 360] if side_by_side else [260, 300])

    def _set_up_table(self) -> None:
        self.table.setModel(self.model)
        set_up_table(self.table, "Nodes")
        self.table.horizontalHeader().setStretchLastSection(True)
        self.table.setItemDelegate(RowDelegate(self.table))
        with_properties(
            self.table,
            selectionMode=QAbstractItemView.SelectionMode.SingleSelection,
            sortingEnabled=True,
        )
        self.table.sortByColumn(1, Qt.SortOrder.AscendingOrder)

    def _connect(self) -> None:
        model = self._context.model
        self.form.changed.connect(self._on_changed)
        self.form.file_requested.connect(self._on_file_requested)
        self.target.textChanged.connect(self._refresh)
        self.chart.solution_clicked.connect(self._choose)
        make_interactive(self.chart, self._context, "front")
        self.table.selectionModel().currentRowChanged.connect(self._on_current_changed)
        self.table.doubleClicked.connect(self._on_show_map)
        model.data_loaded.connect(self._on_data_loaded)
        self._context.theme.changed.connect(self._refresh)
        model.choices_changed.connect(VisibleRefresh(self, self._on_changed).request)

    # What is asked for

    @Slot()
    def _on_data_loaded(self) -> None:
        self.form.levels = {}
        path = self._state.project_path or self._state.records_path
        folder = (
            documents_folder() / "vbas search"
            if path is None
            else sibling_path(path, f"{path.stem.partition('.')[0]} search")
        )
        self.target.setText(str(folder))
        self._show(None)
        self._on_changed()

    @Slot()
    def _on_changed(self) -> None:
        reason = self._state.why_not_run()
        if reason is None:
            try:
                request = request_search(self._state, self.form.conditions())
                grouped = frozenset(self._state.choices.groupings)
                self.form.show_hierarchies(build_hierarchies(request), grouped)
                request = request_search(self._state, self.form.conditions())
                loss = self._state.choices.allowed_loss_percent
                nodes = format_count(build_search_lattice(request).size, "combination")
                text = f"{nodes} of levels; k = {self._state.choices.k}, at most {loss:g} % suppressed."
            except InputError as error:
                reason = str(error)
        self.form.setVisible(reason is None or bool(self.form.pins))
        set_variant(self.live, "live" if reason is None else "warning")
        if self.searched is None or reason is not None:
            self.live.setText(reason or text)
        self._reason = reason
        self._refresh()

    @Slot(str)
    def _on_file_requested(self, column: str) -> None:
        ask_to_open(
            self, f"Hierarchy of {column}", _HIERARCHIES, None, partial(self.read_hierarchy, column)
        )

    def read_hierarchy(self, column: str, file: str) -> None:
        """Take the levels of an attribute from a file."""
        job = partial(_read, f"{column}={file}", column, self._state.table)
        self._context.worker.start(f"Reading the hierarchy of {column}", job, self._on_levels)

    def _on_levels(self, levels: Mapping[str, Sequence[Mapping[str, str]]]) -> None:
        self.form.levels = {**self.form.levels, **levels}
        self._on_changed()

    @Slot()
    def _refresh(self) -> None:
        reason = self._reason or (
            None if self.target.text().strip() else "Choose a folder for the table."
        )
        self.show_blocker(reason, "Search every combination that is not finished yet (Ctrl+Return)")
        node = self.chosen
        busy = self._context.worker.busy
        for push_button in (self.show_map, self.release):
            push_button.setEnabled(not busy and node is not None and node.regions is not None)
        differing = self._differing()
        self.outdated.setText(f"These were found with other settings: {differing}." if differing else "")
        self.outdated.setVisible(bool(differing))
        self.chart.item.setOpacity(_FADED if differing else 1.0)
        self.model.set_text_colour(QColor(self._context.theme.colours.muted) if differing else None)

    def _differing(self) -> str:
        """Say which settings differ from those of the nodes on show; empty if none does."""
        if self.searched is None:
            return ""
        return "; ".join(differing_settings(self._state.choices, self._searched_with))

    # Searching

    @Slot()
    def search(self) -> None:
        """Search the lattice."""
        if self._reason is not None or self._context.worker.busy:
            return
        request = request_search(self._state, self.form.conditions(), self._folder)
        self._searched_with = self._state.choices
        self._show(None)
        steps = (self._on_searched, self._on_items, self._on_aborted)
        self._context.worker.start("Finding a release", partial(_run, request), *steps)

    def _on_items(self, items: Sequence[BaseTable | NodeResult]) -> None:
        for item in items:
            if isinstance(item, BaseTable):
                self._finest = item
            else:
                self.arrive(item)

    @Slot()
    def _on_flush(self) -> None:
        if self._finest is None or not self._arrived:
            return
        choices = self._searched_with
        self._show(
            LatticeSearchResult(
                self._finest, tuple(self._arrived), choices.allowed_loss_percent, choices.limiting
            )
        )
        self.live.setText(
            f"{len(self._arrived):,} of {format_count(self._finest.lattice.size, 'node')} are finished."
        )

    def _on_searched(self, searched: LatticeSearchResult) -> None:
        self._flush.stop()
        self._show(searched)
        warnings = [str(finding) for finding in find_group_formulas(searched, "groups")]
        self.live.setText("\n".join([*describe_search(searched), *warnings]))
        self._page = self._folder / "search.html"
        self._arrived = []
        self._finest = None
        if searched.recommended is not None:
            self._choose(searched.rows.index(searched.recommended) + 1)
        number = format_count(len(searched.rows), "combination")
        self._context.show_message(f"Searched {number}; the table is in {self.target.text()}.")
        self._refresh()

    def _on_aborted(self) -> None:
        self.flush()
        self._arrived = []
        self._finest = None

    def _show(self, searched: LatticeSearchResult | None) -> None:
        self.searched = searched
        with QSignalBlocker(self.table.selectionModel()):
            columns = [] if searched is None else make_node_columns(searched)
            self.model.set_rows(() if searched is None else searched.rows, columns)
        self.chart.show_search(searched)
        if self.table.isHidden() is not (searched is None):
            # Until there is something to list, the picture's place says what to do.
            self.table.setVisible(searched is not None)
            self._share_room()
        if searched is not None:
            fit_columns(self.table)

    # A node

    @property
    def chosen(self) -> NodeResult | None:
        """The node that is chosen."""
        index = self.table.currentIndex()
        return self.model.row_at(index.row()) if index.isValid() and self.searched is not None else None

    @Slot(int)
    def _choose(self, number: int) -> None:
        index = self.model.index(self.model.position_of(number - 1), 1)
        self.table.setCurrentIndex(index)
        self.table.scrollTo(index)

    @Slot(QModelIndex, QModelIndex)
    def _on_current_changed(self, current: QModelIndex, previous: QModelIndex) -> None:
        self.chart.select(self.model.number_at(current.row()) + 1 if current.isValid() else None)
        self._refresh()

    @Slot()
    def _on_show_map(self) -> None:
        self._use()

    def _use(self, then: Callable[[], None] | None = None) -> None:
        """Use the groups of the chosen node and run; ask first if the settings of the search differ from those now."""
        node = self.chosen
        searched = self.searched
        if node is None or searched is None or node.regions is None or self._context.worker.busy:
            return
        differing = self._differing()
        if not differing:
            self._use_node(node, searched, self._state.choices, then)
            return
        ask_question(
            self,
            "This was found with other settings.",
            f"Since then: {differing}.\nSet this back in Input and run? Undo takes it back.",
            {
                "Set back and run": lambda: self._use_node(
                    node, searched, restore_settings(self._state.choices, self._searched_with), then
                ),
                "Cancel": lambda: None,
            },
        )

    def _use_node(
        self,
        node: NodeResult,
        searched: LatticeSearchResult,
        choices: Choices,
        then: Callable[[], None] | None,
    ) -> None:
        """Choose the groups of a node besides these choices, and run; the map comes to the front."""
        self._context.show_message(node_in_words(searched, node.node))
        self._state.change(choices_of(choices, searched, node.node))
        self._context.show_map()
        self._context.run(then)


def _run(request: SearchRequest, progress: JobProgress) -> LatticeSearchResult:
    """Runs in the worker's thread."""
    return search_release(request, progress, progress.emit_item, progress.emit_item)


def _read(
    choice: str, column: str, table: RecordTable | None, progress: Progress
) -> Mapping[str, Sequence[Mapping[str, str]]]:
    """Runs in the worker's thread."""
    progress.update("Reading the hierarchy")
    if table is not None:
        check_hierarchies([choice], table, {column})
    return read_hierarchy_choices([choice])
