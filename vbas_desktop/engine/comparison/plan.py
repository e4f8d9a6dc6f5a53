"""What is compared (each approach chosen for one component with each of the others, in every scenario) and how long
that will take: a first guess from measured costs, corrected by every combination that ends.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import Any

from vbas_desktop.approaches.interface import Approach, Construction
from vbas_desktop.approaches.registry import DEFAULTS, NOTHING, create_approach, expand_presets
from vbas_desktop.model.problem import Problem
from vbas_desktop.model.records import Grouping
from vbas_desktop.settings.run import RunSettings

from ..outcome import build_context
from ..partitions import PartitionBuilder
from ..request import Request

_PLACED = (0.006, 2.5e-8)
"""Seconds of one aggregation with a location approach of its own, and more for each stored count (one 2.5 GHz core)."""
_SEEDED = (0.012, 2e-7)
"""The same for location approaches that start from another one and search."""

COMPONENTS = tuple(DEFAULTS)
"""The components that are combined, in the order of the stages."""

NO_SITES = "no sites"
"""Stands in place of the locations where a construction has no use for them."""

INITIALIZER_SEPARATOR = " from "
"""Stands between an approach and the one that it starts from."""


@dataclass(frozen=True)
class Scenario:
    """A set of quasi-identifiers, generalised or not, and k. Solutions of one scenario compete."""

    quasi_identifiers: tuple[str, ...]
    generalised: bool
    k: int

    @property
    def title(self) -> str:
        """Describe the scenario."""
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
        """Map each component to its approach."""
        return dict(zip(COMPONENTS, self.approaches, strict=True))

    @property
    def title(self) -> str:
        """Describe the combination."""
        return " · ".join(self.told_labels)

    @property
    def told_labels(self) -> tuple[str, ...]:
        """List the labels of the approaches that do something."""
        return tuple(
            label
            for label, approach in zip(self.labels, self.approaches, strict=True)
            if approach.metadata.name != NOTHING
        )

    def settings(self) -> dict[str, Any]:
        """Return names and parameters of the approaches as plain data."""
        return {
            component: {"name": approach.metadata.name, **approach.settings()}
            for component, approach in self.by_component.items()
        }


@dataclass(frozen=True, eq=False)
class ComparisonPlan:
    """A whole comparison.

    settings: those that all combinations share; k and the quasi-identifiers of a combination are those of its scenario.
    approaches: those that are compared of each component; where none are named it is the usual one.
    generalised: whether each set of quasi-identifiers is taken without its groups, with them, or both.
    """

    settings: RunSettings
    quasi_identifier_sets: tuple[tuple[str, ...], ...]
    ks: tuple[int, ...]
    approaches: Mapping[str, tuple[Approach, ...]]
    groupings: tuple[Grouping, ...] = ()
    generalised: tuple[bool, ...] = (False,)

    @property
    def pareto_measures(self) -> tuple[str, ...]:
        """Return the names of the measures that decide about dominance; empty for the usual ones."""
        return expand_presets(self.settings.pareto_measures or ())

    @cached_property
    def scenarios(self) -> tuple[Scenario, ...]:
        """List all scenarios; a set of which no column has groups is not generalised twice."""
        scenarios = []
        for names, generalised, k in product(self.quasi_identifier_sets, self.generalised, self.ks):
            really = generalised and bool(self.groupings_for(names))
            scenarios.append(Scenario(names, really, k))
        return tuple(dict.fromkeys(scenarios))

    @cached_property
    def combinations(self) -> tuple[Combination, ...]:
        """List all combinations, scenario by scenario."""
        labelled = [
            label_approaches(self.list_component_approaches(component)) for component in COMPONENTS
        ]
        together = list(
            dict.fromkeys(
                self._without_sites(labelled_approaches) for labelled_approaches in product(*labelled)
            )
        )
        return tuple(
            Combination(
                scenario,
                tuple(approach for _, approach in labelled_approaches),
                tuple(label for label, _ in labelled_approaches),
            )
            for scenario in self.scenarios
            for labelled_approaches in together
        )

    def _without_sites(
        self, labelled: tuple[tuple[str, Approach], ...]
    ) -> tuple[tuple[str, Approach], ...]:
        """Replace the location by one that stands for all if the construction needs no sites: it has no effect."""
        location_index = COMPONENTS.index("site_location")
        construction_index = COMPONENTS.index("construction")
        construction = labelled[construction_index][1]
        if not isinstance(construction, Construction) or construction.needs_sites:
            return labelled
        return (
            *labelled[:location_index],
            (NO_SITES, self.list_component_approaches("site_location")[0]),
            *labelled[location_index + 1 :],
        )

    def list_component_approaches(self, component: str) -> tuple[Approach, ...]:
        """Return the approaches of one component; the default one if none is named."""
        return self.approaches.get(component) or (create_approach(component, DEFAULTS[component]),)

    def groupings_for(self, names: Sequence[str]) -> tuple[Grouping, ...]:
        """Return the groupings of a set of quasi-identifiers."""
        return tuple(grouping for grouping in self.groupings if grouping.column in names)

    @property
    def most_aggregations(self) -> int:
        """Count the aggregations at most; some site numbers may fall out of range."""
        return len(self.combinations) * (2 * self.settings.range_reach + 1)

    def request(self, combination: Combination, problem: Problem) -> Request:
        """Build the engine's request of one combination, on one thread: the comparison runs several at a time."""
        return Request(
            problem=problem,
            **combination.by_component,
            settings=self.settings.replaced(workers=1),
        )


