"""Requirements against solutions: every criterion is computed, and where one is not defined it is said why."""

from dataclasses import replace

import numpy as np
import pytest

from vbas_desktop.analysis.representability.requirement import Requirement, RequirementStatus
from vbas_desktop.analysis.representability.solution_check import SolutionCheck, check_solutions
from vbas_desktop.engine.geographic_representability import (
    measure_geographic_representability,
    pack_flags,
    unpack_flags,
)
from vbas_desktop.model.counts import ClassCounts
from vbas_desktop.model.problem import Problem
from vbas_desktop.model.records import Categories
from vbas_desktop.model.regions import CoordinateKind, CoordinateSystem, Regions
from vbas_desktop.model.solution import RunResult, Solution

OK, NOT_MET, NOT_CHECKABLE = (
    RequirementStatus.OK,
    RequirementStatus.NOT_MET,
    RequirementStatus.NOT_CHECKABLE,
)


@pytest.fixture
def problem():
    """Four regions on a line; the young are everywhere, the old in the last two only, and few: 3 and 2."""
    matrix = np.array([[9, 0], [9, 0], [9, 3], [9, 2]], np.int64)
    counts = ClassCounts.from_matrix((2,), np.arange(2), matrix)
    points = np.array([[0.0, 0.0], [1000.0, 0.0], [5000.0, 0.0], [6000.0, 0.0]])
    regions = Regions(tuple("abcd"), points, CoordinateSystem(CoordinateKind.PLANAR, None, "m"))
    return Problem(regions, counts, 4, ("age",), (Categories("age", ("young", "old")),), "region")


def measured(problem, solution):
    vector = measure_geographic_representability(problem, solution)
    known = {
        "representability": vector.as_dict("m"),
        "released_classes": pack_flags(vector.released_classes),
    }
    return replace(solution, **known)


def solved(problem, *owners):
    solutions = tuple(
        Solution(number, {}, {}, 1, 1, None, np.array(owner, np.int32), {}, 0.0, 0, 0)
        for number, owner in enumerate(owners, 1)
    )
    return RunResult(tuple(measured(problem, each) for each in solutions), 1, 0, 2)


def checked(problem, owner):
    return SolutionCheck(
        solved(problem, owner).solutions[0], ("age",), "region", problem.k, problem, ["age", "region"]
    )


APART, PAIRS, ONE = [0, 1, 2, 3], [0, 0, 1, 1], [0, 0, 0, 0]


def verdicts(problem, owner, **stated):
    return [(row.status, row.actual) for row in checked(problem, owner).check(Requirement(**stated))]


def test_precision_is_checked_with_the_weights_that_are_asked_for(problem):
    need = {"overall": {"precision": {"min": 0.6}}}
    assert verdicts(problem, PAIRS, **need) == [(OK, "0.75")]
    weights = {"age": 0.1, "region": 0.9}
    assert verdicts(problem, PAIRS, **need, weights=weights) == [
        (NOT_MET, "0.55"),
        (OK, "age 0.1, region 0.9"),
    ]
    # Weights of other columns than those of the classes cannot be used.
    assert verdicts(problem, PAIRS, weights={"age": 1.0}) == [(NOT_MET, "age 0.5, region 0.5")]


def test_davies_bouldin_is_checked(problem):
    # Two pairs, each 500 m around its centre (the few old ones pull the second a little), about 5000 m apart.
    (row,) = verdicts(problem, PAIRS, overall={"davies_bouldin": {"max": 0.3}})
    assert row[0] is OK
    assert float(row[1]) == pytest.approx(0.2, abs=0.01)
    assert verdicts(problem, APART, overall={"davies_bouldin_normalised": {"max": 0}}) == [(OK, "0")]
    found = verdicts(problem, ONE, overall={"davies_bouldin": {"max": 0.3}})
    assert found == [(NOT_CHECKABLE, "not defined: there is only one class")]


@pytest.mark.parametrize(
    ("owner", "unwanted", "verdict"),
    [
        (PAIRS, {"age": "old"}, NOT_MET),
        (APART, {"age": "old"}, OK),  # three and two are suppressed
        (PAIRS, {"age": "ancient"}, OK),
        (PAIRS, {"height": "1"}, NOT_CHECKABLE),
        (PAIRS, {"region": "a"}, NOT_MET),
        (PAIRS, {"region": "nowhere"}, OK),
        (PAIRS, {"region": "a", "age": "old"}, OK),
        (PAIRS, {"region": "c", "age": "old"}, NOT_MET),
        (APART, {"region": "c", "age": "old"}, OK),
    ],
)
def test_an_unwanted_class_is_released_nowhere(problem, owner, unwanted, verdict):
    ((found, _),) = verdicts(problem, owner, unwanted_classes=(unwanted,))
    assert found is verdict


