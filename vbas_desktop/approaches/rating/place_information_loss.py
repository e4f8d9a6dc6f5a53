"""Which share of the information on place the release does not keep."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

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
        places = ((membership, released.region_totals) for membership, released in outcome.places())
        return place_loss(outcome.records_by_region, places)


def place_loss(records: NDArray[np.int64], places: Iterable[tuple[NDArray[np.int32], NDArray[np.int64]]]) -> float:
    """The loss of a release whose records are in ``places``: where each initial region belongs to, and the records that
    each place releases. ``records``: those of the initial regions.
    """
    total = records.sum()
    some = records > 0
    known = float((records[some] * np.log2(total / records[some])).sum())
    if known == 0:
        return 0.0
    kept = 0.0
    for membership, totals in places:
        merged, held = np.bincount(membership, records, totals.size), totals > 0
        kept += float((totals[held] * np.log2(total / merged[held])).sum())
    return min(1.0, max(0.0, 1.0 - kept / known))
