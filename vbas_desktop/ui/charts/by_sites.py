"""A measure by number of sites: one line with marks per approach."""

from __future__ import annotations

from dataclasses import replace
from html import escape

import numpy as np

from ..core.theme import ColourScheme
from ..presentation.chart_data import SolutionRow
from .axes import CountAxis
from .chart import Chart
from .legend import LegendEntry


class SitesChart(Chart):
    """Draws the first measure. Of several solutions with one number of sites and approach the last is drawn."""

    def __init__(self, colours: ColourScheme) -> None:
        super().__init__(colours, {"bottom": CountAxis("bottom")})

    def list_series(self) -> dict[str, list[SolutionRow]]:
        """Return the drawn solutions of each approach by ascending number of sites."""
        name = self.measures[0].name
        by_sites: dict[str, dict[int, SolutionRow]] = {approach: {} for approach in self.styles}
        for row in sorted(self.rows, key=lambda row: (row.sites, row.number)):
            if row.values.get(name) is not None:
                by_sites[row.approach][row.sites] = row
        return {approach: list(rows.values()) for approach, rows in by_sites.items() if rows}

    def draw_rows(self) -> None:
        """Draw lines and marks."""
        measure = self.measures[0]
        if self.shares_legend:
            # In a grid of small charts a long title has no room along the axis.
            self.item.setTitle(escape(measure.label), color=self.colours.text)
            self.set_axis_titles("Sites", "")
        else:
            self.set_axis_titles("Sites", measure.label)
        rows: list[SolutionRow] = []
        points: list[tuple[float, float]] = []
        for approach, series in self.list_series().items():
            values = [float(row.values[measure.name] or 0) for row in series]
            sites = [float(row.sites) for row in series]
            self.draw_line(sites, values, self.approach_pen(approach))
            rows += series
            points += zip(sites, values, strict=True)
        self.show_marks(rows, np.array(points))

    def legend_entries(self) -> list[LegendEntry]:
        """Return the approaches with their lines."""
        return [replace(entry, line=self.approach_pen(entry.text)) for entry in super().legend_entries()]
