"""Sites moved so that fewer records have to be suppressed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from vbas_desktop.model.progress import Progress, SubProgress

from ..interface import Context, DiagnosedSiteLocation, Metadata, SiteLocation
from ..shared import (
    LOSSIER,
    USUAL_EFFORT,
    Initializer,
    SiteSearchOptions,
    anneal_sites,
    effort_option,
    initializer_option,
    weight_option,
)


class RefineSitesSiteLocation(DiagnosedSiteLocation):
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

    metadata: ClassVar[Metadata] = Metadata(
        name="refine-sites",
        title="Refined sites",
        summary="Starts from another approach and moves sites so that fewer records have to be suppressed.",
        formula="minimise S + w · S₀ · D/D₀;  Σ population² ≤ at the start;  D ≤ D₀;  entropy ≤ 1.015 · at the start",
        complexity="O(tries · (r / 16 + counts moved))",
        when="Fewer suppressed records are worth some seconds, and regions must be those of a Voronoi diagram.",
        order=15,
        discloses="Anybody who can repeat the seeding sees which sites were moved because classes were small. How much "
        "that helps to guess small counts is measured in docs/refinement.md.",
    )

    remaining_loss: ClassVar[float] = 0.85

    seeding: Initializer = initializer_option()
    effort: int = effort_option(USUAL_EFFORT, "site")
    weight: float = weight_option()

    @property
    def without_search(self) -> SiteLocation:
        """Return the seeding: moving sites takes as long as all trials of a number of sites together."""
        return self.seeding.without_search

    def locate_with_diagnostics(
        self, context: Context, sites: int, progress: Progress
    ) -> tuple[NDArray[np.float64], Mapping[str, Any]]:
        """Move the sites of the seeding; the diagnostics have S before and after, moves and tries."""
        seeds = self.seeding.locate(context, sites, SubProgress(progress, 0.0, 0.1))
        search = SiteSearchOptions(self.effort, self.weight, longer=1.0, lossier=LOSSIER)
        moved, diagnostics = anneal_sites(context, seeds, sites, search, SubProgress(progress, 0.1, 1.0))
        return moved, {self.metadata.name: diagnostics}
