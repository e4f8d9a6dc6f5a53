"""Districts that grow: contiguous, none below the cutoff, islands joined, large ones split."""

import numpy as np
import pytest
import shapely
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.problem_making import context_for, problem_of
from vbas_desktop.algorithms.region_graph import (
    build_growth_graph,
    count_pieces,
    find_gabriel_neighbours,
    find_point_neighbours,
)
from vbas_desktop.algorithms.regionalisation import (
    compute_merge_sequence,
    grow_districts,
    grow_from_seeds,
    merge_undersized,
)
from vbas_desktop.approaches.registry import create_approach
from vbas_desktop.engine.request import Request
from vbas_desktop.engine.run import run
from vbas_desktop.io.documents.solutions import solution_from_json, solution_to_json
from vbas_desktop.model.progress import NO_PROGRESS
from vbas_desktop.model.regions import CoordinateKind, CoordinateSystem, Regions
from vbas_desktop.settings.run import RunSettings

PLANE = CoordinateSystem(CoordinateKind.PLANAR)
CHAIN = [(float(x), 0.0) for x in range(6)]


def chain_pairs(number):
    return np.column_stack((np.arange(number - 1), np.arange(1, number))).astype(np.int32)


def districts(people, cutoff, points=CHAIN):
    return grown(np.array(points), np.array(people, np.int64), chain_pairs(len(people)), cutoff).tolist()


def grown(points, people, pairs, cutoff):
    return grow_districts(points, people, pairs, cutoff, compute_merge_sequence(points, people, pairs))


def test_the_smallest_joins_its_nearest_neighbour_first():
    # 1 joins 9, and 4 the first 10: at equal distances the lower number. 5 joins the last 10, the other is farther now.
    assert districts([9, 1, 10, 4, 5, 10], 9) == [0, 0, 1, 1, 2, 2]


def test_a_district_of_twice_the_cutoff_is_split_where_both_parts_are_even():
    assert districts([1, 1, 1, 1, 1, 1], 3) == [0, 0, 0, 1, 1, 1]
    assert districts([20, 1, 1, 1, 1, 1], 3) == [0, 1, 1, 1, 1, 1]
    assert districts([20, 1, 1, 1, 1, 1], 6) == [0, 0, 0, 0, 0, 0]


def test_too_few_records_in_all_make_one_district():
    assert districts([1, 0, 0, 0, 0, 1], 3) == [0] * 6
    assert districts([0] * 6, 1) == [0] * 6


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_districts_are_contiguous_and_large_enough(data):
    number = data.draw(st.integers(1, 40))
    seed = data.draw(st.integers(0, 10_000))
    rng = np.random.default_rng(seed)
    points, people = rng.integers(0, 12, (number, 2)).astype(float), rng.integers(0, 30, number)
    cutoff = data.draw(st.integers(1, 60))
    regions = Regions(tuple(map(str, range(number))), points, PLANE)
    pairs, _ = build_growth_graph(regions)
    owner = grown(points, people, pairs, cutoff)
    sizes = np.bincount(owner, people)
    assert sizes.sum() == people.sum()
    assert sizes.size == 1 or sizes.min() >= cutoff
    assert (count_pieces(regions, owner, pairs) == 1).all()
    firsts = [owner.tolist().index(each) for each in range(sizes.size)]
    assert firsts == sorted(firsts)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10_000), st.integers(1, 60), st.booleans())
def test_one_order_of_joining_serves_every_cutoff_and_number(seed, number, weighted):
    """Growing to any cutoff anew gives the same groups."""
    rng = np.random.default_rng(seed)
    points, people = rng.integers(0, 12, (number, 2)).astype(float), rng.integers(0, 30, number)
    weight = rng.random(number) + 0.1 if weighted else np.ones(number)
    pairs, _ = build_growth_graph(Regions(tuple(map(str, range(number))), points, PLANE))
    joins = compute_merge_sequence(points, people, pairs, weight)
    assert (np.diff(joins.held) >= 0).all()
    held = people[:, None].astype(float)
    for cutoff in (1, 2, 7, 20, 45, 300):
        anew = merge_undersized(
            points, weight, held, np.array([cutoff]), np.array([np.inf]), pairs, NO_PROGRESS
        )
        assert joins.groups_of(number, cutoff).tolist() == anew.tolist()
    for wanted in range(1, number + 1):
        left = joins.groups_left(number, wanted)
        assert left.max() + 1 == wanted
        assert [left.tolist().index(each) for each in range(wanted)] == sorted(
            left.tolist().index(e) for e in set(left)
        )


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10_000), st.integers(3, 25))
def test_gabriel_pairs_are_those_with_an_empty_circle(seed, number):
    points = np.random.default_rng(seed).random((number, 2))
    naive = []
    for one, other in find_point_neighbours(points).tolist():
        middle, radius = (points[one] + points[other]) / 2, np.hypot(*(points[one] - points[other])) / 2
        rest = np.delete(points, [one, other], axis=0)
        if rest.size == 0 or np.hypot(*(rest - middle).T).min() >= radius:
            naive.append([one, other])
    assert find_gabriel_neighbours(points).tolist() == naive


def test_islands_are_joined_and_that_is_said():
    boxes = np.array([shapely.box(x, 0, x + 1, 1) for x in (0, 1, 5, 6)], object)
    regions = Regions(
        ("a", "b", "c", "d"), shapely.get_coordinates(shapely.centroid(boxes)), PLANE, boxes
    )
    pairs, bridges = build_growth_graph(regions)
    assert bridges == 1
    assert pairs.tolist() == [[0, 1], [1, 2], [2, 3]]
    context = context_for(regions.points, [[5], [5], [5], [5]])
    object.__setattr__(context, "regions", regions)
    made = create_approach("construction", "growth").build_partition(
        context, np.full((1, 2), np.nan), _Silent()
    )
    assert made.owner.tolist() == [0, 0, 0, 0]
    assert made.diagnostics == {"growth": {"cutoff": 18, "bridges": 1}}
    assert [finding.code for finding in made.findings] == ["islands-joined"]


