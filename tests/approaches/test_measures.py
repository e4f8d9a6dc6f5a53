"""Every measure: worked by hand once, and equal to a naive recomputation always."""

import math
from dataclasses import replace

import numpy as np
import pytest
import shapely
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.problem_making import problem_of, problems
from vbas_desktop.algorithms.region_graph import find_neighbours
from vbas_desktop.approaches.registry import list_approaches
from vbas_desktop.engine.outcome import build_context, suppress_partition
from vbas_desktop.model.counts import ClassCounts
from vbas_desktop.model.records import Categories, Grouping
from vbas_desktop.model.tiers import Tiers


def rated(problem, owner, sites, global_suppression=True):
    context, _ = build_context(problem, global_suppression)
    outcome = suppress_partition(problem, context, np.array(owner, np.int32), sites)
    return {name: kind().rate(outcome) for name, kind in list_approaches("rating").items()}


def naive(problem, owner, sites):
    """From the matrix, region by region and class by class."""
    points, k = problem.regions.points, problem.k
    matrix = problem.counts.table.toarray()
    groups = {j: [i for i in range(len(points)) if owner[i] == j] for j in sorted(set(owner))}
    total = {j: matrix[members].sum(axis=0) for j, members in groups.items()}
    released = {j: [int(size) if size >= k else 0 for size in sizes] for j, sizes in total.items()}
    own = [
        sum(int(matrix[i, c]) for c in range(matrix.shape[1]) if released[owner[i]][c])
        for i in range(len(points))
    ]
    middle = {j: points[members].mean(axis=0) for j, members in groups.items()}
    anonymity = [min(size for size in sizes if size) for sizes in released.values() if any(sizes)]
    before = [min(size for size in sizes if size) for sizes in total.values() if any(sizes)]
    return {
        "suppressed_records": problem.records - sum(map(sum, released.values())),
        "place_information_loss": naive_place_information_loss(matrix, groups, released),
        "certainty_penalty": naive_certainty_penalty(problem, groups, released),
        "average_distance": np.mean([math.dist(points[i], sites[owner[i]]) for i in range(len(points))]),
        "distance_sum": sum(math.dist(points[i], sites[owner[i]]) for i in range(len(points))),
        "alternative_average_distance": np.mean(
            [math.dist(points[i], middle[owner[i]]) for i in range(len(points))]
        ),
        "precision_loss": 0.0
        if len(points) == 1
        else np.mean([math.log2(len(members)) / math.log2(len(points)) for members in groups.values()]),
        "discernibility": sum(size**2 for sizes in released.values() for size in sizes),
        "non_uniform_entropy": -sum(
            own[i] * math.log2(own[i] / sum(released[owner[i]])) for i in range(len(points)) if own[i]
        ),
        "average_anonymity_deviation": np.mean([size - k for size in anonymity]) if anonymity else None,
        "regions_in_pieces": sum(
            number > 1 for number in naive_pieces(owner, find_neighbours(problem.regions)).values()
        ),
        "average_anonymity": np.mean(before) if before else None,
        "average_suppression": (problem.records - sum(map(sum, released.values()))) / len(groups),
        "largest_harmful_share": None,
    }


def naive_pieces(owner, pairs):
    """The number of pieces of each group, by handing labels on until nothing changes."""
    label = list(range(len(owner)))
    for _ in owner:
        for one, other in pairs.tolist():
            if owner[one] == owner[other]:
                label[one] = label[other] = min(label[one], label[other])
    return {j: len({label[i] for i in range(len(owner)) if owner[i] == j}) for j in set(owner)}


def naive_place_information_loss(matrix, groups, released):
    """Record by record."""
    every = int(matrix.sum())
    known = sum(math.log2(every / row.sum()) for row in matrix for _ in range(row.sum()))
    kept = sum(
        math.log2(every / matrix[groups[j]].sum())
        for j, sizes in released.items()
        for _ in range(sum(sizes))
    )
    return 1 - kept / known if known else 0.0


def naive_certainty_penalty(problem, groups, released):
    """Record by record: the mean of the place and the one quasi-identifier, whose values are as they were."""
    penalties = []
    for group, members in groups.items():
        place = (len(members) - 1) / (len(problem.regions) - 1) if len(problem.regions) > 1 else 0.0
        penalties += [(place + 0.0) / 2] * sum(released[group])
    penalties += [1.0] * (problem.records - len(penalties))
    return sum(penalties) / len(penalties)


@settings(max_examples=150, deadline=None)
@given(problem=problems(), data=st.data())
def test_measures_equal_a_naive_recomputation_with_and_without_global_suppression(problem, data):
    sites = np.array(
        data.draw(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=1, max_size=5)),
        float,
    )
    owner = data.draw(
        st.lists(
            st.integers(0, len(sites) - 1), min_size=len(problem.regions), max_size=len(problem.regions)
        )
    )
    expected = naive(problem, owner, sites)
    for global_suppression in (True, False):
        found = rated(problem, owner, sites, global_suppression)
        assert found.keys() >= expected.keys()
        for name, value in expected.items():
            assert found[name] == (
                None if value is None else pytest.approx(value, rel=1e-9, abs=1e-9)
            ), name


