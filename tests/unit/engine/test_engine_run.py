"""Runs: ranges, streams, stops, degenerate problems, the properties every result has."""

import threading
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.problem_making import change_request, counts_of, problem_of, problems, regions_of
from vbas_desktop.approaches.interface import Construction, Metadata, SiteLocation
from vbas_desktop.approaches.registry import create_approach, list_approaches
from vbas_desktop.engine.outcome import build_context, suppress_partition
from vbas_desktop.engine.region_table import build_region_table, explain_suppression
from vbas_desktop.engine.request import Request
from vbas_desktop.engine.run import run
from vbas_desktop.model.findings import InputError
from vbas_desktop.model.progress import Cancelled
from vbas_desktop.settings.run import RunSettings

LINE = problem_of(
    [(0, 0), (1, 0), (10, 0), (11, 0)], [[3, 1, 0], [2, 0, 0], [0, 4, 1], [0, 3, 0]], k=2, unknown=2
)
GRID = problem_of(
    [(x + 0.1 * y, y) for y in range(10) for x in range(10)],
    [[1 + i % 3, i % 2, 4] for i in range(100)],
    k=5,
)


def request_of(problem, sites=2, location="balanced-density", **changes):
    request = Request(
        problem,
        create_approach("site_number", "fixed", {"sites": sites}),
        create_approach("site_location", location),
        create_approach("construction", "voronoi"),
        settings=RunSettings(range_reach=0),
    )
    return change_request(request, **changes)


def told(result):
    """Everything about a result but the time it took."""
    return [
        (
            solution.id,
            solution.site_count,
            solution.sites.tolist(),
            solution.owner.tolist(),
            {name: value for name, value in solution.measures.items() if name != "seconds"},
            solution.pareto,
        )
        for solution in result.solutions
    ]


def test_a_small_run_worked_by_hand():
    # Class totals are 5, 8, 1: the third is dropped globally (1 record). Populations 4, 2, 4, 3; n = 13.
    # Two sites: c = 1, 1·2 ≤ 2, so two rows of ideal round(6.5) = 7; all y are equal, so file order: 4, 6, then 10
    # (10 − 7 = 3 > 7 − 6 = 1, so region 2 starts the next row). Sites: (0.5, 0) and (10.5, 0).
    # Left: classes 5, 1 → the 1 is suppressed. Right: class of 7.
    result = run(request_of(LINE))
    assert result.globally_suppressed_records == 1
    assert result.classes_present == 3
    (solution,) = result.solutions
    assert solution.sites.tolist() == [[0.5, 0], [10.5, 0]]
    assert solution.owner.tolist() == [0, 0, 1, 1]
    assert (solution.suppressed_global, solution.suppressed_local) == (1, 1)
    expected = {
        "suppressed_records": 4,  # 1 global, 1 local, 2 of unknown regions
        # Of 14 records 4, 2, 5, 3 by initial region; 5 of the 6 on the left and 7 of the 8 on the right are released.
        "place_information_loss": pytest.approx(
            1
            - (5 * np.log2(14 / 6) + 7 * np.log2(14 / 8))
            / (4 * np.log2(14 / 4) + 2 * np.log2(14 / 2) + 5 * np.log2(14 / 5) + 3 * np.log2(14 / 3)),
            rel=1e-12,
        ),
        # 12 of 16 records are in places of two of the four regions, the others are lost; one quasi-identifier.
        "certainty_penalty": pytest.approx((12 * (1 / 3) / 2 + 4) / 16),
        "average_distance": 0.5,
        "distance_sum": 2.0,
        "alternative_average_distance": 0.5,
        "precision_loss": 0.5,  # log2(2) / log2(4) in both
        "discernibility": 25 + 49,
        # Released by initial region: 3, 2 of 5 and 4, 3 of 7.
        "non_uniform_entropy": pytest.approx(
            3 * np.log2(5 / 3) + 2 * np.log2(5 / 2) + 4 * np.log2(7 / 4) + 3 * np.log2(7 / 3), rel=1e-12
        ),
        "average_anonymity_deviation": (3 + 5) / 2,
        "regions_in_pieces": 0,
        "average_anonymity": 1.0,  # one record alone in both regions
        "average_suppression": 2.0,  # 4 records, 2 regions
    }
    assert {name: solution.measures[name] for name in expected} == expected
    assert solution.pareto
    assert (solution.released_records, solution.anonymity, solution.regions_without_release) == (
        12,
        5,
        0,
    )
    assert solution.approaches == {
        "site_number": "fixed",
        "site_location": "balanced-density",
        "construction": "voronoi",
        "refinement": "none",
        "tiers": "none",
    }
    assert solution.parameters["site_number"] == {"sites": 2}


