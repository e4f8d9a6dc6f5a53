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
    pairs_by_region,
    records_by_tier,
    smallest_classes,
    without_small_classes,
)
from vbas_desktop.model.tiers import NOWHERE

matrices = hnp.arrays(
    np.int64, st.tuples(st.integers(1, 9), st.integers(1, 20)), elements=st.sampled_from([0, 0, 0, 1, 2, 5, 30])
)


def dense(counts):
    matrix = np.zeros((counts.regions, counts.classes.size), np.int64)
    indptr, columns, values = counts.rows
    matrix[np.repeat(np.arange(counts.regions), np.diff(indptr)), columns] = values
    return matrix


@pytest.mark.parametrize("cells", [4_000_000, 3])
@settings(max_examples=60, deadline=None)
@given(matrix=matrices, data=st.data())
def test_groups_are_added_up_and_rated_as_a_loop_over_regions_would(cells, matrix, data):
    owner = np.array(data.draw(st.lists(st.integers(0, 4), min_size=len(matrix), max_size=len(matrix))))
    k = data.draw(st.integers(1, 6))
    counts = counts_of(matrix, sparse=data.draw(st.booleans()))
    present = matrix[:, counts.classes]
    membership, used = dense_membership(owner)
    assert used.tolist() == sorted(set(owner.tolist()))
    assert (used[membership] == owner).all()

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(grouping, "_BLOCK_CELLS", cells)
        patch.setattr(grouping, "_CACHED_CELLS", cells)
        aggregated = aggregate(counts, membership, len(used))
        released = without_small_classes(aggregated, k)
        at_once = aggregate(counts, membership, len(used), least=k)
        # Classes that are released nowhere may be listed so, or not at all.
        tier_of = np.where(aggregated.rows[2] >= k, 0, NOWHERE).astype(np.uint8)
        listed = records_by_tier(counts, membership, aggregated, tier_of, 1)
        left_out = records_by_tier(counts, membership, released, None, 1)

    expected = np.array([present[owner == each].sum(axis=0) for each in used]).reshape(len(used), -1)
    assert (dense(aggregated) == expected).all()
    for found in (released, at_once):
        assert (dense(found) == np.where(expected >= k, expected, 0)).all()
    for found in (aggregated, released, at_once):
        assert all((np.diff(columns) > 0).all() for columns in np.split(found.rows[1], found.rows[0][1:-1]))
        assert pairs_by_region(found).tolist() == (dense(found) * (dense(found) - 1) // 2).sum(axis=1).tolist()
    there = np.where(expected[membership] >= k, present, 0)
    for (records,), (pairs,), (logs,) in (listed, left_out):
        assert logs == pytest.approx([sum(n * np.log(n) for n in row if n) for row in there.tolist()])
        assert records.tolist() == there.sum(axis=1).tolist()
        assert pairs.tolist() == (there * (there - 1) // 2).sum(axis=1).tolist()


@given(matrix=matrices, sparse=st.booleans())
def test_anonymity_is_the_smallest_class_that_is_there(matrix, sparse):
    anonymity, number = smallest_classes(counts_of(matrix, sparse))
    for row, smallest, times in zip(matrix.tolist(), anonymity, number, strict=True):
        there = [size for size in row if size]
        assert smallest == min(there, default=0)
        assert times == there.count(smallest)
