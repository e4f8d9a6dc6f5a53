"""Number of sites from the GAPS cutoff for the number of possible classes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from vbas_desktop.algorithms.site_numbers import CANADA, MODEL_CHOICES, gaps_cutoff, sites_for_cutoff
from vbas_desktop.approaches.base import Card, SiteNumber, Situation, parameter


@dataclass(frozen=True)
class MaxCombsSiteNumber(SiteNumber):
    """As many sites as populations of the GAPS cutoff fit into the records, with the number of possible classes.

    cutoff = B · e^b with e = MaxCombs, the product of the category numbers; s = floor(share · floor(n / cutoff)).
    O(1) once the records are counted.

    References
    ----------
    GAPS: geographic area population size cutoffs for Western, Central and Eastern Canada.
    """

    card: ClassVar[Card] = Card(
        name="maxcombs",
        title="MaxCombs (GAPS)",
        summary="As many sites as regions of the GAPS cutoff population fit, counting every possible class.",
        formula="cutoff = B · e^b;  s = ⌊0.9 · ⌊n / cutoff⌋⌋",
        complexity="O(1)",
        when="The careful choice: few, large regions and little suppression. Start with it.",
        order=10,
    )

    model: str = parameter(
        CANADA,
        label="GAPS model",
        help="Part of Canada whose model is used; “canada” takes the largest of the three cutoffs, “own” your own "
        "factor and exponent.",
        choices=MODEL_CHOICES,
        option="gaps-model",
    )
    factor: float = parameter(
        1978.0, label="Own factor B", help="B of a model of your own (model “own”).", low=0.001, high=1e12
    )
    exponent: float = parameter(
        0.304, label="Own exponent b", help="b of a model of your own (model “own”).", low=0.0, high=10.0
    )
    share: float = parameter(
        0.9, label="Share", help="The share of the computed number that is used.", low=0.001, high=1.0
    )

    def approximate(self, situation: Situation) -> int:
        """The number of sites."""
        cutoff = gaps_cutoff(situation.counts.equivalence_classes, self.model, self.factor, self.exponent)
        sites = sites_for_cutoff(situation.records, cutoff, self.share)
        return len(situation.regions) if sites is None else sites
