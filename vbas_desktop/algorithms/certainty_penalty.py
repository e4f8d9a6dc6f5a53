"""The normalised certainty penalty: how much less certain the values of records are after a release."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from vbas_desktop.model.counts import ClassCounts


def compute_value_penalty(size: NDArray[np.integer], domain: int) -> NDArray[np.float64]:
    """Compute (size − 1) / (domain − 1), the penalty of a value that stands for ``size`` of ``domain`` values.

    0 throughout if there is only one value, which is certain whatever is released.
    """
    return (size - 1) / max(1, domain - 1)


def sum_region_penalties(tiers: Iterable[tuple[NDArray[np.int32], NDArray[np.int64]]]) -> float:
    """Sum up the penalties of the place of all released records.

    ``tiers`` has, tier by tier, the place of each initial region and the records that each place releases. O(r).
    """
    total = 0.0
    for membership, records in tiers:
        sizes = np.bincount(membership, minlength=records.size)
        total += float((records * compute_value_penalty(sizes, membership.size)).sum())
    return total


def sum_category_penalties(
    released: Sequence[ClassCounts], penalties: Sequence[NDArray[np.float64]]
) -> float:
    """Sum up the penalties of all quasi-identifiers of all released records.

    ``released`` has the released classes tier by tier; ``penalties[q][c]`` is that of category c of quasi-identifier q
    (no quasi-identifiers: all values are certain). O(classes), once they are counted.
    """
    if not penalties:
        return 0.0
    counts = released[0]
    records = np.sum([counts_of_tier.combination_totals for counts_of_tier in released], axis=0)
    total = 0.0
    for position, own in enumerate(penalties):
        total += float((records * own[counts.decode_column(position)]).sum())
    return total


def compute_certainty_penalty(penalties: float, columns: int, released: int, records: int) -> float:
    """Compute the mean penalty of all records from the sum over the ``released`` ones and over their ``columns``.

    A released record counts with the mean of its columns (place and quasi-identifiers), any other with 1.
    """
    return (penalties / columns + records - released) / max(1, records)
