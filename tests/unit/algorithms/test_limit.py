"""The largest number within a limit, against trying every number."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vbas_desktop.algorithms.site_numbers import allowed_records, expected_loss, forecast, largest_within, most_trials


def asked(losses, allowed, start):
    """What is found among these losses (of 1, 2, … sites), and the numbers that were tried."""
    tried = []

    def loss(sites):
        tried.append(sites)
        return losses[sites - 1]

    return largest_within(loss, allowed, len(losses), start), tried


@given(st.lists(st.integers(0, 30), min_size=1, max_size=300), st.integers(0, 30), st.integers(-5, 400))
def test_what_is_found_fits_and_one_more_does_not_however_losses_jump(losses, allowed, start):
    found, tried = asked(losses, allowed, start)
    assert len(tried) == len(set(tried)) <= 2 * math.log2(len(losses)) + 12
    assert 1 <= found <= len(losses)
    if losses[found - 1] > allowed:
        assert found == 1
        assert 1 in tried
    else:
        assert found == len(losses) or losses[found] > allowed


@given(st.lists(st.integers(0, 9), min_size=1, max_size=400), st.integers(0, 900), st.integers(1, 400))
def test_growing_losses_give_the_largest_number_of_all(steps, allowed, start):
    losses = np.cumsum(steps).tolist()
    found, _ = asked(losses, allowed, start)
    assert found == max([number for number, loss in enumerate(losses, 1) if loss <= allowed], default=1)


def test_a_finer_number_just_above_the_first_one_found_is_taken():
    losses = [0, 0, 0, 9, 0, 0, 9, 9, 9, 9]
    assert asked(losses, 5, 3)[0] == 6


@pytest.mark.parametrize(("records", "percent", "allowed"), [(1000, 1.0, 10), (1000, 0.29, 2), (7, 100, 7), (99, 1, 0)])
def test_percents_are_the_decimals_that_were_written(records, percent, allowed):
    assert allowed_records(records, percent) == allowed


def test_the_trials_of_a_country_are_few():
    assert most_trials(17_613) == 40


@given(st.lists(st.integers(0, 60), min_size=1, max_size=6), st.integers(1, 7), st.integers(1, 9))
def test_the_expected_loss_is_that_of_poisson_counts(totals, k, sites):
    literal = sum(
        sites * size * math.exp(-total / sites) * (total / sites) ** size / math.factorial(size)
        for total in totals
        for size in range(1, k)
    )
    assert expected_loss(np.array(totals), k, sites) == pytest.approx(literal, abs=1e-9)


def test_the_forecast_is_the_largest_number_whose_expected_loss_is_allowed():
    totals = np.array([900, 300, 40])
    assert [forecast(totals, 5, allowed, 200) for allowed in (0, 30, 10_000)] == [1, 15, 200]
    assert expected_loss(totals, 5, 15) <= 30 < expected_loss(totals, 5, 16)
