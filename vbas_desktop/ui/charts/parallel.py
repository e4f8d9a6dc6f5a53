"""All measures side by side: one axis each, one line per solution."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QPainter, QPainterPath, QPen

from .chart import Chart
from .rows import ChartRow, short_number

_SMALLEST = 0.7
"""Letters are not made smaller than this part of their usual size: nobody could read them."""


class ParallelChart(Chart):
    """Every axis runs from its lowest (best) value at the bottom to its highest; dominated solutions are faint."""

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
        axes = [plot.left() + (index + 0.5) * room for index in range(len(self.measures))]
        bounds = [self._bounds(measure.name) for measure in self.measures]
        for x, measure, (low, high) in zip(axes, self.measures, bounds, strict=True):
            self._draw_axis(painter, plot, x, room, low, high)
            painter.setPen(QColor(self.colours.text))
            flags = Qt.AlignmentFlag.AlignHCenter | Qt.AlignmentFlag.AlignBottom | Qt.TextFlag.TextWordWrap
            label = QRectF(x - room / 2 + 2, top, room - 4, label_height)
            painter.drawText(label, int(flags), measure.title)
        for row in sorted(self.rows, key=lambda row: (row.number == self.selected, row.star, row.number)):
            self._draw_line(painter, plot, axes, bounds, row)

    def _shrunk(self, font: QFont, room: float) -> float:
        """How much smaller letters have to be so that the longest word stands between two axes."""
        metrics = QFontMetricsF(font)
        words = [word for measure in self.measures for word in measure.title.replace("-", "- ").split()]
        widest = max((metrics.horizontalAdvance(word) for word in words), default=0.0)
        return max(_SMALLEST, min(1.0, (room - 6) / widest)) if widest else 1.0

    def _bounds(self, name: str) -> tuple[float, float]:
        values = [float(row.values[name] or 0) for row in self.rows if row.values.get(name) is not None]
        return (min(values), max(values)) if values else (0.0, 0.0)

    def _draw_axis(self, painter: QPainter, plot: QRectF, x: float, room: float, low: float, high: float) -> None:
        metrics = QFontMetricsF(painter.font())
        painter.setPen(QPen(QColor(self.colours.line), 1.5))
        painter.drawLine(QPointF(x, plot.top()), QPointF(x, plot.bottom()))
        painter.setPen(QColor(self.colours.muted))
        for value, y in ((high, plot.top() - metrics.height() - 2), (low, plot.bottom() + 2)):
            text = QRectF(x - room / 2, y, room, metrics.height())
            painter.drawText(text, Qt.AlignmentFlag.AlignHCenter, short_number(value))

    def _draw_line(
        self, painter: QPainter, plot: QRectF, axes: list[float], bounds: list[tuple[float, float]], row: ChartRow
    ) -> None:
        path, broken = QPainterPath(), True
        for x, measure, (low, high) in zip(axes, self.measures, bounds, strict=True):
            value = row.values.get(measure.name)
            if value is None:
                broken = True
                continue
            share = (float(value) - low) / (high - low) if high > low else 0.0
            point = QPointF(x, plot.bottom() - share * plot.height())
            if broken:
                path.moveTo(point)
            else:
                path.lineTo(point)
            broken = False
            self._spots.append((QRectF(point.x() - 6, point.y() - 4, 12, 8), row.number))
            end = point
        if row.signs and not path.isEmpty():
            self.draw_signs(painter, QPointF(end.x() + 6, end.y() + 4), row)
        chosen = row.number == self.selected
        colour = QColor(self.colours.accent) if chosen else self.approach_colour(row.approach)
        colour.setAlphaF(1.0 if chosen or row.star else 0.35)
        painter.strokePath(path, QPen(colour, 3 if chosen else 1.5))
