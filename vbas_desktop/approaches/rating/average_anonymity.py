"""How large the smallest classes of the aggregated regions are before anything is suppressed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from vbas_desktop.algorithms.aggregation import anonymity_before_suppression
from vbas_desktop.approaches.base import Card, Measure, Outcome


@dataclass(frozen=True)
class AverageAnonymity(Measure):
    """Mean over the aggregated regions with records of their anonymity before suppression, global or local.

    The anonymity of a region is the size of its smallest class. Undefined if no region has records. O(counts stored).

    References
    ----------
    The Voronoi-Based Aggregation System (thesis), § 4.8.1.
    """

    card: ClassVar[Card] = Card(
        name="average_anonymity",
        title="Average anonymity",
        summary="The mean size of the smallest class of the aggregated regions, before suppression.",
        formula="mean over aggregated regions with records of (size of the smallest class)",
        complexity="O(counts stored)",
        when="Below k, records are suppressed; far above k, the regions are larger than they have to be.",
        order=80,
    )
    unit: ClassVar[str] = "records"

    def rate(self, outcome: Outcome) -> float | None:
        """Compute the mean, or None if no aggregated region has records."""
        anonymity = anonymity_before_suppression(outcome.counts, outcome.membership, outcome.aggregated_regions)
        with_records = anonymity[anonymity > 0]
        return float(with_records.mean()) if with_records.size else None
