"""Which aggregated region of one solution is which of another, and which initial regions changed sides."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def matched_groups(
    one: NDArray[np.integer], other: NDArray[np.integer], weights: NDArray[np.integer] | None = None
) -> NDArray[np.int32]:
    """For each group of ``one`` the group of ``other`` that is its counterpart, −1 if none is left.

    Pairs are taken by their common weight (members if no weights are given), largest first, each group once; ties go
    to the lower numbers.
    """
    weight = np.ones(one.size, np.int64) if weights is None else weights.astype(np.int64)
    width = int(other.max()) + 1 if other.size else 0
    pair, place = np.unique(one.astype(np.int64) * max(width, 1) + other, return_inverse=True)
    common, members = np.bincount(place, weight), np.bincount(place)
    # Members decide between pairs without records, which would all be equal else.
    order = np.lexsort((pair, -members, -common))
    match = np.full(int(one.max()) + 1 if one.size else 0, -1, np.int32)
    taken = np.zeros(width, np.bool_)
    for mine, theirs in zip(
        (pair[order] // max(width, 1)).tolist(), (pair[order] % max(width, 1)).tolist(), strict=True
    ):
        if match[mine] < 0 and not taken[theirs]:
            match[mine], taken[theirs] = theirs, True
    return match


def changed_owner(
    one: NDArray[np.integer], other: NDArray[np.integer], weights: NDArray[np.integer] | None = None
) -> NDArray[np.bool_]:
    """Which members are not in the counterpart of their group."""
    changed: NDArray[np.bool_] = matched_groups(one, other, weights)[one] != other
    return changed
