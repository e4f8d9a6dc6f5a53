"""Two solutions in linked maps, with a list of what differs."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import QModelIndex, QTimer, Signal, Slot
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QComboBox,
    QHeaderView,
    QPushButton,
    QTableView,
    QWidget,
)

from ..core.context import UiContext
from ..core.theme import GRID
from ..presentation.region_geometry import SolutionGeometry
from ..presentation.region_measures import RegionMeasure, find_measure, on_one_scale
from ..presentation.results_table import short_titles
from ..state.scenario import ResultRow, reason_not_comparable
from ..widgets.fields import captioned
from ..widgets.layouts import hbox, set_items, splitter, vbox, with_properties
from ..widgets.plain_text import Label, set_tool_tip
from ..widgets.tables import TableModel, fit_columns, set_up_table
from ..widgets.two_lists import ResponsivePair
from .canvas import MapCanvas
from .decorations import LegendStrip
from .differences import DIFFERENCE_COLUMNS, Difference, MapComparison, differences, make_changed_rows
from .hover_card import card_text
from .layers import Layer
from .linked_maps import LinkedViews
from .map_cache import map_cache_of


class ComparisonView(QWidget):
    """The selected solution left, the compared one right: same view, same hovering. `closed` when the user is done."""

    closed = Signal()

    def __init__(self, context: UiContext) -> None:
        super().__init__()
        self._context = context
        self._map_cache = map_cache_of(context)
        self._pair: MapComparison | None = None
        self._coloured: (
            tuple[tuple[MapComparison, str | None], tuple[RegionMeasure | None, RegionMeasure | None]]
            | None
        ) = None
        self.left = with_properties(MapCanvas(context.theme.colours), accessibleName="Left map")
        self.right = with_properties(MapCanvas(context.theme.colours), accessibleName="Right map")
        self.left_choice = QComboBox()
        self.right_choice = QComboBox()
        self.left_choice.setAccessibleName("Left solution")
        self.right_choice.setAccessibleName("Right solution")
        self.warning = Label()
        self.differences: TableModel[Difference] = TableModel(DIFFERENCE_COLUMNS, self)
        self.measures = QTableView()
        self.measures.setModel(self.differences)
        _set_up_differences(self.measures)
        self.changed_model: TableModel[int] = TableModel((), self)
        self.regions = QTableView()
        self.regions.setModel(self.changed_model)
        _set_up(self.regions, "Changed initial regions")
        tables = {"What differs": self.measures, "Changed initial regions": self.regions}
        self.lists = ResponsivePair(tables, width=760, shares=(680, 320))
        self.legends = {canvas: LegendStrip(context.theme.colours) for canvas in (self.left, self.right)}
        self._build()
        self._connect()

    def _build(self) -> None:
        close = with_properties(QPushButton("D&one"), toolTip="Back to one map")
        close.clicked.connect(self.closed)
        maps = QWidget()
        row = hbox(within=maps, margins=0, spacing=1)
        for side, choice, canvas in (
            ("Left", self.left_choice, self.left),
            ("Right", self.right_choice, self.right),
        ):
            column = vbox(spacing=0)
            head = hbox(margins=(GRID, GRID // 2, GRID, GRID // 2))
            choice.setMinimumContentsLength(12)
            head.addWidget(captioned(side, choice), 1)
            if canvas is self.right:
                head.addWidget(close)
            column.addLayout(head)
            column.addWidget(canvas, 1)
            column.addWidget(self.legends[canvas])
            row.addLayout(column, 1)
        whole = splitter(maps, self.lists, upright=True, sizes=(640, 200), growing=0)
        whole.setChildrenCollapsible(True)
        with_properties(self.warning, wordWrap=True, margin=GRID, look="warning").hide()
        vbox(self.warning, (whole, 1), within=self, margins=0, spacing=0)

    def _connect(self) -> None:
        LinkedViews(
            {canvas: partial(self._show_hover_card, canvas) for canvas in (self.left, self.right)}, self
        )
        for canvas, legend in self.legends.items():
            canvas.legend_changed.connect(legend.show_legend)
            canvas.region_clicked.connect(canvas.choose)
        state = self._context.state
        self.left_choice.activated.connect(lambda place: state.select(self.left_choice.itemData(place)))
        self.right_choice.activated.connect(
            lambda place: state.compare_with(self.right_choice.itemData(place))
        )
        self.regions.selectionModel().currentRowChanged.connect(self._on_region_selected)
        self._map_cache.changed.connect(self.refresh)
        self._context.model.selection_changed.connect(self.refresh)
        self._context.model.solution_added.connect(self.refresh)
        self._context.model.colouring_changed.connect(self.refresh)
        self._context.theme.changed.connect(self._on_theme_changed)
        self._on_theme_changed()

    # What is shown

    @Slot()
    def refresh(self) -> None:
        """Show the two solutions that the state names, as far as they are prepared. Does nothing while hidden."""
        if not self.isVisible():
            return
        state = self._context.state
        self._fill_choice(self.left_choice, state.selected.number if state.selected else None)
        self._fill_choice(self.right_choice, state.compared.number if state.compared else None)
        left = state.selected
        right = state.compared
        reason = reason_not_comparable(left, right) if left is not None and right is not None else ""
        self.warning.setText(
            f"{reason} Figures of the two say nothing about which is better." if reason else ""
        )
        self.warning.setVisible(bool(reason))
        pair = self._map_cache.pair
        if pair is not None and pair is not self._pair:
            self._pair = pair
            self._list_differences(pair)
        elif pair is None and left is not None and right is not None:
            self._show_unprepared(left, right)
        if self._pair is not None:
            self._show(self.left, self._pair, self._pair.left.geometry)
            # The maps are painted one after the other, each in its own turn of the event loop.
            QTimer.singleShot(0, self, self._show_right)

    def _show_unprepared(self, left: ResultRow, right: ResultRow) -> None:
        """Show figures of two solutions that are not prepared, rather than maps and counts of those shown before."""
        self._pair = None
        base = self._map_cache.base
        is_ready = base is not None and base.regions is self._context.state.regions
        self.differences.set_rows(
            differences(base, left.solution, right.solution, None) if base and is_ready else ()
        )
        self.changed_model.set_rows(())
        for canvas, entry in ((self.left, left), (self.right, right)):
            drawn = canvas.geometry_shown
            if drawn is not None and drawn.solution.owner is not entry.solution.owner:
                canvas.show_base(drawn.base)

    @Slot()
    def _show_right(self) -> None:
        if self._pair is not None and self.isVisible():
            self._show(self.right, self._pair, self._pair.right_map)

    def _show(self, canvas: MapCanvas, pair: MapComparison, geometry: SolutionGeometry) -> None:
        figure = self._figures(pair)[0 if canvas is self.left else 1]
        if canvas.geometry_shown is not geometry or canvas.figure is not figure:
            canvas.show_map(geometry, figure, pair.changed, "in another aggregated region")
        choice = self.left_choice if canvas is self.left else self.right_choice
        canvas.setAccessibleDescription(
            f"{choice.currentText()}. {canvas.legend.text}. The tables below list what differs."
        )

    def _figures(self, pair: MapComparison) -> tuple[RegionMeasure | None, RegionMeasure | None]:
        """Return the figure that both maps are coloured by, on one scale; made once for each pair and figure."""
        key = (pair, self._context.state.coloured_by)
        if self._coloured is None or self._coloured[0] != key:
            left, right = (find_measure(scene.figures, key[1]) for scene in (pair.left, pair.right))
            self._coloured = (key, on_one_scale(left, right))
        return self._coloured[1]

    def showEvent(self, event: QShowEvent) -> None:
        """Catch up with what changed while hidden."""
        super().showEvent(event)
        self.refresh()

    def show_layers(self, layers: frozenset[Layer]) -> None:
        """Switch layers on and off on both maps."""
        self.left.show_layers(layers)
        self.right.show_layers(layers)

    def _fill_choice(self, choice: QComboBox, number: int | None) -> None:
        entries = self._context.state.entries
        set_items(choice, zip(short_titles(entries), (entry.number for entry in entries), strict=True))
        choice.setCurrentIndex(choice.findData(number) if number is not None else -1)
        set_tool_tip(choice, next((entry.title for entry in entries if entry.number == number), ""))

    def _list_differences(self, pair: MapComparison) -> None:
        self.differences.set_rows(pair.rows)
        self.changed_model.set_rows(*make_changed_rows(pair))
        fit_columns(self.regions)

    @Slot()
    def _on_theme_changed(self) -> None:
        for canvas in (self.left, self.right):
            canvas.use_colours(self._context.theme.colours)

    def _show_hover_card(self, canvas: MapCanvas, region: int | None, x: float, y: float) -> None:
        geometry = canvas.geometry_shown
        pair = self._pair
        if geometry is None or pair is None:
            return
        scene = pair.left if canvas is self.left else pair.right
        there = geometry.aggregated_at(x, y)
        canvas.hover(there)
        where = () if there is None else scene.released_in(there)
        canvas.show_hover_card(
            card_text(geometry.base, geometry, scene.figures, there, region, released_in=where), x, y
        )

    # Choosing

    @Slot(QModelIndex)
    def _on_region_selected(self, index: QModelIndex) -> None:
        if not index.isValid() or self.left.base is None:
            return
        region = self.changed_model.row_at(index.row())
        for canvas in (self.left, self.right):
            if canvas.geometry_shown is not None:
                canvas.choose(int(canvas.geometry_shown.solution.membership[region]))
        chosen = self.left.chosen
        if chosen is not None:
            self.left.zoom_to(chosen)


def _set_up_differences(table: QTableView) -> None:
    _set_up(table, "Differences")
    header = table.horizontalHeader()
    header.setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
    # Where it is narrow the words end in dots, never the figures.
    header.setStretchLastSection(False)
    header.setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)


def _set_up(table: QTableView, name: str) -> None:
    set_up_table(table, name)
    table.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
    table.horizontalHeader().setStretchLastSection(True)
