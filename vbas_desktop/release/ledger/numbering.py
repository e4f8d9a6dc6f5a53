"""Numbers for combinations, and where numbers stand among others."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]


def numbered(columns: Sequence[NDArray[np.generic]]) -> tuple[Ints, Ints]:
    """A number from 0 on for each combination, and where each combination stands first."""
    found = np.zeros(columns[0].size, np.int64)
    first = found[:1]
    for column in columns:
        values, place = np.unique(column, return_inverse=True)
        _, first, found = np.unique(found * values.size + place.ravel(), return_index=True, return_inverse=True)
        found = found.ravel()
    return found, first


def matches(known: NDArray[np.generic], wanted: NDArray[np.generic]) -> tuple[Ints, Ints]:
    """Which of the wanted are among the known, which ascend, and where each of these stands there."""
    spot = np.searchsorted(known, wanted)
    at = np.flatnonzero(spot < known.size)
    at = at[known[spot[at]] == wanted[at]]
    return at, spot[at]
