"""Shortest ways around obstacles: exact values, and the slow way on random instances."""

import numpy as np
import pytest
import shapely
from shapely import LineString, Polygon, box

from tests.unit.algorithms.naive_ways import HAIR, naive_distances
from vbas_desktop.algorithms import geodesic as distances
from vbas_desktop.algorithms.geodesic import assign_around_obstacles
from vbas_desktop.algorithms.geodesic_mesh import Barriers, build_barriers
from vbas_desktop.algorithms.nearest_site import find_nearest_sites
from vbas_desktop.model.progress import Cancelled


def walls(*shapes):
    return build_barriers(np.array(shapes, object))


def around(obstacles, points, sites):
    return assign_around_obstacles(obstacles, np.array(points, float), np.array(sites, float))


def random_instance(seed):
    """Polygons, some over each other, and lines, some through polygons and through each other; free points."""
    rng = np.random.default_rng(seed)
    shapes = []
    for _ in range(rng.integers(1, 5)):
        corners = rng.integers(3, 7)
        angles, radii = np.sort(rng.random(corners) * 2 * np.pi), rng.random(corners) * 2 + 0.3
        middle = rng.random(2) * 10
        shapes.append(
            Polygon(middle + np.column_stack((radii * np.cos(angles), radii * np.sin(angles))))
        )
    shapes += [LineString(rng.random((rng.integers(2, 4), 2)) * 10) for _ in range(rng.integers(0, 3))]
    if seed % 5 == 0:
        shapes.append(LineString([(3, 3), (7, 3), (7, 7), (3, 7), (3, 3.2)]))
    found = build_barriers(np.array(shapes, object))
    points, sites = rng.random((12, 2)) * 10, rng.random((4, 2)) * 10
    return found, *(each[~shapely.intersects_xy(found.area, each)] for each in (points, sites))


@pytest.mark.parametrize("first", range(0, 200, 50))
def test_distances_and_owners_are_those_of_the_visibility_graph(first):
    compared = 0
    for seed in range(first, first + 50):
        obstacles, points, sites = random_instance(seed)
        if not len(points) or not len(sites):
            continue
        found = around(obstacles, points, sites)
        naive = naive_distances(obstacles, points, sites)
        reached = np.isfinite(naive.min(axis=1))
        assert np.array_equal(np.isfinite(found.distance), reached), seed
        assert np.array_equal(found.enclosed, ~reached), seed
        # The slow way keeps a hair's breadth from the walls, so it is a little longer.
        assert np.allclose(found.distance[reached], naive.min(axis=1)[reached], rtol=0, atol=1e-5), seed
        assert np.array_equal(found.owner[reached], naive.argmin(axis=1)[reached]), seed
        compared += int(reached.sum())
    assert compared > 300


def test_the_way_around_a_square_bends_at_its_corners():
    found = around(walls(box(1, -1, 3, 1)), [(0, 0)], [(4, 0)])
    assert found.distance[0] == pytest.approx(2 * np.sqrt(2) + 2, abs=1e-12)


def test_a_gap_in_a_line_is_a_bridge_and_a_touching_end_is_not():
    river = LineString([(2, -50), (2, 1)]), LineString([(2, 1.5), (2, 50)])
    found = around(walls(*river), [(0, 0)], [(4, 0)])
    assert found.distance[0] == pytest.approx(2 * np.hypot(2, 1), abs=1e-12)
    dam = LineString([(2, -50), (2, 1)]), LineString([(2, 1), (2, 50)])
    frame = LineString([(-50, -50), (50, -50), (50, 50), (-50, 50), (-50, -50)])
    shut = around(walls(*dam, frame), [(0, 0), (4, 3)], [(4, 0)])
    assert np.isinf(shut.distance[0])
    assert shut.distance[1] == 3.0


def test_two_areas_that_touch_at_a_corner_leave_no_way_between_them():
    squares = walls(box(0, 0, 2, 2), box(2, 2, 4, 4))
    found = around(squares, [(1.5, 2.5)], [(2.5, 1.5)])
    assert found.distance[0] == pytest.approx(2 * np.hypot(1.5, 0.5) + 4, abs=1e-12)


