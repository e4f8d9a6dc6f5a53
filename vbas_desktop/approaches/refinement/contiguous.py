"""Aggregated regions in one piece each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from vbas_desktop.algorithms.adjacency import known_neighbours
from vbas_desktop.algorithms.contiguity import bridged, join_pieces
from vbas_desktop.algorithms.places import middles
from vbas_desktop.approaches.base import Card, Refined, Refinement, Situation
from vbas_desktop.model.progress import Progress


@dataclass(frozen=True)
class ContiguousRefinement(Refinement):
    """Joins scattered pieces of aggregated regions to their neighbours, so that each is in one piece.

    Regions are neighbours if their polygons have a common border or, without polygons, if the Voronoi cells of their
    points have. Islands count as neighbours of what is nearest to them. An aggregated region keeps its most populous
    piece; the initial regions of the others go, one after the other, to the neighbour whose site is nearest. What falls
    below k afterwards is suppressed as always. O(r log r).
    """

    card: ClassVar[Card] = Card(
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
        self, situation: Situation, owner: NDArray[np.int32], sites: NDArray[np.float64] | None, progress: Progress
    ) -> Refined:
        """The owners after joining; sites stay where they are."""
        progress.update("Joining pieces to their neighbours")
        pairs, bridges = situation.remember(
            "bridged graph", lambda: bridged(known_neighbours(situation.regions), situation.points)
        )
        centres = middles(situation.points, owner, situation.weights) if sites is None else sites
        joined = join_pieces(owner, pairs, situation.points, centres, situation.populations, progress)
        told = {"moved_regions": int(np.count_nonzero(joined != owner)), "bridges": bridges}
        return Refined(joined, sites, {self.card.name: told})
