"""Tiers once on a handful of places, so that their loops are compiled before they are needed."""

from __future__ import annotations

import numpy as np

from vbas_desktop.domain.records import EquivalenceCounts
from vbas_desktop.domain.tiers import Tiers

from .tier_release import records_by_tier, released_in_tier, tiers_of_classes


def rehearse() -> None:
    """Four places in two tiers."""
    counts = EquivalenceCounts.from_dense(
        (2,), np.arange(2, dtype=np.int64), np.array([(5, 1), (1, 1), (1, 1), (2, 1)])
    )
    whole = Tiers((np.zeros(4, np.int32),), ("", ""), (None, None))
    tier_of = tiers_of_classes(counts, whole, 3)
    rows = EquivalenceCounts((2,), counts.classes, sparse=counts.rows)
    records_by_tier(rows, np.arange(4, dtype=np.int32), counts, tier_of, 2)
    released_in_tier(counts, tier_of, whole, 1)
