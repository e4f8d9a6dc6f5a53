"""Summarise a comparison: which approach wins which measure by how much, and which solutions nothing dominates.

Approaches of one component are compared in pairs: same scenario, same approaches for the other components, same place
in the range of site numbers (for all but the number approaches that means the same number of sites). Lower is better.
"""

from __future__ import annotations

import json
import math
import statistics
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from vbas_desktop.approaches.registry import DEFAULTS
from vbas_desktop.model.solution import Solution
from vbas_desktop.model.text import format_count, format_csv, format_duration, inflect

from ..figures import SECONDS, Output, Value, get_measure_figure, list_figures, list_measure_figures
from .plan import COMPONENTS, ComparisonPlan, Scenario
from .run import Comparison, FinishedCombination, WorkEstimate


@dataclass(frozen=True)
class ApproachRank:
    """Rank of one approach in one measure over all comparisons.

    best: comparisons in which no approach was lower. shared: those of them in which another one was equal. total: sum
    of the measure over the comparisons in which all approaches have a value.
    """

    label: str
    best: int
    shared: int
    total: float | int


@dataclass(frozen=True)
class PairwiseComparison:
    """One approach against another: in how many pairs it was lower, equal, higher; the ratio of the sums; the median of
    the pairs' ratios (None where the other one is always zero or nothing can be paired).
    """

    first: str
    second: str
    lower: int
    equal: int
    higher: int
    ratio_of_sums: float | None
    median_ratio: float | None

    @property
    def pairs(self) -> int:
        """Count the pairs."""
        return self.lower + self.equal + self.higher


@dataclass(frozen=True)
class MeasureComparison:
    """One component's approaches in one measure. ``standings`` go from the most often best to the least."""

    component: str
    measure: str
    comparisons: int
    complete: int
    standings: tuple[ApproachRank, ...]
    duels: tuple[PairwiseComparison, ...]

    def duel(self, first: str, second: str) -> PairwiseComparison:
        """Find the comparison of two approaches."""
        return next(duel for duel in self.duels if (duel.first, duel.second) == (first, second))


@dataclass(frozen=True, eq=False)
class ParetoFront:
    """The solutions of one scenario that no other dominates, and how many of each location approach there are."""

    scenario: Scenario
    solutions: tuple[tuple[FinishedCombination, Solution], ...]
    of: int
    by_label: Mapping[str, tuple[int, int]]


@dataclass(frozen=True, eq=False)
class ComparisonSummary:
    """Everything that is said about a comparison."""

    comparison: Comparison
    contests: tuple[MeasureComparison, ...]
    fronts: tuple[ParetoFront, ...]


def summarise_comparison(comparison: Comparison) -> ComparisonSummary:
    """Work out all contests and fronts."""
    figures = list_measure_figures(solution for _, solution in comparison.solutions)
    contests = [
        compare_by_measure(comparison, component, figure.name)
        for component in range(len(COMPONENTS))
        if len(list_labels(comparison, component)) > 1
        for figure in figures
        if figure.name != SECONDS
    ]
    fronts = [_front(comparison, scenario) for scenario in comparison.plan.scenarios]
    return ComparisonSummary(comparison, tuple(contests), tuple(fronts))


def list_labels(comparison: Comparison, component: int) -> list[str]:
    """List the labels of one component's approaches in the order of the plan."""
    return list(
        dict.fromkeys(finished.combination.labels[component] for finished in comparison.finished)
    )


def group_values(comparison: Comparison, component: int, measure: str) -> list[dict[str, Value]]:
    """Group the values that are compared with each other, by label; groups of one are left out."""
    groups: dict[Any, dict[str, Value]] = {}
    for finished in comparison.finished:
        labels = finished.combination.labels
        others = tuple(label for index, label in enumerate(labels) if index != component)
        for solution in finished.result.solutions:
            key = (finished.combination.scenario, others, _offset(solution, finished))
            groups.setdefault(key, {})[labels[component]] = solution.measures.get(measure)
    return [values for values in groups.values() if len(values) > 1]


def _offset(solution: Solution, finished: FinishedCombination) -> int:
    """Compute the position of a solution in the range of site numbers, from the approximated number."""
    numbers = [sibling.site_count for sibling in finished.result.solutions]
    nearest = min(numbers, key=lambda number: abs(number - finished.result.approximated_sites))
    return numbers.index(solution.site_count) - numbers.index(nearest)


def compare_by_measure(comparison: Comparison, component: int, measure: str) -> MeasureComparison:
    """Compare one component's approaches by one measure."""
    labels = list_labels(comparison, component)
    groups = group_values(comparison, component, measure)
    return rank_approaches(COMPONENTS[component], measure, labels, groups)


