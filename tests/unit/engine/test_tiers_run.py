"""Runs in tiers: what solutions carry, how they are rated, and that nothing depends on the number of workers."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.problem_making import change_request, problem_of, problems
from vbas_desktop.approaches.interface import TierApproach
from vbas_desktop.approaches.registry import create_approach, list_approaches
from vbas_desktop.engine.loss import count_suppressed_in_tiers
from vbas_desktop.engine.outcome import build_context, suppress_partition
from vbas_desktop.engine.request import Request
from vbas_desktop.engine.run import run
from vbas_desktop.io.documents.solutions import solution_from_json, solution_to_json
from vbas_desktop.model.findings import InputError
from vbas_desktop.model.progress import NO_PROGRESS
from vbas_desktop.model.tiers import Tiers
from vbas_desktop.settings.run import RunSettings

# Nine regions in three groups of three on a line; k = 3. Class 0 is large everywhere, class 1 has 1 or 2 in each.
POINTS = [(x + 100 * group, 0) for group in range(3) for x in range(3)]
MATRIX = [[4, 1], [4, 1], [4, 1], [4, 2], [4, 2], [4, 2], [4, 0], [4, 0], [4, 1]]
LINE = problem_of(POINTS, MATRIX, k=3)


def request_of(problem, tiers="auto", sites=None, **parameters):
    number = create_approach("site_number", "fixed", {"sites": sites or len(problem.regions)})
    places, merging = (
        create_approach("site_location", "balanced-density"),
        create_approach("construction", "voronoi"),
    )
    return Request(
        problem,
        number,
        places,
        merging,
        tiers=create_approach("tiers", tiers, parameters),
        settings=RunSettings(range_reach=0),
    )


def test_a_small_run_worked_by_hand():
    (solution,) = run(request_of(LINE, factor=3)).solutions
    assert solution.tiers.n_areas == (9, 3, 1)
    # First group: 1 + 1 + 1 = 3, and 3 ≤ 3 ≤ 4: released. Second: 6 > 4, third: 1 < 3: their rests go up.
    # There 7 are left in two open places of room 2 each (in both a sum could have been released): 7 > 2, suppressed.
    assert solution.released_by_tier == (36, 3, 0)
    assert (solution.released_records, solution.suppressed_records, solution.anonymity) == (39, 7, 3)
    assert solution.approaches["tiers"] == "auto"
    every = 46
    known = (
        3 * 5 * math.log2(every / 5)
        + 3 * 6 * math.log2(every / 6)
        + 8 * math.log2(every / 4)
        + 5 * math.log2(every / 5)
    )
    own = 4 * (4 * math.log2(every / 5) + 3 * math.log2(every / 6) + 2 * math.log2(every / 4))
    kept = own + 3 * math.log2(every / 15)
    expected = {
        "suppressed_records": 7,
        "place_information_loss": pytest.approx(1 - kept / known),
        # 36 records keep their region, 3 are in a place of 3 of the 9 regions, 7 are lost; one quasi-identifier.
        "certainty_penalty": pytest.approx((3 * (2 / 8) / 2 + 7) / 46),
        "average_distance": 0.0,
        "distance_sum": 0.0,
        "alternative_average_distance": 0.0,
        # Three regions with 4 records in place and 1 among three regions; six with all in place.
        "precision_loss": pytest.approx(3 * (math.log2(3) / 5) / 9 / math.log2(9)),
        "discernibility": 9 * 16 + 9,
        "non_uniform_entropy": pytest.approx(3 * math.log2(3)),
        # Nine aggregated regions with a smallest class of 4, one larger area with 3.
        "average_anonymity_deviation": 9 / 10,
        "regions_in_pieces": 0,
        "average_anonymity": (3 * 1 + 3 * 2 + 2 * 4 + 1) / 9,  # smallest classes before suppression
        "average_suppression": 7 / 9,
    }
    assert {name: solution.measures[name] for name in expected} == expected
    assert solution.representability["records_by_level"]["region"] == {"level 0": 36, "level 2": 3}


def test_savings_tell_what_a_run_in_tiers_loses():
    (single,) = run(request_of(LINE, "none")).solutions
    (tiered,) = run(request_of(LINE)).solutions
    assert (
        count_suppressed_in_tiers(LINE, single, NO_PROGRESS)
        == tiered.suppressed_records
        < single.suppressed_records
    )
    assert count_suppressed_in_tiers(LINE, tiered, NO_PROGRESS) is None


@settings(max_examples=60, deadline=None)
@given(problem=problems(), sites=st.integers(1, 12), factor=st.integers(3, 6))
def test_tiers_lose_no_more_and_what_is_released_adds_up(problem, sites, factor):
    sites = min(sites, len(problem.regions))
    (single,), (tiered,) = (
        run(request_of(problem, tiers, sites, **parameters)).solutions
        for tiers, parameters in (("none", {}), ("auto", {"factor": factor}))
    )
    assert tiered.owner.tolist() == single.owner.tolist()
    assert tiered.suppressed_records <= single.suppressed_records
    loss = "place_information_loss"
    assert tiered.measures[loss] <= single.measures[loss] + 1e-12
    context, _ = build_context(problem, global_suppression=False)
    outcome = suppress_partition(problem, context, tiered.owner, tiered.sites, tiers=tiered.tiers)
    assert sum(tiered.released_by_tier) == tiered.released_records == outcome.released_records
    assert tiered.released_by_tier[0] == single.released_records
    for totals, (membership, released) in zip(outcome.released_by_tier, outcome.places(), strict=True):
        assert (
            np.bincount(membership, totals, released.n_regions).tolist()
            == released.region_totals.tolist()
        )
        assert (released.sizes >= problem.k).all()


def test_one_worker_or_several_give_the_same_tiers():
    generator = np.random.default_rng(5)
    problem = problem_of(generator.random((80, 2)), generator.integers(0, 4, (80, 6)), k=5)
    request = change_request(request_of(problem, sites=30, factor=4), range_reach=2)
    one, two = (run(change_request(request, workers=workers)).solutions for workers in (1, 2))
    for left, right in zip(one, two, strict=True):
        assert left.released_by_tier == right.released_by_tier
        assert [each.tolist() for each in left.tiers.parents] == [
            each.tolist() for each in right.tiers.parents
        ]


def test_a_kept_solution_in_tiers_comes_back_whole():
    (solution,) = run(request_of(LINE, "columns", columns="side")).solutions
    again = solution_from_json(solution_to_json(solution))
    assert again.released_by_tier == solution.released_by_tier
    assert (again.tiers.titles, again.tiers.names) == (solution.tiers.titles, solution.tiers.names)
    assert [each.tolist() for each in again.tiers.parents] == [
        each.tolist() for each in solution.tiers.parents
    ]
    assert again.partition == solution.partition != run(request_of(LINE, "none")).solutions[0].partition


def test_places_that_lie_in_two_larger_ones_are_given_to_one_and_told():
    result = run(request_of(LINE, "columns", sites=3, columns="side"))
    (solution,) = result.solutions
    assert solution.aggregated_regions == 3
    # Each group of three has one region in the east and two in the west, so nothing is left of the east.
    assert solution.tiers.names == (None, ("west",))
    assert solution.tiers.titles == ("aggregated region", "side")
    (finding,) = [each for each in result.findings if each.code == "tiers-spread"]
    assert finding.message.startswith(
        "3 places of the kind “aggregated region” in solution 1 lie in several places"
    )


def test_columns_that_are_empty_or_named_twice_are_refused():
    labels = {"county": ("", *("a",) * 8)}
    problem = replace(LINE, regions=replace(LINE.regions, labels=labels))
    with pytest.raises(InputError, match="1 region names no place, the first is region “r0”"):
        run(request_of(problem, "columns", columns="county"))
    with pytest.raises(InputError, match="named twice"):
        run(request_of(LINE, "columns", columns="side,side"))


def test_an_approach_whose_places_do_not_nest_is_named():
    class Broken(TierApproach):
        metadata = replace(list_approaches("tiers")["auto"].metadata, name="broken", title="Broken")

        def build_tiers(self, context, membership, progress):
            return Tiers((np.array([0, 2, 2], np.int32),), ("", ""), (None, None))

    with pytest.raises(InputError, match="“Broken” did not return places that lie in one another"):
        run(replace(request_of(LINE, sites=3), tiers=Broken()))
