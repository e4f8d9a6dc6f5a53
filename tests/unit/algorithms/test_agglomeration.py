"""Larger areas made of neighbouring ones."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from vbas_desktop.algorithms.region_graph import bridge_components, find_point_neighbours
from vbas_desktop.algorithms.region_nesting import nest_regions


def grid(width, height):
    points = np.array([(x, y) for y in range(height) for x in range(width)], float)
    right = [(i, i + 1) for i in range(len(points)) if i % width < width - 1]
    up = [(i, i + width) for i in range(len(points) - width)]
    return points, np.array(sorted(right + up), np.int32)


def pieces_of(pairs, members):
    inside = [(one, other) for one, other in pairs.tolist() if one in members and other in members]
    number = {member: i for i, member in enumerate(sorted(members))}
    ends = [(number[one], number[other]) for one, other in inside] or [(0, 0)]
    one, other = zip(*ends, strict=True)
    graph = coo_array((np.ones(len(ends)), (one, other)), shape=(len(number), len(number)))
    return connected_components(graph, directed=False)[0]


def test_a_grid_is_tiled_tier_by_tier_with_contiguous_places_of_about_the_same_size():
    points, pairs = grid(20, 20)
    tiers = nest_regions(points, pairs, 8)
    assert [int(parent.max()) + 1 for parent in tiers] == [50, 6, 1]
    membership = np.arange(400)
    for parent in tiers:
        assert parent.max() == 0 or np.bincount(parent).max() <= 12
        membership = parent[membership]
        for place in range(parent.max() + 1):
            assert pieces_of(pairs, set(np.flatnonzero(membership == place).tolist())) == 1
    first = tiers[0]
    assert (np.bincount(first).min(), np.bincount(first).max()) == (8, 8)
    # Compact: a place of 8 cells in a row would be 7 wide; no place is wider than 5.
    for place in range(50):
        assert np.ptp(points[first == place], axis=0).max() <= 5


def test_parents_are_numbered_by_their_first_places_and_every_run_gives_the_same():
    points, pairs = grid(9, 7)
    one, other = nest_regions(points, pairs, 5), nest_regions(points, pairs, 5)
    for left, right in zip(one, other, strict=True):
        assert left.tolist() == right.tolist()
        firsts = [left.tolist().index(place) for place in range(left.max() + 1)]
        assert firsts == sorted(firsts)


def test_few_places_lie_directly_in_the_whole_area():
    points, pairs = grid(5, 1)
    assert [parent.tolist() for parent in nest_regions(points, pairs, 2)] == [[0, 0, 1, 1, 2], [0, 0, 0]]
    assert [parent.tolist() for parent in nest_regions(points, pairs, 4)] == [[0] * 5]
    assert [parent.tolist() for parent in nest_regions(points[:1], pairs[:0], 4)] == [[0]]


def test_islands_belong_to_the_nearest_coast():
    points = np.array([(0, 0), (1, 0), (5, 0), (6, 0), (100, 0)], float)
    pairs = np.array([(0, 1), (2, 3)], np.int32)
    assert bridge_components(points, pairs).tolist() == [[0, 1], [1, 2], [2, 3], [3, 4]]
    assert bridge_components(points, pairs[:0]).tolist() == [[0, 1], [1, 2], [2, 3], [3, 4]]


def test_places_that_nearly_coincide_are_joined_though_no_triangle_has_them(monkeypatch):
    monkeypatch.setattr(
        "vbas_desktop.algorithms.region_graph.find_point_neighbours",
        lambda points: np.zeros((0, 2), int),
    )
    points = np.array([(0, 0), (1, 0), (1, 1e-17)], float)
    assert bridge_components(points, np.array([(0, 1)], np.int32)).tolist() == [[0, 1], [0, 2]]
    assert [parent.tolist() for parent in nest_regions(points, np.zeros((0, 2), np.int32), 3)] == [
        [0, 0, 0]
    ]


@settings(max_examples=60, deadline=None)
@given(
    points=st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), min_size=1, max_size=40),
    factor=st.integers(2, 8),
)
def test_whatever_the_points_every_place_has_a_parent_and_every_parent_a_child(points, factor):
    places = np.array(points, float)
    pairs = find_point_neighbours(places)
    tiers = nest_regions(places, pairs, factor)
    number, membership = len(places), np.arange(len(places))
    for parent in tiers:
        assert len(parent) == number
        number = int(parent.max()) + 1
        assert set(parent.tolist()) == set(range(number))
        membership = parent[membership]
        for place in range(number):
            assert pieces_of(pairs, set(np.flatnonzero(membership == place).tolist())) == 1
    assert number == 1
