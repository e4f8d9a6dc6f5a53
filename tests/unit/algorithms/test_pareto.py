"""Dominance."""

from hypothesis import given
from hypothesis import strategies as st

from vbas_desktop.engine.dominance import find_non_dominated

values = st.one_of(st.none(), st.integers(0, 3), st.sampled_from([0.5, 1.5]))


def brute_force(rows):
    worst = float("inf")
    known = [[worst if value is None else value for value in row] for row in rows]

    def dominates(a, b):
        return all(x <= y for x, y in zip(a, b, strict=True)) and a != b

    return [not any(dominates(other, row) for other in known) for row in known]


@given(
    st.integers(1, 4).flatmap(
        lambda width: st.lists(st.lists(values, min_size=width, max_size=width), max_size=12)
    )
)
def test_the_front_is_that_of_comparing_all_pairs(rows):
    assert find_non_dominated(rows).tolist() == brute_force(rows)


def test_equal_solutions_do_not_dominate_each_other():
    assert find_non_dominated([[1, 2], [1, 2], [2, 2]]).tolist() == [True, True, False]


def test_undefined_is_worse_than_any_number_and_equal_to_itself():
    assert find_non_dominated([[None, 1], [1e300, 1], [None, 0], [None, 0]]).tolist() == [
        False,
        True,
        True,
        True,
    ]


def test_whole_numbers_beyond_the_precision_of_floats_stay_different():
    assert find_non_dominated([[2**60], [2**60 + 1]]).tolist() == [True, False]


def test_without_measures_nothing_is_dominated():
    assert find_non_dominated([[], []]).tolist() == [True, True]
    assert find_non_dominated([]).tolist() == []
