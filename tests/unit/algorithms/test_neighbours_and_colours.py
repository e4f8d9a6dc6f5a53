"""Neighbours, pieces and colours of regions."""

import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial import Delaunay
from shapely import MultiPolygon, box

from vbas_desktop.algorithms.map_colouring import assign_colours, recolour
from vbas_desktop.algorithms.nearest_site import unique_pairs
from vbas_desktop.algorithms.region_graph import (
    contract_graph,
    count_pieces,
    find_neighbours,
    find_point_neighbours,
    find_polygon_neighbours,
)
from vbas_desktop.algorithms.weak_cache import cached_per_object
from vbas_desktop.model.regions import CoordinateKind, CoordinateSystem, Regions


def shapes_of(polygons):
    shapes = np.empty(len(polygons), object)
    shapes[:] = polygons
    return shapes


def regions_of(polygons):
    points = np.array([(polygon.centroid.x, polygon.centroid.y) for polygon in polygons])
    names = tuple(str(i) for i in range(len(polygons)))
    return Regions(names, points, CoordinateSystem(CoordinateKind.PLANAR), shapes_of(polygons))


SQUARES = [box(x, y, x + 1, y + 1) for y in range(2) for x in range(3)]


def test_polygons_with_a_common_border_are_neighbours_and_corners_do_not_count():
    expected = [[0, 1], [0, 3], [1, 2], [1, 4], [2, 5], [3, 4], [4, 5]]
    assert find_polygon_neighbours(shapes_of(SQUARES)).tolist() == expected


def test_borders_with_other_vertices_are_found_and_overlaps_settled_first():
    # The overlap of the second and fourth box goes to the second, which leaves the third and fourth only a corner.
    shapes = shapes_of(
        [box(0, 0, 1, 2), box(1, 0, 2, 1), box(1, 1, 2, 2), box(1.9, 0, 3, 1), box(9, 9, 10, 10)]
    )
    assert find_polygon_neighbours(shapes).tolist() == [[0, 1], [0, 2], [1, 2], [1, 3]]


def test_parts_of_a_multipolygon_are_one_region():
    shapes = shapes_of(
        [MultiPolygon([box(0, 0, 1, 1), box(2, 0, 3, 1)]), box(1, 0, 2, 1), box(3, 0, 4, 1)]
    )
    assert find_polygon_neighbours(shapes).tolist() == [[0, 1], [0, 2]]


def test_points_on_a_line_and_at_one_place_form_chains():
    line = np.array([[0.0, 0.0], [2.0, 2.0], [1.0, 1.0]])
    assert find_point_neighbours(line).tolist() == [[0, 2], [1, 2]]
    assert find_point_neighbours(np.ones((3, 2))).tolist() == [[0, 1], [1, 2]]
    assert find_point_neighbours(np.ones((1, 2))).shape == (0, 2)


@given(st.integers(3, 60), st.integers(0, 2**32 - 1))
@settings(max_examples=40, deadline=None)
def test_points_are_neighbours_where_the_triangulation_joins_them(number, seed):
    points = np.random.default_rng(seed).random((number, 2))
    expected = {
        tuple(sorted((a, b)))
        for t in Delaunay(points).simplices.tolist()
        for a in t
        for b in t
        if a != b
    }
    assert set(map(tuple, find_point_neighbours(points).tolist())) == expected


def test_pieces_are_counted_through_common_borders():
    regions = regions_of(SQUARES)
    assert count_pieces(regions, np.array([0, 1, 0, 1, 1, 0])).tolist() == [2, 1]
    assert count_pieces(regions, np.zeros(6, np.int32)).tolist() == [1]
    assert count_pieces(regions, np.array([0, 1, 2, 3, 4, 5])).tolist() == [1] * 6
    assert count_pieces(regions, np.array([0, 1, 0, 1, 0, 1])).tolist() == [3, 3]


