"""Two measures against each other, with the Pareto front of the two."""

from __future__ import annotations

from itertools import pairwise

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QPainter, QPainterPath, QPen

from .chart import Chart
from .rows import front_of, nice_ticks, padded, short_number

_RADIUS = 4.5


class ScatterChart(Chart):
    """Draws the first measure along x and the second along y; solutions with a star are filled."""

    def draw(self, painter: QPainter, area: QRectF) -> None:
        """Axes, front and points."""
        if len(self.measures) < 2:
            return
        x, y = self.measures[0], self.measures[1]
        metrics = QFontMetricsF(self.font())
        plot = self.plot_area(painter, area, y.label, 2 * metrics.height() + 6)
        known = [row for row in self.rows if row.values.get(x.name) is not None and row.values.get(y.name) is not None]
        xs, ys = ([float(row.values[axis.name] or 0) for row in known] for axis in (x, y))
        (x_low, x_high), (y_low, y_high) = padded(xs), padded(ys)
        self.draw_value_axis(painter, plot, y_low, y_high)
        self._draw_x_axis(painter, plot, x_low, x_high, x.label)

        def place(a: float, b: float) -> QPointF:
            across = plot.left() + (a - x_low) / (x_high - x_low) * plot.width()
            return QPointF(across, plot.bottom() - (b - y_low) / (y_high - y_low) * plot.height())

        self._draw_front(painter, [place(a, b) for a, b in front_of(self.rows, x.name, y.name)])
        for row, a, b in sorted(zip(known, xs, ys, strict=True), key=lambda each: each[0].number == self.selected):
            spot, colour = place(a, b), self.approach_colour(row.approach)
            if row.number == self.selected:
                painter.setPen(QPen(QColor(self.colours.accent), 2.5))
                painter.setBrush(Qt.BrushStyle.NoBrush)
                painter.drawEllipse(spot, _RADIUS + 3.5, _RADIUS + 3.5)
            painter.setPen(QPen(colour, 1.5))
            painter.setBrush(colour if row.star else QColor(self.colours.base))
            painter.drawEllipse(spot, _RADIUS, _RADIUS)
            self._spots.append((QRectF(spot.x() - 6, spot.y() - 6, 12, 12), row.number))

        for row, a, b in zip(known, xs, ys, strict=True):
            # Last of all, so that no point lies over them.
            spot = place(a, b)
            self.draw_signs(painter, QPointF(spot.x() + 2 * _RADIUS, spot.y() - _RADIUS), row)

    def _draw_front(self, painter: QPainter, front: list[QPointF]) -> None:
        """Steps, since nothing is known between two solutions."""
        if not front:
            return
        path = QPainterPath(front[0])
        for before, here in pairwise(front):
            path.lineTo(here.x(), before.y())
            path.lineTo(here)
        painter.strokePath(path, QPen(QColor(self.colours.accent), 1.5, Qt.PenStyle.DashLine))

    def _draw_x_axis(self, painter: QPainter, plot: QRectF, low: float, high: float, label: str) -> None:
        metrics = QFontMetricsF(self.font())
        about = max(2, int(plot.width() / 90))
        for tick in nice_ticks(low, high, about):
            x = plot.left() + (tick - low) / (high - low) * plot.width()
            painter.setPen(QPen(QColor(self.colours.line), 1))
            painter.drawLine(QPointF(x, plot.top()), QPointF(x, plot.bottom()))
            painter.setPen(QColor(self.colours.muted))
            text = QRectF(x - 45, plot.bottom() + 3, 90, metrics.height())
            painter.drawText(text, Qt.AlignmentFlag.AlignHCenter, short_number(tick))
        foot = QRectF(plot.left(), plot.bottom() + 3 + metrics.height(), plot.width(), metrics.height())
        painter.drawText(foot, Qt.AlignmentFlag.AlignHCenter, label)
