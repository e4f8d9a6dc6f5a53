"""Colours of aggregated regions on a map, and the matching of regions of two solutions that keeps colours stable."""

from __future__ import annotations

import heapq

import numpy as np
from numpy.typing import NDArray

from .region_graph import Pairs, list_neighbours


def assign_colours(number: int, pairs: Pairs, colours: int = 10) -> NDArray[np.int8]:
    """Give each of ``number`` regions a colour (0 … colours − 1) so that neighbours differ; same input, same colours.

    DSATUR: the region whose neighbours already have most different colours comes next (ties: more neighbours, lower
    index). It takes the allowed colour that is used least, which makes a livelier map than the first one allowed. The
    Brélaz order needs at most a few colours on maps; if spreading ever runs out of them, the first allowed are taken.
    Regions in many pieces may have more neighbours than there are colours: then some neighbours share a colour.
    """
    around = list_neighbours(pairs, number)
    chosen = _dsatur(around, colours, spread=True)
    if chosen is None:
        chosen = _dsatur(around, colours, spread=False)
    if chosen is None:
        chosen = _dsatur(around, colours, spread=True, may_share=True)
        assert chosen is not None
    return chosen


def recolour(preferred: NDArray[np.integer], pairs: Pairs, colours: int) -> NDArray[np.int8]:
    """Give regions their preferred colours (−1: any), unless a neighbour with a lower number has the same one.

    Those that cannot have theirs take the allowed colour that is used least; if there is none, all are coloured anew.
    """
    around = list_neighbours(pairs, len(preferred))
    chosen = np.full(len(preferred), -1, np.int8)
    for region in np.flatnonzero(preferred >= 0).tolist():
        if all(chosen[near] != preferred[region] for near in around[region]):
            chosen[region] = preferred[region]
    used = np.bincount(chosen[chosen >= 0], minlength=colours).tolist()
    for region in np.flatnonzero(chosen < 0).tolist():
        colours_around = {int(chosen[near]) for near in around[region]}
        allowed = [colour for colour in range(colours) if colour not in colours_around]
        if not allowed:
            return assign_colours(len(preferred), pairs, colours)
        chosen[region] = min(allowed, key=lambda colour: (used[colour], colour))
        used[chosen[region]] += 1
    return chosen


def _dsatur(
    around: list[list[int]], colours: int, spread: bool, may_share: bool = False
) -> NDArray[np.int8] | None:
    """Choose one colour per region; None if the colours ran out. A loop, because each choice depends on those before.

    ``may_share``: a region to which no colour is left takes the one that is used least.
    """
    chosen = np.full(len(around), -1, np.int8)
    colours_around: list[set[int]] = [set() for _ in around]
    used = [0] * colours
    queue = [(0, -len(near), region) for region, near in enumerate(around)]
    heapq.heapify(queue)
    while queue:
        _, _, region = heapq.heappop(queue)
        if chosen[region] >= 0:
            continue
        allowed = [colour for colour in range(colours) if colour not in colours_around[region]]
        if not allowed:
            if not may_share:
                return None
            allowed = list(range(colours))
        colour = min(allowed, key=lambda each: (used[each], each)) if spread else allowed[0]
        chosen[region] = colour
        used[colour] += 1
        for near in around[region]:
            if chosen[near] < 0 and colour not in colours_around[near]:
                colours_around[near].add(colour)
                heapq.heappush(queue, (-len(colours_around[near]), -len(around[near]), near))
    return chosen


def match_groups(
    first: NDArray[np.integer], second: NDArray[np.integer], weights: NDArray[np.integer] | None = None
) -> NDArray[np.int32]:
    """Find the counterpart in ``other`` of each group of ``one``, −1 if none is left.

    Pairs are taken by their common weight (members if no weights are given), largest first, each group once; ties go
    to the lower numbers.
    """
    weight = np.ones(first.size, np.int64) if weights is None else weights.astype(np.int64)
    width = int(second.max()) + 1 if second.size else 0
    pair, pair_number = np.unique(first.astype(np.int64) * max(width, 1) + second, return_inverse=True)
    common = np.bincount(pair_number, weight)
    members = np.bincount(pair_number)
    # Members decide between pairs without records, which would all be equal else.
    order = np.lexsort((pair, -members, -common))
    match = np.full(int(first.max()) + 1 if first.size else 0, -1, np.int32)
    is_matched = np.zeros(width, np.bool_)
    for mine, theirs in zip(
        (pair[order] // max(width, 1)).tolist(), (pair[order] % max(width, 1)).tolist(), strict=True
    ):
        if match[mine] < 0 and not is_matched[theirs]:
            match[mine] = theirs
            is_matched[theirs] = True
    return match


def find_changed_members(
    first: NDArray[np.integer], second: NDArray[np.integer], weights: NDArray[np.integer] | None = None
) -> NDArray[np.bool_]:
    """Flag the members that are not in the counterpart of their group."""
    changed: NDArray[np.bool_] = match_groups(first, second, weights)[first] != second
    return changed
