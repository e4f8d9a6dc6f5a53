"""Adding up counts by group, dropping small classes, and finding the smallest ones."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from tests.problem_making import counts_of
from vbas_desktop.algorithms import grouping
from vbas_desktop.algorithms.grouping import (
    aggregate,
    dense_membership,
    records_kept,
    smallest_classes,
    without_small_classes,
)

matrices = hnp.arrays(
    np.int64, st.tuples(st.integers(1, 9), st.integers(1, 6)), elements=st.sampled_from([0, 0, 0, 1, 2, 5, 30])
)


def dense(counts):
    matrix = np.zeros((counts.regions, counts.classes.size), np.int64)
    indptr, columns, values = counts.rows
    matrix[np.repeat(np.arange(counts.regions), np.diff(indptr)), columns] = values
    return matrix


@pytest.mark.parametrize("limits", [(4_000_000, 64_000_000), (3, 64_000_000), (3, 0)])
@settings(max_examples=60, deadline=None)
@given(matrix=matrices, data=st.data())
def test_groups_are_added_up_and_rated_as_a_loop_over_regions_would(limits, matrix, data):
    owner = np.array(data.draw(st.lists(st.integers(0, 4), min_size=len(matrix), max_size=len(matrix))))
    k = data.draw(st.integers(1, 6))
    counts = counts_of(matrix, sparse=data.draw(st.booleans()))
    present = matrix[:, counts.classes]
    membership, used = dense_membership(owner)
    assert used.tolist() == sorted(set(owner.tolist()))
    assert (used[membership] == owner).all()

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(grouping, "_BLOCK_CELLS", limits[0])
        patch.setattr(grouping, "_CACHED_CELLS", limits[0])
        patch.setattr(grouping, "_MASK_CELLS", limits[1])
        aggregated = aggregate(counts, membership, len(used))
        released = without_small_classes(aggregated, k)
        kept = records_kept(counts, membership, released)

    expected = np.array([present[owner == each].sum(axis=0) for each in used]).reshape(len(used), -1)
    assert (dense(aggregated) == expected).all()
    assert (dense(released) == np.where(expected >= k, expected, 0)).all()
    assert kept.tolist() == [
        int(sum(present[i, c] for c in range(present.shape[1]) if expected[membership[i], c] >= k))
        for i in range(len(present))
    ]


@given(matrix=matrices, sparse=st.booleans())
def test_anonymity_is_the_smallest_class_that_is_there(matrix, sparse):
    anonymity, number = smallest_classes(counts_of(matrix, sparse))
    for row, smallest, times in zip(matrix.tolist(), anonymity, number, strict=True):
        there = [size for size in row if size]
        assert smallest == min(there, default=0)
        assert times == there.count(smallest)