def rank_approaches(
    component: str, measure: str, labels: Sequence[str], groups: Sequence[Mapping[str, Value]]
) -> MeasureComparison:
    """Count wins and compare all pairs, from the values of each comparison. Undefined values never win."""
    best = dict.fromkeys(labels, 0)
    shared = dict.fromkeys(labels, 0)
    for group in groups:
        values = [value for value in group.values() if value is not None]
        winners = [label for label, value in group.items() if values and value == min(values)]
        for label in winners:
            best[label] += 1
            shared[label] += len(winners) > 1
    complete = [group for group in groups if all(group.get(label) is not None for label in labels)]
    totals = {label: sum(group[label] or 0 for group in complete) for label in labels}
    standings = [ApproachRank(label, best[label], shared[label], totals[label]) for label in labels]
    standings.sort(key=lambda standing: (-standing.best, standing.total))
    duels = tuple(compare_pair(a, b, groups) for a in labels for b in labels if a != b)
    return MeasureComparison(component, measure, len(groups), len(complete), tuple(standings), duels)


def compare_pair(first: str, second: str, groups: Sequence[Mapping[str, Value]]) -> PairwiseComparison:
    """Compare two approaches over the comparisons in which both have a value."""
    pairs = [
        (a, b)
        for group in groups
        if (a := group.get(first)) is not None and (b := group.get(second)) is not None
    ]
    lower = sum(a < b for a, b in pairs)
    equal = sum(a == b for a, b in pairs)
    below = sum(b for _, b in pairs)
    ratios = [a / b for a, b in pairs if b]
    return PairwiseComparison(
        first,
        second,
        lower,
        equal,
        len(pairs) - lower - equal,
        sum(a for a, _ in pairs) / below if below and math.isfinite(below) else None,
        statistics.median(ratios) if ratios else None,
    )


def _front(comparison: Comparison, scenario: Scenario) -> ParetoFront:
    mine = [
        (finished, s)
        for finished, s in comparison.solutions
        if finished.combination.scenario == scenario
    ]
    non_dominated = tuple((finished, s) for finished, s in mine if s.pareto)
    counts = {}
    for label in list_labels(comparison, 1):
        of_label = [s for finished, s in mine if finished.combination.labels[1] == label]
        counts[label] = (sum(s.pareto for s in of_label), len(of_label))
    return ParetoFront(scenario, non_dominated, len(mine), counts)


COMPONENT_TITLES = {
    "site_number": "Number of sites",
    "site_location": "Site locations",
    "construction": "Construction",
    "refinement": "Refinement",
    "tiers": "Tiers",
}


def describe_measure(contest: MeasureComparison) -> str:
    """Say which approach is lowest in a measure, how often, and by how much against the next."""
    title = get_measure_figure(contest.measure).title
    first = contest.standings[0]
    if not contest.comparisons or not first.best:
        return f"{title}: nothing can be compared."
    shared = f" ({first.shared:,} shared)" if first.shared else ""
    text = f"{title}: {first.label} is lowest in {first.best:,} of {contest.comparisons:,} comparisons{shared}."
    others = [standing for standing in contest.standings if standing.label != first.label]
    if not contest.complete or not others:
        return text
    second = min(others, key=lambda standing: standing.total)
    return f"{text} {describe_pair(contest.duel(first.label, second.label))}"


def describe_pair(duel: PairwiseComparison) -> str:
    """Describe the comparison of two approaches."""
    if not duel.pairs:
        return f"There is no pair of {duel.first} and {duel.second}."
    ties = f", equal in {duel.equal:,}" if duel.equal else ""
    text = f"Against {duel.second} it is lower in {duel.lower:,} of {format_count(duel.pairs, 'pair')}{ties}"
    if duel.ratio_of_sums is None:
        return f"{text}."
    return f"{text}; in sum {format_ratio(duel.ratio_of_sums)}."


def format_ratio(ratio: float) -> str:
    """Format a ratio as "12.5 % lower" or "3.1 % higher"."""
    percent = abs(ratio - 1) * 100
    if percent < 0.05:
        return "the same within 0.05 %"
    return f"{percent:,.1f} % {'lower' if ratio < 1 else 'higher'}"


def describe_front(front: ParetoFront) -> str:
    """Count the Pareto-optimal solutions of a scenario by location approach."""
    shares = ", ".join(
        f"{label} {on_front:,} of {of:,}" for label, (on_front, of) in front.by_label.items()
    )
    number = len(front.solutions)
    are = inflect(number, "is", "are")
    solutions = format_count(front.of, "solution")
    return f"{front.scenario.title}: {number:,} of {solutions} {are} Pareto-optimal ({shares})."


