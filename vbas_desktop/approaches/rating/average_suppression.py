"""How many records are suppressed for each aggregated region."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from vbas_desktop.approaches.base import Card, Measure, Outcome


@dataclass(frozen=True)
class AverageSuppression(Measure):
    """Suppressed records divided by the number of aggregated regions; all that is suppressed counts. O(1).

    References
    ----------
    The Voronoi-Based Aggregation System (thesis), § 4.8.1.
    """

    card: ClassVar[Card] = Card(
        name="average_suppression",
        title="Average suppression",
        summary="The number of suppressed records for each aggregated region.",
        formula="(records in the file − records released) / aggregated regions",
        complexity="O(1)",
        when="For comparison between solutions with different numbers of regions.",
        order=85,
    )
    unit: ClassVar[str] = "records"

    def rate(self, outcome: Outcome) -> float:
        """Compute the mean number of suppressed records."""
        return (outcome.records - outcome.released_records) / outcome.aggregated_regions
