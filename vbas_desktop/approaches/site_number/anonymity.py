"""Number of sites from the mean anonymity of the initial regions."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from vbas_desktop.algorithms.site_numbers import decimal
from vbas_desktop.approaches.base import Card, SiteNumber, Situation, parameter


@dataclass(frozen=True)
class AnonymitySiteNumber(SiteNumber):
    """As many sites as merging until the mean class reaches k would leave, reduced by a safety factor.

    With a = mean over the r initial regions of records / e, the mean class of a region, m = ceil(k / a) regions have to
    be merged and s = floor(r · d / m). Computed in exact fractions, in O(1) once the records are counted.

    References
    ----------
    The Voronoi-Based Aggregation System, number of sites by anonymity.
    """

    card: ClassVar[Card] = Card(
        name="anonymity",
        title="Mean anonymity",
        summary="As many sites as are left if regions are merged until their average class reaches k.",
        formula="a = n / (r · e);  m = ⌈k / a⌉;  s = ⌊r · d / m⌋",
        complexity="O(1)",
        when="Choose it to compare with the models of Canada where none fits the country of the data; it ignores "
        "how records are spread over the classes.",
        order=30,
    )

    share: float = parameter(
        0.2,
        label="Share d",
        help="The share of the computed number that is used, because real classes are far from equally large.",
        low=0.001,
        high=1.0,
    )

    def approximate(self, situation: Situation) -> int:
        """The number of sites; 1 if there are no records."""
        regions, records = len(situation.regions), situation.records
        if records == 0:
            return 1
        merged = -(-situation.k * regions * situation.counts.max_combinations // records)
        return math.floor(regions * decimal(self.share) / merged)
