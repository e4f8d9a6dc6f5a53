"""Number of sites from the GAPS cutoff for the entropy of the classes."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from ..interface import Context, Metadata
from ..shared import GapsSiteNumber


class EntropySiteNumber(GapsSiteNumber):
    """As many sites as populations of the GAPS cutoff fit into the records, with the entropy of the classes.

    H = −Σ (c/n) ln(c/n) over the classes of the whole file taken as one region; cutoff = B · H^b;
    s = floor(share · floor(n / cutoff)). O(classes present).

    References
    ----------
    GAPS: geographic area population size cutoffs for Western, Central and Eastern Canada.
    """

    metadata: ClassVar[Metadata] = Metadata(
        name="entropy",
        title="Entropy of the classes",
        summary="The number of regions that the records can fill if each is large enough for classes so diverse, by "
        "population models for Canada (GAPS: geographic area population size).",
        formula="H = −Σ (c/n) ln(c/n);  cutoff = B · H^b;  s = ⌊0.9 · ⌊n / cutoff⌋⌋",
        complexity="O(classes present)",
        when="Choose it to compare with earlier releases that followed it; it always gives more sites than MaxCombs, "
        "but you do not know in advance how many records they lose.",
        order=20,
    )

    def approximate(self, context: Context) -> int:
        """Compute the number of sites; without any diversity each region may have its own."""
        if context.records == 0:
            return 1
        return self.sites_for(context, self.entropy(context))

    @staticmethod
    def entropy(context: Context) -> float:
        """Compute the entropy H of the classes of the whole file, in nats."""
        totals = context.counts.combination_totals
        shares = totals[totals > 0] / context.records
        return float(max(0.0, -(shares * np.log(shares)).sum()))
