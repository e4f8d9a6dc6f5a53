"""What came of a comparison: the summary in words and as coloured tables, and charts of every measure."""

from __future__ import annotations

from collections.abc import Hashable, Mapping

from PySide6.QtCore import Slot
from PySide6.QtWidgets import QComboBox, QTextBrowser, QWidget

from vbas_desktop.engine.comparison.plan import COMPONENTS
from vbas_desktop.engine.comparison.run import Comparison
from vbas_desktop.engine.comparison.summary import (
    COMPONENT_TITLES,
    ComparisonSummary,
    MeasureComparison,
    ParetoFront,
    list_labels,
)
from vbas_desktop.engine.figures import get_measure_figure, list_measure_figures
from vbas_desktop.model.text import format_count

from ...charts.by_sites import SitesChart
from ...charts.chart import make_interactive
from ...charts.legend import LegendStrip
from ...core.context import UiContext
from ...core.theme import GRID, ColourScheme, Theme
from ...presentation.chart_data import ChartAxis, SeriesStyle, SolutionRow, assign_styles
from ...presentation.results_table import chart_rows
from ...state.scenario import RowRanks
from ...widgets.column_picker import make_narrow
from ...widgets.fields import captioned
from ...widgets.layouts import grid_layout, scroll_area, set_items, vbox, with_properties
from ...widgets.plain_text import rich_text

HOTTEST = 0.5
"""From this much above the best on, a cell has the full colour."""


class SummaryView(QTextBrowser):
    """The summary as tables, or as text, that can be read and copied."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self._summary: ComparisonSummary | None = None
        theme.changed.connect(self._on_theme_changed)
        self.setAccessibleName("Summary of the comparison")
        self.setPlaceholderText("The summary appears here when a comparison is finished.")
        self.document().setDocumentMargin(2 * GRID)

    def show_summary(self, summary: ComparisonSummary) -> None:
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
                lines.append(f"<h4>{rich_text(line)}</h4>")
                continue
            head, colon, rest = line.strip(" -").partition(": ")
            lines.append(
                f"<p><b>{rich_text(head)}</b>: {rich_text(rest)}</p>"
                if colon
                else f"<p>{rich_text(head)}</p>"
            )
        self.setHtml("".join(lines))


class ComparisonCharts(QWidget):
    """One chart for each measure: values by number of sites, one line for each approach, and one legend for all."""

    def __init__(self, context: UiContext) -> None:
        super().__init__()
        self._context = context
        self._comparison: Comparison | None = None
        self.scenario = QComboBox()
        self.number = QComboBox()
        self.charts: dict[str, SitesChart] = {}
        self.legend = LegendStrip(context.theme.colours)
        number = "The approach that the number of sites of the drawn solutions comes from"
        for combo, name, tip in (
            (self.scenario, "Scenario", "Quasi-identifiers and k of the solutions that are drawn"),
            (self.number, "Approach for the number of sites", number),
        ):
            make_narrow(with_properties(combo, accessibleName=name, toolTip=tip), 12)
            combo.activated.connect(self._on_choice)
        choices = vbox(captioned("Scenario", self.scenario), captioned("Number of sites", self.number))
        body = QWidget()
        self._grid = grid_layout(within=body, margins=0, across=GRID, down=GRID)
        vbox(choices, self.legend, (scroll_area(body), 1), within=self, margins=(0, GRID, 0, 0))

    def show_comparison(self, comparison: Comparison) -> None:
        """Draw another comparison."""
        self._comparison = comparison
        set_items(
            self.scenario,
            ((scenario.title, index) for index, scenario in enumerate(comparison.plan.scenarios)),
        )
        set_items(self.number, ((label, label) for label in list_labels(comparison, 0)))
        for figure in list_measure_figures(solution for _, solution in comparison.solutions[:1]):
            if figure.name not in self.charts:
                self._add_chart(figure.name)
        self._on_choice()

    def _add_chart(self, name: str) -> None:
        chart = SitesChart(self._context.theme.colours)
        chart.shares_legend = True
        chart.setMinimumSize(260, 220)
        chart.setAccessibleName(get_measure_figure(name).title)
        make_interactive(chart, self._context, f"chart {name}")
        position = len(self.charts)
        if self.charts:
            chart.item.setXLink(next(iter(self.charts.values())).item)
        else:
            chart.legend_changed.connect(self._on_legend_changed)
        self._grid.addWidget(chart, position // 2, position % 2)
        self.setTabOrder(next(reversed(self.charts.values()), self.number), chart)
        self.charts[name] = chart

    @Slot()
    def _on_legend_changed(self) -> None:
        """Show the legend of the first chart, which is that of all."""
        first = next(iter(self.charts.values()), None)
        if first is not None:
            self.legend.show_entries(first.legend.entries, first.colours)

    @Slot()
    def _on_choice(self) -> None:
        if self._comparison is None:
            return
        rows = self._rows()
        system = self._comparison.finished[0].problem.regions.system
        for name, chart in self.charts.items():
            chart.show_rows(rows, [ChartAxis.of_figure(get_measure_figure(name), system)])

    def _rows(self) -> list[SolutionRow]:
        comparison = self._comparison
        assert comparison is not None
        scenario = comparison.plan.scenarios[self.scenario.currentData()]
        system = comparison.finished[0].problem.regions.system
        label = self.number.currentText()
        numbered = [
            (number, solution)
            for number, (run, solution) in enumerate(comparison.solutions, 1)
            if run.combination.scenario == scenario and run.combination.labels[0] == label
        ]
        names = [figure.name for figure in list_measure_figures(solution for _, solution in numbered)]
        ranks = {number: RowRanks(solution.pareto) for number, solution in numbered}
        return chart_rows(numbered, names, system, ranks, self._styles())

    def _styles(self) -> Mapping[Hashable, SeriesStyle]:
        """Return the styles that the approaches have in the results, too, where the solutions are listed."""
        assert self._comparison is not None
        listed = [entry.solution for entry in self._context.state.entries]
        return assign_styles([*listed, *(solution for _, solution in self._comparison.solutions)])


def heat_of(contest: MeasureComparison, label: str) -> float | None:
    """Return the excess of an approach's sum over the lowest, as a share of it; None where sums cannot be compared."""
    totals = {standing.label: standing.total for standing in contest.standings}
    least = min(totals.values())
    if not contest.complete or (least <= 0 and totals[label] != least):
        return None
    return 0.0 if totals[label] == least else totals[label] / least - 1


