"""Aggregated regions as the construction made them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from vbas_desktop.approaches.base import Card, Refined, Refinement, Situation
from vbas_desktop.model.progress import Progress


@dataclass(frozen=True)
class NoRefinement(Refinement):
    """Leaves every initial region with the site that the construction gave it to. O(1)."""

    card: ClassVar[Card] = Card(
        name="none",
        title="None",
        summary="Leaves the aggregated regions as the construction made them.",
        formula="owner(i) stays",
        complexity="O(1)",
        when="The borders must depend on the records through the locations of the sites only, or you want to reproduce "
        "earlier results.",
        order=10,
    )
    share: ClassVar[float] = 0.0

    def refine(
        self, situation: Situation, owner: NDArray[np.int32], sites: NDArray[np.float64] | None, progress: Progress
    ) -> Refined:
        """The same owners and sites."""
        progress.update("Merging regions")
        return Refined(owner, sites)
