"""All measures side by side: one axis each, one line per solution."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QPointF, QRectF, Qt, Signal
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QMouseEvent, QPainter, QPainterPath, QPen
from PySide6.QtWidgets import QWidget

from vbas_desktop.ui.theme import Colours
from vbas_desktop.ui.widgets.plain_text import set_tool_tip

from .chart import Chart
from .rows import ChartRow, Measure, Ranges, short_number, within

_SMALLEST = 0.7
"""Letters are not made smaller than this part of their usual size: nobody could read them."""


_REACH_PX, _LEAST_DRAG = 10.0, 4.0
_OUTSIDE = 0.08


@dataclass(frozen=True)
class _Axis:
    """Where an axis is drawn, and the values at its ends."""

    x: float
    top: float
    bottom: float
    low: float
    high: float

    def value_at(self, y: float) -> float:
        """The value at a height, that of the nearest end beyond it."""
        share = min(1.0, max(0.0, (self.bottom - y) / (self.bottom - self.top)))
        return self.low + share * (self.high - self.low)

    def place_of(self, value: float) -> float:
        """The height of a value."""
        span = self.high - self.low
        share = min(1.0, max(0.0, (value - self.low) / span)) if span else 0.0
        return self.bottom - share * (self.bottom - self.top)


class ParallelChart(Chart):
    """Every axis runs from its lowest (best) value at the bottom to its highest; beaten solutions are faint.

    Dragging along an axis sets the range that is wanted of its measure, a double click on it takes the range away:
    `ranges_changed()`. Solutions outside are all but invisible.
    """

    ranges_changed = Signal()

    def __init__(self, colours: Colours, parent: QWidget | None = None) -> None:
        super().__init__(colours, parent)
        self.ranges: dict[str, tuple[float, float]] = {}
        self._axes: dict[str, _Axis] = {}
        self._dragged: tuple[str, float] | None = None
        set_tool_tip(self, "Drag along an axis to see only solutions in that range; double-click it to see all again")

    def show_rows(self, rows: Sequence[ChartRow], measures: Sequence[Measure]) -> None:
        """Draw these; ranges of measures that are no longer drawn are gone."""
        names = {measure.name for measure in measures}
        self.ranges = {name: bounds for name, bounds in self.ranges.items() if name in names}
        super().show_rows(rows, measures)

    def show_ranges(self, ranges: Ranges) -> None:
        """Want these ranges."""
        self.ranges = dict(ranges)
        self.update()
        self.ranges_changed.emit()

    # Dragging along an axis

    def _axis_at(self, position: QPointF) -> str | None:
        reach = {name: abs(axis.x - position.x()) for name, axis in self._axes.items()}
        name = min(reach, key=lambda each: reach[each], default=None)
        return name if name is not None and reach[name] <= _REACH_PX else None

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """A click chooses a solution; on an axis a range may begin."""
        super().mousePressEvent(event)
        name = self._axis_at(event.position())
        if event.button() == Qt.MouseButton.LeftButton and name is not None:
            self._dragged = (name, event.position().y())

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """The range grows with the pointer."""
        super().mouseMoveEvent(event)
        on_axis = self._dragged is not None or self._axis_at(event.position()) is not None
        self.setCursor(Qt.CursorShape.SizeVerCursor if on_axis else Qt.CursorShape.ArrowCursor)
        if self._dragged is not None and abs(event.position().y() - self._dragged[1]) > _LEAST_DRAG:
            name, began = self._dragged
            axis = self._axes[name]
            low, high = sorted((axis.value_at(began), axis.value_at(event.position().y())))
            self.ranges[name] = (low, high)
            self.update()

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """The range is set."""
        super().mouseReleaseEvent(event)
        dragged, self._dragged = self._dragged, None
        if dragged is not None and abs(event.position().y() - dragged[1]) > _LEAST_DRAG:
            self.ranges_changed.emit()

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        """Take a range away."""
        name = self._axis_at(event.position())
        if name is not None and self.ranges.pop(name, None) is not None:
            self.update()
            self.ranges_changed.emit()

    def draw(self, painter: QPainter, area: QRectF) -> None:
        """Axes and lines; the selected line comes last, so that it lies on top."""
        inner = area.adjusted(12, 10, -12, -8)
        top = inner.top() + self.draw_legend(painter, inner)
        small = QFont(self.font())
        small.setPointSizeF(small.pointSizeF() * 0.86)
        small.setPointSizeF(small.pointSizeF() * self._shrunk(small, inner.width() / len(self.measures)))
        painter.setFont(small)
        metrics = QFontMetricsF(small)
        label_height = 3 * metrics.height()
        plot = QRectF(inner.left(), top + label_height + metrics.height() + 6, inner.width(), 0)
        plot.setBottom(inner.bottom() - metrics.height() - 4)
        room = plot.width() / len(self.measures)
        self._axes = {
            measure.name: _Axis(
                plot.left() + (index + 0.5) * room, plot.top(), plot.bottom(), *self._bounds(measure.name)
            )
            for index, measure in enumerate(self.measures)
        }
        flags = Qt.AlignmentFlag.AlignHCenter | Qt.AlignmentFlag.AlignBottom | Qt.TextFlag.TextWordWrap
        for measure in self.measures:
            axis = self._axes[measure.name]
            self._draw_axis(painter, axis, room)
            painter.setPen(QColor(self.colours.text))
            label = QRectF(axis.x - room / 2 + 2, top, room - 4, label_height)
            painter.drawText(label, int(flags), measure.title)
        for row in sorted(self.rows, key=lambda row: (row.number == self.selected, row.star, row.number)):
            self._draw_line(painter, row)
        for name, (low, high) in self.ranges.items():
            self._draw_range(painter, self._axes[name], low, high)

    def _shrunk(self, font: QFont, room: float) -> float:
        """How much smaller letters have to be so that the longest word stands between two axes."""
        metrics = QFontMetricsF(font)
        words = [word for measure in self.measures for word in measure.title.replace("-", "- ").split()]
        widest = max((metrics.horizontalAdvance(word) for word in words), default=0.0)
        return max(_SMALLEST, min(1.0, (room - 6) / widest)) if widest else 1.0

    def _bounds(self, name: str) -> tuple[float, float]:
        values = [float(row.values[name] or 0) for row in self.rows if row.values.get(name) is not None]
        return (min(values), max(values)) if values else (0.0, 0.0)

    def _draw_axis(self, painter: QPainter, axis: _Axis, room: float) -> None:
        line = QFontMetricsF(painter.font()).height()
        painter.setPen(QPen(QColor(self.colours.line), 1.5))
        painter.drawLine(QPointF(axis.x, axis.top), QPointF(axis.x, axis.bottom))
        painter.setPen(QColor(self.colours.muted))
        for value, y in ((axis.high, axis.top - line - 2), (axis.low, axis.bottom + 2)):
            text = QRectF(axis.x - room / 2, y, room, line)
            painter.drawText(text, Qt.AlignmentFlag.AlignHCenter, short_number(value))

    def _draw_range(self, painter: QPainter, axis: _Axis, low: float, high: float) -> None:
        upper, lower = axis.place_of(high), axis.place_of(low)
        shade = QColor(self.colours.accent)
        shade.setAlphaF(0.3)
        painter.setPen(QPen(QColor(self.colours.accent), 1))
        painter.setBrush(shade)
        painter.drawRect(QRectF(axis.x - 5, upper, 10, max(2.0, lower - upper)))

    def _draw_line(self, painter: QPainter, row: ChartRow) -> None:
        path, broken, inside = QPainterPath(), True, within(row.values, self.ranges)
        for name, axis in self._axes.items():
            value = row.values.get(name)
            if value is None:
                broken = True
                continue
            point = QPointF(axis.x, axis.place_of(float(value)))
            if broken:
                path.moveTo(point)
            else:
                path.lineTo(point)
            broken = False
            if not inside:
                continue
            self._spots.append((QRectF(point.x() - 6, point.y() - 4, 12, 8), row.number))
            end = point
        if row.signs and inside and not path.isEmpty():
            self.draw_signs(painter, QPointF(end.x() + 6, end.y() + 4), row)
        chosen = row.number == self.selected
        colour = QColor(self.colours.accent) if chosen else self.approach_colour(row.approach)
        colour.setAlphaF(_OUTSIDE if not inside else 1.0 if chosen or row.star else 0.35)
        painter.strokePath(path, QPen(colour, 3 if chosen else 1.5))
