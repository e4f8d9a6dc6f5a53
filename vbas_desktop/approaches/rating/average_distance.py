"""How far initial regions are from their sites."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from vbas_desktop.approaches.base import Card, Measure, Outcome
from vbas_desktop.approaches.distances import distances_to_representatives


@dataclass(frozen=True)
class AverageDistance(Measure):
    """Mean over the initial regions of the distance to the point that represents their aggregated region.

    This point is the site. A construction without sites has the centroid of the aggregated region's area instead: of
    the union of its polygons or, if the file has none, of the Voronoi cells of its points. O(r).

    References
    ----------
    The Voronoi-Based Aggregation System (thesis), § 3.2.5 and, for regions without sites, § 5.3.
    """

    card: ClassVar[Card] = Card(
        name="average_distance",
        title="Average distance",
        summary="The mean distance of the initial regions to their site, or to the centroid of a region without one.",
        formula="(1/r) Σ |pᵢ − site(i)|",
        complexity="O(r)",
        when="Tells how local the released geography still is.",
        order=20,
    )
    unit: ClassVar[str] = "distance"
    pareto_thesis: ClassVar[bool] = True

    def rate(self, outcome: Outcome) -> float:
        """Compute the mean distance in the unit of the coordinates."""
        return float(distances_to_representatives(outcome).mean())
