"""How far initial regions are from their sites."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from vbas_desktop.algorithms.nearest import squared_distances
from vbas_desktop.approaches.base import Card, Measure, Outcome


@dataclass(frozen=True)
class AverageDistance(Measure):
    """Mean over the initial regions of the distance to their site; undefined without sites. O(r)."""

    card: ClassVar[Card] = Card(
        name="average_distance",
        title="Average distance",
        summary="The mean distance of the initial regions to their site.",
        formula="(1/r) Σ |pᵢ − site(i)|",
        complexity="O(r)",
        when="Tells how local the released geography still is.",
        order=20,
    )
    unit: ClassVar[str] = "distance"
    pareto_thesis: ClassVar[bool] = True

    def rate(self, outcome: Outcome) -> float | None:
        """The mean distance in the unit of the coordinates."""
        if outcome.sites is None:
            return None
        squared = squared_distances(outcome.situation.points, outcome.sites[outcome.membership])
        return float(np.sqrt(squared).mean())
