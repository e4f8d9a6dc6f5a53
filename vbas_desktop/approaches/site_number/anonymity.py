"""Number of sites from the mean anonymity of the initial regions."""

from __future__ import annotations

import math
from typing import ClassVar

from vbas_desktop.algorithms.site_counts import as_exact_fraction

from ..interface import Context, Metadata, SiteNumber, option


class AnonymitySiteNumber(SiteNumber):
    """As many sites as merging until the mean class reaches k would leave, reduced by a safety factor.

    With a = mean over the r initial regions of records / e, the mean class of a region, m = ceil(k / a) regions have to
    be merged and s = floor(r · d / m). Computed in exact fractions, in O(1) once the records are counted.

    References
    ----------
    The Voronoi-Based Aggregation System, number of sites by anonymity.
    """

    metadata: ClassVar[Metadata] = Metadata(
        name="anonymity",
        title="Mean anonymity",
        summary="As many sites as are left if regions are merged until their average class reaches k.",
        formula="a = n / (r · e);  m = ⌈k / a⌉;  s = ⌊r · d / m⌋",
        complexity="O(1)",
        when="Choose it to compare with the models of Canada where none fits the country of the data; it ignores "
        "how records are spread over the classes.",
        order=30,
    )

    share: float = option(
        0.2,
        label="Share d",
        help="The share of the computed number that is used, because real classes are far from equally large.",
        ge=0.001,
        le=1.0,
    )

    def approximate(self, context: Context) -> int:
        """Compute the number of sites; 1 if there are no records."""
        regions = len(context.regions)
        records = context.records
        if records == 0:
            return 1
        merged = -(-context.k * regions * context.counts.max_combinations // records)
        return math.floor(regions * as_exact_fraction(self.share) / merged)
