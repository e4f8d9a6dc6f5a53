"""A number of sites chosen by the user."""

from __future__ import annotations

from typing import ClassVar

from ..interface import Context, Metadata, SiteNumber, option


class FixedSiteNumber(SiteNumber):
    """Exactly the number of sites that was asked for (never more than there are initial regions). O(1)."""

    metadata: ClassVar[Metadata] = Metadata(
        name="fixed",
        title="Fixed number",
        summary="The number of sites that you enter.",
        formula="s = N",
        complexity="O(1)",
        when="Choose it to reproduce an earlier result, or if the number of regions is prescribed.",
        order=40,
    )

    sites: int = option(
        100,
        label="Number of sites",
        help="How many sites are placed; at most as many as there are initial regions.",
        ge=1,
        le=100_000_000,
        flag="--sites",
        required=True,
    )

    def approximate(self, context: Context) -> int:
        """Return the number as entered."""
        return self.sites
