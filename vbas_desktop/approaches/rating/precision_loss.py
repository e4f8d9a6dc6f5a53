"""How much of the geographic detail is merged away."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from vbas_desktop.approaches.base import Card, Measure, Outcome


@dataclass(frozen=True)
class PrecisionLoss(Measure):
    """Mean over the aggregated regions of log2(initial regions in it) / log2(r); 0 if there is one initial region.

    O(r).
    """

    card: ClassVar[Card] = Card(
        name="precision_loss",
        title="Precision loss",
        summary="The share of geographic detail that merging removes: 0 nothing merged, 1 all in one region.",
        formula="mean over aggregated regions of log₂(initial regions in it) / log₂ r",
        complexity="O(r)",
        when="Counts regions, not people: use it beside the entropy.",
        order=40,
    )
    unit: ClassVar[str] = ""
    pareto_thesis: ClassVar[bool] = True

    def rate(self, outcome: Outcome) -> float:
        """The loss, from 0 to 1."""
        regions = len(outcome.membership)
        if regions == 1:
            return 0.0
        merged = np.bincount(outcome.membership, minlength=outcome.aggregated_regions)
        return float(np.log2(merged).mean() / np.log2(regions))
