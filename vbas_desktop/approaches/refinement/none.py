"""Aggregated regions as the construction made them."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from vbas_desktop.model.progress import Progress

from ..interface import Context, Metadata, Refinement, RefinementResult


class NoRefinement(Refinement):
    """Leaves every initial region with the site that the construction gave it to. O(1)."""

    metadata: ClassVar[Metadata] = Metadata(
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
        self,
        context: Context,
        owner: NDArray[np.int32],
        sites: NDArray[np.float64] | None,
        progress: Progress,
    ) -> RefinementResult:
        """Return the owners and sites as they are."""
        progress.update("Merging regions")
        return RefinementResult(owner, sites)
