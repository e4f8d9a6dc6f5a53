"""Number of sites from the GAPS cutoff for the number of possible classes."""

from __future__ import annotations

from typing import ClassVar

from ..interface import Context, Metadata
from ..shared import GapsSiteNumber


class MaxCombsSiteNumber(GapsSiteNumber):
    """As many sites as populations of the GAPS cutoff fit into the records, with the number of possible classes.

    cutoff = B · e^b with e = MaxCombs, the product of the category numbers; s = floor(share · floor(n / cutoff)).
    O(1) once the records are counted.

    References
    ----------
    GAPS: geographic area population size cutoffs for Western, Central and Eastern Canada.
    """

    metadata: ClassVar[Metadata] = Metadata(
        name="maxcombs",
        title="Possible classes (MaxCombs)",
        summary="The number of regions that the records can fill if each is large enough for all possible classes, by "
        "population models for Canada (GAPS: geographic area population size).",
        formula="cutoff = B · e^b;  s = ⌊0.9 · ⌊n / cutoff⌋⌋",
        complexity="O(1)",
        when="Choose it to follow the published guidance for Canada, or to compare with earlier releases: few, large "
        "regions and little suppression, whatever loss you could accept.",
        order=10,
    )

    def approximate(self, context: Context) -> int:
        """Compute the number of sites."""
        return self.sites_for(context, context.counts.max_combinations)
