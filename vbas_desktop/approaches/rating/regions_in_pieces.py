"""How many aggregated regions are not contiguous."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from vbas_desktop.algorithms.adjacency import known_neighbours, pieces
from vbas_desktop.approaches.base import Card, Measure, Outcome


@dataclass(frozen=True)
class RegionsInPieces(Measure):
    """How many aggregated regions fall into several pieces.

    Neighbours are initial regions whose polygons have a common border or, without polygons, whose points' Voronoi cells
    have. O(r log r) once, then O(r).
    """

    card: ClassVar[Card] = Card(
        name="regions_in_pieces",
        title="Regions in several pieces",
        summary="The aggregated regions that are not contiguous.",
        formula="number of aggregated regions with more than one piece",
        complexity="O(r log r) once for the regions, then O(r)",
        when="For maps and for models of neighbouring regions, which take each region as one area.",
        order=75,
    )
    unit: ClassVar[str] = "regions"

    def rate(self, outcome: Outcome) -> int:
        """The number of aggregated regions in more than one piece."""
        regions = outcome.situation.regions
        return int(np.count_nonzero(pieces(regions, outcome.membership, known_neighbours(regions)) > 1))
