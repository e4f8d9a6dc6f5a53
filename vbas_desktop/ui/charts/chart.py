"""What the charts of solutions have in common: marks, lines, labels, selection, pointing and clicking."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyqtgraph as pg
from numpy.typing import ArrayLike, NDArray
from PySide6.QtCore import QPointF, Qt, Signal
from PySide6.QtGui import QBrush, QColor, QKeyEvent, QPen
from PySide6.QtWidgets import QVBoxLayout

from vbas_desktop.model.text import format_count

from ..core.context import UiContext
from ..core.theme import ColourScheme
from ..presentation.chart_data import ChartAxis, SeriesStyle, SolutionRow, list_styles
from ..widgets.image_export import Drawing, copy_drawing, offer_to_save, record
from ..widgets.plain_text import Label
from ..widgets.table_actions import offer_to_save_rows
from .legend import DASHES, LegendEntry, symbol_of
from .plot_view import PlotView

NEAR_PX = 9.0
"""A mark within this distance is the one that the pointer is on."""

MARK_PX = 9.0
RING_PX = 17.0
Key = Qt.Key


class Chart(PlotView):
    """Draws solutions: `solution_clicked(number)` when another is chosen.

    Subclasses implement `draw_rows`, which gives the marks by `show_marks`.
    """

    solution_clicked = Signal(int)

    nothing = "Nothing to draw yet."
    """What is written while there is nothing to draw."""
    marks_selection = True
    """Whether the marks of the selected solution have a ring."""

    def __init__(self, colours: ColourScheme, axes: dict[str, pg.AxisItem] | None = None) -> None:
        super().__init__(colours, axes)
        self.rows: tuple[SolutionRow, ...] = ()
        self.styles: dict[str, SeriesStyle] = {}
        """The style of each approach that is drawn."""
        self.measures: tuple[ChartAxis, ...] = ()
        self.selected: int | None = None
        self._numbers: NDArray[np.int64] = np.zeros(0, np.int64)
        self._xy: NDArray[np.float64] = np.zeros((0, 2))
        self._drawn: list[pg.GraphicsObject] = []
        self._points = pg.ScatterPlotItem(size=MARK_PX, antialias=True)
        self._casing = pg.ScatterPlotItem(size=RING_PX, antialias=True)
        """Keeps the ring apart from what it lies on: bars and lines have colours like its own."""
        self._ring = pg.ScatterPlotItem(size=RING_PX, antialias=True)
        self._points.setZValue(5)
        self._casing.setZValue(6)
        self._ring.setZValue(7)
        for item in (self._points, self._casing, self._ring):
            self.item.addItem(item)
        self._empty = Label(self.nothing, self.plot)
        self._empty.setWordWrap(True)
        self._empty.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._empty.setMargin(16)
        self._empty.setProperty("look", "muted")
        cover = QVBoxLayout(self.plot)
        cover.setContentsMargins(0, 0, 0, 0)
        cover.addWidget(self._empty)
        self.draw()

    def show_rows(self, rows: Sequence[SolutionRow], measures: Sequence[ChartAxis]) -> None:
        """Draw these solutions and these measures; other measures are drawn in full, whatever was zoomed into."""
        if tuple(measures) != self.measures:
            self.show_everything()
        self.rows = tuple(rows)
        self.measures = tuple(measures)
        self.styles = list_styles(self.rows)
        self.draw()

    def select(self, number: int | None) -> None:
        """Lift one solution."""
        self.selected = number
        self.draw_selection()

    def draw(self) -> None:
        """Draw the rows, or what is to be done if there are none."""
        for item in self._drawn:
            self.item.removeItem(item)
        self._drawn = []
        self._points.setData(pos=np.zeros((0, 2)))
        is_empty = not (self.rows and self.measures)
        self._empty.setText(self.nothing)
        self._empty.setVisible(is_empty)
        for side in ("left", "bottom"):
            self.item.getAxis(side).setVisible(not is_empty)
        if is_empty:
            self.place_marks([], np.zeros((0, 2)))
            self.show_legend([])
        else:
            self.show_legend(self.legend_entries())
            self.draw_rows()
        self.draw_selection()

    def draw_rows(self) -> None:
        """Draw the rows by `draw_line` and `show_marks`."""
        raise NotImplementedError

    def draw_selection(self) -> None:
        """Draw a ring around the marks of the selected solution, and describe the chart."""
        has_ring = self.selected is not None and self.marks_selection
        ring = self._xy[self._numbers == self.selected] if has_ring else self._xy[:0]
        self._casing.setData(pos=ring, pen=pg.mkPen(self.colours.base, width=6), brush=None, symbol="o")
        self._ring.setData(
            pos=ring, pen=pg.mkPen(self.colours.accent, width=2.5), brush=None, symbol="o"
        )
        self.setAccessibleDescription(self.describe())

    def describe(self) -> str:
        """Describe what is drawn and chosen, for those who do not see it; the table has the numbers."""
        row = next((row for row in self.rows if row.number == self.selected), None)
        titles = ", ".join(measure.title for measure in self.measures)
        drawn = f"{format_count(len(self.rows), 'solution')}: {titles}. Approaches: {', '.join(self.styles)}."
        chosen = "" if row is None else f" Chosen: {self.tip(row)}.".replace("\n", ", ")
        return f"{drawn}{chosen} The table lists the same solutions." if self.rows else self.nothing

    def draw_line(self, x: ArrayLike, y: ArrayLike, pen: QPen, z: float = 1) -> None:
        """Draw a line through points."""
        line = pg.PlotDataItem(x, y, pen=pen, antialias=True)
        line.setZValue(z)
        self.add_item(line)

    def add_item(self, item: pg.GraphicsObject) -> None:
        """Draw an item until the rows are drawn anew."""
        self._drawn.append(item)
        self.item.addItem(item)

    def show_marks(
        self, rows: Sequence[SolutionRow], xy: NDArray[np.float64], sizes: Sequence[float] | None = None
    ) -> None:
        """Draw a mark for each row: filled if it is Pareto-optimal, with its label beside it.

        xy: n × 2, the position of each mark. Pens and brushes are shared: new ones per mark take five times as long.
        """
        self.place_marks([row.number for row in rows], xy)
        pens = {name: pg.mkPen(self.approach_colour(name), width=1.5) for name in self.styles}
        fills = {name: pg.mkBrush(self.approach_colour(name)) for name in self.styles}
        ground = pg.mkBrush(self.colours.base)
        self._points.setData(
            pos=self._xy,
            pen=[pens[row.approach] for row in rows],
            brush=[fills[row.approach] if row.star else ground for row in rows],
            symbol=[self.approach_symbol(row.approach) for row in rows],
            size=MARK_PX if sizes is None else list(sizes),
        )
        middle = self._xy[:, 0].mean() if rows else 0.0
        for row, (x, y) in zip(rows, self._xy.tolist(), strict=True):
            if row.label:
                # Towards the middle, so that it is not cut at the edge.
                self.add_label(row.label, x, y, (-0.1 if x < middle else 1.1, 1.1))

    def place_marks(
        self, numbers: Sequence[int], xy: Sequence[tuple[float, float]] | NDArray[np.float64]
    ) -> None:
        """Note where which solution can be pointed at: n numbers, n × 2 positions."""
        self._numbers = np.array(numbers, np.int64)
        self._xy = np.array(xy, np.float64).reshape(-1, 2)

    def add_label(self, text: str, x: float, y: float, anchor: tuple[float, float]) -> pg.TextItem:
        """Write a text at a point, over the marks."""
        label = pg.TextItem(
            text, color=self.colours.text, anchor=anchor, fill=fill_brush(self.colours.base, 0.75)
        )
        label.setFont(self.font())
        label.setZValue(10)
        label.setPos(x, y)
        self._drawn.append(label)
        self.item.addItem(label, ignoreBounds=True)
        return label

    def legend_entries(self) -> list[LegendEntry]:
        """Return the entries of the legend: the approaches."""
        return [
            LegendEntry(name, self.approach_colour(name), self.approach_symbol(name))
            for name in self.styles
        ]

    def approach_colour(self, approach: str) -> QColor:
        """Return the colour of an approach: that of its site locations, the same in every chart and table."""
        return QColor(self.colours.series_colour(self.styles[approach].colour))

    def approach_symbol(self, approach: str) -> str:
        """Return the symbol of an approach."""
        return symbol_of(self.styles[approach])

    def approach_pen(self, approach: str, width: float = 1.5) -> QPen:
        """Return the pen for lines of an approach, whose dashes tell those of one site location apart."""
        pen = pg.mkPen(self.approach_colour(approach), width=width)
        dashes = DASHES[self.styles[approach].dash % len(DASHES)]
        if dashes is not None:
            pen.setDashPattern(dashes)
        return pen

    # Pointing and clicking

    def marks(self) -> list[tuple[QPointF, int]]:
        """Return where in this widget the marks are, and of which solution each is."""
        return [
            (self.to_widget(x, y), number)
            for (x, y), number in zip(self._xy.tolist(), self._numbers.tolist(), strict=True)
        ]

    def number_at(self, position: QPointF) -> int | None:
        """Return the number of the solution at a position of this widget: that of the nearest mark."""
        if not self._numbers.size:
            return None
        value = self.to_values(position)
        width, height = self.item.getViewBox().viewPixelSize()
        distances = np.hypot((self._xy[:, 0] - value.x()) / width, (self._xy[:, 1] - value.y()) / height)
        nearest = int(np.argmin(distances))
        return int(self._numbers[nearest]) if distances[nearest] <= NEAR_PX else None

    def click_at(self, position: QPointF) -> None:
        """Choose the solution at a position."""
        number = self.number_at(position)
        if number is not None:
            self.solution_clicked.emit(number)

    def tip_at(self, position: QPointF) -> str:
        """Describe the solution under the pointer."""
        number = self.number_at(position)
        row = next((row for row in self.rows if row.number == number), None)
        return "" if row is None else self.tip(row)

    def tip(self, row: SolutionRow) -> str:
        """Describe a solution."""
        lines = [f"#{row.number:,}: {row.approach}, {format_count(row.sites, 'site')}"]
        ranks = [word for word in (row.label, "Pareto-optimal" if row.star else "") if word]
        lines += [", ".join(ranks)] if ranks else []
        for measure in self.measures:
            value = row.values.get(measure.name)
            lines.append(
                f"{measure.title}: {'–' if value is None else f'{value:,.6g} {measure.unit}'.strip()}"
            )
        return "\n".join(lines)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Choose the next or the previous solution from left to right with the arrow keys."""
        step = {Key.Key_Right: 1, Key.Key_Down: 1, Key.Key_Left: -1, Key.Key_Up: -1}.get(
            Key(event.key()), 0
        )
        if not step or not self._numbers.size:
            super().keyPressEvent(event)
            return
        order = list(dict.fromkeys(self._numbers[np.lexsort((self._numbers, self._xy[:, 0]))].tolist()))
        start = order.index(self.selected) if self.selected in order else -1 if step > 0 else len(order)
        position = start + step
        self.solution_clicked.emit(order[min(max(position, 0), len(order) - 1)])

    def list_numbers(self) -> list[list[str]]:
        """Return the header and one row of exact values per solution."""
        header = ["solution", "approach", "sites", *(measure.name for measure in self.measures)]
        return [
            header,
            *([str(row.number), row.approach, str(row.sites), *self._values(row)] for row in self.rows),
        ]

    def _values(self, row: SolutionRow) -> list[str]:
        values = [row.values.get(measure.name) for measure in self.measures]
        return ["" if value is None else str(value) for value in values]


def fill_brush(colour: str, alpha: float) -> QBrush:
    """Return a translucent brush."""
    shade = QColor(colour)
    shade.setAlphaF(alpha)
    return QBrush(shade)


def make_interactive(chart: PlotView, context: UiContext, name: str) -> None:
    """Have a chart follow the colours in force, and be copied and saved under a name."""

    def record_chart() -> Drawing:
        return record(chart.picture_size, chart.paint_chart)

    context.theme.changed.connect(lambda: chart.use_colours(context.theme.colours))
    chart.copy_requested.connect(lambda: copy_drawing(context, record_chart()))
    chart.save_requested.connect(lambda: offer_to_save(context, chart, record_chart(), name))
    chart.table_requested.connect(
        lambda: offer_to_save_rows(context, chart, chart.list_numbers(), f"{name}.csv")
    )
