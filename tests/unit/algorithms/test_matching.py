"""Which aggregated regions of two solutions correspond, and who changed sides."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from vbas_desktop.algorithms.map_colouring import find_changed_members, match_groups


def test_groups_are_matched_by_their_common_members_largest_first():
    one = np.array([0, 0, 0, 1, 1, 2])
    other = np.array([1, 1, 0, 0, 0, 0])
    assert match_groups(one, other).tolist() == [1, 0, -1]
    assert find_changed_members(one, other).tolist() == [False, False, True, False, False, True]


def test_weights_decide_before_members():
    one, other = np.array([0, 0, 0, 1]), np.array([0, 0, 1, 0])
    assert match_groups(one, other).tolist() == [0, -1]
    assert match_groups(one, other, np.array([1, 1, 9, 5])).tolist() == [1, 0]


def test_without_records_members_decide():
    one, other = np.array([0, 0, 0]), np.array([1, 0, 0])
    assert match_groups(one, other, np.zeros(3, np.int64)).tolist() == [0]


@given(st.lists(st.integers(0, 5), min_size=1, max_size=40), st.permutations(range(6)))
@settings(max_examples=60, deadline=None)
def test_other_numbers_for_the_same_groups_change_nothing(groups, numbers):
    one = np.array(groups)
    other = np.array(numbers)[one]
    assert not find_changed_members(one, other).any()
