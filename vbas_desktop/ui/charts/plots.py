"""One measure as bars by site number and approach; two measures against each other with their Pareto front."""

from __future__ import annotations

import math
from itertools import pairwise

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QPainter, QPainterPath, QPen

from .chart import RADIUS, Chart, placed
from .rows import ChartRow, front_of, padded


class BarsChart(Chart):
    """Draws the first measure. Of several solutions with one site number and approach the last is drawn."""

    def bars(self) -> dict[int, dict[str, ChartRow]]:
        """The solution of each bar by site number and approach, site numbers ascending."""
        name = self.measures[0].name
        groups: dict[int, dict[str, ChartRow]] = {}
        for row in sorted(self.rows, key=lambda row: (row.sites, row.number)):
            if row.values.get(name) is not None:
                groups.setdefault(row.sites, {})[row.approach] = row
        return groups

    def draw(self, painter: QPainter, area: QRectF) -> None:
        """Axis, bars and site numbers."""
        groups, measure = self.bars(), self.measures[0]
        metrics = QFontMetricsF(self.font())
        plot = self.plot_area(painter, area, measure.label, 2 * metrics.height() + 6)
        values = [float(row.values[measure.name] or 0) for group in groups.values() for row in group.values()]
        low, high = min([0.0, *values]), max([0.0, *values]) * 1.12 or 1.0
        self.draw_value_axis(painter, plot, low, high)
        order = self.approaches
        room = plot.width() / max(1, len(groups))
        width = min(28.0, room * 0.84 / max(1, len(order)))
        widest = max((metrics.horizontalAdvance(f"{sites:,}") for sites in groups), default=0.0)
        every = max(1, math.ceil((widest + 4) / room))
        for index, (sites, group) in enumerate(groups.items()):
            middle = plot.left() + (index + 0.5) * room
            present = [approach for approach in order if approach in group]
            for place, approach in enumerate(present):
                left = middle + (place - len(present) / 2) * width
                self._draw_bar(painter, plot, left, width, group[approach], low, high)
            if index % every == 0:
                painter.setPen(QColor(self.colours.muted))
                text = QRectF(middle - widest, plot.bottom() + 3, 2 * widest, metrics.height())
                painter.drawText(text, Qt.AlignmentFlag.AlignHCenter, f"{sites:,}")
        self.draw_foot(painter, plot, "Sites")

    def _draw_bar(
        self, painter: QPainter, plot: QRectF, left: float, width: float, row: ChartRow, low: float, high: float
    ) -> None:
        value = float(row.values[self.measures[0].name] or 0)
        zero = plot.bottom() + low / (high - low) * plot.height()
        height = value / (high - low) * plot.height()
        bar = QRectF(left + 0.5, zero - height, max(1.0, width - 1), height)
        chosen = row.number == self.selected
        painter.setPen(QPen(QColor(self.colours.accent), 2) if chosen else Qt.PenStyle.NoPen)
        painter.setBrush(self.approach_colour(row.approach))
        painter.drawRect(bar)
        signs = QFontMetricsF(self.font()).horizontalAdvance(row.signs)
        self.draw_signs(painter, QPointF(bar.center().x() - signs / 2, bar.normalized().top() - 3), row)
        # A bar too low to be hit still gets a spot of a few pixels.
        self._spots.append((bar.normalized().adjusted(0, -4, 0, 2), row.number))


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
        across, up = padded(xs), padded(ys)
        self.draw_value_axis(painter, plot, *up)
        self.draw_x_axis(painter, plot, across, x.label)
        place = placed(plot, across, up)
        self._draw_front(painter, [place(a, b) for a, b in front_of(self.rows, x.name, y.name)])
        for row, a, b in sorted(zip(known, xs, ys, strict=True), key=lambda each: each[0].number == self.selected):
            self.draw_mark(painter, place(a, b), row.number, self.approach_colour(row.approach), row.star, RADIUS)
        for row, a, b in zip(known, xs, ys, strict=True):
            # Last of all, so that no point lies over them.
            spot = place(a, b)
            self.draw_signs(painter, QPointF(spot.x() + 2 * RADIUS, spot.y() - RADIUS), row)

    def _draw_front(self, painter: QPainter, front: list[QPointF]) -> None:
        """Steps, since nothing is known between two solutions."""
        if not front:
            return
        path = QPainterPath(front[0])
        for before, here in pairwise(front):
            path.lineTo(here.x(), before.y())
            path.lineTo(here)
        painter.strokePath(path, QPen(QColor(self.colours.accent), 1.5, Qt.PenStyle.DashLine))
