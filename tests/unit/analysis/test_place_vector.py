"""What an aggregation keeps of the geography, against pairs counted one by one."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import davies_bouldin_score

from vbas_desktop.engine.geographic_representability import measure_geographic_representability
from vbas_desktop.model.counts import ClassCounts
from vbas_desktop.model.problem import Problem
from vbas_desktop.model.records import Categories, Grouping
from vbas_desktop.model.regions import CoordinateKind, CoordinateSystem, Regions
from vbas_desktop.model.solution import Solution


def problem_of(matrix, points, k, groupings=()):
    counts = ClassCounts.from_matrix((matrix.shape[1],), np.arange(matrix.shape[1]), matrix)
    system = CoordinateSystem(CoordinateKind.PLANAR, None, "m")
    regions = Regions(tuple(str(n) for n in range(len(points))), points, system)
    categories = (Categories("q", tuple("abcdef"[: matrix.shape[1]])),)
    return Problem(regions, counts, k, ("q",), categories, "region", groupings=groupings)


def solution_of(owner):
    return Solution(1, {}, {}, 1, 1, None, np.array(owner, np.int32), {}, 0.0, 0, 0)


def pairs_of(records):
    return combinations(records, 2)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(1, 4))
def test_the_indices_equal_counting_pairs_of_records(seed, k):
    rng = np.random.default_rng(seed)
    matrix = rng.integers(0, 4, (5, 3)).astype(np.int64)
    owner = rng.integers(0, 3, 5)
    problem, solution = problem_of(matrix, rng.random((5, 2)), k), solution_of(owner)
    found = measure_geographic_representability(problem, solution)
    records = [(i, j) for i in range(5) for j in range(3) for _ in range(matrix[i, j])]
    size = {
        (g, j): sum(matrix[i, j] for i in range(5) if owner[i] == g) for g in range(3) for j in range(3)
    }
    released = [(i, j) for i, j in records if size[owner[i], j] >= k]
    both = [
        (one, two)
        for one, two in combinations(released, 2)
        if (owner[one[0]], one[1]) == (owner[two[0]], two[1])
    ]
    same = sum(one == two for one, two in both)
    if released:
        assert found.table.jaccard == pytest.approx(same / len(both) if both else 1.0)
        assert found.table.fowlkes_mallows == pytest.approx(np.sqrt(found.table.jaccard))
        classes = [(owner[i], j) for i, j in released]
        lost = sum(
            np.log(classes.count(classes[n]) / released.count(released[n])) for n in range(len(released))
        )
        whole = sum(np.log(len(released) / released.count(each)) for each in released)
        assert found.table.entropy_loss == pytest.approx(lost / whole if whole > 1e-9 else 0.0, abs=1e-9)
        alike = [
            (one == two, (owner[one[0]], one[1]) == (owner[two[0]], two[1]))
            for one, two in pairs_of(released)
        ]
        before, after = np.array(alike, float).reshape(-1, 2).T
        if 0 < before.sum() < before.size and 0 < after.sum() < after.size:
            assert found.table.hubert == pytest.approx(np.corrcoef(before, after)[0, 1])
        else:
            assert found.table.hubert is None
    else:
        assert found.table.entropy_loss is None
    suppressed = [record for record in records if size[owner[record[0]], record[1]] < k]
    joined = len(both) + len(suppressed) * (len(suppressed) - 1) // 2
    kept = same + sum(one == two for one, two in combinations(suppressed, 2))
    assert found.table_with_suppressed.jaccard == pytest.approx(kept / joined if joined else 1.0)
    assert found.sample_size_ratio == pytest.approx(len(released) / len(records) if records else 0.0)
    assert set(np.flatnonzero(found.released_classes)) == {j for _, j in released}


@settings(max_examples=80, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(1, 4))
def test_precision_and_davies_bouldin_equal_those_of_the_records_one_by_one(seed, k):
    rng = np.random.default_rng(seed)
    matrix = rng.integers(0, 4, (6, 3)).astype(np.int64)
    owner, points = rng.integers(0, 4, 6), rng.integers(0, 3, (6, 2)).astype(float)
    # Class a holds what was taken together, b and c are as recorded.
    problem = problem_of(matrix, points, k, (Grouping("q", {"a": "a", "x": "a", "b": "b"}),))
    found = measure_geographic_representability(problem, solution_of(owner))
    size = {
        (g, j): sum(matrix[i, j] for i in range(6) if owner[i] == g) for g in range(4) for j in range(3)
    }
    released = [
        (i, j) for i in range(6) for j in range(3) if size[owner[i], j] >= k for _ in range(matrix[i, j])
    ]
    if not released:
        assert (found.precision, found.davies_bouldin.value) == (None, None)
        assert found.davies_bouldin.reason == "nothing is released"
        return
    merged = [np.log2(list(owner).count(owner[i])) / np.log2(6) for i in range(6)]
    lost = sum(merged[i] + 0.5 * (j == 0) for i, j in released)
    assert found.precision == pytest.approx(1 - lost / (2 * len(released)))
    inside = {
        g: np.array([points[i] for i, _ in released if owner[i] == g])
        for g in {owner[i] for i, _ in released}
    }
    centre = {g: mine.mean(axis=0) for g, mine in inside.items()}
    width = {g: np.sqrt(((mine - centre[g]) ** 2).sum(axis=1).mean()) for g, mine in inside.items()}
    everybody = np.repeat(points, matrix.sum(axis=1), axis=0)
    widest = np.sqrt(((everybody - everybody.mean(axis=0)) ** 2).sum(axis=1).mean())
    steps = [
        d
        for one, two in combinations(np.unique(everybody, axis=0), 2)
        if (d := np.hypot(*(one - two))) > 0
    ]
    far = {(g, h): np.hypot(*(centre[g] - centre[h])) for g in centre for h in centre if g != h}
    if any(0 < d < 1e-12 for d in far.values()):
        return
    rows = [
        [(d, (width[g] + width[h]) / d) for h in centre if h != g and (d := far[g, h]) > 0]
        for g in centre
    ]
    used, per_class = list(centre), rows
    rows = [row for row in rows if row]
    index = found.davies_bouldin
    assert index.coinciding_pairs == sum(d == 0 for d in far.values()) // 2
    if not rows:
        assert index.value is None
        return
    value = np.mean([max(ratio for _, ratio in row) for row in rows])
    assert index.value == pytest.approx(value)
    parts = {g: max(ratio for _, ratio in row) for g, row in zip(used, per_class, strict=True) if row}
    shown = {
        g: part for g, part in enumerate(found.region_davies_bouldin.tolist()) if not np.isnan(part)
    }
    assert shown == pytest.approx({sorted(set(owner)).index(g): part for g, part in parts.items()})
    assert index.worst == pytest.approx(2 * widest / min(steps))
    assert index.normalised == pytest.approx(min(1, value / index.worst))


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(2, 6))
def test_davies_bouldin_agrees_with_an_independent_implementation(seed, groups):
    # Of two records each, so that the mean distance to the centre, which the other one takes, is ours, the root of the
    # mean square.
    points = np.random.default_rng(seed).random((2 * groups, 2))
    owner = np.repeat(np.arange(groups), 2)
    found = measure_geographic_representability(
        problem_of(np.ones((2 * groups, 1), np.int64), points, 1), solution_of(owner)
    )
    assert found.davies_bouldin.value == pytest.approx(davies_bouldin_score(points, owner))


@pytest.mark.parametrize(
    ("groups", "precision"),
    [
        ({"x": "a", "y": "b"}, 1.0),  # other names only
        ({"x": "a", "y": "a"}, 0.75),  # a stands for two values
    ],
)
def test_values_that_are_only_renamed_lose_nothing(groups, precision):
    matrix = np.full((2, 2), 5, np.int64)
    problem = problem_of(matrix, np.array([[0.0, 0.0], [1.0, 0.0]]), 5, (Grouping("q", groups),))
    found = measure_geographic_representability(problem, solution_of([0, 1]))
    assert found.precision_by_column == {"q": precision, "region": 1.0}


def test_nothing_moved_means_everything_kept():
    matrix = np.full((4, 2), 5, np.int64)
    found = measure_geographic_representability(
        problem_of(matrix, np.arange(8.0).reshape(4, 2), 5), solution_of([0, 1, 2, 3])
    )
    assert (found.table.jaccard, found.table.fowlkes_mallows, found.table.rand, found.mean_distance) == (
        1.0,
        1.0,
        1.0,
        0.0,
    )
    assert found.region_jaccard.tolist() == found.region_fowlkes_mallows.tolist() == [1.0] * 4
    assert (found.precision, found.davies_bouldin.value, found.davies_bouldin.normalised) == (
        1.0,
        0.0,
        0.0,
    )


def test_suppressing_everything_says_so():
    found = measure_geographic_representability(
        problem_of(np.ones((3, 2), np.int64), np.zeros((3, 2)), 9), solution_of([0, 0, 0])
    )
    assert found.table.jaccard is None
    assert found.mean_distance is None
    assert found.sample_size_ratio == 0.0
    told = found.as_dict("m")
    assert (told["precision"], told["precision_with_suppressed"], told["davies_bouldin"]) == (
        None,
        0.0,
        None,
    )
    assert np.isnan(found.region_distance).all()


def test_records_move_to_the_record_weighted_centre():
    # 30 records at 0 and 10 at 4000 m: centre at 1000 m; mean distance (30·1000 + 10·3000)/40 = 1500 m.
    matrix = np.array([[30], [10]], np.int64)
    points = np.array([[0.0, 0.0], [4000.0, 0.0]])
    found = measure_geographic_representability(problem_of(matrix, points, 5), solution_of([0, 0]))
    assert found.mean_distance == pytest.approx(1500.0)
    assert found.as_dict("m")["mean_distance"] == pytest.approx(1.5)
    # pairs together before: 435 + 45 = 480 of C(40, 2) = 780
    assert found.table.jaccard == pytest.approx(480 / 780)
    # One of two columns, the place, says nothing any more: all initial regions are one.
    assert found.precision_by_column == {"q": 1.0, "region": 0.0}
    assert found.precision == 0.5
    assert found.davies_bouldin.reason == "there is only one class"