@pytest.mark.parametrize(
    ("owner", "wanted", "found"),
    [
        (PAIRS, {"age": "old"}, (OK, "released")),
        (APART, {"age": "old"}, (NOT_MET, "not released")),
        (PAIRS, {"age": "ancient"}, (NOT_MET, "not released")),
        (PAIRS, {"height": "1"}, (NOT_MET, "height is no quasi-identifier")),
        (APART, {"region": "a"}, (OK, "released")),
        (APART, {"region": "a", "age": "young"}, (OK, "released")),
        (APART, {"region": "c", "age": "old"}, (NOT_MET, "not released")),
        (PAIRS, {"region": "a"}, (NOT_MET, "not released")),
        (APART, {"region": "z"}, (NOT_MET, "not released")),
    ],
)
def test_required_classes_are_looked_up_in_what_is_released(problem, owner, wanted, found):
    assert verdicts(problem, owner, required_classes=(wanted,)) == [found]


def test_required_classes_wait_for_the_counts(problem):
    solution = solved(problem, PAIRS).solutions[0]
    need = Requirement(required_classes=({"age": "old"},))
    (row,) = SolutionCheck(solution, ("age",), "region", 4).check(need)
    assert (row.status, row.actual) == (NOT_CHECKABLE, "the records are not counted yet")


def test_the_highest_level_of_the_place_is_checked(problem):
    assert verdicts(problem, PAIRS, highest_level={"region": 0, "age": 0}) == [(NOT_MET, "1"), (OK, "0")]
    assert verdicts(problem, APART, highest_level={"region": 0}) == [(OK, "0")]


def test_a_release_of_nothing_misses_every_measure(problem):
    nothing = replace(problem, k=100)
    for name in ("precision", "jaccard", "mean_distance", "davies_bouldin"):
        assert verdicts(nothing, PAIRS, overall={name: {"min": 0}}) == [(NOT_MET, "nothing is released")]


def test_a_run_is_marked_by_what_is_required(problem):
    need = Requirement(overall={"mean_distance": {"max": 1}}, required_classes=({"age": "old"},))
    found = check_solutions(solved(problem, APART, PAIRS, ONE), problem, need, None)
    assert [each.is_suitable for each in found.solutions] == [False, True, False]
    assert found.solutions[0].facts()["requirement"] == [
        {
            "criterion": "Distance moved (km or map units)",
            "required": "at most 1",
            "actual": "0",
            "verdict": "ok",
        },
        {
            "criterion": "Class age = old",
            "required": "released",
            "actual": "not released",
            "verdict": "not met",
        },
    ]


def test_no_level_tells_of_fewer_than_k_records(problem):
    few = checked(problem, [0, 1, 1, 2]).build_vector()["coding"]["region"]["records_by_level"]
    assert few == {"level 0": 18, "level 1": 18}
    matrix = np.array([[9], [2], [2]], np.int64)
    counts = ClassCounts.from_matrix((1,), np.arange(1), matrix)
    regions = Regions(tuple("abc"), np.arange(6.0).reshape(3, 2), problem.regions.system)
    small = Problem(regions, counts, 4, ("age",), (Categories("age", ("young",)),), "region")
    assert checked(small, [0, 1, 1]).build_vector()["coding"]["region"]["records_by_level"] == {
        "level 0": 9,
        "level 1": 4,
    }


def test_flags_survive_being_packed():
    flags = np.array([True, False, True] * 7)
    assert unpack_flags(pack_flags(flags), 21).tolist() == flags.tolist()
    assert unpack_flags(pack_flags(flags), 30) is None
    assert unpack_flags("damaged!", 3) is None
    assert unpack_flags("", 1) is None


def test_codes_of_a_class_are_its_categories():
    counts = ClassCounts.from_matrix((2, 3, 4), np.array([0, 5, 23]), np.ones((1, 3), np.int64))
    assert [counts.decode_column(q).tolist() for q in range(3)] == [[0, 0, 1], [0, 1, 2], [0, 1, 3]]
    assert [counts.decode_combination(column) for column in range(3)] == [
        (0, 0, 0),
        (0, 1, 1),
        (1, 2, 3),
    ]


def test_values_are_those_of_the_records_unless_it_is_said_that_they_are_aggregated(problem):
    solution = checked(problem, PAIRS)
    assert solution.build_vector()["sensitive_aggregated"] is False
    assert replace(solution, is_aggregated=True).build_vector()["sensitive_aggregated"] is True
