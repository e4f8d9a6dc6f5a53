"""Sites moved by annealing: owners are the nearest sites, sums are exact, the guard holds."""

from itertools import combinations_with_replacement

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.problem_making import problems
from tests.unit.algorithms.test_boundaries import grid_problem, naive_bits, naive_suppressed, squares_of
from vbas_desktop.algorithms import annealing
from vbas_desktop.algorithms.annealing import (
    AnnealingOptions,
    SiteCountBounds,
    SiteGuard,
    _build_site_search,
    find_remote_point,
    move_sites,
)
from vbas_desktop.algorithms.kernels import annealing as kernels
from vbas_desktop.algorithms.kernels.annealing import AnnealingBounds
from vbas_desktop.algorithms.kernels.partition_state import AnnealingData, Total, build_partition_state
from vbas_desktop.algorithms.nearest_site import find_nearest_sites
from vbas_desktop.algorithms.region_graph import find_neighbours


@st.composite
def starts(draw):
    problem = draw(problems(most_regions=14))
    regions = len(problem.regions)
    chosen = draw(st.permutations(range(regions)))[: draw(st.integers(1, regions))]
    sites = problem.regions.points[chosen] + draw(st.sampled_from([0.0, 0.25]))
    owner = find_nearest_sites(problem.regions.points, sites)
    pairs = find_neighbours(problem.regions)
    return problem, pairs, sites, owner


def partition_of(start):
    problem, pairs, sites, owner = start
    return build_partition_state(
        AnnealingData(problem.counts, problem.regions.points, pairs, problem.k), owner, sites
    )


@settings(max_examples=60, deadline=None)
@given(starts(), st.integers(0, 2**32), st.sampled_from([0.0, 1.0, 50.0]), st.booleans())
def test_after_every_move_owners_are_the_nearest_sites_and_s_is_that_from_scratch(
    start, seed, temperature, leaving
):
    problem = start[0]
    p = partition_of(start)
    places, draws = _build_site_search(p), np.array([seed], np.uint64)
    limits = AnnealingBounds(
        2 * int(p.totals[Total.SQUARES]),
        1.5 * float(p.distance[0]) + 1,
        1.2 * float(p.bits[0]) + 1,
        0.01,
        temperature,
    )._replace(leaving=leaving)
    used = set(p.owner.tolist())
    for _ in range(30):
        moves = int(p.totals[Total.MOVES])
        kernels.move_sites(p, places, limits, draws, 1, 10**9)
        assert p.totals[Total.MOVES] - moves in (0, 1)
        assert p.owner.tolist() == find_nearest_sites(problem.regions.points, p.centres).tolist()
        assert p.totals[Total.SUPPRESSED] == naive_suppressed(problem.counts, p.owner, problem.k)
        assert (
            p.totals[Total.SQUARES]
            == squares_of(problem.counts.region_totals, p.owner)
            <= limits.squares
        )
        away = np.hypot(*(problem.regions.points - p.centres[p.owner]).T).sum()
        assert p.distance[0] == pytest.approx(away)
        assert p.bits[0] == pytest.approx(naive_bits(problem.counts, p.owner, problem.k), abs=1e-9)
        assert p.bits[0] <= limits.bits
        assert set(p.owner.tolist()) >= used or leaving
        assert p.totals[Total.GROUPS] == len(set(p.owner.tolist()))


@settings(max_examples=30, deadline=None)
@given(starts(), st.integers(0, 5), st.sampled_from([1.0, 1.2]), st.booleans())
def test_the_result_obeys_the_guard_and_is_never_worse_than_the_start(start, seed, larger, leaving):
    problem = start[0]
    points, populations = problem.regions.points, problem.counts.region_totals
    p = partition_of(start)
    first, squares, distance = (
        int(p.totals[Total.SUPPRESSED]),
        int(p.totals[Total.SQUARES]),
        float(p.distance[0]),
    )
    bits = 1.015 * float(p.bits[0])
    found = move_sites(
        p, AnnealingOptions(300, seed, 0.1), SiteGuard(1.0, 1.015, larger=larger, leaving=leaving)
    )
    assert found.owner.tolist() == find_nearest_sites(points, found.centres).tolist()
    assert found.suppressed == naive_suppressed(problem.counts, found.owner, problem.k) <= first
    assert squares_of(populations, found.owner) <= larger * squares
    assert np.hypot(*(points - found.centres[found.owner]).T).sum() <= distance * (1 + 1e-9) + 1e-9
    assert naive_bits(problem.counts, found.owner, problem.k) <= bits * (1 + 1e-9) + 1e-9
    again = move_sites(
        partition_of(start),
        AnnealingOptions(300, seed, 0.1),
        SiteGuard(1.0, 1.015, larger=larger, leaving=leaving),
    )
    assert again.centres.tolist() == found.centres.tolist()


