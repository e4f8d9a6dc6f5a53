"""The connected parts of a graph, without loading all of scipy's graphs for it."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray


def connected_parts(ends: Iterable[NDArray[np.integer]], nodes: int) -> tuple[int, NDArray[np.int32]]:
    """How many parts edges leave, and the part of each node, numbered by their first nodes.

    ``ends`` are two arrays: the node where each edge begins, and the one where it ends.
    Every node points to a lower one of its part, in the end to the lowest: O(log n) rounds over the edges as a rule.
    """
    one, other = ends
    lowest = np.arange(nodes)
    while one.size:
        here, there = lowest[one], lowest[other]
        lower = np.minimum(here, there)
        np.minimum.at(lowest, here, lower)
        np.minimum.at(lowest, there, lower)
        while not np.array_equal(further := lowest[lowest], lowest):
            lowest = further
        still = lowest[one] != lowest[other]
        one, other = one[still], other[still]
    first, part = np.unique(lowest, return_inverse=True)
    return first.size, part.astype(np.int32)
