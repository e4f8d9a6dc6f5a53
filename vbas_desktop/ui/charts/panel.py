"""The chart below the results: its kind, its measures, its picture."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Signal, Slot
from PySide6.QtWidgets import QComboBox, QStackedWidget, QToolButton, QWidget

from vbas_desktop.ui.context import Context
from vbas_desktop.ui.numbers import measure_words
from vbas_desktop.ui.theme import GRID
from vbas_desktop.ui.widgets.building import button, dress, in_column, in_row, offer
from vbas_desktop.ui.widgets.names_edit import make_narrow
from vbas_desktop.ui.widgets.plain_text import Label

from .chart import Chart, attend
from .parallel import ParallelChart
from .plots import BarsChart, ScatterChart
from .rows import ChartRow, Measure, Ranges, within

_KINDS = {"bars": "Bars by site number", "scatter": "Two measures", "parallel": "All measures"}


class ChartPanel(QWidget):
    """Shows one chart at a time; all share rows and selection. `solution_clicked(number)`.

    Ranges that are set on the axes of all measures leave solutions out of the other charts, too: `ranges_changed()`.
    """

    solution_clicked = Signal(int)
    ranges_changed = Signal()

    def __init__(self, context: Context, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._context = context
        colours = context.theme.colours
        self.axes = ParallelChart(colours)
        self.charts: dict[str, Chart] = {
            "bars": BarsChart(colours),
            "scatter": ScatterChart(colours),
            "parallel": self.axes,
        }
        everything = "Remove the ranges on the axes of “All measures”"
        self.all_again = button("All again", lambda: self.axes.show_ranges({}), everything, "Ctrl+Shift+U")
        self._rows: tuple[ChartRow, ...] = ()
        self._measures: tuple[Measure, ...] = ()
        self._ticked: tuple[str, ...] = ()
        self.kind, self.first, self.second = QComboBox(), QComboBox(), QComboBox()
        self._against = Label("against")
        self._save = QToolButton()
        self._stack = QStackedWidget()
        context.theme.set_icon(self._save, "save")
        self._build()

    def _build(self) -> None:
        offer(self.kind, ((title, name) for name, title in _KINDS.items()))
        for combo, words, tip in (
            (self.kind, "Kind of chart", "How the solutions are drawn"),
            (self.first, "Measure", "What is drawn of them"),
            (self.second, "Second measure", "What it is drawn against"),
        ):
            make_narrow(dress(combo, accessibleName=words, toolTip=tip), 9)
            combo.activated.connect(self._on_choice)
        dress(self._save, toolTip="Save the chart as PNG, SVG or PDF", accessibleName="Save chart", autoRaise=True)
        self._save.clicked.connect(lambda: self.chart.save_wanted.emit())
        self.all_again.hide()
        self.axes.ranges_changed.connect(self._on_ranges)
        margins = (GRID, GRID // 2, GRID, GRID // 2)
        self._upper = in_row((self.kind, 1), self.all_again, self._save, margins=margins, spacing=GRID)
        self._lower = in_row(self._against, (self.second, 1), margins=margins, spacing=GRID)
        for kind, chart in self.charts.items():
            chart.solution_clicked.connect(self.solution_clicked)
            attend(chart, self._context, f"chart {kind}")
            self._stack.addWidget(chart)
        in_column(self._upper, self._lower, (self._stack, 1), within=self, margins=0, spacing=0)

    @property
    def chart(self) -> Chart:
        """The chart that is shown."""
        return self.charts[self.kind.currentData()]

    def show_kind(self, kind: str) -> None:
        """Show another kind: bars, scatter or parallel."""
        self.kind.setCurrentIndex(self.kind.findData(kind))
        self._on_choice()

    def show_rows(self, rows: Sequence[ChartRow], measures: Sequence[Measure], ticked: tuple[str, ...]) -> None:
        """Draw these solutions. ``ticked`` measures are those of the parallel axes."""
        self._rows, self._measures, self._ticked = tuple(rows), tuple(measures), ticked
        names = [measure.name for measure in self._measures]
        for combo, default in ((self.first, 0), (self.second, min(1, len(names) - 1))):
            chosen = combo.currentData()
            offer(combo, ((each.title, each.name, measure_words(each.name).summary) for each in self._measures))
            combo.setCurrentIndex(names.index(chosen) if chosen in names else default)
        self._on_choice()

    @property
    def ranges(self) -> Ranges:
        """The ranges that are wanted."""
        return self.axes.ranges

    @Slot()
    def _on_ranges(self) -> None:
        self.all_again.setVisible(bool(self.ranges))
        self.ranges_changed.emit()

    def select(self, number: int | None) -> None:
        """Lift one solution in all charts."""
        for chart in self.charts.values():
            chart.select(number)

    @Slot()
    def _on_choice(self) -> None:
        kind = self.kind.currentData()
        self._stack.setCurrentWidget(self.charts[kind])
        self._arrange(kind)
        by_name = {measure.name: measure for measure in self._measures}
        chosen = {
            "bars": [self.first.currentData()],
            "scatter": [self.first.currentData(), self.second.currentData()],
            "parallel": [measure.name for measure in self._measures if measure.name in self._ticked],
        }[kind]
        wanted = [row for row in self._rows if kind == "parallel" or within(row.values, self.ranges)]
        self.chart.show_rows(wanted, [by_name[name] for name in chosen if name in by_name])

    def _arrange(self, kind: str) -> None:
        """Two measures have a line of their own, so that their names are read in full."""
        two = kind == "scatter"
        self._lower.setContentsMargins(GRID, 0, GRID, GRID // 2 if two else 0)
        row, place = (self._lower, 0) if two else (self._upper, 1)
        if row.indexOf(self.first) != place:
            row.insertWidget(place, self.first, 1)
        self.first.setVisible(kind != "parallel")
        for widget in (self.second, self._against):
            widget.setVisible(two)
