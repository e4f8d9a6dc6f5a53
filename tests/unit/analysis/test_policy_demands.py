"""What a policy demands of the settings, and what is said of it before a run."""

from __future__ import annotations

import pytest

from vbas_desktop.analysis.policy_demands import Forecast, derive_demands, forecast_policy
from vbas_desktop.io.documents.policies import load_bundled_policies
from vbas_desktop.model.policies import POPULATION, Policy, PolicyCriterion


def policy(*criteria: PolicyCriterion) -> Policy:
    return Policy("ours", "Ours", "us", "here", "2026", "", criteria)


def criterion(measure: str, comparison: str, threshold: float, **more: str) -> Policy:
    return policy(PolicyCriterion(measure, comparison=comparison, threshold=threshold, **more))


@pytest.mark.parametrize(
    ("measure", "comparison", "threshold", "k"),
    [
        ("smallest_class", "at least", 11, 11),
        ("smallest_class", "more than", 10, 11),
        ("smallest_class", "at least", 10.5, 11),
        ("smallest_class", "more than", 10.5, 11),
        ("highest_risk", "at most", 0.2, 5),
        ("highest_risk", "less than", 0.2, 6),
        ("highest_risk", "at most", 0.1, 10),
        ("highest_risk", "at most", 0.09, 12),
        ("highest_risk", "less than", 0.3, 4),
        ("smallest_class", "at most", 9, None),
        ("average_risk", "at most", 0.1, None),
        ("smallest_region", "at least", 5000, None),
    ],
)
def test_k_is_the_smallest_class_that_fulfils_the_criterion(measure, comparison, threshold, k):
    assert derive_demands(criterion(measure, comparison, threshold)).k == k


def test_the_strictest_of_several_criteria_counts():
    both = policy(
        PolicyCriterion("smallest_class", threshold=5),
        PolicyCriterion("highest_risk", comparison="at most", threshold=0.05),
        PolicyCriterion("suppressed_percent", comparison="at most", threshold=5),
        PolicyCriterion("suppressed_percent", comparison="at most", threshold=2),
    )
    demands = derive_demands(both)
    assert (demands.k, demands.largest_loss_percent) == (20, 2)


def test_regions_are_demanded_by_records_or_by_inhabitants():
    assert derive_demands(criterion("smallest_region", "at least", 5000)).min_records == 5000
    demands = derive_demands(criterion("smallest_region", "more than", 20000, of=POPULATION))
    assert (demands.min_records, demands.min_population) == (0, 20001)


@pytest.mark.parametrize(
    ("name", "k", "outcome"),
    [
        ("class-20", 20, Forecast.PASS),
        ("class-20", 19, Forecast.FAIL),
        ("class-5", 5, Forecast.UNKNOWN),
        ("class-5", 4, Forecast.FAIL),
        ("class-11", 11, Forecast.UNKNOWN),
        ("area-70000", 50, Forecast.UNKNOWN),
        ("risk-0.09", 50, Forecast.UNKNOWN),
    ],
)
def test_the_forecast_claims_no_more_than_the_settings_guarantee(name, k, outcome):
    assert forecast_policy(load_bundled_policies()[name], k).outcome is outcome


def test_the_forecast_names_what_fails_and_what_is_open():
    policies = load_bundled_policies()
    assert forecast_policy(policies["class-11"], 5).text == "Policy: fail, k is 5, it demands 11."
    assert forecast_policy(policies["class-20"], 20).text == "Policy: pass."
    assert forecast_policy(policies["class-11"], 11).text == (
        "Policy: unknown, 1 criterion can be judged only after the run; 1 question is for a person to answer."
    )


def test_the_expected_loss_is_compared_where_it_is_known():
    few = criterion("suppressed_percent", "at most", 2)
    assert forecast_policy(few, 5).outcome is Forecast.UNKNOWN
    assert forecast_policy(few, 5, 2.0).outcome is Forecast.PASS
    assert forecast_policy(few, 5, 2.5).text == (
        "Policy: fail, 2.5 % of the records are lost, it demands at most 2 %."
    )