def test_the_region_table_tells_what_each_region_lost_and_why():
    (solution,) = run(request_of(LINE)).solutions
    table = build_region_table(LINE, solution)
    assert table.records.tolist() == [6, 8]
    assert table.released.tolist() == [5, 7]
    assert table.suppressed.tolist() == [1, 1]
    assert table.share_of_loss.tolist() == [0.5, 0.5]
    assert table.anonymity_before.tolist() == [1, 1]
    assert table.anonymity_after.tolist() == [5, 7]
    assert [(small.labels, small.size) for small in explain_suppression(LINE, solution, 0)] == [
        (("c1",), 1)
    ]
    assert [(small.labels, small.size) for small in explain_suppression(LINE, solution, 1)] == [
        (("c2",), 1)
    ]


@settings(max_examples=60, deadline=None)
@given(
    problem=problems(),
    data=st.data(),
    location=st.sampled_from(["anonymity", "density", "balanced-density", "random", "adc"]),
    global_suppression=st.booleans(),
)
def test_every_result_is_k_anonymous_and_loses_and_invents_nothing(
    problem, data, location, global_suppression
):
    sites = data.draw(st.integers(1, len(problem.regions)))
    request = request_of(problem, sites, location, global_suppression=global_suppression, range_reach=1)
    result = run(request)
    context, globally = build_context(problem, global_suppression)
    for solution in result.solutions:
        squared = ((problem.regions.points[:, None, :] - solution.sites[None]) ** 2).sum(axis=2)
        assert solution.owner.tolist() == squared.argmin(axis=1).tolist()
        outcome = suppress_partition(problem, context, solution.owner, solution.sites)
        assert (outcome.released.sizes >= problem.k).all()
        assert outcome.released.records == outcome.released_by_region.sum()
        assert (outcome.released_by_region <= problem.counts.region_totals).all()
        suppressed = solution.suppressed_global + solution.suppressed_local
        assert outcome.released.records + suppressed == problem.records
        assert solution.suppressed_global == globally == result.globally_suppressed_records
        table = build_region_table(problem, solution)
        assert table.released.tolist() == outcome.released.region_totals.tolist()
        assert table.suppressed.sum() == suppressed
        for region in range(len(table)):
            assert (
                sum(small.size for small in explain_suppression(problem, solution, region))
                == table.suppressed[region]
            )


@pytest.mark.parametrize("location", ["balanced-density", "density", "adc"])
@settings(max_examples=40, deadline=None)
@given(data=st.data(), seed=st.integers(0, 2**32 - 1))
def test_permuting_regions_and_classes_permutes_the_result_where_ties_do_not_decide(
    location, data, seed
):
    # Random reals: no two coordinates, distances or populations' walks are tied.
    generator = np.random.default_rng(seed)
    number = data.draw(st.integers(2, 15))
    points, matrix = generator.random((number, 2)), generator.integers(0, 9, (number, 4))
    matrix[0] += 1
    sites = data.draw(st.integers(1, number))
    rows, columns = generator.permutation(number), generator.permutation(4)
    if location == "adc":
        # It tries classes in their order and takes the first that helps.
        columns.sort()
    before = run(request_of(problem_of(points, matrix), sites, location)).solutions[0]
    after = run(
        request_of(problem_of(points[rows], matrix[rows][:, columns]), sites, location)
    ).solutions[0]
    assert after.sites == pytest.approx(before.sites)
    assert after.owner.tolist() == before.owner[rows].tolist()
    assert after.measures.keys() == before.measures.keys()
    for name in list_approaches("rating").keys() & after.measures.keys():
        assert after.measures[name] == pytest.approx(before.measures[name])


def test_solutions_come_one_by_one_in_order_and_the_result_marks_the_pareto_set():
    came = []
    result = run(request_of(GRID, 20, range_reach=2), on_solution=came.append)
    assert [solution.id for solution in came] == [1, 2, 3, 4, 5]
    assert [solution.site_count for solution in came] == [16, 18, 20, 22, 24]
    assert not any(solution.pareto for solution in came)
    assert result.chosen.site_count == 20
    assert any(solution.pareto for solution in result.solutions)


@pytest.mark.parametrize("location", ["balanced-density", "random", "adc"])
def test_any_number_of_workers_gives_the_same_result(location):
    one, four = (
        run(request_of(GRID, 20, location, range_reach=4, workers=workers, random_seed=3))
        for workers in (1, 4)
    )
    assert told(one) == told(four)


