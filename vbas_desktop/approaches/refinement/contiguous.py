"""Aggregated regions in one piece each."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from vbas_desktop.algorithms.nearest_site import weighted_centroids
from vbas_desktop.algorithms.region_graph import (
    bridge_islands,
    reassign_detached_pieces,
    region_neighbours,
)
from vbas_desktop.model.progress import Progress

from ..interface import Context, Metadata, Refinement, RefinementResult


class ContiguousRefinement(Refinement):
    """Joins scattered pieces of aggregated regions to their neighbours, so that each is in one piece.

    Regions are neighbours if their polygons have a common border or, without polygons, if the Voronoi cells of their
    points have. Islands count as neighbours of what is nearest to them. An aggregated region keeps its most populous
    piece; the initial regions of the others go, one after the other, to the neighbour whose site is nearest. What falls
    below k afterwards is suppressed as always. O(r log r).
    """

    metadata: ClassVar[Metadata] = Metadata(
        name="contiguous",
        title="Contiguous",
        summary="Joins scattered pieces of aggregated regions to their neighbours.",
        formula="owner(i) = argmin over touching regions j of |pᵢ − site(j)|, for i outside its largest piece",
        complexity="O(r log r)",
        when="Every aggregated region must be in one piece, as for maps or models of neighbouring regions. Few initial "
        "regions move, and the numbers of records are all that it uses of the records.",
        order=20,
    )
    share: ClassVar[float] = 0.1

    def refine(
        self,
        context: Context,
        owner: NDArray[np.int32],
        sites: NDArray[np.float64] | None,
        progress: Progress,
    ) -> RefinementResult:
        """Join detached pieces to neighbours; sites stay where they are."""
        progress.update("Joining pieces to their neighbours")
        pairs, bridges = context.cached(
            "bridged graph", lambda: bridge_islands(region_neighbours(context.regions), context.points)
        )
        centres = weighted_centroids(context.points, owner, context.weights) if sites is None else sites
        joined = reassign_detached_pieces(
            owner, pairs, context.points, centres, context.populations, progress
        )
        diagnostics = {"moved_regions": int(np.count_nonzero(joined != owner)), "bridges": bridges}
        return RefinementResult(joined, sites, {self.metadata.name: diagnostics})
