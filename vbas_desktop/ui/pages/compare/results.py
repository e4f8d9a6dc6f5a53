"""What came of a comparison: the summary in words and as coloured tables, and charts of every measure."""

from __future__ import annotations

from PySide6.QtCore import Slot
from PySide6.QtWidgets import QComboBox, QTextBrowser, QWidget

from vbas_desktop.comparison.plan import COMPONENTS
from vbas_desktop.comparison.run import Comparison
from vbas_desktop.comparison.summary import Contest, Front, Summary, labels_of
from vbas_desktop.comparison.words import COMPONENT_WORDS, measure_title
from vbas_desktop.model.words import counted
from vbas_desktop.ui.charts.chart import attend
from vbas_desktop.ui.charts.plots import BarsChart
from vbas_desktop.ui.charts.rows import ChartRow, Measure
from vbas_desktop.ui.context import Context
from vbas_desktop.ui.numbers import measure_names, measure_words, shown_value, unit_of
from vbas_desktop.ui.theme import GRID, Colours, Theme
from vbas_desktop.ui.widgets.building import dress, in_column, in_grid, in_row, offer, scrolled
from vbas_desktop.ui.widgets.names_edit import make_narrow
from vbas_desktop.ui.widgets.plain_text import rich_text

HOTTEST = 0.5
"""From this much above the best on, a cell has the full colour."""


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
                lines.append(f"<h4>{rich_text(line)}</h4>")
                continue
            head, colon, rest = line.strip(" -").partition(": ")
            lines.append(
                f"<p><b>{rich_text(head)}</b>: {rich_text(rest)}</p>" if colon else f"<p>{rich_text(head)}</p>"
            )
        self.setHtml("".join(lines))


class ComparisonCharts(QWidget):
    """One chart for each measure: values by number of sites, one bar for each location approach."""

    def __init__(self, context: Context) -> None:
        super().__init__()
        self._context = context
        self._comparison: Comparison | None = None
        self.scenario, self.number = QComboBox(), QComboBox()
        self.charts: dict[str, BarsChart] = {}
        number = "The approach that the number of sites of the drawn solutions comes from"
        for combo, name, tip in (
            (self.scenario, "Scenario", "Quasi-identifiers and k of the solutions that are drawn"),
            (self.number, "Approach for the number of sites", number),
        ):
            make_narrow(dress(combo, accessibleName=name, toolTip=tip), 12)
            combo.activated.connect(self._on_choice)
        row = in_row((self.scenario, 2), (self.number, 1))
        body = QWidget()
        self._grid = in_grid(within=body, margins=0, across=GRID, down=GRID)
        in_column(row, (scrolled(body), 1), within=self, margins=(0, GRID, 0, 0))

    def show_comparison(self, comparison: Comparison) -> None:
        """Draw another comparison."""
        self._comparison = comparison
        offer(self.scenario, ((each.title, place) for place, each in enumerate(comparison.plan.scenarios)))
        offer(self.number, ((label, label) for label in labels_of(comparison, 0)))
        names = measure_names([list(solution.measures) for _, solution in comparison.solutions[:1]])
        for name in names:
            if name not in self.charts:
                self._add_chart(name)
        self._on_choice()

    def _add_chart(self, name: str) -> None:
        chart = BarsChart(self._context.theme.colours)
        chart.setMinimumSize(260, 220)
        chart.setAccessibleName(measure_words(name).title)
        attend(chart, self._context, f"chart {name}")
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


def heat_of(contest: Contest, label: str) -> float | None:
    """How far the sum of an approach is above the lowest, as a share of that; None where sums cannot be compared."""
    totals = {standing.label: standing.total for standing in contest.standings}
    least = min(totals.values())
    if not contest.complete or (least <= 0 and totals[label] != least):
        return None
    return 0.0 if totals[label] == least else totals[label] / least - 1


def summary_html(summary: Summary, colours: Colours) -> str:
    """One table for each component of which several approaches were compared, and one of the unbeaten solutions."""
    comparison = summary.comparison
    parts = [
        f"<h4>{counted(len(comparison.finished), 'combination')} in "
        f"{counted(len(comparison.plan.scenarios), 'scenario')}, {counted(len(comparison.solutions), 'solution')}</h4>"
    ]
    for component in COMPONENTS:
        contests = [contest for contest in summary.contests if contest.component == component]
        if contests:
            parts.append(_contests(COMPONENT_WORDS[component], contests, colours))
    parts.append(_fronts(summary.fronts, colours))
    return "".join(parts)


def _contests(title: str, contests: list[Contest], colours: Colours) -> str:
    labels = sorted({standing.label for contest in contests for standing in contest.standings})
    rows = [["Measure", *labels]]
    shades: list[list[str]] = []
    for contest in contests:
        rows.append([measure_title(contest.measure), *(_cell(contest, label) for label in labels)])
        shades.append([_shade(heat_of(contest, label), colours) for label in labels])
    note = (
        "How far the total over all comparisons is above the lowest total and, in brackets, in how many comparisons "
        "the approach has the lowest value. Only this approach differs within a comparison. The stronger the colour, "
        "the further from the best."
    )
    return f"<h4>{rich_text(title)}</h4>{_table(rows, shades)}<p>{note}</p>"


def _cell(contest: Contest, label: str) -> str:
    standing = next(each for each in contest.standings if each.label == label)
    heat = heat_of(contest, label)
    told = "–" if heat is None else "lowest" if heat == 0 else f"+{100 * heat:,.1f} %"
    return f"{told} ({standing.best:,} of {contest.comparisons:,})"


def _fronts(fronts: tuple[Front, ...], colours: Colours) -> str:
    labels = list(dict.fromkeys(label for front in fronts for label in front.by_label))
    rows, shades = [["Scenario", *labels]], []
    for front in fronts:
        numbers = [front.by_label.get(label, (0, 0)) for label in labels]
        rows.append([front.scenario.title, *(f"{kept:,} of {of:,}" for kept, of in numbers)])
        shades.append([_shade(HOTTEST * (1 - kept / of) if of else None, colours) for kept, of in numbers])
    note = "Unbeaten: no other solution of the scenario is as good in all measures that count and better in one."
    return f"<h4>Unbeaten solutions</h4>{_table(rows, shades)}<p>{note}</p>"


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


def _shade(heat: float | None, colours: Colours) -> str:
    if heat is None:
        return colours.base
    share = min(1.0, heat / HOTTEST)
    ends = zip(_parts(colours.base), _parts(colours.sequence[3]), strict=True)
    return "#" + "".join(f"{round(low + share * (high - low)):02x}" for low, high in ends)


def _ink(shade: str) -> str:
    """Letters that can be read on a shade: the darker or the lighter of two."""
    red, green, blue = _parts(shade)
    return "#101418" if 0.299 * red + 0.587 * green + 0.114 * blue > 128 else "#f4f6f8"


def _parts(colour: str) -> tuple[int, int, int]:
    return int(colour[1:3], 16), int(colour[3:5], 16), int(colour[5:7], 16)