def test_uneven_populations_are_made_use_of_where_they_are_allowed():
    points, counts, pairs, _ = grid_problem(5, side=12, classes=12)
    sites = points[::9]
    owner = find_nearest_sites(points, sites)
    squares, found = squares_of(counts.region_totals, owner), {}
    for larger in (1.0, 1.3):
        p = build_partition_state(AnnealingData(counts, points, pairs, 20), owner, sites)
        result = move_sites(p, AnnealingOptions(4000, 1, 0.0), SiteGuard(np.inf, np.inf, larger=larger))
        found[larger] = result.suppressed
        assert squares_of(counts.region_totals, result.owner) <= larger * squares
        assert len(set(result.owner.tolist())) == len(set(owner.tolist()))
    assert squares_of(counts.region_totals, result.owner) > squares
    assert found[1.3] < found[1.0]


def test_sites_leave_where_more_even_regions_suppress_less():
    points, counts, pairs, _ = grid_problem(5, side=12, classes=12)
    # Sites crowded in a corner: few regions have most of the people.
    sites = points[np.lexsort((points.sum(axis=1),))][:16]
    owner = find_nearest_sites(points, sites)
    squares, found = squares_of(counts.region_totals, owner), {}
    for leaving in (False, True):
        p = build_partition_state(AnnealingData(counts, points, pairs, 20), owner, sites)
        found[leaving] = move_sites(
            p, AnnealingOptions(4000, 1, 0.0), SiteGuard(np.inf, np.inf, leaving=leaving)
        )
        assert squares_of(counts.region_totals, found[leaving].owner) <= squares
    number = {leaving: len(set(result.owner.tolist())) for leaving, result in found.items()}
    assert number[True] < number[False] == len(set(owner.tolist()))
    assert found[True].suppressed < found[False].suppressed


def test_blocks_of_sites_made_anew_change_nothing(monkeypatch):
    points, counts, pairs, _ = grid_problem(5, side=12, classes=12)
    sites, found = points[::5], []
    for often in (1, 10**9):
        monkeypatch.setattr(annealing, "_REORDERED", often)
        p = build_partition_state(
            AnnealingData(counts, points, pairs, 20), find_nearest_sites(points, sites), sites
        )
        result = move_sites(
            p, AnnealingOptions(2000, 1, 0.0), SiteGuard(np.inf, np.inf, larger=1.5, leaving=True)
        )
        found.append((result.centres.tolist(), result.owner.tolist(), result.moves))
        assert len(set(result.owner.tolist())) < len(sites)
    assert found[0] == found[1]


def with_idle_sites(start, extra):
    """The same start with sites that attract nothing yet."""
    problem, pairs, sites, owner = start
    idle = np.tile(find_remote_point(problem.regions.points), (extra, 1))
    return problem, pairs, np.vstack([sites, idle]), owner


@settings(max_examples=60, deadline=None)
@given(
    starts(), st.integers(0, 2**32), st.integers(0, 60), st.integers(1, 4), st.sampled_from([0.0, 5.0])
)
def test_sites_come_within_the_allowed_loss_and_go_above_it(start, seed, allowed, fewest, temperature):
    problem = start[0]
    p = partition_of(with_idle_sites(start, 3))
    places, draws, groups = (
        _build_site_search(p),
        np.array([seed], np.uint64),
        len(set(p.owner.tolist())),
    )
    squares, most = int(p.totals[Total.SQUARES]), groups + 2
    limits = AnnealingBounds(
        squares, np.inf, np.inf, 0.0, temperature, groups, min(fewest, groups), most, allowed
    )
    for _ in range(60):
        number, lost = len(set(p.owner.tolist())), int(p.totals[Total.SUPPRESSED])
        kernels.move_sites(p, places, limits, draws, 1, 10**9)
        now, suppressed = (
            len(set(p.owner.tolist())),
            naive_suppressed(problem.counts, p.owner, problem.k),
        )
        assert p.totals[Total.GROUPS] == now
        assert p.totals[Total.SUPPRESSED] == suppressed
        assert p.owner.tolist() == find_nearest_sites(problem.regions.points, p.centres).tolist()
        assert squares_of(problem.counts.region_totals, p.owner) <= squares * max(1.0, groups / now) ** 2
        assert limits.fewest <= now <= most
        if now > number:
            assert suppressed <= allowed
        if now < number and temperature == 0.0:
            assert suppressed <= lost


