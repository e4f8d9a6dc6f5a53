"""The plain Voronoi diagram: each initial region belongs to its nearest site."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from vbas_desktop.algorithms.nearest import nearest_sites
from vbas_desktop.approaches.base import Card, Construction, Situation
from vbas_desktop.model.progress import Progress


@dataclass(frozen=True)
class VoronoiConstruction(Construction):
    """The nearest site by Euclidean distance; ties go to the site of lower index. O((r + s) log s).

    References
    ----------
    The Voronoi-Based Aggregation System, construction.
    """

    card: ClassVar[Card] = Card(
        name="voronoi",
        title="Voronoi",
        summary="Gives each initial region to its nearest site.",
        formula="owner(i) = argmin over sites j of (xᵢ − xⱼ)² + (yᵢ − yⱼ)², ties to the lower j",
        complexity="O((r + s) log s)",
        when="The standard construction. Aggregated regions are compact, but may fall into several pieces.",
        order=10,
    )

    def construct(self, situation: Situation, sites: NDArray[np.float64], progress: Progress) -> NDArray[np.int32]:
        """The index of each initial region's nearest site."""
        return nearest_sites(situation.points, sites, progress)
