"""The chart below the results: its kind, its measures, its picture."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from PySide6.QtCore import Signal, Slot
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QComboBox, QStackedWidget, QToolButton, QWidget

from ..core.context import UiContext
from ..core.theme import GRID
from ..presentation.chart_data import ChartAxis, Ranges, SolutionRow, within
from ..widgets.column_picker import make_narrow
from ..widgets.fields import captioned
from ..widgets.layouts import button, hbox, set_items, vbox, with_properties
from .by_sites import SitesChart
from .chart import Chart, make_interactive
from .histogram import HistogramChart
from .parallel_axes import ParallelAxesChart
from .trade_off import TradeOffChart

_KINDS = {
    "trade_off": "Trade-off",
    "by_sites": "By number of sites",
    "parallel": "All measures",
    "histogram": "Distribution",
}
_ARROW_PX = 44
"""What a list needs beside its text."""


class ChartPanel(QWidget):
    """Shows one chart at a time; all share rows and selection. `solution_clicked(number)`.

    Ranges that are set on the axes of all measures leave solutions out of the other charts, too: `ranges_changed()`.
    """

    solution_clicked = Signal(int)
    ranges_changed = Signal()

    def __init__(self, context: UiContext, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._context = context
        colours = context.theme.colours
        self.axes = ParallelAxesChart(colours)
        self.charts: dict[str, Chart] = {
            "trade_off": TradeOffChart(colours),
            "by_sites": SitesChart(colours),
            "parallel": self.axes,
            "histogram": HistogramChart(colours),
        }
        everything = "Remove the ranges on the axes of “All measures”"
        self.all_again = button(
            "All again", lambda: self.axes.show_ranges({}), everything, "Ctrl+Shift+U"
        )
        self._rows: tuple[SolutionRow, ...] = ()
        self._measures: tuple[ChartAxis, ...] = ()
        self._chosen_by_hand: set[QComboBox] = set()
        self._ticked: tuple[str, ...] = ()
        self.kind = QComboBox()
        self.first = QComboBox()
        self.second = QComboBox()
        self._save = QToolButton()
        self._stack = QStackedWidget()
        context.theme.set_icon(self._save, "save")
        context.model.view_changed.connect(self._on_view_changed)
        self._build()

    def _build(self) -> None:
        set_items(self.kind, ((title, name) for name, title in _KINDS.items()))
        for combo, words, tip in (
            (self.kind, "Kind of chart", "How the solutions are drawn"),
            (self.first, "Measure", "What is drawn of them"),
            (self.second, "Second measure", "What it is drawn against"),
        ):
            make_narrow(with_properties(combo, accessibleName=words, toolTip=tip), 9)
            combo.activated.connect(partial(self._on_combo_activated, combo))
        with_properties(
            self._save,
            toolTip="Save the chart as PNG, SVG or PDF",
            accessibleName="Save chart",
            autoRaise=True,
        )
        self._save.clicked.connect(lambda: self.chart.save_requested.emit())
        self.all_again.hide()
        self.axes.ranges_changed.connect(self._on_ranges)
        margins = (GRID, GRID // 2, GRID, GRID // 2)
        upper = hbox(
            (captioned("Chart", self.kind), 1), self.all_again, self._save, margins=margins, spacing=GRID
        )
        self._of = captioned("Measure", self.first)
        self._against = captioned("against", self.second)
        self._lower = hbox(
            (self._of, 1), (self._against, 1), margins=(GRID, 0, GRID, GRID // 2), spacing=GRID
        )
        for kind, chart in self.charts.items():
            chart.setAccessibleName(_KINDS[kind])
            chart.solution_clicked.connect(self.solution_clicked)
            make_interactive(chart, self._context, f"chart {kind}")
            self._stack.addWidget(chart)
        vbox(upper, self._lower, (self._stack, 1), within=self, margins=0, spacing=0)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Arrange the measures for the new width."""
        super().resizeEvent(event)
        self._arrange_measures()

    def _arrange_measures(self) -> None:
        """Put the measures beside each other, each as wide as its name needs, or below each other if one were cut."""
        needed = 2 * GRID + self._lower.spacing()
        for index, (part, combo) in enumerate(((self._of, self.first), (self._against, self.second))):
            name = self.fontMetrics().horizontalAdvance(combo.currentText()) + _ARROW_PX
            width = part.sizeHint().width() - combo.sizeHint().width() + name
            self._lower.setStretch(index, width)
            needed += width
        is_wide = needed <= self.width()
        self._lower.setDirection(
            QBoxLayout.Direction.LeftToRight if is_wide else QBoxLayout.Direction.TopToBottom
        )

    @property
    def chart(self) -> Chart:
        """The chart that is shown."""
        return self.charts[self.kind.currentData()]

    def show_kind(self, kind: str) -> None:
        """Show another kind: trade_off, by_sites, parallel or histogram."""
        self.kind.setCurrentIndex(self.kind.findData(kind))
        self._on_choice()

    def show_rows(
        self, rows: Sequence[SolutionRow], measures: Sequence[ChartAxis], ticked: tuple[str, ...]
    ) -> None:
        """Draw these solutions. ``ticked`` measures rate them: the first axes, and the parallel ones."""
        self._rows = tuple(rows)
        self._measures = tuple(measures)
        self._ticked = ticked
        names = [measure.name for measure in self._measures]
        rated = [name for name in names if name in ticked] or names
        for combo, default in ((self.first, 0), (self.second, 1)):
            chosen = combo.currentData() if combo in self._chosen_by_hand else None
            set_items(combo, ((choice.title, choice.name, choice.help) for choice in self._measures))
            usual = names.index(rated[default]) if default < len(rated) else min(default, len(names) - 1)
            combo.setCurrentIndex(names.index(chosen) if chosen in names else usual)
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

    def _on_combo_activated(self, combo: QComboBox, index: int) -> None:
        """Keep a measure that is chosen by hand; until then the axes are those that rate the solutions."""
        self._chosen_by_hand.add(combo)
        self._context.state.change_view(chart=self.kind.currentData())
        self._on_choice()

    @Slot()
    def _on_view_changed(self) -> None:
        """Show the kind of chart that a project restores."""
        kind = self._context.state.view.chart
        if kind in self.charts and kind != self.kind.currentData():
            self.show_kind(kind)

    @Slot()
    def _on_choice(self) -> None:
        kind = self.kind.currentData()
        self._stack.setCurrentWidget(self.charts[kind])
        self._of.setVisible(kind != "parallel")
        self._against.setVisible(kind == "trade_off")
        self._arrange_measures()
        by_name = {measure.name: measure for measure in self._measures}
        chosen = {
            "by_sites": [self.first.currentData()],
            "histogram": [self.first.currentData()],
            "trade_off": [self.first.currentData(), self.second.currentData()],
            "parallel": [measure.name for measure in self._measures if measure.name in self._ticked],
        }[kind]
        visible_rows = [
            row for row in self._rows if kind == "parallel" or within(row.values, self.ranges)
        ]
        self.chart.show_rows(visible_rows, [by_name[name] for name in chosen if name in by_name])
