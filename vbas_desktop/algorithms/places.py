"""Which points are at one place. Sorts numbers, not rows: numpy sorts rows while it holds up all other threads."""

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
    keys = np.unique(one.astype(np.int64) * width + other)
    return np.column_stack((keys // width, keys % width))