def describe_comparison(summary: ComparisonSummary) -> Iterator[str]:
    """Describe the whole comparison as plain text, line by line."""
    comparison = summary.comparison
    solutions = len(comparison.solutions)
    yield (
        f"{format_count(len(comparison.finished), 'combination')} in "
        f"{format_count(len(comparison.plan.scenarios), 'scenario')}, "
        f"{format_count(solutions, 'solution')}."
    )
    for component in COMPONENTS:
        mine = [contest for contest in summary.contests if contest.component == component]
        if mine:
            yield ""
            yield f"{COMPONENT_TITLES[component]}: which approach is lowest, with all else equal"
            for contest in mine:
                yield f"  {describe_measure(contest)}"
    yield ""
    yield "Pareto-optimal solutions: no other of their scenario is as good in all measures that count and better in one"
    for front in summary.fronts:
        yield f"  {describe_front(front)}"


def describe_plan(plan: ComparisonPlan) -> str:
    """Say how many aggregations the plan makes at most, before anything is counted."""
    return (
        f"{format_count(len(plan.combinations), 'combination')} in "
        f"{format_count(len(plan.scenarios), 'scenario')} make at most "
        f"{format_count(plan.most_aggregations, 'aggregation')}."
    )


def describe_estimate(prepared: WorkEstimate) -> str:
    """Say how many aggregations the plan makes, how many are finished, and how long the rest will take."""
    scenarios = format_count(len(prepared.plan.scenarios), "scenario")
    aggregations = format_count(sum(prepared.aggregations), "aggregation")
    text = f"{format_count(len(prepared.settings), 'combination')} in {scenarios} make {aggregations}."
    n_cached = sum(prepared.cached)
    if n_cached == len(prepared.cached):
        return f"{text} All of them are finished already."
    if n_cached:
        text += f" {format_count(n_cached, 'combination')} {inflect(n_cached, 'is', 'are')} finished already."
    return f"{text} About {format_duration(prepared.seconds_left)} to go."


def list_solution_rows(comparison: Comparison, suitable_only: bool = False) -> list[dict[str, Any]]:
    """List one row per solution by column: scenario, combination, solution, measures, representability.

    What is undefined is None. ``suitable_only``: only the solutions that meet the requirement.
    """
    numbers = {scenario: number for number, scenario in enumerate(comparison.plan.scenarios, 1)}
    figures = list_figures([solution for _, solution in comparison.solutions], Output.CSV)
    rows = []
    for number, (finished, solution) in enumerate(comparison.solutions, 1):
        scenario = finished.combination.scenario
        verdict = solution.requirement
        if suitable_only and not solution.is_suitable:
            continue
        rows.append(
            {
                "solution": number,
                "scenario": numbers[scenario],
                "quasi_identifiers": ", ".join(scenario.quasi_identifiers),
                "generalised": "yes" if scenario.generalised else "no",
                "k": scenario.k,
                **_describe_problem(finished),
                **_describe_approaches(solution),
                **{figure.name: figure.read(solution) for figure in figures},
                **{
                    name: "yes" if getattr(solution, name) else "no"
                    for name in ("pareto", "recommended", "knee")
                },
                "same_as": solution.same_as,
                **({} if verdict is None else {"meets_requirement": "yes" if verdict.is_met else "no"}),
            }
        )
    return rows


def format_comparison_csv(comparison: Comparison, suitable_only: bool = False) -> str:
    """Format the table as CSV with exact values."""
    columns = list(dict.fromkeys(name for row in list_solution_rows(comparison) for name in row))
    # The initializer of ADC stands beside it.
    columns.remove("adc_seeding")
    columns.insert(columns.index("site_location") + 1, "adc_seeding")
    rows = list_solution_rows(comparison, suitable_only)
    return format_csv(columns, ([row.get(name) for name in columns] for row in rows))


def _describe_problem(finished: FinishedCombination) -> dict[str, Any]:
    problem = finished.problem
    result = finished.result
    return {
        "records": problem.records,
        "regions": len(problem.regions),
        "equivalence_classes": problem.counts.max_combinations,
        "classes_present": result.classes_present,
        "globally_suppressed_records": result.globally_suppressed_records,
    }


def _describe_approaches(solution: Solution) -> dict[str, Any]:
    return {
        **{component: solution.approaches.get(component) for component in DEFAULTS},
        "adc_seeding": solution.approaches.get("adc_seeding"),
        "parameters": json.dumps(solution.parameters, sort_keys=True, ensure_ascii=False),
    }
