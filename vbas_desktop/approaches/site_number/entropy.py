"""Number of sites from the GAPS cutoff for the entropy of the classes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from vbas_desktop.algorithms.site_numbers import CANADA, MODEL_CHOICES, gaps_cutoff, sites_for_cutoff
from vbas_desktop.approaches.base import Card, SiteNumber, Situation, parameter


@dataclass(frozen=True)
class EntropySiteNumber(SiteNumber):
    """As many sites as populations of the GAPS cutoff fit into the records, with the entropy of the classes.

    H = −Σ (c/n) ln(c/n) over the classes of the whole file taken as one region; cutoff = B · H^b;
    s = floor(share · floor(n / cutoff)). O(classes present).

    References
    ----------
    GAPS: geographic area population size cutoffs for Western, Central and Eastern Canada.
    """

    card: ClassVar[Card] = Card(
        name="entropy",
        title="Entropy (GAPS)",
        summary="As many sites as regions of the GAPS cutoff population fit, measuring diversity by the entropy.",
        formula="H = −Σ (c/n) ln(c/n);  cutoff = B · H^b;  s = ⌊0.9 · ⌊n / cutoff⌋⌋",
        complexity="O(classes present)",
        when="Choose it for many, small regions where more suppression is acceptable: it always gives more sites than "
        "MaxCombs.",
        order=20,
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
        """The number of sites; without any diversity there is no cutoff, and every region may have its own site."""
        if situation.records == 0:
            return 1
        cutoff = gaps_cutoff(self.entropy(situation), self.model, self.factor, self.exponent)
        sites = sites_for_cutoff(situation.records, cutoff, self.share)
        return len(situation.regions) if sites is None else sites

    @staticmethod
    def entropy(situation: Situation) -> float:
        """H of the classes of the whole file, in nats."""
        totals = situation.counts.class_totals
        shares = totals[totals > 0] / situation.records
        return float(max(0.0, -(shares * np.log(shares)).sum()))
