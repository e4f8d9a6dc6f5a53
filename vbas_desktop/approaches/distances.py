"""Distances of the initial regions to the points that represent their aggregated regions."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from vbas_desktop.algorithms.cells import area_centroids
from vbas_desktop.algorithms.nearest import squared_distances

from .base import Outcome


def distances_to_representatives(outcome: Outcome) -> NDArray[np.float64]:
    """Measure how far each initial region is from its site, or without sites from the centroid of its region's area."""
    sites = outcome.sites
    if sites is None:
        sites = area_centroids(outcome.situation.regions, outcome.membership)
    squared = squared_distances(outcome.situation.points, sites[outcome.membership])
    return np.asarray(np.sqrt(squared))
