"""Finding a release: say what each attribute may lose, search, look at the front, go to a node's map or its release."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial

from PySide6.QtCore import QModelIndex, QSignalBlocker, QSortFilterProxyModel, Qt, Slot
from PySide6.QtGui import QColor, QResizeEvent
from PySide6.QtWidgets import QAbstractItemView, QGraphicsOpacityEffect, QTableView

from vbas_desktop.io.generalise import check_hierarchies
from vbas_desktop.jobs.search import SearchJob, read_ladders
from vbas_desktop.model.errors import InputError
from vbas_desktop.model.progress import Progress
from vbas_desktop.model.records import RecordTable
from vbas_desktop.model.words import counted
from vbas_desktop.search.lattice import Finest
from vbas_desktop.search.run import Found, Searched
from vbas_desktop.search.table import group_findings, summary_lines
from vbas_desktop.session.finding import choices_of, differing_settings, node_in_words, order_search
from vbas_desktop.ui.charts.chart import attend
from vbas_desktop.ui.context import Context
from vbas_desktop.ui.pages.job_page import FolderPage
from vbas_desktop.ui.theme import GRID
from vbas_desktop.ui.widgets.building import button, dress, in_column, in_row, split
from vbas_desktop.ui.widgets.fields import set_look, told
from vbas_desktop.ui.widgets.file_dialogs import ask_to_open, beside, documents
from vbas_desktop.ui.widgets.plain_text import set_tool_tip
from vbas_desktop.ui.widgets.tables import fit_columns, set_up_table
from vbas_desktop.ui.widgets.visible_refresh import VisibleRefresh

from .attributes import AttributesForm
from .nodes import NUMBER_ROLE, SORT_ROLE, FrontChart, NodesModel

_LOW, _WIDE = 640, 880
_FADED = 0.35
_SHOW = "Use the groups of the chosen node in Input, run it and draw it"
_RELEASE = "The same, and then choose where its release goes (Ctrl+E)"
_HIERARCHIES = "Hierarchies (*.csv *.txt);;All files (*)"


class FindPage(FolderPage):
    """Conditions, table and picture of a search. One click leads from a node to its map or its release."""

    def __init__(self, context: Context) -> None:
        kept = "Stop; finished nodes are kept and not searched again"
        super().__init__(context, kept, "What the search comes to", flush_ms=250)
        self.form, self.chart, self.model = AttributesForm(), FrontChart(context.theme.colours), NodesModel(self)
        self.sorted, self.table = QSortFilterProxyModel(self), QTableView()
        self.start = button("▶  Find it", self.search, look="primary", shortcut="Ctrl+Return")
        self.show_map = button("Show on the map", self._on_show_map, _SHOW, "Ctrl+Shift+M")
        self.release = button("Release it…", lambda: self._use(self._context.export), _RELEASE)
        self.outdated = told(look="warning", accessibleName="Settings that differ from those of the results")
        self.outdated.hide()
        self._faded = QGraphicsOpacityEffect(self.chart)
        self._faded.setOpacity(_FADED)
        self._faded.setEnabled(False)
        self.chart.setGraphicsEffect(self._faded)
        self.searched: Searched | None = None
        self._searched_with = self._session.choices
        """The choices in force when the search began."""
        self._finest: Finest | None = None
        self._reason: str | None = None
        self._build()
        self._connect()
        self._on_data_loaded()

    def _build(self) -> None:
        self._set_up_table()
        self.halves = split(self.table, self.chart, upright=True)
        page = self.opening("Open the pa&ge", "The page of the search, with table, picture and ladders")
        in_column(
            self.form,
            self.folder_field("Folder for the table", "Finished nodes are kept beside it", "Choose another folder"),
            self.live,
            self.outdated,
            (self.halves, 1),
            in_row(self.start, self.stop, 1, self.show_map, self.release, page),
            within=self,
            margins=(2 * GRID, GRID, 2 * GRID, GRID),
        )

    def resizeEvent(self, event: QResizeEvent) -> None:
        """On a low window the picture stands beside the table, so that both can be read."""
        super().resizeEvent(event)
        beside = event.size().height() < _LOW and event.size().width() >= _WIDE
        turned = Qt.Orientation.Horizontal if beside else Qt.Orientation.Vertical
        if self.halves.orientation() != turned:
            self.halves.setOrientation(turned)
            self._share_room()

    def _share_room(self) -> None:
        beside = self.halves.orientation() is Qt.Orientation.Horizontal
        self.halves.setSizes([640, 360] if beside else [260, 300])

    def _set_up_table(self) -> None:
        self.sorted.setSourceModel(self.model)
        self.sorted.setSortRole(SORT_ROLE)
        self.table.setModel(self.sorted)
        set_up_table(self.table, "Nodes")
        dress(self.table, selectionMode=QAbstractItemView.SelectionMode.SingleSelection, sortingEnabled=True)
        self.table.sortByColumn(1, Qt.SortOrder.AscendingOrder)

    def _connect(self) -> None:
        model = self._context.model
        self.form.changed.connect(self._on_changed)
        self.form.file_wanted.connect(self._on_file_wanted)
        self.target.textChanged.connect(self._refresh)
        self.chart.solution_clicked.connect(self._choose)
        attend(self.chart, self._context, "front")
        self.table.selectionModel().currentRowChanged.connect(self._on_current_changed)
        self.table.doubleClicked.connect(self._on_show_map)
        model.data_loaded.connect(self._on_data_loaded)
        self._context.theme.changed.connect(self._refresh)
        model.choices_changed.connect(VisibleRefresh(self, self._on_changed).request)

    # What is asked for

    @Slot()
    def _on_data_loaded(self) -> None:
        self.form.levels = {}
        path = self._session.project_path or self._session.records_path
        place = documents() / "vbas search" if path is None else beside(path, f"{path.stem.partition('.')[0]} search")
        self.target.setText(str(place))
        self._show(None)
        self._on_changed()

    @Slot()
    def _on_changed(self) -> None:
        reason = self._session.why_not_run()
        if reason is None:
            try:
                order = order_search(self._session, self.form.conditions())
                grouped = frozenset(self._session.choices.groupings)
                self.form.show_ladders(order.ladders(), grouped)
                order = order_search(self._session, self.form.conditions())
                loss = self._session.choices.allowed_loss_percent
                nodes = counted(order.lattice().size, "combination")
                text = f"{nodes} of levels; k = {self._session.choices.k}, at most {loss:g} % suppressed."
            except InputError as error:
                reason = str(error)
        self.form.setVisible(reason is None or bool(self.form.pins))
        set_look(self.live, "live" if reason is None else "warning")
        if self.searched is None or reason is not None:
            self.live.setText(reason or text)
        self._reason = reason
        self._refresh()

    @Slot(str)
    def _on_file_wanted(self, column: str) -> None:
        ask_to_open(self, f"Hierarchy of {column}", _HIERARCHIES, None, partial(self.read_hierarchy, column))

    def read_hierarchy(self, column: str, file: str) -> None:
        """Take the levels of an attribute from a file."""
        job = partial(_read, f"{column}={file}", column, self._session.table)
        self._context.runner.start(f"Reading the hierarchy of {column}", job, self._on_levels)

    def _on_levels(self, levels: Mapping[str, Sequence[Mapping[str, str]]]) -> None:
        self.form.levels = {**self.form.levels, **levels}
        self._on_changed()

    @Slot()
    def _refresh(self) -> None:
        reason = self._reason or (None if self.target.text().strip() else "Choose a folder for the table.")
        self.tell(reason, "Search every combination that is not finished yet (Ctrl+Return)")
        node, busy, why_not = self.chosen, self._context.runner.busy, self._why_outdated()
        for each, tip in ((self.show_map, f"{_SHOW} (Ctrl+Shift+M)"), (self.release, _RELEASE)):
            each.setEnabled(not busy and not why_not and node is not None and node.regions is not None)
            set_tool_tip(each, why_not or tip)
        self.outdated.setText(why_not)
        self.outdated.setVisible(bool(why_not))
        self._faded.setEnabled(bool(why_not))
        self.model.show_grey(QColor(self._context.theme.colours.muted) if why_not else None)

    def _why_outdated(self) -> str:
        """Say which settings differ from those of the nodes on show; empty if none does."""
        if self.searched is None:
            return ""
        words = "; ".join(differing_settings(self._session.choices, self._searched_with))
        return f"These were found with other settings: {words}. Search again, or set them back." if words else ""

    # Searching

    @Slot()
    def search(self) -> None:
        """Search the lattice."""
        if self._reason is not None or self._context.runner.busy:
            return
        order = order_search(self._session, self.form.conditions(), self._folder)
        self._searched_with = self._session.choices
        self._show(None)
        steps = (self._on_searched, self._on_item, self._on_aborted)
        self._context.runner.start("Finding a release", partial(_run, order), *steps)

    def _on_item(self, item: Finest | Found) -> None:
        if isinstance(item, Finest):
            self._finest = item
        else:
            self.arrive(item)

    @Slot()
    def _on_flush(self) -> None:
        if self._finest is None or not self._arrived:
            return
        choices = self._searched_with
        self._show(Searched(self._finest, tuple(self._arrived), choices.allowed_loss_percent, choices.limiting))
        self.live.setText(f"{len(self._arrived):,} of {counted(self._finest.lattice.size, 'node')} are finished.")

    def _on_searched(self, searched: Searched) -> None:
        self._flush.stop()
        self._show(searched)
        warnings = [str(finding) for finding in group_findings(searched, "groups")]
        self.live.setText("\n".join([*summary_lines(searched), *warnings]))
        self._page = self._folder / "search.html"
        self._arrived, self._finest = [], None
        if searched.recommended is not None:
            self._choose(searched.rows.index(searched.recommended) + 1)
        number = counted(len(searched.rows), "combination")
        self._context.say(f"Searched {number}; the table is in {self.target.text()}.")
        self._refresh()

    def _on_aborted(self) -> None:
        self.flush()
        self._arrived, self._finest = [], None

    def _show(self, searched: Searched | None) -> None:
        self.searched = searched
        with QSignalBlocker(self.table.selectionModel()):
            self.model.show_search(searched)
        self.chart.show_search(searched)
        if self.table.isHidden() is not (searched is None):
            # Until there is something to list, the picture's place says what to do.
            self.table.setVisible(searched is not None)
            self._share_room()
        if searched is not None:
            fit_columns(self.table)

    # A node

    @property
    def chosen(self) -> Found | None:
        """The node that is chosen."""
        index = self.table.currentIndex()
        return self.model.row_of(index.data(NUMBER_ROLE)) if index.isValid() and self.searched is not None else None

    @Slot(int)
    def _choose(self, number: int) -> None:
        index = self.sorted.mapFromSource(self.model.index(number - 1, 1))
        self.table.setCurrentIndex(index)
        self.table.scrollTo(index)

    @Slot(QModelIndex, QModelIndex)
    def _on_current_changed(self, current: QModelIndex, previous: QModelIndex) -> None:
        self.chart.select(current.data(NUMBER_ROLE) if current.isValid() else None)
        self._refresh()

    @Slot()
    def _on_show_map(self) -> None:
        self._use()

    def _use(self, then: Callable[[], None] | None = None) -> None:
        """Use the groups of the chosen node and run; the map comes to the front. Nodes of other settings stay."""
        node, searched = self.chosen, self.searched
        if node is None or searched is None or node.regions is None or self._context.runner.busy:
            return
        if self._why_outdated():
            return
        self._context.say(node_in_words(searched, node.node))
        self._session.change(choices_of(self._session.choices, searched, node.node))
        self._context.show_map()
        self._context.run(then)


def _run(order: SearchJob, progress: Progress) -> Searched:
    """Runs in the worker's thread."""
    hand_out = progress.hand_out  # type: ignore[attr-defined]
    return order.execute(progress, hand_out, hand_out)


def _read(
    choice: str, column: str, table: RecordTable | None, progress: Progress
) -> Mapping[str, Sequence[Mapping[str, str]]]:
    """Runs in the worker's thread."""
    progress.update("Reading the hierarchy")
    if table is not None:
        check_hierarchies([choice], table, {column})
    return read_ladders([choice])
