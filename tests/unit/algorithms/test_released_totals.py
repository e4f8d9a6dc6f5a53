"""The released records of groups of regions, from both forms of counts."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vbas_desktop.algorithms import grouping
from vbas_desktop.algorithms.grouping import released_totals
from vbas_desktop.model.records import EquivalenceCounts


@settings(max_examples=150, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 30), st.integers(1, 12), st.integers(1, 6), st.sampled_from([0.1, 0.9]))
def test_classes_of_k_or_more_are_added_up(seed, regions, classes, groups, filled):
    draw = np.random.default_rng(seed)
    table = draw.integers(1, 5, (regions, classes)) * (draw.random((regions, classes)) < filled)
    membership = draw.integers(0, groups, regions).astype(np.int32)
    summed = np.stack([table[membership == group].sum(axis=0) for group in range(groups)])
    wanted = np.where(summed >= 4, summed, 0).sum(axis=1).tolist()
    matrix = EquivalenceCounts((classes,), np.arange(classes), dense=table)
    rows = EquivalenceCounts((classes,), np.arange(classes), sparse=matrix.rows)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(grouping, "_BLOCK_CELLS", 7)
        assert released_totals(rows, membership, groups, 4).tolist() == wanted
    assert released_totals(matrix, membership, groups, 4).tolist() == wanted
