"""What the released classes of a solution tell of sensitive values, in a few figures."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vbas_desktop.algorithms.diversity import Segments, shares_of
from vbas_desktop.algorithms.released import Decided, decide
from vbas_desktop.domain.criteria import CLOSENESS, DISTINCT, ENTROPY, ORDERED, SHARE
from vbas_desktop.domain.problem import Problem
from vbas_desktop.domain.progress import Progress
from vbas_desktop.domain.records import finite_number
from vbas_desktop.domain.solution import Solution
from vbas_desktop.domain.tiers import NOWHERE

Facts = Mapping[str, Mapping[str, Any]]
"""Column → figure → value; None where no released class has a harmful value."""


def sensitive_facts(found: Decided) -> Facts:
    """The worst figures of all released classes, column by column."""
    return {values.column.column: _facts(found, values) for values in found.values}


def lost_for_sensitive_values(found: Decided) -> int:
    """The records of classes with k or more that are released nowhere, because of their sensitive values."""
    sizes = found.aggregated.rows[2]
    return 0 if found.decided is None else int(sizes[(sizes >= found.k) & (found.tier_of == NOWHERE)].sum())


def _facts(found: Decided, values: Segments) -> dict[str, Any]:
    shares = shares_of(values.totals(found.tier_of != NOWHERE))
    parts = [found.released_values(values, tier) for tier in range(found.number)]

    def worst(kind: int) -> float | None:
        figures = np.concatenate([part.figures(kind, 0.0, shares) for part in parts])
        if kind in (DISTINCT, ENTROPY):
            return float(figures.min()) if figures.size and np.isfinite(figures.min()) else None
        return float(figures.max()) if figures.size else None

    least = worst(DISTINCT)
    one_value = [part.sizes[part.figures(SHARE, 0.0, shares) >= 100.0] for part in parts]
    return {
        "largest_share_percent": worst(SHARE),
        "least_distinct": None if least is None else int(least),
        "least_entropy": worst(ENTROPY),
        "largest_closeness": worst(CLOSENESS),
        "largest_ordered_closeness": worst(ORDERED) if is_ordered(values.column.values) else None,
        "one_value_classes": sum(int(sizes.size) for sizes in one_value),
        "one_value_records": sum(int(sizes.sum()) for sizes in one_value),
        "classes": sum(len(part) for part in parts),
    }


def is_ordered(values: tuple[str, ...]) -> bool:
    """Whether the values of a column are numbers, all of them: then they have an order, and a distance along it."""
    return bool(values) and all(finite_number(value) is not None for value in values)


def decided_for(problem: Problem, solution: Solution, progress: Progress | None = None) -> Decided:
    """What a solution releases, from the counts of the file, with the values of all sensitive columns."""
    membership, groups = solution.membership, solution.aggregated_regions
    return decide(problem.counts, problem.sensitive, problem.k, membership, groups, solution.tiers, progress)


def largest_shares(found: Decided) -> NDArray[np.float64]:
    """Of each aggregated region the largest share, in percent, that one harmful value has in a class released in it.

    The worst of all sensitive columns; NaN where nothing is released, or if there is no sensitive column.
    """
    worst = np.full(found.aggregated.regions, -1.0)
    for values in found.values:
        part = found.released_values(values, 0)
        np.maximum.at(worst, part.places, part.figures(SHARE, 0.0, shares_of(values.column.totals)))
    return np.where(worst < 0, np.nan, worst)
