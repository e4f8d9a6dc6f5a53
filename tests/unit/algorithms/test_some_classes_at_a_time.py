"""Large counts are looked at some classes at a time: that must come to what all of them at once come to."""

from collections import Counter
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from tests.sensitive_making import counts_of, sensitive_of
from vbas_desktop.algorithms import released
from vbas_desktop.algorithms.grouping import of_classes, side_by_side
from vbas_desktop.model.records import EquivalenceCounts
from vbas_desktop.model.tiers import Tiers

REGIONS, CLASSES, VALUES = 7, 6, 3
CRITERIA = ("share:50", "distinct:2", "entropy:1.5", "recursive:2,2", "closeness:0.4", "ordered-closeness:0.3")
ROWS = st.lists(
    st.tuples(st.integers(0, REGIONS - 1), st.integers(0, CLASSES - 1), st.integers(0, VALUES - 1)), max_size=90
)
GROUPS = 5
MEMBERSHIP = np.array([0, 1, 1, 2, 3, 4, 4], np.int32)
TIERS = (
    None,
    Tiers((np.zeros(GROUPS, np.int32),), ("", ""), (None, None)),
    Tiers((np.array([0, 0, 0, 1, 1], np.int32), np.zeros(2, np.int32)), ("",) * 3, (None,) * 3),
)
CHOSEN = {"k": st.integers(1, 5), "tiers": st.sampled_from(TIERS)}


@pytest.fixture(params=[2, 6], ids=lambda parts: f"{parts} parts")
def in_parts(request, monkeypatch):
    """Makes any counts large enough to be cut."""
    monkeypatch.setattr(released, "_SMALL", 0)
    monkeypatch.setattr(released, "_PARTS", request.param)


def listed(counts):
    return [array.tolist() for array in (counts.classes, *counts.rows)], counts.dense is None


@pytest.mark.usefixtures("in_parts")
@settings(max_examples=80, deadline=None)
@given(rows=ROWS, criteria=st.lists(st.sampled_from(CRITERIA), unique=True, max_size=2), **CHOSEN)
def test_each_place_releases_as_many_records_under_any_criteria(rows, criteria, k, tiers):
    counts = counts_of(rows, REGIONS, CLASSES)
    sensitive = (sensitive_of(rows, REGIONS, CLASSES, VALUES, criteria, benign=(0,)),) if criteria else ()
    merged = released.Aggregation(counts, k, MEMBERSHIP, GROUPS, tiers, sensitive)
    whole, found = released.decide(merged), released.released_by_place(merged)
    expected = [each.region_totals.tolist() for each in whole.classes]
    assert [each.tolist() for each in found] == expected


@pytest.mark.usefixtures("in_parts")
@settings(max_examples=80, deadline=None)
@given(rows=ROWS, k=CHOSEN["k"], tiers=st.sampled_from(TIERS[1:]))
def test_tiers_hold_the_same_classes_stored_alike(rows, k, tiers):
    counts = counts_of(rows, REGIONS, CLASSES)
    merged = released.Aggregation(counts, k, MEMBERSHIP, GROUPS, tiers)
    whole, found = released.decide(merged), released.placed(merged)
    assert [listed(each) for each in found.classes] == [listed(each) for each in whole.classes]
    assert found.records.tolist() == whole.by_tier()[0].tolist()
    together = np.zeros_like(found.pairs)
    for (region, kind), number in Counter((region, kind) for region, kind, _ in rows).items():
        indptr, columns, _ = whole.aggregated.rows
        row = slice(indptr[MEMBERSHIP[region]], indptr[MEMBERSHIP[region] + 1])
        tier = whole.tier_of[row][counts.classes[columns[row]] == kind][0]
        if tier < len(tiers):
            together[tier, region] += number * (number - 1) // 2
    assert found.pairs.tolist() == together.tolist()


@settings(max_examples=100, deadline=None)
@given(
    matrix=hnp.arrays(np.int64, st.tuples(st.integers(1, 6), st.integers(1, 12)), elements=st.integers(0, 3)),
    cuts=st.lists(st.integers(0, 12), max_size=4),
)
def test_counts_that_are_cut_and_put_together_are_what_they_were(matrix, cuts):
    width = matrix.shape[1]
    counts = EquivalenceCounts.from_dense((width,), np.arange(width), matrix)
    sparse = EquivalenceCounts((width,), np.arange(width), sparse=counts.rows)
    edges = sorted({0, width, *(cut for cut in cuts if cut < width)})
    for whole in (counts, sparse):
        parts = [of_classes(whole, *edge) for edge in pairwise(edges)]
        for part, (first, end) in zip(parts, pairwise(edges), strict=True):
            columns = np.zeros((len(matrix), end - first), np.int64)
            indptr, own, values = part.rows
            columns[np.repeat(np.arange(len(matrix)), np.diff(indptr)), own] = values
            assert columns.tolist() == matrix[:, first:end].tolist()
        assert listed(side_by_side(parts, whole)) == listed(counts)
        assert parts == []
