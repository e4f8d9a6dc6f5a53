"""Find the groups of people whose sensitive values miss criteria."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from vbas_desktop.algorithms.diversity import ValueCounts, shares_of
from vbas_desktop.model.criteria import Criterion
from vbas_desktop.model.records import finite_number

from .numbering import Ints


def find_failing_groups(
    pairs: Ints, number: Ints, harmful: NDArray[np.bool_], everybody: Ints, criteria: Sequence[Criterion]
) -> Ints:
    """Find the groups that miss a criterion.

    ``pairs`` are group · values + value, ascending, ``number`` the records of each pair, ``everybody``
    those of each value among all. For ordered closeness, values are numbered in their order.
    """
    occurring = number > 0
    group, value = np.divmod(pairs[occurring], harmful.size)
    groups, starts = np.unique(group, return_index=True)
    counts = ValueCounts(harmful, np.append(starts, group.size), value, number[occurring])
    return np.asarray(groups[~counts.meet_criteria(criteria, shares_of(everybody))])


def rank_numbers(texts: Sequence[str]) -> Ints | None:
    """Rank texts by the numbers that they are; None if one is none."""
    numbers = [finite_number(text) for text in texts]
    if None in numbers:
        return None
    ranks = np.empty(len(numbers), np.int64)
    ranks[np.argsort(np.array(numbers, np.float64), kind="stable")] = np.arange(len(numbers))
    return ranks
