"""Measures of records and classes: how many are suppressed, and how large the released classes are."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from vbas_desktop.algorithms.aggregation import anonymity_before_suppression, smallest_classes
from vbas_desktop.settings.option import Level

from ..interface import AggregationOutcome, Measure, Metadata


class SuppressedRecords(Measure):
    """Records in the file − records released: globally and locally suppressed ones and those of unknown regions.

    O(1).
    """

    metadata: ClassVar[Metadata] = Metadata(
        name="suppressed_records",
        title="Suppressed records",
        summary="Records of the file that the release leaves out, whatever the reason.",
        formula="records in the file − records released",
        complexity="O(1)",
        when="The first price of a release: every suppressed record is lost to the researcher.",
        order=10,
    )
    unit: ClassVar[str] = "records"
    pareto_default: ClassVar[bool] = True
    pareto_thesis: ClassVar[bool] = True

    def rate(self, outcome: AggregationOutcome) -> int:
        """Count the records that are not released."""
        return outcome.records - outcome.released_records


_SAFE_RECORDS = 3_000_000_000
"""Below this number of records the sum of the squares fits into 64 bits."""


class Discernibility(Measure):
    """Σ size² over the released classes of all places, without a penalty for suppressed records.

    0 if nothing is released. O(classes released).
    """

    level: ClassVar[Level] = Level.RESEARCH
    metadata: ClassVar[Metadata] = Metadata(
        name="discernibility",
        title="Discernibility",
        summary="The sum of the squared sizes of the released classes.",
        formula="Σ size²",
        complexity="O(released classes)",
        when="Low values mean detailed data: classes are no larger than they have to be.",
        order=50,
    )
    unit: ClassVar[str] = "records²"
    pareto_thesis: ClassVar[bool] = True

    def rate(self, outcome: AggregationOutcome) -> int:
        """Compute the sum, exactly."""
        safe = outcome.released_records < _SAFE_RECORDS
        return sum(_squares(released.sizes, safe) for _, released in outcome.places())


def _squares(sizes: NDArray[np.int64], safe: bool) -> int:
    return int((sizes * sizes).sum()) if safe else sum(size * size for size in sizes.tolist())


class AverageAnonymityDeviation(Measure):
    """Mean over the aggregated regions with released records of (anonymity after suppression − k).

    In tiers the mean is over the places of all tiers. Undefined if nothing is released. O(classes released).
    """

    metadata: ClassVar[Metadata] = Metadata(
        name="average_anonymity_deviation",
        title="Average anonymity deviation",
        summary="How far the smallest released class of a region exceeds k on average.",
        formula="mean of (anonymity after suppression − k)",
        complexity="O(released classes)",
        when="High values say that k is met with room to spare: more sites are possible.",
        order=70,
    )
    unit: ClassVar[str] = "records"
    pareto_thesis: ClassVar[bool] = True

    def rate(self, outcome: AggregationOutcome) -> float | None:
        """Compute the mean deviation, or None if nothing is released."""
        anonymity = np.concatenate(
            [smallest_classes(released.table)[0] for _, released in outcome.places()]
        )
        released = anonymity[anonymity > 0]
        return float((released - outcome.context.k).mean()) if released.size else None


class AverageAnonymity(Measure):
    """Mean over the aggregated regions with records of their anonymity before suppression, global or local.

    The anonymity of a region is the size of its smallest class. Undefined if no region has records. O(counts stored).

    References
    ----------
    The Voronoi-Based Aggregation System (thesis), § 4.8.1.
    """

    metadata: ClassVar[Metadata] = Metadata(
        name="average_anonymity",
        title="Average anonymity",
        summary="The mean size of the smallest class of the aggregated regions, before suppression.",
        formula="mean over aggregated regions with records of (size of the smallest class)",
        complexity="O(counts stored)",
        when="Below k, records are suppressed; far above k, the regions are larger than they have to be.",
        order=80,
    )
    unit: ClassVar[str] = "records"

    def rate(self, outcome: AggregationOutcome) -> float | None:
        """Compute the mean, or None if no aggregated region has records."""
        anonymity = anonymity_before_suppression(
            outcome.counts, outcome.membership, outcome.aggregated_regions
        )
        with_records = anonymity[anonymity > 0]
        return float(with_records.mean()) if with_records.size else None


class AverageSuppression(Measure):
    """Suppressed records divided by the number of aggregated regions; all that is suppressed counts. O(1).

    References
    ----------
    The Voronoi-Based Aggregation System (thesis), § 4.8.1.
    """

    metadata: ClassVar[Metadata] = Metadata(
        name="average_suppression",
        title="Average suppression",
        summary="The number of suppressed records for each aggregated region.",
        formula="(records in the file − records released) / aggregated regions",
        complexity="O(1)",
        when="For comparison between solutions with different numbers of regions.",
        order=85,
    )
    unit: ClassVar[str] = "records"

    def rate(self, outcome: AggregationOutcome) -> float:
        """Compute the mean number of suppressed records."""
        return (outcome.records - outcome.released_records) / outcome.aggregated_regions


class LargestHarmfulShare(Measure):
    """The largest share that one harmful value of a sensitive column has in a released class; the worst of all columns.

    Undefined without sensitive columns, or if nothing is released. O(cells that are not empty).
    """

    metadata: ClassVar[Metadata] = Metadata(
        name="largest_harmful_share",
        title="Largest share of a harmful value",
        summary="How surely somebody in the worst released class has a certain sensitive value: 100 % gives it away.",
        formula="max over released classes of (records with the commonest harmful value) / (records)",
        complexity="O(cells that are not empty)",
        when="For releases with a sensitive column: the lower it is, the less a class gives away.",
        order=90,
    )
    unit: ClassVar[str] = "share"
    requires_sensitive: ClassVar[bool] = True

    def rate(self, outcome: AggregationOutcome) -> float | None:
        """Compute the share, from 0 to 1."""
        shares = (figures["largest_share_percent"] for figures in outcome.sensitive.values())
        return max((share / 100 for share in shares if share is not None), default=None)
