"""How long a comparison will take: a first guess from measured costs, corrected by every combination that ends."""

from __future__ import annotations

import threading
from collections.abc import Sequence

from vbas_desktop.approaches.base import Approach
from vbas_desktop.domain.problem import Problem
from vbas_desktop.engine.outcome import situation_of
from vbas_desktop.engine.partitions import Partitions

from .plan import Combination, Plan

_PLACED = (0.006, 2.5e-8)
"""Seconds of one aggregation with a location approach of its own, and more for each stored count (one 2.5 GHz core)."""
_SEEDED = (0.012, 2e-7)
"""The same for location approaches that start from another one and search."""


class Costs:
    """Predicted seconds of each combination; what was measured corrects the rest of the same kind."""

    def __init__(self, combinations: Sequence[Combination], aggregations: Sequence[int], counts: Sequence[int]) -> None:
        self._kinds = [combination.labels[1] for combination in combinations]
        self._predicted = [
            number * seconds_of_one(combination.site_location, stored)
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
    approximated = int(combination.site_number.approximate(situation))  # type: ignore[attr-defined]
    return partitions.around(max(partitions.least_sites, min(len(problem.regions), approximated)))
