"""Bars side by side for each category, and a matrix of counts in colours."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QPointF, QRectF
from PySide6.QtGui import QColor

from ..core.theme import ColourScheme
from .axes import LabelAxis
from .legend import LegendEntry
from .plot_view import PlotView

_BAR_WIDTH = 0.27
_UPRIGHT_PX = 110
"""So long may the names of columns be, which stand upright."""


class GroupedBarChart(PlotView):
    """For each category one bar per series, side by side."""

    def __init__(self, colours: ColourScheme, x_title: str, y_title: str) -> None:
        self._labels = LabelAxis("bottom")
        super().__init__(colours, {"bottom": self._labels})
        self._titles = (x_title, y_title)
        self.labels: Sequence[str] = ()
        self.series: Mapping[str, Sequence[int]] = {}
        self._bars: list[pg.BarGraphItem] = []
        self.item.getViewBox().setMouseEnabled(x=True, y=False)
        self.set_axis_titles(x_title, y_title)

    def show_series(self, labels: Sequence[str], series: Mapping[str, Sequence[int]]) -> None:
        """Draw other counts: for each series as many as there are labels."""
        self.labels = labels
        self.series = series
        self.show_everything()
        self.draw()

    def series_colours(self) -> list[QColor]:
        """Return the colours of the series."""
        return [
            QColor(self.colours.field),
            QColor(self.colours.accent),
            QColor(self.colours.series_colour(1)),
        ]

    def draw(self) -> None:
        """Draw the bars."""
        for bars in self._bars:
            self.item.removeItem(bars)
        self._bars = []
        self._labels.labels = self.labels
        positions = np.arange(len(self.labels), dtype=float)
        for number, (counts, colour) in enumerate(
            zip(self.series.values(), self.series_colours(), strict=False)
        ):
            x = positions + (number - (len(self.series) - 1) / 2) * _BAR_WIDTH
            bars = pg.BarGraphItem(
                x=x, height=list(counts), width=_BAR_WIDTH * 0.92, brush=colour, pen=None
            )
            self._bars.append(bars)
            self.item.addItem(bars)
        self.show_legend(
            [
                LegendEntry(name, colour, "s")
                for name, colour in zip(self.series, self.series_colours(), strict=False)
            ]
        )
        rows = [self._describe(number) for number in range(len(self.labels))]
        self.setAccessibleDescription("; ".join(text.replace("\n", ", ") for text in rows[:24]))

    def _describe(self, number: int) -> str:
        lines = [f"{name}: {counts[number]:,}" for name, counts in self.series.items()]
        return "\n".join([f"{self._titles[0]}: {self.labels[number]}", *lines])

    def tip_at(self, position: QPointF) -> str:
        """Describe the counts of the category under the pointer."""
        number = round(self.to_values(position).x())
        return self._describe(number) if 0 <= number < len(self.labels) else ""

    def list_numbers(self) -> list[list[str]]:
        """Return the header and a row of counts for each category."""
        rows = zip(self.labels, *self.series.values(), strict=True)
        return [[self._titles[0], *self.series], *([str(cell) for cell in row] for row in rows)]


class HeatMapChart(PlotView):
    """A matrix of counts as colours: rows from top to bottom, cells without a count stay empty.

    `show_matrix` places it: its rows and columns may be blocks of several classes and slots.
    """

    def __init__(self, colours: ColourScheme) -> None:
        self._row_labels = LabelAxis("left")
        self._column_labels = LabelAxis("bottom", _UPRIGHT_PX)
        super().__init__(colours, {"left": self._row_labels, "bottom": self._column_labels})
        self._image = pg.ImageItem(axisOrder="row-major")
        self._image.setZValue(-1)
        self.item.addItem(self._image)
        view = self.item.getViewBox()
        view.invertY(True)
        self.item.showGrid(x=False, y=False)
        self._counts = np.zeros((0, 0), np.int64)
        self._extent = QRectF()

    def show_matrix(self, counts: np.ndarray, extent: QRectF) -> None:
        """Draw counts, rows × columns, over an extent in columns and rows."""
        self._counts = counts
        self._extent = extent
        self.draw()

    def set_labels(self, rows: Sequence[str], columns: Sequence[str]) -> None:
        """Name the rows and columns, one label per whole number."""
        self._row_labels.labels = rows
        self._column_labels.labels = columns

    def draw(self) -> None:
        """Draw the matrix in the colours of the theme."""
        self.item.showGrid(x=False, y=False)
        if not self._counts.size:
            self._image.clear()
            return
        positions = np.linspace(0, 1, len(self.colours.sequence))
        shades = [QColor(shade) for shade in self.colours.sequence]
        table = pg.ColorMap(positions, shades).getLookupTable(nPts=256, alpha=True)
        largest = max(1, int(self._counts.max()))
        image = table[np.clip(self._counts * 255 // largest, 0, 255)]
        image[self._counts == 0, 3] = 0
        self._image.setImage(image, levels=None)
        self._image.setRect(self._extent)
