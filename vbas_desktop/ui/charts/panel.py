"""The chart below the results: its kind, its measures, its picture."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtWidgets import (
    QComboBox,
    QHBoxLayout,
    QLabel,
    QPushButton,
    QStackedWidget,
    QToolButton,
    QWidget,
)

from vbas_desktop.ui.context import Context
from vbas_desktop.ui.numbers import measure_words
from vbas_desktop.ui.pictures import Drawing, copy_drawing, offer_to_save, record
from vbas_desktop.ui.theme import GRID
from vbas_desktop.ui.widgets.building import dress, in_column

from .chart import Chart
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
        self.all_again = QPushButton("All again")
        self._rows: tuple[ChartRow, ...] = ()
        self._measures: tuple[Measure, ...] = ()
        self._ticked: tuple[str, ...] = ()
        self.kind, self.first, self.second = QComboBox(), QComboBox(), QComboBox()
        self._against = QLabel("against")
        self._save = QToolButton()
        self._stack = QStackedWidget()
        self._upper, self._lower = QHBoxLayout(), QHBoxLayout()
        context.theme.set_icon(self._save, "save")
        self._build()
        context.theme.changed.connect(self._on_theme_changed)
        self._on_theme_changed()

    def _build(self) -> None:
        for name, title in _KINDS.items():
            self.kind.addItem(title, name)
        for combo, words, tip in (
            (self.kind, "Kind of chart", "How the solutions are drawn"),
            (self.first, "Measure", "What is drawn of them"),
            (self.second, "Second measure", "What it is drawn against"),
        ):
            combo.setAccessibleName(words)
            combo.setToolTip(tip)
            combo.setMinimumContentsLength(9)
            combo.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
            combo.activated.connect(self._on_choice)
        dress(self._save, toolTip="Save the chart as PNG, SVG or PDF", accessibleName="Save chart", autoRaise=True)
        self._save.clicked.connect(self.save)
        for row in (self._upper, self._lower):
            row.setContentsMargins(GRID, GRID // 2, GRID, GRID // 2)
            row.setSpacing(GRID)
        self._upper.addWidget(self.kind, 1)
        self.all_again.setToolTip("Remove the ranges on the axes of “All measures” (Ctrl+Shift+U)")
        self.all_again.setShortcut("Ctrl+Shift+U")
        self.all_again.hide()
        self.all_again.clicked.connect(self._on_all_again)
        self.axes.ranges_changed.connect(self._on_ranges)
        self._upper.addWidget(self.all_again)
        self._upper.addWidget(self._save)
        self._lower.addWidget(self._against)
        self._lower.addWidget(self.second, 1)
        for chart in self.charts.values():
            chart.solution_clicked.connect(self.solution_clicked)
            chart.save_wanted.connect(self.save)
            chart.copy_wanted.connect(self.copy)
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
            combo.clear()
            for measure in self._measures:
                combo.addItem(measure.title, measure.name)
                tip = measure_words(measure.name).summary
                combo.setItemData(combo.count() - 1, tip, Qt.ItemDataRole.ToolTipRole)
            combo.setCurrentIndex(names.index(chosen) if chosen in names else default)
        self._on_choice()

    @property
    def ranges(self) -> Ranges:
        """The ranges that are wanted."""
        return self.axes.ranges

    @Slot()
    def _on_all_again(self) -> None:
        self.axes.show_ranges({})

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

    @Slot()
    def _on_theme_changed(self) -> None:
        for chart in self.charts.values():
            chart.use_colours(self._context.theme.colours)

    @Slot()
    def save(self) -> None:
        """Save the chart as a picture."""
        offer_to_save(self._context, self, self._drawing(), f"chart {self.kind.currentData()}")

    @Slot()
    def copy(self) -> None:
        """Copy the chart as a picture."""
        copy_drawing(self._context, self._drawing())

    def _drawing(self) -> Drawing:
        return record(self.chart.size(), self.chart.paint_chart)
