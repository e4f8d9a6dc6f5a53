"""How much more anonymity is given than was asked for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from vbas_desktop.algorithms.aggregation import smallest_classes
from vbas_desktop.approaches.base import Card, Measure, Outcome


@dataclass(frozen=True)
class AverageAnonymityDeviation(Measure):
    """Mean over the aggregated regions with released records of (anonymity after suppression − k).

    In tiers the mean is over the places of all tiers. Undefined if nothing is released. O(classes released).
    """

    card: ClassVar[Card] = Card(
        name="average_anonymity_deviation",
        title="Average anonymity deviation",
        summary="How far the smallest released class of a region exceeds k on average.",
        formula="mean of (anonymity after suppression − k)",
        complexity="O(released classes)",
        when="High values say that k is met with room to spare: more sites are possible.",
        order=70,
    )
    unit: ClassVar[str] = "records"
    pareto_thesis: ClassVar[bool] = True

    def rate(self, outcome: Outcome) -> float | None:
        """The mean deviation, or None if nothing is released."""
        anonymity = np.concatenate([smallest_classes(released.table)[0] for _, released in outcome.places()])
        released = anonymity[anonymity > 0]
        return float((released - outcome.situation.k).mean()) if released.size else None