def label_approaches(list_component_approaches: Iterable[Approach]) -> list[tuple[str, Approach]]:
    """Label each distinct approach; parameters are named only where approaches of the same title differ."""
    once: dict[str, Approach] = {}
    for approach in list_component_approaches:
        once.setdefault(
            f"{approach.metadata.name} {json.dumps(approach.settings(), sort_keys=True)}", approach
        )
    approaches = list(once.values())
    names = [format_short_label(approach) for approach in approaches]
    labels = []
    for name, approach in zip(names, approaches, strict=True):
        alike = [other for other, label in zip(approaches, names, strict=True) if label == name]
        labels.append(f"{name} ({_differences(approach, alike)})" if len(alike) > 1 else name)
    return list(zip(labels, approaches, strict=True))


def format_short_label(approach: Approach) -> str:
    """Return the title of an approach; one with an initializer is its abbreviation “from” the initializer's title."""
    inner = [getattr(approach, declared.name) for declared in approach.options() if declared.is_nested]
    if not inner:
        return approach.metadata.title
    _, bracket, short = approach.metadata.title.rstrip(")").rpartition(" (")
    name = short if bracket and short.isupper() else approach.metadata.title
    return INITIALIZER_SEPARATOR.join(
        [
            name,
            *(
                format_short_label(initializer)
                for initializer in inner
                if isinstance(initializer, Approach)
            ),
        ]
    )


def _differences(approach: Approach, alike: Sequence[Approach]) -> str:
    mine = approach.settings()
    return ", ".join(
        f"{name} {value}"
        for name, value in mine.items()
        if len({json.dumps(other.settings()[name], sort_keys=True) for other in alike}) > 1
    )


class CostEstimate:
    """Predicted seconds of each combination; what was measured corrects the rest of the same kind."""

    def __init__(
        self, combinations: Sequence[Combination], aggregations: Sequence[int], counts: Sequence[int]
    ) -> None:
        self._kinds = [combination.labels[1] for combination in combinations]
        self._predicted = [
            number * estimate_aggregation_seconds(combination.by_component["site_location"], stored)
            for combination, number, stored in zip(combinations, aggregations, counts, strict=True)
        ]
        self._measured: dict[str, tuple[float, float]] = {}
        self._lock = threading.Lock()

    def seconds(self, index: int) -> float:
        """Estimate the seconds of a combination from what was measured so far."""
        predicted, measured = self._measured.get(self._kinds[index], (0.0, 0.0))
        if predicted == 0.0:
            predicted, measured = (
                sum(column) for column in zip((0.0, 0.0), *self._measured.values(), strict=True)
            )
        # A first guess counts as much as one second of measuring: a single quick combination must not decide alone.
        return self._predicted[index] * (measured + 1.0) / (predicted + 1.0)

    def learn(self, index: int, seconds: float) -> None:
        """Correct the estimates by the measured seconds of a combination."""
        with self._lock:
            predicted, measured = self._measured.get(self._kinds[index], (0.0, 0.0))
            self._measured[self._kinds[index]] = (predicted + self._predicted[index], measured + seconds)


def estimate_aggregation_seconds(approach: Approach, stored: int) -> float:
    """Estimate the seconds of one aggregation with this location approach from the number of stored counts."""
    searches = any(declared.is_nested for declared in approach.options())
    base, more = _SEEDED if searches else _PLACED
    return base + more * stored


def estimate_rating_seconds(stored: int) -> float:
    """Estimate the seconds of suppression and rating of one aggregation from the number of stored counts."""
    base, more = _PLACED
    return base + more * stored


def list_site_numbers(
    plan: ComparisonPlan, combination: Combination, problem: Problem
) -> tuple[int, ...]:
    """List the numbers of sites that a combination will try."""
    context, _ = build_context(problem, plan.settings.global_suppression, plan.settings.random_seed)
    partitions = PartitionBuilder(plan.request(combination, problem), context)
    approximated = int(combination.by_component["site_number"].approximate(context))
    return partitions.list_site_numbers(
        max(partitions.least_sites, min(len(problem.regions), approximated))
    )
