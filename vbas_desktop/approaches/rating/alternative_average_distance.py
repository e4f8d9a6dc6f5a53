"""How far initial regions are from the middle of their aggregated region."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from vbas_desktop.algorithms.nearest import squared_distances
from vbas_desktop.algorithms.places import middles
from vbas_desktop.approaches.base import Card, Measure, Outcome


@dataclass(frozen=True)
class AlternativeAverageDistance(Measure):
    """Mean over the initial regions of the distance to the mean point of the initial regions they are merged with.

    O(r).
    """

    card: ClassVar[Card] = Card(
        name="alternative_average_distance",
        title="Average distance to the mean point",
        summary="The mean distance of the initial regions to the mean point of their aggregated region.",
        formula="(1/r) Σ |pᵢ − mean of the points merged with pᵢ|",
        complexity="O(r)",
        when="Fair to approaches whose sites are not in the middle of their regions, and defined without sites.",
        order=30,
    )
    unit: ClassVar[str] = "distance"

    def rate(self, outcome: Outcome) -> float:
        """The mean distance in the unit of the coordinates."""
        points, group = outcome.situation.points, outcome.membership
        return float(np.sqrt(squared_distances(points, middles(points, group)[group])).mean())
