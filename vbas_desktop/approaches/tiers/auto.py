"""Larger places made of neighbouring aggregated regions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from vbas_desktop.algorithms.adjacency import group_neighbours, known_neighbours
from vbas_desktop.algorithms.agglomeration import nested_groups
from vbas_desktop.algorithms.places import middles
from vbas_desktop.approaches.base import Card, Situation, Tiering, parameter
from vbas_desktop.model.progress import Progress
from vbas_desktop.model.records import frozen
from vbas_desktop.model.tiers import FIRST_TIER, WHOLE_AREA, Tiers


@dataclass(frozen=True)
class AutoTiers(Tiering):
    """Neighbouring places are taken together, about as many each time, until the whole area is one place.

    The smallest group joins the neighbour that keeps it most compact (Ward), until groups ≤ places / factor; less than
    three groups become the whole area at once. Places are contiguous wherever the map is; islands belong to the nearest
    coast. Only the map goes in, no record: the larger places tell nothing about records. O(r log r).
    """

    card: ClassVar[Card] = Card(
        name="auto",
        title="Neighbouring regions",
        summary="Releases classes that are too small in their region in a larger place made of neighbouring regions.",
        formula="a class of a place is released there if its records m not released in smaller places satisfy "
        "k ≤ m ≤ Σ room of the place's children − the largest of them",
        complexity="O(r log r + counts · tiers)",
        when="Whenever records are lost: nearly all of them are in a class of k or more in the next larger place.",
        order=20,
    )
    factor: int = parameter(
        16,
        label="Places in a larger one",
        help="About how many places make a place of the next tier. More: fewer records are lost; fewer: they keep "
        "smaller places.",
        low=3,
        high=1000,
        option="tier-factor",
    )

    def arrange(self, situation: Situation, membership: NDArray[np.int32], progress: Progress) -> Tiers:
        """Groups of the aggregated regions, groups of these, and so on."""
        progress.update("Arranging places in tiers")
        pairs = known_neighbours(situation.regions)
        points = middles(situation.points, membership)
        parents = nested_groups(points, group_neighbours(pairs, membership), self.factor, progress)
        titles = (FIRST_TIER, *(f"larger place, tier {tier}" for tier in range(1, len(parents))), WHOLE_AREA)
        return Tiers(tuple(frozen(parent) for parent in parents), titles, (None,) * len(titles))
