"""One version: gauges above, cards below, its map, and its classes in a table."""

from __future__ import annotations

from PySide6.QtCore import QSortFilterProxyModel, Qt, Slot
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QFrame, QGridLayout, QLabel, QScrollArea, QSplitter, QTableView, QVBoxLayout, QWidget

from vbas_desktop.session.representing import Description
from vbas_desktop.ui.map.region_map import RegionMap
from vbas_desktop.ui.theme import GRID, Theme
from vbas_desktop.ui.widgets.fields import muted, title
from vbas_desktop.ui.widgets.tables import fit_columns, set_up_table

from .classes_model import SORT_ROLE, ClassesModel
from .gauge import Gauge

_MAP_BESIDE = 84 * GRID
"""From this width on, the map has the height of the page."""

_TWO_COLUMNS = 72 * GRID
"""From this width on, two gauges stand beside each other without being cut."""


class VersionView(QWidget):
    """Shows a `Description`; None: nothing yet."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self.heading = title("")
        self.heading.setWordWrap(True)
        self.model, self.sorted = ClassesModel(self), QSortFilterProxyModel(self)
        self.sorted.setSourceModel(self.model)
        self.sorted.setSortRole(SORT_ROLE)
        self.table = QTableView()
        self.table.setModel(self.sorted)
        self.table.setSortingEnabled(True)
        set_up_table(self.table, "Classes")
        self.gauges: list[Gauge] = []
        self._columns = 0
        self._description: Description | None = None
        self._scroll = scroll = QScrollArea()
        scroll.setWidgetResizable(True)
        scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.map = RegionMap(theme)
        self.map.hide()
        told = QSplitter(Qt.Orientation.Vertical)
        for widget in (scroll, self.table):
            told.addWidget(widget)
            widget.setMinimumHeight(12 * GRID)
        told.setSizes([420, 260])
        self.body = QSplitter(Qt.Orientation.Vertical)
        self.body.addWidget(told)
        self.body.addWidget(self.map)
        for splitter in (told, self.body):
            splitter.setChildrenCollapsible(False)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(2 * GRID, 0, 2 * GRID, GRID)
        layout.addWidget(self.heading)
        layout.addWidget(self.body, 1)
        self.map.region_chosen.connect(self._on_region_chosen)
        self.table.selectionModel().selectionChanged.connect(self._on_row_chosen)

    @property
    def described(self) -> Description | None:
        """What is shown."""
        return self._description

    def resizeEvent(self, event: QResizeEvent) -> None:
        """The map stands beside the words, and cards side by side, where there is room."""
        super().resizeEvent(event)
        wide = self.width() >= _MAP_BESIDE
        orientation = Qt.Orientation.Horizontal if wide else Qt.Orientation.Vertical
        if self.body.orientation() is not orientation:
            self.body.setOrientation(orientation)
            self.body.setSizes([1, 1])
        self._lay_out()

    def show_description(self, description: Description | None) -> None:
        """Show another version."""
        if description is self._description:
            return
        self._description, self._columns = description, 0
        self.heading.setText(description.title if description is not None else "")
        headings, rows = (description.headings, description.rows) if description is not None else ((), ())
        self.model.show_rows(headings, rows)
        self.table.setVisible(bool(rows))
        self.table.sortByColumn(0, Qt.SortOrder.AscendingOrder)
        fit_columns(self.table)
        self._lay_out()

    def _lay_out(self) -> None:
        """Gauges and cards in as many columns as there is room for."""
        description, columns = self._description, 2 if self._scroll.width() >= _TWO_COLUMNS else 1
        if description is None or columns == self._columns:
            return
        self._columns = columns
        inner = QWidget()
        grid = QGridLayout(inner)
        grid.setContentsMargins(0, 0, GRID, GRID)
        grid.setHorizontalSpacing(3 * GRID)
        grid.setVerticalSpacing(GRID)
        self.gauges = [Gauge(shown, self._theme) for shown in description.measures]
        cards = [_card(name, lines) for name, lines in description.cards]
        for widgets in ([*self.gauges], cards):
            first = grid.rowCount()
            for place, widget in enumerate(widgets):
                grid.addWidget(widget, first + place // columns, place % columns)
        grid.setRowStretch(grid.rowCount(), 1)
        self._scroll.setWidget(inner)

    @Slot(object)
    def _on_region_chosen(self, region: int | None) -> None:
        """The row of the aggregated region that was clicked on the map."""
        if region is None or region >= self.model.rowCount():
            self.table.clearSelection()
            return
        self.table.selectRow(self.sorted.mapFromSource(self.model.index(region, 0)).row())

    @Slot()
    def _on_row_chosen(self) -> None:
        rows = self.table.selectionModel().selectedRows()
        self.map.canvas.choose(self.sorted.mapToSource(rows[0]).row() if rows else None)


def _card(name: str, lines: tuple[str, ...]) -> QWidget:
    card = QFrame()
    column = QVBoxLayout(card)
    column.setContentsMargins(0, 0, 0, 0)
    column.setSpacing(GRID // 4)
    column.addWidget(title(name))
    for line in lines:
        label: QLabel = muted(line)
        label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        column.addWidget(label)
    column.addStretch(1)
    return card