@given(st.integers(1, 40), st.integers(1, 5), st.integers(0, 2**32 - 1))
@settings(max_examples=40, deadline=None)
def test_pieces_agree_with_a_plain_flood_fill(number, groups, seed):
    chance = np.random.default_rng(seed)
    points = chance.integers(0, 9, (number, 2)).astype(float)
    membership = np.unique(chance.integers(0, groups, number), return_inverse=True)[1]
    regions = Regions(tuple(map(str, range(number))), points, CoordinateSystem(CoordinateKind.PLANAR))
    pairs = find_neighbours(regions).tolist()
    left, found = set(range(number)), np.zeros(membership.max() + 1, int)
    while left:
        front = [left.pop()]
        found[membership[front[0]]] += 1
        while front:
            here = front.pop()
            near = {a + b - here for a, b in pairs if here in (a, b)}
            reached = {each for each in near & left if membership[each] == membership[here]}
            left -= reached
            front += reached
    assert count_pieces(regions, membership).tolist() == found.tolist()


def test_groups_are_neighbours_if_members_are():
    pairs = find_polygon_neighbours(shapes_of(SQUARES))
    assert contract_graph(pairs, np.array([0, 0, 1, 2, 2, 1])).tolist() == [[0, 1], [0, 2], [1, 2]]


@given(st.integers(1, 120), st.integers(0, 2**32 - 1), st.sampled_from([8, 10, 12]))
@settings(max_examples=60, deadline=None)
def test_neighbours_never_share_a_colour(number, seed, colours):
    pairs = find_point_neighbours(np.random.default_rng(seed).random((number, 2)))
    colour = assign_colours(number, pairs, colours)
    assert colour.min() >= 0
    assert colour.max() < colours
    assert (colour[pairs[:, 0]] != colour[pairs[:, 1]]).all()
    assert (colour == assign_colours(number, pairs, colours)).all()


def test_the_colours_are_used_about_equally():
    pairs = find_point_neighbours(np.random.default_rng(1).random((500, 2)))
    used = np.bincount(assign_colours(500, pairs, 10), minlength=10)
    assert used.min() >= 40


@given(st.integers(1, 80), st.integers(0, 2**32 - 1))
@settings(max_examples=40, deadline=None)
def test_wanted_colours_are_kept_where_neighbours_allow_it(number, seed):
    chance = np.random.default_rng(seed)
    pairs = find_point_neighbours(chance.random((number, 2)))
    wanted = chance.integers(-1, 12, number)
    colour = recolour(wanted, pairs, 12)
    assert colour.min() >= 0
    assert (colour[pairs[:, 0]] != colour[pairs[:, 1]]).all()
    for region in np.flatnonzero((wanted >= 0) & (colour != wanted)):
        near = pairs[(pairs == region).any(axis=1)].ravel()
        assert any(colour[each] == wanted[region] for each in near if each < region)


def test_a_proper_colouring_that_is_wanted_stays_as_it_is():
    pairs = find_point_neighbours(np.random.default_rng(4).random((60, 2)))
    proper = assign_colours(60, pairs, 12)
    assert recolour(proper, pairs, 12).tolist() == proper.tolist()


def test_neighbours_share_a_colour_only_if_there_are_too_few():
    triangle = np.array([[0, 1], [0, 2], [1, 2]], np.int32)
    assert sorted(assign_colours(3, triangle, 2).tolist()) == [0, 0, 1]
    everybody = np.array([(one, other) for other in range(30) for one in range(other)], np.int32)
    assert np.bincount(assign_colours(30, everybody, 10)).tolist() == [3] * 10
    assert sorted(assign_colours(3, triangle, 3).tolist()) == [0, 1, 2]


def test_threads_that_ask_at_once_wait_for_one_search():
    class Asked:
        """Something that can be referred to weakly."""

    searches, begun, go = [], threading.Event(), threading.Event()

    @cached_per_object
    def find(asked):
        searches.append(asked)
        begun.set()
        assert go.wait(30)
        return len(searches)

    asked, other = Asked(), Asked()
    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(find, asked)
        assert begun.wait(30)
        second = pool.submit(find, asked)
        go.set()
        assert (first.result(30), second.result(30)) == (1, 1)
    assert find(other) == 2
    assert find(asked) == 1


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), max_size=60))
def test_distinct_pairs_are_those_of_a_set(pairs):
    one, other = np.array(pairs, np.int64).reshape(-1, 2).T
    assert unique_pairs(one, other).tolist() == [list(pair) for pair in sorted(set(pairs))]