def test_measures_worked_by_hand():
    # Five regions on a line, k = 3. Site 0 at 1 owns 0, 1, 2; site 2 at 10 owns 3, 4; site 1 owns nothing.
    # Region 0–2 together: classes 4, 2 → 4 stays. Region 3–4: classes 3, 3 → both stay. 2 suppressed.
    problem = problem_of(
        [(0, 0), (1, 0), (3, 0), (9, 0), (12, 0)], [[3, 1], [1, 0], [0, 1], [3, 0], [0, 3]], k=3
    )
    sites = np.array([[1, 0], [100, 0], [10, 0]], float)
    expected = {
        "suppressed_records": 2,
        # 12 records: 4, 1, 1, 3, 3 in the initial regions; 4 of the 6 of one place and all 6 of the other are released.
        "place_information_loss": pytest.approx(
            1
            - 10
            * math.log2(12 / 6)
            / (4 * math.log2(12 / 4) + 2 * math.log2(12) + 6 * math.log2(12 / 3))
        ),
        # Of 12 records, 4 are in a place of 3 of the 5 regions, 6 in one of 2, and 2 are lost; one quasi-identifier.
        "certainty_penalty": pytest.approx((4 * (2 / 4) / 2 + 6 * (1 / 4) / 2 + 2) / 12),
        "average_distance": (1 + 0 + 2 + 1 + 2) / 5,
        "distance_sum": 6.0,
        # Means at 4/3 and 10.5: distances 4/3, 1/3, 5/3, 1.5, 1.5.
        "alternative_average_distance": pytest.approx((10 / 3 + 3) / 5),
        "precision_loss": pytest.approx((math.log2(3) + 1) / 2 / math.log2(5)),
        "discernibility": 16 + 9 + 9,
        # Released: 3, 1, 0 of 4 and 3, 3 of 6.
        "non_uniform_entropy": pytest.approx(3 * math.log2(4 / 3) + math.log2(4) + 6 * math.log2(2)),
        "average_anonymity_deviation": (1 + 0) / 2,
        "regions_in_pieces": 0,
        # Smallest classes before suppression: 2 and 3. Two suppressed records in two regions.
        "average_anonymity": 2.5,
        "average_suppression": 1.0,
        "largest_harmful_share": None,
    }
    found = rated(problem, [0, 0, 0, 2, 2], sites)
    assert {name: found[name] for name in expected} == expected


def test_merged_categories_and_larger_places_raise_the_certainty_penalty():
    # Two columns: colour (3 groups of 6 values: 3, 1 and 2) and size (2 values as they were). k = 2.
    counts = ClassCounts.from_matrix(
        (3, 2), np.arange(6), np.array([[4, 0, 1, 0, 0, 0], [0, 3, 1, 0, 0, 2], [0] * 6])
    )
    colours = Categories("colour", ("dark", "green", "light"))
    groups = {"black": "dark", "blue": "dark", "brown": "dark", "white": "light", "yellow": "light"}
    problem = replace(
        problem_of([(0, 0), (1, 0), (2, 0)], [[1], [1], [1]], k=2),
        counts=counts,
        quasi_identifiers=("colour", "size"),
        categories=(colours, Categories("size", ("large", "small"))),
        groupings=(Grouping("colour", groups),),
    )
    # Region by region: 4 dark, 3 dark and 2 light stay, both greens are lost.
    dark, light = 2 / 5, 1 / 5
    found = rated(problem, [0, 1, 2], np.zeros((3, 2)))["certainty_penalty"]
    assert found == pytest.approx((7 * dark / 3 + 2 * light / 3 + 2) / 11)
    # The first two together: green has two records there, and the place is two of three regions.
    found = rated(problem, [0, 0, 2], np.zeros((3, 2)))["certainty_penalty"]
    assert found == pytest.approx((7 * (dark + 0.5) / 3 + 2 * (0.5 / 3) + 2 * (light + 0.5) / 3) / 11)
    # In tiers every class is released where it is large enough: the greens in the whole area.
    context, _ = build_context(problem)
    whole = Tiers((np.zeros(3, np.int32),), ("region", "area"), (None, None))
    outcome = suppress_partition(problem, context, np.arange(3, dtype=np.int32), None, tiers=whole)
    found = list_approaches("rating")["certainty_penalty"]().rate(outcome)
    assert found == pytest.approx((7 * dark / 3 + 2 * light / 3 + 2 * 1 / 3) / 11)


