"""One version: gauges of its measures above, cards below, its map, and its classes in a table."""

from __future__ import annotations

import math
from typing import Any

from PySide6.QtCore import QRectF, QSortFilterProxyModel, Qt, Slot
from PySide6.QtGui import QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QFrame, QScrollArea, QTableView, QWidget

from vbas_desktop.session.representing import Description, Shown
from vbas_desktop.ui.map.region_map import RegionMap
from vbas_desktop.ui.theme import GRID, Theme, tabular
from vbas_desktop.ui.widgets.building import dress, in_column, in_grid, split
from vbas_desktop.ui.widgets.fields import muted, title
from vbas_desktop.ui.widgets.plain_text import set_tool_tip
from vbas_desktop.ui.widgets.tables import Heading, TableModel, fit_columns, set_up_table

SORT_ROLE = int(Qt.ItemDataRole.UserRole)

PLACE_MEASURES = {
    "jaccard": ("Kept together (Jaccard)", "Of the pairs of records alike before or after, the share alike both times"),
    "fowlkes_mallows": (
        "Fowlkes–Mallows",
        "Mean share of the pairs of records that were kept together; 1: nothing merged",
    ),
    "place_distance": ("Distance moved", "How far records are from their initial region to the centre of the new one"),
    "davies_bouldin": (
        "Davies–Bouldin",
        "How wide the region and the one that is nearest for its width are, against the distance of their centres; "
        "lower is better",
    ),
}
"""What is told of every place, by which the map can be coloured, too: how it is called, and what it says."""
_TIPS = dict(PLACE_MEASURES.values())

_MAP_BESIDE = 84 * GRID
"""From this width on, the map has the height of the page."""

_TWO_COLUMNS = 72 * GRID
"""From this width on, two gauges stand beside each other without being cut."""


class ClassesModel(TableModel):
    """Rows of values; numbers stand at the right, grouped; unknown ones are a dash."""

    def show_rows(self, headings: tuple[str, ...], rows: tuple[tuple[Any, ...], ...]) -> None:
        """Show another table."""
        with self.anew():
            # What is in brackets stands below, so that the column fits beside the others.
            self.heads = tuple(Heading(text.replace(" (", "\n("), _TIPS.get(text, "")) for text in headings)
            self.rows = rows

    def text(self, row: int, column: int) -> str:
        """What a cell shows."""
        value = self.rows[row][column]
        return _text(value) if _is_number(value) else value

    def side(self, row: int, column: int) -> str:
        """Numbers stand at the right, whatever else is in their column."""
        return "right" if _is_number(self.rows[row][column]) else "left"

    def more(self, row: int, column: int, role: int) -> Any:
        """What is sorted by; unknown values come first."""
        value = self.rows[row][column]
        return (-math.inf if value is None or value != value else value) if role == SORT_ROLE else None


def _is_number(value: Any) -> bool:
    return value is None or isinstance(value, int | float)


def _text(value: float | int | None) -> str:
    if value is None or not math.isfinite(value):
        return "–"
    if float(value).is_integer() and abs(value) >= 2:
        return f"{value:,.0f}"
    if isinstance(value, int):
        return f"{value:,}"
    digits = 4 if abs(value) <= 1 else 2 if abs(value) < 100 else 1
    return f"{value:,.{digits}f}"


class VersionView(QWidget):
    """Shows a `Description`; None: nothing yet."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self.heading = dress(title(""), wordWrap=True)
        self.model, self.sorted = ClassesModel(self), QSortFilterProxyModel(self)
        self.sorted.setSourceModel(self.model)
        self.sorted.setSortRole(SORT_ROLE)
        self.table = QTableView()
        self.table.setModel(self.sorted)
        self.table.setSortingEnabled(True)
        set_up_table(self.table, "Classes")
        self.gauges: list[Gauge] = []
        self._columns = 0
        self.described: Description | None = None
        """What is shown."""
        self._scroll = scroll = dress(QScrollArea(), widgetResizable=True)
        scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.map = RegionMap(theme)
        self.map.hide()
        for widget in (scroll, self.table):
            widget.setMinimumHeight(12 * GRID)
        told = split(scroll, self.table, upright=True, sizes=(420, 260))
        self.body = split(told, self.map, upright=True)
        in_column(self.heading, (self.body, 1), within=self, margins=(2 * GRID, 0, 2 * GRID, GRID))
        self.map.region_chosen.connect(self._on_region_chosen)
        self.table.selectionModel().selectionChanged.connect(self._on_row_chosen)

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
        if description is self.described:
            return
        self.described, self._columns = description, 0
        self.heading.setText(description.title if description is not None else "")
        headings, rows = (description.headings, description.rows) if description is not None else ((), ())
        self.model.show_rows(headings, rows)
        self.table.setVisible(bool(rows))
        self.table.sortByColumn(0, Qt.SortOrder.AscendingOrder)
        fit_columns(self.table)
        self._lay_out()

    def _lay_out(self) -> None:
        """Gauges and cards in as many columns as there is room for."""
        description, columns = self.described, 2 if self._scroll.width() >= _TWO_COLUMNS else 1
        if description is None or columns == self._columns:
            return
        self._columns = columns
        inner = QWidget()
        grid = in_grid(within=inner, margins=(0, 0, GRID, GRID), across=3 * GRID, down=GRID)
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
    card, labels = QFrame(), [muted(line) for line in lines]
    for label in labels:
        label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
    in_column(title(name), *labels, 1, within=card, margins=0, spacing=GRID // 4)
    return card


class Gauge(QWidget):
    """Draws a measure in the colours of the theme; the full explanation is its tool tip."""

    def __init__(self, shown: Shown, theme: Theme) -> None:
        super().__init__()
        self.shown, self._theme = shown, theme
        set_tool_tip(self, f"{shown.title}: {shown.help}")
        self.setAccessibleName(f"{shown.title}: {shown.text}")
        text = f"{shown.title}   {shown.text}"
        self.setMinimumWidth(self.fontMetrics().horizontalAdvance(text) + 2 * GRID)
        layout = in_column(within=self, margins=(0, self.fontMetrics().height() + 2 * GRID, 0, GRID // 2))
        self.reading = muted(shown.reading)
        if shown.reading:
            layout.addWidget(self.reading)
        layout.addStretch(1)
        theme.changed.connect(self.update)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw name, value and bar."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        line = QRectF(0, 0, self.width(), self.fontMetrics().height())
        painter.setPen(self._theme.colour("muted"))
        painter.drawText(line, Qt.AlignmentFlag.AlignLeft, self.shown.title)
        painter.setPen(self._theme.colour("text"))
        painter.setFont(tabular(self.font()))
        painter.drawText(line, Qt.AlignmentFlag.AlignRight, self.shown.text)
        if self.shown.share is not None:
            place = QRectF(0, line.height() + GRID // 2, self.width(), GRID * 0.75)
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(self._theme.colour("line"))
            painter.drawRoundedRect(place, 3, 3)
            place.setWidth(place.width() * min(1.0, max(0.0, self.shown.share)))
            painter.setBrush(self._theme.colour("accent"))
            painter.drawRoundedRect(place, 3, 3)
        painter.end()
