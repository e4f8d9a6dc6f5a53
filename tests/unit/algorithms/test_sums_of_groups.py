"""Adding up counts by group, dropping small classes, and finding the smallest ones."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from tests.problem_making import counts_of
from vbas_desktop.algorithms import aggregation
from vbas_desktop.algorithms.aggregation import (
    aggregate,
    anonymity_before_suppression,
    dense_membership,
    find_class_tiers,
    pairs_by_region,
    smallest_classes,
    split_evenly,
    sum_large_classes,
    suppress_globally,
)
from vbas_desktop.model.tiers import NOT_RELEASED

matrices = hnp.arrays(
    np.int64,
    st.tuples(st.integers(1, 9), st.integers(1, 20)),
    elements=st.sampled_from([0, 0, 0, 1, 2, 5, 30]),
)


@pytest.mark.parametrize("block", [2_000_000, 3])
@settings(max_examples=60, deadline=None)
@given(matrix=matrices, data=st.data())
def test_groups_are_added_up_and_rated_as_a_loop_over_regions_would(block, matrix, data):
    owner = np.array(data.draw(st.lists(st.integers(0, 4), min_size=len(matrix), max_size=len(matrix))))
    k = data.draw(st.integers(1, 6))
    counts = counts_of(matrix)
    present = matrix[:, counts.combinations]
    membership, used = dense_membership(owner)
    assert used.tolist() == sorted(set(owner.tolist()))
    assert (used[membership] == owner).all()

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(aggregation, "_ENTRIES_PER_BLOCK", block)
        aggregated = aggregate(counts, membership, len(used))
        released = aggregate(counts, membership, len(used), least=k)
        totals = sum_large_classes(counts, membership, len(used), k)
        anonymity = anonymity_before_suppression(counts, membership, len(used))
        # Classes that are released nowhere may be listed so, or not at all.
        tier_of = np.where(aggregated.sizes >= k, 0, NOT_RELEASED).astype(np.uint8)
        listed = list(find_class_tiers(counts, membership, aggregated, tier_of))
        left_out = list(
            find_class_tiers(counts, membership, released, np.zeros(released.table.nnz, np.uint8))
        )

    expected = np.array([present[owner == each].sum(axis=0) for each in used]).reshape(len(used), -1)
    large = np.where(expected >= k, expected, 0)
    assert aggregated.table.toarray().tolist() == expected.tolist()
    assert released.table.toarray().tolist() == large.tolist()
    assert aggregated.drop_below(k).equals(released)
    assert totals.tolist() == large.sum(axis=1).tolist()
    assert anonymity.tolist() == [
        min((size for size in row if size), default=0) for row in expected.tolist()
    ]
    for found in (aggregated, released):
        assert found.table.has_canonical_format
        assert (found.sizes > 0).all()
        matrix = found.table.toarray()
        assert pairs_by_region(found).tolist() == [
            sum(math.comb(size, 2) for size in row) for row in matrix.tolist()
        ]
    there = np.where(expected[membership] >= k, present, 0)
    for blocks in (listed, left_out):
        found = np.zeros_like(there)
        for regions, table, tiers in blocks:
            assert set(tiers.tolist()) <= {0, NOT_RELEASED}
            row = np.repeat(regions, np.diff(table.indptr))
            found[row, table.indices] = np.where(tiers == 0, table.data, 0)
        assert found.tolist() == there.tolist()


@given(matrix=matrices)
def test_anonymity_is_the_smallest_class_that_is_there(matrix):
    anonymity, number = smallest_classes(counts_of(matrix).table)
    for row, smallest, times in zip(matrix.tolist(), anonymity, number, strict=True):
        there = [size for size in row if size]
        assert smallest == min(there, default=0)
        assert times == there.count(smallest)


@given(matrix=matrices, k=st.integers(1, 9))
def test_combinations_below_k_in_all_regions_together_are_dropped(matrix, k):
    counts = suppress_globally(counts_of(matrix), k)
    kept = [number for number in range(matrix.shape[1]) if matrix[:, number].sum() >= max(1, k)]
    assert counts.combinations.tolist() == kept
    assert counts.table.toarray().tolist() == matrix[:, kept].tolist()


@given(weights=st.lists(st.integers(0, 20), max_size=30), size=st.integers(1, 40))
def test_a_sequence_is_split_into_ranges_that_are_not_much_heavier_than_wanted(weights, size):
    ranges = split_evenly(np.array(weights, np.int64), size)
    assert [number for start, end in ranges for number in range(start, end)] == list(range(len(weights)))
    assert all(start < end for start, end in ranges)
    assert all(sum(weights[start:end]) <= size + 2 * max(weights) for start, end in ranges)