def test_a_seeding_is_named_and_its_parameters_are_kept():
    seeded = create_approach(
        "site_location", "adc", {"seeding": {"name": "balanced-density", "variant": "paper"}}
    )
    (solution,) = run(request_of(LINE, site_location=seeded)).solutions
    assert solution.approaches["site_location"] == "adc"
    assert solution.approaches["adc_seeding"] == "balanced-density"
    assert solution.parameters["site_location"] == {
        "seeding": {"name": "balanced-density", "variant": "paper"},
        "objective": "thesis",
        "uneven_percent": 0.0,
        "change_percent": 0.0,
        "allowed_loss_percent": 1.0,
    }
    with pytest.raises(InputError, match="cannot be combined with itself"):
        create_approach("site_location", "adc", {"seeding": "adc"})


def test_a_solution_tells_how_adc_found_its_places():
    # The worked example of tests/unit/algorithms/test_adc.py: one try, which is accepted, brings α from 1 to k.
    problem = problem_of([(0, 0), (4, 0), (6, 0), (10, 0)], [[5, 5], [0, 3], [0, 1], [9, 0]], k=4)

    class AtBothEnds(SiteLocation):
        metadata = Metadata("both-ends", "Both ends", "Sites at both ends.")

        def locate(self, context, sites, progress):
            return np.array([(0.0, 0.0), (10.0, 0.0)])

    adc = create_approach("site_location", "adc", {"seeding": AtBothEnds()})
    (solution,) = run(request_of(problem, site_location=adc)).solutions
    told = {
        "moves": 1,
        "tries": 1,
        "computed_tries": 1,
        "passes": 1,
        "anonymity_before": 1,
        "anonymity_after": 4,
    }
    assert solution.diagnostics == {"adc": told}
    (other,) = run(request_of(problem, location="density")).solutions
    assert other.diagnostics == {}


def test_chosen_measures_decide_about_dominance():
    by_distance = run(request_of(GRID, 20, range_reach=2, pareto_measures=("average_distance",)))
    distances = [solution.measures["average_distance"] for solution in by_distance.solutions]
    assert [solution.pareto for solution in by_distance.solutions] == [
        each == min(distances) for each in distances
    ]


class StopAfter:
    """Lets so many updates pass, then stops."""

    def __init__(self, updates):
        self.left = updates
        self.lock = threading.Lock()

    def update(self, stage, fraction=None):
        assert fraction is None or 0 <= fraction <= 1
        with self.lock:
            self.left -= 1
            if self.left < 0:
                raise Cancelled


@pytest.mark.parametrize("workers", [1, 3])
def test_a_stop_is_obeyed_wherever_it_comes_and_what_came_before_is_kept(workers):
    counter = StopAfter(10**9)
    run(request_of(GRID, 20, range_reach=2, workers=workers), counter)
    needed = 10**9 - counter.left
    came = []
    for updates in range(needed):
        came.clear()
        with pytest.raises(Cancelled):
            run(request_of(GRID, 20, range_reach=2, workers=workers), StopAfter(updates), came.append)
        assert [solution.id for solution in came] == list(range(1, len(came) + 1))
    # The last update comes from the rating of the last solution; with one worker the others are there by then.
    assert workers > 1 or len(came) == 4


def test_a_listener_that_fails_ends_the_run():
    def listen(solution):
        raise RuntimeError("no more")

    with pytest.raises(RuntimeError, match="no more"):
        run(request_of(GRID, 20, range_reach=4, workers=3), on_solution=listen)


class LastFails(SiteLocation):
    metadata = Metadata(
        "last-fails", "Last fails", "Waits for the last site number, which returns nonsense."
    )

    def locate(self, context, sites, progress):
        while sites < 24:
            progress.update("Waiting to be stopped")
        return np.zeros((0, 2))


def test_the_reason_of_a_failure_is_told_not_that_the_other_workers_stopped():
    with pytest.raises(InputError, match="“Last fails” did not return 24 finite places"):
        run(request_of(GRID, 20, site_location=LastFails(), range_reach=2, workers=5))