def summary_html(summary: ComparisonSummary, colours: ColourScheme) -> str:
    """Make a table for each component with several approaches, and one of the Pareto-optimal solutions."""
    comparison = summary.comparison
    parts = [
        f"<h4>{format_count(len(comparison.finished), 'combination')} in "
        f"{format_count(len(comparison.plan.scenarios), 'scenario')}, "
        f"{format_count(len(comparison.solutions), 'solution')}</h4>"
    ]
    for component in COMPONENTS:
        contests = [contest for contest in summary.contests if contest.component == component]
        if contests:
            parts.append(_contests(COMPONENT_TITLES[component], contests, colours))
    parts.append(_fronts(summary.fronts, colours))
    return "".join(parts)


def _contests(title: str, contests: list[MeasureComparison], colours: ColourScheme) -> str:
    labels = sorted({standing.label for contest in contests for standing in contest.standings})
    rows = [["Measure", *labels]]
    shades: list[list[str]] = []
    for contest in contests:
        rows.append(
            [get_measure_figure(contest.measure).title, *(_cell(contest, label) for label in labels)]
        )
        shades.append([_shade(heat_of(contest, label), colours) for label in labels])
    note = (
        "How far the total over all comparisons is above the lowest total and, in brackets, in how many comparisons "
        "the approach has the lowest value. Only this approach differs within a comparison. The stronger the colour, "
        "the further from the best."
    )
    return f"<h4>{rich_text(title)}</h4>{_table(rows, shades)}<p>{note}</p>"


def _cell(contest: MeasureComparison, label: str) -> str:
    standing = next(candidate for candidate in contest.standings if candidate.label == label)
    heat = heat_of(contest, label)
    excess = "–" if heat is None else "lowest" if heat == 0 else f"+{100 * heat:,.1f} %"
    return f"{excess} ({standing.best:,} of {contest.comparisons:,})"


def _fronts(fronts: tuple[ParetoFront, ...], colours: ColourScheme) -> str:
    labels = list(dict.fromkeys(label for front in fronts for label in front.by_label))
    rows = [["Scenario", *labels]]
    shades = []
    for front in fronts:
        numbers = [front.by_label.get(label, (0, 0)) for label in labels]
        rows.append([front.scenario.title, *(f"{on_front:,} of {of:,}" for on_front, of in numbers)])
        shades.append(
            [_shade(HOTTEST * (1 - on_front / of) if of else None, colours) for on_front, of in numbers]
        )
    note = "Pareto-optimal: no other solution of the scenario is as good in all rated measures and better in one."
    return f"<h4>Pareto-optimal solutions</h4>{_table(rows, shades)}<p>{note}</p>"


def _table(rows: list[list[str]], shades: list[list[str]]) -> str:
    head = "".join(f'<th align="left">{rich_text(text)}</th>' for text in rows[0])
    body = ""
    for (name, *cells), row in zip(rows[1:], shades, strict=True):
        body += f"<tr><td><b>{rich_text(name)}</b></td>"
        for text, shade in zip(cells, row, strict=True):
            words = f'<font color="{_ink(shade)}">{rich_text(text)}</font>'
            body += f'<td bgcolor="{shade}" align="right">{words}</td>'
        body += "</tr>"
    return f'<table cellspacing="1" cellpadding="5"><tr>{head}</tr>{body}</table>'


def _shade(heat: float | None, colours: ColourScheme) -> str:
    if heat is None:
        return colours.base
    share = min(1.0, heat / HOTTEST)
    ends = zip(_parts(colours.base), _parts(colours.sequence[3]), strict=True)
    return "#" + "".join(f"{round(low + share * (high - low)):02x}" for low, high in ends)


def _ink(shade: str) -> str:
    """Return the darker or the lighter text colour, whichever is legible on a shade."""
    red, green, blue = _parts(shade)
    return "#101418" if 0.299 * red + 0.587 * green + 0.114 * blue > 128 else "#f4f6f8"


def _parts(colour: str) -> tuple[int, int, int]:
    return int(colour[1:3], 16), int(colour[3:5], 16), int(colour[5:7], 16)
