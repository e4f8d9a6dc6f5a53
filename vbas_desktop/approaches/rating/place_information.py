"""Measures of place information: how much of the geographic detail the release keeps."""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from vbas_desktop.algorithms.certainty_penalty import (
    compute_certainty_penalty,
    sum_category_penalties,
    sum_region_penalties,
)
from vbas_desktop.settings.option import Level

from ..interface import AggregationOutcome, Measure, Metadata


class PlaceInformationLoss(Measure):
    """1 − (bits on place that the release keeps / bits on place in the file); 0 if the file has none.

    A record that is known to be in a place with m of the file's n records tells log2(n / m) bits on where it is. In
    the file the place is the initial region, in a release the place that the record's code stands for; a suppressed
    record tells nothing. So 0 means that every record keeps its initial region, and 1 that nothing is released or that
    the whole area is one place. O(r).
    """

    metadata: ClassVar[Metadata] = Metadata(
        name="place_information_loss",
        title="Loss of place information",
        summary="The share of the information on where records come from that is lost, suppressed records included.",
        formula="1 − Σ over released records of log₂(n / records of its place) "
        "/ Σ over all records of log₂(n / records of its initial region)",
        complexity="O(r)",
        when="One number for both prices, larger areas and lost records: 0 every record keeps its initial region, "
        "1 nothing is known. Comparable between any two releases of the same file.",
        order=15,
    )
    unit: ClassVar[str] = "share"
    pareto_default: ClassVar[bool] = True

    def rate(self, outcome: AggregationOutcome) -> float:
        """Compute the loss, from 0 to 1."""
        areas = ((membership, released.region_totals) for membership, released in outcome.places())
        return place_loss(outcome.records_by_region, areas)


def place_loss(
    records: NDArray[np.int64], areas: Iterable[tuple[NDArray[np.int32], NDArray[np.int64]]]
) -> float:
    """Compute the loss of place information of a release, from 0 to 1.

    records: int64 (r,), records of each initial region. areas: for each tier the area of each initial region, and the
    records that each area releases.
    """
    total = records.sum()
    some = records > 0
    information = float((records[some] * np.log2(total / records[some])).sum())
    if information == 0:
        return 0.0
    released_information = 0.0
    for membership, totals in areas:
        merged = np.bincount(membership, records, totals.size)
        is_used = totals > 0
        released_information += float((totals[is_used] * np.log2(total / merged[is_used])).sum())
    return min(1.0, max(0.0, 1.0 - released_information / information))


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

    metadata: ClassVar[Metadata] = Metadata(
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

    def rate(self, outcome: AggregationOutcome) -> float:
        """Compute the penalty, from 0 to 1."""
        penalties = sum_region_penalties(
            (membership, counts.region_totals) for membership, counts in outcome.places()
        )
        released = [counts for _, counts in outcome.places()]
        penalties += sum_category_penalties(released, outcome.context.category_penalties)
        columns = 1 + len(outcome.counts.n_categories)
        return compute_certainty_penalty(penalties, columns, outcome.released_records, outcome.records)


class PrecisionLoss(Measure):
    """Mean over the aggregated regions of log2(initial regions in it) / log2(r); 0 if there is one initial region.

    In tiers, an aggregated region counts with the mean over its released records of log2(initial regions in the place
    where the record is released). O(r).
    """

    metadata: ClassVar[Metadata] = Metadata(
        name="precision_loss",
        title="Precision loss",
        summary="The share of geographic detail that merging removes: 0 nothing merged, 1 all in one region.",
        formula="mean over aggregated regions of log₂(initial regions in it) / log₂ r",
        complexity="O(r)",
        when="Every region counts the same, however many people live in it.",
        order=40,
    )
    pareto_thesis: ClassVar[bool] = True

    def rate(self, outcome: AggregationOutcome) -> float:
        """Compute the loss, from 0 to 1."""
        regions = len(outcome.membership)
        if regions == 1:
            return 0.0
        merged = np.log2(np.bincount(outcome.membership, minlength=outcome.aggregated_regions))
        if outcome.tiers is not None:
            merged = _mean_of_records(outcome, merged)
        return float(merged.mean() / np.log2(regions))


def _mean_of_records(
    outcome: AggregationOutcome, without_records: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Compute for each aggregated region the mean over its records of log₂(initial regions in the record's area)."""
    bits = np.zeros(outcome.aggregated_regions)
    records = np.zeros(outcome.aggregated_regions)
    for own, (membership, _) in zip(outcome.released_by_tier, outcome.places(), strict=True):
        size = np.log2(np.bincount(membership))[membership]
        bits += np.bincount(outcome.membership, own * size, outcome.aggregated_regions)
        records += np.bincount(outcome.membership, own, outcome.aggregated_regions)
    return np.where(records > 0, bits / np.maximum(records, 1), without_records)


class NonUniformEntropy(Measure):
    """−Σ over the released records of log2(a / b), which is 0 if nothing is released.

    a: released records of the record's initial region, b: those of its aggregated region. In tiers both count the
    records that are released in the same place as this one. O(r).
    """

    level: ClassVar[Level] = Level.RESEARCH
    metadata: ClassVar[Metadata] = Metadata(
        name="non_uniform_entropy",
        title="Non-uniform entropy",
        summary="The bits of knowledge about the initial region that merging takes from the released records.",
        formula="−Σ over released records of log₂(released in its initial region / released in its aggregated region)",
        complexity="O(r)",
        when="The most telling measure of lost geography: it counts people and grows with every merge.",
        order=60,
    )
    unit: ClassVar[str] = "bits"
    pareto_thesis: ClassVar[bool] = True

    def rate(self, outcome: AggregationOutcome) -> float:
        """Compute the loss in bits."""
        loss = 0.0
        for own, (membership, released) in zip(outcome.released_by_tier, outcome.places(), strict=True):
            some = own > 0
            share = own[some] / released.region_totals[membership[some]]
            loss += float(abs((own[some] * np.log2(share)).sum()))
        return loss
