"""How many sites: small cases worked by hand."""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.problem_making import change_request, context_for, problem_of, problems
from vbas_desktop.approaches.registry import create_approach
from vbas_desktop.engine.request import Request
from vbas_desktop.engine.run import run
from vbas_desktop.model.findings import InputError
from vbas_desktop.settings.run import RunSettings

LINE = [(x, 0) for x in range(10)]


def test_anonymity_merges_until_the_mean_class_reaches_k():
    # 10 regions with 6 records each, e = 4: a = 1.5, m = ceil(5 / 1.5) = 4, s = floor(10 · 0.2 / 4) = 0; with d = 1: 2.
    context = context_for(LINE, [[2, 2, 1, 1]] * 10, k=5)
    assert create_approach("site_number", "anonymity").approximate(context) == 0
    assert create_approach("site_number", "anonymity", {"share": 1.0}).approximate(context) == 2


def test_anonymity_does_not_stumble_over_the_last_bit():
    # k / a = 3 / 0.3 is exactly 10 (as floats 10.000000000000002, whose ceiling would be 11): s = floor(10 · 1 / 10).
    context = context_for(
        LINE, [[3, 0, 0, 0, 0, 0, 0, 0, 0, 1]] + [[3] + [0] * 9] * 8 + [[2] + [0] * 9], k=3
    )
    assert context.records == 30
    assert create_approach("site_number", "anonymity", {"share": 1.0}).approximate(context) == 1


def test_maxcombs_counts_classes_that_nobody_is_in():
    # e = 4, own model: cutoff = 2 · 4^0.5 = 4; n = 50: floor(50 / 4) = 12, floor(0.9 · 12) = 10.
    context = context_for(LINE, [[5, 0, 0, 0]] * 10)
    own = {"model": "own", "factor": 2, "exponent": 0.5}
    assert create_approach("site_number", "maxcombs", own).approximate(context) == 10
    assert create_approach("site_number", "maxcombs", own | {"share": 1}).approximate(context) == 12


def test_entropy_is_natural_and_over_the_whole_file():
    # Two classes of 30 records: H = ln 2. cutoff = 10 · ln 2 = 6.93: floor(60 / 6.93) = 8, floor(0.9 · 8) = 7.
    context = context_for(LINE, [[6, 0]] * 5 + [[0, 6]] * 5)
    approach = create_approach("site_number", "entropy", {"model": "own", "factor": 10, "exponent": 1})
    assert approach.entropy(context) == pytest.approx(math.log(2), rel=1e-15)
    assert approach.approximate(context) == 7


def test_entropy_without_diversity_allows_every_region_its_site():
    assert create_approach("site_number", "entropy").approximate(context_for(LINE, [[6, 0]] * 10)) == 10


def test_no_records_need_one_site():
    context = context_for(LINE, [[0, 0]] * 10)
    for name in ("anonymity", "entropy"):
        assert create_approach("site_number", name).approximate(context) == 1


def test_the_fixed_number_is_the_users():
    assert (
        create_approach("site_number", "fixed", {"sites": "7"}).approximate(
            context_for(LINE, [[1]] * 10)
        )
        == 7
    )


@pytest.mark.parametrize("sites", ["0", "-1", "2.5", "many", ""])
def test_a_fixed_number_that_is_none_is_refused_with_what_is_allowed(sites):
    with pytest.raises(InputError, match="a whole number at least 1"):
        create_approach("site_number", "fixed", {"sites": sites})


def limit_run(problem, percent, location="balanced-density", **others):
    request = Request(
        problem,
        create_approach("site_number", "limit", {"allowed_loss_percent": percent}),
        create_approach("site_location", location),
        create_approach("construction", "voronoi"),
    )
    return run(change_request(request, **others))


@pytest.mark.parametrize("location", ["balanced-density", "density", "anonymity", "adc"])
@settings(max_examples=25, deadline=None)
@given(problem=problems(most_regions=24), percent=st.sampled_from([0.0, 1.0, 7.5, 20.0, 60.0, 100.0]))
def test_the_limit_is_kept_and_one_site_more_would_break_it(problem, percent, location):
    result = limit_run(problem, percent, location, range_reach=0)
    chosen, allowed = result.chosen.site_count, percent / 100 * problem.records + 1e-9
    every = []
    for sites in range(1, len(problem.regions) + 1):
        fixed = create_approach("site_number", "fixed", {"sites": sites})
        one = Request(
            problem,
            fixed,
            create_approach("site_location", location),
            create_approach("construction", "voronoi"),
            settings=RunSettings(range_reach=0),
        )
        every.append(run(one).solutions[0].measures["suppressed_records"])
    lost = result.chosen.measures["suppressed_records"]
    assert lost == every[chosen - 1]
    assert chosen == len(every) or every[chosen] > allowed or lost > allowed
    unreachable = [finding.code for finding in result.findings if finding.code == "limit-out-of-reach"]
    assert bool(unreachable) == (lost > allowed)
    assert not unreachable or chosen == 1


def test_nothing_is_placed_twice():
    """What was tried out for the number is used for the solutions around it."""
    placed = []

    class Counting(type(create_approach("site_location", "density"))):
        def locate(self, context, sites, progress):
            placed.append(sites)
            return super().locate(context, sites, progress)

    problem = problem_of(LINE, [[9, 1 + i % 4] for i in range(10)], k=4)
    request = Request(
        problem,
        create_approach("site_number", "limit"),
        Counting(),
        create_approach("construction", "voronoi"),
    )
    numbers = [solution.site_count for solution in run(request).solutions]
    assert set(numbers) <= set(placed)
    assert len(placed) == len(set(placed))


def test_a_limit_that_even_one_region_breaks_is_told_with_advice():
    result = limit_run(problem_of(LINE, [[9, 0]] * 9 + [[9, 1]], k=4), 0.5)
    assert result.approximated_sites == 1
    finding = next(finding for finding in result.findings if finding.code == "limit-out-of-reach")
    assert (
        "Even 1 region in all would lose 1 of 91 records (1.10 %), more than the 0.5 %"
        in finding.message
    )
    assert "Take categories together" in finding.remedy
