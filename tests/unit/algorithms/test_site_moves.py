"""Sites moved by annealing: owners are the nearest sites, sums are exact, the guard holds."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.problem_making import problems
from tests.unit.algorithms.test_boundaries import naive_suppressed, squares_of
from vbas_desktop.algorithms.adjacency import neighbours
from vbas_desktop.algorithms.annealing import Limits
from vbas_desktop.algorithms.nearest import nearest_sites
from vbas_desktop.algorithms.partition import Total, new_partition
from vbas_desktop.algorithms.site_moves import _places, advance, move_sites


@st.composite
def starts(draw):
    problem = draw(problems(most_regions=14))
    regions = len(problem.regions)
    chosen = draw(st.permutations(range(regions)))[: draw(st.integers(1, regions))]
    sites = problem.regions.points[chosen] + draw(st.sampled_from([0.0, 0.25]))
    owner = nearest_sites(problem.regions.points, sites)
    pairs = neighbours(problem.regions)
    return problem, pairs, sites, owner


def partition_of(start):
    problem, pairs, sites, owner = start
    return new_partition(problem.counts, problem.regions.points, pairs, owner, sites, problem.k)


@settings(max_examples=60, deadline=None)
@given(starts(), st.integers(0, 2**32), st.sampled_from([0.0, 1.0, 50.0]))
def test_after_every_move_owners_are_the_nearest_sites_and_s_is_that_from_scratch(start, seed, temperature):
    problem = start[0]
    p = partition_of(start)
    places, draws = _places(p), np.array([seed], np.uint64)
    limits = Limits(2 * int(p.totals[Total.SQUARES]), 1.5 * float(p.distance[0]) + 1, 0.01, temperature)
    used = set(p.owner.tolist())
    for _ in range(30):
        moves = int(p.totals[Total.MOVES])
        advance(p, places, limits, draws, 1, 10**9)
        assert p.totals[Total.MOVES] - moves in (0, 1)
        assert p.owner.tolist() == nearest_sites(problem.regions.points, p.centres).tolist()
        assert p.totals[Total.SUPPRESSED] == naive_suppressed(problem.counts, p.owner, problem.k)
        assert p.totals[Total.SQUARES] == squares_of(problem.counts.region_totals, p.owner) <= limits.squares
        away = np.hypot(*(problem.regions.points - p.centres[p.owner]).T).sum()
        assert p.distance[0] == pytest.approx(away)
        assert set(p.owner.tolist()) >= used


@settings(max_examples=30, deadline=None)
@given(starts(), st.integers(0, 5))
def test_the_result_obeys_the_guard_and_is_never_worse_than_the_start(start, seed):
    problem = start[0]
    points, populations = problem.regions.points, problem.counts.region_totals
    p = partition_of(start)
    first, squares, distance = int(p.totals[Total.SUPPRESSED]), int(p.totals[Total.SQUARES]), float(p.distance[0])
    found = move_sites(p, 300, seed, 0.1, 1.0)
    assert found.owner.tolist() == nearest_sites(points, found.centres).tolist()
    assert found.suppressed == naive_suppressed(problem.counts, found.owner, problem.k) <= first
    assert squares_of(populations, found.owner) <= squares
    assert np.hypot(*(points - found.centres[found.owner]).T).sum() <= distance * (1 + 1e-9) + 1e-9
    again = move_sites(partition_of(start), 300, seed, 0.1, 1.0)
    assert again.centres.tolist() == found.centres.tolist()
