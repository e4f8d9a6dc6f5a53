"""ADC by differences does what the literal algorithm does, accepted move by accepted move."""

import numpy as np
import pytest
from adc_instances import KINDS, Instance, instance, places
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from literal_adc import LiteralAdc, cross, exact_star

from vbas_desktop.algorithms import adc
from vbas_desktop.algorithms.adc import AdcResult, run_adc
from vbas_desktop.algorithms.kernels import adc_state
from vbas_desktop.algorithms.kernels.spatial_index import sites_in_blocks, star_of, two_nearest
from vbas_desktop.model.counts import ClassCounts
from vbas_desktop.model.progress import NO_PROGRESS, Cancelled


def clustered(problem: Instance, progress=NO_PROGRESS) -> AdcResult:
    width = problem.counts.shape[1]
    counts = ClassCounts.from_matrix((width,), np.arange(width, dtype=np.int64), problem.counts)
    return run_adc(problem.points, counts, problem.sites, problem.k, progress)


def moves_of(result: AdcResult) -> list[tuple[int, int, tuple[float, float]]]:
    return [
        (int(site), int(column), (float(x), float(y)))
        for site, column, (x, y) in zip(
            result.moved_site, result.moved_class, result.moved_to, strict=True
        )
    ]


def compare(problem: Instance) -> int:
    result = clustered(problem)
    literal = LiteralAdc(problem.points, problem.counts, problem.k).run(problem.sites)
    assert moves_of(result) == literal.moves
    assert result.sites.tolist() == literal.sites.tolist()
    assert result.owner.tolist() == literal.owner.tolist()
    assert result.anonymity == literal.anonymity
    assert result.tries == literal.tries
    # The literal algorithm notes the value at the start of every pass.
    assert result.passes == len(literal.values)
    assert all(before < after for before, after in zip(literal.values, literal.values[1:], strict=False))
    assert result.anonymity is None or result.anonymity >= result.anonymity_before
    return result.moves


@st.composite
def instances(draw) -> Instance:
    r = draw(st.integers(1, 80))
    return instance(
        kind=draw(st.sampled_from(KINDS)),
        r=r,
        s=draw(st.integers(1, min(r, 20))),
        classes=draw(st.integers(1, 10)),
        k=draw(st.integers(2, 20)),
        seed=draw(st.integers(0, 2**32)),
        scale=draw(st.sampled_from([1.0, 0.1, 1e5])),
    )


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(instances())
def test_the_accepted_moves_are_those_of_the_literal_algorithm(problem):
    compare(problem)


@pytest.mark.parametrize("kind", KINDS)
def test_accepted_moves_are_the_same_if_class_sizes_are_not_kept_and_slices_are_short(kind, monkeypatch):
    monkeypatch.setattr(adc_state, "MATRIX_BYTES", 0)
    monkeypatch.setattr(adc, "_SLICE", 1)
    for seed in range(3):
        compare(instance(kind, r=60, s=15, classes=6, k=8, seed=seed))


@settings(max_examples=150, deadline=None)
@given(
    st.sampled_from(KINDS), st.integers(1, 40), st.integers(0, 2**32), st.sampled_from([1.0, 0.1, 1e5])
)
def test_the_star_of_a_site_is_that_of_the_definition(kind, number, seed, scale):
    sites = places(kind, number, np.random.default_rng(seed)) * scale
    in_blocks, boxes = sites_in_blocks(sites)
    star = np.zeros(number, np.int64)
    for site in range(min(number, 4)):
        count, bounded = star_of(site, in_blocks, boxes, star)
        corners, closed = exact_star(sites, site)
        found = [tuple(sites[other]) for other in star[:count]]
        assert bounded == closed
        if all(cross(a, sites[site], b) == 0 for a in corners for b in sites):
            assert set(found) <= set(corners)
            assert len(found) == min(1, len(corners))
            continue
        assert sorted(found) == sorted(corners)
        if found:
            start = corners.index(found[0])
            assert found == corners[start:] + corners[:start]
        for other in star[:count]:
            assert other == np.flatnonzero((sites == sites[other]).all(axis=1))[0]


