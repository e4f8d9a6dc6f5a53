"""Colours for a map: neighbours never share one, and all colours of the palette are used about equally."""

from __future__ import annotations

import heapq

import numpy as np
from numpy.typing import NDArray

from .adjacency import Pairs, neighbour_lists


def colour_map(number: int, pairs: Pairs, colours: int = 10) -> NDArray[np.int8]:
    """A colour (0 … colours − 1) for each of ``number`` regions such that neighbours differ; same input, same colours.

    DSATUR: the region whose neighbours already have most different colours comes next (ties: more neighbours, lower
    index). It takes the allowed colour that is used least, which makes a livelier map than the first one allowed. The
    Brélaz order needs at most a few colours on maps; if spreading ever runs out of them, the first allowed are taken.
    Regions in many pieces may have more neighbours than there are colours: then some neighbours share a colour.
    """
    around = neighbour_lists(pairs, number)
    chosen = _dsatur(around, colours, spread=True)
    if chosen is None:
        chosen = _dsatur(around, colours, spread=False)
    if chosen is None:
        chosen = _dsatur(around, colours, spread=True, may_share=True)
        assert chosen is not None
    return chosen


def recolour(wanted: NDArray[np.integer], pairs: Pairs, colours: int) -> NDArray[np.int8]:
    """Give regions the colours that are wanted (−1: any), unless a neighbour with a lower number has the same one.

    Those that cannot have theirs take the allowed colour that is used least; if there is none, all are coloured anew.
    """
    around = neighbour_lists(pairs, len(wanted))
    chosen = np.full(len(wanted), -1, np.int8)
    for region in np.flatnonzero(wanted >= 0).tolist():
        if all(chosen[near] != wanted[region] for near in around[region]):
            chosen[region] = wanted[region]
    used = np.bincount(chosen[chosen >= 0], minlength=colours).tolist()
    for region in np.flatnonzero(chosen < 0).tolist():
        taken = {int(chosen[near]) for near in around[region]}
        allowed = [colour for colour in range(colours) if colour not in taken]
        if not allowed:
            return colour_map(len(wanted), pairs, colours)
        chosen[region] = min(allowed, key=lambda each: (used[each], each))
        used[chosen[region]] += 1
    return chosen


def _dsatur(around: list[list[int]], colours: int, spread: bool, may_share: bool = False) -> NDArray[np.int8] | None:
    """One colour per region, or None if the colours ran out. A loop, because each choice depends on those before.

    ``may_share``: a region to which no colour is left takes the one that is used least.
    """
    chosen = np.full(len(around), -1, np.int8)
    seen: list[set[int]] = [set() for _ in around]
    used = [0] * colours
    queue = [(0, -len(near), region) for region, near in enumerate(around)]
    heapq.heapify(queue)
    while queue:
        _, _, region = heapq.heappop(queue)
        if chosen[region] >= 0:
            continue
        allowed = [colour for colour in range(colours) if colour not in seen[region]]
        if not allowed:
            if not may_share:
                return None
            allowed = list(range(colours))
        colour = min(allowed, key=lambda each: (used[each], each)) if spread else allowed[0]
        chosen[region] = colour
        used[colour] += 1
        for near in around[region]:
            if chosen[near] < 0 and colour not in seen[near]:
                seen[near].add(colour)
                heapq.heappush(queue, (-len(seen[near]), -len(around[near]), near))
    return chosen
