"""The plain Voronoi diagram: each initial region belongs to its nearest site."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from vbas_desktop.algorithms.nearest_site import find_nearest_sites
from vbas_desktop.model.progress import Progress

from ..interface import Construction, Context, Metadata


class VoronoiConstruction(Construction):
    """The nearest site by Euclidean distance; ties go to the site of lower index. O((r + s) log s).

    References
    ----------
    The Voronoi-Based Aggregation System, construction.
    """

    metadata: ClassVar[Metadata] = Metadata(
        name="voronoi",
        title="Voronoi",
        summary="Gives each initial region to its nearest site.",
        formula="owner(i) = argmin over sites j of (xᵢ − xⱼ)² + (yᵢ − yⱼ)², ties to the lower j",
        complexity="O((r + s) log s)",
        when="The standard construction. Aggregated regions are compact, but may fall into several pieces.",
        order=10,
    )

    def build_partition(
        self, context: Context, sites: NDArray[np.float64], progress: Progress
    ) -> NDArray[np.int32]:
        """Return the index of each initial region's nearest site."""
        return find_nearest_sites(context.points, sites, progress)
