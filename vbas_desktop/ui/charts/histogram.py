"""How a measure is distributed over the solutions: bars of counts, stacked by approach."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyqtgraph as pg
from numpy.typing import NDArray
from PySide6.QtCore import QPointF

from vbas_desktop.model.text import format_count

from ..core.theme import ColourScheme
from ..presentation.chart_data import SolutionRow, short_number
from .axes import CountAxis
from .chart import Chart

_MOST_BINS = 20


@dataclass(frozen=True)
class Bar:
    """The solutions of one approach in one bin: values from ``left`` to ``right``, drawn from ``bottom`` to ``top``."""

    approach: str
    rows: tuple[SolutionRow, ...]
    left: float
    right: float
    bottom: int

    @property
    def top(self) -> int:
        """Return the height at which the bar ends."""
        return self.bottom + len(self.rows)

    def contains(self, position: QPointF) -> bool:
        """Say if a position, in values, is inside."""
        return self.left <= position.x() <= self.right and self.bottom <= position.y() <= self.top


class HistogramChart(Chart):
    """Counts the solutions by the first measure. A click on a bar chooses its best one, another click the next."""

    bars: tuple[Bar, ...] = ()

    def __init__(self, colours: ColourScheme) -> None:
        super().__init__(colours, {"left": CountAxis("left")})

    def draw_rows(self) -> None:
        """Draw the bars of every approach upon those of the ones before."""
        measure = self.measures[0]
        self.set_axis_titles(measure.label, "Solutions")
        rows = [row for row in self.rows if row.values.get(measure.name) is not None]
        values = np.array([float(row.values[measure.name] or 0) for row in rows])
        self.bars = self._make_bars(rows, values) if rows else ()
        for approach in self.styles:
            own = [bar for bar in self.bars if bar.approach == approach]
            item = pg.BarGraphItem(
                x0=[bar.left for bar in own],
                x1=[bar.right for bar in own],
                y0=[bar.bottom for bar in own],
                y1=[bar.top for bar in own],
                brush=self.approach_colour(approach),
                pen=pg.mkPen(self.colours.base),
            )
            self.add_item(item)
        middles = {
            row.number: (value, bar.bottom + position + 0.5)
            for bar in self.bars
            for position, (row, value) in enumerate(self._with_values(bar))
        }
        self.place_marks(list(middles), list(middles.values()))

    def _make_bars(self, rows: list[SolutionRow], values: NDArray[np.float64]) -> tuple[Bar, ...]:
        n_bins = int(np.clip(np.ceil(np.sqrt(len(rows))), 5, _MOST_BINS))
        edges = np.histogram_bin_edges(values, n_bins)
        bins = np.clip(np.searchsorted(edges, values, side="right") - 1, 0, n_bins - 1)
        bottoms = np.zeros(n_bins, np.int64)
        bars = []
        for approach in self.styles:
            for number in range(n_bins):
                own = [
                    row
                    for row, at in zip(rows, bins, strict=True)
                    if at == number and row.approach == approach
                ]
                if own:
                    own.sort(key=lambda row: (row.values[self.measures[0].name] or 0, row.number))
                    bottom = int(bottoms[number])
                    bars.append(
                        Bar(approach, tuple(own), float(edges[number]), float(edges[number + 1]), bottom)
                    )
                    bottoms[number] += len(own)
        return tuple(bars)

    def _with_values(self, bar: Bar) -> list[tuple[SolutionRow, float]]:
        return [(row, float(row.values[self.measures[0].name] or 0)) for row in bar.rows]

    def bar_at(self, position: QPointF) -> Bar | None:
        """Return the bar at a position of this widget."""
        values = self.to_values(position)
        return next((bar for bar in self.bars if bar.contains(values)), None)

    def number_at(self, position: QPointF) -> int | None:
        """Return the solution that a click chooses: the next one of the bar, from the lowest value on."""
        bar = self.bar_at(position)
        if bar is None:
            return None
        numbers = [row.number for row in bar.rows]
        following = numbers.index(self.selected) + 1 if self.selected in numbers else 0
        return numbers[following % len(numbers)]

    def tip_at(self, position: QPointF) -> str:
        """Describe the bar under the pointer."""
        bar = self.bar_at(position)
        if bar is None:
            return ""
        between = f"{short_number(bar.left)} to {short_number(bar.right)}"
        numbers = ", ".join(f"#{row.number:,}" for row in bar.rows[:12])
        more = ", …" if len(bar.rows) > 12 else ""
        title = self.measures[0].label
        return f"{bar.approach}: {format_count(len(bar.rows), 'solution')}\n{title}: {between}\n{numbers}{more}"
