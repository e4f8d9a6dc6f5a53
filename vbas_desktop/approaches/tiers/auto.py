"""Larger areas made of neighbouring aggregated regions."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from vbas_desktop.algorithms.nearest_site import weighted_centroids
from vbas_desktop.algorithms.region_graph import contract_graph, region_neighbours
from vbas_desktop.algorithms.region_nesting import nest_regions
from vbas_desktop.model.progress import Progress
from vbas_desktop.model.records import as_readonly
from vbas_desktop.model.tiers import FIRST_TIER, WHOLE_AREA, Tiers

from ..interface import Context, Metadata, TierApproach, option


class AutoTiers(TierApproach):
    """Neighbouring places are taken together, about as many each time, until the whole area is one place.

    The smallest group joins the neighbour that keeps it most compact (Ward), until groups ≤ places / factor; less than
    three groups become the whole area at once. Places are contiguous wherever the map is; islands belong to the nearest
    coast. Only the map goes in, no record: the larger areas tell nothing about records. O(r log r).
    """

    metadata: ClassVar[Metadata] = Metadata(
        name="auto",
        title="Neighbouring regions",
        summary="Releases classes that are too small in their region in a larger area made of neighbouring regions.",
        formula="a class of a place is released there if its records m not released in smaller places satisfy "
        "k ≤ m ≤ Σ room of the place's children − the largest of them",
        complexity="O(r log r + counts · tiers)",
        when="Whenever records are lost: nearly all of them are in a class of k or more in the next larger area.",
        order=20,
    )
    factor: int = option(
        16,
        label="Places in a larger one",
        help="About how many places make a place of the next tier. More: fewer records are lost; fewer: they keep "
        "smaller places.",
        ge=3,
        le=1000,
        flag="--tier-factor",
    )

    def build_tiers(self, context: Context, membership: NDArray[np.int32], progress: Progress) -> Tiers:
        """Group the aggregated regions, then these groups, and so on."""
        progress.update("Arranging places in tiers")
        pairs = region_neighbours(context.regions)
        points = weighted_centroids(context.points, membership)
        parents = nest_regions(points, contract_graph(pairs, membership), self.factor, progress)
        titles = (
            FIRST_TIER,
            *(f"larger area, tier {tier}" for tier in range(1, len(parents))),
            WHOLE_AREA,
        )
        return Tiers(tuple(as_readonly(parent) for parent in parents), titles, (None,) * len(titles))
