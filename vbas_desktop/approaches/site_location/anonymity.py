"""Sites at the initial regions of lowest anonymity."""

from __future__ import annotations

from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from vbas_desktop.model.progress import Progress
from vbas_desktop.settings.option import Level

from ..interface import Context, Metadata, SiteLocation, option


class AnonymitySiteLocation(SiteLocation):
    """The points of the s initial regions of lowest anonymity.

    Ties: more classes at that size first; regions above k are not ordered among themselves; regions without records
    come last. What is still tied is ordered by a permutation drawn from the run's seed, or by file order.
    O(r log r + non-zero counts), once per run.

    References
    ----------
    The Voronoi-Based Aggregation System, site locations by anonymity.
    """

    metadata: ClassVar[Metadata] = Metadata(
        name="anonymity",
        title="Lowest anonymity",
        summary="Puts the sites where the initial regions have the smallest classes.",
        formula="the s points with the lowest (smallest class, −classes of that size, draw)",
        complexity="O(r log r + non-zero counts)",
        when="Choose it as a baseline for comparisons; it ignores where people live.",
        discloses="Every aggregated region lies around an initial region that has very small classes. From the "
        "released regions alone, 45 % of the guesses at it are right where chance would be 8 %.",
        order=40,
    )

    ties: Literal["random", "file"] = option(
        "random",
        label="Ties",
        level=Level.RESEARCH,
        help="How regions of equal rank are ordered: by a draw from the random seed, or by file order (which piles "
        "sites into one corner, because files are sorted by place).",
    )

    def locate(self, context: Context, sites: int, progress: Progress) -> NDArray[np.float64]:
        """Return the points of the regions with the lowest anonymity, lowest first."""
        progress.update("Ranking regions by anonymity")
        order: NDArray[np.int64] = context.cached((self, "order"), lambda: self._order(context))
        return context.points[order[:sites]].copy()

    def _order(self, context: Context) -> NDArray[np.int64]:
        anonymity, classes = context.smallest_classes
        regions = len(context.regions)
        last = context.generator().permutation(regions) if self.ties == "random" else np.arange(regions)
        above = anonymity > context.k
        rank = np.where(anonymity == 0, context.k + 2, np.where(above, context.k + 1, anonymity))
        more_classes = np.where(above, 0, -classes)
        return np.lexsort((last, more_classes, rank))
