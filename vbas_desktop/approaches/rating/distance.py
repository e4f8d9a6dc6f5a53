"""Measures of distance and shape: how far initial regions are from their site or centroid, and regions in pieces."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from vbas_desktop.algorithms.nearest_site import squared_distances, weighted_centroids
from vbas_desktop.algorithms.region_graph import count_pieces, region_neighbours
from vbas_desktop.algorithms.voronoi_cells import compute_area_centroids

from ..interface import AggregationOutcome, Measure, Metadata


class AverageDistance(Measure):
    """Mean over the initial regions of the distance to the point that represents their aggregated region.

    This point is the site. A construction without sites has the centroid of the aggregated region's area instead: of
    the union of its polygons or, if the file has none, of the Voronoi cells of its points. O(r).

    References
    ----------
    The Voronoi-Based Aggregation System (thesis), § 3.2.5 and, for regions without sites, § 5.3.
    """

    metadata: ClassVar[Metadata] = Metadata(
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

    def rate(self, outcome: AggregationOutcome) -> float:
        """Compute the mean distance in the unit of the coordinates."""
        return float(distances_to_representatives(outcome).mean())


class DistanceSum(Measure):
    """Sum over the initial regions of the distance to their site, the compactness of the paper's equation 20.

    It is the average distance times the number of initial regions; without sites it is taken to the centroids of the
    aggregated regions' areas, as the average distance is. O(r).

    References
    ----------
    The Voronoi-Based Aggregation System (paper), compactness, equation 20.
    """

    metadata: ClassVar[Metadata] = Metadata(
        name="distance_sum",
        title="Sum of distances",
        summary="The distances of all initial regions to their site, added up: lower values mean more compact regions.",
        formula="Σ |pᵢ − site(i)|",
        complexity="O(r)",
        when="For comparison with figures that are sums; otherwise the average distance tells the same.",
        order=25,
    )
    unit: ClassVar[str] = "distance"

    def rate(self, outcome: AggregationOutcome) -> float:
        """Compute the sum in the unit of the coordinates."""
        return float(distances_to_representatives(outcome).sum())


class AlternativeAverageDistance(Measure):
    """Mean over the initial regions of the distance to the mean point of the initial regions they are merged with.

    O(r).
    """

    metadata: ClassVar[Metadata] = Metadata(
        name="alternative_average_distance",
        title="Average distance to the mean point",
        summary="The mean distance of the initial regions to the mean point of their aggregated region.",
        formula="(1/r) Σ |pᵢ − mean of the points merged with pᵢ|",
        complexity="O(r)",
        when="Fair to approaches whose sites are not in the middle of their regions, and defined without sites.",
        order=30,
    )
    unit: ClassVar[str] = "distance"

    def rate(self, outcome: AggregationOutcome) -> float:
        """Compute the mean distance of the initial regions to the middle of their group, in the unit of coordinates."""
        points = outcome.context.points
        group = outcome.membership
        return float(np.sqrt(squared_distances(points, weighted_centroids(points, group)[group])).mean())


class RegionsInPieces(Measure):
    """Number of aggregated regions that fall into several pieces.

    Neighbours are initial regions whose polygons have a common border or, without polygons, whose points' Voronoi cells
    have. O(r log r) once, then O(r).
    """

    metadata: ClassVar[Metadata] = Metadata(
        name="regions_in_pieces",
        title="Regions in several pieces",
        summary="The aggregated regions that are not contiguous.",
        formula="number of aggregated regions with more than one piece",
        complexity="O(r log r) once for the regions, then O(r)",
        when="For maps and for models of neighbouring regions, which take each region as one area.",
        order=75,
    )
    unit: ClassVar[str] = "regions"

    def rate(self, outcome: AggregationOutcome) -> int:
        """Count the aggregated regions in more than one piece."""
        regions = outcome.context.regions
        return int(
            np.count_nonzero(count_pieces(regions, outcome.membership, region_neighbours(regions)) > 1)
        )


def distances_to_representatives(outcome: AggregationOutcome) -> NDArray[np.float64]:
    """Measure how far each initial region is from its site, or without sites from the centroid of its region's area."""
    sites = outcome.sites
    if sites is None:
        sites = compute_area_centroids(outcome.context.regions, outcome.membership)
    squared = squared_distances(outcome.context.points, sites[outcome.membership])
    return np.asarray(np.sqrt(squared))
