"""Two solutions in linked maps, with a list of what differs."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import QModelIndex, Qt, QTimer, Signal, Slot
from PySide6.QtGui import QFont, QShowEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QComboBox,
    QHeaderView,
    QPushButton,
    QTableView,
    QTableWidget,
    QTableWidgetItem,
    QWidget,
)

from vbas_desktop.model.names import escape_controls
from vbas_desktop.session.results import why_not_comparable
from vbas_desktop.ui.context import Context
from vbas_desktop.ui.panel.results_columns import short_titles
from vbas_desktop.ui.theme import GRID
from vbas_desktop.ui.widgets.building import dress, in_column, in_row, offer, split
from vbas_desktop.ui.widgets.plain_text import Label, set_tool_tip
from vbas_desktop.ui.widgets.tables import fit_columns, set_up_table
from vbas_desktop.ui.widgets.two_lists import TwoLists

from .canvas import MapCanvas
from .differences import REGION_ROLE, ChangedModel, Pair
from .figures import Figure, figure_named, on_one_scale
from .furniture import LegendStrip
from .geometry import MapGeometry
from .hover_card import card_text
from .layers import Layer
from .preparer import preparer_of
from .region_map import Link


class SideBySide(QWidget):
    """The selected solution left, the compared one right: same view, same hovering. `closed` when the user is done."""

    closed = Signal()

    def __init__(self, context: Context) -> None:
        super().__init__()
        self._context = context
        self._preparer = preparer_of(context)
        self._pair: Pair | None = None
        self._coloured: tuple[tuple[Pair, str | None], tuple[Figure | None, Figure | None]] | None = None
        self.left, self.right = MapCanvas(context.theme.colours), MapCanvas(context.theme.colours)
        self.left_choice, self.right_choice = QComboBox(), QComboBox()
        self.left_choice.setAccessibleName("Left solution")
        self.right_choice.setAccessibleName("Right solution")
        self.warning = Label()
        self.measures = _table("Differences", ["", "Left", "Right", "Change"])
        self.changed_model = ChangedModel()
        self.regions = QTableView()
        self.regions.setModel(self.changed_model)
        _set_up(self.regions, "Changed initial regions")
        tables = {"What differs": self.measures, "Changed initial regions": self.regions}
        self.lists = TwoLists(tables, room=760, shares=(680, 320))
        self.legends = {canvas: LegendStrip(context.theme.colours) for canvas in (self.left, self.right)}
        self._build()
        self._connect()

    def _build(self) -> None:
        close = dress(QPushButton("D&one"), toolTip="Back to one map")
        close.clicked.connect(self.closed)
        maps = QWidget()
        row = in_row(within=maps, margins=0, spacing=1)
        for choice, canvas in ((self.left_choice, self.left), (self.right_choice, self.right)):
            column = in_column(spacing=0)
            head = in_row(margins=(GRID, GRID // 2, GRID, GRID // 2))
            choice.setMinimumContentsLength(12)
            head.addWidget(choice, 1)
            if canvas is self.right:
                head.addWidget(close)
            column.addLayout(head)
            column.addWidget(canvas, 1)
            column.addWidget(self.legends[canvas])
            row.addLayout(column, 1)
        whole = split(maps, self.lists, upright=True, sizes=(640, 200), growing=0)
        whole.setChildrenCollapsible(True)
        dress(self.warning, wordWrap=True, margin=GRID, look="warning").hide()
        in_column(self.warning, (whole, 1), within=self, margins=0, spacing=0)

    def _connect(self) -> None:
        Link({canvas: partial(self._tell, canvas) for canvas in (self.left, self.right)}, self)
        for canvas, legend in self.legends.items():
            canvas.legend_changed.connect(legend.show_legend)
            canvas.region_clicked.connect(canvas.choose)
        session = self._context.session
        self.left_choice.activated.connect(lambda place: session.select(self.left_choice.itemData(place)))
        self.right_choice.activated.connect(lambda place: session.compare_with(self.right_choice.itemData(place)))
        self.regions.selectionModel().currentRowChanged.connect(self._on_region_selected)
        self._preparer.changed.connect(self.refresh)
        self._context.model.solution_added.connect(self.refresh)
        self._context.model.colouring_changed.connect(self.refresh)
        self._context.theme.changed.connect(self._on_theme_changed)
        self._on_theme_changed()

    # What is shown

    @Slot()
    def refresh(self) -> None:
        """Show the two solutions that the session names, as far as they are prepared. Does nothing while hidden."""
        if not self.isVisible():
            return
        session = self._context.session
        self._fill_choice(self.left_choice, session.selected.number if session.selected else None)
        self._fill_choice(self.right_choice, session.compared.number if session.compared else None)
        left, right = session.selected, session.compared
        reason = why_not_comparable(left, right) if left is not None and right is not None else ""
        self.warning.setText(f"{reason} Figures of the two say nothing about which is better." if reason else "")
        self.warning.setVisible(bool(reason))
        pair = self._preparer.pair
        if pair is not None and pair is not self._pair:
            self._pair = pair
            self._list_differences(pair)
        if self._pair is not None:
            self._show(self.left, self._pair, self._pair.left.geometry)
            # The maps are painted one after the other, each in its own turn of the event loop.
            QTimer.singleShot(0, self, self._show_right)

    @Slot()
    def _show_right(self) -> None:
        if self._pair is not None and self.isVisible():
            self._show(self.right, self._pair, self._pair.right_map)

    def _show(self, canvas: MapCanvas, pair: Pair, geometry: MapGeometry) -> None:
        figure = self._figures(pair)[0 if canvas is self.left else 1]
        if canvas.geometry_shown is not geometry or canvas.figure is not figure:
            canvas.show_map(geometry, figure, pair.changed, "in another aggregated region")

    def _figures(self, pair: Pair) -> tuple[Figure | None, Figure | None]:
        """The figure that both maps are coloured by, on one scale; made once for each pair and figure."""
        wanted = (pair, self._context.session.coloured_by)
        if self._coloured is None or self._coloured[0] != wanted:
            left, right = (figure_named(shown.figures, wanted[1]) for shown in (pair.left, pair.right))
            self._coloured = (wanted, on_one_scale(left, right))
        return self._coloured[1]

    def showEvent(self, event: QShowEvent) -> None:
        """What happened while hidden is caught up."""
        super().showEvent(event)
        self.refresh()

    def show_layers(self, layers: frozenset[Layer]) -> None:
        """Switch layers on and off on both maps."""
        self.left.show_layers(layers)
        self.right.show_layers(layers)

    def _fill_choice(self, choice: QComboBox, number: int | None) -> None:
        entries = self._context.session.entries
        offer(choice, zip(short_titles(entries), (entry.number for entry in entries), strict=True))
        choice.setCurrentIndex(choice.findData(number) if number is not None else -1)
        set_tool_tip(choice, next((entry.title for entry in entries if entry.number == number), ""))

    def _list_differences(self, pair: Pair) -> None:
        self.measures.setRowCount(len(pair.rows))
        for index, row in enumerate(pair.rows):
            for column, text in enumerate((row.what, row.left, row.right, row.change)):
                better = (column == 1 and row.better < 0) or (column == 2 and row.better > 0)
                self.measures.setItem(index, column, _cell(text, column > 0, better))
        self.changed_model.show_pair(pair)
        fit_columns(self.regions)

    @Slot()
    def _on_theme_changed(self) -> None:
        for canvas in (self.left, self.right):
            canvas.use_colours(self._context.theme.colours)

    def _tell(self, canvas: MapCanvas, region: int | None, x: float, y: float) -> None:
        geometry, pair = canvas.geometry_shown, self._pair
        if geometry is None or pair is None:
            return
        shown = pair.left if canvas is self.left else pair.right
        there = geometry.aggregated_at(x, y)
        canvas.hover(there)
        where = () if there is None else shown.released_in(there)
        canvas.tell(card_text(geometry.base, geometry, shown.figures, there, region, released_in=where), x, y)

    # Choosing

    @Slot(QModelIndex)
    def _on_region_selected(self, index: QModelIndex) -> None:
        region = index.data(REGION_ROLE)
        if region is None or self.left.base is None:
            return
        for canvas in (self.left, self.right):
            if canvas.geometry_shown is not None:
                canvas.choose(int(canvas.geometry_shown.solution.membership[region]))
        chosen = self.left.chosen
        if chosen is not None:
            self.left.zoom_to(chosen)


def _table(name: str, titles: list[str]) -> QTableWidget:
    table = QTableWidget(0, len(titles))
    table.setHorizontalHeaderLabels(titles)
    _set_up(table, name)
    header = table.horizontalHeader()
    header.setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
    # Where it is narrow the words end in dots, never the figures.
    header.setStretchLastSection(False)
    header.setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
    return table


def _set_up(table: QTableView, name: str) -> None:
    set_up_table(table, name)
    table.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
    table.horizontalHeader().setStretchLastSection(True)


def _cell(text: str, number: bool, strong: bool = False) -> QTableWidgetItem:
    item = QTableWidgetItem(escape_controls(text))
    set_tool_tip(item, text)
    if number:
        item.setTextAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
    if strong:
        font = QFont(item.font())
        font.setBold(True)
        item.setFont(font)
    return item