class _Silent:
    def update(self, stage, fraction=None):
        pass


@pytest.mark.parametrize("location", ["density", "adc"])
def test_a_run_without_sites_tells_no_location_and_is_kept_as_it_is(location):
    problem = problem_of([(x, y) for y in range(4) for x in range(5)], [[9, 3]] * 20, k=2)
    request = Request(
        problem,
        create_approach("site_number", "fixed", {"sites": 4}),
        create_approach("site_location", location),
        create_approach("construction", "growth"),
        settings=RunSettings(range_reach=0),
    )
    solution = run(request).solutions[0]
    assert solution.sites is None
    assert solution.site_count == 4
    assert solution.measures["average_distance"] > 0
    assert solution.measures["alternative_average_distance"] > 0
    assert "site_location" not in solution.approaches
    assert np.bincount(solution.owner, problem.counts.region_totals).min() >= 0.9 * problem.records / 4
    again = solution_from_json(solution_to_json(solution))
    assert again.sites is None
    assert again.owner.tolist() == solution.owner.tolist()
    assert again.diagnostics == solution.diagnostics


def seeded(people, cutoff, seeds=None, points=CHAIN):
    order = np.arange(len(people)) if seeds is None else np.array(seeds)
    return grow_from_seeds(
        np.array(points), np.array(people), chain_pairs(len(people)), cutoff, order
    ).tolist()


def test_a_seed_takes_in_the_nearest_neighbours_until_it_has_the_cutoff_and_nothing_is_split():
    # Seed 0 takes 1 and 2. Seed 3 (at 3) is nearer to 4 than to the district in the west (centroid 1): 4, then 5.
    assert seeded([1, 1, 1, 1, 1, 1], 3) == [0, 0, 0, 1, 1, 1]
    # The last seed, 5, is below the cutoff and joins the finished district beside it.
    assert seeded([1, 1, 1, 1, 2, 1], 3) == [0, 0, 0, 1, 1, 1]
    # Two seeds have the cutoff by themselves. Seed 2 is as near to 1 as to 3: the lower number. 21 is not split.
    assert seeded([3, 20, 1, 1, 1, 1], 3) == [0, 1, 1, 2, 2, 2]
    # In another order: 5 takes 4 and 3, then 2 takes 1 and 0.
    assert seeded([1, 1, 1, 1, 1, 1], 3, [5, 4, 3, 2, 1, 0]) == [0, 0, 0, 1, 1, 1]
    assert seeded([1, 1, 1, 1, 1, 1], 4, [5, 4, 3, 2, 1, 0]) == [0, 0, 0, 0, 0, 0]
    assert seeded([1, 1, 1, 1, 1, 1], 100) == [0] * 6


def naive_seeded(points, people, pairs, cutoff, seeds):
    """The rule in plain words: districts are lists of regions, and everything is recomputed at every step."""
    districts = [[region] for region in range(len(points))]
    beside = {frozenset(pair) for pair in pairs.tolist()}
    for seed in seeds:
        mine = next((district for district in districts if district[0] == seed), None)
        while mine is not None and sum(people[region] for region in mine) < cutoff:
            near = [
                other
                for other in districts
                if other is not mine and any(frozenset((a, b)) in beside for a in mine for b in other)
            ]
            if not near:
                break
            centre = points[mine].mean(axis=0)
            nearest = min(
                near, key=lambda other: (((points[other].mean(axis=0) - centre) ** 2).sum(), other[0])
            )
            districts.remove(nearest)
            mine += nearest
    return {frozenset(district) for district in districts}


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10_000), st.integers(1, 25), st.integers(1, 80))
def test_seeded_growth_follows_the_rule(seed, number, cutoff):
    rng = np.random.default_rng(seed)
    # Without ties between distances, which floating-point sums would decide by chance.
    points, people, order = rng.random((number, 2)), rng.integers(0, 30, number), rng.permutation(number)
    pairs, _ = build_growth_graph(Regions(tuple(map(str, range(number))), points, PLANE))
    owner = grow_from_seeds(points, people, pairs, cutoff, order)
    found = {frozenset(np.flatnonzero(owner == district).tolist()) for district in set(owner.tolist())}
    assert found == naive_seeded(points, people, pairs, cutoff, order.tolist())


def test_the_cutoff_of_the_population_model_does_not_depend_on_the_number_of_sites():
    # Two classes: 1978 · 2^0.304 = 2,441.9 records; in steps of 1,000 a district needs three regions.
    context = context_for([(x, 0) for x in range(9)], [[500, 500]] * 9)
    growth = create_approach(
        "construction", "growth", {"method": "seeded", "cutoff": "maxcombs", "model": "eastern"}
    )
    for sites in (1, 7):
        made = growth.build_partition(context, np.full((sites, 2), np.nan), _Silent())
        assert made.diagnostics["growth"]["cutoff"] == 2442
        assert made.owner.tolist() == [0, 0, 0, 1, 1, 1, 2, 2, 2]
    random = create_approach("construction", "growth", {**growth.settings(), "seeds": "random"})
    again = [
        random.build_partition(context, np.full((1, 2), np.nan), _Silent()).owner.tolist()
        for _ in range(2)
    ]
    assert again[0] == again[1]
    assert np.bincount(again[0]).min() >= 3
