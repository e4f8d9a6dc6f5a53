"""What would bring the loss within the limit where no number of sites does: fewer or coarser quasi-identifiers."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from vbas_desktop.model.problem import Problem
from vbas_desktop.model.progress import NO_PROGRESS, Progress
from vbas_desktop.model.records import ColumnFacts

from .lattice.hierarchies import propose_hierarchy

_STAGE = "Looking for ways out"


@dataclass(frozen=True)
class WayOut:
    """A change of one quasi-identifier.

    suppressed: number of records that even one region of all would lose then.
    groups: the group of each value that is grouped; None: the column is left out.
    detail: share of the column's categories that remain, from 0 (left out) to 1.
    """

    column: str
    suppressed: int
    groups: Mapping[str, str] | None = None
    detail: float = 0.0


@dataclass(frozen=True)
class WaysOut:
    """The loss of one region of all, and what would change it, for a number of lost records that is allowed."""

    suppressed: int
    allowed: int
    groupings: tuple[WayOut, ...]
    omissions: tuple[WayOut, ...]

    @property
    def grouping(self) -> WayOut | None:
        """The cheapest grouping of one column: within the limit if one is, and then the one that keeps most detail."""
        return min(self.groupings, key=self._cost, default=None)

    @property
    def omission(self) -> WayOut | None:
        """The cheapest column to leave out."""
        return min(self.omissions, key=self._cost, default=None)

    @cached_property
    def cheapest(self) -> WayOut | None:
        """The cheapest change that brings the loss within the limit; None if no single one does."""
        candidates = [
            way for way in (self.grouping, self.omission) if way is not None and self.is_enough(way)
        ]
        return min(candidates, key=self._cost, default=None)

    def is_enough(self, way: WayOut) -> bool:
        """Tell whether a change brings the loss of one region of all within the limit."""
        return way.suppressed <= self.allowed

    def _cost(self, way: WayOut) -> tuple[int, float, int]:
        return (max(0, way.suppressed - self.allowed), -way.detail, way.suppressed)


def find_ways_out(
    problem: Problem, facts: Mapping[str, ColumnFacts], allowed: int, progress: Progress = NO_PROGRESS
) -> WaysOut:
    """Try each quasi-identifier left out, and those of ``facts`` with each proposed grouping.

    Only k counts: criteria and boundaries between regions may cost more. ``facts`` are the columns that are not grouped
    yet. Of the groupings of a column the finest within the limit is kept, or else the coarsest. O(columns · levels ·
    combinations).
    """
    n_columns = len(problem.quasi_identifiers)
    omissions = []
    groupings = []
    for number, name in enumerate(problem.quasi_identifiers):
        progress.update(_STAGE, number / n_columns)
        n_categories = problem.counts.n_categories[number]
        if n_columns > 1:
            omissions.append(
                WayOut(name, _count_rare(problem, number, np.zeros(n_categories, np.int64)))
            )
        if name in facts:
            groupings += _try_groupings(problem, number, facts[name], allowed, progress)
    unchanged = _count_rare(problem, 0, np.arange(problem.counts.n_categories[0]))
    return WaysOut(unchanged, allowed, tuple(groupings), tuple(omissions))


def _try_groupings(
    problem: Problem, number: int, facts: ColumnFacts, allowed: int, progress: Progress
) -> list[WayOut]:
    """Return the finest grouping of a quasi-identifier within the limit, or else the coarsest; or none."""
    if facts.categories is None or facts.frequencies is None:
        return []
    hierarchy = propose_hierarchy(facts)
    values = problem.categories[number].values
    ways: list[WayOut] = []
    for level in range(1, len(hierarchy.levels)):
        progress.update(_STAGE)
        n_groups = hierarchy.count_groups(level)
        grouping = hierarchy.get_grouping(level)
        if n_groups < 2 or grouping is None:
            break
        groups = dict(grouping.groups)
        names = [groups.get(value, value) for value in values]
        codes = np.unique(np.array(names), return_inverse=True)[1]
        suppressed = _count_rare(problem, number, codes)
        ways = [WayOut(facts.name, suppressed, groups, n_groups / hierarchy.count_groups(0))]
        if suppressed <= allowed:
            break
    return ways


def _count_rare(problem: Problem, number: int, codes: NDArray[np.integer]) -> int:
    """Count the records that one region of all would lose if a quasi-identifier had other codes.

    number: position of the quasi-identifier. codes: the new code of each of its categories, below their number.
    """
    counts = problem.counts
    n_categories = counts.n_categories[number]
    stride = math.prod(counts.n_categories[number + 1 :])
    rest = counts.combinations % stride
    before = counts.combinations // (stride * n_categories)
    combinations = (before * n_categories + codes[counts.decode_column(number)]) * stride + rest
    position = np.unique(combinations, return_inverse=True)[1]
    totals = np.zeros(position.max(initial=-1) + 1, np.int64)
    np.add.at(totals, position, counts.combination_totals)
    return int(totals[totals < problem.k].sum()) + problem.unknown_region_records
