"""What the two site numbers of the GAPS models share: their parameters, and how a diversity becomes a number."""

from __future__ import annotations

from dataclasses import dataclass

from vbas_desktop.algorithms.site_numbers import CANADA, MODEL_CHOICES, OWN, gaps_cutoff, sites_for_cutoff

from .base import SiteNumber, Situation, parameter


@dataclass(frozen=True)
class GapsSiteNumber(SiteNumber):
    """As many sites as populations of the cutoff B · (diversity)^b fit into the records."""

    model: str = parameter(
        CANADA,
        label="Population model",
        help="The published model (GAPS: geographic area population size) of how many people a region needs, for three "
        "parts of Canada. “canada” uses the largest of the three, “own” your own factor and exponent.",
        choices=MODEL_CHOICES,
        option="gaps-model",
    )
    factor: float = parameter(
        1978.0,
        label="Own factor B",
        help="B of your own model (model “own”).",
        low=0.001,
        high=1e12,
        only_with=("model", OWN),
    )
    exponent: float = parameter(
        0.304,
        label="Own exponent b",
        help="b of your own model (model “own”).",
        low=0.0,
        high=10.0,
        only_with=("model", OWN),
    )
    share: float = parameter(
        0.9, label="Share", help="The share of the computed number that is used.", low=0.001, high=1.0
    )

    def sites_for(self, situation: Situation, diversity: float | int) -> int:
        """floor(share · floor(n / cutoff)); without any diversity there is no cutoff: one site for every region."""
        cutoff = gaps_cutoff(diversity, self.model, self.factor, self.exponent)
        sites = sites_for_cutoff(situation.records, cutoff, self.share)
        return len(situation.regions) if sites is None else sites