def test_the_number_of_sites_follows_the_allowed_loss():
    points, counts, pairs, _ = grid_problem(3, side=12, classes=12)
    sites = points[::9]
    owner = find_nearest_sites(points, sites)
    found = {}
    for allowed in (0, 60, 10**6):
        seeds = np.vstack([sites, np.tile(find_remote_point(points), (8, 1))])
        p = build_partition_state(AnnealingData(counts, points, pairs, 9), owner, seeds)
        groups = int(p.totals[Total.GROUPS])
        result = move_sites(
            p,
            AnnealingOptions(4000, 1, 0.0),
            SiteGuard(np.inf, np.inf, change=SiteCountBounds(2, groups + 8, allowed)),
        )
        found[allowed] = len(set(result.owner.tolist()))
        assert result.suppressed == naive_suppressed(counts, result.owner, 9)
        used = np.unique(result.owner)
        again = find_nearest_sites(points, result.centres[used])
        assert used[again].tolist() == result.owner.tolist()
        assert result.suppressed <= allowed or found[allowed] == 2
    assert found[10**6] == groups + 8
    assert 2 <= found[0] < found[60] < found[10**6]


def test_on_nine_regions_two_sites_come_to_the_best_of_all_pairs_of_places_or_near_it():
    gaps = []
    for number in range(6):
        points, counts, pairs, _ = grid_problem(number)
        k, start = 9, np.array([(0.0, 1.0), (1.5, 1.0)])
        owner = find_nearest_sites(points, start)
        limit = squares_of(counts.region_totals, owner)
        # Every pair of places of a fine grid; cells that coincide are looked at once.
        steps = np.linspace(-0.9, 2.9, 12)
        away = ((points[:, None] - np.array([(x, y) for x in steps for y in steps])[None]) ** 2).sum(
            axis=2
        )
        cells = {
            tuple((away[:, a] > away[:, b]).astype(int))
            for a in range(144)
            for b in range(144)
            if a != b
        }
        best = min(
            naive_suppressed(counts, np.array(cell), k)
            for cell in cells
            if 0 < sum(cell) < 9 and squares_of(counts.region_totals, np.array(cell)) <= limit
        )
        runs = [
            move_sites(
                build_partition_state(AnnealingData(counts, points, pairs, k), owner, start),
                AnnealingOptions(4000, seed, 0.0),
                SiteGuard(1e9, 1e9),
            ).suppressed
            for seed in range(4)
        ]
        gaps.append(max(0, min(runs) - best))
    # The guard holds after every move, which closes some ways: the gap is two records at most.
    assert max(gaps) <= 2
    assert gaps.count(0) >= 2


def test_on_nine_regions_sites_that_may_leave_come_to_the_best_of_one_to_three_places_or_near_it():
    gaps, numbers = [], set()
    steps = np.linspace(-0.9, 2.9, 7)
    for number in range(6):
        points, counts, pairs, _ = grid_problem(number)
        k, start = 9, np.array([(0.0, 0.0), (2.0, 0.0), (1.0, 1.2)])
        owner = find_nearest_sites(points, start)
        limit = 1.5 * squares_of(counts.region_totals, owner)
        away = ((points[:, None] - np.array([(x, y) for x in steps for y in steps])[None]) ** 2).sum(
            axis=2
        )
        places = np.array(list(combinations_with_replacement(range(49), 3)))
        cells = np.unique(np.argmin(away[:, places], axis=2), axis=1).T
        allowed = [cell for cell in cells if squares_of(counts.region_totals, cell) <= limit]
        best, wanted = min(
            (naive_suppressed(counts, cell, k), len(set(cell.tolist()))) for cell in allowed
        )
        runs = [
            move_sites(
                build_partition_state(AnnealingData(counts, points, pairs, k), owner, start),
                AnnealingOptions(4000, seed, 0.0),
                SiteGuard(1e9, 1e9, larger=1.5, leaving=True),
            )
            for seed in range(4)
        ]
        reached = min(runs, key=lambda run: run.suppressed)
        assert len(set(reached.owner.tolist())) == wanted
        gaps.append(max(0, reached.suppressed - best))
        numbers.add(wanted)
    # The number of regions is the best one's; the gap, for the same reason as above, two records at most.
    assert numbers == {2, 3}
    assert max(gaps) <= 2
    assert gaps.count(0) >= 3
