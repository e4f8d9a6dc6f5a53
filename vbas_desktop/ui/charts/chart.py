"""What all charts have in common: colours, selection, pointing, clicking, saving."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import QPoint, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QContextMenuEvent, QFontMetricsF, QMouseEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QWidget

from vbas_desktop.model.words import counted
from vbas_desktop.ui.context import Context
from vbas_desktop.ui.pictures import Drawing, copy_drawing, offer_to_save, record
from vbas_desktop.ui.theme import Colours
from vbas_desktop.ui.widgets.building import passing_menu
from vbas_desktop.ui.widgets.fields import Telling

from .rows import ChartRow, Measure, approaches_of, nice_ticks, short_number

_NEAR_PX = 9.0
RADIUS = 4.5
"""Of a mark, in pixels."""

Bounds = tuple[float, float]


class Chart(Telling):
    """Draws rows: `solution_clicked(number)`: another is wanted; `save_wanted()`, `copy_wanted()`: its picture.

    Subclasses implement `draw`, which also fills `_spots`: where which solution can be pointed at.
    """

    solution_clicked = Signal(int)
    save_wanted = Signal()
    copy_wanted = Signal()

    nothing = "Nothing to draw yet."
    """What is written while there is nothing to draw."""

    def __init__(self, colours: Colours, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.colours = colours
        self.rows: tuple[ChartRow, ...] = ()
        self.approaches: list[str] = []
        self.measures: tuple[Measure, ...] = ()
        self.selected: int | None = None
        self._spots: list[tuple[QRectF, int]] = []
        self.setMinimumSize(200, 150)
        self.setMouseTracking(True)

    def sizeHint(self) -> QSize:
        """Wide enough for its labels."""
        return QSize(420, 280)

    def show_rows(self, rows: Sequence[ChartRow], measures: Sequence[Measure]) -> None:
        """Draw these solutions and these measures."""
        self.rows, self.measures = tuple(rows), tuple(measures)
        self.approaches = approaches_of(self.rows)
        self.update()

    def select(self, number: int | None) -> None:
        """Lift one solution."""
        self.selected = number
        self.update()

    def use_colours(self, colours: Colours) -> None:
        """Draw in other colours."""
        self.colours = colours
        self.update()

    def draw(self, painter: QPainter, area: QRectF) -> None:
        """Draw the chart into an area."""
        raise NotImplementedError

    def draw_signs(self, painter: QPainter, place: QPointF, row: ChartRow) -> None:
        """Write the signs of a recommended solution or a knee; ``place`` is the left end of the line of writing."""
        if row.signs:
            painter.setPen(QColor(self.colours.text))
            painter.drawText(place, row.signs)

    def paint_chart(self, painter: QPainter, area: QRectF) -> None:
        """Background and chart, on screen or into a file."""
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, True)
        painter.fillRect(area, QColor(self.colours.base))
        painter.setFont(self.font())
        self._spots = []
        if self.rows and self.measures:
            self.draw(painter, area)
        else:
            painter.setPen(QColor(self.colours.muted))
            flags = Qt.AlignmentFlag.AlignCenter.value | Qt.TextFlag.TextWordWrap.value
            painter.drawText(area.adjusted(16, 0, -16, 0), flags, self.nothing)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw on screen."""
        painter = QPainter(self)
        self.paint_chart(painter, QRectF(self.rect()))
        painter.end()

    # Pointing and clicking

    def number_at(self, position: QPointF) -> int | None:
        """The solution under a position; spots may overlap, then the nearest middle counts."""
        near = [
            ((spot.center() - position).manhattanLength(), number)
            for spot, number in self._spots
            if spot.adjusted(-_NEAR_PX / 3, -_NEAR_PX / 3, _NEAR_PX / 3, _NEAR_PX / 3).contains(position)
        ]
        return min(near)[1] if near else None

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """A click chooses a solution."""
        number = self.number_at(event.position())
        if event.button() == Qt.MouseButton.LeftButton and number is not None:
            self.solution_clicked.emit(number)

    def tip_at(self, position: QPointF) -> str:
        """What is told of the solution at a place."""
        number = self.number_at(position)
        row = next((row for row in self.rows if row.number == number), None)
        return "" if row is None else self.tip(row)

    def tip(self, row: ChartRow) -> str:
        """What is told of a solution."""
        lines = [f"{row.number}: {row.approach}, {counted(row.sites, 'site')} {row.signs}".rstrip()]
        for measure in self.measures:
            value = row.values.get(measure.name)
            lines.append(f"{measure.title}: {'–' if value is None else f'{value:,.6g} {measure.unit}'.strip()}")
        return "\n".join(lines)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """Offer to copy or save the chart."""
        self.open_menu(event.globalPos())

    def open_menu(self, position: QPoint) -> None:
        """The chart's menu."""
        menu = passing_menu(self)
        menu.addAction("&Copy chart", self.copy_wanted.emit)
        menu.addAction("&Save chart as PNG, SVG or PDF…", self.save_wanted.emit)
        menu.popup(position)

    # Drawing helpers

    def approach_colour(self, approach: str) -> QColor:
        """The colour of an approach: that of a map fill, darker or lighter so that lines show."""
        fill = QColor(self.colours.fills[self.approaches.index(approach) % len(self.colours.fills)])
        shade = fill.darker(125) if QColor(self.colours.base).lightness() > 128 else fill.lighter(135)
        return QColor(shade.name())

    def draw_legend(self, painter: QPainter, area: QRectF) -> float:
        """The approaches with their colours along the top; returns the height used."""
        metrics = QFontMetricsF(self.font())
        x, y, line = area.left(), area.top(), metrics.height() + 4
        for approach in self.approaches:
            width = metrics.horizontalAdvance(approach) + 24
            if x > area.left() and x + width > area.right():
                x, y = area.left(), y + line
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(self.approach_colour(approach))
            painter.drawRect(QRectF(x, y + (line - 10) / 2, 10, 10))
            painter.setPen(QColor(self.colours.text))
            painter.drawText(QPointF(x + 14, y + (line + metrics.ascent() - metrics.descent()) / 2), approach)
            x += width
        return y + line - area.top() + 4

    def draw_value_axis(self, painter: QPainter, plot: QRectF, low: float, high: float) -> None:
        """Horizontal grid lines with numbers at the left."""
        draw_value_axis(painter, self.colours, plot, (low, high), gap=4)

    def draw_x_axis(
        self, painter: QPainter, plot: QRectF, bounds: Bounds, label: str, words: Callable[[float], str] = short_number
    ) -> None:
        """Vertical grid lines with numbers below, and what they are."""
        metrics, (low, high) = QFontMetricsF(self.font()), bounds
        for tick in nice_ticks(low, high, max(2, int(plot.width() / 90))):
            x = plot.left() + (tick - low) / (high - low) * plot.width()
            painter.setPen(QPen(QColor(self.colours.line), 1))
            painter.drawLine(QPointF(x, plot.top()), QPointF(x, plot.bottom()))
            painter.setPen(QColor(self.colours.muted))
            text = QRectF(x - 45, plot.bottom() + 3, 90, metrics.height())
            painter.drawText(text, Qt.AlignmentFlag.AlignHCenter, words(tick))
        self.draw_foot(painter, plot, label)

    def draw_foot(self, painter: QPainter, plot: QRectF, text: str) -> None:
        """What the numbers below are."""
        painter.setPen(QColor(self.colours.muted))
        line = QFontMetricsF(self.font()).height()
        foot = QRectF(plot.left(), plot.bottom() + 3 + line, plot.width(), line)
        painter.drawText(foot, Qt.AlignmentFlag.AlignHCenter, text)

    def draw_mark(
        self, painter: QPainter, spot: QPointF, number: int, colour: QColor, filled: bool, radius: float
    ) -> None:
        """A round mark that can be pointed at; that of the selected solution has a ring."""
        if number == self.selected:
            painter.setPen(QPen(QColor(self.colours.accent), 2.5))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawEllipse(spot, RADIUS + 3.5, RADIUS + 3.5)
        painter.setPen(QPen(colour, 1.5))
        painter.setBrush(colour if filled else QColor(self.colours.base))
        painter.drawEllipse(spot, radius, radius)
        self._spots.append((QRectF(spot.x() - 6, spot.y() - 6, 12, 12), number))

    def draw_title(self, painter: QPainter, area: QRectF, text: str) -> None:
        """A small title along the top of an area."""
        painter.setPen(QColor(self.colours.muted))
        painter.drawText(area, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignTop, text)

    def plot_area(self, painter: QPainter, area: QRectF, title: str, below: float) -> QRectF:
        """Draw legend and title, and leave room for the axes: what remains is for the data."""
        inner = area.adjusted(12, 10, -14, -8)
        top = inner.top() + self.draw_legend(painter, inner)
        line = QFontMetricsF(self.font()).height()
        self.draw_title(painter, QRectF(inner.left(), top, inner.width(), line), title)
        return QRectF(inner.left() + 62, top + line + 8, inner.width() - 62, inner.bottom() - top - line - 8 - below)


