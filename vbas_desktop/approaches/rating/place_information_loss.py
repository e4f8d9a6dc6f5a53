"""Which share of the information on place the release does not keep."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from vbas_desktop.approaches.base import Card, Measure, Outcome


@dataclass(frozen=True)
class PlaceInformationLoss(Measure):
    """1 − (bits on place that the release keeps / bits on place in the file); 0 if the file has none.

    A record that is known to be in a place with m of the file's n records tells log2(n / m) bits on where it is. In
    the file the place is the initial region, in a release the place that the record's code stands for; a suppressed
    record tells nothing. So 0 means that every record keeps its initial region, and 1 that nothing is released or that
    the whole area is one place. O(r).
    """

    card: ClassVar[Card] = Card(
        name="place_information_loss",
        title="Loss of place information",
        summary="The share of the information on where records come from that is lost, suppressed records included.",
        formula="1 − Σ over released records of log₂(n / records of its place) "
        "/ Σ over all records of log₂(n / records of its initial region)",
        complexity="O(r)",
        when="One number for both prices, larger places and lost records: 0 every record keeps its initial region, "
        "1 nothing is known. Comparable between any two releases of the same file.",
        order=15,
    )
    unit: ClassVar[str] = "share"
    pareto_default: ClassVar[bool] = True

    def rate(self, outcome: Outcome) -> float:
        """The loss, from 0 to 1."""
        records = outcome.records_by_region
        total = records.sum()
        some = records > 0
        known = float((records[some] * np.log2(total / records[some])).sum())
        if known == 0:
            return 0.0
        kept = 0.0
        for membership, released in outcome.places():
            merged, totals = np.bincount(membership, records, released.regions), released.region_totals
            held = totals > 0
            kept += float((totals[held] * np.log2(total / merged[held])).sum())
        return min(1.0, max(0.0, 1.0 - kept / known))