def test_on_a_square_grid_diagonal_neighbours_share_no_edge_of_positive_length():
    sites = np.array([(x, y) for y in range(3) for x in range(3)], float)
    star = np.zeros(9, np.int64)
    count, bounded = star_of(4, *sites_in_blocks(sites), star)
    assert star[:count].tolist() in ([1, 5, 7, 3], [5, 7, 3, 1], [7, 3, 1, 5], [3, 1, 5, 7])
    assert bounded


@settings(max_examples=100, deadline=None)
@given(st.sampled_from(KINDS), st.integers(1, 60), st.integers(0, 2**32))
def test_the_two_nearest_sites_are_those_of_a_full_comparison(kind, number, seed):
    rng = np.random.default_rng(seed)
    sites = places(kind, number, rng)
    in_blocks, boxes = sites_in_blocks(sites)
    for x, y in places(kind, 8, rng):
        dx, dy = x - sites[:, 0], y - sites[:, 1]
        order = np.argsort(dx * dx + dy * dy, kind="stable")
        first, d1, second, d2 = two_nearest(x, y, in_blocks, boxes, int(rng.integers(number)))
        assert first == order[0]
        assert d1 == (dx * dx + dy * dy)[order[0]]
        assert second == (order[1] if number > 1 else -1)
        assert d2 == ((dx * dx + dy * dy)[order[1]] if number > 1 else np.inf)


def test_a_worked_example():
    # Two sites at x = 0 and x = 10; the region at 4 is nearer to the left site. The right region has α = 1 (class 1),
    # its cell is the half-plane beyond 5 and, with two sites, its whole neighbourhood. Its members of class 1 are at 6:
    # moving there wins the region at 4 (distance 2 against 4), which brings 3 more members of class 1, and leaves the
    # left one with 5 and 5. α rises from 1 to 4 and reaches k.
    points = np.array([(0.0, 0.0), (4.0, 0.0), (6.0, 0.0), (10.0, 0.0)])
    counts = np.array([(5, 5), (0, 3), (0, 1), (9, 0)])
    result = clustered(Instance(points, counts, np.array([(0.0, 0.0), (10.0, 0.0)]), k=4))
    assert moves_of(result) == [(1, 1, (6.0, 0.0))]
    assert result.owner.tolist() == [0, 1, 1, 1]
    assert (result.anonymity_before, result.anonymity) == (1, 4)
    assert (result.tries, result.trials, result.passes) == (1, 1, 1)


def test_a_move_may_dissolve_a_region():
    # Sites 0, 2 and 3 own one record each: α = 1 three times. No candidate of 0 and 2 helps. The polygon of site 3 ends
    # at the neighbour (3, 0), whose two records draw it to (2 · 3 + 7) / 3 = 13/3 on the axis; its own point is then
    # nearer to site 2, which has two records afterwards: one region at α is left, and site 3 owns nothing.
    points = np.array([(6.0, 2.0), (3.0, 6.0), (3.0, 0.0), (7.0, 0.0)])
    counts = np.array([(1,), (1,), (2,), (1,)])
    sites = np.array([(6.0, 5.0), (3.0, 0.0), (7.0, 1.0), (7.0, 0.0)])
    problem = Instance(points, counts, sites, k=3)
    assert compare(problem) == 1
    result = clustered(problem)
    assert moves_of(result) == [(3, 0, (13 / 3, 0.0))]
    assert result.owner.tolist() == [2, 0, 1, 2]
    assert result.anonymity == 1


def test_without_records_nothing_moves():
    sites = np.array([(0.0, 0.0), (1.0, 1.0)])
    result = clustered(
        Instance(np.array([(0.0, 0.0), (2.0, 2.0)]), np.zeros((2, 1), np.int64), sites, k=3)
    )
    assert result.sites.tolist() == sites.tolist()
    assert (result.anonymity_before, result.anonymity) == (None, None)
    assert (result.moves, result.tries, result.passes) == (0, 0, 0)


class StopAfter:
    """Raises at the given update."""

    def __init__(self, updates: int) -> None:
        self.left = updates

    def update(self, stage, fraction=None):
        self.left -= 1
        if self.left <= 0:
            raise Cancelled


def test_a_stop_is_obeyed_between_slices(monkeypatch):
    monkeypatch.setattr(adc, "_SLICE", 1)
    problem = instance("uniform", r=60, s=15, classes=6, k=8, seed=1)
    listener = StopAfter(5)
    with pytest.raises(Cancelled):
        clustered(problem, listener)
    assert listener.left == 0
