"""How much is lost of the knowledge where records come from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from vbas_desktop.approaches.base import Card, Measure, Outcome


@dataclass(frozen=True)
class NonUniformEntropy(Measure):
    """−Σ over the released records of log2(a / b), which is 0 if nothing is released.

    a: released records of the record's initial region, b: those of its aggregated region. In tiers both count the
    records that are released in the same place as this one. O(r).
    """

    card: ClassVar[Card] = Card(
        name="non_uniform_entropy",
        title="Non-uniform entropy",
        summary="The bits of knowledge about the initial region that merging takes from the released records.",
        formula="−Σ over released records of log₂(released in its initial region / released in its aggregated region)",
        complexity="O(r)",
        when="The most telling measure of lost geography: it counts people and grows with every merge.",
        order=60,
    )
    unit: ClassVar[str] = "bits"
    pareto_thesis: ClassVar[bool] = True

    def rate(self, outcome: Outcome) -> float:
        """The loss in bits."""
        lost = 0.0
        for own, (membership, released) in zip(outcome.released_by_tier, outcome.places(), strict=True):
            some = own > 0
            share = own[some] / released.region_totals[membership[some]]
            lost += float(abs((own[some] * np.log2(share)).sum()))
        return lost
