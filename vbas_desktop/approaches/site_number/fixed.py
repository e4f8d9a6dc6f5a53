"""A number of sites chosen by the user."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from vbas_desktop.approaches.base import Card, SiteNumber, Situation, parameter


@dataclass(frozen=True)
class FixedSiteNumber(SiteNumber):
    """Exactly the number of sites that was asked for (never more than there are initial regions). O(1)."""

    card: ClassVar[Card] = Card(
        name="fixed",
        title="Fixed number",
        summary="The number of sites that you enter.",
        formula="s = N",
        complexity="O(1)",
        when="Choose it to reproduce an earlier result, or if the number of regions is prescribed.",
        order=40,
    )

    sites: int = parameter(
        100,
        label="Number of sites",
        help="How many sites are placed; at most as many as there are initial regions.",
        low=1,
        high=100_000_000,
        option="sites",
        required=True,
    )

    def approximate(self, situation: Situation) -> int:
        """The number as entered."""
        return self.sites
