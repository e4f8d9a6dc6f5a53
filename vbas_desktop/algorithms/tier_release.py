"""Each class of each place released in the smallest place where it is safe.

A place of tier 0 releases a class if it has k or more of its records. What it does not release is its *rest* of the
class, which a recipient knows to be 0 … k − 1. A larger place adds up the rests of its children and releases their sum
if that is k or more, and if it could be made up with any one of the children having nothing: then it proves of no
child that it has a record. What is not released there is the place's own rest, and goes on to the next tier.

Whether a sum can be made up is judged by what a recipient can see: the *room* of a place is the number up to which
its rest may be anything. It is 0 if nothing is left, k − 1 for a place of tier 0, and for a larger place the sum of
its children's rooms if no sum of theirs could have been released, else k − 1. A sum m is released if
k ≤ m ≤ (sum of the children's rooms) − (the largest of them). docs/tiers.md has the proof.

Where sensitive values must meet criteria, a place releases a class only if the records that it would release meet them
too. What a recipient can make up with the rooms above is still possible then, since a place that does not release a
class because of its sensitive values looks like one that has too few of it.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from vbas_desktop.model.progress import SILENT, Progress
from vbas_desktop.model.records import EquivalenceCounts
from vbas_desktop.model.tiers import NOWHERE, Tiers

from .ahead import make_ready
from .grouping import ends_of_kept, members_by_group

_REHEARSAL = "vbas_desktop.algorithms.tier_release:rehearse"
_BLOCK_ENTRIES = 500_000
"""Entries between two looks at whether the user wants to stop."""

_STAGE = "Finding the smallest safe place of each class"


Barring = Callable[[int, NDArray[np.bool_]], tuple[NDArray[np.int64], NDArray[np.int64]]]
"""From a tier, and the entries not released below it, to the places there and the classes (by column) that they must
not release."""


def tiers_of_classes(
    counts: EquivalenceCounts, tiers: Tiers, k: int, progress: Progress = SILENT, barring: Barring | None = None
) -> NDArray[np.uint8]:
    """The tier in which each non-zero entry of ``counts.rows`` (places of tier 0 × classes) is released, or NOWHERE.

    O(entries · tiers · children of a place) at most, so often as there are tiers if some must not release all they
    could; each class by itself, so the order of work does not matter.
    """
    _, tier_starts = _numbered(tiers)
    nodes, classes = np.zeros(0, np.int64), np.zeros(0, np.int64)
    if barring is None:
        return _placed(counts, tiers, k, nodes, classes, len(tiers.parents), progress)
    rest = np.ones(counts.rows[2].size, np.bool_)
    for tier in range(len(tiers)):
        places, columns = barring(tier, rest)
        nodes, classes = np.append(nodes, places + tier_starts[tier]), np.append(classes, columns)
        found = _placed(counts, tiers, k, nodes, classes, tier, progress)
        rest = found == NOWHERE
    return found


def _placed(
    counts: EquivalenceCounts,
    tiers: Tiers,
    k: int,
    barred_nodes: NDArray[np.int64],
    barred_classes: NDArray[np.int64],
    depth: int,
    progress: Progress,
) -> NDArray[np.uint8]:
    """The tier of each entry if there were only so many above the first."""
    make_ready(_REHEARSAL, progress)
    from .tier_kernel import count_by_class, place_classes, rooms_of_open_places, take_classes

    indptr, columns, values = counts.rows
    parents, tier_starts = _numbered(tiers)
    starts = np.zeros(counts.classes.size + 1, np.int64)
    count_by_class(columns, starts)
    following = indptr[:-1].copy()
    children, child_starts = members_by_group(parents[:-1], parents.size)
    open_room = rooms_of_open_places(parents, tier_starts, k)
    tier = np.empty(values.size, np.uint8)
    by_class = np.argsort(barred_classes, kind="stable")
    barred_starts = np.searchsorted(barred_classes[by_class], np.arange(counts.classes.size + 1)).astype(np.int64)
    barred = (barred_starts, barred_nodes[by_class])
    below = (values, parents, child_starts, children, open_room, *barred, depth, k, tier)
    first, total = 0, max(1, values.size)
    while first < counts.classes.size:
        progress.update(_STAGE, starts[first] / total)
        end = int(np.searchsorted(starts, starts[first] + _BLOCK_ENTRIES, side="right"))
        end = min(max(end - 1, first + 1), counts.classes.size)
        order = np.empty(starts[end] - starts[first], np.int64)
        place_of = np.empty(order.size, np.int32)
        take_classes(first, end, starts, indptr, columns, following, order, place_of)
        place_classes(first, end, starts, order, place_of, *below)
        first = end
    return tier


def released_in_tier(
    counts: EquivalenceCounts, tier_of: NDArray[np.uint8], tiers: Tiers, tier: int
) -> EquivalenceCounts:
    """The records released in the places of one tier: one row per place, classes that are released there only."""
    from .tier_kernel import add_places

    indptr, columns, values = counts.rows
    number, width = tiers.places[tier], counts.classes.size
    chosen = np.diff(ends_of_kept(tier_of == tier, indptr))
    entries = np.bincount(tiers.ancestors[tier], chosen, number).astype(np.int64)
    most = int(np.minimum(entries, width).sum())
    ends, found, sums = np.zeros(number + 1, np.int64), np.empty(most, np.int32), np.empty(most, np.int64)
    order, starts = members_by_group(tiers.ancestors[tier], number)
    add_places(order, starts, indptr, columns, values, tier_of, tier, width, ends, found, sums)
    found.resize(ends[-1], refcheck=False)
    sums.resize(ends[-1], refcheck=False)
    return EquivalenceCounts.from_rows(counts.category_numbers, counts.classes, ends, found, sums)


def _numbered(tiers: Tiers) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """The parent of each place with all places in one numbering, tier by tier (−1: the whole area has none)."""
    starts = np.concatenate(([0], np.cumsum(tiers.places))).astype(np.int64)
    parts = [parent + starts[tier + 1] for tier, parent in enumerate(tiers.parents)]
    return np.concatenate([*parts, [-1]]).astype(np.int32), starts


def rehearse() -> None:
    """Four places in two tiers."""
    counts = EquivalenceCounts.from_dense(
        (2,), np.arange(2, dtype=np.int64), np.array([(5, 1), (1, 1), (1, 1), (2, 1)])
    )
    whole = Tiers((np.zeros(4, np.int32),), ("", ""), (None, None))
    tier_of = tiers_of_classes(counts, whole, 3)
    released_in_tier(counts, tier_of, whole, 1)
