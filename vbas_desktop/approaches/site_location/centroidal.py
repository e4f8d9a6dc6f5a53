"""Sites in the middle of the records that they attract (centroidal Voronoi diagram)."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from vbas_desktop.algorithms.nearest_site import find_nearest_sites
from vbas_desktop.model.progress import Progress, SubProgress

from ..interface import Context, Metadata, SiteLocation, option
from ..shared import Initializer, initializer_option


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

    metadata: ClassVar[Metadata] = Metadata(
        name="centroidal",
        title="Centroidal",
        summary="Starts from another approach and moves every site to the middle of the records that it attracts.",
        formula="place = Σ records(i)·pᵢ / Σ records(i) over the regions nearest to the site, again and again",
        complexity="O(rounds · (r + s) log s)",
        when="Short distances matter: regions are far more compact at about the same number of suppressed records.",
        order=25,
    )

    seeding: Initializer = initializer_option()
    rounds: int = option(
        3,
        label="Rounds",
        help="How often all sites are moved at most; it ends earlier when none moves any more.",
        ge=1,
        le=10_000,
    )

    def locate(self, context: Context, sites: int, progress: Progress) -> NDArray[np.float64]:
        """Locate the sites by the seeding, and move them round by round; their order stays."""
        positions = self.seeding.locate(context, sites, SubProgress(progress, 0.0, 0.1))
        for number in range(self.rounds):
            part = SubProgress(
                progress, 0.1 + 0.9 * number / self.rounds, 0.1 + 0.9 * (number + 1) / self.rounds
            )
            moved = _move_to_centroids(context, positions, part)
            if np.array_equal(moved, positions):
                break
            positions = moved
        return positions


def _move_to_centroids(
    context: Context, positions: NDArray[np.float64], progress: Progress
) -> NDArray[np.float64]:
    """Move each site to the weighted mean of the points that it attracts."""
    points = context.points
    sites = len(positions)
    owner = find_nearest_sites(points, positions, progress)
    records = context.populations.astype(float)
    # Where nobody lives the points count alike.
    records[np.bincount(owner, records, sites)[owner] == 0] = 1.0
    weight = np.bincount(owner, records, sites)
    moved = positions.copy()
    for axis in (0, 1):
        # Measured from the site, so that large coordinates cost no digits.
        shift = np.bincount(owner, records * (points[:, axis] - positions[owner, axis]), sites)
        moved[:, axis] += shift / np.maximum(weight, 1.0)
    return moved
