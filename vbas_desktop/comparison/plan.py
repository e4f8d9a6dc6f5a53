"""What is compared (each approach chosen for one component with each of the others, in every scenario) and how long
that will take: a first guess from measured costs, corrected by every combination that ends.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import product
from typing import Any

from vbas_desktop.approaches.base import Approach, Construction
from vbas_desktop.approaches.registry import DEFAULTS, NOTHING, make
from vbas_desktop.engine.outcome import situation_of
from vbas_desktop.engine.partitions import Partitions
from vbas_desktop.model.criteria import Sensitive
from vbas_desktop.model.problem import Problem, Request
from vbas_desktop.model.records import Grouping
from vbas_desktop.model.solution import USUAL_LOSS_PERCENT
from vbas_desktop.settings.limits import Limiting

_PLACED = (0.006, 2.5e-8)
"""Seconds of one aggregation with a location approach of its own, and more for each stored count (one 2.5 GHz core)."""
_SEEDED = (0.012, 2e-7)
"""The same for location approaches that start from another one and search."""

COMPONENTS = tuple(DEFAULTS)
"""The components that are combined, in the order of the stages."""

NO_SITES = "no sites"
"""Stands in place of the locations where a construction has no use for them."""

FROM = " from "
"""Stands between an approach and the one that it starts from."""


@dataclass(frozen=True)
class Scenario:
    """What is protected: a set of quasi-identifiers, generalised or not, and k. Solutions of one scenario compete."""

    quasi_identifiers: tuple[str, ...]
    generalised: bool
    k: int

    @property
    def title(self) -> str:
        """The scenario in words."""
        groups = " · generalised" if self.generalised else ""
        return f"{', '.join(self.quasi_identifiers)}{groups} · k = {self.k:,}"


@dataclass(frozen=True)
class Combination:
    """One approach for each component in one scenario; ``labels`` are their names as tables and charts show them.

    Both are in the order of `COMPONENTS`.
    """

    scenario: Scenario
    approaches: tuple[Approach, ...]
    labels: tuple[str, ...]

    @property
    def by_component(self) -> dict[str, Any]:
        """The approach of each component."""
        return dict(zip(COMPONENTS, self.approaches, strict=True))

    @property
    def title(self) -> str:
        """The combination in words."""
        return " · ".join(self.told_labels)

    @property
    def told_labels(self) -> tuple[str, ...]:
        """The labels of the approaches that do something."""
        return tuple(
            label for label, approach in zip(self.labels, self.approaches, strict=True) if approach.card.name != NOTHING
        )

    def settings(self) -> dict[str, Any]:
        """Names and parameters of the approaches as plain data."""
        return {
            component: {"name": approach.card.name, **approach.settings()}
            for component, approach in self.by_component.items()
        }


@dataclass(frozen=True, eq=False)
class Plan:
    """A whole comparison. ``approaches`` are those of each component that are compared; where none are named it is the
    usual one. ``generalised`` says which of the two ways each set of quasi-identifiers is taken.
    """

    region_column: str
    quasi_identifier_sets: tuple[tuple[str, ...], ...]
    ks: tuple[int, ...]
    approaches: Mapping[str, tuple[Approach, ...]]
    groupings: tuple[Grouping, ...] = ()
    sensitive: tuple[Sensitive, ...] = ()
    generalised: tuple[bool, ...] = (False,)
    unknown_regions: str = "stop"
    global_suppression: bool = True
    range_step_percent: float = 10.0
    range_reach: int = 2
    random_seed: int = 0
    pareto_measures: tuple[str, ...] = ()
    allowed_loss_percent: float = USUAL_LOSS_PERCENT
    workers: int = 0
    limits: Limiting = field(default_factory=Limiting)

    @cached_property
    def scenarios(self) -> tuple[Scenario, ...]:
        """All scenarios; a set of which no column has groups is not generalised twice."""
        found = []
        for names, generalised, k in product(self.quasi_identifier_sets, self.generalised, self.ks):
            really = generalised and bool(self.groupings_for(names))
            found.append(Scenario(names, really, k))
        return tuple(dict.fromkeys(found))

    @cached_property
    def combinations(self) -> tuple[Combination, ...]:
        """All combinations, scenario by scenario."""
        labelled = [labelled_approaches(self.chosen(component)) for component in COMPONENTS]
        together = list(dict.fromkeys(self._without_sites(one) for one in product(*labelled)))
        return tuple(
            Combination(scenario, tuple(approach for _, approach in one), tuple(label for label, _ in one))
            for scenario in self.scenarios
            for one in together
        )

    def _without_sites(self, one: tuple[tuple[str, Approach], ...]) -> tuple[tuple[str, Approach], ...]:
        """The same; if the construction needs no sites, with one location for all, since it has no effect."""
        place, at = COMPONENTS.index("site_location"), COMPONENTS.index("construction")
        construction = one[at][1]
        if not isinstance(construction, Construction) or construction.needs_sites:
            return one
        return (*one[:place], (NO_SITES, self.chosen("site_location")[0]), *one[place + 1 :])

    def chosen(self, component: str) -> tuple[Approach, ...]:
        """The approaches of one component."""
        return self.approaches.get(component) or (make(component, DEFAULTS[component]),)

    def groupings_for(self, names: Sequence[str]) -> tuple[Grouping, ...]:
        """The groupings that touch a set of quasi-identifiers."""
        return tuple(grouping for grouping in self.groupings if grouping.column in names)

    @property
    def most_aggregations(self) -> int:
        """How many aggregations this makes at most; some site numbers may fall out of range."""
        return len(self.combinations) * (2 * self.range_reach + 1)

    def request(self, combination: Combination, problem: Problem) -> Request:
        """One combination for the engine, on one thread: the comparison runs several at a time."""
        return Request(
            problem=problem,
            **combination.by_component,
            **self.of_every_run,
            allowed_loss_percent=self.allowed_loss_percent,
            workers=1,
            limits=self.limits,
        )

    @property
    def of_every_run(self) -> dict[str, Any]:
        """What is the same for all combinations and decides what comes of them."""
        names = ("pareto_measures", "global_suppression", "range_step_percent", "range_reach", "random_seed")
        return {name: getattr(self, name) for name in names}


def labelled_approaches(chosen: Iterable[Approach]) -> list[tuple[str, Approach]]:
    """Each approach once, under a name that tells it from the others: parameters are named only where they differ."""
    once: dict[str, Approach] = {}
    for approach in chosen:
        once.setdefault(f"{approach.card.name} {json.dumps(approach.settings(), sort_keys=True)}", approach)
    approaches = list(once.values())
    names = [short_label(approach) for approach in approaches]
    labels = []
    for name, approach in zip(names, approaches, strict=True):
        alike = [other for other, given in zip(approaches, names, strict=True) if given == name]
        labels.append(f"{name} ({_differences(approach, alike)})" if len(alike) > 1 else name)
    return list(zip(labels, approaches, strict=True))


def short_label(approach: Approach) -> str:
    """The title of an approach; one that starts from another is called by its abbreviation and the other's title."""
    inner = [getattr(approach, declared.name) for declared in approach.parameters() if declared.kind == "approach"]
    if not inner:
        return approach.card.title
    _, bracket, short = approach.card.title.rstrip(")").rpartition(" (")
    name = short if bracket and short.isupper() else approach.card.title
    return FROM.join([name, *(short_label(one) for one in inner if isinstance(one, Approach))])