def test_points_inside_count_from_the_nearest_edge():
    lake = walls(box(0, 0, 10, 10))
    found = around(lake, [(1, 5), (9, 5), (5, 20)], [(-3, 5), (13, 5)])
    assert found.moved.tolist() == [True, True, False]
    assert found.owner.tolist() == [0, 1, 0]
    assert found.distance[:2].tolist() == [3.0, 3.0]
    inside = around(lake, [(-2, 5)], [(1, 5), (-9, 5)])
    assert inside.moved_sites.tolist() == [True, False]
    assert inside.owner.tolist() == [0]
    assert inside.distance[0] == 2.0


def test_an_area_without_a_site_goes_to_the_owner_across_the_shortest_gap():
    ring = LineString([(0, 0), (4, 0), (4, 4), (0, 4), (0, 0)])
    points = [(1, 2), (3.5, 2), (5, 2), (-3, 2)]
    found = around(walls(ring), points, [(-4, 2), (9, 2)])
    assert found.enclosed.tolist() == [True, True, False, False]
    assert found.owner.tolist() == [1, 1, 1, 0]
    assert found.changed.tolist() == [True, False, False, False]


def test_if_no_site_reaches_any_point_they_go_to_the_nearest_site():
    ring = LineString([(0, 0), (4, 0), (4, 4), (0, 4), (0, 0)])
    found = around(walls(ring), [(1, 2), (3.5, 2)], [(-4, 2), (5, 2)])
    assert found.enclosed.all()
    assert found.owner.tolist() == [1, 1]


@pytest.mark.parametrize("seed", range(4))
def test_where_nothing_is_in_the_way_owners_are_those_of_the_plain_diagram_ties_included(seed):
    rng = np.random.default_rng(seed)
    points, sites = rng.integers(0, 8, (60, 2)).astype(float), rng.integers(0, 8, (6, 2)).astype(float)
    far = walls(box(100, 100, 101, 101))
    assert around(far, points, sites).owner.tolist() == find_nearest_sites(points, sites).tolist()
    nothing = build_barriers(np.empty(0, object))
    assert around(nothing, points, sites).owner.tolist() == find_nearest_sites(points, sites).tolist()


def test_points_on_a_line_may_go_to_either_side():
    river = walls(LineString([(0, -50), (0, 50)]))
    found = around(river, [(0, 0), (0, 3)], [(-2, 0), (1, 3)])
    assert found.owner.tolist() == [0, 1]
    assert found.distance.tolist() == [2.0, 1.0]
    assert not found.moved.any()


def test_a_stop_is_obeyed():
    class Stop:
        def update(self, stage, fraction=None):
            raise Cancelled

    with pytest.raises(Cancelled):
        assign_around_obstacles(walls(box(1, 1, 2, 2)), np.zeros((1, 2)), np.ones((1, 2)) * 3, Stop())


def outside(obstacles, places):
    """Free places a hair's breadth around the nearest edge of covered ones, and whose they are; others themselves."""
    turns = np.linspace(0, 2 * np.pi, 64, endpoint=False)
    found, whose = [], []
    for at, place in enumerate(places):
        around_it = place[None]
        if shapely.contains_xy(obstacles.area, *place):
            way = shapely.shortest_line(shapely.Point(place), obstacles.area.boundary)
            around_it = shapely.get_coordinates(way)[1] + HAIR * np.column_stack(
                (np.cos(turns), np.sin(turns))
            )
            around_it = around_it[~shapely.intersects_xy(obstacles.area, around_it)]
        found.append(around_it)
        whose += [at] * len(around_it)
    return np.concatenate(found), np.array(whose)


def naive_from_edges(obstacles, points, sites):
    """The slow way for points and sites that may be covered."""
    (some, point), (others, site) = outside(obstacles, points), outside(obstacles, sites)
    ways = naive_distances(obstacles, some, others)
    table = np.full((len(points), len(sites)), np.inf)
    np.minimum.at(table, (point[:, None], site[None, :]), ways)
    return table


