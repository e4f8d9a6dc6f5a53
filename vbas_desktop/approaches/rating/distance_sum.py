"""How far initial regions are from their sites, all together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from vbas_desktop.approaches.base import Card, Measure, Outcome
from vbas_desktop.approaches.distances import distances_to_representatives


@dataclass(frozen=True)
class DistanceSum(Measure):
    """Sum over the initial regions of the distance to their site, the compactness of the paper's equation 20.

    It is the average distance times the number of initial regions; without sites it is taken to the centroids of the
    aggregated regions' areas, as the average distance is. O(r).

    References
    ----------
    The Voronoi-Based Aggregation System (paper), compactness, equation 20.
    """

    card: ClassVar[Card] = Card(
        name="distance_sum",
        title="Sum of distances",
        summary="The distances of all initial regions to their site, added up: lower values mean more compact regions.",
        formula="Σ |pᵢ − site(i)|",
        complexity="O(r)",
        when="For comparison with figures that are sums; otherwise the average distance tells the same.",
        order=25,
    )
    unit: ClassVar[str] = "distance"

    def rate(self, outcome: Outcome) -> float:
        """Compute the sum in the unit of the coordinates."""
        return float(distances_to_representatives(outcome).sum())
