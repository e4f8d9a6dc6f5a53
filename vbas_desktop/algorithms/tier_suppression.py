"""Release each class in the smallest area where that is safe.

An area of tier 0 (an aggregated region) releases a class if it has k or more of its records. What it does not release
is its *rest* of the class, which a recipient knows to be 0 … k − 1. A larger area adds up the rests of its children and
releases their sum if that is k or more, and if it could be made up with any one of the children having nothing: then it
proves of no child that it has a record. What is not released there is the area's own rest, and goes on to the next
tier.

Whether a sum can be made up is judged by what a recipient can see: the *bound* of an area is the number up to which
its rest may be anything. It is 0 if nothing is left, k − 1 for an area of tier 0, and for a larger area the sum of
its children's bounds if no sum of theirs could have been released, else k − 1. A sum m is released if
k ≤ m ≤ (sum of the children's bounds) − (the largest of them). docs/tiers.md has the proof.

Where sensitive values must meet criteria, an area releases a class only if the records that it would release meet them
too. What a recipient can make up with the bounds above is still possible then, since an area that does not release a
class because of its sensitive values looks like one that has too few of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from vbas_desktop.model.counts import ClassCounts
from vbas_desktop.model.progress import NO_PROGRESS, Progress
from vbas_desktop.model.tiers import NOT_RELEASED, Tiers

from .aggregation import split_evenly

_CLASSES_PER_BLOCK = 200_000
"""Classes that are judged at a time: temporary arrays stay small, and a stop does not wait."""

Refusing = Callable[[int, NDArray[np.bool_]], tuple[NDArray[np.int64], NDArray[np.int64]]]
"""From a tier, and flags of the classes that are not released below it, to areas of the tier and the columns of the
combinations that they must not release."""

Refuse = Callable[[int, NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]], NDArray[np.bool_]]
"""From a tier, the column of the combination and the area of each sum, and the sum of each class, to flags of the sums
that must not be released."""


@dataclass(frozen=True, eq=False)
class TierDecision:
    """Decisions on the classes of one tier: which sums of records its areas release.

    column, area: column of the combination and area (as numbered in `Tiers`) of each sum of records.
    released: whether the area releases the sum.
    bound: number up to which what the area does not release may be anything.
    sum_of: sum that each class of tier 0 belongs to.
    """

    column: NDArray[np.int64]
    area: NDArray[np.int64]
    released: NDArray[np.bool_]
    bound: NDArray[np.int64]
    sum_of: NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class _Level:
    """The areas of one tier, in an order in which the children of every area follow each other.

    order: number of each area in `Tiers`. Of siblings, that with the largest open bound comes first.
    open_bound: bound of each area if nothing of the class is released in it.
    parent: position of the area of the next level that each area lies in, ascending (all 0 in the last level).
    rank: position of each area among its siblings.
    first_child, n_children, child_bounds: position of the first child of each area, number of its children, and sum of
        their open bounds; empty in the first level.
    """

    order: NDArray[np.int64]
    open_bound: NDArray[np.int64]
    parent: NDArray[np.int64]
    rank: NDArray[np.int64]
    first_child: NDArray[np.int64]
    n_children: NDArray[np.int64]
    child_bounds: NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class _Sums:
    """Records of one combination in one area each, before it is decided whether the area releases them.

    column, area: column of the combination, and position of the area in its level; sorted by both.
    rest: records that no area inside releases.
    bounds, largest: sum and maximum of the bounds of the areas inside; for the first level, k − 1 and 0.
    """

    column: NDArray[np.int64]
    area: NDArray[np.int64]
    rest: NDArray[np.int64]
    bounds: NDArray[np.int64]
    largest: NDArray[np.int64]


def find_release_tiers(
    counts: ClassCounts,
    tiers: Tiers,
    k: int,
    progress: Progress = NO_PROGRESS,
    refusing: Refusing | None = None,
) -> NDArray[np.uint8]:
    """Find the tier in which each class of ``counts`` (areas of tier 0) is released, or NOWHERE. O(classes · tiers).

    Each combination is judged by itself, so some are looked at at a time, unless ``refusing`` has to see all of them.
    """
    levels = _order_levels(tiers, k)
    table = counts.table
    tier_of = np.full(table.nnz, NOT_RELEASED, np.uint8)
    numbers = np.arange(table.nnz, dtype=table.indices.dtype)
    numbered = csr_array((numbers, table.indices, table.indptr), shape=table.shape)
    by_combination = numbered[levels[0].order].tocsc()
    starts = by_combination.indptr
    size = max(1, table.nnz) if refusing is not None else _CLASSES_PER_BLOCK

    def refuse_listed(
        tier: int, column: NDArray[np.int64], area: NDArray[np.int64], sum_of: NDArray[np.int64]
    ) -> NDArray[np.bool_]:
        assert refusing is not None
        areas, columns = refusing(tier, tier_of == NOT_RELEASED)
        width = tiers.n_areas[tier]
        return np.isin(column * width + area, columns * width + areas)

    refuse = None if refusing is None else refuse_listed
    for first, end in split_evenly(np.diff(starts), size):
        progress.update(
            "Finding the smallest safe area of each class", starts[first] / max(1, table.nnz)
        )
        block = slice(starts[first], starts[end])
        entries = by_combination.data[block]
        column = np.repeat(np.arange(first, end), np.diff(starts[first : end + 1]))
        area = by_combination.indices[block].astype(np.int64)
        classes = _classes_as_sums(column, area, table.data[entries], k)
        decisions = _decide_in_levels(classes, np.arange(entries.size), levels, k, refuse)
        for tier, decision in enumerate(decisions):
            undecided = tier_of[entries] == NOT_RELEASED
            tier_of[entries[undecided & decision.released[decision.sum_of]]] = tier
    return tier_of


def decide_in_tiers(
    area: NDArray[np.int64],
    column: NDArray[np.int64],
    records: NDArray[np.int64],
    tiers: Tiers,
    k: int,
    refuse: Refuse | None = None,
) -> Iterator[TierDecision]:
    """Decide tier by tier about classes, given by area of tier 0 and column of the combination, in any order."""
    levels = _order_levels(tiers, k)
    position = np.empty(levels[0].order.size, np.int64)
    position[levels[0].order] = np.arange(position.size)
    order = np.lexsort((position[area], column))
    sum_of = np.empty(order.size, np.int64)
    sum_of[order] = np.arange(order.size)
    sums = _classes_as_sums(column[order], position[area[order]], records[order], k)
    yield from _decide_in_levels(sums, sum_of, levels, k, refuse)


def _classes_as_sums(
    column: NDArray[np.int64], area: NDArray[np.int64], records: NDArray[np.int64], k: int
) -> _Sums:
    """Describe the classes of tier 0, of which nothing is released inside, as the sums of larger areas are."""
    return _Sums(column, area, records, np.full(records.size, k - 1), np.zeros(records.size, np.int64))


def _decide_in_levels(
    sums: _Sums, sum_of: NDArray[np.int64], levels: list[_Level], k: int, refuse: Refuse | None
) -> Iterator[TierDecision]:
    """Decide tier by tier about the classes ``sums``; ``sum_of`` says which of them each class of the caller is."""
    for tier, level in enumerate(levels):
        area = level.order[sums.area]
        # In the first tier any number from k on is safe: nothing inside the area is released.
        released = sums.rest >= k
        if tier:
            released &= sums.rest <= sums.bounds - sums.largest
        if refuse is not None:
            released &= ~refuse(tier, sums.column, area, sum_of)
        bound = np.where(released, 0, _bound(sums.bounds, sums.largest, k))
        yield TierDecision(sums.column, area, released, bound, sum_of)
        if tier + 1 < len(levels):
            rest = np.where(released, 0, sums.rest)
            sums, parent_sum = _sum_siblings(sums, rest, bound, level, levels[tier + 1])
            sum_of = parent_sum[sum_of]


def _bound(sums: NDArray[np.int64], largest: NDArray[np.int64], k: int) -> NDArray[np.int64]:
    """Compute the bound of areas that release nothing: if they could have, only less than k is certain."""
    return np.where(sums - largest < k, sums, k - 1)


def _sum_siblings(
    sums: _Sums, rest: NDArray[np.int64], bound: NDArray[np.int64], level: _Level, above: _Level
) -> tuple[_Sums, NDArray[np.int64]]:
    """Add up the rests and bounds of the children of each larger area; return also which sum each one goes into.

    Children that have nothing of a combination are not listed; their bounds are those of open areas.
    """
    parent = level.parent[sums.area]
    is_first = np.ones(parent.size, np.bool_)
    is_first[1:] = (parent[1:] != parent[:-1]) | (sums.column[1:] != sums.column[:-1])
    starts = np.flatnonzero(is_first)
    parent_sum = np.cumsum(is_first) - 1
    area = parent[starts]
    if not starts.size:
        return _Sums(sums.column, area, rest, bound, bound), parent_sum
    difference = bound - level.open_bound[sums.area]
    # Ranks ascend, so the first child that is not listed is at the number of those whose rank is their position.
    in_place = level.rank[sums.area] == np.arange(parent.size) - starts[parent_sum]
    missing = np.add.reduceat(in_place, starts, dtype=np.int64)
    some_missing = missing < above.n_children[area]
    largest = np.maximum.reduceat(bound, starts)
    missing_bound = level.open_bound[(above.first_child[area] + missing)[some_missing]]
    largest[some_missing] = np.maximum(largest[some_missing], missing_bound)
    joined = _Sums(
        column=sums.column[starts],
        area=area,
        rest=np.add.reduceat(rest, starts),
        bounds=above.child_bounds[area] + np.add.reduceat(difference, starts),
        largest=largest,
    )
    return joined, parent_sum


def _order_levels(tiers: Tiers, k: int) -> list[_Level]:
    """Order the areas of each tier, from the last tier down."""
    nothing = np.zeros(0, np.int64)
    open_bounds = [np.full(tiers.n_areas[0], k - 1, np.int64)]
    child_bounds = [nothing]
    for parents, number in zip(tiers.parents, tiers.n_areas[1:], strict=True):
        sums = np.zeros(number, np.int64)
        largest = np.zeros(number, np.int64)
        np.add.at(sums, parents, open_bounds[-1])
        np.maximum.at(largest, parents, open_bounds[-1])
        open_bounds.append(_bound(sums, largest, k))
        child_bounds.append(sums)
    levels: list[_Level] = []
    position = np.zeros(1, np.int64)
    for tier in reversed(range(len(tiers))):
        parent = position[tiers.parents[tier]] if levels else np.zeros(1, np.int64)
        order = np.lexsort((-open_bounds[tier], parent))
        position = np.empty(order.size, np.int64)
        position[order] = np.arange(order.size)
        parent = parent[order]
        first_child = nothing
        n_children = nothing
        if tier:
            n_children = np.bincount(tiers.parents[tier - 1], minlength=order.size)[order]
            first_child = np.cumsum(n_children) - n_children
        levels.append(
            _Level(
                order=order,
                open_bound=open_bounds[tier][order],
                parent=parent,
                rank=np.arange(order.size) - np.searchsorted(parent, parent),
                first_child=first_child,
                n_children=n_children,
                child_bounds=child_bounds[tier][order] if tier else nothing,
            )
        )
    return levels[::-1]
