"""Two measures against each other: one mark per solution, and their Pareto front."""

from __future__ import annotations

import numpy as np
import pyqtgraph as pg
from PySide6.QtGui import QColor, QPen

from ..presentation.chart_data import find_front
from .chart import MARK_PX, Chart
from .legend import LegendEntry


class TradeOffChart(Chart):
    """Draws the first measure along x and the second along y; Pareto-optimal solutions are filled."""

    def draw_rows(self) -> None:
        """Draw front and marks."""
        if len(self.measures) < 2:
            return
        x, y = self.measures[:2]
        self.set_axis_titles(x.label, y.label)
        rows = [
            row
            for row in self.rows
            if row.values.get(x.name) is not None and row.values.get(y.name) is not None
        ]
        points = [(float(row.values[x.name] or 0), float(row.values[y.name] or 0)) for row in rows]
        front = find_front(self.rows, x, y)
        if len(front) > 1:
            # Steps: nothing between two solutions is known to be possible.
            along_x_first = x.lower_is_better
            xs = np.repeat([point[0] for point in front], 2)
            ys = np.repeat([point[1] for point in front], 2)
            self.draw_line(
                xs[1:] if along_x_first else xs[:-1],
                ys[:-1] if along_x_first else ys[1:],
                self._front_pen(),
            )
        self.show_marks(rows, np.array(points), [MARK_PX if row.star else MARK_PX - 1 for row in rows])

    def _front_pen(self) -> QPen:
        return pg.mkPen(self.colours.accent, width=1.5, dash=[4, 3])

    def legend_entries(self) -> list[LegendEntry]:
        """Return the approaches, the front, and what filled marks mean."""
        text = QColor(self.colours.text)
        return [
            *super().legend_entries(),
            LegendEntry("Pareto front", text, line=self._front_pen()),
            LegendEntry("Filled: Pareto-optimal", text, "o"),
        ]
