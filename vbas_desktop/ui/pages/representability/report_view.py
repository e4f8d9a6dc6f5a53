"""One version: gauges of its measures above, cards below, its map, and its classes in a table."""

from __future__ import annotations

import math
from collections.abc import Sequence
from operator import itemgetter
from typing import Any

from PySide6.QtCore import QRectF, Qt, Slot
from PySide6.QtGui import QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QFrame, QScrollArea, QTableView, QWidget

from ...core.theme import GRID, Theme, with_tabular_figures
from ...map.linked_maps import RegionMap
from ...presentation.region_measures import RegionMeasure
from ...presentation.scene import MapScene
from ...presentation.tables import TableColumn
from ...state.representing import Description, MeasureText
from ...widgets.fields import heading_label, hint_label
from ...widgets.layouts import grid_layout, splitter, vbox, with_properties
from ...widgets.plain_text import set_tool_tip
from ...widgets.tables import TableModel, fit_columns, set_up_table

PLACE_MEASURES = {
    "jaccard": (
        "Kept together (Jaccard)",
        "Of the pairs of records alike before or after, the share alike both times",
    ),
    "fowlkes_mallows": (
        "Fowlkes–Mallows",
        "Mean share of the pairs of records that were kept together; 1: nothing merged",
    ),
    "place_distance": (
        "Distance moved",
        "How far records are from their initial region to the centre of the new one",
    ),
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

_TWO_COLUMNS = 90
"""From this width in characters on, two gauges stand beside each other without being cut."""


def make_value_columns(headings: Sequence[str]) -> list[TableColumn[tuple[Any, ...]]]:
    """Make columns for rows of values: numbers are grouped and at the right, unknown ones a dash."""
    return [_make_value_column(number, heading) for number, heading in enumerate(headings)]


def _make_value_column(number: int, heading: str) -> TableColumn[tuple[Any, ...]]:
    def get_text(row: tuple[Any, ...]) -> str:
        return _text(row[number]) if _is_number(row[number]) else row[number]

    def get_side(row: tuple[Any, ...]) -> str:
        return "right" if _is_number(row[number]) else "left"

    # What is in brackets stands below, so that the column fits beside the others.
    title = heading.replace(" (", "\n(")
    tip = _TIPS.get(heading, "")
    return TableColumn(heading, title, itemgetter(number), tip, text_of=get_text, side_of=get_side)


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


class RepresentabilityView(QWidget):
    """Shows a `Description`; None: nothing yet."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self.heading = with_properties(heading_label(""), wordWrap=True)
        self.model: TableModel[tuple[Any, ...]] = TableModel((), self)
        self.table = QTableView()
        self.table.setModel(self.model)
        self.table.setSortingEnabled(True)
        set_up_table(self.table, "Classes")
        self.gauges: list[Gauge] = []
        self._columns = 0
        self.described: Description | None = None
        """What is shown."""
        self._scroll = scroll = with_properties(QScrollArea(), widgetResizable=True)
        scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.map = RegionMap(theme)
        self.map.hide()
        for widget in (scroll, self.table):
            widget.setMinimumHeight(12 * GRID)
        left = splitter(scroll, self.table, upright=True, sizes=(420, 260))
        self.body = splitter(left, self.map, upright=True)
        vbox(self.heading, (self.body, 1), within=self, margins=(2 * GRID, 0, 2 * GRID, GRID))
        self.map.region_chosen.connect(self._on_region_chosen)
        self.table.selectionModel().selectionChanged.connect(self._on_row_chosen)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Put the map beside the words, and cards side by side, where there is room."""
        super().resizeEvent(event)
        wide = self.width() >= _MAP_BESIDE
        orientation = Qt.Orientation.Horizontal if wide else Qt.Orientation.Vertical
        if self.body.orientation() is not orientation:
            self.body.setOrientation(orientation)
            self.body.setSizes([self.width(), self.width()])
        self._lay_out()

    def show_description(self, description: Description | None) -> None:
        """Show another version."""
        if description is self.described:
            return
        self.described = description
        self._columns = 0
        self.heading.setText(description.title if description is not None else "")
        headings, rows = (
            (description.headings, description.rows) if description is not None else ((), ())
        )
        self.model.set_rows(rows, make_value_columns(headings))
        self.table.setVisible(bool(rows))
        self.table.sortByColumn(0, Qt.SortOrder.AscendingOrder)
        fit_columns(self.table)
        self._lay_out()

    def show_map(self, scene: MapScene | None, measure: RegionMeasure | None) -> None:
        """Show the map of the version, which first takes half of the room; None: no map."""
        was_hidden = self.map.isHidden()
        self.map.show_solution(scene, measure)
        if was_hidden and scene is not None:
            self.body.setSizes([self.width(), self.width()])

    def _lay_out(self) -> None:
        """Gauges and cards in as many columns as there is room for."""
        description = self.described
        columns = (
            2 if self._scroll.width() >= _TWO_COLUMNS * self.fontMetrics().averageCharWidth() else 1
        )
        if description is None or columns == self._columns:
            return
        self._columns = columns
        inner = QWidget()
        grid = grid_layout(within=inner, margins=(0, 0, GRID, GRID), across=3 * GRID, down=GRID)
        self.gauges = [Gauge(measure, self._theme) for measure in description.measures]
        cards = [_card(name, lines) for name, lines in description.cards]
        for widgets in ([*self.gauges], cards):
            first = grid.rowCount()
            for index, widget in enumerate(widgets):
                grid.addWidget(widget, first + index // columns, index % columns)
        grid.setRowStretch(grid.rowCount(), 1)
        self._scroll.setWidget(inner)
        widest = max((gauge.minimumWidth() for gauge in self.gauges), default=0)
        self._scroll.setMinimumWidth(widest + GRID + self._scroll.verticalScrollBar().sizeHint().width())

    @Slot(object)
    def _on_region_chosen(self, region: int | None) -> None:
        """Select the row of the aggregated region that was clicked on the map."""
        if region is None or region >= self.model.rowCount():
            self.table.clearSelection()
            return
        self.table.selectRow(self.model.position_of(region))

    @Slot()
    def _on_row_chosen(self) -> None:
        rows = self.table.selectionModel().selectedRows()
        self.map.canvas.choose(self.model.number_at(rows[0].row()) if rows else None)


def _card(name: str, lines: tuple[str, ...]) -> QWidget:
    card = QFrame()
    labels = [hint_label(line) for line in lines]
    for label in labels:
        label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
    vbox(heading_label(name), *labels, 1, within=card, margins=0, spacing=GRID // 4)
    return card


class Gauge(QWidget):
    """Draws a measure in the colours of the theme; the full explanation is its tool tip."""

    def __init__(self, measure: MeasureText, theme: Theme) -> None:
        super().__init__()
        self.shown = measure
        self._theme = theme
        set_tool_tip(self, f"{measure.title}: {measure.help}")
        self.setAccessibleName(f"{measure.title}: {measure.text}")
        text = f"{measure.title}   {measure.text}"
        self.setMinimumWidth(self.fontMetrics().horizontalAdvance(text) + 2 * GRID)
        layout = vbox(within=self, margins=(0, self.fontMetrics().height() + 2 * GRID, 0, GRID // 2))
        self.reading = hint_label(measure.reading)
        if measure.reading:
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
        painter.setFont(with_tabular_figures(self.font()))
        painter.drawText(line, Qt.AlignmentFlag.AlignRight, self.shown.text)
        if self.shown.share is not None:
            bar = QRectF(0, line.height() + GRID // 2, self.width(), GRID * 0.75)
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(self._theme.colour("line"))
            painter.drawRoundedRect(bar, 3, 3)
            bar.setWidth(bar.width() * min(1.0, max(0.0, self.shown.share)))
            painter.setBrush(self._theme.colour("accent"))
            painter.drawRoundedRect(bar, 3, 3)
        painter.end()
