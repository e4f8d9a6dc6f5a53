"""How uncertain the values of records are after the release."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from vbas_desktop.algorithms.certainty import category_penalty, certainty_penalty, place_penalty
from vbas_desktop.approaches.base import Card, Measure, Outcome


@dataclass(frozen=True)
class CertaintyPenalty(Measure):
    """Normalised certainty penalty: per record the mean over the place and the quasi-identifiers; lost records are 1.

    The place counts with (initial regions in the place that the record's code stands for − 1) / (r − 1), which is 0 for
    a single initial region and 1 for the whole area. A quasi-identifier counts with (categories in the record's group −
    1) / (all its categories − 1), which is 0 unless categories were taken together. A suppressed record counts 1. So
    larger regions, larger groups and lost records have one price. O(r + classes released).

    References
    ----------
    J. Xu, W. Wang, J. Pei, X. Wang, B. Shi, A. W.-C. Fu: Utility-based anonymization using local recoding, KDD 2006.
    """

    card: ClassVar[Card] = Card(
        name="certainty_penalty",
        title="Certainty penalty",
        summary="The mean share of its possible values that a released value stands for; a suppressed record counts 1.",
        formula="mean over all records of (Σ over place and quasi-identifiers of (values in the released one − 1) / "
        "(all values − 1)) / (1 + quasi-identifiers); 1 if suppressed",
        complexity="O(r + released classes)",
        when="One number for the total loss of information: merged regions, merged categories and lost records. "
        "“Allowed loss” minimises it with the aim “least-loss”.",
        order=17,
    )
    unit: ClassVar[str] = "share"

    def rate(self, outcome: Outcome) -> float:
        """The penalty, from 0 to 1."""
        penalties = place_penalty((membership, counts.region_totals) for membership, counts in outcome.places())
        released = [counts for _, counts in outcome.places()]
        penalties += category_penalty(released, outcome.situation.category_penalties)
        columns = 1 + len(outcome.counts.n_categories)
        return certainty_penalty(penalties, columns, outcome.released_records, outcome.records)
