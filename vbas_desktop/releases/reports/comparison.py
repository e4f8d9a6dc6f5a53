"""A comparison as a page for people: who wins what, what nothing dominates, and the charts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from vbas_desktop import __version__
from vbas_desktop.engine.comparison.plan import COMPONENTS, Scenario
from vbas_desktop.engine.comparison.run import Comparison
from vbas_desktop.engine.comparison.summary import (
    COMPONENT_TITLES,
    ComparisonSummary,
    MeasureComparison,
    ParetoFront,
    describe_front,
    describe_measure,
    list_labels,
)
from vbas_desktop.engine.figures import (
    SECONDS,
    SolutionFigure,
    format_to_four_decimals,
    get_measure_figure,
    list_measure_figures,
    with_unit,
)

from .blocks import Block, Figure, Pairs, Paragraph, Report, Section, Table, Tiles
from .charts import Panel, draw_bars
from .drawing import Drawing

_LISTED = 40
"""Solutions of one front that the page lists; comparison.csv has them all."""


def build_comparison_report(summary: ComparisonSummary) -> Report:
    """Build the whole page."""
    sections = [_overview(summary)]
    for component in COMPONENTS:
        contests = [contest for contest in summary.contests if contest.component == component]
        if contests:
            sections.append(_contests(component, contests))
    sections += [_fronts(summary), *_charts(summary.comparison)]
    return Report(
        "Comparison of approaches",
        "For the organisation: it shows how many records were suppressed",
        True,
        sections,
        f"Made by VBAS Desktop {__version__}. Lower is better in every measure.",
    )


def charts_of(comparison: Comparison) -> Iterator[tuple[Scenario, str, Drawing]]:
    """Draw each measure of each scenario by number of sites, grouped by location approach."""
    labels = list_labels(comparison, 1)
    figures = list_measure_figures(solution for _, solution in comparison.solutions)
    for scenario in comparison.plan.scenarios:
        for figure in figures:
            if figure.name != SECONDS:
                yield (
                    scenario,
                    figure.name,
                    draw_bars(_title(figure, comparison), _panels(comparison, scenario, figure), labels),
                )


def _title(figure: SolutionFigure, comparison: Comparison) -> str:
    unit = figure.unit
    if unit == "distance":
        system = comparison.finished[0].problem.regions.system
        unit = "km" if system.unit == "m" else f"{system.unit}s"
    return with_unit(figure.title, unit)


def _panels(comparison: Comparison, scenario: Scenario, figure: SolutionFigure) -> list[Panel]:
    """Make a panel for each approach for the number of sites (and for later components, if several are compared)."""
    compared = [index for index in range(2, len(COMPONENTS)) if len(list_labels(comparison, index)) > 1]
    panels: dict[str, dict[int, dict[str, float | None]]] = {}
    system = comparison.finished[0].problem.regions.system
    scale = 0.001 if figure.unit == "distance" and system.unit == "m" else 1.0
    for finished in comparison.finished:
        if finished.combination.scenario == scenario:
            labels = finished.combination.labels
            panel = panels.setdefault(
                " · ".join([labels[0], *(labels[index] for index in compared)]), {}
            )
            for solution in finished.result.solutions:
                value = figure.read(solution)
                group = panel.setdefault(solution.site_count, {})
                group[labels[1]] = None if value is None else float(value) * scale
    return [Panel(title, dict(sorted(groups.items()))) for title, groups in panels.items()]


def _overview(summary: ComparisonSummary) -> Section:
    comparison = summary.comparison
    plan = comparison.plan
    problem = comparison.finished[0].problem
    tiles = [
        (f"{len(comparison.solutions):,}", "solutions compared"),
        (f"{len(comparison.finished):,}", "combinations of approaches"),
        (f"{len(plan.scenarios):,}", "scenarios"),
        (f"{sum(len(front.solutions) for front in summary.fronts):,}", "Pareto-optimal solutions"),
    ]
    pairs = [("Records", f"{problem.records:,}"), ("Initial regions", f"{len(problem.regions):,}")]
    pairs += [
        (COMPONENT_TITLES[name], ", ".join(list_labels(comparison, place)))
        for place, name in enumerate(COMPONENTS)
    ]
    pairs += [(f"Scenario {number}", one.title) for number, one in enumerate(plan.scenarios, 1)]
    pairs.append(
        (
            "Pareto-optimal in",
            ", ".join(get_measure_figure(name).title.lower() for name in comparison.pareto_measures),
        )
    )
    return Section("What was compared", (Tiles(tiles), Pairs(pairs)))


def _contests(component: str, contests: list[MeasureComparison]) -> Section:
    note = (
        "Each comparison holds everything else fixed: the scenario, the other approaches and the place in the range of "
        "site numbers. Lowest counts shared places too; the sum runs over all comparisons."
    )
    blocks: list[Block] = [Paragraph(note, quiet=True)]
    for contest in contests:
        blocks.append(Paragraph(describe_measure(contest)))
        blocks.append(_standings(contest))
    return Section(COMPONENT_TITLES[component], blocks)


def _standings(contest: MeasureComparison) -> Table:
    leader = contest.standings[0].label
    rows = []
    for standing in contest.standings:
        against = (
            ""
            if standing.label == leader
            else _ratio(contest.duel(standing.label, leader).ratio_of_sums)
        )
        median = (
            "" if standing.label == leader else _ratio(contest.duel(standing.label, leader).median_ratio)
        )
        rows.append(
            [
                standing.label,
                f"{standing.best:,}",
                f"{standing.shared:,}",
                f"{standing.best / contest.comparisons:.0%}" if contest.comparisons else "–",
                format_to_four_decimals(standing.total),
                against,
                median,
            ]
        )
    headings = [
        "Approach",
        "lowest",
        "shared",
        "share",
        "sum",
        "sum ÷ that of the first",
        "median of the ratios",
    ]
    return Table(headings, rows, marked=frozenset({0}))


def _fronts(summary: ComparisonSummary) -> Section:
    blocks: list[Block] = []
    for front in summary.fronts:
        blocks += [Paragraph(describe_front(front)), _front_table(front, summary.comparison)]
    return Section("Pareto-optimal solutions", blocks)


def _front_table(front: ParetoFront, comparison: Comparison) -> Table:
    names = list(comparison.pareto_measures)
    told = [
        place for place in range(len(COMPONENTS)) if place < 2 or len(list_labels(comparison, place)) > 1
    ]
    rows = [
        [
            *(one.combination.labels[place] for place in told),
            f"{s.site_count:,}",
            f"{s.aggregated_regions:,}",
            *(format_to_four_decimals(s.measures.get(n)) for n in names),
        ]
        for one, s in front.solutions[:_LISTED]
    ]
    more = len(front.solutions) - _LISTED
    caption = f"… and {more:,} more, in comparison.csv" if more > 0 else ""
    components = ["Number", "Locations", *(COMPONENT_TITLES[COMPONENTS[place]] for place in told[2:])]
    headings = [*components, "Sites", "Regions", *(get_measure_figure(name).title for name in names)]
    return Table(headings, rows, numbers_from=len(components), caption=caption)


def _charts(comparison: Comparison) -> Iterator[Section]:
    drawn: dict[Scenario, list[Block]] = {}
    for scenario, _, drawing in charts_of(comparison):
        caption = "By number of sites; one panel for each approach that approximates it."
        described = replace(drawing, description=f"{drawing.description}, {scenario.title}")
        drawn.setdefault(scenario, []).append(Figure(described, caption))
    for number_, scenario in enumerate(comparison.plan.scenarios, 1):
        yield Section(f"Charts {number_}: {scenario.title}", drawn.get(scenario, []))


def _ratio(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"
