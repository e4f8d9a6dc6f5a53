"""Sites moved so that fewer records have to be suppressed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from vbas_desktop.approaches.base import Card, SiteLocation, Situation, TellingLocation
from vbas_desktop.approaches.declaration import effort_parameter, seeding_parameter, weight_parameter
from vbas_desktop.approaches.site_moving import LOSSIER, USUAL_EFFORT, Search, moved_sites
from vbas_desktop.model.progress import Progress, Span


@dataclass(frozen=True)
class RefineSitesSiteLocation(TellingLocation):
    """Moves one site at a time so that fewer records are to be suppressed; regions stay Voronoi.

    S is the number of records in classes smaller than k, summed over the regions nearest to each site. Simulated
    annealing on S + weight · S₀ · D / D₀, where D is the mean distance to the nearest site: a site is drawn towards, or
    away from, the point of an initial region near by (every tenth move: put at the point of any), and the change of S
    is known from the regions that would change hands. Neither the sum of the squared populations nor D rises above the
    start's, the non-uniform entropy (estimated from released shares) not by more than 1.5 %, and no site comes to
    attract nothing. The best places that were met are the result, also after a stop.
    O(tries · (r / 16 + counts moved)).

    References
    ----------
    S. Kirkpatrick, C. D. Gelatt, M. P. Vecchi: Optimization by simulated annealing, Science 220, 1983.
    """

    card: ClassVar[Card] = Card(
        name="refine-sites",
        title="Refined sites",
        summary="Starts from another approach and moves sites so that fewer records have to be suppressed.",
        formula="minimise S + w · S₀ · D/D₀;  Σ population² ≤ at the start;  D ≤ D₀;  entropy ≤ 1.015 · at the start",
        complexity="O(tries · (r / 16 + counts moved))",
        when="Fewer suppressed records are worth some seconds, and regions must be those of a Voronoi diagram.",
        order=15,
        reveals="Anybody who can repeat the seeding sees which sites were moved because classes were small. How much "
        "that helps to guess small counts is measured in docs/refinement.md.",
    )

    remaining_loss: ClassVar[float] = 0.85

    seeding: SiteLocation = seeding_parameter()
    effort: int = effort_parameter(USUAL_EFFORT, "site")
    weight: float = weight_parameter()

    @property
    def without_search(self) -> SiteLocation:
        """The seeding: moving sites takes as long as all trials of a number of sites together."""
        return self.seeding.without_search

    def locate_and_tell(
        self, situation: Situation, sites: int, progress: Progress
    ) -> tuple[NDArray[np.float64], Mapping[str, Any]]:
        """The best places that were met, in the order of the seeding, and how many moves led from which S to which."""
        seeds = self.seeding.locate(situation, sites, Span(progress, 0.0, 0.1))
        search = Search(self.effort, self.weight, longer=1.0, lossier=LOSSIER)
        places, told = moved_sites(situation, seeds, sites, search, Span(progress, 0.1, 1.0))
        return places, {self.card.name: told}
