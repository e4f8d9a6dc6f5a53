"""Ranges of site numbers and the GAPS cutoffs."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vbas_desktop.algorithms.site_counts import (
    compute_gaps_cutoff,
    count_sites_for_cutoff,
    list_site_counts,
)


def test_the_range_goes_two_tenths_to_each_side():
    assert list_site_counts(350, 10, 2, 4426) == [280, 315, 350, 385, 420]
    # 1/10 of 351 is 35.1: steps are rounded up.
    assert list_site_counts(351, 10, 2, 4426) == [279, 315, 351, 387, 423]


def test_numbers_below_one_and_above_the_regions_are_dropped():
    assert list_site_counts(1, 10, 2, 100) == [1, 2, 3]
    assert list_site_counts(2, 10, 2, 3) == [1, 2, 3]
    assert list_site_counts(1, 10, 2, 1) == [1]
    assert list_site_counts(50, 10, 0, 100) == [50]


@given(st.integers(1, 10**9))
def test_a_step_of_ten_percent_is_an_exact_tenth(sites):
    assert list_site_counts(sites, 10, 1, 10**10)[-1] == sites + -(-sites // 10)


def test_a_step_is_the_decimal_that_was_written():
    # 0.7 % of 1,000 is 7, although the float 0.7 / 100 * 1000 is 6.999…
    assert list_site_counts(1000, 0.7, 1, 10_000) == [993, 1000, 1007]


def test_the_canadian_model_takes_the_largest_cutoff():
    models = [compute_gaps_cutoff(44, name, 1, 1) for name in ("western", "central", "eastern")]
    assert compute_gaps_cutoff(44, "canada", 1, 1) == max(models)
    assert compute_gaps_cutoff(44, "western", 1, 1) == 1588 * 44**0.42
    assert compute_gaps_cutoff(44, "own", 100, 0.5) == pytest.approx(100 * 44**0.5)


def test_more_classes_than_any_float_can_hold_give_a_cutoff_all_the_same():
    assert compute_gaps_cutoff(10**400, "own", 1, 0.5) == pytest.approx(1e200, rel=1e-10)
    assert count_sites_for_cutoff(10**6, compute_gaps_cutoff(10**400, "canada", 1, 1), 0.9) == 0


def test_without_diversity_there_is_no_limit():
    assert count_sites_for_cutoff(100, 0.0, 0.9) is None
