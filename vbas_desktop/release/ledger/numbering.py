"""Find numbers among others."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]


def matches(known: NDArray[np.generic], wanted: NDArray[np.generic]) -> tuple[Ints, Ints]:
    """Which of the wanted are among the known, which ascend, and where each of these stands there."""
    spot = np.searchsorted(known, wanted)
    at = np.flatnonzero(spot < known.size)
    at = at[known[spot[at]] == wanted[at]]
    return at, spot[at]