def test_regions_in_several_pieces_are_counted_whatever_the_number_of_their_pieces():
    # On a line: 0 1 0 1 1 0 2 2 puts region 0 into three pieces, region 1 into two, region 2 into one.
    problem = problem_of([(x, 0) for x in range(8)], [[5]] * 8, k=3)
    found = rated(problem, [0, 1, 0, 1, 1, 0, 2, 2], np.zeros((3, 2)))
    assert found["regions_in_pieces"] == 2


def test_without_a_released_record_means_are_undefined_and_sums_are_zero():
    problem = problem_of([(0, 0), (1, 0)], [[1, 1], [1, 1]], k=5, unknown=3)
    found = rated(problem, [0, 1], np.array([[0, 0], [1, 0]], float))
    assert found["suppressed_records"] == 7
    assert found["average_anonymity_deviation"] is None
    assert (found["discernibility"], found["non_uniform_entropy"]) == (0, 0.0)


def test_information_on_place_is_kept_by_initial_regions_and_lost_in_one_place_or_without_records():
    problem = problem_of([(0, 0), (1, 0), (2, 0)], [[6, 5], [5, 0], [9, 9]], k=5)
    sites = np.array([[0, 0], [1, 0], [2, 0]], float)
    assert rated(problem, [0, 1, 2], sites)["place_information_loss"] == pytest.approx(0.0, abs=1e-12)
    assert rated(problem, [0, 0, 0], sites)["place_information_loss"] == 1.0
    nothing = problem_of([(0, 0), (1, 0), (2, 0)], [[6, 5], [5, 0], [9, 9]], k=100, unknown=3)
    assert rated(nothing, [0, 1, 2], sites)["place_information_loss"] == 1.0


def test_one_region_loses_no_precision():
    found = rated(problem_of([(0, 0)], [[9]]), [0], np.array([[3, 4]], float))
    assert found["place_information_loss"] == 0.0
    assert (found["precision_loss"], found["average_distance"], found["non_uniform_entropy"]) == (
        0.0,
        5.0,
        0.0,
    )


def test_without_sites_distances_are_taken_to_the_centroids_of_the_regions():
    # A square of 2 × 2 with its point at the left edge, and one of 2 × 6 beside it with its point in the middle.
    # The centroid of both together is at (4·1 + 12·5) / 16 = 4 along x and at 1 along y.
    problem = problem_of([(0, 1), (5, 1)], [[9], [9]])
    polygons = np.array([shapely.box(0, 0, 2, 2), shapely.box(2, 0, 8, 2)], object)
    problem = replace(problem, regions=replace(problem.regions, polygons=polygons))
    found = rated(problem, [0, 0], None)
    assert found["average_distance"] == pytest.approx((4 + 1) / 2)
    assert found["distance_sum"] == pytest.approx(4 + 1)
    assert found["alternative_average_distance"] == 2.5
    apart = rated(problem, [0, 1], None)
    assert apart["average_distance"] == pytest.approx((1 + 0) / 2)


def test_without_sites_and_polygons_the_cells_of_the_points_have_the_centroids():
    problem = problem_of([(0, 0), (2, 0), (0, 2), (2, 2)], [[9]] * 4)
    # By symmetry the centroid of all cells is in the middle.
    assert rated(problem, [0, 0, 0, 0], None)["average_distance"] == pytest.approx(math.sqrt(2))


def test_regions_without_area_have_their_mean_point_as_centroid():
    problem = problem_of([(0, 0), (2, 0)], [[9], [9]])
    empty = np.array([None, shapely.box(0, 0, 0, 0)], object)
    problem = replace(problem, regions=replace(problem.regions, polygons=empty))
    assert rated(problem, [0, 0], None)["average_distance"] == 1.0


def test_points_a_rounding_error_apart_have_a_distance_all_the_same():
    problem = problem_of([(0, 0), (0, 1), (0, 1.51525776e-21)], [[9], [9], [9]])
    assert rated(problem, [0, 0, 0], None)["average_distance"] == pytest.approx(
        (1 / 3 + 2 / 3 + 1 / 3) / 3
    )


def test_average_anonymity_is_the_same_when_the_classes_are_counted_in_parts():
    generator = np.random.default_rng(3)
    counts = generator.integers(0, 3, (120, 3000))
    problem = problem_of(generator.random((120, 2)), counts, k=2)
    owner = np.arange(120) % 7
    merged = np.array([counts[owner == group].sum(axis=0) for group in range(7)])
    expected = np.mean([sizes[sizes > 0].min() for sizes in merged])
    assert rated(problem, owner, None)["average_anonymity"] == expected


def test_squares_beyond_64_bits_stay_exact():
    problem = problem_of([(0, 0)], [[4_000_000_000, 3]])
    assert rated(problem, [0], None)["discernibility"] == 4_000_000_000**2 + 9