@pytest.mark.parametrize("first", [1000, 1025])
def test_covered_points_and_sites_have_the_ways_of_the_nearest_edge(first):
    compared = 0
    for seed in range(first, first + 25):
        rng = np.random.default_rng(seed)
        angles = np.sort(rng.random((3, 6)) * 2 * np.pi, axis=1)
        middles, radii = rng.random((3, 1, 2)) * 8 + 1, rng.random((3, 6, 1)) * 1.5 + 0.8
        corners = middles + radii * np.stack((np.cos(angles), np.sin(angles)), axis=-1)
        obstacles = walls(*(Polygon(each) for each in corners), LineString([(5, 0), (5, 4)]))
        points = np.concatenate((middles[:, 0] + rng.random((3, 2)) * 0.2, rng.random((6, 2)) * 10))
        sites = np.concatenate((middles[:1, 0] - 0.1, rng.random((2, 2)) * 10))
        found = around(obstacles, points, sites)
        naive = naive_from_edges(obstacles, points, sites)
        reached = np.isfinite(naive.min(axis=1))
        assert np.array_equal(found.moved, shapely.contains_xy(obstacles.area, points)), seed
        assert np.allclose(found.distance[reached], naive.min(axis=1)[reached], rtol=0, atol=1e-5), seed
        nearly = np.sort(naive, axis=1)
        clear = reached & (nearly[:, 1] > nearly[:, 0] + 1e-5)
        assert np.array_equal(found.owner[clear], naive.argmin(axis=1)[clear]), seed
        compared += int(found.moved.sum())
    assert compared > 40


def wide_instance(seed):
    """Obstacles over a wide area, some of them long walls and closed rings; points and sites in one part of it."""
    rng = np.random.default_rng(seed)
    middles, sizes = rng.random((60, 2)) * 100, rng.random(60) * 4 + 0.5
    shapes = [
        shapely.buffer(shapely.Point(middle), size, quad_segs=1)
        for middle, size in zip(middles, sizes, strict=True)
    ]
    shapes += [LineString(rng.random((2, 2)) * 100) for _ in range(4)]
    corner = rng.random(2) * 80
    shapes.append(LineString(np.add(corner, [(9, -30), (9, 40)])))
    ring = LineString(np.add(corner, [(2, 2), (7, 2), (7, 6), (2, 6), (2, 2)]))
    shapes += [ring] if seed % 2 else []
    points, sites = corner + rng.random((14, 2)) * 18, corner + rng.random((3, 2)) * 18
    return build_barriers(np.array(shapes, object)), points, sites


def test_walls_that_are_far_away_are_left_out_without_any_difference(monkeypatch):
    taken = []
    only = Barriers.only
    monkeypatch.setattr(Barriers, "only", lambda self, *given: taken.append(given) or only(self, *given))
    grown = enclosed = 0
    for seed in range(60):
        obstacles, points, sites = wide_instance(seed)
        before = len(taken)
        near = assign_around_obstacles(obstacles, points, sites)
        grown += len(taken) > before + 1
        with monkeypatch.context() as at_once:
            at_once.setattr(distances, "_MOST", -1.0)
            whole = assign_around_obstacles(obstacles, points, sites)
        assert near.owner.tolist() == whole.owner.tolist(), seed
        assert near.enclosed.tolist() == whole.enclosed.tolist(), seed
        assert np.allclose(near.distance, whole.distance, rtol=1e-12, atol=0), seed
        enclosed += int(near.enclosed.any())
    assert len(taken) > 60
    assert grown > 10
    assert enclosed > 10


@pytest.mark.parametrize("seed", range(4))
def test_ways_among_few_of_many_walls_are_those_of_the_visibility_graph(seed):
    obstacles, points, sites = wide_instance(seed)
    points, sites = (each[~shapely.intersects_xy(obstacles.area, each)] for each in (points, sites))
    found, naive = around(obstacles, points, sites), naive_distances(obstacles, points, sites)
    assert np.allclose(found.distance, naive.min(axis=1), rtol=0, atol=1e-4)
    reached = np.isfinite(found.distance)
    assert reached.any()
    assert found.owner[reached].tolist() == naive.argmin(axis=1)[reached].tolist()
