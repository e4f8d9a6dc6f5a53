"""Ways out of a loss: what one region of all would lose with a column less, or with coarser values of one."""

from __future__ import annotations

import numpy as np
import pytest

from vbas_desktop.engine.ways_out import find_ways_out
from vbas_desktop.model.counts import ClassCounts
from vbas_desktop.model.problem import Problem
from vbas_desktop.model.records import Categories, ColumnFacts

AGE = Categories("age", ("10", "20", "30", "40"))
SEX = Categories("sex", ("f", "m"))


@pytest.fixture
def problem():
    """Two regions; of age × sex there are 3, 1, 2, 1, 1, 1, 1 and 1 records, and 2 of unknown regions."""
    matrix = np.array([[2, 1, 1, 0, 1, 0, 1, 0], [1, 0, 1, 1, 0, 1, 0, 1]], np.int64)
    counts = ClassCounts.from_matrix((4, 2), np.arange(8), matrix)
    return Problem(None, counts, 3, ("age", "sex"), (AGE, SEX), "tract", unknown_region_records=2)


def facts():
    return {"age": ColumnFacts("age", 4, 0, True, AGE, np.array([4, 3, 2, 2]))}


def test_one_region_of_all_loses_the_combinations_below_k_and_the_unknown_regions(problem):
    assert find_ways_out(problem, {}, 0).suppressed == 8 + 2


def test_a_column_that_is_left_out_joins_its_combinations(problem):
    ways = find_ways_out(problem, {}, 3)
    # By sex 7 and 4 records; by age 4, 3, 2 and 2.
    assert {way.column: way.suppressed for way in ways.omissions} == {"age": 2, "sex": 4 + 2}
    assert ways.cheapest is ways.omission
    assert ways.cheapest.column == "age"


def test_of_the_proposed_groupings_the_coarsest_is_kept_if_none_is_within_the_limit(problem):
    (way,) = find_ways_out(problem, facts(), 6).groupings
    # 10-20 and 30-40: 5, 2, 2 and 2 records.
    assert way.groups == {"10": "10-20", "20": "10-20", "30": "30-40", "40": "30-40"}
    assert way.suppressed == 6 + 2
    assert way.detail == 0.5


def test_nothing_is_the_cheapest_if_no_single_change_is_enough(problem):
    assert find_ways_out(problem, facts(), 1).cheapest is None


def test_the_only_column_cannot_be_left_out():
    counts = ClassCounts.from_matrix((4,), np.arange(4), np.array([[4, 1, 1, 1]], np.int64))
    problem = Problem(None, counts, 2, ("age",), (AGE,), "tract")
    ways = find_ways_out(problem, facts(), 0)
    assert ways.omissions == ()
    assert ways.suppressed == 3
    assert ways.cheapest.suppressed == 0