def placed(plot: QRectF, across: Bounds, up: Bounds) -> Callable[[float, float], QPointF]:
    """Where two values are within a plot with these bounds."""

    def place(x: float, y: float) -> QPointF:
        left = plot.left() + (x - across[0]) / (across[1] - across[0]) * plot.width()
        return QPointF(left, plot.bottom() - (y - up[0]) / (up[1] - up[0]) * plot.height())

    return place


def draw_value_axis(painter: QPainter, colours: Colours, plot: QRectF, bounds: Bounds, gap: float) -> None:
    """Horizontal grid lines with numbers at the left, so many pixels away."""
    line, (low, high) = QFontMetricsF(painter.font()).height(), bounds
    for tick in nice_ticks(low, high):
        y = plot.bottom() - (tick - low) / (high - low) * plot.height()
        painter.setPen(QPen(QColor(colours.line), 1))
        painter.drawLine(QPointF(plot.left(), y), QPointF(plot.right(), y))
        painter.setPen(QColor(colours.muted))
        text = QRectF(plot.left() - 70 - gap, y - line / 2, 70, line)
        painter.drawText(text, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, short_number(tick))


def attend(chart: Chart, context: Context, name: str) -> None:
    """Have a chart follow the colours in force, and be copied and saved under a name."""

    def recorded() -> Drawing:
        return record(chart.size(), chart.paint_chart)

    context.theme.changed.connect(lambda: chart.use_colours(context.theme.colours))
    chart.copy_wanted.connect(lambda: copy_drawing(context, recorded()))
    chart.save_wanted.connect(lambda: offer_to_save(context, chart, recorded(), name))
