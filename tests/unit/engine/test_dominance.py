"""Where solutions stand among others, against the definitions."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vbas_desktop.engine.dominance import find_knee, mark_solutions, rank_solutions
from vbas_desktop.model.solution import Solution

BOTH = ("suppressed_records", "place_information_loss")


def solution(id, lost, place, owner=None, records=100, seconds=0.0):
    owner = [0, 1, id + 2] if owner is None else owner
    measures = {"suppressed_records": lost, "place_information_loss": place}
    return Solution(
        id,
        {},
        {},
        3,
        3,
        None,
        np.array(owner, np.int32),
        measures,
        seconds,
        0,
        lost,
        released_records=records - lost,
    )


def of(*prices):
    """One solution for each pair of lost records and lost place, all with partitions of their own."""
    owners = [[0] * (number + 1) + [1] * (len(prices) - number) for number in range(len(prices))]
    return [
        solution(id, *price, owner)
        for id, (price, owner) in enumerate(zip(prices, owners, strict=True), 1)
    ]


def test_the_finest_within_the_limit_is_recommended():
    found = rank_solutions(of((0, 0.9), (1, 0.5), (2, 0.2)), BOTH, 1.0)
    assert [each.recommended for each in found] == [False, True, False]
    assert [each.recommended for each in rank_solutions(of((3, 0.9), (2, 0.5)), BOTH, 1.0)] == [
        False,
        False,
    ]


def test_the_least_penalty_within_the_limit_is_recommended_if_that_is_the_aim():
    made = of((0, 0.9), (1, 0.5), (1, 0.4), (2, 0.2))
    penalties = (0.03, 0.02, 0.04, 0.01)
    aimed = [
        replace(
            each,
            parameters={"site_number": {"aim": "least-loss"}},
            measures={**each.measures, "certainty_penalty": penalty},
        )
        for each, penalty in zip(made, penalties, strict=True)
    ]
    assert [each.recommended for each in rank_solutions(aimed, BOTH, 1.0)] == [False, True, False, False]
    # Beside solutions that aim at the finest regions, the finest one is recommended.
    mixed = [made[0], *aimed[1:]]
    assert [each.recommended for each in rank_solutions(mixed, BOTH, 1.0)] == [False, False, True, False]
    # Without the measure, the solution with the number of sites that was found.
    unrated = [
        replace(each, measures=old.measures, site_count=n)
        for each, old, n in zip(aimed, made, (1, 3, 4, 5), strict=True)
    ]
    assert [each.recommended for each in rank_solutions(unrated, BOTH, 1.0)] == [
        False,
        True,
        False,
        False,
    ]


def test_what_is_beaten_in_both_prices_has_no_star():
    assert [each.pareto for each in rank_solutions(of((0, 0.9), (1, 0.95), (2, 0.2)), BOTH, 1.0)] == [
        True,
        False,
        True,
    ]


def test_equal_partitions_are_found_once_however_their_sites_are_numbered():
    same = [
        solution(4, 1, 0.5, [0, 0, 1]),
        solution(7, 1, 0.5, [5, 5, 2]),
        solution(9, 2, 0.1, [0, 1, 1]),
    ]
    found = mark_solutions(same, BOTH, 1.0)
    assert [each.same_as for each in found] == [None, 4, None]
    assert [each.recommended for each in found] == [True, False, False]


@given(st.lists(st.tuples(st.integers(0, 20), st.integers(0, 20)), max_size=12))
def test_the_knee_is_farthest_from_the_chord_of_the_normalised_front(points):
    front = sorted(
        {p for p in points if not any(q[0] <= p[0] and q[1] <= p[1] and q != p for q in points)}
    )
    found = find_knee(points)
    if len(front) < 3:
        assert found is None
        return
    (x0, y0), (x1, y1) = front[0], front[-1]
    away = {p: ((y0 - p[1]) / (y0 - y1) - (p[0] - x0) / (x1 - x0)) / math.sqrt(2) for p in front}
    if max(away.values()) < 1e-12:
        assert found is None
    else:
        assert away[points[found]] == pytest.approx(max(away.values()))
