"""Numbers for combinations."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray


def numbered(columns: Sequence[NDArray[np.generic]]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """A number from 0 on for each combination, and where each combination stands first."""
    found = np.zeros(columns[0].size, np.int64)
    first = found[:1]
    for column in columns:
        values, place = np.unique(column, return_inverse=True)
        _, first, found = np.unique(found * values.size + place.ravel(), return_index=True, return_inverse=True)
        found = found.ravel()
    return found, first
