"""Keys grouped by value: what sorting them gives."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vbas_desktop.algorithms import key_groups
from vbas_desktop.algorithms.key_groups import group_keys

NEAR = st.integers(0, 40)
FAR = st.integers(0, (1 << 64) - 1)
HIGH = st.integers(0, 40).map(lambda number: number << 58)
"""Keys that differ in their highest bits only."""


@settings(max_examples=150, deadline=None)
@given(
    st.lists(NEAR, max_size=300) | st.lists(FAR, max_size=60) | st.lists(HIGH, max_size=300), st.sampled_from([1, 8])
)
def test_groups_are_those_of_equal_keys(keys, part):
    keys = np.array(keys, np.uint64)
    counts = np.arange(keys.size) + 1
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(key_groups, "_PART", part)
        group, first, sums = group_keys(keys, counts)
    distinct, member = np.unique(keys, return_inverse=True)
    assert sorted(keys[first].tolist()) == distinct.tolist()
    assert keys[first][group].tolist() == keys.tolist()
    order = np.argsort(keys[first])
    assert sums[order].tolist() == np.bincount(member, counts, minlength=distinct.size).astype(int).tolist()