@pytest.mark.parametrize("location", ["anonymity", "density", "balanced-density", "random", "adc"])
@pytest.mark.parametrize(
    ("points", "matrix", "sites"),
    [
        ([(1, 2)], [[7, 1]], 1),
        ([(0, 0), (1, 0), (5, 5)], [[0], [1], [0]], 2),
        ([(0, 0), (1, 0), (5, 5)], [[3], [1], [4]], 3),
        ([(0, 0), (1, 0), (5, 5)], [[3], [1], [4]], 1),
        ([(2, 2)] * 5, [[3], [1], [4], [0], [9]], 3),
    ],
    ids=["one region", "one record", "s = r", "s = 1", "all points equal"],
)
def test_degenerate_problems_work(points, matrix, sites, location):
    (solution,) = run(request_of(problem_of(points, matrix), sites, location)).solutions
    assert solution.site_count == sites
    assert solution.owner.size == len(points)


def test_a_solution_that_releases_nothing_says_so():
    result = run(request_of(problem_of([(0, 0), (1, 1)], [[1, 2], [2, 1]], k=50), 1))
    (solution,) = result.solutions
    assert solution.measures["suppressed_records"] == 6
    assert solution.measures["average_anonymity_deviation"] is None
    assert (solution.released_records, solution.anonymity, solution.regions_without_release) == (
        0,
        None,
        1,
    )
    (finding,) = result.findings
    assert finding.code == "nothing-released"
    assert "no class of any aggregated region reaches k = 50" in finding.message


def test_more_sites_than_regions_are_cut_back_and_told():
    result = run(request_of(LINE, 40))
    assert [solution.site_count for solution in result.solutions] == [4]
    assert [finding.code for finding in result.findings] == ["more-sites-than-regions"]


def test_what_makes_no_sense_is_refused_with_all_reasons_at_once():
    nothing = replace(LINE, counts=counts_of([[0]] * 4), k=0, unknown_region_records=0)
    request = request_of(nothing, pareto_measures=("beauty",))
    with pytest.raises(InputError) as caught:
        run(request)
    codes = [finding.code for finding in caught.value.findings]
    assert codes == ["no-records", "k", "measure"]


def test_regions_that_are_missing_or_nowhere_are_refused():
    nowhere = replace(LINE, regions=regions_of([(0, 0), (1, np.nan), (2, 2), (3, 3)]))
    for regions, code in ((nowhere.regions, "coordinates"), (regions_of([]), "no-regions")):
        with pytest.raises(InputError) as caught:
            run(request_of(replace(LINE, regions=regions)))
        assert [finding.code for finding in caught.value.findings] == [code]


class TooFew(SiteLocation):
    metadata = Metadata("too-few", "Too few", "Forgets one site.")

    def locate(self, context, sites, progress):
        return np.zeros((sites - 1, 2))


class Elsewhere(Construction):
    metadata = Metadata("elsewhere", "Elsewhere", "Names a site that is not there.")

    def build_partition(self, context, sites, progress):
        return np.full(len(context.regions), len(sites))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"site_location": TooFew()}, "“Too few” did not return 2 finite places"),
        (
            {"construction": Elsewhere()},
            "“Elsewhere” did not return one existing site for each initial region",
        ),
    ],
)
def test_an_approach_that_breaks_its_promise_is_named(changes, message):
    with pytest.raises(InputError, match=message):
        run(replace(request_of(LINE), **changes))


class Fixed(Construction):
    metadata = Metadata("fixed-owners", "Fixed", "Gives each region the owner that is named.")
    owners: tuple = ()

    def build_partition(self, context, sites, progress):
        return np.array(self.owners)


@pytest.mark.parametrize(
    "owners",
    [
        (0, 0, 1),
        (0, 0, 1, 1, 1),
        ((0,), (0,), (1,), (1,)),
        ((0, 0, 1, 1),),
        (0.0, 0.0, 1.0, 1.0),
        (False, False, True, True),
        (-1, 0, 1, 1),
        (0, 0, 1, 2),
    ],
)
def test_a_partition_of_a_wrong_shape_is_refused(owners):
    with pytest.raises(
        InputError, match="“Fixed” did not return one existing site for each initial region"
    ):
        run(replace(request_of(LINE), construction=Fixed(owners=owners)))


def test_a_partition_of_the_right_shape_is_used():
    (solution,) = run(replace(request_of(LINE), construction=Fixed(owners=(1, 0, 1, 0)))).solutions
    assert solution.owner.tolist() == [1, 0, 1, 0]


@pytest.mark.parametrize("tiers", [None, create_approach("tiers", "auto")], ids=["plain", "tiers"])
def test_without_sensitive_columns_no_record_is_lost_for_sensitive_values(tiers):
    (solution,) = run(request_of(LINE, tiers=tiers)).solutions
    # One record in each half is the only one of its class; two are of unknown regions.
    assert (solution.suppressed_records, solution.suppressed_sensitive) == (4, 0)
    assert solution.sensitive == {}
