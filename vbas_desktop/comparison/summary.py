"""Which approach wins which measure, how often and by how much, and which solutions nothing dominates.

Approaches of one component are compared in pairs: same scenario, same approaches for the other components, same place
in the range of site numbers (for all but the number approaches that means the same number of sites). Lower is better.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from vbas_desktop.model.solution import Solution

from .plan import COMPONENTS, Scenario
from .run import Comparison, Finished

SECONDS = "seconds"
Value = float | int | None


@dataclass(frozen=True)
class Standing:
    """How one approach did in one measure over all comparisons.

    ``best`` counts the comparisons in which nobody was lower, ``shared`` those of them with company; ``total`` is the
    sum over the comparisons in which all approaches have a value (``complete`` of them).
    """

    label: str
    best: int
    shared: int
    total: float | int


@dataclass(frozen=True)
class Duel:
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
        """How many pairs there were."""
        return self.lower + self.equal + self.higher


@dataclass(frozen=True)
class Contest:
    """One component's approaches in one measure. ``standings`` go from the most often best to the least."""

    component: str
    measure: str
    comparisons: int
    complete: int
    standings: tuple[Standing, ...]
    duels: tuple[Duel, ...]

    def duel(self, first: str, second: str) -> Duel:
        """The duel of two approaches."""
        return next(duel for duel in self.duels if (duel.first, duel.second) == (first, second))


@dataclass(frozen=True, eq=False)
class Front:
    """The solutions of one scenario that no other dominates, and how many of each location approach there are."""

    scenario: Scenario
    solutions: tuple[tuple[Finished, Solution], ...]
    of: int
    by_label: Mapping[str, tuple[int, int]]


@dataclass(frozen=True, eq=False)
class Summary:
    """Everything that is said about a comparison."""

    comparison: Comparison
    contests: tuple[Contest, ...]
    fronts: tuple[Front, ...]


def summarise(comparison: Comparison) -> Summary:
    """Work out all contests and fronts."""
    measures = list(dict.fromkeys(name for _, solution in comparison.solutions for name in solution.measures))
    contests = [
        contest(comparison, place, measure)
        for place in range(len(COMPONENTS))
        if len(labels_of(comparison, place)) > 1
        for measure in measures
        if measure != SECONDS
    ]
    fronts = [_front(comparison, scenario) for scenario in comparison.plan.scenarios]
    return Summary(comparison, tuple(contests), tuple(fronts))


def labels_of(comparison: Comparison, place: int) -> list[str]:
    """The labels of one component's approaches in the order of the plan."""
    return list(dict.fromkeys(one.combination.labels[place] for one in comparison.finished))


def comparisons_of(comparison: Comparison, place: int, measure: str) -> list[dict[str, Value]]:
    """The values that stand against each other, by label: one dictionary per comparison with at least two."""
    found: dict[Any, dict[str, Value]] = {}
    for one in comparison.finished:
        labels = one.combination.labels
        others = tuple(label for index, label in enumerate(labels) if index != place)
        for solution in one.result.solutions:
            key = (one.combination.scenario, others, _offset(solution, one))
            found.setdefault(key, {})[labels[place]] = solution.measures.get(measure)
    return [values for values in found.values() if len(values) > 1]


def _offset(solution: Solution, one: Finished) -> int:
    """The place in the range of site numbers, counted from the approximated one."""
    numbers = [each.site_count for each in one.result.solutions]
    nearest = min(numbers, key=lambda number: abs(number - one.result.approximated_sites))
    return numbers.index(solution.site_count) - numbers.index(nearest)


def contest(comparison: Comparison, place: int, measure: str) -> Contest:
    """One component's approaches in one measure."""
    labels = labels_of(comparison, place)
    groups = comparisons_of(comparison, place, measure)
    return contest_of(COMPONENTS[place], measure, labels, groups)


def contest_of(component: str, measure: str, labels: Sequence[str], groups: Sequence[Mapping[str, Value]]) -> Contest:
    """The arithmetic: standings and duels from the values of each comparison. Undefined values never win."""
    best, shared = dict.fromkeys(labels, 0), dict.fromkeys(labels, 0)
    for group in groups:
        known = [value for value in group.values() if value is not None]
        winners = [label for label, value in group.items() if known and value == min(known)]
        for label in winners:
            best[label] += 1
            shared[label] += len(winners) > 1
    complete = [group for group in groups if all(group.get(label) is not None for label in labels)]
    totals = {label: sum(group[label] or 0 for group in complete) for label in labels}
    standings = [Standing(label, best[label], shared[label], totals[label]) for label in labels]
    standings.sort(key=lambda standing: (-standing.best, standing.total))
    duels = tuple(duel_of(a, b, groups) for a in labels for b in labels if a != b)
    return Contest(component, measure, len(groups), len(complete), tuple(standings), duels)


def duel_of(first: str, second: str, groups: Sequence[Mapping[str, Value]]) -> Duel:
    """One approach against another over the comparisons in which both have a value."""
    pairs = [(a, b) for group in groups if (a := group.get(first)) is not None and (b := group.get(second)) is not None]
    lower, equal = sum(a < b for a, b in pairs), sum(a == b for a, b in pairs)
    below = sum(b for _, b in pairs)
    ratios = [a / b for a, b in pairs if b]
    return Duel(
        first,
        second,
        lower,
        equal,
        len(pairs) - lower - equal,
        sum(a for a, _ in pairs) / below if below and math.isfinite(below) else None,
        statistics.median(ratios) if ratios else None,
    )


def _front(comparison: Comparison, scenario: Scenario) -> Front:
    mine = [(one, s) for one, s in comparison.solutions if one.combination.scenario == scenario]
    kept = tuple((one, s) for one, s in mine if s.pareto)
    counts = {}
    for label in labels_of(comparison, 1):
        of_label = [s for one, s in mine if one.combination.labels[1] == label]
        counts[label] = (sum(s.pareto for s in of_label), len(of_label))
    return Front(scenario, kept, len(mine), counts)
