"""Pieces joined to neighbours, on a graph in which islands are bridged."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.unit.algorithms.test_boundaries import naive_pieces
from vbas_desktop.algorithms.nearest_site import weighted_centroids
from vbas_desktop.algorithms.region_graph import bridge_islands, reassign_detached_pieces

LINE = np.array([(x, 0.0) for x in range(6)])
CHAIN = np.array([(i, i + 1) for i in range(5)], np.int32)


def join(owner, pairs=CHAIN, points=LINE, centres=LINE, population=None):
    population = np.ones(len(points), np.int64) if population is None else np.array(population)
    return reassign_detached_pieces(
        np.array(owner, np.int32), pairs, points, centres, population
    ).tolist()


def test_what_is_in_one_piece_stays_as_it_is():
    assert join([0, 0, 1, 1, 2, 2]) == [0, 0, 1, 1, 2, 2]


def test_the_smaller_piece_goes_to_the_neighbour_whose_centre_is_nearer():
    # Region 3 is the scattered piece of group 0: it touches group 1 (centre at 2) and group 2 (centre at 4.5).
    centres = np.array([(0.5, 0.0), (2.0, 0.0), (4.5, 0.0)])
    assert join([0, 0, 1, 0, 2, 2], centres=centres) == [0, 0, 1, 1, 2, 2]


def test_the_more_populous_piece_is_kept_though_it_has_fewer_regions():
    assert join([0, 0, 1, 1, 1, 0], population=[1, 1, 1, 1, 1, 9]) == [1, 1, 1, 1, 1, 0]


def test_of_equal_pieces_the_first_in_the_file_is_kept():
    assert join([0, 1, 1, 1, 0, 1]) == [0, 1, 1, 1, 1, 1]


def test_an_island_gets_one_bridge_over_the_shortest_gap():
    points = np.array([(0.0, 0.0), (1.0, 0.0), (9.0, 0.0), (9.0, 1.0), (30.0, 0.0)])
    graph, bridges = bridge_islands(np.array([(0, 1), (2, 3)], np.int32), points)
    assert graph.tolist() == [[0, 1], [1, 2], [2, 3], [2, 4]]
    assert bridges == 2
    assert bridge_islands(CHAIN, LINE)[0] is CHAIN


def test_middles_are_the_mean_points():
    assert weighted_centroids(LINE, np.array([0, 0, 2, 2, 2, 2])).tolist() == [
        [0.5, 0.0],
        [0.0, 0.0],
        [3.5, 0.0],
    ]


@st.composite
def graphs(draw):
    """Any graph on up to 12 points, with any owners: islands, empty groups and all."""
    number = draw(st.integers(1, 12))
    pair = st.tuples(st.integers(0, number - 1), st.integers(0, number - 1))
    pairs = sorted({(min(p), max(p)) for p in draw(st.lists(pair, max_size=20)) if p[0] != p[1]})
    coordinate = st.integers(0, 6).map(float)
    points = np.array(
        draw(st.lists(st.tuples(coordinate, coordinate), min_size=number, max_size=number))
    )
    owner = np.array(draw(st.lists(st.integers(0, 4), min_size=number, max_size=number)), np.int32)
    population = np.array(draw(st.lists(st.integers(0, 3), min_size=number, max_size=number)))
    return np.array(pairs, np.int32).reshape(-1, 2), points, owner, population


@settings(max_examples=150, deadline=None)
@given(graphs())
def test_afterwards_every_group_is_in_one_piece_and_none_is_gone(case):
    pairs, points, owner, population = case
    graph, bridges = bridge_islands(pairs, points)
    assert len(graph) == len(pairs) + bridges
    assert naive_pieces(np.zeros(len(points), int), graph) == {0: 1}
    joined = reassign_detached_pieces(owner, graph, points, np.resize(points, (5, 2)), population)
    assert set(naive_pieces(joined, graph).values()) == {1}
    assert set(joined.tolist()) == set(owner.tolist())
