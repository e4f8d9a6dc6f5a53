"""Sites in the middle of the records that they attract (centroidal Voronoi diagram)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from vbas_desktop.algorithms.nearest import nearest_sites
from vbas_desktop.approaches.base import Card, SiteLocation, Situation, parameter
from vbas_desktop.approaches.declaration import seeding_parameter
from vbas_desktop.model.progress import Progress, Span


@dataclass(frozen=True)
class CentroidalSiteLocation(SiteLocation):
    """Moves every site to the mean point of the records that it attracts, round after round.

    A round gives each initial region to its nearest site; then each site goes to the mean of its regions' points,
    weighted by their records (all alike if none has any). A site that attracts nothing stays. It ends when no site
    moves, or after the given number of rounds: each round makes the mean squared distance of a record to its site
    smaller, and more rounds also make populations less even. O(rounds · (r + s) log s).

    References
    ----------
    S. P. Lloyd: Least squares quantization in PCM, IEEE Trans. Inf. Theory 28, 1982.
    """

    card: ClassVar[Card] = Card(
        name="centroidal",
        title="Centroidal",
        summary="Starts from another approach and moves every site to the middle of the records that it attracts.",
        formula="place = Σ records(i)·pᵢ / Σ records(i) over the regions nearest to the site, again and again",
        complexity="O(rounds · (r + s) log s)",
        when="Short distances matter: regions are far more compact at about the same number of suppressed records.",
        order=25,
    )

    seeding: SiteLocation = seeding_parameter()
    rounds: int = parameter(
        3,
        label="Rounds",
        help="How often all sites are moved at most; it ends earlier when none moves any more.",
        low=1,
        high=10_000,
    )

    def locate(self, situation: Situation, sites: int, progress: Progress) -> NDArray[np.float64]:
        """The places after the last round, in the order of the seeding."""
        places = self.seeding.locate(situation, sites, Span(progress, 0.0, 0.1))
        for number in range(self.rounds):
            part = Span(progress, 0.1 + 0.9 * number / self.rounds, 0.1 + 0.9 * (number + 1) / self.rounds)
            moved = _in_the_middle(situation, places, part)
            if np.array_equal(moved, places):
                break
            places = moved
        return places


def _in_the_middle(situation: Situation, places: NDArray[np.float64], progress: Progress) -> NDArray[np.float64]:
    """Each site at the weighted mean of what it attracts."""
    points, sites = situation.points, len(places)
    owner = nearest_sites(points, places, progress)
    records = situation.populations.astype(float)
    # Where nobody lives the points count alike.
    records[np.bincount(owner, records, sites)[owner] == 0] = 1.0
    weight = np.bincount(owner, records, sites)
    moved = places.copy()
    for axis in (0, 1):
        # Measured from the site, so that large coordinates cost no digits.
        shift = np.bincount(owner, records * (points[:, axis] - places[owner, axis]), sites)
        moved[:, axis] += shift / np.maximum(weight, 1.0)
    return moved
