"""Find again, for the verification, in which tier each class of each aggregated region must be.

Shares no code with what decided it: all classes are done at once, tier by tier, with sorted lists.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class TierCells:
    """Records left in some cells (area, class) of one tier; all other cells have none, and the default slack.

    ``released`` says which of the cells the release lists; ``below`` to which of them each cell of the tier below
    belongs (in tier 0: nothing).
    """

    area: Numbers
    kind: Numbers
    left: Numbers
    slack: Numbers
    default_slack: Numbers
    released: NDArray[np.bool_]
    below: Numbers


Barring = Callable[[Numbers, int, NDArray[np.bool_]], NDArray[np.bool_]]
"""From the group of each cell, the number of groups, and the cells that are left, to the groups not to be released."""


def nothing_barred(group: Numbers, groups: int, left: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Bar nothing: whatever is large enough may be released."""
    return np.zeros(groups, np.bool_)


def levels(
    area: Numbers, kind: Numbers, counts: Numbers, parents: Sequence[Numbers], k: int, barring: Barring
) -> Iterator[TierCells]:
    """Yield what the rule leaves in each tier of the cells (area of tier 0, class), from the aggregated regions up.

    ``parents[t]`` is the area of tier t + 1 that each area of tier t lies in. ``barring`` says what must not be
    released, whatever its size.
    """
    cell = np.arange(counts.size)
    left = np.ones(counts.size, np.bool_)
    large = (counts >= k) & ~barring(cell, counts.size, left)
    default_slack = np.full(len(parents[0]), k - 1, np.int64)
    rest = np.where(large, 0, counts)
    slack = np.where(large, 0, k - 1)
    level = TierCells(area, kind, rest, slack, default_slack, large, np.zeros(0, np.int64))
    yield level
    for parent in parents:
        left &= ~level.released[cell]
        level = _above(level, parent, k, barring, cell, left)
        cell = level.below[cell]
        yield level


def recounted_tiers(
    area: Numbers,
    kind: Numbers,
    counts: Numbers,
    parents: Sequence[Numbers],
    k: int,
    barring: Barring = nothing_barred,
) -> tuple[Numbers, int]:
    """Return the tier of each cell by `levels` (one beyond the last: it is in none) and the last tier."""
    tier = np.full(counts.size, len(parents) + 1)
    cell = np.arange(counts.size)
    for number, level in enumerate(levels(area, kind, counts, parents, k, barring)):
        cell = level.below[cell] if number else cell
        tier = np.where(level.released[cell] & (tier > len(parents)), number, tier)
    return tier, len(parents)


def _above(
    level: TierCells,
    parent: Numbers,
    k: int,
    barring: Barring,
    cell: Numbers,
    left_over: NDArray[np.bool_],
) -> TierCells:
    """Apply the rule to the tier above; ``cell`` is the cell here that each of tier 0 is in, if it is ``left_over``."""
    rank, ranked_slack = _rank_by_slack(parent, level.default_slack)
    above = parent[level.area]
    order = np.lexsort((rank[level.area], level.kind, above))
    first = np.ones(order.size, bool)
    first[1:] = (np.diff(above[order]) != 0) | (np.diff(level.kind[order]) != 0)
    group_sorted = np.cumsum(first) - 1
    groups = int(group_sorted[-1]) + 1 if order.size else 0
    group = np.empty(order.size, np.int64)
    group[order] = group_sorted
    heads = order[first]
    owner = above[heads]
    kind = level.kind[heads]
    left = np.bincount(group, level.left, groups).astype(np.int64)
    default_slack_sum = np.bincount(parent, level.default_slack, int(parent.max()) + 1).astype(np.int64)
    change = np.bincount(group, level.slack - level.default_slack[level.area], groups).astype(np.int64)
    total = default_slack_sum[owner] + change
    largest = np.zeros(groups, np.int64)
    np.maximum.at(largest, group, level.slack)
    starts = np.flatnonzero(first)
    untouched = _first_missing(rank[level.area][order], group_sorted, starts, groups)
    largest = np.maximum(largest, ranked_slack[owner, np.minimum(untouched, ranked_slack.shape[1] - 1)])
    allowed = total - largest
    released = (left >= k) & (left <= allowed) & ~barring(group[cell], groups, left_over)
    slack = np.where(released, 0, np.where(allowed < k, total, k - 1))
    default_slack_largest = ranked_slack[:, 0]
    default_slack = np.where(default_slack_sum - default_slack_largest < k, default_slack_sum, k - 1)
    return TierCells(owner, kind, np.where(released, 0, left), slack, default_slack, released, group)


def _rank_by_slack(parent: Numbers, default_slack: Numbers) -> tuple[Numbers, Numbers]:
    """Rank each area among its siblings by slack, largest first; return also the slacks by parent and rank."""
    order = np.lexsort((-default_slack, parent))
    begins = np.searchsorted(parent[order], np.arange(int(parent.max()) + 1))
    rank = np.empty(parent.size, np.int64)
    rank[order] = np.arange(parent.size) - begins[parent[order]]
    ranked_slack = np.zeros((begins.size, int(rank.max()) + 2), np.int64)
    ranked_slack[parent, rank] = default_slack
    return rank, ranked_slack


def _first_missing(ranks: Numbers, group: Numbers, starts: Numbers, groups: int) -> Numbers:
    """Find the lowest rank that does not occur in each group; ranks ascend within a group."""
    position = np.arange(ranks.size) - starts[group] if ranks.size else ranks
    gap = np.flatnonzero(ranks != position)
    lengths = np.diff(np.append(starts, ranks.size))
    missing = lengths.copy() if groups else np.zeros(0, np.int64)
    with_gap, where = np.unique(group[gap], return_index=True)
    missing[with_gap] = position[gap[where]]
    return missing
