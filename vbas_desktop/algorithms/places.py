"""Which points are at one place, and the middles of groups of them.

Sorts numbers, not rows: numpy sorts rows while it holds up all other threads.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def place_numbers(points: NDArray[np.float64]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """The index of the first point of each place, and the number of the place of each point.

    Places are numbered by x, then by y.
    """
    _, first, number = np.unique(points[:, 0] + 1j * points[:, 1], return_index=True, return_inverse=True)
    return first, number


def distinct_pairs(one: NDArray[np.integer], other: NDArray[np.integer]) -> NDArray[np.int64]:
    """The different pairs (one, other) of natural numbers, ascending, as an (m, 2) array."""
    width = int(other.max(initial=0)) + 1
    # numpy.unique takes forty times as long: it puts numbers into a hash table before it sorts them.
    keys = np.sort(one.astype(np.int64) * width + other)
    keys = keys[np.diff(keys, prepend=-1) != 0]
    return np.column_stack((keys // width, keys % width))


def middles(
    points: NDArray[np.float64], owner: NDArray[np.integer], weights: NDArray[np.float64] | None = None
) -> NDArray[np.float64]:
    """The mean point (by weight) of what each group owns; the origin for groups that own nothing."""
    weight = np.ones(len(points)) if weights is None else weights
    number = np.bincount(owner, weight)
    number[number == 0] = 1.0
    return np.column_stack([np.bincount(owner, weight * points[:, axis]) / number for axis in (0, 1)])
