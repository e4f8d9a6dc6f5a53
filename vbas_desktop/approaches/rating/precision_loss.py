"""How much of the geographic detail is merged away."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from vbas_desktop.approaches.base import Card, Measure, Outcome


@dataclass(frozen=True)
class PrecisionLoss(Measure):
    """Mean over the aggregated regions of log2(initial regions in it) / log2(r); 0 if there is one initial region.

    In tiers, an aggregated region counts with the mean over its released records of log2(initial regions in the place
    where the record is released). O(r).
    """

    card: ClassVar[Card] = Card(
        name="precision_loss",
        title="Precision loss",
        summary="The share of geographic detail that merging removes: 0 nothing merged, 1 all in one region.",
        formula="mean over aggregated regions of log₂(initial regions in it) / log₂ r",
        complexity="O(r)",
        when="Every region counts the same, however many people live in it.",
        order=40,
    )
    pareto_thesis: ClassVar[bool] = True

    def rate(self, outcome: Outcome) -> float:
        """The loss, from 0 to 1."""
        regions = len(outcome.membership)
        if regions == 1:
            return 0.0
        merged = np.log2(np.bincount(outcome.membership, minlength=outcome.aggregated_regions))
        if outcome.tiers is not None:
            merged = _mean_of_records(outcome, merged)
        return float(merged.mean() / np.log2(regions))


def _mean_of_records(outcome: Outcome, without_records: NDArray[np.float64]) -> NDArray[np.float64]:
    """Of each aggregated region the mean over its released records of log₂(initial regions in the record's place)."""
    bits, records = np.zeros(outcome.aggregated_regions), np.zeros(outcome.aggregated_regions)
    for own, (membership, _) in zip(outcome.released_by_tier, outcome.places(), strict=True):
        size = np.log2(np.bincount(membership))[membership]
        bits += np.bincount(outcome.membership, own * size, outcome.aggregated_regions)
        records += np.bincount(outcome.membership, own, outcome.aggregated_regions)
    return np.where(records > 0, bits / np.maximum(records, 1), without_records)
