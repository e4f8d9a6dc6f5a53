"""A comparison as a page for people: who wins what, what nothing dominates, and the charts."""

from __future__ import annotations

from collections.abc import Iterator

from vbas_desktop import __version__
from vbas_desktop.approaches.registry import approaches
from vbas_desktop.comparison.plan import COMPONENTS, Scenario
from vbas_desktop.comparison.run import Comparison
from vbas_desktop.comparison.summary import Contest, Front, Summary, labels_of
from vbas_desktop.comparison.words import COMPONENT_WORDS, contest_sentence, front_sentence, measure_title

from .bars import Panel, bars
from .blocks import Block, Figure, Pairs, Paragraph, Report, Section, Table, Tiles
from .drawing import Drawing

_LISTED = 40
"""Solutions of one front that the page lists; comparison.csv has them all."""


def comparison_report(summary: Summary) -> Report:
    """The whole page."""
    sections = [_overview(summary)]
    for component in COMPONENTS:
        contests = [contest for contest in summary.contests if contest.component == component]
        if contests:
            sections.append(_contests(component, contests))
    sections += [_fronts(summary), *_charts(summary.comparison)]
    return Report(
        "Comparison of approaches",
        "For the organisation: it tells how many records were suppressed",
        True,
        sections,
        f"Made by VBAS Desktop {__version__}. Lower is better in every measure.",
    )


def charts_of(comparison: Comparison) -> Iterator[tuple[Scenario, str, Drawing]]:
    """One chart for each scenario and measure: its values by number of sites, grouped by location approach."""
    labels = labels_of(comparison, 1)
    measures = dict.fromkeys(name for _, solution in comparison.solutions for name in solution.measures)
    for scenario in comparison.plan.scenarios:
        for measure in measures:
            if measure != "seconds":
                unit = _unit(measure, comparison)
                title = f"{measure_title(measure)}{f' ({unit})' if unit else ''}"
                yield scenario, measure, bars(title, _panels(comparison, scenario, measure), labels)


def _panels(comparison: Comparison, scenario: Scenario, measure: str) -> list[Panel]:
    """One panel for each approach for the number of sites (and for later components, if several are compared)."""
    several = [place for place in range(2, len(COMPONENTS)) if len(labels_of(comparison, place)) > 1]
    found: dict[str, dict[int, dict[str, float | None]]] = {}
    scale = 0.001 if _unit(measure, comparison) == "km" else 1.0
    for one in comparison.finished:
        if one.combination.scenario == scenario:
            labels = one.combination.labels
            location = labels[1]
            panel = found.setdefault(" · ".join([labels[0], *(labels[place] for place in several)]), {})
            for solution in one.result.solutions:
                value = solution.measures.get(measure)
                group = panel.setdefault(solution.site_count, {})
                group[location] = None if value is None else float(value) * scale
    return [Panel(title, dict(sorted(groups.items()))) for title, groups in found.items()]


def _unit(measure: str, comparison: Comparison) -> str:
    kind = approaches("rating").get(measure)
    unit = str(getattr(kind, "unit", ""))
    if unit == "distance":
        system = comparison.finished[0].problem.regions.system.unit
        return "km" if system == "m" else f"{system}s"
    return unit if unit.lower() not in measure_title(measure).lower() else ""


def _overview(summary: Summary) -> Section:
    comparison = summary.comparison
    plan, problem = comparison.plan, comparison.finished[0].problem
    tiles = [
        (f"{len(comparison.solutions):,}", "solutions compared"),
        (f"{len(comparison.finished):,}", "combinations of approaches"),
        (f"{len(plan.scenarios):,}", "scenarios"),
        (f"{sum(len(front.solutions) for front in summary.fronts):,}", "solutions that no other beats"),
    ]
    pairs = [("Records", f"{problem.records:,}"), ("Initial regions", f"{len(problem.regions):,}")]
    pairs += [(COMPONENT_WORDS[name], ", ".join(labels_of(comparison, place))) for place, name in enumerate(COMPONENTS)]
    pairs += [(f"Scenario {number}", one.title) for number, one in enumerate(plan.scenarios, 1)]
    pairs.append(("Unbeaten in", ", ".join(measure_title(name).lower() for name in comparison.pareto_measures)))
    return Section("What was compared", (Tiles(tiles), Pairs(pairs)))


def _contests(component: str, contests: list[Contest]) -> Section:
    note = (
        "Each comparison holds everything else fixed: the scenario, the other approaches and the place in the range of "
        "site numbers. Lowest counts shared places too; the sum runs over all comparisons."
    )
    blocks: list[Block] = [Paragraph(note, quiet=True)]
    for contest in contests:
        blocks.append(Paragraph(contest_sentence(contest)))
        blocks.append(_standings(contest))
    return Section(COMPONENT_WORDS[component], blocks)


def _standings(contest: Contest) -> Table:
    leader = contest.standings[0].label
    rows = []
    for standing in contest.standings:
        against = "" if standing.label == leader else _ratio(contest.duel(standing.label, leader).ratio_of_sums)
        median = "" if standing.label == leader else _ratio(contest.duel(standing.label, leader).median_ratio)
        rows.append(
            [
                standing.label,
                f"{standing.best:,}",
                f"{standing.shared:,}",
                f"{standing.best / contest.comparisons:.0%}" if contest.comparisons else "–",
                number(standing.total),
                against,
                median,
            ]
        )
    headings = ["Approach", "lowest", "shared", "share", "sum", "sum ÷ that of the first", "median of the ratios"]
    return Table(headings, rows, marked=frozenset({0}))


def _fronts(summary: Summary) -> Section:
    blocks: list[Block] = []
    for front in summary.fronts:
        blocks += [Paragraph(front_sentence(front)), _front_table(front, summary.comparison)]
    return Section("Unbeaten solutions", blocks)


def _front_table(front: Front, comparison: Comparison) -> Table:
    names = list(comparison.pareto_measures)
    told = [place for place in range(len(COMPONENTS)) if place < 2 or len(labels_of(comparison, place)) > 1]
    rows = [
        [
            *(one.combination.labels[place] for place in told),
            f"{s.site_count:,}",
            f"{s.aggregated_regions:,}",
            *(number(s.measures.get(n)) for n in names),
        ]
        for one, s in front.solutions[:_LISTED]
    ]
    more = len(front.solutions) - _LISTED
    caption = f"… and {more:,} more, in comparison.csv" if more > 0 else ""
    components = ["Number", "Locations", *(COMPONENT_WORDS[COMPONENTS[place]] for place in told[2:])]
    headings = [*components, "Sites", "Regions", *(measure_title(name) for name in names)]
    return Table(headings, rows, numbers_from=len(components), caption=caption)


def _charts(comparison: Comparison) -> Iterator[Section]:
    drawn: dict[Scenario, list[Block]] = {}
    for scenario, _, drawing in charts_of(comparison):
        caption = "By number of sites; one panel for each approach that approximates it."
        drawn.setdefault(scenario, []).append(Figure(drawing, caption))
    for number_, scenario in enumerate(comparison.plan.scenarios, 1):
        yield Section(f"Charts {number_}: {scenario.title}", drawn.get(scenario, []))


def number(value: float | int | None) -> str:
    """A number as people read it; a dash where it is undefined."""
    if value is None:
        return "–"
    if isinstance(value, int) or abs(value) >= 10_000:
        return f"{value:,.0f}"
    return f"{value:,.4f}"


def _ratio(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"