def _differences(approach: Approach, alike: Sequence[Approach]) -> str:
    mine = approach.settings()
    return ", ".join(
        f"{name} {value}"
        for name, value in mine.items()
        if len({json.dumps(other.settings()[name], sort_keys=True) for other in alike}) > 1
    )


class Costs:
    """Predicted seconds of each combination; what was measured corrects the rest of the same kind."""

    def __init__(self, combinations: Sequence[Combination], aggregations: Sequence[int], counts: Sequence[int]) -> None:
        self._kinds = [combination.labels[1] for combination in combinations]
        self._predicted = [
            number * seconds_of_one(combination.by_component["site_location"], stored)
            for combination, number, stored in zip(combinations, aggregations, counts, strict=True)
        ]
        self._measured: dict[str, tuple[float, float]] = {}
        self._lock = threading.Lock()

    def seconds(self, index: int) -> float:
        """The seconds that a combination is expected to take, by what is known now."""
        predicted, measured = self._measured.get(self._kinds[index], (0.0, 0.0))
        if predicted == 0.0:
            predicted, measured = (sum(column) for column in zip((0.0, 0.0), *self._measured.values(), strict=True))
        # A first guess counts as much as one second of measuring: a single quick combination must not decide alone.
        return self._predicted[index] * (measured + 1.0) / (predicted + 1.0)

    def learn(self, index: int, seconds: float) -> None:
        """A combination took so long."""
        with self._lock:
            predicted, measured = self._measured.get(self._kinds[index], (0.0, 0.0))
            self._measured[self._kinds[index]] = (predicted + self._predicted[index], measured + seconds)


def seconds_of_one(approach: Approach, stored: int) -> float:
    """A first guess at the seconds of one aggregation with this location approach and so many stored counts."""
    searches = any(declared.kind == "approach" for declared in approach.parameters())
    base, more = _SEEDED if searches else _PLACED
    return base + more * stored


def seconds_of_rating(stored: int) -> float:
    """A first guess at the seconds that suppressing and rating take of one aggregation."""
    base, more = _PLACED
    return base + more * stored


def site_numbers(plan: Plan, combination: Combination, problem: Problem) -> tuple[int, ...]:
    """The numbers of sites that a combination will try."""
    situation, _ = situation_of(problem, plan.global_suppression, plan.random_seed)
    partitions = Partitions(plan.request(combination, problem), situation)
    approximated = int(combination.by_component["site_number"].approximate(situation))
    return partitions.around(max(partitions.least_sites, min(len(problem.regions), approximated)))
