"""The picture of a search: number of regions against detail, one line per combination of the other attributes."""

from __future__ import annotations

from itertools import pairwise

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QPainter, QPen

from vbas_desktop.search.picture import PictureLine, lines_of
from vbas_desktop.search.run import Searched
from vbas_desktop.ui.charts.chart import Chart
from vbas_desktop.ui.charts.rows import ChartRow, Measure, nice_ticks, padded
from vbas_desktop.ui.panel.results_columns import RECOMMENDED

_RADIUS = 4.5
_NAMED = 8
"""So many lines have their names above the picture; of more, pointing at a mark tells the name."""

_REGIONS = Measure("regions", "Regions")


class FrontChart(Chart):
    """Large filled marks are on the front; a click chooses a node."""

    nothing = (
        "“Find it” tries every combination of levels of the attributes above and finds the finest regions for each "
        "within the allowed loss. They are listed here and drawn: detail of the attributes against number of regions."
    )

    lines: tuple[PictureLine, ...] = ()

    def show_search(self, searched: Searched | None) -> None:
        """Draw what is found so far."""
        self.lines = () if searched is None else tuple(lines_of(searched))
        rows = [
            ChartRow(point.number, line.title, point.regions, {"regions": point.regions}, point.front)
            for line in self.lines
            for point in line.points
        ]
        self.show_rows(rows, [_REGIONS])

    def tip(self, row: ChartRow) -> str:
        """What is told of a node."""
        return f"Node {row.number:,}: {row.approach}\n{row.sites:,} regions"

    def draw(self, painter: QPainter, area: QRectF) -> None:
        """Axes, lines and marks."""
        metrics = QFontMetricsF(self.font())
        if len(self.lines) <= _NAMED:
            area = area.adjusted(0, self.draw_legend(painter, area.adjusted(12, 6, -12, 0)), 0, 0)
        plot = area.adjusted(metrics.horizontalAdvance("000,000") + 12, metrics.height() + 14, -16, 0)
        plot.setBottom(area.bottom() - 2 * metrics.height() - 10)
        points = [point for line in self.lines for point in line.points]
        x_low, x_high = padded([100 * point.detail for point in points])
        y_low, y_high = 0.0, max(point.regions for point in points) * 1.08
        painter.setPen(QColor(self.colours.muted))
        painter.drawText(QPointF(area.left() + 12, area.top() + metrics.height()), "Regions")
        self.draw_value_axis(painter, plot, y_low, y_high)
        self._draw_x_axis(painter, plot, x_low, x_high)

        def place(detail: float, regions: int) -> QPointF:
            across = plot.left() + (100 * detail - x_low) / (x_high - x_low) * plot.width()
            return QPointF(across, plot.bottom() - (regions - y_low) / (y_high - y_low) * plot.height())

        for line in self.lines:
            colour = self.approach_colour(line.title)
            spots = [place(point.detail, point.regions) for point in line.points]
            painter.setPen(QPen(colour, 1.2))
            for one, other in pairwise(spots):
                painter.drawLine(one, other)
            for spot, point in zip(spots, line.points, strict=True):
                self._draw_mark(painter, spot, colour, point.number, point.front)
        for point in points:
            if point.recommended:
                spot = place(point.detail, point.regions)
                painter.setPen(QColor(self.colours.text))
                painter.drawText(QPointF(spot.x() + 2 * _RADIUS, spot.y() - _RADIUS), RECOMMENDED)

    def _draw_mark(self, painter: QPainter, spot: QPointF, colour: QColor, number: int, front: bool) -> None:
        radius = _RADIUS if front else _RADIUS / 2
        if number == self.selected:
            painter.setPen(QPen(QColor(self.colours.accent), 2.5))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawEllipse(spot, _RADIUS + 3.5, _RADIUS + 3.5)
        painter.setPen(QPen(colour, 1.5))
        painter.setBrush(colour if front else QColor(self.colours.base))
        painter.drawEllipse(spot, radius, radius)
        self._spots.append((QRectF(spot.x() - 6, spot.y() - 6, 12, 12), number))

    def _draw_x_axis(self, painter: QPainter, plot: QRectF, low: float, high: float) -> None:
        metrics = QFontMetricsF(self.font())
        for tick in nice_ticks(low, high, max(2, int(plot.width() / 90))):
            x = plot.left() + (tick - low) / (high - low) * plot.width()
            painter.setPen(QPen(QColor(self.colours.line), 1))
            painter.drawLine(QPointF(x, plot.top()), QPointF(x, plot.bottom()))
            painter.setPen(QColor(self.colours.muted))
            text = QRectF(x - 45, plot.bottom() + 3, 90, metrics.height())
            painter.drawText(text, Qt.AlignmentFlag.AlignHCenter, f"{tick:g} %")
        foot = QRectF(plot.left(), plot.bottom() + 3 + metrics.height(), plot.width(), metrics.height())
        painter.drawText(foot, Qt.AlignmentFlag.AlignHCenter, "Information of the attributes that is kept")
