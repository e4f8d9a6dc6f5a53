"""The largest number within a limit, against trying every number."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vbas_desktop.algorithms.site_counts import (
    estimate_loss,
    forecast_site_count,
    make_site_grid,
    max_scanned,
    max_suppressed,
    max_trials,
    refine_and_correct,
    search_finest,
    search_largest_within,
    search_least_penalty,
)


def asked(losses, allowed, start):
    """What is found among these losses (of 1, 2, … sites), and the numbers that were tried."""
    tried = []

    def loss(sites):
        tried.append(sites)
        return losses[sites - 1]

    return search_largest_within(loss, allowed, len(losses), start), tried


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


def counting(values):
    """A function of the number of sites, and the numbers that it was asked for."""
    tried = []

    def of(sites):
        tried.append(sites)
        return values[sites - 1]

    return of, tried


def test_the_grid_falls_from_all_regions_to_one():
    assert make_site_grid(1) == [1]
    assert make_site_grid(10) == [10, 7, 5, 4, 2, 1]
    assert make_site_grid(281) == [281, 199, 140, 99, 70, 50, 35, 25, 18, 12, 9, 6, 4, 3, 2, 1]


@given(st.lists(st.integers(0, 30), min_size=1, max_size=300), st.integers(0, 30))
def test_the_finest_number_of_a_loss_that_rises_and_falls_is_no_coarser_than_the_finest_of_the_grid(
    losses, allowed
):
    loss, tried = counting(losses)
    found = search_finest(loss, allowed, len(losses))
    assert len(tried) == len(set(tried)) <= max_scanned(len(losses))
    fitting = [sites for sites in make_site_grid(len(losses)) if losses[sites - 1] <= allowed]
    assert found >= max(fitting, default=1)
    if fitting:
        assert losses[found - 1] <= allowed
        assert found == len(losses) or losses[found] > allowed


def test_the_finest_of_two_crossings_is_taken():
    # Like a loss in tiers: too much from 300 to 900, and again from 5,000 sites on.
    losses = [9 if 300 <= sites < 900 or sites >= 5000 else 0 for sites in range(1, 20_001)]
    assert search_finest(counting(losses)[0], 5, len(losses)) == 4999
    assert asked(losses, 5, 250)[0] == 299


@given(
    st.lists(st.integers(0, 9), min_size=1, max_size=400),
    st.floats(0.5, 200.0, allow_nan=False),
    st.integers(0, 900),
)
def test_the_least_penalty_is_that_of_trying_every_number(steps, weight, allowed):
    """A loss that grows and a price of place that falls have one valley."""
    losses = np.cumsum(np.sort(steps)).tolist()
    penalties = [loss + weight * len(losses) / sites for sites, loss in enumerate(losses, 1)]
    loss, tried = counting(losses)
    found = search_least_penalty(loss, lambda sites: penalties[sites - 1], allowed, len(losses))
    assert len(tried) == len(set(tried)) <= max_scanned(len(losses))
    fitting = [sites for sites, lost in enumerate(losses, 1) if lost <= allowed]
    best = min(fitting, key=lambda sites: (penalties[sites - 1], -sites), default=1)
    assert abs(found - best) <= max(1, best // 50)
    if fitting:
        assert losses[found - 1] <= allowed


def test_no_number_above_the_allowed_loss_is_rated_or_taken():
    rated = []

    def penalty(sites):
        rated.append(sites)
        return 1 / sites

    assert search_least_penalty(lambda sites: sites, penalty, 40, 1000) == 40
    assert max(rated) <= 40
    assert search_least_penalty(lambda _: 9, penalty, 5, 1000) == 1


@pytest.mark.parametrize(
    ("records", "percent", "allowed"), [(1000, 1.0, 10), (1000, 0.29, 2), (7, 100, 7), (99, 1, 0)]
)
def test_percents_are_the_decimals_that_were_written(records, percent, allowed):
    assert max_suppressed(records, percent) == allowed


def test_the_trials_of_a_country_are_few():
    assert max_trials(17_613) == 40


@given(st.lists(st.integers(0, 60), min_size=1, max_size=6), st.integers(1, 7), st.integers(1, 9))
def test_the_expected_loss_is_that_of_poisson_counts(totals, k, sites):
    literal = sum(
        sites * size * math.exp(-total / sites) * (total / sites) ** size / math.factorial(size)
        for total in totals
        for size in range(1, k)
    )
    assert estimate_loss(np.array(totals), k, sites) == pytest.approx(literal, abs=1e-9)


def test_the_forecast_is_the_largest_number_whose_expected_loss_is_allowed():
    totals = np.array([900, 300, 40])
    assert [forecast_site_count(totals, 5, allowed, 200) for allowed in (0, 30, 10_000)] == [1, 15, 200]
    assert estimate_loss(totals, 5, 15) <= 30 < estimate_loss(totals, 5, 16)


def corrected(unrefined, share, allowed, expected, most=2000):
    """The passes of a refinement that leaves a share of the loss, with an exact search among all numbers."""
    passes = []

    def refined(sites):
        passes.append(sites)
        return round(unrefined(sites) * share(sites))

    def find(predict, within):
        return max((s for s in range(1, most + 1) if predict(s, unrefined(s)) <= within), default=1)

    found = refine_and_correct(find, unrefined, refined, allowed, expected)
    assert list(found) == passes
    assert len(passes) <= 3
    best = max(s for s in range(1, most + 1) if round(unrefined(s) * share(s)) <= allowed)
    return found, best


@settings(max_examples=40, deadline=None)
@given(
    st.floats(0.3, 1.1),
    st.floats(-0.05, 0.05),
    st.floats(0.8, 1.6),
    st.sampled_from([0.6, 0.85, 1.0]),
)
def test_two_corrections_come_near_what_refining_every_number_finds(left, drift, power, expected):
    """The share that refinement leaves drifts with the number of sites; the loss grows like a power of it."""
    found, best = corrected(
        lambda sites: round(10 * sites**power),
        lambda sites: left + drift * math.log(sites / 300),
        4000,
        expected,
    )
    fitting = [sites for sites, lost in found.items() if lost <= 4000]
    assert max(fitting) >= 0.95 * best


def test_one_pass_is_enough_if_the_expected_share_is_right():
    found, best = corrected(lambda sites: 10 * sites, lambda _: 0.6, 3000, 0.6)
    assert found == {500: 3000}
    assert best == 500


def test_a_pass_that_loses_too_much_is_followed_by_smaller_numbers():
    found, best = corrected(lambda sites: 10 * sites, lambda sites: 0.5 + sites / 2000, 3000, 0.5)
    assert next(iter(found)) == 600
    assert found[600] > 3000
    fitting = [sites for sites, lost in found.items() if lost <= 3000]
    assert 0.95 * best <= max(fitting) <= best
