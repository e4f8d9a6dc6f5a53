"""What came of a comparison: the summary in words, and charts of every measure by number of sites."""

from __future__ import annotations

from functools import partial
from html import escape

from PySide6.QtCore import Slot
from PySide6.QtWidgets import QComboBox, QGridLayout, QHBoxLayout, QScrollArea, QTextBrowser, QVBoxLayout, QWidget

from vbas_desktop.comparison.plan import COMPONENTS
from vbas_desktop.comparison.run import Comparison
from vbas_desktop.comparison.summary import Summary, labels_of
from vbas_desktop.ui.charts.bars import BarsChart
from vbas_desktop.ui.charts.rows import ChartRow, Measure
from vbas_desktop.ui.context import Context
from vbas_desktop.ui.numbers import measure_names, measure_words, shown_value, unit_of
from vbas_desktop.ui.pictures import Drawing, copy_drawing, offer_to_save, record
from vbas_desktop.ui.theme import GRID, Theme

from .heat import summary_html


class SummaryView(QTextBrowser):
    """The summary as tables, or as text, that can be read and copied."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self._summary: Summary | None = None
        theme.changed.connect(self._on_theme_changed)
        self.setAccessibleName("Summary of the comparison")
        self.setPlaceholderText("The summary appears here when a comparison is finished.")
        self.document().setDocumentMargin(2 * GRID)

    def show_summary(self, summary: Summary) -> None:
        """Show tables whose colours tell who is how far from the best."""
        self._summary = summary
        self.setHtml(summary_html(summary, self._theme.colours))

    @Slot()
    def _on_theme_changed(self) -> None:
        if self._summary is not None:
            self.show_summary(self._summary)

    def show_text(self, text: str) -> None:
        """Show lines of text: those without indent or dash as headings, what stands before a colon in bold."""
        lines: list[str] = []
        self._summary = None
        for line in filter(None, text.splitlines()):
            if line[0] not in " -":
                lines.append(f"<h4>{escape(line)}</h4>")
                continue
            head, colon, rest = line.strip(" -").partition(": ")
            lines.append(f"<p><b>{escape(head)}</b>: {escape(rest)}</p>" if colon else f"<p>{escape(head)}</p>")
        self.setHtml("".join(lines))


class ComparisonCharts(QWidget):
    """One chart for each measure: values by number of sites, one bar for each location approach."""

    def __init__(self, context: Context) -> None:
        super().__init__()
        self._context = context
        self._comparison: Comparison | None = None
        self.scenario, self.number = QComboBox(), QComboBox()
        self.charts: dict[str, BarsChart] = {}
        self.scenario.setAccessibleName("Scenario")
        self.number.setAccessibleName("Approach for the number of sites")
        self.scenario.setToolTip("Quasi-identifiers and k of the solutions that are drawn")
        self.number.setToolTip("The approach that the number of sites of the drawn solutions comes from")
        for combo in (self.scenario, self.number):
            combo.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
            combo.setMinimumContentsLength(12)
            combo.activated.connect(self._on_choice)
        row = QHBoxLayout()
        row.addWidget(self.scenario, 2)
        row.addWidget(self.number, 1)
        body = QWidget()
        self._grid = QGridLayout(body)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setSpacing(GRID)
        scroll = QScrollArea()
        scroll.setWidgetResizable(True)
        scroll.setWidget(body)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, GRID, 0, 0)
        layout.addLayout(row)
        layout.addWidget(scroll, 1)
        context.theme.changed.connect(self._on_theme_changed)

    def show_comparison(self, comparison: Comparison) -> None:
        """Draw another comparison."""
        self._comparison = comparison
        self.scenario.clear()
        for place, scenario in enumerate(comparison.plan.scenarios):
            self.scenario.addItem(scenario.title, place)
        self.number.clear()
        self.number.addItems(labels_of(comparison, 0))
        names = measure_names([list(solution.measures) for _, solution in comparison.solutions[:1]])
        for name in names:
            if name not in self.charts:
                self._add_chart(name)
        self._on_choice()

    def _add_chart(self, name: str) -> None:
        chart = BarsChart(self._context.theme.colours)
        chart.setMinimumSize(260, 220)
        chart.setAccessibleName(measure_words(name).title)
        chart.save_wanted.connect(partial(self._save, name))
        chart.copy_wanted.connect(partial(self._copy, name))
        place = len(self.charts)
        self._grid.addWidget(chart, place // 2, place % 2)
        self.charts[name] = chart

    @Slot()
    def _on_choice(self) -> None:
        if self._comparison is None:
            return
        rows, system = self._rows(), self._comparison.finished[0].problem.regions.system
        for name, chart in self.charts.items():
            words = measure_words(name)
            chart.show_rows(rows, [Measure(name, words.title, unit_of(words, system))])

    def _rows(self) -> list[ChartRow]:
        comparison = self._comparison
        assert comparison is not None
        scenario = comparison.plan.scenarios[self.scenario.currentData()]
        system = comparison.finished[0].problem.regions.system
        rows = []
        several = [place for place in range(2, len(COMPONENTS)) if len(labels_of(comparison, place)) > 1]
        for number, (one, solution) in enumerate(comparison.solutions, 1):
            labels = one.combination.labels
            told = " · ".join([labels[1], *(labels[place] for place in several)])
            if one.combination.scenario == scenario and labels[0] == self.number.currentText():
                measures = solution.measures
                values = {name: shown_value(measure_words(name), value, system) for name, value in measures.items()}
                rows.append(ChartRow(number, told, solution.site_count, values, solution.pareto))
        return rows

    def _save(self, name: str) -> None:
        offer_to_save(self._context, self, self._drawing(name), f"chart {name}")

    def _copy(self, name: str) -> None:
        copy_drawing(self._context, self._drawing(name))

    def _drawing(self, name: str) -> Drawing:
        return record(self.charts[name].size(), self.charts[name].paint_chart)

    @Slot()
    def _on_theme_changed(self) -> None:
        for chart in self.charts.values():
            chart.use_colours(self._context.theme.colours)
